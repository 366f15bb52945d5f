"""Measures as distributed_bench.cpp does, by torch.distributed with Gloo.

Usage: torch_peer.py all_reduce BYTES WARMUP COUNT
       torch_peer.py ddp|local MODEL WARMUP COUNT
       torch_peer.py tuned MODEL WARMUP COUNT   DDP with its faster options
       torch_peer.py mismatch dtype|sizes|operator
       torch_peer.py dead

Starts two processes of one thread each. Rank 0 prints lines "figure NAME
VALUE" (nanoseconds, but for shares), and each rank "note …".
"""

import datetime
import math
import os
import signal
import subprocess
import sys
import tempfile
import time

RANKS = 2
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                        "../../../examples")


def start():
    """Runs this program once for each rank; says how each ended."""
    with tempfile.TemporaryDirectory() as folder:
        ranks = []
        for rank in range(RANKS):
            env = {"GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1",
                   **os.environ, "RANK": str(rank), "PEER_FOLDER": folder}
            ranks.append(subprocess.Popen([sys.executable] + sys.argv,
                                          env=env))
        codes = [rank.wait() for rank in ranks]
    print(f"note ended {codes}")
    # These are meant to fail.
    return 0 if sys.argv[1] in ("mismatch", "dead") else max(map(abs, codes))


if __name__ == "__main__" and "RANK" not in os.environ:
    sys.exit(start())

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn.parallel import DistributedDataParallel  # noqa: E402

sys.path.insert(0, os.path.join(EXAMPLES, "common"))
import reference  # noqa: E402

RANK = int(os.environ.get("RANK", "0"))
FOLDER = os.environ.get("PEER_FOLDER", "")


def say(text):
    # One write a line: ranks share the pipe.
    os.write(1, f"{text}\n".encode())


