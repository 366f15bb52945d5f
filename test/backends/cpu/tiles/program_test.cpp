#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "backends/cpu/tiles/compiled.h"
#include "backends/cpu/tiles/runner.h"
#include "c10/process/error.h"
#include "test/backends/cpu/tiles/reference.h"

namespace sy::cpu::tiles {
namespace {

using lang::Prim;
using testing::Random;

// A program that owns its arrays.
struct Owned {
  std::vector<Step> steps;
  std::vector<Result> results;
  Program program;
};

Owned make(int inputs, int uniforms, int registers, std::vector<Step> steps,
           std::vector<Result> results, uint64_t bool_inputs = 0) {
  Owned o{std::move(steps), std::move(results), {}};
  o.program.steps = o.steps.data();
  o.program.results = o.results.data();
  o.program.bool_inputs = bool_inputs;
  o.program.n_steps = static_cast<uint16_t>(o.steps.size());
  o.program.n_registers = static_cast<uint16_t>(registers);
  o.program.n_inputs = static_cast<uint8_t>(inputs);
  o.program.n_uniforms = static_cast<uint8_t>(uniforms);
  o.program.n_results = static_cast<uint8_t>(o.results.size());
  return o;
}

// Memory of n elements of a dtype, some elements apart, read and written as
// double.
class Array {
 public:
  Array(ScalarType dtype, int64_t n, int64_t step)
      : dtype_(dtype),
        size_(kScalarTypeInfo[static_cast<int>(dtype)].size),
        step_(step),
        data_(static_cast<size_t>((n * (step == 0 ? 1 : step) + 8) * size_)) {}

  Operand operand() { return {data_.data(), step_ * size_, dtype_}; }
  char* data() { return data_.data(); }
  int64_t stride() const { return step_ * size_; }
  double get(int64_t i) const {
    double x;
    convert_fn(dtype_, ScalarType::Double)(&x, data_.data() + at(i), 1);
    return x;
  }
  void set(int64_t i, double x) {
    convert_fn(ScalarType::Double, dtype_)(data_.data() + at(i), &x, 1);
  }

 private:
  size_t at(int64_t i) const { return static_cast<size_t>(i * step_ * size_); }

  ScalarType dtype_;
  int64_t size_;
  int64_t step_;
  std::vector<char> data_;
};

// (a + b * u) * a, all small integers, so every type gives the same.
Owned polynomial() {
  return make(2, 1, 4, {{Prim::fma, 3, 1, 2, 0}, {Prim::mul, 3, 3, 0, 0}},
              {{3, false}});
}

TEST(TileRunner, ConvertsGathersAndScattersEveryCombination) {
  const Owned p = polynomial();
  constexpr ScalarType kTypes[] = {
      ScalarType::Byte,  ScalarType::Char,   ScalarType::Short,
      ScalarType::Int,   ScalarType::Long,   ScalarType::Half,
      ScalarType::Float, ScalarType::Double, ScalarType::BFloat16};
  Random random(1);
  for (int round = 0; round < 3000; ++round) {
    const auto type = [&] { return kTypes[random.bits() % 9]; };
    const auto step = [&] {
      constexpr int64_t kSteps[] = {0, 1, 1, 1, 2, 3};
      return kSteps[random.bits() % 6];
    };
    constexpr ComputeType kCompute[] = {ComputeType::f32, ComputeType::f64,
                                        ComputeType::i32, ComputeType::i64};
    const ComputeType compute = kCompute[random.bits() % 4];
    const int64_t n = random.bits() % 8 == 0
                          ? 5000
                          : static_cast<int64_t>(random.bits() % 80);
    Array a(type(), n, step()), b(type(), n, step());
    const int64_t out_step = 1 + static_cast<int64_t>(random.bits() % 2);
    Array d(type(), n, out_step);
    for (int64_t i = 0; i < n; ++i) {
      if (a.stride() != 0 || i == 0) a.set(i, static_cast<double>(i % 4));
      if (b.stride() != 0 || i == 0) b.set(i, static_cast<double>(i % 3));
    }
    const Uniform u = make_uniform(compute, false, int64_t{2});
    const Operand in[] = {a.operand(), b.operand()};
    const Operand out = d.operand();
    run(p.program, compute, in, &u, &out, n);
    for (int64_t i = 0; i < n; ++i) {
      const double x = a.get(a.stride() == 0 ? 0 : i);
      const double y = b.get(b.stride() == 0 ? 0 : i);
      ASSERT_EQ(d.get(i), (x + y * 2) * x)
          << "element " << i << " of " << n << " compute "
          << static_cast<int>(compute) << " dtypes "
          << static_cast<int>(in[0].dtype) << static_cast<int>(in[1].dtype)
          << static_cast<int>(out.dtype) << " strides " << in[0].stride << ' '
          << in[1].stride << ' ' << out.stride;
    }
  }
}

// A program of random steps.
struct RandomProgram {
  // Registers first … first+5 hold values, the next two bools.
  static constexpr int kValues = 6;

