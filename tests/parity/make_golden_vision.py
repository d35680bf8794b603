#!/usr/bin/env python3
"""Writes tests/parity/golden/vision_{cnn,resnet}.safetensors with PyTorch: initial weights, ten batches, the loss of each
step, the gradients of the first step, the weights and running statistics after the last, and the loss of an evaluation.

Needs `pip install torch safetensors numpy`. The tests read the committed files and need none of them.
The models are those of vision_cnn.dtj beside this file and of std.vision; parameter names are the same.
"""
import os

import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import nn

HERE = os.path.dirname(os.path.abspath(__file__))
STEPS = 10


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.bn = nn.Conv2d(1, 6, 3, padding=1, bias=False), nn.BatchNorm2d(6)
        self.conv2, self.gn = nn.Conv2d(6, 8, 3, stride=2, padding=1, groups=2), nn.GroupNorm(2, 8)
        self.conv3, self.head = nn.Conv2d(8, 8, 2), nn.Linear(32, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn(self.conv1(x))), 2)
        x = F.max_pool2d(F.relu(self.gn(self.conv2(x))), 3, stride=1, padding=1)
        x = F.relu(self.conv3(F.avg_pool2d(x, 2, stride=1, padding=1)))
        return self.head(F.max_pool2d(x, 2, stride=1).flatten(1))


class BasicBlock(nn.Module):
    def __init__(self, i, o, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(i, o, 3, stride=stride, padding=1, bias=False), nn.BatchNorm2d(o)
        self.conv2, self.bn2 = nn.Conv2d(o, o, 3, padding=1, bias=False), nn.BatchNorm2d(o)
        if i != o or stride != 1:
            self.short, self.bn3 = nn.Conv2d(i, o, 1, stride=stride, bias=False), nn.BatchNorm2d(o)

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + (self.bn3(self.short(x)) if hasattr(self, "short") else x))


class Stage(nn.Module):
    def __init__(self, i, o, blocks, stride):
        super().__init__()
        self.block = nn.ModuleList([BasicBlock(o if b else i, o, 1 if b else stride) for b in range(blocks)])

    def forward(self, x):
        for block in self.block:
            x = block(x)
        return x


class ResNet(nn.Module):
    def __init__(self, channels, blocks, width):
        super().__init__()
        self.stem, self.bn = nn.Conv2d(channels, width, 3, padding=1, bias=False), nn.BatchNorm2d(width)
        self.stage1 = Stage(width, width, blocks, 1)
        self.stage2 = Stage(width, 2 * width, blocks, 2)
        self.stage3 = Stage(2 * width, 4 * width, blocks, 2)
        self.head = nn.Linear(4 * width, 10)

    def forward(self, x):
        x = self.stage3(self.stage2(self.stage1(F.relu(self.bn(self.stem(x))))))
        return self.head(x.mean((2, 3)))


def running(model):
    return {name: b.clone() for name, b in model.named_buffers() if not name.endswith("num_batches_tracked")}


def train(model, lr, path):
    inputs = [torch.randn(8, 1, 12, 12) for _ in range(STEPS)]
    targets = [torch.randint(0, 10, (8,)) for _ in range(STEPS)]
    tensors = {f"init/{name}": p.detach().clone() for name, p in model.named_parameters()}
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9, weight_decay=1e-3)
    losses = []
    for step in range(STEPS):
        tensors[f"input/{step}"], tensors[f"target/{step}"] = inputs[step], targets[step].int()
        loss = F.cross_entropy(model(inputs[step]), targets[step])
        optimizer.zero_grad()
        loss.backward()
        if step == 0:
            tensors.update({f"grad/{name}": p.grad.clone() for name, p in model.named_parameters()})
        optimizer.step()
        losses.append(loss.item())
    tensors.update({f"final/{name}": p.detach().clone() for name, p in model.named_parameters()})
    tensors.update({f"buffer/{name}": b for name, b in running(model).items()})
    model.eval()
    tensors["eval_loss"] = F.cross_entropy(model(inputs[0]), targets[0]).detach().reshape(1)
    tensors["loss"] = torch.tensor(losses)
    save_file({name: t.contiguous() for name, t in tensors.items()}, path, {"torch": torch.__version__})
    print(os.path.basename(path), "losses", " ".join(f"{x:.6f}" for x in losses))


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    os.makedirs(os.path.join(HERE, "golden"), exist_ok=True)
    train(Cnn(), 0.05, os.path.join(HERE, "golden", "vision_cnn.safetensors"))
    train(ResNet(1, 2, 4), 0.002, os.path.join(HERE, "golden", "vision_resnet.safetensors"))


main()
