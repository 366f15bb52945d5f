#include "backends/cpu/tiles/narrow.h"

#include <gtest/gtest.h>

#include <vector>

#include "backends/cpu/tiles/runner.h"
#include "test/backends/cpu/tiles/reference.h"

namespace sy::cpu::tiles {
namespace {

using lang::Prim;
using testing::Random;

constexpr ScalarType kNarrow[] = {ScalarType::Half, ScalarType::BFloat16};

// Every number there is, and a few more, in some order.
std::vector<uint16_t> all_numbers(uint16_t factor) {
  std::vector<uint16_t> x(65536 + 5);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<uint16_t>(i * factor + 3);
  }
  return x;
}

std::vector<float> widened(ScalarType type, const std::vector<uint16_t>& x) {
  std::vector<float> y(x.size());
  convert_fn(type, ScalarType::Float)(y.data(), x.data(),
                                      static_cast<int64_t>(x.size()));
  return y;
}

// Expects equal numbers, or two NaN: either of two NaN may go on.
void expect_same(ScalarType type, const std::vector<uint16_t>& got,
                 const std::vector<uint16_t>& want) {
  const std::vector<float> g = widened(type, got), w = widened(type, want);
  for (size_t i = 0; i < got.size(); ++i) {
    if (w[i] != w[i]) {
      ASSERT_TRUE(g[i] != g[i]) << i;
    } else {
      ASSERT_EQ(got[i], want[i]) << i;
    }
  }
}

// How an operand reaches the program.
enum class As { tensor, element, number };

void check(Prim prim, int arity, ScalarType type, As first, As second) {
  const As as[2] = {first, second};
  std::vector<uint16_t> x[2] = {all_numbers(1), all_numbers(40503)};
  const auto n = static_cast<int64_t>(x[0].size());
  Step step{prim, 0, 0, 0, 0};
  uint8_t* const registers[2] = {&step.a, &step.b};
  std::vector<Operand> inputs;
  std::vector<float> wide[2];
  Uniform number{.f32 = 0.1f};
  for (int k = 0; k < arity; ++k) {
    wide[k] = widened(type, x[k]);
    if (as[k] == As::element) wide[k].assign(x[0].size(), wide[k][700]);
    if (as[k] == As::number) wide[k].assign(x[0].size(), 0.1f);
    if (as[k] == As::number) continue;
    *registers[k] = static_cast<uint8_t>(inputs.size());
    inputs.push_back(as[k] == As::element ? Operand{x[k].data() + 700, 0, type}
                                          : Operand{x[k].data(), 2, type});
  }
  const auto count = static_cast<uint8_t>(inputs.size());
  const bool numbers = as[0] == As::number || as[1] == As::number;
  for (int k = 0; k < arity; ++k) {
    if (as[k] == As::number) *registers[k] = count;
  }
  step.dst = static_cast<uint8_t>(count + numbers);
  const Result result{step.dst, false};
  Program program;
  program.steps = &step;
  program.results = &result;
  program.n_steps = 1;
  program.n_registers = static_cast<uint16_t>(step.dst + 1);
  program.n_inputs = count;
  program.n_uniforms = numbers;

  std::vector<float> sum(x[0].size());
  prim_fn(prim, ComputeType::f32)(sum.data(), wide[0].data(), wide[1].data(),
                                  nullptr, 0, n);
  std::vector<uint16_t> want(x[0].size()), got(x[0].size());
  convert_fn(ScalarType::Float, type)(want.data(), sum.data(), n);
  const Operand out{got.data(), 2, type};
  run(program, ComputeType::f32, inputs.data(), &number, &out, n);
  expect_same(type, got, want);
  // Few elements, and a result in the place of an operand.
  std::vector<uint16_t> few(7, 0x3f80);
  const Operand to{few.data(), 2, type};
  run(program, ComputeType::f32, inputs.data(), &number, &to, 6);
  want.resize(6);
  EXPECT_EQ(few.back(), 0x3f80);
  few.resize(6);
  expect_same(type, few, want);
  if (as[0] == As::tensor) {
    run(program, ComputeType::f32, inputs.data(), &number, inputs.data(), n);
    expect_same(type, x[0], got);
  }
}

TEST(TileNarrow, ArithmeticIsThatOfFloatsRoundedOnce) {
  testing::for_each_isa([](Isa) {
    for (const ScalarType type : kNarrow) {
      for (Prim p : {Prim::neg, Prim::abs, Prim::square, Prim::sqrt}) {
        ASSERT_NE(narrow_prim_fn(p, type, -1), nullptr);
        check(p, 1, type, As::tensor, As::tensor);
      }
      for (Prim p : {Prim::add, Prim::sub, Prim::mul, Prim::div, Prim::maximum,
                     Prim::minimum}) {
        ASSERT_NE(narrow_prim_fn(p, type, -1), nullptr);
        check(p, 2, type, As::tensor, As::tensor);
        check(p, 2, type, As::tensor, As::element);
        check(p, 2, type, As::tensor, As::number);
        check(p, 2, type, As::number, As::tensor);
      }
    }
  });
}

// Numbers from -3 to 3: the size of numbers decides where their sums round.
std::vector<uint16_t> moderate(Random& random, size_t n, ScalarType type) {
  std::vector<uint16_t> x(n);
  for (uint16_t& v : x) {
    const auto f = static_cast<float>(random.uniform(-3, 3));
    convert_fn(ScalarType::Float, type)(&v, &f, 1);
  }
  return x;
}

template <class Acc>
void check_reduction(Reduction r, ScalarType type, bool with_nan) {
  Random random(5);
  for (const size_t n : {1u, 31u, 64u, 65u, 1000u, 1024u, 5000u}) {
    std::vector<uint16_t> x = moderate(random, n, type);
    if (with_nan) x[n / 2] = 0x7fff;
    const std::vector<float> wide = widened(type, x);
    Acc got = 1, want = 1;
    narrow_reduce_fn(r, type)(&got, x.data(), static_cast<int64_t>(n));
    reduce_fn(r, ComputeType::f32)(&want, wide.data(), static_cast<int64_t>(n));
    ASSERT_EQ(got != got, with_nan);
    if (with_nan) continue;
    ASSERT_EQ(got, want) << n;
  }
  for (const int64_t rows : {1, 7, 8, 19}) {
    for (const int64_t n : {1, 31, 32, 100}) {
      const int64_t pitch = n + 3;
      std::vector<uint16_t> x =
          moderate(random, static_cast<size_t>(rows * pitch), type);
      if (with_nan) x[static_cast<size_t>((rows - 1) * pitch + n - 1)] = 0x7fff;
      const std::vector<float> wide = widened(type, x);
      std::vector<Acc> got(static_cast<size_t>(n), Acc(1)), want = got;
      narrow_reduce_rows_fn(r, type)(got.data(), x.data(), 2 * pitch, rows, n);
      reduce_rows_fn(r, ComputeType::f32)(want.data(), wide.data(), 4 * pitch,
                                          rows, n);
      ASSERT_EQ(got.back() != got.back(), with_nan);
      if (with_nan) got.back() = want.back() = 0;
      ASSERT_EQ(got, want) << rows << " rows of " << n;
    }
  }
}

TEST(TileNarrow, ReductionsAreThoseOfTheSameFloats) {
  testing::for_each_isa([](Isa) {
    for (const ScalarType type : kNarrow) {
      for (const bool with_nan : {false, true}) {
        check_reduction<double>(Reduction::sum, type, with_nan);
        check_reduction<float>(Reduction::max, type, with_nan);
        check_reduction<float>(Reduction::min, type, with_nan);
      }
    }
  });
}

}  // namespace
}  // namespace sy::cpu::tiles
