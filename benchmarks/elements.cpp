// Elements moved, mapped, reduced and converted: more names of the families'
// first four, over dtypes and layouts.

#include <benchmark/benchmark.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/both.h"

namespace {

using benchmark::State;
using lib::kBFloat16;
using lib::kBool;
using lib::kByte;
using lib::kDouble;
using lib::kFloat;
using lib::kHalf;
using lib::kInt;
using lib::kLong;
using lib::Tensor;

struct Tensors {
  Tensor m = lib::randn({1024, 1024}), n = lib::randn({1024, 1024});
  Tensor b = m.to(kBFloat16), h = m.to(kHalf), d = m.to(kDouble);
  Tensor mask = lib::gt(m, 0), row = lib::randn({1024}), t = m.t();
  Tensor row_b = row.to(kBFloat16);
  Tensor i64 = lib::randint(1, 1000, {1024, 1024}, lib::TensorOptions(kLong));
  Tensor i32 = i64.to(kInt), u8 = i64.to(kByte).bitwise_or(1);
  Tensor narrow = lib::randn({1024, 128}), cube = lib::randn({64, 128, 128});
  Tensor five = lib::randn({8, 16, 16, 16, 32});
  Tensor points = lib::randn({512, 64});
  Tensor falses = lib::zeros({1024, 1024}, lib::TensorOptions(kBool));
};

void moved() {
  MEASURE(stack_rows, lib::stack({x.m, x.n}, 0));
  MEASURE(stack_middle, lib::stack({x.m, x.n}, 1));
  MEASURE(stack_4, lib::stack({x.m, x.n, x.m, x.n}, 2));
  MEASURE(cat_8_rows, lib::cat(lib::chunk(x.m, 8, 0), 0));
  MEASURE(cat_8_columns, lib::cat(lib::chunk(x.m, 8, 1), 1));
  MEASURE(cat_2_narrow, lib::cat({x.narrow, x.narrow}, 1));
  MEASURE(cat_4_narrow, lib::cat({x.narrow, x.narrow, x.narrow, x.narrow}, 1));
  MEASURE(cat_middle, lib::cat({x.cube, x.cube}, 1));
  MEASURE(cat_bf16, lib::cat({x.b, x.b}, 1));
  MEASURE(repeat_interleave_rows, x.m.repeat_interleave(2, 0));
  MEASURE(repeat_interleave_columns, x.m.repeat_interleave(2, 1));
  MEASURE(tile, lib::tile(x.narrow, {4, 2}));
  MEASURE(repeat_columns, x.m.repeat({1, 2}));
  MEASURE(expand_row, x.row.expand({1024, 1024}).contiguous());
  MEASURE(expand_column, x.row.view({1024, 1}).expand({1024, 1024}).clone());
  MEASURE(permute_102, x.cube.permute({1, 0, 2}).contiguous());
  MEASURE(permute_021, x.cube.permute({0, 2, 1}).contiguous());
  MEASURE(permute_210, x.cube.permute({2, 1, 0}).contiguous());
  MEASURE(permute_five, x.five.permute({0, 2, 3, 4, 1}).contiguous());
  MEASURE(permute_five_reversed, x.five.permute({4, 3, 2, 1, 0}).contiguous());
  MEASURE(transpose_bf16, x.b.t().contiguous());
  MEASURE(transpose_u8, x.u8.t().contiguous());
  MEASURE(flip_rows, lib::flip(x.m, {0}));
  MEASURE(flip_both, lib::flip(x.m, {0, 1}));
  MEASURE(flip_bf16, lib::flip(x.b, {1}));
  MEASURE(roll_rows, lib::roll(x.m, 5, 0));
  MEASURE(roll_flat, lib::roll(x.m, 5));
  MEASURE(triu, lib::triu(x.m, 1));
  MEASURE(tril_u8, lib::tril(x.u8));
  MEASURE(diagonal_sum, lib::diag(x.m));
  MEASURE(slice_step, x.m.slice(1, 0, 1024, 2).contiguous());
  MEASURE(slice_narrow, x.m.slice(1, 3, 515).contiguous());
}

void mapped() {
  MEASURE(add_row, lib::add(x.m, x.row));
  MEASURE(add_column, lib::add(x.m, x.row.view({1024, 1})));
  MEASURE(add_t, lib::add(x.m, x.t));
  MEASURE(add_alpha, lib::add(x.m, x.n, 2));
  MEASURE(mul_double, lib::mul(x.d, x.d));
  MEASURE(exp_double, lib::exp(x.d));
  MEASURE(clamp_min, lib::clamp_min(x.m, 0));
  MEASURE(clamp_tensor, lib::clamp(x.m, x.n, x.t));
  MEASURE(lerp_tensor, lib::lerp(x.m, x.n, x.m));
  MEASURE(addcdiv, lib::addcdiv(x.m, x.n, x.d.to(kFloat)));
  MEASURE(where_row, lib::where(x.mask, x.row, x.n));
  MEASURE(eq, lib::eq(x.m, x.n));
  MEASURE(lt_scalar, lib::lt(x.m, 0.5));
  MEASURE(ne_long, lib::ne(x.i64, 3));
  MEASURE(le_u8, lib::le(x.u8, x.u8));
  MEASURE(gt_bf16, lib::gt(x.b, 0));
  MEASURE(isnan, lib::isnan(x.m));
  MEASURE(logical_and, lib::logical_and(x.mask, x.mask));
  MEASURE(logical_not, lib::logical_not(x.mask));
  MEASURE(maximum, lib::maximum(x.m, x.n));
  MEASURE(abs, lib::abs(x.m));
  MEASURE(sign, lib::sign(x.m));
  MEASURE(floor, lib::floor(x.m));
  MEASURE(round, lib::round(x.m));
  MEASURE(fmod, lib::fmod(x.m, 3));
  MEASURE(cos, lib::cos(x.m));
  MEASURE(tan, lib::tan(x.m));
  MEASURE(atan, lib::atan(x.m));
  MEASURE(sinh, lib::sinh(x.m));
  MEASURE(expm1, lib::expm1(x.m));
  MEASURE(log2, lib::log2(x.m));
  MEASURE(pow_3, lib::pow(x.m, 3));
  MEASURE(pow_2_5, lib::pow(x.m, 2.5));
  MEASURE(hardswish, lib::hardswish(x.m));
  MEASURE(leaky_relu, lib::leaky_relu(x.m));
  MEASURE(elu, lib::elu(x.m));
  MEASURE(mish, lib::mish(x.m));
  MEASURE(gelu_tanh, lib::gelu(x.m, "tanh"));
  MEASURE(logit, lib::logit(x.m, 1e-3));
}

#define HALVES(name, call)           \
  MEASURE(name##_b, lib::call(x.b)); \
  MEASURE(name##_h, lib::call(x.h))

void halves() {
  MEASURE(mul_b, lib::mul(x.b, x.b));
  MEASURE(mul_h, lib::mul(x.h, x.h));
  MEASURE(add_h, lib::add(x.h, x.h));
  MEASURE(add_scalar_b, lib::add(x.b, 2));
  MEASURE(add_row_b, lib::add(x.b, x.row_b));
  MEASURE(div_b, lib::div(x.b, x.b));
  HALVES(exp, exp);
  HALVES(sigmoid, sigmoid);
  HALVES(silu, silu);
  HALVES(tanh, tanh);
  HALVES(relu, relu);
  HALVES(gelu, gelu);
  HALVES(sum, sum);
  HALVES(mean, mean);
  HALVES(max, max);
  MEASURE(sum_rows_b, lib::sum(x.b, {1}));
  MEASURE(sum_columns_b, lib::sum(x.b, {0}));
  MEASURE(softmax_b, lib::softmax(x.b, -1));
  MEASURE(softmax_h, lib::softmax(x.h, -1));
  MEASURE(softmax_columns_b, lib::softmax(x.b, 0));
  MEASURE(layer_norm_b, lib::layer_norm(x.b, {1024}));
  MEASURE(layer_norm_h, lib::layer_norm(x.h, {1024}));
  MEASURE(norm_b, lib::norm(x.b));
  MEASURE(var_rows_b, lib::var(x.b, 1));
  MEASURE(argmax_rows_b, lib::argmax(x.b, 1));
}

void integers() {
  const auto types = {std::pair{"i64", &Tensors::i64},
                      {"i32", &Tensors::i32},
                      {"u8", &Tensors::u8}};
  for (const auto& [suffix, of] : types) {
    const auto name = [s = suffix](const char* op) {
      return std::string(op) + "_" + s;
    };
    const auto a = of;
    measure<Tensors>(name("add"),
                     [a](auto& x) { return lib::add(x.*a, x.*a); });
    measure<Tensors>(name("mul"),
                     [a](auto& x) { return lib::mul(x.*a, x.*a); });
    measure<Tensors>(name("div"),
                     [a](auto& x) { return lib::div(x.*a, x.*a); });
    measure<Tensors>(name("div_trunc"),
                     [a](auto& x) { return lib::div(x.*a, x.*a, "trunc"); });
    measure<Tensors>(name("floor_divide"),
                     [a](auto& x) { return lib::floor_divide(x.*a, x.*a); });
    measure<Tensors>(name("floor_divide_7"),
                     [a](auto& x) { return lib::floor_divide(x.*a, 7); });
    measure<Tensors>(name("remainder"),
                     [a](auto& x) { return lib::remainder(x.*a, x.*a); });
    measure<Tensors>(name("remainder_7"),
                     [a](auto& x) { return lib::remainder(x.*a, 7); });
    measure<Tensors>(name("and"),
                     [a](auto& x) { return lib::bitwise_and(x.*a, x.*a); });
    measure<Tensors>(name("shift"),
                     [a](auto& x) { return lib::bitwise_left_shift(x.*a, 2); });
    measure<Tensors>(name("sum"), [a](auto& x) { return lib::sum(x.*a); });
    measure<Tensors>(name("sum_columns"),
                     [a](auto& x) { return lib::sum(x.*a, {0}); });
    measure<Tensors>(name("max"), [a](auto& x) { return lib::max(x.*a); });
    measure<Tensors>(name("max_columns"),
                     [a](auto& x) { return lib::amax(x.*a, {0}); });
    measure<Tensors>(name("argmax_rows"),
                     [a](auto& x) { return lib::argmax(x.*a, 1); });
  }
}

void reduced() {
  MEASURE(any, lib::any(x.falses));
  MEASURE(all_rows, lib::all(x.mask, 1));
  MEASURE(any_columns, lib::any(x.mask, 0));
  MEASURE(any_rows_false, lib::any(x.falses, 1));
  MEASURE(any_float, lib::any(x.m, 1));
  MEASURE(sum_bool, lib::sum(x.mask));
  MEASURE(sum_bool_rows, lib::sum(x.mask, {1}));
  MEASURE(argmax, lib::argmax(x.m));
  MEASURE(argmin_columns, lib::argmin(x.m, 0));
  MEASURE(amax_rows, lib::amax(x.m, {1}));
  MEASURE(amin_columns, lib::amin(x.m, {0}));
  MEASURE(amax_middle, lib::amax(x.cube, {1}));
  MEASURE(sum_middle, lib::sum(x.cube, {1}));
  MEASURE(sum_last_two, lib::sum(x.cube, {1, 2}));
  MEASURE(sum_outer, lib::sum(x.cube, {0, 2}));
  MEASURE(sum_double, lib::sum(x.d));
  MEASURE(sum_rows_double, lib::sum(x.d, {1}));
  MEASURE(sum_t, lib::sum(x.t, {1}));
  MEASURE(nansum, lib::nansum(x.m));
  MEASURE(prod_all, lib::prod(x.m));
  MEASURE(var_all, lib::var(x.m, true));
  MEASURE(var_columns, lib::var(x.m, 0));
  MEASURE(std_rows, lib::std(x.m, 1));
  MEASURE(var_mean_rows, lib::var_mean(x.m, 1));
  MEASURE(logsumexp_columns, lib::logsumexp(x.m, {0}));
  MEASURE(norm_1, lib::norm(x.m, 1));
  MEASURE(norm_3, lib::norm(x.m, 3));
  MEASURE(norm_inf, lib::linalg_vector_norm(x.m, INFINITY, {1}));
  MEASURE(norm_1_rows, lib::linalg_vector_norm(x.m, 1, {1}));
  MEASURE(norm_columns, lib::linalg_vector_norm(x.m, 2, {0}));
  MEASURE(cumsum_int, lib::cumsum(x.i64, 1));
  MEASURE(cummax, lib::cummax(x.m, 1));
  MEASURE(cdist_1, lib::cdist(x.points, x.points, 1));
  MEASURE(cdist_2, lib::cdist(x.points, x.points, 2));
}

void converted() {
  const std::vector<std::pair<std::string, lib::ScalarType>> to = {
      {"float", kFloat},   {"double", kDouble}, {"half", kHalf},
      {"bf16", kBFloat16}, {"long", kLong},     {"int", kInt},
      {"byte", kByte},     {"bool", kBool}};
  const std::vector<std::pair<std::string, Tensor Tensors::*>> from = {
      {"float", &Tensors::m}, {"double", &Tensors::d}, {"half", &Tensors::h},
      {"bf16", &Tensors::b},  {"long", &Tensors::i64}, {"int", &Tensors::i32},
      {"byte", &Tensors::u8}, {"bool", &Tensors::mask}};
  for (const auto& [a, of] : from) {
    for (const auto& [b, type] : to) {
      if (a == b) continue;
      measure<Tensors>("cast_" + a + "_" + b, [of = of, type = type](auto& x) {
        return (x.*of).to(type);
      });
    }
  }
}

[[maybe_unused]] const int registered = [] {
  moved();
  mapped();
  halves();
  integers();
  reduced();
  converted();
  return 0;
}();

}  // namespace
