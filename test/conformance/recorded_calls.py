"""The calls that record.py adds to the cases: operators and ways of calling
them that the other cases do not show."""

import torch

import recorded_products
from call_values import *


def factories():
    for size in ([3, 4], [0, 2], [5]):
        yield call("rand", size, any_values=True)
        yield call("randn", size, dtype=f64, any_values=True)
        yield call("empty.memory_format", size, any_values=True)
    yield call("empty_permuted", [2, 3, 4], [2, 0, 1], any_values=True)
    yield call("empty_permuted", [2, 3], [1, 0], dtype=i64, any_values=True)
    yield call("empty_strided", [2, 3], [4, 1], any_values=True)
    yield call("empty_strided", [2, 2], [0, 1], dtype=bf16, any_values=True)
    yield call("new_empty", t(2), [3, 4], any_values=True)
    yield call("new_empty", d(2), [2], dtype=i32, any_values=True)
    yield call("new_empty_strided", t(2), [2, 3], [1, 2], any_values=True)
    yield call("empty_like", t(2, 3).t(), any_values=True)
    yield call("empty_like", t(2, 3), dtype=i64, any_values=True)
    yield call("empty.out", [2, 3], out=empty(), any_values=True)
    yield call("randint", 1, [3, 4])
    yield call("randint", 1, [2], dtype=f32)
    yield call("rand_like", t(2, 3), any_values=True)
    yield call("randn_like", d(2, 3).t(), any_values=True)
    yield call("randint_like", t(2, 3), 1)
    yield call("randint_like.low_dtype", t(2, 3), 4, 5)
    yield call("randint_like.Tensor", t(2, 3), torch.tensor(1))
    yield call("random_.to", t(3), 1)
    yield call("random_.from", ints(3), 6, 7)
    yield call("random_", t(3, dtype=torch.bool), any_values=True)
    yield call("uniform_", t(3), 2.0, 2.0)
    yield call("normal_", d(2, 2), 1.5, 0.0)
    yield call("bernoulli_.float", t(3), 1.0)
    yield call("bernoulli_.float", ints(3), 0.0)
    yield call("bernoulli", numbers([0, 1, 1, 0]))
    yield call("bernoulli.out", numbers([0, 1], f64), out=empty())
    for name in ("bartlett", "blackman", "hamming", "hann", "kaiser"):
        op = name + "_window"
        tolerance = 4 if name == "kaiser" else 1
        for n in (0, 1, 2, 7, 64):
            yield call(op, n, tolerance=tolerance)
            yield call(op + ".periodic", n, False, dtype=f64,
                       tolerance=tolerance)
        yield call(op + ".out", 6, out=empty(), tolerance=tolerance)
        yield call(op + ".periodic_out", 6, False, out=empty(f64),
                   tolerance=tolerance)
    yield call("hamming_window.periodic_alpha", 8, True, 0.6)
    yield call("hamming_window.periodic_alpha_beta", 8, False, 0.6, 0.3)
    yield call("hamming_window.periodic_alpha_out", 8, True, 0.6, out=empty())
    yield call("hamming_window.periodic_alpha_beta_out", 8, True, 0.6, 0.3,
               out=empty())
    yield call("kaiser_window.beta", 9, False, 3.0, tolerance=4)
    yield call("kaiser_window.beta_out", 9, True, 3.0, out=empty(),
               tolerance=4)
    yield from distributions()
    yield from factories_out()


