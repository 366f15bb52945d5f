"""The same transformer by libtorch: makes reference.safetensors, and times it.

Usage: reference.py --save reference.safetensors | --time
"""

import math
import os
import sys

import torch
import torch.nn.functional as F

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../common"))
import reference  # noqa: E402


class Transformer:
    def __init__(self, random, vocabulary, context, width, heads, layers):
        self.heads, self.layers = heads, layers
        w = self.weights = {}

        def norm(name):
            w[name + ".weight"] = torch.ones(width)
            w[name + ".bias"] = torch.zeros(width)

        def matrix(name, rows, columns):
            w[name + ".weight"] = random.tensor((rows, columns),
                                                math.sqrt(3 / columns))
            w[name + ".bias"] = torch.zeros(rows)

        w["tokens"] = random.tensor((vocabulary, width), 1)
        w["positions"] = random.tensor((context, width), 1)
        for i in range(layers):
            norm(f"layers.{i}.norm1")
            matrix(f"layers.{i}.attention", 3 * width, width)
            matrix(f"layers.{i}.projection", width, width)
            norm(f"layers.{i}.norm2")
            matrix(f"layers.{i}.up", 4 * width, width)
            matrix(f"layers.{i}.down", width, 4 * width)
        norm("norm")
        matrix("head", vocabulary, width)

    def scores(self, tokens):
        w = self.weights

        def linear(x, name):
            return F.linear(x, w[name + ".weight"], w[name + ".bias"])

        def norm(x, name):
            return F.layer_norm(x, x.shape[-1:], w[name + ".weight"],
                                w[name + ".bias"])

        batch, length = tokens.shape
        x = F.embedding(tokens, w["tokens"]) + w["positions"][:length]
        for i in range(self.layers):
            layer = f"layers.{i}"
            parts = linear(norm(x, layer + ".norm1"), layer + ".attention")
            q, k, v = parts.view(batch, length, 3, self.heads,
                                 -1).permute(2, 0, 3, 1, 4)
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + linear(mixed.transpose(1, 2).flatten(2),
                           layer + ".projection")
            wide = F.gelu(linear(norm(x, layer + ".norm2"), layer + ".up"))
            x = x + linear(wide, layer + ".down")
        return linear(norm(x, "norm"), "head")


def case(seed, batch, vocabulary, context, width, heads, layers):
    random = reference.Uniform(seed)
    model = Transformer(random, vocabulary, context, width, heads, layers)
    tokens = random.integers((batch, context), vocabulary)
    targets = random.integers((batch, context), vocabulary)
    return (model.weights, lambda: model.scores(tokens),
            lambda: F.cross_entropy(model.scores(tokens).flatten(0, 1),
                                    targets.flatten()))


def main():
    arguments = reference.arguments()
    if arguments.save:
        record = reference.record(*case(1, 2, 20, 12, 32, 2, 2))
        reference.save_safetensors(arguments.save, record)
    if arguments.time:
        reference.print_times(*case(2, 8, 256, 64, 128, 4, 4))


if __name__ == "__main__":
    main()
