"""Records trajectories of PyTorch's optimizers and schedulers.

    python3 test/frontend/optim/record.py test/frontend/optim/trajectories.safetensors

Run with PyTorch 2.15. "Adam/lr=0.1,amsgrad=true/f64" has the parameters after each step,
one row a step; for ASGD also their averages. "scheduler/NAME/sgd": see `scheduled`. The tests make parameters and
gradients in the same way: see `value` and `gradient`.
"""

import json
import struct
import sys

import torch

STEPS = 20
SIZES = [(3, 2), (4,), (2, 2, 2), ()]


def value(i, shape, dtype, seed):
    """Numbers that any language makes alike: a quadratic residue, in -1 to 1."""
    n = 1
    for s in shape:
        n *= s
    k = torch.arange(n, dtype=torch.float64) + 7 * i + 13 * seed + 1
    return (((k * k * 31) % 97) / 48.5 - 1).reshape(shape).to(dtype)


def gradient(i, p, step):
    """The gradient of a bowl and a wave. The second has none in some steps."""
    if i == 1 and step % 4 == 2:
        return None
    return (p - value(i, p.shape, p.dtype, 50)) * (0.5 + 0.1 * i) + 0.2 * value(i, p.shape, p.dtype, step)


CASES = {
    "SGD": [
        "lr=0.1",
        "lr=0.1,momentum=0.9",
        "lr=0.1,momentum=0.9,dampening=0.3,weight_decay=0.1",
        "lr=0.1,momentum=0.8,nesterov=true",
        "lr=0.1,momentum=0.8,nesterov=true,weight_decay=0.02,maximize=true",
        "lr=0.05,weight_decay=0.1,maximize=true",
    ],
    "Adam": [
        "lr=0.1",
        "lr=0.1,betas=0.8:0.95,eps=0.001",
        "lr=0.1,weight_decay=0.1",
        "lr=0.1,weight_decay=0.1,decoupled_weight_decay=true",
        "lr=0.1,amsgrad=true",
        "lr=0.1,maximize=true,weight_decay=0.1",
        "lr=0.1,capturable=true,weight_decay=0.1,amsgrad=true",
    ],
    "AdamW": [
        "lr=0.1",
        "lr=0.1,weight_decay=0.3,amsgrad=true,betas=0.7:0.9,eps=0.01",
        "lr=0.1,maximize=true",
        "lr=0.1,capturable=true",
    ],
    "Adagrad": [
        "lr=0.1",
        "lr=0.1,lr_decay=0.1,weight_decay=0.1",
        "lr=0.1,initial_accumulator_value=0.3,eps=0.01,maximize=true",
    ],
    "RMSprop": [
        "lr=0.01",
        "lr=0.01,alpha=0.9,eps=0.01,weight_decay=0.1",
        "lr=0.01,momentum=0.9",
        "lr=0.01,centered=true",
        "lr=0.01,centered=true,momentum=0.5,maximize=true",
        "lr=0.01,capturable=true",
    ],
    "Adadelta": [
        "lr=1.0",
        "lr=0.5,rho=0.8,eps=0.001",
        "lr=1.0,weight_decay=0.1,maximize=true",
        "lr=1.0,capturable=true",
    ],
    "Adamax": [
        "lr=0.1",
        "lr=0.1,betas=0.8:0.9,eps=0.01",
        "lr=0.1,weight_decay=0.1,maximize=true",
        "lr=0.1,capturable=true",
    ],
    "NAdam": [
        "lr=0.1",
        "lr=0.1,betas=0.8:0.9,eps=0.01,momentum_decay=0.1",
        "lr=0.1,weight_decay=0.1",
        "lr=0.1,weight_decay=0.1,decoupled_weight_decay=true,maximize=true",
        "lr=0.1,capturable=true",
    ],
    "RAdam": [
        "lr=0.1",
        "lr=0.1,betas=0.8:0.9,eps=0.01",
        "lr=0.1,weight_decay=0.1",
        "lr=0.1,weight_decay=0.1,decoupled_weight_decay=true,maximize=true",
        "lr=0.1,capturable=true",
    ],
    "ASGD": [
        "lr=0.1",
        "lr=0.1,lambd=0.1,alpha=0.5,t0=5",
        "lr=0.1,weight_decay=0.1,maximize=true",
        "lr=0.1,capturable=true,t0=5,lambd=0.1",
    ],
    "Rprop": [
        "lr=0.1",
        "lr=0.1,etas=0.3:1.5",
        "lr=0.1,step_sizes=0.05:0.2,maximize=true",
        "lr=0.1,capturable=true",
    ],
    "Adafactor": [
        "lr=0.1",
        "lr=0.1,beta2_decay=-0.5,eps=0.5:1.0",
        "lr=0.1,d=2.0,weight_decay=0.1",
        "lr=0.1,maximize=true",
    ],
    "Muon": [
        "lr=0.1",
        "lr=0.1,weight_decay=0.3,momentum=0.8,nesterov=false",
        "lr=0.1,ns_steps=3,ns_coefficients=3.0:-4.0:2.0,eps=5.0",
        "lr=0.1,adjust_lr_fn=match_rms_adamw",
        "lr=0.1,adjust_lr_fn=spectral_unclamped",
    ],
    "LBFGS": [
        "lr=0.3",
        "lr=0.3,max_eval=3",
        "lr=0.3,max_iter=5,history_size=3",
        "lr=1,max_iter=6,line_search_fn=strong_wolfe",
        "lr=0.5,max_iter=3,max_eval=12,line_search_fn=strong_wolfe,tolerance_change=0.01",
        "lr=0.5,max_iter=3,tolerance_grad=0.5",
        "lr=0.3,max_iter=4,maximize=true,line_search_fn=strong_wolfe",
    ],
}


