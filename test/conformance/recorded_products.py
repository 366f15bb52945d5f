"""Calls of products and factors of matrices, for recorded_calls.py."""

import torch

from call_values import *


def activated_products():
    for gelu in (False, True):
        yield call("_addmm_activation", t(4), t(2, 3), t(3, 4), grad=False,
                   use_gelu=gelu)
        yield call("_addmm_activation", d(2, 4), d(2, 3), d(3, 4), beta=0.5,
                   alpha=2, grad=False, use_gelu=gelu)
    yield call("_addmm_activation", t(3), t(0, 2), t(2, 3), grad=False)
    yield call("_addmm_activation", t(3), t(2, 0), t(0, 3), grad=False)
    yield call("_addmm_activation.out", t(4), t(2, 3), t(3, 4),
               out=torch.zeros(2, 4))


def products_of_int8():
    i8, u8 = torch.int8, torch.uint8

    def m(*sizes, **options):
        return t(*sizes, dtype=i8, low=-128, high=127, **options)

    yield call("_int_mm", m(3, 5), m(5, 4))
    yield call("_int_mm", m(17, 64), m(64, 33))
    yield call("_int_mm", m(40, 50), m(30, 50).t())
    yield call("_int_mm", m(6, 9).t(), strided(m(6, 7)))
    yield call("_int_mm", t(3, 8, dtype=u8, low=0, high=255), m(8, 4))
    yield call("_int_mm", t(33, 64, dtype=u8, low=0, high=255), m(64, 20))
    # These products are as large as they get.
    yield call("_int_mm", torch.full((2, 64), -128, dtype=i8),
               torch.full((64, 2), -128, dtype=i8))
    for sizes in ((0, 3, 2), (2, 3, 0), (2, 0, 3)):
        yield call("_int_mm", m(*sizes[:2]), m(*sizes[1:]))
    yield call("_int_mm.out", m(3, 5), m(5, 4),
               out=torch.zeros(3, 4, dtype=i32))


def linear_algebra():
    square = d(4, 4) + 5 * torch.eye(4, dtype=f64)
    spread = torch.diag(numbers([1, 2, 4, 7], f64))
    even = spread + 0.1 * (d(4, 4) + d(4, 4).t())
    for a in (d(4, 3), d(3, 5), d(2, 4, 4), t(3, 3), t(0, 3)):
        yield call("geqrf", a, grad=False, tolerance=4)
    yield call("geqrf.a", d(4, 3), a=d(4, 3), tau=d(3), tolerance=4)
    a, tau = torch.geqrf(d(4, 3))
    for name in ("orgqr", "linalg_householder_product"):
        yield call(name, a, tau, tolerance=4)
        yield call(name, *torch.geqrf(d(2, 3, 2)), tolerance=4)
        yield call(name, *torch.geqrf(t(3, 3)), tolerance=4)
        yield call(name + ".out", a, tau, out=d(4, 3), tolerance=4)
    for left in (True, False):
        for transpose in (True, False):
            other = d(4, 2) if left else d(2, 4)
            yield call("ormqr", a, tau, other, left, transpose, tolerance=4)
    yield call("ormqr.out", a, tau, d(4, 2), out=d(4, 2), tolerance=4)
    for name in ("linalg_eigh", "_linalg_eigh"):
        # Signs of eigenvectors are the library's: diagonal matrices have one.
        yield call(name, torch.diag(numbers([1, 3, 7], f64)), grad=False)
        yield call(name, numbers([[2]], f32), "U", grad=False)
    yield call("linalg_eigh.eigvals", torch.diag(numbers([1, 3, 7], f64)),
               eigvals=d(3), eigvecs=d(3, 3))
    yield call("_linalg_eigh.eigenvalues", even, "L", False,
               eigenvalues=empty(f64), eigenvectors=empty(f64))
    yield call("linalg_eigvalsh", even, tolerance=4)
    for b in (d(5, 2), d(5, 1)):
        yield call("linalg_lstsq", d(5, 3, seed=3), b, grad=False,
                   driver="gelsd", tolerance=4)
    yield call("linalg_lstsq", t(4, 4), t(4, 2), driver="gelss", grad=False,
               tolerance=8)
    yield call("linalg_det", square, tolerance=4)
    yield call("linalg_det", d(2, 3, 3), tolerance=4)
    yield call("linalg_det", numbers([[1, 2], [2, 4]], f64), grad=False)
    yield call("linalg_det.out", t(3, 3), out=empty())
    yield call("linalg_tensorinv", (d(6, 6) + 4 * torch.eye(
        6, dtype=f64)).reshape(2, 3, 6), 2, tolerance=4)
    yield call("linalg_tensorinv.out", square.reshape(4, 2, 2), 1,
               out=empty(f64), tolerance=4)
    yield call("linalg_vander", d(3))
    yield call("linalg_vander", ints(2, 3), N=5)
    yield call("linalg_vander", d(3), N=2)
    yield call("matrix_exp_backward", d(3, 3), d(3, 3, seed=1), grad=False,
               tolerance=4)
    yield call("svd", torch.diag(numbers([5, 3, 1], f64)), grad=False)
    yield call("svd", d(3, 2), True, False, grad=False, tolerance=4)
    yield call("svd.U", torch.diag(numbers([5, 3], f64)), U=d(2, 2),
               S=d(2), V=d(2, 2))
    yield call("_linalg_svd.U", torch.diag(numbers([5, 3], f64)),
               U=d(2, 2), S=d(2), Vh=d(2, 2))


