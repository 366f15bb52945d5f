"""Makes the files of testdata/torch/ that Python writes, with PyTorch itself.

Element i of every tensor is (7 * i) % 11, less 3 for signed and floating
dtypes, i % 2 for bools. make_torch_archives.cpp makes the others.

Usage: make_torch_testdata.py FOLDER
       make_torch_testdata.py --check FILE      a state dict of ours
       make_torch_testdata.py --check-tree FILE a checkpoint of ours

--check reads the file as torch.load does by default (weights_only=True) and
exits 1 if an element is not as above.
"""

import collections
import io
import os
import sys
import zipfile

import torch

DTYPES = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32,
          torch.int64, torch.float16, torch.bfloat16, torch.float32,
          torch.float64]


def data(sizes, dtype=torch.float32):
    n = 1
    for size in sizes:
        n *= size
    t = torch.arange(n)
    if dtype == torch.bool:
        t = t % 2
    else:
        t = 7 * t % 11
        if dtype != torch.uint8:
            t = t - 3
    return t.to(dtype).reshape(sizes).clone()


def name_of(dtype):
    return str(dtype).removeprefix("torch.")


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(3, 2)
        self.layers = torch.nn.Sequential(
            torch.nn.BatchNorm1d(2), torch.nn.ReLU(), torch.nn.Linear(2, 4))
        with torch.no_grad():
            for t in [*self.parameters(), *self.buffers()]:
                t.copy_(data(t.shape, t.dtype))


def all_dtypes():
    return {name_of(d): data((3, 5), d) for d in DTYPES}


def views():
    base = data((4, 6))
    return {"base": base, "transposed": base.t(), "row": base[2],
            "part": base[1:3, 1:6:2], "same": base,
            "expanded": data((3, 1)).expand(3, 4)}


def checkpoint():
    net = Net()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    for p in net.parameters():
        p.grad = data(p.shape)
    optimizer.step()
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    return {"model": Net().state_dict(), "optimizer": optimizer.state_dict(),
            "scheduler": scheduler.state_dict(),
            "epoch": 3, "loss": 0.125, "done": False, "note": "\u00e4",
            "nothing": None, "large": 2**40, "negative": -2**63,
            "list": [1, [2.5, "x"], ()], "sizes": torch.Size([2, 3]),
            "dtype": torch.float16, "device": torch.device("cpu"),
            "by_number": {7: data((2,)), -1: "minus"},
            "path": ("a", (1, 2), {"deep": [data((1,))]})}


def parameters():
    tied = torch.nn.Parameter(data((2, 2)))
    return {"trained": tied, "tied": tied,
            "frozen": torch.nn.Parameter(data((3,)), requires_grad=False),
            "buffer": torch.nn.Buffer(data((2,))),
            "leaf": data((2,)).requires_grad_()}


def pickles():
    """Values whose storages all have 64 bytes, as the fuzzer's have."""
    base = data((4, 4))
    parameter = torch.nn.Parameter(data((2, 8)))
    return {
        "views": [base, base.t(), base[1:3, ::2], data((4, 2), torch.int64),
                  data((64,), torch.bool), data((32, 1, 1), torch.bfloat16)],
        "parameters": {"a": parameter, "b": {"c": (parameter, base)},
                       "buffer": torch.nn.Buffer(base)},
        "tree": collections.OrderedDict(
            x=base, n=None, f=2.5, i=[1, -300, 70000, 2**40, 2**70], s="text",
            t=(1, (2, 3), (4, 5, 6), (7, 8, 9, 10)), d={1: True, 2: False},
            size=torch.Size([2]), dtype=torch.float32,
            device=torch.device("cpu"))}


def make(folder):
    def save(value, name, **options):
        torch.save(value, os.path.join(folder, name), **options)

    save(all_dtypes(), "dtypes.pt")
    for protocol in (3, 4, 5):
        save({"a": data((2, 3)), "n": 256, "s": "text" * 80,
              "l": [True, None], "d": collections.OrderedDict(x=data((1,)))},
             f"protocol{protocol}.pt", pickle_protocol=protocol)
    save(Net().state_dict(), "state_dict.pt")
    save(views(), "views.pt")
    save(checkpoint(), "checkpoint.pt")
    save(parameters(), "parameters.pt")
    save({"scalar": data(()), "empty": data((0, 3)), "none": data((0,)),
          "many": data((1,) * 8)}, "shapes.pt")
    save(data((2, 3)), "tensor.pt")
    save({"seed": 2**64 - 1, "w": data((2,))}, "long.pt")
    save([data((2,)), data((3,), torch.int64)], "list.pt")
    save({f"{i:03}": data((i % 3,)) for i in range(60)}, "many.pt")
    for protocol in (2, 4):
        for name, value in pickles().items():
            bytes_ = io.BytesIO()
            torch.save(value, bytes_, pickle_protocol=protocol)
            pickle = zipfile.ZipFile(bytes_).read("archive/data.pkl")
            path = os.path.join(folder, f"{name}{protocol}.pkl")
            with open(path, "wb") as file:
                file.write(pickle)
    # Kinds that are refused by name.
    save({"z": torch.zeros(2, dtype=torch.complex64)}, "complex.pt")
    save({"w": data((2,)), "q": torch.quantize_per_tensor(
        data((2,)), 0.5, 0, torch.qint8)}, "quantized.pt")
    save({"s": torch.eye(2).to_sparse()}, "sparse.pt")
    save({"m": torch.zeros(2, device="meta")}, "meta.pt")
    save({"u": torch.zeros(2, dtype=torch.uint16)}, "uint16.pt")
    save(torch.nn.Linear(1, 1), "object.pt")
    save({"a": data((2,))}, "legacy.pt", _use_new_zipfile_serialization=False)


def check(value, path=""):
    """How many tensors there are below; exits for one that differs."""
    if isinstance(value, torch.Tensor):
        expected = data(value.shape, value.dtype)
        if not torch.equal(value.detach(), expected):
            sys.exit(f"{path}: {value} is not {expected}")
        return 1
    if isinstance(value, dict):
        return sum(check(v, f"{path}.{k}") for k, v in value.items())
    if isinstance(value, (list, tuple)):
        return sum(check(v, f"{path}.{i}") for i, v in enumerate(value))
    return 0


def main():
    if sys.argv[1] == "--check":
        if check(torch.load(sys.argv[2])) == 0:
            sys.exit("no tensor")
    elif sys.argv[1] == "--check-tree":
        tree = torch.load(sys.argv[2])
        plain = {k: v for k, v in tree.items() if k not in ("w", "inner")}
        expected = {"none": None, "yes": True, "no": False, "epoch": 3,
                    "large": 2**40, "negative": -2**63, "loss": 0.125,
                    "name": "\u00e4", "list": [1, "x", []], "tuple": (1, 2, 3),
                    "long": (1, 2, 3, 4), 7: "seven", -1: ()}
        if plain != expected or list(plain) != list(expected):
            sys.exit(f"{plain} is not {expected}")
        w, t = tree["w"], tree["inner"]["t"]
        if check(tree) != 2 or not w.requires_grad or t.requires_grad:
            sys.exit("tensors differ")
        if t.dtype != torch.int64:
            sys.exit(f"t is of {t.dtype}")
    else:
        make(sys.argv[1])


if __name__ == "__main__":
    main()
