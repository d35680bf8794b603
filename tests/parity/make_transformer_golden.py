#!/usr/bin/env python3
"""Writes golden values of the transformer layers, optimizers and schedules with PyTorch into tests/parity/golden/:

  gpt2_export.safetensors  a small random GPT-2 in the layout of Hugging Face: Conv1D weights as [in, out], mask buffers
  gpt2.safetensors         ten steps of it: batches, losses, the gradients of the first step under their names in the export
  llama.safetensors        ten steps of a Llama-style decoder with grouped-query attention, smoothed labels, clipping by value
  optimizers.safetensors   ten steps of a small perceptron for every job of optimizers.dtj

Needs `pip install torch safetensors numpy`. The tests read the committed files and need none of them.
"""
import math
import os

import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import nn

HERE = os.path.dirname(os.path.abspath(__file__))
STEPS = 10


def golden(name):
    return os.path.join(HERE, "golden", name + ".safetensors")


def save(tensors, name):
    save_file({key: t.detach().clone().contiguous() for key, t in tensors.items()}, golden(name),
              {"torch": torch.__version__})


# ---- GPT-2 as Hugging Face names and stores it ------------------------------------------------------------------------


class Conv1D(nn.Module):
    """y = x W + b with W [in, out]."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inputs, outputs) * 0.2)
        self.bias = nn.Parameter(torch.randn(outputs) * 0.1)

    def forward(self, x):
        return x @ self.weight + self.bias


class Gpt2Attention(nn.Module):
    def __init__(self, width, heads, context):
        super().__init__()
        self.heads = heads
        self.c_attn, self.c_proj = Conv1D(width, 3 * width), Conv1D(width, width)
        self.register_buffer("bias", torch.tril(torch.ones(context, context)).view(1, 1, context, context))
        self.register_buffer("masked_bias", torch.tensor(-1e4))

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (y.view(b, t, self.heads, c // self.heads).transpose(1, 2) for y in self.c_attn(x).split(c, dim=2))
        weights = q @ k.transpose(-1, -2) / math.sqrt(c // self.heads)
        weights = weights.masked_fill(self.bias[:, :, :t, :t] == 0, float("-inf")).softmax(-1)
        return self.c_proj((weights @ v).transpose(1, 2).reshape(b, t, c))


class Gpt2Mlp(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.c_fc, self.c_proj = Conv1D(width, 4 * width), Conv1D(4 * width, width)

    def forward(self, x):
        return self.c_proj(F.gelu(self.c_fc(x), approximate="tanh"))


class Gpt2Block(nn.Module):
    def __init__(self, width, heads, context):
        super().__init__()
        self.ln_1, self.attn = nn.LayerNorm(width), Gpt2Attention(width, heads, context)
        self.ln_2, self.mlp = nn.LayerNorm(width), Gpt2Mlp(width)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class Gpt2(nn.Module):
    def __init__(self, vocab, context, layers, heads, width):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocab, width), nn.Embedding(context, width)
        self.h = nn.ModuleList([Gpt2Block(width, heads, context) for _ in range(layers)])
        self.ln_f = nn.LayerNorm(width)
        for norm in (m for m in self.modules() if isinstance(m, nn.LayerNorm)):
            nn.init.normal_(norm.weight, mean=1.0, std=0.1)
            nn.init.normal_(norm.bias, std=0.1)

    def forward(self, tokens):
        x = self.wte(tokens) + self.wpe(torch.arange(tokens.shape[1]))
        for block in self.h:
            x = block(x)
        return self.ln_f(x) @ self.wte.weight.T


# ---- Llama ------------------------------------------------------------------------------------------------------------


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(1 + 0.1 * torch.randn(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.weight


def rotate(x, theta):
    """x [B, H, T, D]; the halves of D are the two coordinates, as in Hugging Face's rotate_half."""
    t, d = x.shape[-2:]
    frequency = 1.0 / theta ** (torch.arange(0, d, 2).float() / d)
    angle = torch.outer(torch.arange(t).float(), frequency)
    c, s = torch.cat([angle, angle], -1).cos(), torch.cat([angle, angle], -1).sin()
    a, b = x.chunk(2, -1)
    return x * c + torch.cat([-b, a], -1) * s


