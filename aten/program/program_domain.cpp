#include "aten/program/program_domain.h"

namespace sy {

const char* missed_domain(const program::Program& program,
                          ScalarType t) noexcept {
  for (int i = 0; i < program.n_steps; ++i) {
    const auto prim = static_cast<size_t>(program.steps[i].op);
    switch (lang::kPrims[prim].domain) {
      case lang::PrimDomain::ALL: break;
      case lang::PrimDomain::NUM:
        if (t == kBool) return "a dtype other than bool";
        break;
      case lang::PrimDomain::INT:
        if (!is_integral_type(t, true)) return "an integer or bool dtype";
        break;
      case lang::PrimDomain::FLT:
        if (!is_floating_type(t)) return "a floating dtype";
        break;
    }
  }
  return nullptr;
}

}  // namespace sy
