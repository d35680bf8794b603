#!/bin/csh -f
#PBS -A NUCL0093
#PBS -q regular
#PBS -M t.adeyemi@ridge-obs.org
setenv SCRATCH /ridge/scratch/tadeyemi
setenv RUNDIR $SCRATCH/run
set host = ridge-dm2
set email = t.adeyemi@ridge-obs.org
source /etc/csh.cshrc
setenv PATH /ridge/u/apps/bin:${PATH}