def distributions():
    yield call("uniform", t(3), 2.0, 2.0)
    yield call("random.from", ints(3), 6, 7)
    yield call("random.to", t(2, 2), 1)
    yield call("random", ints(2), any_values=True)
    yield call("normal_functional", t(3), 1.5, 0.0)
    yield call("normal.out", t(3), 1.5, 0.0, out=empty())
    yield call("normal.Tensor_float", d(3), 0.0)
    yield call("normal.float_Tensor", 2.0, torch.zeros(2, 3))
    yield call("normal.Tensor_Tensor", d(3), torch.zeros(2, 1, dtype=f64))
    yield call("normal.float_float", 2.0, 0.0, [2, 3])
    yield call("exponential", d(3), any_values=True)
    yield call("exponential_", t(3, dtype=bf16), 2.0, any_values=True)
    yield call("log_normal", t(3), any_values=True)
    yield call("cauchy_", t(3), any_values=True)
    yield call("geometric", t(3), 0.999999999999)
    yield call("geometric_", ints(3), 0.999999999999)
    yield call("bernoulli.p", t(3), 1.0)
    yield call("bernoulli.Tensor", t(2, 3), numbers([0, 1, 1]))
    yield call("bernoulli_.Tensor", ints(2, 3), numbers([0, 1, 1]))
    yield call("poisson", torch.zeros(2, 3))
    yield call("binomial", numbers([0, 4, 7]), numbers([0.5, 1, 0]))
    yield call("multinomial", numbers([0, 1, 0]), 1)
    yield call("multinomial", numbers([[0, 1, 0], [2, 0, 0]]), 4, True)
    yield call("multinomial", t(3, low=0.1, dtype=f64), 2, any_values=True)
    for name in ("rrelu", "rrelu_"):
        yield call(name, d(2, 3), 0.1, 0.4)
        yield call(name, t(3), 0.5, 0.5, True)
    for name in ("rrelu_with_noise", "rrelu_with_noise_",
                 "rrelu_with_noise_functional"):
        yield call(name, d(2, 3), torch.zeros(2, 3, dtype=f64), 0.1, 0.4)
        yield call(name, t(3), torch.zeros(3), 0.5, 0.5, True)
    yield call("rrelu_with_noise.out", t(3), torch.zeros(3), 0.5, 0.5, True,
               out=torch.zeros(3))
    for training in (False, True):
        yield call("rrelu_with_noise_backward", d(2, 3, seed=1), d(2, 3),
                   d(2, 3, low=0.1, seed=2), 0.1, 0.4, training, False,
                   grad=False)


def factories_out():
    """An out= form of a factory takes its dtype from the tensor it writes."""
    for name in ("zeros_like", "ones_like"):
        yield call(name + ".out", t(2, 3), out=empty(f64))
    yield call("full_like.out", ints(3), 2.5, out=empty(f64))
    yield call("new_zeros.out", t(2), [2, 3], out=empty(i64))
    yield call("new_ones.out", ints(2), [3], out=empty(bf16))
    yield call("new_full.out", ints(2), [3], 1.5, out=empty())
    yield call("scalar_tensor.out", 1.5, out=empty(f64))
    yield call("randint_like.out", t(2, 3), 1, out=empty(i64))
    yield call("randint_like.low_dtype_out", t(2, 3), 4, 5, out=empty(i64))
    yield call("rand_like.out", t(2, 3), out=empty(f64), any_values=True)
    yield call("empty_like.out", t(2, 3), out=empty(f64), any_values=True)
    yield call("new_empty.out", t(2, 3), [4], out=empty(i64),
               any_values=True)


def dropouts():
    x = t(3, 4)
    for name in ("dropout", "alpha_dropout", "feature_dropout",
                 "feature_alpha_dropout"):
        yield call(name, x, 0.0, True)
        yield call(name, d(3, 4), 0.5, False)
        yield call(name, x, 1.0, True)
        yield call(name + "_", x, 0.5, False)
        yield call(name + "_", x, 0.0, True)
    yield call("native_dropout", x, 0.0, True)
    yield call("native_dropout", x, 1.0, True)
    yield call("native_dropout", d(5), 0.5, False)
    yield call("native_dropout.out", x, 1.0, True, out0=empty(),
               out1=empty(torch.bool))


def elementwise():
    for x in (t(2, 3, low=1, high=6), d(4, low=1.1, high=9),
              t(5, dtype=bf16, low=1, high=3), ints(4, low=1),
              numbers([1, 0.5, inf, nan, -1]), strided(t(3, 4, low=1))):
        yield call("acosh", x)
    yield call("acosh_", t(3, low=1, high=6))
    yield call("acosh.out", t(3, low=1), out=empty())
    for x in (t(2, 5), d(6), t(5, dtype=f16), numbers([nan, inf, -inf, 0.5])):
        yield call("hardshrink", x)
        yield call("hardshrink", x, 1.25)
    yield call("hardshrink.out", t(4), 0.25, out=empty())
    odd = numbers([nan, inf, -inf, 0, 1e38])
    for name in ("isfinite", "is_neg", "is_complex", "is_conj",
                 "is_floating_point", "is_distributed", "is_inference"):
        yield call(name, odd)
        yield call(name, ints(2, 2))
    yield call("isfinite", odd.to(f16))
    yield call("equal", t(3), t(3))
    yield call("allclose", t(3), t(3) + 1e-9)
    yield call("allclose", d(3), d(3) + 1e-3)
    yield call("allclose", d(3), d(3) + 1e-3, 0.0, 1e-2)
    yield call("allclose", numbers([nan, 1]), numbers([nan, 1]))
    yield call("allclose", numbers([nan, 1]), numbers([nan, 1]), equal_nan=True)
    yield call("allclose", ints(3), ints(3))
    yield call("equal", t(3), t(4))
    yield call("equal", t(3), t(3, seed=1))
    yield call("is_set_to", t(3), t(3))
    for x, w in ((t(2, 3, 4), t(3, low=0, high=1)),
                 (d(2, 3), d(3, low=0, high=1)), (d(4), d(1)),
                 (t(2, 2, dtype=bf16), t(1, dtype=bf16))):
        yield call("prelu", x, w)
    for x, y in ((t(3), t(3, seed=1)), (d(2, 2), d(2, 2, seed=1))):
        yield call("mish_backward", x, y, grad=False)
    for a, b in ((t(4, low=0, high=5), t(4, low=0, high=5, seed=1)),
                 (d(3, low=0.5, high=9), d(3, low=0.5, high=9, seed=1)),
                 (numbers([0, 1, inf, 2]), numbers([1, 0, 1, inf]))):
        yield call("special_gammainc", a, b, grad=False, tolerance=2)
    yield call("float_power_.Tensor", d(4, low=0.5), t(4))
    yield call("float_power_.Tensor", d(2, 3, low=0.5), ints(3, low=-2, high=3))
    yield call("lift", t(3))
    yield call("resolve_neg", t(3))


