#!/usr/bin/env python3
"""Writes tests/parity/golden/{mlp,gpt}.safetensors with PyTorch: initial weights, ten batches, the loss of each step, the
gradients of the first step (before clipping) and the weights after the last.

Needs `pip install torch safetensors numpy`. The tests read the committed files and need none of them.
The models are those of mlp.dtj and gpt.dtj beside this file; parameter names are the same.
"""
import math
import os

import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import nn

HERE = os.path.dirname(os.path.abspath(__file__))
STEPS = 10


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2, self.head = nn.Linear(64, 24), nn.Linear(24, 16), nn.Linear(16, 10)

    def forward(self, image):
        x = F.relu(self.fc1(image.flatten(1)))
        return self.head(F.relu(self.fc2(x)))


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(y.transpose(1, 2).reshape(b, t, c))


class FeedForward(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc, self.proj = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        return self.proj(F.gelu(self.fc(x)))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.ln1, self.attn = nn.LayerNorm(width), Attention(width, heads)
        self.ln2, self.mlp = nn.LayerNorm(width), FeedForward(width)

    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class Gpt(nn.Module):
    def __init__(self, vocab, context, layers, heads, width):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocab, width), nn.Embedding(context, width)
        self.h = nn.ModuleList([Block(width, heads) for _ in range(layers)])
        self.lnf = nn.LayerNorm(width)
        nn.init.normal_(self.wte.weight, std=0.1)
        nn.init.normal_(self.wpe.weight, std=0.1)

    def forward(self, tokens):
        x = self.wte(tokens) + self.wpe(torch.arange(tokens.shape[1]))
        for block in self.h:
            x = block(x)
        return self.lnf(x) @ self.wte.weight.T


def warmup_cosine(step, peak, warmup, total, floor=0.1):
    if step < warmup:
        return peak * (step + 1) / (warmup + 1)
    progress = min(max((step - warmup) / (total - warmup), 0.0), 1.0)
    return peak * floor + 0.5 * (1 + math.cos(math.pi * progress)) * (peak - peak * floor)


def train(model, inputs, targets, betas, path):
    """inputs, targets: one tensor a step."""
    tensors = {f"init/{name}": p.detach().clone() for name, p in model.named_parameters()}
    decay = [p for p in model.parameters() if p.ndim >= 2]
    other = [p for p in model.parameters() if p.ndim < 2]
    optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 0.1}, {"params": other, "weight_decay": 0.0}],
                                  betas=betas, eps=1e-8)
    losses, norms = [], []
    for step in range(STEPS):
        tensors[f"input/{step}"] = inputs[step].float() if inputs[step].is_floating_point() else inputs[step].int()
        tensors[f"target/{step}"] = targets[step].int()
        for group in optimizer.param_groups:
            group["lr"] = warmup_cosine(step, 1e-2, 3, STEPS)
        logits = model(inputs[step])
        loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets[step].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        if step == 0:
            tensors.update({f"grad/{name}": p.grad.clone() for name, p in model.named_parameters()})
        norms.append(torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0).item())
        optimizer.step()
        losses.append(loss.item())
    tensors.update({f"final/{name}": p.detach().clone() for name, p in model.named_parameters()})
    tensors["loss"] = torch.tensor(losses)
    tensors["norm"] = torch.tensor(norms)
    save_file({name: t.contiguous() for name, t in tensors.items()}, path, {"torch": torch.__version__})
    print(os.path.basename(path), "losses", " ".join(f"{x:.6f}" for x in losses))


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    os.makedirs(os.path.join(HERE, "golden"), exist_ok=True)
    train(Mlp(), [torch.randn(12, 1, 8, 8) for _ in range(STEPS)], [torch.randint(0, 10, (12,)) for _ in range(STEPS)],
          (0.9, 0.999), os.path.join(HERE, "golden", "mlp.safetensors"))
    tokens = [torch.randint(0, 29, (3, 12)) for _ in range(STEPS)]
    train(Gpt(29, 12, 2, 2, 20), [t[:, :-1] for t in tokens], [t[:, 1:] for t in tokens],
          (0.9, 0.99), os.path.join(HERE, "golden", "gpt.safetensors"))


main()