def parse(text):
    out = {}
    for item in text.split(","):
        name, v = item.split("=")
        if v in ("true", "false"):
            out[name] = v == "true"
        elif ":" in v:
            out[name] = tuple(float(x) for x in v.split(":"))
        elif name in ("max_iter", "max_eval", "history_size", "ns_steps"):
            out[name] = int(v)
        else:
            try:
                out[name] = float(v)
            except ValueError:
                out[name] = v
    return out


def bowl(params, sign):
    """The function that LBFGS minimises: curved, not quadratic."""
    loss = 0
    for i, p in enumerate(params):
        x = p - value(i, p.shape, p.dtype, 50)
        loss = loss + (x * x * (i + 1)).sum() + (x * x * x * x).sum() * 0.3
    return loss * sign


def trajectory(name, options, dtype):
    shapes = [(2, 4), (5, 2), (3, 3)] if name == "Muon" else SIZES
    params = [value(i, s, dtype, 0).requires_grad_() for i, s in enumerate(shapes)]
    kwargs = parse(options)
    if name not in ("Muon", "LBFGS"):
        kwargs["foreach"] = False
    optimizer = getattr(torch.optim, name)(params, **kwargs)
    rows = []
    for step in range(STEPS):
        if name == "LBFGS":

            def closure():
                optimizer.zero_grad()
                loss = bowl(params, -1 if kwargs.get("maximize") else 1)
                loss.backward()
                return loss

            optimizer.step(closure)
        else:
            for i, p in enumerate(params):
                p.grad = gradient(i, p.detach(), step)
            optimizer.step()
        seen = [p.detach() for p in params]
        if name == "ASGD":
            seen += [optimizer.state[p]["ax"] for p in params]
        rows.append(torch.cat([t.reshape(-1) for t in seen]))
    return torch.stack(rows)


