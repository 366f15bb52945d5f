// An operator or two of each family, on the sizes that programs have: one
// source for both libraries.

#include <benchmark/benchmark.h>

#include <vector>

#include "benchmarks/both.h"

namespace {

using benchmark::State;
using lib::kBFloat16;
using lib::kFloat;
using lib::kLong;
using lib::Tensor;

// The arguments of the calls below; made once.
struct Tensors {
  Tensor m = lib::randn({1024, 1024}), n = lib::randn({1024, 1024});
  Tensor t = m.t(), v = lib::randn({1 << 20}), u = lib::rand({1 << 20});
  Tensor h = m.to(kBFloat16), positive = m.abs() + 0.1;
  Tensor i = lib::randint(1000, {1 << 20}, lib::TensorOptions(kLong));
  Tensor rows = lib::randint(1024, {4096}, lib::TensorOptions(kLong));
  Tensor places = lib::randint(1024, {1024, 1024}, lib::TensorOptions(kLong));
  Tensor mask = lib::gt(m, 0), wide = lib::randn({64, 16384});
  Tensor images = lib::randn({8, 64, 56, 56}), row = lib::randn({1024});
  Tensor places_of_images = lib::rand({8, 56, 56, 2}) * 2.2 - 1.1;
  Tensor volumes = lib::randn({2, 16, 16, 56, 56});
  Tensor places_of_volumes = lib::rand({2, 16, 56, 56, 3}) * 2.2 - 1.1;
  Tensor sequences = lib::randn({32, 64, 1024});
  Tensor square = lib::randn({256, 256}), symmetric = square + square.t();
  Tensor definite = lib::mm(square, square.t()) + lib::eye(256);
  Tensor batch = lib::randn({64, 128, 128});
  Tensor labels = lib::randint(1024, {1024}, lib::TensorOptions(kLong));
};

void pointwise() {
  MEASURE(log, lib::log(x.positive));
  MEASURE(sin, lib::sin(x.m));
  MEASURE(sqrt, lib::sqrt(x.positive));
  MEASURE(rsqrt, lib::rsqrt(x.positive));
  MEASURE(erf, lib::erf(x.m));
  MEASURE(log1p, lib::log1p(x.positive));
  MEASURE(atan2, lib::atan2(x.m, x.n));
  MEASURE(pow_2, lib::pow(x.m, 2));
  MEASURE(pow_tensor, lib::pow(x.positive, x.n));
  MEASURE(lgamma, lib::lgamma(x.positive));
  MEASURE(clamp, lib::clamp(x.m, -1, 1));
  MEASURE(silu, lib::silu(x.m));
  MEASURE(softplus, lib::softplus(x.m));
  MEASURE(where, lib::where(x.mask, x.m, x.n));
  MEASURE(gt, lib::gt(x.m, x.n));
  MEASURE(add_int, lib::add(x.i, x.i));
  MEASURE(floor_divide_int, lib::floor_divide(x.i, 7));
  MEASURE(remainder, lib::remainder(x.m, x.positive));
  MEASURE(add_bf16, lib::add(x.h, x.h));
  MEASURE(exp_bf16, lib::exp(x.h));
  MEASURE(gelu_bf16, lib::gelu(x.h));
  MEASURE(add_mixed, lib::add(x.m, x.h));
  MEASURE(addcmul, lib::addcmul(x.m, x.n, x.positive));
  MEASURE(masked_fill, lib::masked_fill(x.m, x.mask, 0));
  MEASURE(lerp, lib::lerp(x.m, x.n, 0.3));
}

void reductions() {
  MEASURE(sum_bf16, lib::sum(x.h));
  MEASURE(mean_rows, lib::mean(x.m, {1}));
  MEASURE(mean_columns, lib::mean(x.m, {0}));
  MEASURE(sum_images, lib::sum(x.images, {0, 2, 3}));
  MEASURE(max, lib::max(x.m));
  MEASURE(max_rows, lib::max(x.m, 1));
  MEASURE(max_columns, lib::max(x.m, 0));
  MEASURE(aminmax, lib::aminmax(x.m));
  MEASURE(argmax_rows, lib::argmax(x.m, 1));
  MEASURE(var_rows, lib::var(x.m, 1));
  MEASURE(std_all, lib::std(x.m, true));
  MEASURE(norm, lib::norm(x.m));
  MEASURE(norm_rows, lib::linalg_vector_norm(x.m, 2, {1}));
  MEASURE(logsumexp, lib::logsumexp(x.m, {1}));
  MEASURE(prod_rows, lib::prod(x.m, 1));
  MEASURE(any_rows, lib::any(x.mask, 1));
  MEASURE(count_nonzero, lib::count_nonzero(x.m));
  MEASURE(cumsum_rows, lib::cumsum(x.m, 1));
  MEASURE(cumsum_columns, lib::cumsum(x.m, 0));
  MEASURE(cumprod, lib::cumprod(x.v, 0));
  MEASURE(logcumsumexp, lib::logcumsumexp(x.m, 1));
  MEASURE(median_rows, lib::median(x.m, 1));
}

void order() {
  MEASURE(sort_rows, lib::sort(x.m, 1));
  MEASURE(sort_long, lib::sort(x.v));
  MEASURE(argsort_int, lib::argsort(x.i));
  MEASURE(topk, lib::topk(x.m, 10));
  MEASURE(topk_wide, lib::topk(x.wide, 50));
  MEASURE(kthvalue, lib::kthvalue(x.m, 10));
  MEASURE(unique, lib::_unique2(x.i));
  MEASURE(bincount, lib::bincount(x.i));
  MEASURE(histc, lib::histc(x.v, 100, -3, 3));
  MEASURE(searchsorted, lib::searchsorted(std::get<0>(lib::sort(x.row)), x.u));
  MEASURE(nonzero, lib::nonzero(x.mask));
}

void movement() {
  MEASURE(copy_transposed, x.t.contiguous());
  MEASURE(clone, x.m.clone());
  MEASURE(to_bf16, x.m.to(kBFloat16));
  MEASURE(to_float, x.h.to(kFloat));
  MEASURE(to_long, x.m.to(kLong));
  MEASURE(permute_images, x.images.permute({0, 2, 3, 1}).contiguous());
  MEASURE(cat_rows, lib::cat({x.m, x.n}, 0));
  MEASURE(cat_columns, lib::cat({x.m, x.n}, 1));
  MEASURE(stack_last, lib::stack({x.m, x.n}, 2));
  MEASURE(repeat, x.row.repeat({1024, 1}));
  MEASURE(flip, lib::flip(x.m, {1}));
  MEASURE(roll, lib::roll(x.m, 5, 1));
  MEASURE(pad, lib::constant_pad_nd(x.m, {3, 3}, 0));
  MEASURE(reflect, lib::reflection_pad2d(x.images, {1, 1, 1, 1}));
  MEASURE(tril, lib::tril(x.m));
  MEASURE(index_select, lib::index_select(x.m, 0, x.rows));
  MEASURE(index_select_columns, lib::index_select(x.m, 1, x.labels));
  MEASURE(gather, lib::gather(x.m, 1, x.places));
  MEASURE(take, lib::take(x.v, x.i));
  MEASURE(index_rows, x.m.index({x.rows}));
  MEASURE(index_mask, x.m.index({x.mask}));
  MEASURE(index_pair, x.m.index({x.rows, x.rows}));
  MEASURE(scatter_add, lib::scatter_add(x.m, 1, x.places, x.n));
  MEASURE(scatter, lib::scatter(x.m, 1, x.places, x.n));
  MEASURE(index_add, lib::index_add(x.m, 0, x.labels, x.n));
  MEASURE(index_put_add, lib::index_put(x.m, {x.labels}, x.n, true));
  MEASURE(masked_select, lib::masked_select(x.m, x.mask));
  MEASURE(unfold, lib::im2col(x.images, {3, 3}, {1, 1}, {1, 1}, {1, 1}));
}

void made() {
  MEASURE(zeros, lib::zeros({1024, 1024}));
  MEASURE(arange, lib::arange(1 << 20));
  MEASURE(rand, lib::rand({1024, 1024}));
  MEASURE(randn, lib::randn({1024, 1024}));
  MEASURE(randint, lib::randint(1000, {1 << 20}));
  MEASURE(randperm, lib::randperm(1 << 18));
  MEASURE(bernoulli, lib::bernoulli(x.u));
  MEASURE(dropout, lib::dropout(x.m, 0.5, true));
  MEASURE(eye, lib::eye(1024));
}

void losses() {
  MEASURE(mse_loss, lib::mse_loss(x.m, x.n));
  MEASURE(cross_entropy, lib::cross_entropy_loss(x.m, x.labels));
  MEASURE(log_softmax, lib::log_softmax(x.m, -1));
  MEASURE(softmax_columns, lib::softmax(x.m, 0));
  MEASURE(softmax_short, lib::softmax(x.v.view({-1, 8}), -1));
  MEASURE(smooth_l1, lib::smooth_l1_loss(x.m, x.n));
  MEASURE(bce_logits, lib::binary_cross_entropy_with_logits(x.m, x.positive));
}

void networks() {
  MEASURE(batch_norm,
          lib::batch_norm(x.images, {}, {}, {}, {}, true, 0.1, 1e-5, false));
  MEASURE(group_norm, lib::group_norm(x.images, 8));
  MEASURE(max_pool2d, lib::max_pool2d(x.images, {2, 2}));
  MEASURE(max_pool2d_3, lib::max_pool2d(x.images, {3, 3}, {2, 2}, {1, 1}));
  MEASURE(avg_pool2d, lib::avg_pool2d(x.images, {2, 2}));
  MEASURE(avg_pool2d_3, lib::avg_pool2d(x.images, {3, 3}, {2, 2}, {1, 1}));
  MEASURE(max_pool1d, lib::max_pool1d(x.sequences, {2}));
  MEASURE(max_pool1d_3, lib::max_pool1d(x.sequences, {3}, {2}, {1}));
  MEASURE(avg_pool1d, lib::avg_pool1d(x.sequences, {2}));
  MEASURE(adaptive_avg_pool2d, lib::adaptive_avg_pool2d(x.images, {1, 1}));
  MEASURE(adaptive_avg_pool2d_7, lib::adaptive_avg_pool2d(x.images, {7, 7}));
  MEASURE(adaptive_max_pool2d, lib::adaptive_max_pool2d(x.images, {1, 1}));
  MEASURE(grid_sample,
          lib::grid_sampler_2d(x.images, x.places_of_images, 0, 0, false));
  MEASURE(grid_sample_nearest,
          lib::grid_sampler_2d(x.images, x.places_of_images, 1, 0, false));
  MEASURE(grid_sample_bicubic,
          lib::grid_sampler_2d(x.images, x.places_of_images, 2, 0, false));
  MEASURE(grid_sample_3d,
          lib::grid_sampler_3d(x.volumes, x.places_of_volumes, 0, 0, false));
  MEASURE(grid_sample_backward,
          lib::grid_sampler_2d_backward(x.images, x.images, x.places_of_images,
                                        0, 0, false, {true, true}));
  MEASURE(upsample_nearest,
          lib::upsample_nearest2d(x.images, lib::IntArrayRef{112, 112}));
  MEASURE(upsample_bilinear, lib::upsample_bilinear2d(
                                 x.images, lib::IntArrayRef{112, 112}, false));
}

void linear_algebra() {
  MEASURE(mv, lib::mv(x.m, x.row));
  MEASURE(dot, lib::dot(x.v, x.u));
  MEASURE(bmm, lib::bmm(x.batch, x.batch));
  MEASURE(addmm, lib::addmm(x.row, x.m, x.n));
  MEASURE(outer, lib::outer(x.row, x.row));
  MEASURE(einsum, lib::einsum("bij,bjk->bik", {x.batch, x.batch}));
  MEASURE(cholesky, lib::linalg_cholesky(x.definite));
  MEASURE(solve, lib::linalg_solve(x.definite, x.square));
  MEASURE(inverse, lib::linalg_inv(x.definite));
  MEASURE(qr, lib::linalg_qr(x.square));
  MEASURE(svd, lib::linalg_svd(x.square));
  MEASURE(eigh, lib::linalg_eigh(x.symmetric));
  MEASURE(det, lib::linalg_det(x.square));
  MEASURE(cdist, lib::cdist(x.square, x.square));
}

[[maybe_unused]] const int registered = [] {
  pointwise();
  reductions();
  order();
  movement();
  made();
  losses();
  networks();
  linear_algebra();
  return 0;
}();

}  // namespace
