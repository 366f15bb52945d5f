#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "aten/backend/node.h"
#include "aten/operators.h"
#include "aten/program/program_domain.h"
#include "backends/cpu/jit/store.h"
#include "test/backends/cpu/jit/programs.h"

// The programs of all pointwise operators: interpreted step by step, by their
// loops where they have some, and compiled, with the same bits at special
// numbers. Varies the operator, float32 and float64, and the numbers, which all
// uniforms share; never the length.

namespace sy::test {
namespace {

std::vector<double> numbers_of(ComputeType type) {
  const bool wide = type == ComputeType::f64;
  using F = std::numeric_limits<float>;
  using D = std::numeric_limits<double>;
  return {0,
          -0.0,
          1,
          -1,
          0.5,
          -0.5,
          2,
          3,
          -2,
          0.75,
          F::infinity(),
          -F::infinity(),
          F::quiet_NaN(),
          wide ? D::max() : F::max(),
          wide ? D::denorm_min() : F::denorm_min(),
          -1e-30};
}

// The program with inputs of all numbers beside all, and uniforms of `one`.
// `copied`: with one more step for each result, so that it is no program of the
// library.
Case case_of(const program::Program& p, ComputeType type, double one,
             bool copied) {
  Case c;
  c.compute = type;
  c.steps.assign(p.steps, p.steps + p.n_steps);
  c.results.assign(p.results, p.results + p.n_results);
  c.bool_inputs = p.bool_inputs;
  c.bool_uniforms = p.bool_uniforms;
  c.registers = p.n_registers;
  c.n = 16384 + 5;  // fewer are not compiled
  const std::vector<double> numbers = numbers_of(type);
  int64_t apart = 1;
  for (int k = 0; k < p.n_inputs; ++k) {
    const bool truth = (p.bool_inputs >> k & 1) != 0;
    const ScalarType dtype =
        truth ? ScalarType::Bool : program::storage_of(type);
    c.inputs.push_back({dtype, false, {}});
    std::vector<char>& to = c.inputs.back().bytes;
    for (int64_t i = 0; i < c.n; ++i) {
      const auto at = static_cast<size_t>(i / apart) % numbers.size();
      const program::Uniform u = program::make_uniform(
          truth ? ComputeType::b8 : type, truth, numbers[at]);
      const char* const bytes = reinterpret_cast<const char*>(&u);
      to.insert(to.end(), bytes, bytes + element_size(dtype));
    }
    apart *= k < 2 ? static_cast<int64_t>(numbers.size()) : 2;
  }
  for (int u = 0; u < p.n_uniforms; ++u) {
    const bool truth = (p.bool_uniforms >> u & 1) != 0;
    c.uniforms.push_back(
        program::make_uniform(truth ? ComputeType::b8 : type, truth, one));
  }
  for (program::Result& r : c.results) {
    c.outputs.push_back(r.is_bool ? ScalarType::Bool
                                  : program::storage_of(type));
    if (!copied) continue;
    const auto to = static_cast<uint8_t>(c.registers++);
    c.steps.push_back({r.is_bool ? Prim::logical_or : Prim::copy, to, r.reg,
                       r.is_bool ? r.reg : uint8_t{0}, 0});
    r.reg = to;
  }
  return c;
}

// How many programs were compiled.
void compare(const char* name, const ElementProgram& program) {
  const program::Program& p = program.body;
  if (p.n_inputs == 0 || p.n_registers + p.n_results > 255) return;
  for (const ComputeType type : {ComputeType::f32, ComputeType::f64}) {
    if (missed_domain(p, program::storage_of(type)) != nullptr) continue;
    for (const double one :
         p.n_uniforms == 0 ? std::vector<double>{0} : numbers_of(type)) {
      const Case own = case_of(p, type, one, false);
      const Case copied = case_of(p, type, one, true);
      const auto want = copied.run(cpu::jit::Mode::kOff);
      const auto by_loop = own.run(cpu::jit::Mode::kOff);
      const auto compiled = copied.run(cpu::jit::Mode::kWait);
      cpu::tiles::take_error();
      for (size_t k = 0; k < want.size(); ++k) {
        const ScalarType dtype = own.outputs[k];
        EXPECT_EQ(first_difference(dtype, want[k], by_loop[k]), -1)
            << name << " by its loop, uniforms " << one;
        EXPECT_EQ(first_difference(dtype, want[k], compiled[k]), -1)
            << name << " compiled, uniforms " << one;
      }
    }
  }
}

TEST(JitOperators, GiveTheSameBitsByEachEngine) {
  init();
  ASSERT_EQ(cpu::jit::why_no_compiler(), "");
  cpu::jit::set_store("");
  const int64_t before = cpu::jit::counters().compiled;
  std::set<const PointwiseOp*> seen;
  for (const OperatorHandle op : Dispatcher::singleton().operators()) {
    const NodeDesc* const node = node_desc(op.entry());
    if (node == nullptr || node->pointwise == nullptr) continue;
    const PointwiseOp& p = *node->pointwise;
    if (!seen.insert(&p).second) continue;
    compare(p.name, p.program);
    if (p.at_defaults != nullptr) compare(p.name, *p.at_defaults);
  }
  EXPECT_GT(seen.size(), 200u);
  EXPECT_GT(cpu::jit::counters().compiled - before, 250);
}

}  // namespace
}  // namespace sy::test