def schedulers(opt):
    s = torch.optim.lr_scheduler
    return {
        "LambdaLR": lambda: s.LambdaLR(opt, lambda e: 0.95**e),
        "MultiplicativeLR": lambda: s.MultiplicativeLR(opt, lambda e: 0.9 + 0.001 * e),
        "StepLR": lambda: s.StepLR(opt, 7, 0.7),
        "MultiStepLR": lambda: s.MultiStepLR(opt, [30, 5, 5, 60], 0.5),
        "ConstantLR": lambda: s.ConstantLR(opt, 0.25, 9),
        "LinearLR": lambda: s.LinearLR(opt, 0.2, 0.9, 40),
        "ExponentialLR": lambda: s.ExponentialLR(opt, 0.97),
        "PolynomialLR": lambda: s.PolynomialLR(opt, 60, 1.7),
        "CosineAnnealingLR": lambda: s.CosineAnnealingLR(opt, 15, 0.01),
        "SequentialLR": lambda: s.SequentialLR(
            opt, [s.LinearLR(opt, 0.1, 1.0, 8), s.ExponentialLR(opt, 0.9), s.CosineAnnealingLR(opt, 20)], [10, 40]
        ),
        "SequentialRestarts": lambda: s.SequentialLR(
            opt, [s.ConstantLR(opt, 0.5, 100), s.CosineAnnealingWarmRestarts(opt, 12, 2, 0.001)], [20]
        ),
        "ChainedScheduler": lambda: s.ChainedScheduler([s.ConstantLR(opt, 0.1, 12), s.ExponentialLR(opt, 0.95)]),
        "CyclicLR": lambda: s.CyclicLR(opt, 0.01, 0.3, 9, 14),
        "CyclicLR_triangular2": lambda: s.CyclicLR(
            opt, [0.01, 0.02], 0.3, 9, mode="triangular2", base_momentum=0.6, max_momentum=0.95
        ),
        "CyclicLR_exp_range": lambda: s.CyclicLR(opt, 0.01, 0.3, 9, mode="exp_range", gamma=0.98, cycle_momentum=False),
        "CyclicLR_scale_fn": lambda: s.CyclicLR(opt, 0.01, 0.3, 9, scale_fn=lambda x: 1 / (1 + x), scale_mode="cycle"),
        "CosineAnnealingWarmRestarts": lambda: s.CosineAnnealingWarmRestarts(opt, 10, 1, 0.01),
        "CosineAnnealingWarmRestarts_2": lambda: s.CosineAnnealingWarmRestarts(opt, 6, 2),
        "OneCycleLR": lambda: s.OneCycleLR(opt, 0.5, total_steps=101),
        "OneCycleLR_three": lambda: s.OneCycleLR(
            opt, [0.5, 0.7], epochs=10, steps_per_epoch=11, three_phase=True, pct_start=0.2, anneal_strategy="linear",
            base_momentum=0.7, max_momentum=0.9, div_factor=10, final_div_factor=100,
        ),
        "SWALR": lambda: torch.optim.swa_utils.SWALR(opt, 0.02, 30),
        "SWALR_linear": lambda: torch.optim.swa_utils.SWALR(opt, [0.02, 0.3], 12, "linear"),
        "ReduceLROnPlateau": lambda: s.ReduceLROnPlateau(opt, "min", 0.5, 3, 0.01, "rel", 2, 0.001),
        "ReduceLROnPlateau_max": lambda: s.ReduceLROnPlateau(opt, "max", 0.7, 2, 0.05, "abs", 0, [0.01, 0.02]),
    }


def scheduled(name, adam):
    """Rows: the learning rates of two groups, then their momentum or first beta."""
    p = [torch.zeros(1, requires_grad=True), torch.zeros(1, requires_grad=True)]
    groups = [{"params": [p[0]]}, {"params": [p[1]], "lr": 0.4}]
    opt = torch.optim.Adam(groups, lr=0.2) if adam else torch.optim.SGD(groups, lr=0.2, momentum=0.5)
    scheduler = schedulers(opt)[name]()
    rows = []
    for step in range(100):
        rows.append(
            [g["lr"] for g in opt.param_groups]
            + [g["betas"][0] if adam else g["momentum"] for g in opt.param_groups]
        )
        opt.step()
        if name.startswith("Reduce"):
            scheduler.step(((step * step * 31) % 97) / 97 - step * 0.002)
        else:
            scheduler.step()
    return torch.tensor(rows, dtype=torch.float64)


def save(path, tensors):
    names = {torch.float64: "F64", torch.float32: "F32"}
    header, data = {}, b""
    for name, t in sorted(tensors.items(), key=lambda item: -item[1].element_size()):
        raw = bytes(t.contiguous().untyped_storage())
        header[name] = {
            "dtype": names[t.dtype],
            "shape": list(t.shape),
            "data_offsets": [len(data), len(data) + len(raw)],
        }
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    # Numbers that Python keeps in tensors are doubles, as ours are.
    torch.set_default_dtype(torch.float64)
    # capturable is for devices; the formulas are the same on the CPU.
    import torch.optim.optimizer as base

    base._get_capturable_supported_devices.__code__ = (lambda supports_xla=True: ["cpu", "cuda"]).__code__
    base._get_capturable_supported_devices.__defaults__ = (True,)
    tensors = {}
    for name, cases in CASES.items():
        for options in cases:
            tensors[f"{name}/{options}/f64"] = trajectory(name, options, torch.float64)
        tensors[f"{name}/{cases[0]}/f32"] = trajectory(name, cases[0], torch.float32)
    probe = torch.optim.SGD([torch.zeros(1)], lr=0.1)
    for name in schedulers(probe):
        tensors[f"scheduler/{name}/sgd"] = scheduled(name, False)
        if name in ("CyclicLR", "OneCycleLR"):
            tensors[f"scheduler/{name}/adam"] = scheduled(name, True)
    save(sys.argv[1], tensors)


if __name__ == "__main__":
    main()
