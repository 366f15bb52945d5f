"""The same network by libtorch: makes reference.safetensors, and times it.

Usage: reference.py --save reference.safetensors | --time
"""

import math
import os
import sys

import torch
import torch.nn.functional as F

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../common"))
import reference  # noqa: E402


class Convnet:
    def __init__(self, random, channels, classes):
        self.weights, self.statistics = {}, {}

        def convolution(name, *sizes):
            bound = math.sqrt(3 / math.prod(sizes[1:]))
            self.weights[name + ".weight"] = random.tensor(sizes, bound)
            self.weights[name + ".scale"] = torch.ones(sizes[0])
            self.weights[name + ".shift"] = torch.zeros(sizes[0])
            self.statistics[name] = (torch.zeros(sizes[0]),
                                     torch.ones(sizes[0]))

        convolution("stem", channels, 1, 3, 3)
        convolution("inner", channels, channels, 3, 3)
        convolution("outer", channels, channels, 3, 3)
        convolution("depth", channels, 1, 3, 3)
        convolution("point", 2 * channels, channels, 1, 1)
        self.weights["head.weight"] = random.tensor(
            (classes, 2 * channels), math.sqrt(3 / (2 * channels)))
        self.weights["head.bias"] = torch.zeros(classes)

    def scores(self, images, training=False):
        w = self.weights

        def convolution(x, name, groups=1):
            weight = w[name + ".weight"]
            y = F.conv2d(x, weight, padding=weight.shape[2] // 2,
                         groups=groups)
            mean, var = self.statistics[name]
            return F.batch_norm(y, mean, var, w[name + ".scale"],
                                w[name + ".shift"], training, 0.1, 1e-5)

        stem = convolution(images, "stem").relu()
        inner = convolution(stem, "inner").relu()
        block = (convolution(inner, "outer") + stem).relu()
        pooled = F.max_pool2d(block, 2)
        depth = convolution(pooled, "depth", pooled.shape[1]).relu()
        point = convolution(depth, "point").relu()
        features = F.adaptive_avg_pool2d(point, 1).flatten(1)
        return F.linear(features, w["head.weight"], w["head.bias"])


def case(seed, batch, size, channels):
    random = reference.Uniform(seed)
    model = Convnet(random, channels, 10)
    images = random.tensor((batch, 1, size, size), 1)
    labels = random.integers((batch,), 10)
    return (model.weights, lambda: model.scores(images),
            lambda: F.cross_entropy(model.scores(images, True), labels))


def main():
    arguments = reference.arguments()
    if arguments.save:
        record = reference.record(*case(1, 4, 8, 8))
        reference.save_safetensors(arguments.save, record)
    if arguments.time:
        reference.print_times(*case(2, 32, 32, 32))


if __name__ == "__main__":
    main()