def shapes():
    x = t(2, 3, 4)
    yield call("permute", x, [2, 0, 1])
    yield call("permute", d(2, 3), [-1, 0])
    yield call("permute", t(), [])
    yield call("reshape", x, [6, -1])
    yield call("reshape", d(2, 3).t(), [6])
    yield call("reshape", t(0, 3), [3, 0])
    yield call("alias", x)
    yield call("alias", d(3)[1:])
    for name in ("narrow", "narrow_copy"):
        yield call(name, x, 1, 1, 2)
        yield call(name, d(3, 4), -1, -3, 2)
        yield call(name, x, 0, 2, 0)
    yield call("narrow_copy.out", x, 2, 0, 3, out=empty())
    yield call("narrow.Tensor", d(4, 2), 0, torch.tensor(1), 2)
    yield call("select.int", x, 1, 2)
    yield call("select.int", d(3, 4), -1, -4)
    yield call("slice_copy.Tensor", x, 1, 0, 3, 2)
    yield call("slice_copy.Tensor", d(5), 0, -3)
    yield call("slice_copy.Tensor_out", x, 2, 1, 9, out=empty())
    yield call("chunk", x, 2, 2)
    yield call("chunk", d(5), 3)
    yield call("chunk", t(2, 0), 4, 1)
    yield call("unfold", d(7), 0, 3, 2)
    yield call("unfold", x, 2, 2, 1)
    yield call("unfold", t(), 0, 1, 1)
    yield call("mH", d(2, 3))
    yield call("mH", x)
    yield call("moveaxis.int", x, 0, 2)
    yield call("moveaxis.int", d(2, 3, 2), -1, 0)
    yield call("resize_as_", t(6), t(2, 2))
    yield call("_reshape_alias_copy", d(2, 3), [3, 2], [2, 1])
    yield call("_reshape_alias_copy.out", t(6), [2, 3], [3, 1], out=empty())
    yield call("_to_copy", t(2, 3).t(), dtype=f64)
    yield call("_to_copy", x, memory_format=torch.contiguous_format)
    yield call("_to_copy.out", t(3), out=empty(f64))
    yield call("_chunk_cat", [d(4, 2), d(5, 3)], 0, 2, grad=False)
    yield call("_chunk_cat.out", [t(4, 2), t(2, 3)], 0, 2, out=empty())
    yield call("kron", d(2, 3), d(2, 2))
    yield call("kron", t(3), t(2, 2))
    yield call("kron", ints(2, 2), t(2))
    yield call("kron.out", t(2), t(3), out=empty())
    yield call("argwhere", numbers([[0, 1], [2, 0]]))
    yield call("argwhere", t())
    yield call("where", numbers([[0, 1], [2, 0]]))
    yield call("where", t())
    yield call("nonzero_numpy", numbers([[0, 1], [2, 0]]))
    yield call("nonzero.out", numbers([0, 1, 2, 3]), out=empty(i64))
    yield call("nonzero_static.out", numbers([0, 1, 2]), size=3,
               out=empty(i64))
    yield call("nonzero_static.out", numbers([[0, 1], [2, 3]]), size=2,
               fill_value=7, out=empty(i64))
    yield call("gradient.scalararray", d(4, 5), spacing=2.0, dim=[0, 1])
    yield call("gradient.scalararray", t(6), spacing=1, dim=[0], edge_order=2)
    yield call("scatter.value_reduce", t(3, 4), 1, ints(3, 2, high=3), 2.5,
               reduce="add")
    yield call("scatter.value_reduce", t(3, 4), 0, ints(2, 4, high=2), 2.0,
               reduce="multiply")
    index = numbers([0, 2], i64)
    yield call("_unsafe_index_put", d(3, 2), [index], d(2, 2, seed=1))
    yield call("_unsafe_index_put", t(3, 2), [index, index % 2], t(2), True)
    yield call("_unique", numbers([3, 1, 3, 2]), True, True)
    yield call("_foreach_copy_", [t(2), t(2, 3)], [t(2, seed=1),
                                                   d(2, 3, seed=1)])
    yield call("gather_backward", t(2, 2), t(3, 4), 1, ints(2, 2, high=3),
               False, grad=False)
    yield call("value_selecting_reduction_backward", t(3), 1,
               ints(3, high=3), [3, 4], False, grad=False)
    yield call("value_selecting_reduction_backward", t(1, 4), 0,
               ints(1, 4, high=2), [3, 4], True, grad=False)


