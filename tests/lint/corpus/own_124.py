# clean: an ordinary data loader with words that mean other things
from dataclasses import dataclass

@dataclass
class Node:
    name: str
    host: str = "localhost"
    port: int = 8080
    account: float = 0.0

def partition(items, key="left"):
    queue = [items]
    user = items[0]
    nodes = [Node("a"), Node("b", host="127.0.0.1")]
    partition = "train" if key == "left" else "test"
    queues = {"default": queue, "high": []}
    node = nodes[0].name
    return {"partition": partition, "queue": queue, "node": node, "user": user, "queues": queues}

TOKEN_RE = r"[A-Za-z0-9_]+"
token = "hello"
key = "layer.0.attention.weight"
password = getpass.getpass()
accounts = load("accounts.csv")
master_port = find_free_port()
print(f"{nodes[0].host}:{nodes[0].port}", token, key, accounts)
