#include "model/compiled.h"

#include <algorithm>
#include <map>

#include "lang/format.h"
#include "model/programs.h"

namespace sy::model {
namespace {

using lang::OperatorKind;
using lang::Prim;

constexpr std::size_t kMaxSteps = 8;
constexpr std::size_t kMaxInputs = 2;
constexpr std::size_t kMaxUniforms = 8;

// An instruction or a few, without cases that are slower.
constexpr Prim kCheap[] = {
    Prim::neg,        Prim::abs,      Prim::sign,        Prim::square,
    Prim::reciprocal, Prim::sqrt,     Prim::rsqrt,       Prim::floor,
    Prim::ceil,       Prim::round,    Prim::trunc,       Prim::frac,
    Prim::add,        Prim::sub,      Prim::mul,         Prim::div,
    Prim::trunc_div,  Prim::copysign, Prim::maximum,     Prim::minimum,
    Prim::fmax,       Prim::fmin,     Prim::fma,         Prim::clamp,
    Prim::lerp,       Prim::eq,       Prim::ne,          Prim::lt,
    Prim::le,         Prim::gt,       Prim::ge,          Prim::isnan,
    Prim::isinf,      Prim::isfinite, Prim::signbit,     Prim::truth,
    Prim::logical_or, Prim::select,   Prim::logical_and, Prim::logical_not,
    Prim::logical_xor};

bool is_cheap(Prim p) {
  return std::find(std::begin(kCheap), std::end(kCheap), p) != std::end(kCheap);
}

// An entry's program that may be compiled.
lang::Program program_of(const Operator& op) {
  return op.kind() == OperatorKind::kReduce ? reduce_parts(op).map
                                            : pointwise_program(op);
}

bool same(const lang::Program& a, const lang::Program& b) {
  return a.steps == b.steps && a.results == b.results &&
         a.inputs.size() == b.inputs.size() &&
         a.uniforms.size() == b.uniforms.size() &&
         a.bool_inputs() == b.bool_inputs() &&
         a.bool_uniforms() == b.bool_uniforms();
}

std::string at_most(std::size_t most, const char* what, std::size_t got) {
  return fmt::format("its program has {} {}, and a loop of its own at most {}",
                     got, what, most);
}

std::optional<std::string> unfit(const lang::Program& p) {
  if (p.results.size() != 1) return at_most(1, "results", p.results.size());
  if (p.steps.size() < 2) {
    return "its program has one step, which is a loop already";
  }
  if (p.steps.size() > kMaxSteps) {
    return at_most(kMaxSteps, "steps", p.steps.size());
  }
  if (p.inputs.empty() || p.inputs.size() > kMaxInputs) {
    return at_most(kMaxInputs, "tensor operands", p.inputs.size());
  }
  if (p.uniforms.size() > kMaxUniforms) {
    return at_most(kMaxUniforms, "numbers", p.uniforms.size());
  }
  if (p.bool_inputs() != 0 || p.bool_uniforms() != 0 || p.results[0].is_bool) {
    return "its program takes or gives bools, and a loop of its own numbers";
  }
  if (p.results[0].reg != p.steps.back().dst) {
    return "its result is not that of its last step";
  }
  for (const lang::Step& s : p.steps) {
    if (is_cheap(s.op)) continue;
    const lang::PrimInfo& info = lang::kPrims[static_cast<int>(s.op)];
    return fmt::format("the primitive '{}' is not one of a few instructions",
                       info.name);
  }
  return std::nullopt;
}

}  // namespace

CompiledPrograms::CompiledPrograms(const Model& model) {
  std::map<std::string_view, const Family*> sorted;
  for (const Family& f : model.families()) {
    if (!f.is_own()) sorted.emplace(f.name, &f);
  }
  for (const auto& [name, family] : sorted) {
    for (const Operator& op : family->operators) {
      if (!op.entry->compiled || not_compiled(op)) continue;
      CompiledProgram c{op.base.id, &op, program_of(op)};
      if (op.kind() == OperatorKind::kReduce) c.name += "_map";
      if (place(c.program) == 0) all_.push_back(std::move(c));
    }
  }
}

std::size_t CompiledPrograms::place(const lang::Program& program) const {
  const auto it = std::find_if(
      all_.begin(), all_.end(),
      [&](const CompiledProgram& c) { return same(c.program, program); });
  return it == all_.end() ? 0 : static_cast<std::size_t>(it - all_.begin()) + 1;
}

std::optional<std::string> not_compiled(const Operator& op) {
  if (op.kind() != OperatorKind::kPointwise &&
      op.kind() != OperatorKind::kReduce) {
    return "it is for 'pointwise:' and the map of 'reduce:'";
  }
  return unfit(program_of(op));
}

}  // namespace sy::model
