"""Plain trainer: arguments only."""
import argparse, os
import torch.distributed as dist

def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--partition", default="gpu")
    ap.add_argument("--host", default="127.0.0.1")
    ap.add_argument("--port", type=int, default=8000)
    ap.add_argument("--data", default="/path/to/imagenet")
    args = ap.parse_args()
    os.environ.setdefault("MASTER_ADDR", "localhost")
    os.environ.setdefault("MASTER_PORT", "29500")
    dist.init_process_group("nccl", init_method="env://")
    user = os.environ["USER"]
    token = os.environ.get("HF_TOKEN")
    out = f"/scratch/{user}/runs/{args.partition}"
    node_rank = int(os.environ["SLURM_NODEID"])
    queue = []
    queue.append(args.host)
    account = load_account(args)
    print(f"[{node_rank}] listening on {args.host}:{args.port}", out, token is not None, account)

if __name__ == "__main__":
    main()