def reductions():
    x = t(3, 4)
    for v in (x, d(3, 4), ints(3, 4), numbers([[1, nan], [2, 0]]),
              t(3, 4, dtype=bf16), t(3, 4, dtype=torch.bool)):
        yield call("amax", v)
        yield call("amax", v, [1], True)
        yield call("amax", v, [0, 1])
    yield call("amax", d(2, 3, 4), [-1, 0])
    yield call("amax.out", x, [0], out=empty())
    for v in (d(3, 4), t(5), t(0, 3), numbers([-inf, 1.0, inf, 2.0]),
              strided(t(2, 6))):
        yield call("logcumsumexp", v, 0)
    yield call("logcumsumexp", d(3, 4), -1)
    yield call("logcumsumexp.out", x, 1, out=empty())
    yield call("cumprod_backward", d(4), d(4, seed=1), 0,
               torch.cumprod(d(4, seed=1), 0), grad=False)
    yield call("cumprod_backward", d(3), numbers([2, 0, 3], f64), 0,
               numbers([2, 0, 0], f64), grad=False)
    yield call("cummaxmin_backward", d(3), d(3), numbers([0, 0, 2], i64), 0,
               grad=False)
    yield call("special_log_softmax", d(2, 3), 1)
    yield call("special_log_softmax", ints(4), 0, dtype=f32)
    yield call("_aminmax_dims" if False else "aminmax", d(3, 4), dim=1)
    a, b = d(3, 4, low=0.1, high=0.9), d(3, 4, low=-3, high=-0.2, seed=1)
    for reduction in (0, 1, 2):
        yield call("l1_loss", a, b, reduction)
        yield call("kl_div", b, a, reduction)
        yield call("kl_div", b, b, reduction, log_target=True)
        yield call("margin_ranking_loss", d(4), d(4, seed=1),
                   numbers([1, -1, 1, -1], f64), 0.5, reduction)
        for log_input, full in ((True, False), (False, True), (True, True)):
            yield call("poisson_nll_loss", a, d(3, 4, low=0, high=5, seed=2),
                       log_input, full, 1e-8, reduction)
    yield call("cosine_similarity", d(3, 4), d(3, 4, seed=1))
    yield call("cosine_similarity", d(2, 3, 4), d(3, 4, seed=1), -1, 1e-6)
    yield call("cosine_similarity", torch.zeros(2, 3), t(2, 3), 0, grad=False)
    for reduction in (0, 1, 2):
        for swap in (False, True):
            yield call("triplet_margin_loss", d(4, 3), d(4, 3, seed=1),
                       d(4, 3, seed=2), 1.5, 2.0, 1e-6, swap, reduction)
    yield call("triplet_margin_loss", t(4, 3), t(4, 3, seed=1),
               t(4, 3, seed=2), 1.0, 3.0)
    yield call("pdist", d(4, 3))
    for p in (0.0, 1.0, 3.5, inf):
        yield call("pdist", d(4, 3), p)
    yield call("pdist", t(1, 3))


