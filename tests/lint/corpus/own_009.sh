#!/bin/bash
# flux: -N 4
# flux: --queue=ptolemy
# flux: --bank=lhydro
#FLUX: -q ptolemy
#FLUX: -B lhydro
#FLUX: --time-limit=4h
flux submit -N2 --queue ptolemy --bank lhydro ./run.sh
flux alloc -q pdebug_tol -N1 -t 30m
flux jobs -u dquill3
flux run -n 64 --requires=host:tol1077 ./hydro /p/vast1/dquill3/decks/sedov.in