def grouped_products():
    """PyTorch takes rows of 16 bytes alone, and no float64."""
    ends = numbers([4, 4, 12], i32)
    for dtype in (f32, bf16):
        tolerance = 1 if dtype is f32 else 2
        def x(*sizes, seed=0):
            return t(*sizes, dtype=dtype, seed=seed)
        yield call("_grouped_mm", x(12, 8), x(3, 8, 16, seed=1), ends,
                   tolerance=tolerance)
        yield call("_grouped_mm", x(3, 8, 16), x(16, 24, seed=1),
                   numbers([8, 8, 24], i32), tolerance=tolerance)
        yield call("_grouped_mm", x(8, 24), x(24, 16, seed=1),
                   numbers([8, 8, 24], i32), tolerance=tolerance)
        yield call("_grouped_mm", x(2, 8, 16), x(2, 16, 8, seed=1),
                   tolerance=tolerance)
    yield call("_grouped_mm", t(16, 8), t(3, 16, 8, seed=1).mT,
               numbers([0, 8, 16], i32), out_dtype=f32)


def factors():
    a, wide, square = d(4, 3), d(3, 5), d(3, 3)
    batch = d(2, 3, 3, seed=2)
    definite = square @ square.mT + torch.eye(3, dtype=f64)
    for x in (a, wide, batch):
        for mode in ("reduced", "complete"):
            yield call("linalg_qr.out", x, mode, Q=empty(f64), R=empty(f64))
    yield call("linalg_svd.U", a, False, U=empty(f64), S=empty(f64),
               Vh=empty(f64), any_values=True)
    yield call("linalg_svd.U", torch.diag(numbers([3, 2, 1], f64)),
               U=empty(f64), S=empty(f64), Vh=empty(f64))
    yield call("linalg_lstsq.out", wide, d(3, 2, seed=1), solution=empty(f64),
               residuals=empty(f64), rank=empty(i64),
               singular_values=empty(f64))
    yield call("linalg_lstsq.out", square, d(3, 2, seed=1), driver="gelsd",
               solution=empty(f64), residuals=empty(f64), rank=empty(i64),
               singular_values=empty(f64))
    for x in (square, square.mT, batch):
        for left in (True, False):
            yield call("_linalg_solve_ex", x, d(3, 3, seed=3), left=left)
            yield call("_linalg_solve_ex.result", x, d(3, 3, seed=3),
                       left=left, result=empty(f64), LU=empty(f64),
                       pivots=empty(i32), info=empty(i32))
    for upper in (False, True):
        factor = square + 3 * torch.eye(3, dtype=f64)
        yield call("cholesky_inverse", factor, upper)
        yield call("cholesky_solve", d(3, 2, seed=4), factor, upper)
        yield call("linalg_cholesky_ex.L", definite, upper=upper,
                   L=empty(f64), info=empty(i32))
    yield call("linalg_inv_ex.inverse", batch, inverse=empty(f64),
               info=empty(i32))
    yield call("linalg_lu_factor_ex.out", a, LU=empty(f64),
               pivots=empty(i32), info=empty(i32))
    yield call("linalg_vander", torch.tensor(2.5), N=4)
    yield call("linalg_vander", torch.tensor(3), N=2)
    yield call("linalg_svdvals", torch.eye(3, dtype=f64))
    yield call("linalg_svdvals", torch.diag(numbers([2, 1, 1], f64)))


FAMILIES = (linear_algebra, activated_products, grouped_products,
            products_of_int8, factors)
