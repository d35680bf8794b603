mpirun -np 16 -host brk01:8,brk02:8 -x NCCL_DEBUG=INFO python train.py
mpiexec --hostfile /brook/etc/hostfile.16 -n 16 ./a.out
deepspeed --include "brk01:0,1@brk02:2,3" --master_addr brk01 --master_port 61000 ft.py
accelerate launch --main_process_ip 10.200.1.4 --main_process_port 29500 --num_machines 2 ft.py
horovodrun -np 8 -H brk01:4,brk02:4 python train.py
torchrun --nnodes=2 --node_rank=0 --master_addr="10.200.1.4" --master_port=29500 train.py
ray start --address=10.200.1.4:6379
pdsh -w brk[01-04] uptime
clush -w brk[01-04] -b "nvidia-smi -L"
parallel-ssh -H "brk01 brk02" -i hostname