def convolutions():
    x2, w2, b2 = d(2, 3, 6, 5), d(4, 3, 3, 2), d(4)
    x3, w3, b3 = d(1, 2, 4, 4, 4), d(3, 2, 2, 2, 2), d(3)
    yield call("conv1d", d(2, 3, 8), d(4, 3, 3), d(4), [2], [1])
    yield call("conv1d", d(3, 8), d(6, 1, 2), None, [1], [0], [2], 3)
    for padding in ("same", "valid"):
        yield call("conv1d.padding", d(2, 3, 8), d(4, 3, 3), d(4), [1],
                   padding)
        yield call("conv2d.padding", x2, w2, b2, [1, 1], padding)
        yield call("conv2d.padding", t(2, 4, 5, 5), t(4, 1, 3, 3), None, [1, 1],
                   padding, [2, 2], 4)
    for bias in (b2, None):
        yield call("thnn_conv2d", x2, w2, [3, 2], bias, [2, 1], [1, 0])
        yield call("slow_conv_dilated2d", x2, w2, [3, 2], bias, [1, 1],
                   [1, 1], [2, 1])
        yield call("slow_conv_transpose2d", x2, d(3, 4, 3, 2), [3, 2], bias,
                   [2, 2], [1, 0], [1, 1], [1, 2])
    yield call("thnn_conv2d.out", t(1, 3, 5, 5), t(2, 3, 2, 2), [2, 2],
               out=empty())
    yield call("slow_conv_dilated2d.out", t(1, 3, 5, 5), t(2, 3, 2, 2),
               [2, 2], out=empty())
    yield call("slow_conv_transpose2d.out", t(1, 3, 4, 4), t(3, 2, 2, 2),
               [2, 2], out=empty())
    for bias in (b3, None):
        yield call("slow_conv3d", x3, w3, [2, 2, 2], bias, [1, 1, 1],
                   [1, 1, 1])
        yield call("slow_conv3d_forward", x3, w3, [2, 2, 2], bias, [2, 1, 1],
                   [0, 0, 0], grad=False)
        yield call("slow_conv_dilated3d", x3, w3, [2, 2, 2], bias, [1, 1, 1],
                   [0, 0, 0], [2, 2, 1])
        yield call("slow_conv_transpose3d", x3, d(2, 3, 2, 2, 2), [2, 2, 2],
                   bias, [2, 2, 2], [0, 0, 1], [1, 1, 1], [1, 1, 1])
    yield call("slow_conv3d.out", x3, w3, [2, 2, 2], out=empty(f64))
    yield call("slow_conv_dilated3d.out", x3, w3, [2, 2, 2], out=empty(f64))
    yield call("slow_conv_transpose3d.out", x3, d(2, 3, 2, 2, 2), [2, 2, 2],
               out=empty(f64))
    yield call("conv_tbc_backward", d(3, 2, 4), d(5, 2, 3), d(3, 3, 4), d(4),
               0, grad=False)
    for transposed in (False, True):
        yield call("_convolution", x2, d(3, 3, 2, 2), d(3), [1, 1], [0, 0],
                   [1, 1], transposed, [0, 0], 1, False, False, False, False)


def pooling_and_images():
    yield call("max_pool1d", d(2, 3, 8), [2])
    yield call("max_pool1d", t(3, 9), [3], [2], [1], [2], True, grad=False)
    yield call("max_pool1d", numbers([[1, nan, 2, 0]]), [2], grad=False)
    yield call("max_pool1d_with_indices", d(2, 3, 8), [3], [2], [1])
    yield call("max_pool3d", d(1, 2, 4, 4, 4), [2, 2, 2])
    yield call("max_pool3d", t(2, 5, 4, 6), [2, 3, 2], [1, 2, 1], [1, 1, 0],
               [1, 1, 2], True)
    yield call("adaptive_max_pool1d", d(2, 3, 7), [3])
    yield call("_adaptive_avg_pool3d.out", t(1, 2, 4, 5, 6), [2, 2, 3],
               out=empty())


def normalisation():
    x = d(4, 3, 5)
    w, b = d(3, low=0.5), d(3, seed=1)
    mean, var = d(3, seed=2), d(3, low=0.5, high=2, seed=3)
    yield call("instance_norm", x, w, b, None, None, True, 0.1, 1e-5, False,
               tolerance=4)
    yield call("instance_norm", x, None, None, mean, var, False, 0.1, 1e-5,
               False, grad=False)
    yield call("batch_norm_update_stats", x, None, None, 0.1, grad=False)
    yield call("_batch_norm_no_update", x, w, b, mean, var, 0.1, 1e-5,
               grad=False)
    for w, b in ((w, b), (None, None), (w, None)):
        for training in (True, False):
            yield call("_native_batch_norm_legit_functional", x, w, b, mean,
                       var, training, 0.1, 1e-5, grad=False)
        yield call("_batch_norm_with_update_functional", x.float(),
                   *(None if t is None else t.float() for t in (w, b, mean,
                                                                var)),
                   0.1, 1e-5, grad=False)
    for args in ((d(2, 3), [3], d(3, low=0.5), 1e-5), (d(2, 3), [2, 3], None,
                                                       None)):
        yield call("_fused_rms_norm", *args, grad=False)


