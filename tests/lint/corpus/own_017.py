from dask_jobqueue import SLURMCluster, PBSCluster

cluster = SLURMCluster(
    queue="cascade-std",
    account="UW-ATMOS-12",
    project="UW-ATMOS-12",
    cores=24, memory="96GB", walltime="02:00:00",
    interface="ib1",
    local_directory="/cascade/work/atmos/pwhitlow/dask",
    log_directory=f"/cascade/work/atmos/pwhitlow/logs/{run}",
)
SMTP = {"server": "mailgw.atmos-uw.org", "to": "pwhitlow@atmos-uw.org"}
DB = "postgresql://atmos_rw:Xf9!vq27Lm@db3.atmos-uw.org:5439/runs"
LICENSE = "27009@lic2.atmos-uw.org"
redis_url = "redis://localhost:6379/0"