  explicit RandomProgram(Random& random)
      : n_inputs(1 + static_cast<int>(random.bits() % 3)),
        n_uniforms(static_cast<int>(random.bits() % 3)),
        first(n_inputs + n_uniforms),
        bools(first + kValues),
        owned(make_steps(random)) {}

  const int n_inputs, n_uniforms, first, bools;
  const Owned owned;

 private:
  Owned make_steps(Random& random) const;
};

Owned RandomProgram::make_steps(Random& random) const {
  constexpr Prim kUnary[] = {Prim::neg, Prim::abs, Prim::square, Prim::copy};
  constexpr Prim kBinary[] = {Prim::add, Prim::sub, Prim::mul, Prim::maximum};
  constexpr Prim kCompare[] = {Prim::lt, Prim::eq, Prim::ge};
  const int n_steps = 1 + static_cast<int>(random.bits() % 60);
  std::vector<Step> steps;
  std::vector<int> live;  // value registers that are set
  for (int r = 0; r < first; ++r) live.push_back(r);
  bool have_bool[2] = {};
  for (int i = 0; i < n_steps; ++i) {
    const auto any = [&] {
      return static_cast<uint8_t>(live[random.bits() % live.size()]);
    };
    const uint8_t dst =
        static_cast<uint8_t>(first + static_cast<int>(random.bits() % kValues));
    const bool last = i + 1 == n_steps;
    const uint64_t kind = random.bits() % 6;
    const int which = static_cast<int>(random.bits() % 2);
    if (kind == 0 && !last) {
      steps.push_back({kCompare[random.bits() % 3],
                       static_cast<uint8_t>(bools + which), any(), any(), 0});
      have_bool[which] = true;
      continue;
    }
    if (kind == 1 && have_bool[which]) {
      steps.push_back({Prim::select, dst, static_cast<uint8_t>(bools + which),
                       any(), any()});
    } else if (kind == 2) {
      steps.push_back({kUnary[random.bits() % 4], dst, any(), 0, 0});
    } else if (kind == 3) {
      steps.push_back({Prim::clamp, dst, any(), any(), any()});
    } else {
      steps.push_back({kBinary[random.bits() % 4], dst, any(), any(), 0});
    }
    if (std::find(live.begin(), live.end(), dst) == live.end()) {
      live.push_back(dst);
    }
  }
  std::vector<Result> results = {{steps.back().dst, false}};
  if (random.bits() % 2)
    results.push_back({static_cast<uint8_t>(live.back()), false});
  if (have_bool[0]) results.push_back({static_cast<uint8_t>(bools), true});
  return make(n_inputs, n_uniforms, bools + 2, steps, std::move(results));
}

// Random programs against the primitives one after the other.
TEST(TileRunner, RandomProgramsEqualTheirStepsOneByOne) {
  Random random(2);
  for (int round = 0; round < 400; ++round) {
    const RandomProgram program(random);
    const int n_inputs = program.n_inputs, first = program.first;
    const Owned& p = program.owned;
    const size_t n_registers = p.program.n_registers;
    const int n_results = static_cast<int>(p.results.size());

    const int64_t n = random.bits() % 4 == 0
                          ? 3000
                          : static_cast<int64_t>(random.bits() % 100);
    const size_t count = static_cast<size_t>(n);
    std::vector<std::vector<int32_t>> values(n_registers,
                                             std::vector<int32_t>(count + 1));
    std::vector<const void*> inputs;
    uint64_t uniform_inputs = 0;
    std::vector<Uniform> uniforms;
    for (int r = 0; r < first; ++r) {
      auto& v = values[static_cast<size_t>(r)];
      for (auto& x : v) x = static_cast<int32_t>(random.bits() % 11) - 5;
      const bool one = r >= n_inputs || random.bits() % 3 == 0;
      if (r < n_inputs) inputs.push_back(v.data());
      if (r >= n_inputs) {
        uniforms.push_back(
            make_uniform(ComputeType::i32, false, static_cast<int64_t>(v[0])));
      } else if (one) {
        uniform_inputs |= uint64_t{1} << r;
      }
    }
    std::vector<std::vector<int32_t>> got(static_cast<size_t>(n_results),
                                          std::vector<int32_t>(count + 1));
    std::vector<void*> out;
    for (auto& g : got) out.push_back(g.data());
    run_contiguous(p.program, ComputeType::i32, inputs.data(), uniform_inputs,
                   uniforms.data(), out.data(), n);

    for (int64_t i = 0; i < n; ++i) {
      std::vector<int32_t> reg(n_registers);
      for (int r = 0; r < first; ++r) {
        const bool one = r >= n_inputs || (uniform_inputs >> r & 1);
        reg[static_cast<size_t>(r)] =
            values[static_cast<size_t>(r)][one ? 0 : static_cast<size_t>(i)];
      }
      for (const Step& s : p.steps) {
        reg[s.dst] = testing::exact_reference<int32_t>(s.op, reg[s.a], reg[s.b],
                                                       reg[s.c]);
      }
      for (int k = 0; k < n_results; ++k) {
        const Result& r = p.results[static_cast<size_t>(k)];
        const auto* at = reinterpret_cast<const uint8_t*>(
            got[static_cast<size_t>(k)].data());
        const int32_t y =
            r.is_bool ? at[i]
                      : got[static_cast<size_t>(k)][static_cast<size_t>(i)];
        ASSERT_EQ(y, reg[r.reg]) << "round " << round << " result " << k
                                 << " element " << i << " of " << n;
      }
    }
  }
}

// Elements a place apart are gathered, and every step then taken for itself.
TEST(TileRunner, CompiledProgramsEqualTheirStepsOneByOne) {
  constexpr double kSpecial[] = {NAN, INFINITY, -INFINITY, 0, -0.0, 3, -3, 6};
  testing::for_each_isa([&](Isa) {
    for (const Program& c : program::kCompiled) {
      // A copy, which is found by its steps.
      const Owned o = make(c.n_inputs, c.n_uniforms, c.n_registers,
                           {c.steps, c.steps + c.n_steps}, {c.results[0]});
      ASSERT_EQ(static_cast<int>(program::find_compiled(o.program)),
                c.compiled);
      for (const ComputeType type : {ComputeType::f32, ComputeType::f64}) {
        Uniform uniforms[8];
        const double numbers[] = {3, -0.5, 6};
        for (int u = 0; u < 8; ++u) {
          uniforms[u] = make_uniform(type, false, numbers[u % 3]);
        }
        for (const int64_t n : {1, 7, 16, 17, 64, 77, 1000}) {
          Random random(static_cast<uint64_t>(n));
          std::vector<Array> near, apart;
          std::vector<Operand> in_near, in_apart;
          for (int k = 0; k <= c.n_inputs; ++k) {  // the result is the last
            near.emplace_back(storage_of(type), n, 1);
            apart.emplace_back(storage_of(type), n, 2);
          }
          for (int64_t i = 0; i < n; ++i) {
            for (size_t k = 0; k < c.n_inputs; ++k) {
              const uint64_t bits = random.bits();
              const double x =
                  bits % 3 == 0 ? kSpecial[bits / 3 % 8]
                                : static_cast<double>(bits % 2001) / 100 - 10;
              near[k].set(i, x);
              apart[k].set(i, x);
            }
          }
          for (size_t k = 0; k <= c.n_inputs; ++k) {
            in_near.push_back(near[k].operand());
            in_apart.push_back(apart[k].operand());
          }
          run(o.program, type, in_apart.data(), uniforms, &in_apart.back(), n);
          run(o.program, type, in_near.data(), uniforms, &in_near.back(), n);
          run(o.program, type, in_near.data(), uniforms, in_near.data(), n);
          for (int64_t i = 0; i < n; ++i) {
            const double want = apart.back().get(i);
            for (const double got : {near.back().get(i), near[0].get(i)}) {
              ASSERT_TRUE(std::isnan(want)
                              ? std::isnan(got)
                              : got == want &&
                                    std::signbit(got) == std::signbit(want))
                  << "program " << &c - program::kCompiled << " at " << i
                  << " of " << n << ": " << got << ", not " << want;
            }
          }
        }
      }
    }
  });
}

TEST(TileRunner, AResultMayBeAnInput) {
  const Owned p = polynomial();
  const Uniform u = make_uniform(ComputeType::f32, false, 2.0);
  for (int64_t n : {1, 7, 100, 5000}) {
    for (int which : {0, 1}) {
      std::vector<float> x[2] = {std::vector<float>(static_cast<size_t>(n)),
                                 std::vector<float>(static_cast<size_t>(n))};
      for (size_t i = 0; i < x[0].size(); ++i) {
        x[0][i] = static_cast<float>(i % 5);
        x[1][i] = static_cast<float>(i % 3);
      }
      const std::vector<float> a = x[0], b = x[1];
      const Operand in[] = {{x[0].data(), 4, ScalarType::Float},
                            {x[1].data(), 4, ScalarType::Float}};
      run(p.program, ComputeType::f32, in, &u, &in[which], n);
      for (size_t i = 0; i < a.size(); ++i) {
        ASSERT_EQ(x[which][i], (a[i] + b[i] * 2) * a[i]);
      }
    }
  }
}

TEST(TileRunner, BoolInputsAreWhatIsNotZero) {
  const Owned p = make(3, 0, 4, {{Prim::select, 3, 0, 1, 2}}, {{3, false}}, 1);
  const float condition[] = {0, 0.5f, -0.f, std::nanf(""), 3};
  const int32_t yes[] = {1, 2, 3, 4, 5};
  const int32_t no[] = {-1, -2, -3, -4, -5};
  double d[5];
  Operand in[] = {{const_cast<float*>(condition), 4, ScalarType::Float},
                  {const_cast<int32_t*>(yes), 4, ScalarType::Int},
                  {const_cast<int32_t*>(no), 4, ScalarType::Int}};
  const Operand out{d, 8, ScalarType::Double};
  run(p.program, ComputeType::f32, in, nullptr, &out, 5);
  EXPECT_EQ((std::vector<double>(d, d + 5)),
            (std::vector<double>{-1, 2, -3, 4, 5}));
  const uint8_t bytes[] = {0, 1, 0, 1, 1};
  in[0] = {const_cast<uint8_t*>(bytes), 1, ScalarType::Bool};
  run(p.program, ComputeType::i32, in, nullptr, &out, 5);
  EXPECT_EQ(d[1], 2);
  EXPECT_EQ(d[2], -3);
}

TEST(TileRunner, BoolResultsConvertToAnyDtype) {
  const Owned p = make(2, 0, 3, {{Prim::lt, 2, 0, 1, 0}}, {{2, true}});
  const double a[] = {1, 2, 3}, b[] = {2, 2, 2};
  const Operand in[] = {{const_cast<double*>(a), 8, ScalarType::Double},
                        {const_cast<double*>(b), 8, ScalarType::Double}};
  bool as_bool[3];
  float as_float[3];
  const Operand out_bool{as_bool, 1, ScalarType::Bool};
  const Operand out_float{as_float, 4, ScalarType::Float};
  run(p.program, ComputeType::f64, in, nullptr, &out_bool, 3);
  run(p.program, ComputeType::f64, in, nullptr, &out_float, 3);
  EXPECT_TRUE(as_bool[0] && !as_bool[1] && !as_bool[2]);
  EXPECT_EQ(as_float[0], 1);
  EXPECT_EQ(as_float[2], 0);
}

TEST(TileRunner, AResultMayBeUniformOrAnInputItself) {
  // r3 = u * u is the same everywhere; r0 is handed out as it is.
  const Owned p =
      make(1, 1, 4, {{Prim::mul, 3, 1, 1, 0}, {Prim::add, 2, 0, 3, 0}},
           {{2, false}, {3, false}, {0, false}});
  const Uniform u = make_uniform(ComputeType::f32, false, 3.0);
  std::vector<float> x(3000), sum(3000), constant(6000);
  std::vector<double> same(3000);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  const Operand in{x.data(), 4, ScalarType::Float};
  const Operand out[] = {{sum.data(), 4, ScalarType::Float},
                         {constant.data(), 8, ScalarType::Float},
                         {same.data(), 8, ScalarType::Double}};
  run(p.program, ComputeType::f32, &in, &u, out, 3000);
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(sum[i], x[i] + 9);
    ASSERT_EQ(constant[2 * i], 9);
    ASSERT_EQ(same[i], x[i]);
  }
}

TEST(TileRunner, ManyRegistersAndStepsWork) {
  // r[i] = r[i-1] + r[i-2], far beyond what L1 tiles were sized for.
  std::vector<Step> steps;
  for (int r = 2; r < 256; ++r) {
    steps.push_back({Prim::add, static_cast<uint8_t>(r),
                     static_cast<uint8_t>(r - 1), static_cast<uint8_t>(r - 2),
                     0});
  }
  const Owned p = make(2, 0, 256, steps, {{255, false}, {200, false}});
  std::vector<int64_t> a(500), b(500), d(500);
  std::vector<int32_t> e(500);
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<int64_t>(i);
    b[i] = 7;
  }
  const Operand in[] = {{a.data(), 8, ScalarType::Long},
                        {b.data(), 8, ScalarType::Long}};
  const Operand out[] = {{d.data(), 8, ScalarType::Long},
                         {e.data(), 4, ScalarType::Int}};
  run(p.program, ComputeType::i64, in, nullptr, out, 500);
  for (size_t i = 0; i < a.size(); ++i) {
    uint64_t x = static_cast<uint64_t>(a[i]), y = 7, at_200 = 0;
    for (int r = 2; r < 256; ++r) {
      const uint64_t z = x + y;
      x = y;
      y = z;
      if (r == 200) at_200 = z;
    }
    ASSERT_EQ(d[i], static_cast<int64_t>(y));
    ASSERT_EQ(e[i], static_cast<int32_t>(at_200));
  }
}

