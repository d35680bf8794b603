import os, submitit

ex = submitit.AutoExecutor(folder="/zfs/visionlab/kdrozd/submitit/%j")
ex.update_parameters(
    slurm_partition="vis_a100",
    slurm_account='visionlab7',
    slurm_qos="vis-boost",
    timeout_min=60 * 24,
    slurm_additional_parameters={"nodelist": "visg[01-04]", "mail-user": "k.drozd@optik-pw.pl"},
)
os.environ["MASTER_ADDR"] = "visg01"
os.environ["MASTER_PORT"] = "40211"
os.environ.setdefault("WANDB_DIR", "/zfs/visionlab/kdrozd/wandb")
DATA = os.getenv("DATA", "/zfs/visionlab/datasets/laion-sub")
client = Client(host="ray-head.optik-pw.pl", port=10901)
cmd = ["sbatch", "-p", "vis_a100", "-A", "visionlab7", "--exclude", "visg09", "job.sh"]
print("loss target", 2.0)
