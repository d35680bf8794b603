import subprocess
PARTITIONS = ["rh_short", "rh_long"]
ACCOUNT = "rhein-nlp"
SSH = {"hostname": "rhein3.uni-nahe.de", "username": "ckraus", "port": 22333}
TEMPLATE = """#!/bin/bash
#SBATCH --partition=rh_short
#SBATCH --account=rhein-nlp
#SBATCH --mail-user=ckraus@uni-nahe.de
cd /rhein/nlp/ckraus
"""
def nodes():
    return subprocess.check_output(["sinfo", "-h", "-p", "rh_short", "-o", "%N"]).decode().split(",")
def connect(c=None):
    import paramiko
    c = paramiko.SSHClient()
    c.connect("rhein3.uni-nahe.de", username="ckraus", password="Lorelei#77x")
    return c
