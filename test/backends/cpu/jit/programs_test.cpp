#include "test/backends/cpu/jit/programs.h"
#include "backends/cpu/jit/store.h"

#include <gtest/gtest.h>

// Compiled programs give what the interpreter gives, bit by bit.

namespace sy::test {
namespace {

constexpr int64_t kElements = 8192 + 37;
const char* const kTypeNames[] = {"f32", "f64", "u8",  "i8",
                                  "i16", "i32", "i64", "b8"};

class Programs : public testing::TestWithParam<cpu::tiles::Isa> {
 protected:
  void SetUp() override {
    before_ = cpu::tiles::active_isa();
    if (!cpu::tiles::set_isa(GetParam())) {
      GTEST_SKIP() << "the CPU has not these instructions";
    }
    ASSERT_EQ(cpu::jit::why_no_compiler(), "");
    cpu::jit::set_store("");
  }
  void TearDown() override { cpu::tiles::set_isa(before_); }

  // Whether it was compiled.
  static bool check(const Case& c, const std::string& what) {
    const int64_t before = cpu::jit::counters().compiled;
    const auto want = c.run(cpu::jit::Mode::kOff);
    const auto got = c.run(cpu::jit::Mode::kWait);
    for (size_t k = 0; k < want.size(); ++k) {
      const int64_t i = first_difference(c.outputs[k], want[k], got[k]);
      EXPECT_EQ(i, -1) << what << ": result " << k << " differs at " << i;
    }
    return cpu::jit::counters().compiled > before;
  }