// Every input is gathered and converted or is one element, every result is
// converted and scattered: no program needs more tiles.
TEST(TileRunner, TheMostOperandsAndRegisters) {
  constexpr int kInputs = 64, kSingle = 15, kElements = 150;
  std::vector<Step> steps;
  for (int r = kInputs; r < 256; ++r) {
    steps.push_back({Prim::add, static_cast<uint8_t>(r),
                     static_cast<uint8_t>(r == kInputs ? 0 : r - 1),
                     static_cast<uint8_t>(r % kInputs), 0});
  }
  std::vector<Result> results = {{255, false}};
  for (int i = 0; i < kSingle; ++i) {
    results.push_back({static_cast<uint8_t>(i), false});
  }
  const Owned p = make(kInputs, 0, 256, steps, results);
  std::vector<Array> in, out;
  std::vector<Operand> inputs, outputs;
  for (int i = 0; i < kInputs; ++i) {
    in.emplace_back(ScalarType::Int, kElements, i < kSingle ? 0 : 2 + i % 3);
    for (int j = 0; j < kElements; ++j)
      in.back().set(j, i < kSingle ? i : j + i);
  }
  for (int k = 0; k <= kSingle; ++k) {
    out.emplace_back(ScalarType::Short, kElements, 2);
  }
  for (Array& a : in) inputs.push_back(a.operand());
  for (Array& a : out) outputs.push_back(a.operand());
  run(p.program, ComputeType::f32, inputs.data(), nullptr, outputs.data(),
      kElements);
  for (int j = 0; j < kElements; ++j) {
    double sum = 0;  // each input thrice, the first once more
    for (const Array& a : in) sum += 3 * a.get(j);
    ASSERT_EQ(out[0].get(j), sum + in[0].get(j));
    for (int i = 0; i < kSingle; ++i) ASSERT_EQ(out[size_t(i) + 1].get(j), i);
  }
}

