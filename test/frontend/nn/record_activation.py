"""Records activation.safetensors, for activation_test.cpp."""

import torch
from record_lib import Recorder
from torch import nn
from torch.nn import functional as F

r = Recorder("activation.safetensors")


def inplace(f, *inputs):
    """The result, and what the input became."""
    x = inputs[0] * 1
    return [f(x, *inputs[1:]), x]


def modules():
    x = r.randn(3, 4) * 2
    plain = {
        "ELU": nn.ELU(), "ELU_alpha": nn.ELU(0.5),
        "SELU": nn.SELU(), "CELU": nn.CELU(), "CELU_alpha": nn.CELU(0.5),
        "Hardshrink": nn.Hardshrink(), "Hardshrink_lambda": nn.Hardshrink(1.5),
        "Softshrink": nn.Softshrink(), "Softshrink_lambda": nn.Softshrink(1.5),
        "Hardtanh": nn.Hardtanh(), "Hardtanh_bounds": nn.Hardtanh(-0.5, 2.0),
        "Hardsigmoid": nn.Hardsigmoid(), "Hardswish": nn.Hardswish(),
        "LeakyReLU": nn.LeakyReLU(), "LeakyReLU_slope": nn.LeakyReLU(0.25),
        "LogSigmoid": nn.LogSigmoid(),
        "Softmax": nn.Softmax(0), "Softmin": nn.Softmin(0),
        "LogSoftmax": nn.LogSoftmax(0),
        "PReLU": nn.PReLU(), "PReLU_channels": nn.PReLU(4),
        "ReLU": nn.ReLU(), "ReLU6": nn.ReLU6(),
        "GLU": nn.GLU(), "GELU": nn.GELU(),
        "GELU_tanh": nn.GELU(approximate="tanh"),
        "SiLU": nn.SiLU(), "Mish": nn.Mish(), "Sigmoid": nn.Sigmoid(),
        "Softplus": nn.Softplus(), "Softplus_beta": nn.Softplus(2.0),
        "Softplus_threshold": nn.Softplus(1.0, 0.5),
        "Softsign": nn.Softsign(), "Tanh": nn.Tanh(),
        "Tanhshrink": nn.Tanhshrink(),
        "Threshold": nn.Threshold(0.5, -3.0),
        "RReLU_eval": nn.RReLU().eval(),
        "RReLU_bounds_eval": nn.RReLU(0.25, 0.75).eval(),
    }
    for name, module in plain.items():
        r.module(name, module, x * 3 if "6" in name else x)
    r.module("GLU_dim", nn.GLU(0), r.randn(4, 3))
    r.module("Softmax2d", nn.Softmax2d(), r.randn(2, 3, 2, 2))
    r.module("Softmax2d_unbatched", nn.Softmax2d(), r.randn(3, 2, 2))
    for name, module in {
        "ELU": nn.ELU(0.5, inplace=True),
        "SELU": nn.SELU(inplace=True),
        "CELU": nn.CELU(0.5, inplace=True),
        "Hardtanh": nn.Hardtanh(inplace=True),
        "Hardsigmoid": nn.Hardsigmoid(inplace=True),
        "Hardswish": nn.Hardswish(inplace=True),
        "LeakyReLU": nn.LeakyReLU(inplace=True),
        "ReLU": nn.ReLU(inplace=True), "ReLU6": nn.ReLU6(inplace=True),
        "Threshold": nn.Threshold(0.5, -3.0, inplace=True),
    }.items():
        r.module(f"{name}_inplace", module, x, call=inplace)
    r.module("RReLU_inplace_eval", nn.RReLU(inplace=True).eval(), x,
             call=inplace)


def functions():
    x = r.randn(3, 4) * 2
    plain = {
        "elu": lambda x: F.elu(x, 0.5), "selu": F.selu,
        "celu": lambda x: F.celu(x, 0.5),
        "hardshrink": lambda x: F.hardshrink(x, 1.5),
        "softshrink": lambda x: F.softshrink(x, 1.5),
        "hardtanh": lambda x: F.hardtanh(x, -0.5, 2.0),
        "hardsigmoid": F.hardsigmoid, "hardswish": F.hardswish,
        "leaky_relu": lambda x: F.leaky_relu(x, 0.25),
        "logsigmoid": F.logsigmoid,
        "softmax": lambda x: F.softmax(x, 0),
        "softmin": lambda x: F.softmin(x, 0),
        "log_softmax": lambda x: F.log_softmax(x, 0),
        "softmax_dtype": lambda x: F.softmax(x, 1, dtype=torch.float64),
        "softmin_dtype": lambda x: F.softmin(x, 1, dtype=torch.float64),
        "log_softmax_dtype":
            lambda x: F.log_softmax(x, 1, dtype=torch.float64),
        "glu": F.glu, "gelu": lambda x: F.gelu(x, approximate="tanh"),
        "silu": F.silu, "mish": F.mish, "relu": F.relu,
        "relu6": lambda x: F.relu6(x * 3),
        "rrelu": lambda x: F.rrelu(x, 0.25, 0.75),
        "softplus": lambda x: F.softplus(x, 2.0, 0.5),
        "softsign": F.softsign, "tanhshrink": F.tanhshrink,
        "threshold": lambda x: F.threshold(x, 0.5, -3.0),
    }
    for name, f in plain.items():
        r.function(name, f, x)
    r.function("glu_dim", lambda x: F.glu(x, 0), r.randn(4, 3))
    r.function("prelu", F.prelu, x, r.randn(4))


modules()
functions()
r.write()
