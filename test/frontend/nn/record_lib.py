"""Records what PyTorch's modules and functions give, in files for recorded.h.

Usage, from a record_*.py beside it, with PyTorch 2.15:

    from record_lib import Recorder
    r = Recorder("linear.safetensors")
    r.module("Linear", torch.nn.Linear(4, 3), r.randn(5, 4))
    r.function("relu", torch.nn.functional.relu, r.randn(5, 4))
    r.write()
"""

import json
import os
import struct

import torch

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recorded")
DTYPES = {torch.float32: "F32", torch.float64: "F64", torch.int64: "I64",
          torch.bool: "BOOL", torch.int32: "I32"}


class Recorder:
    def __init__(self, name):
        self.path = os.path.join(FOLDER, name)
        self.tensors = {}
        self.random = torch.Generator().manual_seed(20261123)

    def randn(self, *sizes):
        return torch.randn(sizes, generator=self.random)

    def integers(self, high, *sizes):
        return torch.randint(high, sizes, generator=self.random)

    def put(self, name, tensor):
        assert name not in self.tensors, name
        self.tensors[name] = tensor.detach().clone().contiguous()

    def module(self, name, module, *inputs, call=None):
        """A module in the mode it is in; parameters get random values.

        A name has the word "eval" for a module that is called in that mode.
        `call(module, *inputs)` gives all results if one call is not enough.
        """
        assert ("eval" in name) != module.training, name
        with torch.no_grad():
            for p in module.parameters():
                p.copy_(self.randn(*p.shape) * 0.5)
        for path, p in module.named_parameters():
            self.put(f"{name}/param/{path}", p)
        for path, b in module.named_buffers():
            if path in module.state_dict():
                self.put(f"{name}/buffer/{path}", b)
        self._run(name, call and (lambda *a: call(module, *a)) or module,
                  inputs)
        for path, p in module.named_parameters():
            if p.grad is not None:
                self.put(f"{name}/grad/{path}", p.grad)
        for path, b in module.named_buffers():
            if path in module.state_dict():
                self.put(f"{name}/after/{path}", b)

    def function(self, name, function, *inputs):
        self._run(name, function, inputs)

    def _run(self, name, function, inputs):
        given = []
        for i, x in enumerate(inputs):
            self.put(f"{name}/in/{i}", x)
            x = x.detach().clone()
            given.append(x.requires_grad_() if x.is_floating_point() else x)
        results = function(*given)
        flat = []

        def flatten(r):
            if isinstance(r, torch.Tensor):
                flat.append(r)
            else:
                for each in r:
                    flatten(each)

        flatten(results)
        roots, cotangents = [], []
        for i, r in enumerate(flat):
            self.put(f"{name}/out/{i}", r)
            if r.requires_grad:
                roots.append(r)
                cotangents.append(self.randn(*r.shape).to(r.dtype))
                self.put(f"{name}/cotangent/{i}", cotangents[-1])
        if roots:
            torch.autograd.backward(roots, cotangents)
        for i, x in enumerate(given):
            if x.grad is not None:
                self.put(f"{name}/grad_in/{i}", x.grad)

    def write(self):
        header, parts, offset = {}, [], 0
        for name, t in self.tensors.items():
            data = bytes(t.reshape(-1).view(torch.uint8).tolist()) \
                if t.numel() else b""
            header[name] = {"dtype": DTYPES[t.dtype], "shape": list(t.shape),
                            "data_offsets": [offset, offset + len(data)]}
            parts.append(data)
            offset += len(data)
        text = json.dumps(header, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)
        os.makedirs(FOLDER, exist_ok=True)
        with open(self.path, "wb") as file:
            file.write(struct.pack("<Q", len(text)) + text + b"".join(parts))
        print(f"{self.path}: {len(self.tensors)} tensors, {offset} bytes")