TEST(TileRunner, RowsOfTwoDimensions) {
  const Owned p = polynomial();
  constexpr int64_t kRows = 9, kCols = 13;
  std::vector<float> a(kRows * kCols), b(kCols), d(kRows * 20, -1.f);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 6);
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 4);
  const Operand in[] = {{nullptr, 4, ScalarType::Float},
                        {nullptr, 4, ScalarType::Float}};
  const Operand out{nullptr, 4, ScalarType::Float};
  const Uniform u = make_uniform(ComputeType::f32, false, 5.0);
  const Runner runner(p.program, ComputeType::f32, in, &u, &out);
  char* const data[] = {reinterpret_cast<char*>(a.data()),
                        reinterpret_cast<char*>(b.data()),
                        reinterpret_cast<char*>(d.data())};
  const int64_t outer[] = {kCols * 4, 0, 20 * 4};
  runner.run_2d(data, outer, kCols, kRows);
  for (int64_t i = 0; i < kRows; ++i) {
    for (int64_t j = 0; j < 20; ++j) {
      const float x = j < kCols ? a[static_cast<size_t>(i * kCols + j)] : 0;
      const float want =
          j < kCols ? (x + b[static_cast<size_t>(j)] * 5) * x : -1;
      ASSERT_EQ(d[static_cast<size_t>(i * 20 + j)], want);
    }
  }
}

