"""The step of mlp_train (benchmarks/lazy/networks.h) by Python libraries.

Measures what is installed: jax.jit with donated parameters, eager PyTorch, and
torch.compile of the forward pass with an eager update. One thread.

Usage: taskset -c 1 python3 mlp_step.py
"""

import os
import time

RUNS, ROUNDS = 2000, 7


def report(name, step):
    for _ in range(200):
        step()
    best = float("inf")
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        for _ in range(RUNS):
            step()
        best = min(best, (time.perf_counter() - begin) / RUNS)
    print(f"{name:24} {best * 1e6:8.1f} us")


def by_jax():
    os.environ["XLA_FLAGS"] = ("--xla_cpu_multi_thread_eigen=false "
                               "intra_op_parallelism_threads=1")
    import jax
    import jax.numpy as jnp
    keys = jax.random.split(jax.random.PRNGKey(0), 4)
    x = jax.random.normal(keys[0], (32, 64))
    y = jax.random.randint(keys[1], (32,), 0, 10)
    p = [jax.random.normal(keys[2], (128, 64)) * 0.05, jnp.zeros(128),
         jax.random.normal(keys[3], (10, 128)) * 0.05, jnp.zeros(10)]

    def loss(p):
        hidden = jax.nn.relu(x @ p[0].T + p[1])
        scores = jax.nn.log_softmax(hidden @ p[2].T + p[3])
        return -scores[jnp.arange(32), y].mean()

    def update(p):
        value, grads = jax.value_and_grad(loss)(p)
        return [a - 0.01 * g for a, g in zip(p, grads)], value

    compiled = jax.jit(update, donate_argnums=0)

    def step():
        nonlocal p
        p, _ = compiled(p)  # the next one waits for it

    report(f"jax.jit {jax.__version__}", step)


def by_torch():
    import torch
    import torch.nn.functional as F
    torch.set_num_threads(1)
    p = [torch.randn(128, 64) * 0.05, torch.zeros(128),
         torch.randn(10, 128) * 0.05, torch.zeros(10)]
    for t in p:
        t.requires_grad_()
    x, y = torch.randn(32, 64), torch.randint(0, 10, (32,))

    def forward(x, y, *p):
        hidden = F.relu(F.linear(x, p[0], p[1]))
        return F.cross_entropy(F.linear(hidden, p[2], p[3]), y)

    def step_of(f):
        def step():
            for t in p:
                t.grad = None
            f(x, y, *p).backward()
            with torch.no_grad():
                for t in p:
                    t.add_(t.grad, alpha=-0.01)
        return step

    report(f"torch {torch.__version__}", step_of(forward))
    report("torch.compile", step_of(torch.compile(forward)))


for measure in (by_jax, by_torch):
    try:
        measure()
    except ImportError as e:
        print(f"skipped: {e}")