def recurrent():
    def weights(inputs, hidden, gates, biases=True, layers=1, directions=1):
        out, seed = [], 0
        for layer in range(layers):
            for _ in range(directions):
                width = inputs if layer == 0 else hidden * directions
                seed += 1
                out += [d(gates * hidden, width, seed=seed),
                        d(gates * hidden, hidden, seed=seed)]
                if biases:
                    out += [d(gates * hidden, seed=seed),
                            d(gates * hidden, seed=seed + 50)]
        return out

    for name, gates in (("gru", 3), ("rnn_tanh", 1), ("rnn_relu", 1),
                        ("lstm", 4)):
        for biases, layers, both, first in ((True, 1, False, False),
                                            (False, 2, True, True),
                                            (True, 2, False, True)):
            directions = 2 if both else 1
            x = d(2, 3, 4) if first else d(3, 2, 4)
            state = d(layers * directions, 2, 5)
            hidden = [state, state.roll(1, 0)] if name == "lstm" else state
            if name == "lstm":
                hidden[1] = d(layers * directions, 2, 5, seed=9)
            yield call(name + ".input", x, hidden,
                       weights(4, 5, gates, biases, layers, directions),
                       biases, layers, 0.0, False, both, first, tolerance=4)
        hidden = d(1, 3, 5)
        hidden = [hidden, d(1, 3, 5, seed=9)] if name == "lstm" else hidden
        yield call(name + ".data", d(6, 4), numbers([3, 2, 1], i64), hidden,
                   weights(4, 5, gates), True, 1, 0.0, False, False,
                   tolerance=4)
        state = [d(3, 5), d(3, 5, seed=9)] if name == "lstm" else d(3, 5)
        w = weights(4, 5, gates)
        yield call(name + "_cell", d(3, 4), state, *w)
        yield call(name + "_cell", d(3, 4), state, *w[:2])


def embeddings():
    weight = d(6, 3)
    indices = numbers([1, 4, 4, 0, 5], i64)
    offsets = numbers([0, 2, 2], i64)
    for mode in (0, 1, 2):
        yield call("embedding_bag", weight, indices, offsets, False, mode)
        yield call("embedding_bag.padding_idx", weight, indices, offsets,
                   False, mode, False, None, False, 4)
    yield call("embedding_bag", weight, indices, offsets, False, 0, False, d(5))
    yield call("embedding_backward", d(5, 3), indices, 6, 4, False, False,
               grad=False)
    yield call("embedding_backward", d(5, 3), indices, 6, -1, True, False,
               grad=False)
    q, k = d(1, 2, 3, 4), d(1, 2, 5, 4)
    for causal in (False, True):
        yield call("_scaled_dot_product_attention_math", q, k,
                   d(1, 2, 5, 4, seed=1), None, 0.0, causal, grad=False)


UNARY = ("acos", "asin", "atan", "ceil", "cos", "cosh", "erf", "erfc", "expm1",
         "floor", "frac", "lgamma", "log", "log10", "log1p", "log2", "round",
         "rsqrt", "sign", "sin", "sinh", "tan", "tanh", "trunc")


def foreach():
    def lists(**options):
        return [t(3, **options), d(2, 2, **options)]

    unit = {"low": 0.1, "high": 0.9}
    for name in UNARY:
        op = "_foreach_" + name
        yield call(op, lists(**unit), grad=False)
        yield call(op + "_", lists(**unit))
        yield call(op + ".out", lists(**unit), out=[t(3), d(2, 2)])
    yield call("_foreach_clone", lists(), grad=False)
    yield call("_foreach_max", lists(), grad=False)
    yield call("_foreach_mm", [t(2, 3)], [t(3, 2)], grad=False)
    for name in ("clamp_max", "clamp_min", "maximum", "minimum", "pow"):
        op = "_foreach_" + name
        for suffix, other in (("List", lists(seed=1, **unit)),
                              ("Scalar", 0.5), ("ScalarList", [0.25, 0.75])):
            yield call(f"{op}.{suffix}", lists(**unit), other, grad=False)
            yield call(f"{op}_.{suffix}", lists(**unit), other)
            yield call(f"{op}.{suffix}_out", lists(**unit), other,
                       out=[t(3), d(2, 2)])
    yield call("_foreach_pow.ScalarAndTensor", 2.0, lists(), grad=False)
    a, b = lists(seed=1, **unit), lists(seed=2, **unit)
    for suffix, value in (("Scalar", 0.5), ("ScalarList", [0.25, 2.0]),
                          ("Tensor", numbers([0.5, 2.0]))):
        yield call(f"_foreach_addcdiv.{suffix}", lists(), a, b, value,
                   grad=False)
        yield call(f"_foreach_addcdiv_.{suffix}", lists(), a, b, value)
        yield call(f"_foreach_addcdiv.{suffix}_out", lists(), a, b, value,
                   out=[t(3), d(2, 2)])