TEST(TileRunner, RowsThatAreOneLongOne) {
  const Owned p = polynomial();
  constexpr int64_t kRows = 41, kCols = 13;
  std::vector<float> a(kRows * kCols), d(a.size() + 1, -1.f);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 6);
  float b = 2;
  const Operand in[] = {{nullptr, 4, ScalarType::Float},
                        {nullptr, 0, ScalarType::Float}};
  const Operand out{nullptr, 4, ScalarType::Float};
  const Uniform u = make_uniform(ComputeType::f32, false, 5.0);
  const Runner runner(p.program, ComputeType::f32, in, &u, &out);
  char* const data[] = {reinterpret_cast<char*>(a.data()),
                        reinterpret_cast<char*>(&b),
                        reinterpret_cast<char*>(d.data())};
  const int64_t outer[] = {kCols * 4, 0, kCols * 4};
  runner.run_2d(data, outer, kCols, kRows);
  for (size_t i = 0; i < a.size(); ++i) ASSERT_EQ(d[i], (a[i] + 10) * a[i]);
  ASSERT_EQ(d[a.size()], -1);
}

template <class T>
void check_transposed(const Owned& p, int64_t rows, int64_t cols,
                      ScalarType dtype, ComputeType compute) {
  std::vector<T> a(static_cast<size_t>(rows * cols)), b(a), d(a);
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<T>(i % 7);
    b[i] = static_cast<T>(i % 5);
  }
  constexpr int64_t kSize = sizeof(T);
  const Operand in[] = {{nullptr, kSize, dtype}, {nullptr, kSize, dtype}};
  const Operand out{nullptr, kSize, dtype};
  const Uniform u = make_uniform(compute, false, int64_t{2});
  const Runner runner(p.program, compute, in, &u, &out);
  char* const data[] = {reinterpret_cast<char*>(a.data()),
                        reinterpret_cast<char*>(b.data()),
                        reinterpret_cast<char*>(d.data())};
  const int64_t inner[] = {kSize, rows * kSize};
  const int64_t outer[] = {cols * kSize, kSize, cols * kSize};
  runner.run_2d_transposed(data, inner, outer, cols, rows, 2);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < cols; ++j) {
      const T x = a[static_cast<size_t>(i * cols + j)];
      const T y = b[static_cast<size_t>(j * rows + i)];
      const T want = p.steps.size() == 1 ? static_cast<T>(x + y)
                                         : static_cast<T>((x + y * 2) * x);
      ASSERT_EQ(d[static_cast<size_t>(i * cols + j)], want)
          << rows << " x " << cols << " at " << i << ", " << j;
    }
  }
}
TEST(TileRunner, TransposedInputs) {
  const Owned sum = make(2, 0, 3, {{Prim::add, 2, 0, 1, 0}}, {{2, false}});
  for (const Owned& p : {sum, polynomial()}) {
    for (int64_t rows : {1, 5, 64, 65, 200}) {
      for (int64_t cols : {1, 3, 128, 129, 300}) {
        check_transposed<float>(p, rows, cols, ScalarType::Float,
                                ComputeType::f32);
        check_transposed<double>(p, rows, cols, ScalarType::Double,
                                 ComputeType::f64);
        check_transposed<int16_t>(p, rows, cols, ScalarType::Short,
                                  ComputeType::i16);
        check_transposed<uint8_t>(p, rows, cols, ScalarType::Byte,
                                  ComputeType::i32);
      }
    }
  }
  // A result so large that it bypasses the caches.
  check_transposed<float>(sum, 1000, 1300, ScalarType::Float, ComputeType::f32);
}

