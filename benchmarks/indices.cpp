// Reading and writing at indices, and putting in order: more sizes, dims and
// dtypes than families.cpp has. One source for both libraries.

#include <benchmark/benchmark.h>

#include "benchmarks/both.h"

namespace {

using benchmark::State;
using lib::kBFloat16;
using lib::kBool;
using lib::kDouble;
using lib::kInt;
using lib::kLong;
using lib::Tensor;

Tensor integers(int64_t high, lib::IntArrayRef sizes) {
  return lib::randint(high, sizes, lib::TensorOptions(kLong));
}

// The arguments of the calls below; made once.
struct Tensors {
  Tensor m = lib::randn({1024, 1024}), n = lib::randn({1024, 1024});
  Tensor h = m.to(kBFloat16), d = m.to(kDouble);
  Tensor v = lib::randn({1 << 20}), u = lib::rand({1 << 20});
  Tensor b = v.to(kBFloat16), w = v.to(kDouble);
  Tensor big = integers(1 << 20, {1 << 20}), few = integers(1000, {1 << 20});
  Tensor small = few.to(kInt), wide = integers(int64_t{1} << 40, {1 << 20});
  Tensor places = integers(1024, {1024, 1024}), rows = integers(1024, {1024});
  Tensor mask = lib::gt(m, 0), short_rows = lib::randn({16384, 64});
  Tensor rising = std::get<0>(lib::sort(v)), edges = lib::linspace(-3, 3, 100);
  Tensor rising_rows = std::get<0>(lib::sort(m));
  Tensor repeated = std::get<0>(lib::sort(few));
  Tensor weight = lib::randn({30522, 256}), words = integers(30522, {32, 128});
  Tensor words_grad = lib::randn({32, 128, 256});
  Tensor bags = lib::arange(0, 4096, 16, lib::TensorOptions(kLong));
  Tensor word_list = words.view({-1}), one = lib::ones({});
  Tensor bag_grad = lib::randn({256, 256});
  Tensor bag_of_word =
      lib::floor_divide(lib::arange(4096, lib::TensorOptions(kLong)), 16);
  Tensor bag_sizes = lib::full({256}, 16, lib::TensorOptions(kLong));
  Tensor nothing = lib::zeros({0}, lib::TensorOptions(kLong));
};

void reading() {
  MEASURE(gather_columns, lib::gather(x.m, 0, x.places));
  MEASURE(gather_long, lib::gather(x.v, 0, x.big));
  MEASURE(gather_double, lib::gather(x.d, 1, x.places));
  MEASURE(gather_bf16, lib::gather(x.h, 1, x.places));
  MEASURE(index_select_long, lib::index_select(x.v, 0, x.big));
  MEASURE(index_select_short, lib::index_select(x.short_rows, 0, x.rows));
  MEASURE(index_columns, x.m.index({lib::indexing::Slice(), x.rows}));
  MEASURE(embedding, lib::embedding(x.weight, x.words));
  MEASURE(embedding_bag_sum,
          lib::embedding_bag(x.weight, x.word_list, x.bags, false, 0));
  MEASURE(embedding_bag_mean,
          lib::embedding_bag(x.weight, x.word_list, x.bags, false, 1));
  MEASURE(embedding_bag_max,
          lib::embedding_bag(x.weight, x.word_list, x.bags, false, 2));
}

void writing() {
  MEASURE(scatter_columns, lib::scatter(x.m, 0, x.places, x.n));
  MEASURE(scatter_long, lib::scatter(x.v, 0, x.big, x.u));
  MEASURE(scatter_value, lib::scatter(x.m, 1, x.places, 2));
  MEASURE(scatter_bf16, lib::scatter(x.h, 1, x.places, x.h));
  MEASURE(scatter_inplace, Tensor(x.n).scatter_(1, x.places, x.m));
  MEASURE(scatter_add_columns, lib::scatter_add(x.m, 0, x.places, x.n));
  MEASURE(scatter_add_long, lib::scatter_add(x.v, 0, x.big, x.u));
  MEASURE(scatter_add_few, lib::scatter_add(x.v, 0, x.few, x.u));
  MEASURE(scatter_amax, lib::scatter_reduce(x.m, 1, x.places, x.n, "amax"));
  MEASURE(scatter_mean, lib::scatter_reduce(x.m, 1, x.places, x.n, "mean"));
  MEASURE(index_add_columns, lib::index_add(x.m, 1, x.rows, x.n));
  MEASURE(index_add_long, lib::index_add(x.v, 0, x.big, x.u));
  MEASURE(index_copy, lib::index_copy(x.m, 0, x.rows, x.n));
  MEASURE(index_copy_columns, lib::index_copy(x.m, 1, x.rows, x.n));
  MEASURE(index_fill, lib::index_fill(x.m, 0, x.rows, 1));
  MEASURE(index_fill_columns, lib::index_fill(x.m, 1, x.rows, 1));
  MEASURE(put, lib::put(x.v, x.big, x.u));
  MEASURE(put_add, lib::put(x.v, x.big, x.u, true));
  MEASURE(index_put, lib::index_put(x.m, {x.rows}, x.n));
  MEASURE(index_put_long, lib::index_put(x.v, {x.big}, x.u));
  MEASURE(index_put_long_add, lib::index_put(x.v, {x.big}, x.u, true));
  MEASURE(masked_scatter, lib::masked_scatter(x.m, x.mask, x.n));
  MEASURE(embedding_backward, lib::embedding_dense_backward(
                                  x.words_grad, x.words, 30522, -1, false));
  MEASURE(embedding_bag_backward,
          lib::_embedding_bag_dense_backward(x.bag_grad, x.word_list,
                                             x.bag_of_word, x.bag_sizes,
                                             x.nothing, 30522, false, 0, {}));
}

void sorting() {
  MEASURE(sort_columns, lib::sort(x.m, 0));
  MEASURE(sort_short, lib::sort(x.short_rows));
  MEASURE(sort_down, lib::sort(x.m, 1, true));
  MEASURE(sort_stable, lib::sort(x.m, true, 1, false));
  MEASURE(sort_double, lib::sort(x.d));
  MEASURE(sort_bf16, lib::sort(x.h));
  MEASURE(sort_int32, lib::sort(x.small));
  MEASURE(sort_int64, lib::sort(x.wide));
  MEASURE(sort_double_long, lib::sort(x.w));
  MEASURE(argsort_rows, lib::argsort(x.m));
  MEASURE(topk_half, lib::topk(x.m, 512));
  MEASURE(topk_columns, lib::topk(x.m, 10, 0));
  MEASURE(topk_long, lib::topk(x.v, 100));
  MEASURE(topk_bf16, lib::topk(x.h, 10));
  MEASURE(kthvalue_long, lib::kthvalue(x.v, 1000));
  MEASURE(kthvalue_columns, lib::kthvalue(x.m, 10, 0));
  MEASURE(median, lib::median(x.m));
  MEASURE(nanmedian, lib::nanmedian(x.m));
  MEASURE(nanmedian_rows, lib::nanmedian(x.m, 1));
  MEASURE(median_short, lib::median(x.short_rows, 1));
  MEASURE(median_columns, lib::median(x.m, 0));
  MEASURE(median_double, lib::median(x.d, 1));
  MEASURE(median_int64, lib::median(x.places, 1));
  MEASURE(mode, lib::mode(x.places, 1));
}

void groups() {
  MEASURE(unique_float, lib::_unique2(x.v));
  MEASURE(unique_wide, lib::_unique2(x.wide));
  MEASURE(unique_all, lib::_unique2(x.few, true, true, true));
  MEASURE(unique_dim, lib::unique_dim(x.places, 0));
  MEASURE(unique_consecutive, lib::unique_consecutive(x.repeated));
  MEASURE(unique_consecutive_all,
          lib::unique_consecutive(x.repeated, true, true));
  MEASURE(searchsorted_long, lib::searchsorted(x.rising, x.u));
  MEASURE(searchsorted_rows, lib::searchsorted(x.rising_rows, x.m));
  MEASURE(bucketize, lib::bucketize(x.v, x.edges));
  MEASURE(isin, lib::isin(x.few, x.rows));
  MEASURE(histc_many, lib::histc(x.v, 10000));
  MEASURE(histogram, lib::histogram(x.v, x.edges));
  MEASURE(bincount_long, lib::bincount(x.big));
  MEASURE(bincount_weights, lib::bincount(x.few, x.u));
}

void scans() {
  MEASURE(cumsum_long, lib::cumsum(x.v, 0));
  MEASURE(cumsum_int64, lib::cumsum(x.places, 1));
  MEASURE(cumsum_bf16, lib::cumsum(x.h, 1));
  MEASURE(cumprod_columns, lib::cumprod(x.m, 0));
  MEASURE(cummax, lib::cummax(x.m, 1));
  MEASURE(cummax_columns, lib::cummax(x.m, 0));
  MEASURE(cummin, lib::cummin(x.m, 1));
  MEASURE(logcumsumexp_columns, lib::logcumsumexp(x.m, 0));
}

[[maybe_unused]] const int registered = [] {
  reading();
  writing();
  sorting();
  groups();
  scans();
  return 0;
}();

}  // namespace
