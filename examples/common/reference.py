"""The common part of the models' references: weights, files, training, times.

No package but torch is needed: a safetensors file is written here by hand.
"""

import argparse
import json
import struct
import time

import torch

MASK = (1 << 64) - 1
RATE, MOMENTUM, STEPS = 0.1, 0.9, 10


class Uniform:
    """model.h's Uniform: the same numbers from the same seed."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state + 0x9e3779b97f4a7c15) & MASK
        z = self.state
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9 & MASK
        z = (z ^ z >> 27) * 0x94d049bb133111eb & MASK
        return z ^ z >> 31

    def tensor(self, sizes, bound):
        count = torch.Size(sizes).numel()
        values = [(2 * ((self.next() >> 11) * 2.0 ** -53) - 1) * bound
                  for _ in range(count)]
        return torch.tensor(values, dtype=torch.float64).float().view(sizes)

    def integers(self, sizes, high):
        count = torch.Size(sizes).numel()
        values = [(self.next() >> 11) % high for _ in range(count)]
        return torch.tensor(values).view(sizes)


def save_safetensors(path, tensors):
    """Writes float32 tensors."""
    header, data = {}, b""
    for name, t in tensors.items():
        values = t.detach().reshape(-1).tolist()
        part = struct.pack(f"<{len(values)}f", *values)
        header[name] = {"dtype": "F32", "shape": list(t.shape),
                        "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


class Sgd:
    def __init__(self, weights):
        self.weights = list(weights.values())
        for w in self.weights:
            w.requires_grad_()
        self.optimizer = torch.optim.SGD(self.weights, lr=RATE,
                                         momentum=MOMENTUM, foreach=True)

    def step(self, loss):
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def record(weights, scores, loss):
    """Outputs before training, losses of its steps, and outputs after."""
    with torch.no_grad():
        before = scores()
    sgd = Sgd(weights)
    losses = []
    for _ in range(STEPS):
        value = loss()
        losses.append(value.detach())
        sgd.step(value)
    with torch.no_grad():
        after = scores()
    return {"before": before, "losses": torch.stack(losses), "after": after}


def median_us(call):
    times, begin = [], time.perf_counter()
    while len(times) < 5 or time.perf_counter() - begin < 1:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return sorted(times)[len(times) // 2] * 1e6


def print_times(weights, scores, loss):
    torch.set_num_threads(1)
    with torch.inference_mode():
        us = median_us(scores)
    print(f"inference      {us:9.0f} us")
    sgd = Sgd(weights)
    us = median_us(lambda: sgd.step(loss()))
    print(f"training step  {us:9.0f} us")


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--save", help="the reference to write")
    parser.add_argument("--time", action="store_true",
                        help="times of the larger model, one thread")
    return parser.parse_args()
