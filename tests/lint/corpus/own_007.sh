#!/bin/bash
#$ -N align
#$ -cwd
#$ -q bigmem.q@sge-n[0-9]*
#$ -P genomics_p7
#$ -pe smp 8
#$ -l h_rt=12:00:00,h_vmem=8G
#$ -M core-team@seqlab-ulm.de
#$ -o /seqlab/projects/p7/log
qsub -q seqfast.q -P genomics_p7 align.sh
qhost -h sge-n14
qstat -f -u hbrandner
bwa mem -t 8 /seqlab/ref/hg38/hg38.fa r1.fq r2.fq > out.sam