def median(values):
    return sorted(values)[len(values) // 2]


def times_of(call, warmup, count, before=lambda: None):
    """The time of each call, that of the slower rank."""
    times = []
    for i in range(warmup + count):
        before()
        begin = time.perf_counter_ns()
        call()
        if i >= warmup:
            times.append(time.perf_counter_ns() - begin)
    slower = torch.tensor(times, dtype=torch.float64)
    dist.all_reduce(slower, dist.ReduceOp.MAX)
    return slower.tolist()


def report(name, times):
    if RANK == 0:
        say(f"figure {name} {median(times):.0f}")


def all_reduce(size, warmup, count):
    t = torch.zeros(int(size) // 4)
    report(f"all_reduce_{size}", times_of(lambda: dist.all_reduce(t),
                                          int(warmup), int(count),
                                          dist.barrier))
    t.fill_(RANK + 1)
    dist.all_reduce(t)
    if not bool(t.eq(RANKS * (RANKS + 1) / 2).all()):
        sys.exit("all_reduce: the sum is wrong")


class ConvNorm(nn.Module):
    def __init__(self, inputs, outputs, kernel, groups=1):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2,
                              groups=groups, bias=False)
        self.norm = nn.BatchNorm2d(outputs)

    def forward(self, x):
        return self.norm(self.conv(x))


class Convnet(nn.Module):
    """examples/convnet/convnet.h"""

    def __init__(self, channels, classes):
        super().__init__()
        self.stem = ConvNorm(1, channels, 3)
        self.inner = ConvNorm(channels, channels, 3)
        self.outer = ConvNorm(channels, channels, 3)
        self.depth = ConvNorm(channels, channels, 3, channels)
        self.point = ConvNorm(channels, 2 * channels, 1)
        self.head = nn.Linear(2 * channels, classes)

    def forward(self, images):
        first = self.stem(images).relu()
        block = (self.outer(self.inner(first).relu()) + first).relu()
        pooled = F.max_pool2d(block, 2)
        last = self.point(self.depth(pooled).relu()).relu()
        return self.head(F.adaptive_avg_pool2d(last, 1).flatten(1))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.attention = nn.Linear(width, 3 * width)
        self.projection = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def attend(self, x):
        q, k, v = self.attention(x).unflatten(-1, (3, self.heads, -1)).permute(
            2, 0, 3, 1, 4).unbind()
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.projection(mixed.transpose(1, 2).flatten(2))

    def forward(self, x):
        y = x + self.attend(self.norm1(x))
        return y + self.down(F.gelu(self.up(self.norm2(y))))


class Transformer(nn.Module):
    """examples/transformer/transformer.h"""

    def __init__(self, vocabulary, context, width, heads, layers):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(context, width)
        self.layers = nn.Sequential(*[Block(width, heads)
                                      for _ in range(layers)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, tokens):
        x = self.embedding(tokens) + self.positions.weight[:tokens.shape[1]]
        return self.head(self.norm(self.layers(x)))


def fill(model, random):
    """model.h's Uniform::fill."""
    with torch.no_grad():
        for module in model.modules():
            embeds = isinstance(module, nn.Embedding)
            for name, p in module.named_parameters(recurse=False):
                if p.dim() > 1:
                    inputs = p.numel() // p.shape[0]
                    bound = 1 if embeds else math.sqrt(3 / inputs)
                    p.copy_(random.tensor(p.shape, bound))
                elif name == "bias":
                    p.zero_()


def case(name):
    """A model, the same on all ranks, and each rank's input and targets."""
    mine = reference.Uniform(10 + RANK)
    if name == "convnet":
        model = Convnet(32, 10)
        x, y = mine.tensor((32, 1, 32, 32), 1), mine.integers((32,), 10)
    else:
        model = Transformer(256, 64, 128, 4, 4)
        x, y = mine.integers((8, 64), 256), mine.integers((8, 64), 256)
    fill(model, reference.Uniform(2))
    return model, x, y


def alone(name, sizes):
    """The buckets' all_reduces, while nothing computes."""
    buckets = [torch.zeros(size // 4) for size in sizes]

    def call():
        for work in [dist.all_reduce(b, async_op=True) for b in buckets]:
            work.wait()

    report(f"alone_{name}", times_of(call, 10, 100, dist.barrier))
    if RANK == 0:
        say(f"note bytes of buckets: {sizes}")


def steps(how, name, warmup, count):
    model, x, y = case(name)
    if how == "ddp":
        model = DistributedDataParallel(model)
    elif how == "tuned":
        model = DistributedDataParallel(model, gradient_as_bucket_view=True,
                                        broadcast_buffers=False,
                                        static_graph=True)
    sgd = torch.optim.SGD(model.parameters(), lr=reference.RATE,
                          momentum=reference.MOMENTUM, foreach=True)
    losses = []

    def step():
        loss = F.cross_entropy(model(x).flatten(0, -2), y.flatten())
        loss.backward()
        sgd.step()
        sgd.zero_grad()
        if len(losses) < 5:
            losses.append(loss.item())

    report(f"{how}_{name}", times_of(step, int(warmup), int(count)))
    if how != "local":
        logged = model._get_ddp_logging_data()
        sizes = (logged.get("rebuilt_bucket_sizes")
                 or logged["bucket_sizes"]).split(", ")
        alone(name, [int(size) for size in sizes])
    if RANK != 0:
        return
    say("losses " + " ".join(f"{v:.7g}" for v in losses))
    if how != "local":
        spent = logged.get("avg_backward_comm_time", 0)
        hidden = logged.get("avg_backward_compute_comm_overlap_time", 0)
        say(f"figure waited_{name} {spent - hidden}")


def attempt(call):
    """The outcome of the call, and the time of its error; None if it returns."""
    try:
        said, when = f"returned {call()}", None
    except Exception as error:  # whatever the library throws
        said, when = str(error), time.monotonic_ns()
    say(f"note rank {RANK}: {' '.join(said.split())[:400]}")
    return when


def mismatch(kind):
    dtype = torch.int32 if kind == "dtype" and RANK == 1 else torch.float32
    t = torch.ones(6 if kind == "sizes" and RANK == 1 else 4, dtype=dtype)

    def call():
        if kind == "operator" and RANK == 1:
            dist.broadcast(t, 0)
        else:
            dist.all_reduce(t)
        return t.tolist()

    dist.barrier()
    begin = time.monotonic_ns()
    end = attempt(call)
    if end:
        say(f"figure mismatch_{kind}_rank{RANK} {end - begin}")
    # The others' errors are to be their own, not of this rank's end.
    time.sleep(1)
    os._exit(0)


def dead():
    t, file = torch.ones(4), os.path.join(FOLDER, "killed")
    for _ in range(10):
        dist.all_reduce(t)
    if RANK == 1:
        time.sleep(0.3)
        with open(file, "w", encoding="ascii") as out:
            out.write(str(time.monotonic_ns()))
        os.kill(os.getpid(), signal.SIGKILL)
    end = attempt(lambda: dist.all_reduce(t))
    if end:
        with open(file, encoding="ascii") as killed:
            say(f"figure dead {end - int(killed.read())}")
    os._exit(0)


def main():
    torch.set_num_threads(1)
    what, *rest = sys.argv[1:]
    limit = 8 if what in ("mismatch", "dead") else 120
    dist.init_process_group("gloo", init_method=f"file://{FOLDER}/store",
                            rank=RANK, world_size=RANKS,
                            timeout=datetime.timedelta(seconds=limit))
    if what == "all_reduce":
        all_reduce(*rest)
    elif what == "mismatch":
        mismatch(*rest)
    elif what == "dead":
        dead()
    else:
        steps(what, *rest)
    dist.barrier()
    dist.destroy_process_group()
    # libtorch 2.15 sometimes aborts at exit, after DDP: some thread that nobody
    # joined. All has been said.
    os._exit(0)


if __name__ == "__main__":
    main()
