#include "backends/cpu/region/fuser.h"

#include <algorithm>

#include "c10/process/error.h"

namespace sy::cpu {

using lang::Prim;

bool Fuser::fits(const Part& part) const {
  const program::Program& p = *part.body;
  // Every input may need a conversion of its own.
  return nodes_.size() + p.n_steps + p.n_inputs <= kMaxSteps &&
         inputs_.size() + p.n_inputs <= program::kMaxInputs &&
         uniforms_.size() + p.n_uniforms <= program::kMaxUniforms;
}

const Fuser::Made* Fuser::find(int value) const {
  for (const Made& m : made_) {
    if (m.value == value) return &m;
  }
  return nullptr;
}

Fuser::Ref Fuser::step(Prim op, const Ref* operands, int n) {
  Node node{op, {}, n};
  std::copy_n(operands, n, node.operands);
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].op == op && nodes_[i].n == n &&
        std::equal(operands, operands + n, nodes_[i].operands)) {
      return {Ref::kStep, static_cast<int>(i)};
    }
  }
  nodes_.push_back(node);
  return {Ref::kStep, static_cast<int>(nodes_.size()) - 1};
}

Fuser::Ref Fuser::read(int value, bool as_bool) {
  if (const Made* const m = find(value)) {
    if (m->is_bool == as_bool) return m->ref;
    const Ref from = m->ref;
    return step(as_bool ? Prim::truth : Prim::from_bool, &from, 1);
  }
  const Input input{value, as_bool};
  auto at = std::find(inputs_.begin(), inputs_.end(), input);
  if (at == inputs_.end()) at = inputs_.insert(inputs_.end(), input);
  return {Ref::kInput, static_cast<int>(at - inputs_.begin())};
}

void Fuser::add(const Part& part) {
  const program::Program& p = *part.body;
  std::vector<Ref> registers(p.n_registers, Ref{Ref::kInput, 0});
  for (int i = 0; i < p.n_inputs; ++i) {
    registers[static_cast<size_t>(i)] =
        read(part.inputs[i], p.bool_inputs >> i & 1);
  }
  for (int i = 0; i < p.n_uniforms; ++i) {
    registers[static_cast<size_t>(p.n_inputs + i)] = {
        Ref::kUniform, static_cast<int>(uniforms_.size())};
    uniforms_.push_back(part.first_uniform + i);
    bool_uniforms_.push_back(p.bool_uniforms >> i & 1);
  }
  for (int i = 0; i < p.n_steps; ++i) {
    const program::Step& s = p.steps[i];
    const uint8_t regs[] = {s.a, s.b, s.c};
    Ref operands[3];
    const int n = lang::arity(s);
    for (int k = 0; k < n; ++k) operands[k] = registers[regs[k]];
    registers[s.dst] = step(s.op, operands, n);
  }
  for (int i = 0; i < p.n_results; ++i) {
    made_.push_back(
        {part.results[i], registers[p.results[i].reg], p.results[i].is_bool});
  }
}

FusedProgram Fuser::finish(const std::vector<int>& results) {
  const auto n = static_cast<int>(nodes_.size());
  // The last node that reads a node's value; n: it is a result; -1: none.
  std::vector<int> last_use(nodes_.size(), -1);
  for (const int value : results) {
    const Made* const m = find(value);
    SY_INTERNAL_ASSERT(m != nullptr);
    if (m->ref.kind == Ref::kStep) {
      last_use[static_cast<size_t>(m->ref.index)] = n;
    }
  }
  for (int i = n - 1; i >= 0; --i) {
    const auto at = static_cast<size_t>(i);
    if (last_use[at] < 0) continue;
    for (int k = 0; k < nodes_[at].n; ++k) {
      const Ref& r = nodes_[at].operands[k];
      if (r.kind != Ref::kStep) continue;
      int& use = last_use[static_cast<size_t>(r.index)];
      use = std::max(use, i);
    }
  }

  FusedProgram out;
  program::Program& p = out.program;
  p.n_inputs = static_cast<uint8_t>(inputs_.size());
  p.n_uniforms = static_cast<uint8_t>(uniforms_.size());
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].is_bool) p.bool_inputs |= uint64_t{1} << i;
  }
  for (size_t i = 0; i < uniforms_.size(); ++i) {
    if (bool_uniforms_[i]) p.bool_uniforms |= uint64_t{1} << i;
  }
  const int fixed = p.n_inputs + p.n_uniforms;
  p.n_registers = static_cast<uint16_t>(fixed);
  // Registers that are free are taken again, none that the step itself reads:
  // a bool's byte lies elsewhere than a number.
  std::vector<bool> taken;
  std::vector<uint8_t> register_of(nodes_.size());
  const auto reg = [&](const Ref& r) {
    switch (r.kind) {
      case Ref::kInput: return static_cast<uint8_t>(r.index);
      case Ref::kUniform: return static_cast<uint8_t>(p.n_inputs + r.index);
      default: return register_of[static_cast<size_t>(r.index)];
    }
  };
  for (int i = 0; i < n; ++i) {
    const auto at = static_cast<size_t>(i);
    if (last_use[at] < 0) continue;
    size_t free = 0;
    while (free < taken.size() && taken[free]) ++free;
    if (free == taken.size()) taken.push_back(true);
    taken[free] = true;
    SY_INTERNAL_ASSERT(fixed + static_cast<int>(free) < program::kMaxRegisters);
    register_of[at] = static_cast<uint8_t>(fixed + static_cast<int>(free));
    program::Step s{nodes_[at].op, register_of[at]};
    uint8_t* const operands[] = {&s.a, &s.b, &s.c};
    for (int k = 0; k < nodes_[at].n; ++k) {
      const Ref& r = nodes_[at].operands[k];
      *operands[k] = reg(r);
    }
    for (int k = 0; k < nodes_[at].n; ++k) {
      const Ref& r = nodes_[at].operands[k];
      if (r.kind == Ref::kStep && last_use[static_cast<size_t>(r.index)] == i) {
        taken[static_cast<size_t>(reg(r) - fixed)] = false;
      }
    }
    out.steps.push_back(s);
  }
  p.n_registers = static_cast<uint16_t>(fixed + static_cast<int>(taken.size()));
  for (const int value : results) {
    const Made* const m = find(value);
    out.results.push_back({reg(m->ref), m->is_bool});
  }
  p.n_steps = static_cast<uint16_t>(out.steps.size());
  p.n_results = static_cast<uint8_t>(out.results.size());
  p.steps = out.steps.data();
  p.results = out.results.data();
  return out;
}

}  // namespace sy::cpu