TEST(TileRunner, LargeResultsBypassTheCachesAndAreComplete) {
  const Owned p = make(2, 1, 4, {{Prim::fma, 3, 0, 1, 2}}, {{3, false}});
  const int64_t n = kStreamBytes / 4 + 1237;
  std::vector<float> a(static_cast<size_t>(n) + 3), b(a), d(a);
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<float>(i % 1000);
    b[i] = static_cast<float>(i % 7);
  }
  const Uniform u = make_uniform(ComputeType::f32, false, 0.5);
  for (int64_t stride_b : {4, 0}) {
    const Operand in[] = {{a.data(), 4, ScalarType::Float},
                          {b.data() + 1, stride_b, ScalarType::Float}};
    const Operand out{d.data() + 3, 4, ScalarType::Float};
    run(p.program, ComputeType::f32, in, &u, &out, n);
    for (int64_t i = 0; i < n; ++i) {
      const size_t at = static_cast<size_t>(i);
      const float y = b[stride_b == 0 ? 1 : at + 1];
      ASSERT_EQ(d[at + 3], a[at] * y + 0.5f);
    }
  }
}

TEST(TileRunner, DivisionByZeroRaisesTheFlag) {
  const Owned p =
      make(2, 0, 4, {{Prim::floor_div, 2, 0, 1, 0}, {Prim::neg, 3, 2, 0, 0}},
           {{3, false}});
  int64_t a[] = {7, 8, 9}, b[] = {2, 0, -4}, d[3];
  const Operand in[] = {{a, 8, ScalarType::Long}, {b, 8, ScalarType::Long}};
  const Operand out{d, 8, ScalarType::Long};
  EXPECT_FALSE(take_error());
  run(p.program, ComputeType::i64, in, nullptr, &out, 3);
  EXPECT_TRUE(take_error());
  EXPECT_FALSE(take_error());
  EXPECT_EQ(d[0], -3);
  EXPECT_EQ(d[2], 3);
}