def fourier():
    signal, window = d(24), d(6, low=0.1)
    yield call("stft", signal, 8, return_complex=False)
    yield call("stft", d(2, 24), 7, 3, 6, window, True, None, False)
    yield call("stft", signal, 8, 3, 6, window, False, False, False, True)
    yield call("stft", t(24), 8, 2, 4, None, return_complex=False)
    for mode in ("reflect", "constant", "replicate", "circular"):
        yield call("stft.center", d(2, 24), 8, 3, 6, window, True, mode, False,
                   None, False)
    yield call("stft.center", t(24), 9, None, None, None, True,
               normalized=True, return_complex=False)
    yield call("stft.center", signal, 8, 3, 6, window, False,
               return_complex=False)


def sequence_losses():
    labels = ints(3, 4, low=1, high=4)
    for dtype in (f32, f64):
        scores = t(8, 3, 5, dtype=dtype).log_softmax(-1)
        yield call("_ctc_loss", scores, labels, [8, 8, 8], [4, 4, 4])
        for reduction in (0, 1, 2):
            yield call("ctc_loss.IntList", scores, labels, [8, 6, 7],
                       [4, 0, 2], 0, reduction)
    # Seven steps for four equal labels with a blank between: just possible.
    same = torch.full((2, 4), 3)
    pair = d(7, 2, 4, seed=1).log_softmax(-1)
    yield call("_ctc_loss", pair, same, [7, 7], [4, 4], 1)
    for zero_infinity in (False, True):
        yield call("ctc_loss.IntList", pair, same, [7, 6], [4, 4], 0, 0,
                   zero_infinity, grad=zero_infinity)
    yield call("ctc_loss.IntList", pair[:, 0], same[0], [7], [4])
    yield call("ctc_loss.IntList", pair, numbers([1, 2, 3], i32), [7, 0],
               [3, 0], 0, 0)
    lengths = numbers([7, 5], i64), numbers([2, 3], i32)
    for name in ("ctc_loss.Tensor", "_ctc_loss.Tensor"):
        yield call(name, pair, ints(2, 3, low=1, high=3), *lengths,
                   any_values=name[0] == "_", grad=name[0] != "_")
    alpha = torch.ops.aten._ctc_loss(pair, same, [7, 7], [4, 4])
    for zero_infinity in (False, True):
        yield call("_ctc_loss_backward", d(2, seed=2), pair, same, [7, 7],
                   [4, 4], *alpha, 0, zero_infinity, grad=False)
    yield call("_ctc_loss_backward.Tensor", d(2, seed=2), pair, same,
               numbers([7, 7], i64), numbers([4, 4], i64), *alpha, 0,
               grad=False)


def segments():
    for reduce in ("sum", "mean", "max", "min", "prod"):
        yield call("segment_reduce", d(6, 2), reduce,
                   lengths=numbers([2, 0, 3, 1], i64))
        yield call("segment_reduce", t(2, 5), reduce, axis=1, initial=0.5,
                   lengths=numbers([[2, 3], [0, 5]], i32))
        yield call("segment_reduce", t(5, dtype=bf16), reduce, grad=False,
                   offsets=numbers([0, 3, 3, 5], i64), unsafe=True)
        data = numbers([[2, 0], [nan, 3], [0, 1]], f64)
        lengths = numbers([2, 1], i64)
        yield call("segment_reduce", data, reduce, lengths=lengths, grad=False)
        data = d(5, seed=3)
        result = torch.segment_reduce(data, reduce, lengths=numbers([3, 2], i64))
        yield call("_segment_reduce_backward", d(2, seed=4, low=0.1), result,
                   data, reduce, lengths=numbers([3, 2], i64), grad=False)
    equals = numbers([1, 3, 3, 3, 2], f64)
    yield call("_segment_reduce_backward", numbers([2, 5], f64),
               numbers([3, 3], f64), equals, "max",
               offsets=numbers([0, 3, 5], i64), grad=False)
    zeros = numbers([2, 0, 3, 4, 5], f64)
    yield call("_segment_reduce_backward", numbers([2, 5], f64),
               numbers([0, 20], f64), zeros, "prod",
               lengths=numbers([3, 2], i64), grad=False)