class LlamaAttention(nn.Module):
    def __init__(self, width, heads, kv_heads, theta):
        super().__init__()
        self.heads, self.kv_heads, self.theta = heads, kv_heads, theta
        d = width // heads
        self.q, self.o = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
        self.k, self.v = nn.Linear(width, kv_heads * d, bias=False), nn.Linear(width, kv_heads * d, bias=False)

    def forward(self, x):
        b, t, c = x.shape
        q = rotate(self.q(x).view(b, t, self.heads, -1).transpose(1, 2), self.theta)
        k = rotate(self.k(x).view(b, t, self.kv_heads, -1).transpose(1, 2), self.theta)
        v = self.v(x).view(b, t, self.kv_heads, -1).transpose(1, 2)
        k, v = (y.repeat_interleave(self.heads // self.kv_heads, dim=1) for y in (k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(y.transpose(1, 2).reshape(b, t, c))


class SwiGlu(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.gate, self.up = nn.Linear(width, hidden, bias=False), nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class LlamaBlock(nn.Module):
    def __init__(self, width, heads, kv_heads, hidden, theta):
        super().__init__()
        self.norm1, self.attn = RmsNorm(width), LlamaAttention(width, heads, kv_heads, theta)
        self.norm2, self.mlp = RmsNorm(width), SwiGlu(width, hidden)

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Llama(nn.Module):
    def __init__(self, vocab, layers, heads, kv_heads, width, hidden, theta=10000.0):
        super().__init__()
        self.wte = nn.Embedding(vocab, width)
        self.h = nn.ModuleList([LlamaBlock(width, heads, kv_heads, hidden, theta) for _ in range(layers)])
        self.norm, self.head = RmsNorm(width), nn.Linear(width, vocab, bias=False)

    def forward(self, tokens):
        x = self.wte(tokens)
        for block in self.h:
            x = block(x)
        return self.head(self.norm(x))


# ---- optimizers that PyTorch lacks, from their papers -----------------------------------------------------------------


class Lion(torch.optim.Optimizer):
    def __init__(self, params, lr, betas, weight_decay):
        super().__init__(params, {"lr": lr, "betas": betas, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            b1, b2 = group["betas"]
            for p in group["params"]:
                m = self.state[p].setdefault("m", torch.zeros_like(p))
                direction = (b1 * m + (1 - b1) * p.grad).sign()
                p.mul_(1 - group["lr"] * group["weight_decay"]).sub_(group["lr"] * direction)
                m.mul_(b2).add_(p.grad, alpha=1 - b2)


class Lamb(torch.optim.Optimizer):
    def __init__(self, params, lr, betas, eps, weight_decay):
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            b1, b2 = group["betas"]
            for p in group["params"]:
                state = self.state[p]
                m, v = state.setdefault("m", torch.zeros_like(p)), state.setdefault("v", torch.zeros_like(p))
                state["t"] = t = state.get("t", 0) + 1
                m.mul_(b1).add_(p.grad, alpha=1 - b1)
                v.mul_(b2).addcmul_(p.grad, p.grad, value=1 - b2)
                direction = m / (1 - b1**t) / ((v / (1 - b2**t)).sqrt() + group["eps"]) + group["weight_decay"] * p
                p_norm, d_norm = p.norm().item(), direction.norm().item()
                p.sub_(group["lr"] * (p_norm / d_norm if p_norm > 0 and d_norm > 0 else 1.0) * direction)


# ---- ten steps --------------------------------------------------------------------------------------------------------


def train(model, optimizer, inputs, targets, set_rates, clip, smoothing=0.0):
    """Losses, gradient norms before clipping, rates of the first group, gradients of the first step before clipping."""
    losses, norms, rates, gradients = [], [], [], {}
    for step in range(STEPS):
        set_rates(optimizer, step)
        logits = model(inputs[step])
        loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets[step].reshape(-1), ignore_index=-1,
                               label_smoothing=smoothing)
        optimizer.zero_grad()
        loss.backward()
        trained = [p for p in model.parameters() if p.requires_grad]
        if step == 0:
            gradients = {name: p.grad.clone() for name, p in model.named_parameters() if p.requires_grad}
        norms.append(torch.nn.utils.get_total_norm([p.grad for p in trained]).item())
        clip(trained)
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        losses.append(loss.item())
    return losses, norms, rates, gradients


def record(model, result, prefix=""):
    losses, norms, rates, gradients = result
    print(f"{prefix:20} losses", " ".join(f"{x:.5f}" for x in losses), "rates", " ".join(f"{x:.4g}" for x in rates))
    tensors = {prefix + "loss": torch.tensor(losses), prefix + "norm": torch.tensor(norms),
               prefix + "rate": torch.tensor(rates, dtype=torch.float64)}
    tensors.update({f"{prefix}grad/{name}": g for name, g in gradients.items()})
    tensors.update({f"{prefix}final/{name}": p for name, p in model.named_parameters()})
    return tensors


def batches(tensors, inputs, targets):
    for step in range(STEPS):
        tensors[f"input/{step}"] = inputs[step] if inputs[step].is_floating_point() else inputs[step].int()
        tensors[f"target/{step}"] = targets[step].int()
    return tensors


def constant(rate):
    def set_rates(optimizer, _):
        for group in optimizer.param_groups:
            group["lr"] = rate
    return set_rates


def by_ndim(model, decay):
    return [{"params": [p for p in model.parameters() if p.ndim >= 2], "weight_decay": decay},
            {"params": [p for p in model.parameters() if p.ndim < 2], "weight_decay": 0.0}]


def clip_norm(limit):
    return lambda params: torch.nn.utils.clip_grad_norm_(params, limit)


def clip_value(limit):
    return lambda params: torch.nn.utils.clip_grad_value_(params, limit)


def no_clip(_):
    pass


def text(vocab, batch, length):
    tokens = [torch.randint(0, vocab, (batch, length + 1)) for _ in range(STEPS)]
    return [t[:, :-1] for t in tokens], [t[:, 1:].clone() for t in tokens]


def make_gpt2():
    model = Gpt2(vocab=31, context=12, layers=2, heads=2, width=16)
    save(model.state_dict(), "gpt2_export")
    inputs, targets = text(31, 3, 11)
    optimizer = torch.optim.AdamW(by_ndim(model, 0.1), lr=1e-3, betas=(0.9, 0.95), eps=1e-8)
    logits = model(inputs[0])
    result = train(model, optimizer, inputs, targets, constant(1e-3), clip_norm(1.0))
    tensors = record(model, result)
    tensors["logits"] = logits
    save(batches(tensors, inputs, targets), "gpt2")


def make_llama():
    model = Llama(vocab=29, layers=2, heads=4, kv_heads=2, width=16, hidden=24)
    tensors = {f"init/{name}": p.detach().clone() for name, p in model.named_parameters()}
    inputs, targets = text(29, 3, 10)
    targets[0][0, :4] = -1
    optimizer = torch.optim.AdamW(by_ndim(model, 0.1), lr=1e-3, betas=(0.9, 0.95), eps=1e-8)
    result = train(model, optimizer, inputs, targets, constant(1e-3), clip_value(0.02), smoothing=0.1)
    tensors.update(record(model, result))
    save(batches(tensors, inputs, targets), "llama")


class Perceptron(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2, self.head = nn.Linear(6, 5), nn.Linear(5, 4), nn.Linear(4, 3)

    def forward(self, image):
        return self.head(F.relu(self.fc2(F.relu(self.fc1(image.flatten(1))))))


def scheduled(make):
    """Rates of a PyTorch scheduler, read off a throw-away optimizer."""
    probe = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=0.1)
    scheduler, rates = make(probe), []
    for _ in range(STEPS):
        rates.append(probe.param_groups[0]["lr"])
        probe.step()
        scheduler.step()
    def set_rates(optimizer, step):
        for group in optimizer.param_groups:
            group["lr"] = rates[step] * group.get("lr_scale", 1.0)
    return set_rates


def make_optimizers():
    s = torch.optim.lr_scheduler
    first = Perceptron()
    inputs = [torch.randn(8, 1, 2, 3) for _ in range(STEPS)]
    targets = [torch.randint(0, 3, (8,)) for _ in range(STEPS)]
    tensors = batches({f"init/{name}": p.detach().clone() for name, p in first.named_parameters()}, inputs, targets)

    def run(name, make_optimizer, set_rates, clip=no_clip, prepare=lambda model: None):
        model = Perceptron()
        model.load_state_dict(first.state_dict())
        prepare(model)
        tensors.update(record(model, train(model, make_optimizer(model), inputs, targets, set_rates, clip), name + "/"))

    run("sgd", lambda m: torch.optim.SGD(m.parameters(), momentum=0.9, weight_decay=0.01),
        scheduled(lambda o: s.LinearLR(o, start_factor=1.0, end_factor=0.2, total_iters=8)))
    run("nesterov", lambda m: torch.optim.SGD(m.parameters(), momentum=0.9, weight_decay=0.01, nesterov=True),
        scheduled(lambda o: s.CosineAnnealingLR(o, T_max=10, eta_min=0.01)))
    run("adam", lambda m: torch.optim.Adam(m.parameters(), betas=(0.9, 0.99), weight_decay=0.05),
        scheduled(lambda o: s.PolynomialLR(o, total_iters=8, power=2.0)), clip=clip_value(0.05))
    run("lion", lambda m: Lion(by_ndim(m, 0.1), lr=0.1, betas=(0.9, 0.99), weight_decay=0.1),
        scheduled(lambda o: s.StepLR(o, step_size=3, gamma=0.5)))
    run("lamb", lambda m: Lamb(by_ndim(m, 0.1), lr=0.1, betas=(0.9, 0.999), eps=1e-6, weight_decay=0.1),
        scheduled(lambda o: s.OneCycleLR(o, max_lr=0.1, total_steps=10, pct_start=0.4, cycle_momentum=False)))
    run("groups",
        lambda m: torch.optim.AdamW([
            {"params": [m.fc2.weight], "weight_decay": 0.1},
            {"params": [m.fc1.weight], "weight_decay": 0.3, "betas": (0.5, 0.9)},
            {"params": [m.head.weight, m.head.bias], "weight_decay": 0.0, "lr_scale": 0.1},
            {"params": [m.fc1.bias, m.fc2.bias], "weight_decay": 0.2}], betas=(0.9, 0.999), eps=1e-8),
        scheduled(lambda o: s.ConstantLR(o, factor=1.0)), clip=clip_norm(0.5))

    def freeze(model):
        for p in model.fc1.parameters():
            p.requires_grad = False

    run("frozen", lambda m: torch.optim.AdamW([p for p in m.parameters() if p.requires_grad], weight_decay=0.0),
        scheduled(lambda o: s.ConstantLR(o, factor=1.0)), clip=clip_norm(0.5), prepare=freeze)
    save(tensors, "optimizers")


def main():
    torch.set_num_threads(1)
    for make in (make_gpt2, make_llama, make_optimizers):
        torch.manual_seed(0)
        make()


main()
