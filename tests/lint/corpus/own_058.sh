#!/bin/bash
# accounting: list of users comes from sacctmgr
sacctmgr -i add user zpetrova account=phys-q3 partition=opalq
sacctmgr modify user name=zpetrova set qos+=opal_big
scontrol update partition=opalq state=drain
scontrol update NodeName=op-n[11-14] State=RESUME
scontrol create reservation ReservationName=opal_class users=zpetrova nodes=op-n[11-14] starttime=now duration=60
scontrol show job 661822
sreport cluster AccountUtilizationByUser Accounts=phys-q3 start=2026-01-01
scancel -u zpetrova --partition=opalq
sbcast -p data.tar /tmp/data.tar
