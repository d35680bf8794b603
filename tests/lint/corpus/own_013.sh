#!/bin/bash
# tunnel to the notebook
NODE=vela-g07
PORT=38417
ssh -J n.okoro@vela-jump.astro-uni.ng -L 38417:vela-g07:38417 n.okoro@vela.astro-uni.ng
scp -P 2207 model.pt n.okoro@196.32.18.4:/vela/home/n.okoro/ckpt/
sftp n.okoro@dtn1.astro-uni.ng
sshfs n.okoro@vela:/vela/scratch/n.okoro ~/mnt
jupyter lab --no-browser --ip=0.0.0.0 --port=38417
export NCCL_SOCKET_IFNAME=hsn0
export WANDB_API_KEY=9b1f6c2de8a74053b6d1c90f7e2a4815d3c6b7aa
export HF_TOKEN=hf_QkTzVbNmLpRsWxYcDfGhJkZq
git clone https://oauth2:glpat-x7Kq2mVbT9sLrWc4Yd1A@gitlab.astro-uni.ng/ml/train.git