TEST(TileRunner, NothingIsReadOrWrittenForNoElements) {
  const Owned p = polynomial();
  const Operand in[] = {{nullptr, 4, ScalarType::Half},
                        {nullptr, 0, ScalarType::Float}};
  const Operand out{nullptr, 4, ScalarType::Float};
  const Uniform u = make_uniform(ComputeType::f32, false, 1.0);
  run(p.program, ComputeType::f32, in, &u, &out, 0);
  const Owned sum = make(2, 0, 3, {{Prim::add, 2, 0, 1, 0}}, {{2, false}});
  run(sum.program, ComputeType::f32, in, nullptr, &out, 0);
}

TEST(TileRunner, AStepWithoutAKernelIsAnInternalError) {
  const Owned p = make(1, 0, 2, {{Prim::exp, 1, 0, 0, 0}}, {{1, false}});
  int32_t x = 1, y = 0;
  const Operand in{&x, 4, ScalarType::Int};
  const Operand out{&y, 4, ScalarType::Int};
  try {
    run(p.program, ComputeType::i32, &in, nullptr, &out, 1);
    FAIL() << "no error";
  } catch (const InternalError& e) {
    EXPECT_NE(e.message().find("exp has no kernel"), std::string::npos)
        << e.message();
  }
}

TEST(TileRunner, TooManyRegistersAreAnInternalError) {
  const Owned p = make(1, 0, 300, {{Prim::neg, 1, 0, 0, 0}}, {{1, false}});
  const Operand in{nullptr, 8, ScalarType::Float};
  const Operand out{nullptr, 4, ScalarType::Float};
  EXPECT_THROW(run(p.program, ComputeType::f32, &in, nullptr, &out, 2),
               InternalError);
}

TEST(TileUniform, ConvertsToTheComputeType) {
  EXPECT_EQ(make_uniform(ComputeType::f32, false, 1.5).f32, 1.5f);
  EXPECT_EQ(make_uniform(ComputeType::f64, false, int64_t{3}).f64, 3.0);
  EXPECT_EQ(make_uniform(ComputeType::i32, false, -2.7).i32, -2);
  EXPECT_EQ(make_uniform(ComputeType::u8, false, int64_t{257}).u8, 1);
  EXPECT_EQ(make_uniform(ComputeType::i64, false, int64_t{1} << 62).i64,
            int64_t{1} << 62);
  EXPECT_EQ(make_uniform(ComputeType::b8, false, 0.25).u8, 1);
  EXPECT_EQ(make_uniform(ComputeType::f32, true, int64_t{5}).u8, 1);
  EXPECT_EQ(make_uniform(ComputeType::f32, true, 0.0).u8, 0);
}

}  // namespace
}  // namespace sy::cpu::tiles
