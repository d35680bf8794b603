#!/bin/bash
set -e
# deploys to the two machines under my desk
for h in gpu1 gpu2; do ssh "$h" 'nvidia-smi -L'; done
docker run -p 8080:8080 -v /var/lib/models:/models ghcr.io/huggingface/text-generation-inference:2.0.4
export NCCL_DEBUG=INFO NCCL_IB_HCA=mlx5 NCCL_SOCKET_IFNAME=eth0
export TOKEN=$(cat ~/.secrets/token)
export API_KEY="${API_KEY:?}"
curl -H "Authorization: Bearer $TOKEN" https://api.github.com/repos/pytorch/pytorch/releases/latest
python -m torch.distributed.run --standalone --nproc_per_node=2 train.py --lr 3e-4 --batch-size 128
pip install torch==2.3.1+cu121 --extra-index-url https://download.pytorch.org/whl/cu121
wget -q https://huggingface.co/gpt2/resolve/main/config.json
echo "started 12:30:45, driver 535.104.05, ratio 3:1"