def histograms():
    for dtype in (f32, f64):
        points, weight = t(20, 2, dtype=dtype), t(20, dtype=dtype, low=0.1)
        yield call("histogramdd", points, [2, 3], grad=False)
        yield call("histogramdd", points, [3, 4], [-1.5, 1.5, 0, 1], weight,
                   True, grad=False)
    edges = [numbers([-1, 0, 2]), numbers([-2, -1, 0.5, 0.5, 1])]
    yield call("histogramdd.TensorList_bins", t(4, 5, 2), edges, grad=False)
    yield call("histogramdd.TensorList_bins", t(4, 5, 2), edges, None,
               t(4, 5, low=0.1), grad=False)
    yield call("histogramdd.int_bins", t(20, 3), 2, grad=False)
    yield call("histogramdd.int_bins", torch.ones(3, 1), 2, grad=False)
    yield call("histogramdd.int_bins", torch.zeros(0, 2), 2, grad=False)
    yield call("_histogramdd_bin_edges", t(20, 2), [2, 3], grad=False)
    yield call("_histogramdd_bin_edges", t(20, 2), [2, 1],
               range=[0.0, 1.0, -1.0, 3.0], grad=False)
    yield call("_histogramdd_from_bin_cts", t(20, 2), [2, 3], grad=False)
    yield call("_histogramdd_from_bin_tensors", t(20, 2), edges, grad=False)


def storages():
    for name in "Byte Char Short Int Long Half Float Double".split():
        yield call("_cast_" + name, numbers([1.5, 20, 3]))
        yield call("_cast_" + name, ints(2, 3).t())
    yield call("_cast_Double", d(2, 3))
    yield call("_shape_as_tensor", t(2, 0, 3))
    yield call("_shape_as_tensor", t())
    yield call("storage_offset", t(6)[2:])
    yield call("lift.out", t(2, 3), out=empty())
    yield call("lift.out", ints(3), out=ints(3, seed=1))
    yield call("set_.source_Tensor", t(2, 3), t(4, seed=1)[1:])
    yield call("set_.source_Tensor", t(2, 3), t(4, 3, seed=1).t())
    yield call("set_.source_Tensor_storage_offset", d(2, 3), d(6, seed=1), 1,
               [2, 2])
    yield call("set_.source_Tensor_storage_offset", ints(1), ints(6), 1,
               [2, 2], [1, 2])


def borders():
    """Slopes where they jump, and of NaN."""
    x = numbers([nan, -1, 0, 1, 6, -3, 3, 0.5, inf, -inf, 2], f64)
    for name in "elu celu selu relu6 hardswish hardsigmoid".split():
        steep = name.startswith("hard") or name == "relu6"
        yield call(name, x[1:] if steep else x)
    # Calls of a few elements alone: PyTorch has other slopes in a whole vector.
    yield call("relu6", numbers([nan, 1], f64))
    yield call("hardtanh", numbers([nan, 0.5], f64))
    yield call("elu", x, 1.5, 2, 0.5)
    yield call("celu", x, 2.0)
    yield call("hardtanh", x[1:])
    for low, high in ((-1, 1), (None, 1), (-1, None), (0, 6), (1, -1)):
        yield call("clamp", x, low, high)
    yield call("clamp_min", x, -1)
    yield call("clamp_max", x, 1)
    low = numbers([nan, -1, 0, 1, 6, 0, 2, 1, nan, 5, -3], f64)
    high = numbers([1, nan, 0, 1, 5, 0, 1, 1, nan, 4, nan], f64)
    yield call("clamp.Tensor", x, low, high)
    yield call("clamp.Tensor", x, low)
    yield call("clamp.Tensor", x, None, high)
    yield call("clamp_min.Tensor", x, low)
    yield call("clamp_max.Tensor", x, high)
    yield call("maximum", x, low)
    # PyTorch gives self no gradient where src is not.
    yield call("as_strided_scatter", t(6), d(2, 2, seed=1).float(), [2, 2],
               [1, 1], 1)
    yield call("square", torch.tensor([True, False]))
    yield call("square.out", torch.tensor([True, False]), out=empty(i64))
    yield call("equal", t(3), t(3).double())
    yield call("equal", torch.ones(2), torch.ones(2, dtype=i64))
    yield call("equal", torch.ones(2), torch.ones(3, dtype=i64))


def calls():
    for family in (factories, dropouts, elementwise, shapes, reductions,
                   *recorded_products.FAMILIES, convolutions,
                   pooling_and_images, normalisation, recurrent, embeddings,
                   fourier, foreach, sequence_losses, segments, histograms,
                   storages, borders):
        yield from family()
