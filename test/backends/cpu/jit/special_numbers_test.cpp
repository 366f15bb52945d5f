#include <gtest/gtest.h>

#include <limits>

#include "backends/cpu/jit/store.h"
#include "test/backends/cpu/jit/programs.h"

// Interpreted and compiled programs give the same bits at numbers that are
// special to some primitive. Varies the primitive, the type, which operands are
// elements, single elements or uniforms, and the numbers; never the length, nor
// the dtypes of memory.

namespace sy::test {
namespace {

enum class Kind { kElements, kSingle, kUniform };

bool takes_bool(PrimType t, int operand) {
  using enum PrimType;
  return t == B_B || t == BB_B || ((t == BTT_T || t == B_T) && operand == 0);
}
bool gives_bool(PrimType t) {
  using enum PrimType;
  return t == T_B || t == TT_B || t == B_B || t == BB_B;
}

std::vector<double> numbers_of(ComputeType type) {
  if (type == ComputeType::b8) return {0, 1};
  std::vector<double> out = {0, 1, -1, 2, -2, 3, -3, 7, 31, 63, 64, -64, 100};
  if (!program::is_floating(type)) return out;
  const bool wide = type == ComputeType::f64;
  using F = std::numeric_limits<float>;
  using D = std::numeric_limits<double>;
  const double more[] = {-0.0,
                         0.5,
                         -0.5,
                         1.5,
                         1.0 / 3,
                         1e-3,
                         0.99999994,
                         F::infinity(),
                         -F::infinity(),
                         F::quiet_NaN(),
                         wide ? D::max() : F::max(),
                         wide ? -D::max() : -F::max(),
                         wide ? D::min() : F::min(),
                         wide ? D::denorm_min() : F::denorm_min(),
                         wide ? -D::denorm_min() : -F::denorm_min(),
                         1e30,
                         1e-30,
                         88.7,
                         -745.2};
  out.insert(out.end(), std::begin(more), std::end(more));
  return out;
}

// A primitive of operands of these kinds, and a second step, as one alone needs
// no compiler. Operands that are one number have `one`.
Case case_of(Prim prim, ComputeType type, const std::vector<Kind>& kinds,
             double one) {
  const PrimType t = lang::kPrims[static_cast<int>(prim)].type;
  Case c;
  c.compute = type;
  int64_t combinations = 1;
  std::vector<uint8_t> registers(3, 0);
  for (size_t k = 0; k < kinds.size(); ++k) {
    if (kinds[k] == Kind::kUniform) continue;
    const bool truth = takes_bool(t, static_cast<int>(k));
    const ComputeType own = truth ? ComputeType::b8 : type;
    const ScalarType dtype =
        truth ? ScalarType::Bool : program::storage_of(type);
    const std::vector<double> numbers =
        kinds[k] == Kind::kSingle ? std::vector<double>{one} : numbers_of(own);
    if (truth) c.bool_inputs |= uint64_t{1} << c.inputs.size();
    registers[k] = static_cast<uint8_t>(c.inputs.size());
    c.inputs.push_back({dtype, kinds[k] == Kind::kSingle, {}});
    // Element i has the (i / combinations)-th number: all beside all.
    const size_t size = element_size(dtype);
    // Fewer are never compiled.
    c.n = 8192 + 37;
    for (int64_t i = 0; i < c.n; ++i) {
      const auto at = static_cast<size_t>(i / combinations) % numbers.size();
      const program::Uniform u = program::make_uniform(own, truth, numbers[at]);
      const char* const bytes = reinterpret_cast<const char*>(&u);
      c.inputs.back().bytes.insert(c.inputs.back().bytes.end(), bytes,
                                   bytes + size);
    }
    combinations *= static_cast<int64_t>(numbers.size());
  }
  for (size_t k = 0; k < kinds.size(); ++k) {
    if (kinds[k] != Kind::kUniform) continue;
    const bool truth = takes_bool(t, static_cast<int>(k));
    if (truth) c.bool_uniforms |= uint64_t{1} << c.uniforms.size();
    registers[k] = static_cast<uint8_t>(c.inputs.size() + c.uniforms.size());
    c.uniforms.push_back(
        program::make_uniform(truth ? ComputeType::b8 : type, truth, one));
  }
  const auto a = static_cast<uint8_t>(kinds.size());
  c.registers = a + 2;
  c.steps.push_back({prim, a, registers[0], registers[1], registers[2]});
  const bool truth = gives_bool(t);
  c.steps.push_back({truth ? Prim::logical_or : Prim::copy,
                     static_cast<uint8_t>(a + 1), a, truth ? a : uint8_t{0},
                     0});
  c.results = {{static_cast<uint8_t>(a + 1), truth}};
  c.outputs = {truth ? ScalarType::Bool : program::storage_of(type)};
  return c;
}

// The combinations of kinds of operands; some operands are elements.
std::vector<std::vector<Kind>> kinds_of(int arity) {
  using enum Kind;
  if (arity == 1) return {{kElements}};
  if (arity == 2) {
    return {{kElements, kElements},
            {kElements, kUniform},
            {kUniform, kElements},
            {kElements, kSingle},
            {kSingle, kElements}};
  }
  return {{kElements, kElements, kUniform},
          {kElements, kUniform, kElements},
          {kUniform, kElements, kElements},
          {kElements, kUniform, kUniform}};
}

TEST(SpecialNumbers, AreTheSameInEachPrimitive) {
  ASSERT_EQ(cpu::jit::why_no_compiler(), "");
  cpu::jit::set_store("");
  const int64_t before = cpu::jit::counters().compiled;
  for (int p = 0; p < static_cast<int>(Prim::kCount); ++p) {
    const auto prim = static_cast<Prim>(p);
    const PrimType t = lang::kPrims[p].type;
    for (const ComputeType type : {ComputeType::f32, ComputeType::f64,
                                   ComputeType::i64, ComputeType::b8}) {
      if (cpu::tiles::prim_fn(prim, type) == nullptr) continue;
      for (const auto& kinds : kinds_of(lang::arity(t))) {
        std::vector<double> ones = {0};
        if (kinds[0] != Kind::kElements || kinds.back() != Kind::kElements ||
            kinds[kinds.size() / 2] != Kind::kElements) {
          ones = numbers_of(type);
        }
        const int64_t compiled = cpu::jit::counters().compiled;
        for (const double one : ones) {
          const Case c = case_of(prim, type, kinds, one);
          const auto got = c.run(cpu::jit::Mode::kWait);
          // A primitive that is not compiled calls libm, or has loops.
          if (cpu::jit::counters().compiled == compiled) {
            EXPECT_FALSE(prim == Prim::pow && type == ComputeType::f32);
            break;
          }
          const auto want = c.run(cpu::jit::Mode::kOff);
          cpu::tiles::take_error();
          const int64_t i = first_difference(c.outputs[0], want[0], got[0]);
          ASSERT_EQ(i, -1) << lang::kPrims[p].name << " of type "
                           << static_cast<int>(type) << " by " << one
                           << ", operands " << static_cast<int>(kinds[0]) << " "
                           << static_cast<int>(kinds.back()) << ": element "
                           << i;
        }
      }
    }
  }
  EXPECT_GT(cpu::jit::counters().compiled - before, 400);
}

}  // namespace
}  // namespace sy::test
