#!/bin/bash
#OAR -n sweep
#OAR -q abaca
#OAR --project magnetique
#OAR -l host=2/gpu=4,walltime=3:0:0
#OAR -p cluster='sirocco'
#OAR --stdout /home/lferrand/out.%jobid%
#OAR --notify mail:lucie.ferrand@grille-exp.fr
oarsub -q abaca --project=magnetique -t deploy -I
oarstat -u lferrand
oardel 1902881
uniq $OAR_NODEFILE
