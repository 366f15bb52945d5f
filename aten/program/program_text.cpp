#include "aten/program/program.h"
#include "c10/process/error.h"

namespace sy::program {

namespace {

std::string reg(const Program& p, int r) {
  if (r < p.n_inputs) return str("i{}", r);
  if (r < p.n_inputs + p.n_uniforms) return str("u{}", r - p.n_inputs);
  return str("t{}", r - p.n_inputs - p.n_uniforms);
}

}  // namespace

std::string program_text(const Program& p) {
  std::string out;
  for (int i = 0; i < p.n_steps; ++i) {
    const Step& s = p.steps[i];
    const uint8_t operands[] = {s.a, s.b, s.c};
    out += str("{} = {}(", reg(p, s.dst),
               lang::kPrims[static_cast<int>(s.op)].name);
    for (int k = 0; k < lang::arity(s); ++k) {
      out += str("{}{}", k == 0 ? "" : ", ", reg(p, operands[k]));
    }
    out += "); ";
  }
  for (int i = 0; i < p.n_results; ++i) {
    out += str("{}{}", i == 0 ? "" : ", ", reg(p, p.results[i].reg));
  }
  return out;
}

}  // namespace sy::program
