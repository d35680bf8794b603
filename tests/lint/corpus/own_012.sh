#!/bin/bash
# works anywhere with PBS: set QUEUE and PROJECT first
#PBS -l select=1:ncpus=8:ngpus=1
#PBS -l walltime=00:30:00
#PBS -j oe
qsub -q "$QUEUE" -A "${PROJECT}" -v "IN=$1" job.pbs
bsub -q normal -P "$LSB_PROJECT" -n 4 ./run
pjsub -L rscgrp=$RSCGRP -g $GROUP job.sh
flux submit --queue=$FLUX_QUEUE --bank=$BANK ./run
echo "job $PBS_JOBID on $(hostname -s)"
curl -s http://127.0.0.1:8080/healthz | jq .status
ssh -N -L 6006:localhost:6006 "$USER@$LOGIN_HOST"
tar xf /opt/data/set.tar -C "${TMPDIR:-/tmp}"