 private:
  cpu::tiles::Isa before_{};
};

bool takes_bool(PrimType t, int operand) {
  using enum PrimType;
  return t == B_B || t == BB_B || ((t == BTT_T || t == B_T) && operand == 0);
}
bool gives_bool(PrimType t) {
  using enum PrimType;
  return t == T_B || t == TT_B || t == B_B || t == BB_B;
}

// The primitive, and a second step, as one step alone needs no compiler.
Case case_of(Prim prim, ComputeType type) {
  const PrimType t = lang::kPrims[static_cast<int>(prim)].type;
  const int arity = lang::arity(t);
  std::mt19937_64 random(static_cast<uint64_t>(prim) * 8 +
                         static_cast<uint64_t>(type));
  Case c;
  c.compute = type;
  c.n = kElements;
  for (int k = 0; k < arity; ++k) {
    const ScalarType dtype =
        takes_bool(t, k) ? ScalarType::Bool : program::storage_of(type);
    if (takes_bool(t, k)) c.bool_inputs |= uint64_t{1} << k;
    c.inputs.push_back({dtype, false, random_bytes(random, dtype, c.n)});
  }
  const auto a = static_cast<uint8_t>(arity);
  c.registers = arity + 2;
  c.steps.push_back({prim, a, 0, static_cast<uint8_t>(arity > 1),
                     static_cast<uint8_t>(arity > 2 ? 2 : 0)});
  const bool truth = gives_bool(t);
  c.steps.push_back({truth ? Prim::logical_or : Prim::copy,
                     static_cast<uint8_t>(a + 1), a, truth ? a : uint8_t{0},
                     0});
  c.results = {{static_cast<uint8_t>(a + 1), truth}};
  c.outputs = {truth ? ScalarType::Bool : program::storage_of(type)};
  return c;
}

TEST_P(Programs, EachPrimitiveOfEachType) {
  int compiled = 0, there = 0;
  std::string left;
  for (int p = 0; p < static_cast<int>(Prim::kCount); ++p) {
    const auto prim = static_cast<Prim>(p);
    for (int t = 0; t < program::kNumComputeTypes; ++t) {
      const auto type = static_cast<ComputeType>(t);
      if (cpu::tiles::prim_fn(prim, type) == nullptr) continue;
      ++there;
      const std::string name =
          std::string(lang::kPrims[p].name) + "." + kTypeNames[t];
      const bool ok = check(case_of(prim, type), name);
      cpu::tiles::take_error();
      compiled += ok;
      if (!ok && type == ComputeType::f32) left += " " + name;
    }
  }
  // The others call libm, or have loops.
  EXPECT_GT(compiled, 340) << "of " << there;
  for (const char* const name :
       {" exp.", " tanh.", " erf.", " log1p.", " sigmoid.", " div.", " fma.",
        " select.", " sin.", " cos.", " tan.", " log2.", " pow.", " fmod.",
        " remainder.", " floor_div."}) {
    EXPECT_EQ(left.find(name), std::string::npos) << left;
  }
}

// Everyday numbers but for one at each of these places, which only slow code
// computes.
Case case_with(Prim prim, ComputeType type, const std::vector<int64_t>& places,
               bool in_place, bool single) {
  Case c = case_of(prim, type);
  const ScalarType dtype = program::storage_of(type);
  const auto size = static_cast<int64_t>(element_size(dtype));
  const auto set = [&](size_t input, int64_t i, double x) {
    const program::Uniform u = program::make_uniform(type, false, x);
    std::memcpy(c.inputs[input].bytes.data() + i * size, &u,
                static_cast<size_t>(size));
  };
  const bool divides = c.inputs.size() == 2;
  for (size_t k = 0; k < c.inputs.size(); ++k) {
    for (int64_t i = 0; i < c.n; ++i) {
      set(k, i, static_cast<double>(i % 97 + 1));
    }
  }
  const size_t odd = divides ? 1 : 0;
  for (const int64_t i : places) set(odd, i, divides ? 0 : 1e12);
  if (single) c.inputs[0].is_single = true;
  if (in_place) c.overlay = {0};
  return c;
}

TEST_P(Programs, StopAtNumbersThatNeedSlowCode) {
  std::vector<int64_t> many, dense;
  for (int64_t i = 0; i < kElements; i += 100) many.push_back(i);
  for (int64_t i = 3000; i < kElements; ++i) dense.push_back(i);
  const std::pair<Prim, ComputeType> kinds[] = {
      {Prim::sin, ComputeType::f32},       {Prim::cos, ComputeType::f64},
      {Prim::remainder, ComputeType::f32}, {Prim::fmod, ComputeType::f64},
      {Prim::floor_div, ComputeType::i32}, {Prim::fmod, ComputeType::i64},
      {Prim::trunc_div, ComputeType::u8},
  };
  for (const auto& [prim, type] : kinds) {
    const int arity = lang::arity(lang::kPrims[static_cast<int>(prim)].type);
    for (const auto& places : std::vector<std::vector<int64_t>>{
             {}, {0}, {kElements - 1}, {4096}, many, dense}) {
      for (const bool in_place : {false, true}) {
        for (const bool single : {false, true}) {
          if (single && arity == 1) continue;
          const Case c = case_with(prim, type, places, in_place, single);
          const std::string what =
              str("{}.{}, {} places", lang::kPrims[static_cast<int>(prim)].name,
                  kTypeNames[static_cast<int>(type)], places.size());
          cpu::tiles::take_error();
          const auto want = c.run(cpu::jit::Mode::kOff);
          const bool failed = cpu::tiles::take_error();
          const auto got = c.run(cpu::jit::Mode::kWait);
          EXPECT_EQ(cpu::tiles::take_error(), failed) << what;
          EXPECT_EQ(failed, !program::is_floating(type) && !places.empty())
              << what;
          EXPECT_EQ(first_difference(c.outputs[0], want[0], got[0]), -1)
              << what;
        }
      }
    }
  }
}

constexpr ScalarType kDtypes[] = {ScalarType::Bool,  ScalarType::Byte,
                                  ScalarType::Char,  ScalarType::Short,
                                  ScalarType::Int,   ScalarType::Long,
                                  ScalarType::Half,  ScalarType::BFloat16,
                                  ScalarType::Float, ScalarType::Double};

TEST_P(Programs, OperandsOfEachDtype) {
  std::mt19937_64 random(7);
  int compiled = 0;
  for (const ComputeType type : {ComputeType::f32, ComputeType::f64,
                                 ComputeType::i32, ComputeType::i64}) {
    for (const ScalarType from : kDtypes) {
      for (const ScalarType to : kDtypes) {
        Case c;
        c.compute = type;
        c.n = kElements;
        c.inputs.push_back({from, false, random_bytes(random, from, c.n)});
        c.registers = 3;
        c.steps = {{Prim::add, 1, 0, 0, 0}, {Prim::sub, 2, 1, 0, 0}};
        c.results = {{2, false}};
        c.outputs = {to};
        compiled += check(
            c, str("{} {} {}", kTypeNames[static_cast<int>(type)], from, to));
      }
    }
  }
  EXPECT_GT(compiled, 240);
}

Case random_case(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](uint64_t n) { return random() % n; };
  constexpr Prim kSome[] = {Prim::add, Prim::sub,    Prim::mul,  Prim::maximum,
                            Prim::neg, Prim::abs,    Prim::fma,  Prim::tanh,
                            Prim::exp, Prim::square, Prim::sqrt, Prim::minimum};
  Case c;
  c.compute = below(4) == 0 ? ComputeType::f64 : ComputeType::f32;
  c.n = static_cast<int64_t>(3000 + below(9000));
  const ScalarType natural = program::storage_of(c.compute);
  const int inputs = 1 + static_cast<int>(below(4));
  for (int k = 0; k < inputs; ++k) {
    const bool other = c.compute == ComputeType::f32 && below(4) == 0;
    const ScalarType dtype = !other          ? natural
                             : below(2) == 0 ? ScalarType::Half
                                             : ScalarType::BFloat16;
    const bool single = k > 0 && below(4) == 0;
    c.inputs.push_back(
        {dtype, single, random_bytes(random, dtype, single ? 1 : c.n)});
  }
  const int uniforms = static_cast<int>(below(3));
  for (int u = 0; u < uniforms; ++u) {
    program::Uniform x{};
    if (c.compute == ComputeType::f32) {
      x.f32 = static_cast<float>(below(100)) / 10;
    } else {
      x.f64 = static_cast<double>(below(100)) / 10;
    }
    c.uniforms.push_back(x);
  }
  const int fixed = inputs + uniforms, steps = 6 + static_cast<int>(below(30));
  // Registers are written again, as a fuser does.
  const int own = 2 + static_cast<int>(below(12));
  c.registers = fixed + own;
  std::vector<uint8_t> ready;
  for (int r = 0; r < fixed; ++r) ready.push_back(static_cast<uint8_t>(r));
  for (int s = 0; s < steps; ++s) {
    const auto pick = [&] { return ready[below(ready.size())]; };
    const auto dst = static_cast<uint8_t>(
        fixed + (s < own ? s : static_cast<int>(below(uint64_t(own)))));
    c.steps.push_back(
        {kSome[below(std::size(kSome))], dst, pick(), pick(), pick()});
    if (s < own) ready.push_back(dst);
  }
  const int results = 1 + static_cast<int>(below(3));
  for (int k = 0; k < results; ++k) {
    const auto r = static_cast<uint8_t>(
        fixed + static_cast<int>(below(uint64_t(std::min(own, steps)))));
    c.results.push_back({r, false});
    c.outputs.push_back(natural);
    const bool over = k < inputs && !c.inputs[size_t(k)].is_single &&
                      c.inputs[size_t(k)].dtype == natural && below(2) == 0;
    c.overlay.push_back(over ? k : -1);
  }
  return c;
}

TEST_P(Programs, OfManySteps) {
  int compiled = 0;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    compiled += check(random_case(seed), str("seed {}", seed));
    if (HasFailure()) return;
  }
  EXPECT_EQ(compiled, 150);
}

INSTANTIATE_TEST_SUITE_P(Isa, Programs,
                         testing::Values(cpu::tiles::Isa::avx2,
                                         cpu::tiles::Isa::avx512),
                         [](const auto& isa) {
                           return isa.param == cpu::tiles::Isa::avx2 ? "avx2"
                                                                     : "avx512";
                         });

}  // namespace
}  // namespace sy::test
