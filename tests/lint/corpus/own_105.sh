#!/bin/bash
# start the inference server next to the training job
ssh -t mvarga@lynx2.mlgrid.sk "srun -p lynxgpu -A mlg-tts --pty bash"
srun --partition=lynxgpu --account=mlg-tts --nodelist lxg[02-03] \
  vllm serve meta-llama/Llama-2-7b-hf --host 0.0.0.0 --port 18765
curl http://lxg02:18765/v1/models
rsync -avz --exclude '*.pt' ./src/ mvarga@lynx2.mlgrid.sk:src/
squeue -u mvarga -o "%.18i %.9P %.8j %.2t %.10M %R"
scancel 2209117 2209118
sacct -j 2209117 --format=Elapsed,MaxRSS
ssh lxg02 nvidia-smi
export CUDA_VISIBLE_DEVICES=0,1
export GLOO_SOCKET_IFNAME=enp129s0f0
