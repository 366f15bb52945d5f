#include "lang/program.h"

#include <array>
#include <cstdio>

namespace sy::lang {
namespace {

std::string number_text(const Uniform& u) {
  if (u.is_int) return std::to_string(u.i);
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.17g", u.d);
  return buffer;
}

class Listing {
 public:
  explicit Listing(const Program& p) : p_(p) {}

  std::string run() {
    const std::size_t first_step = p_.scalars.size() + p_.constants.size();
    for (std::size_t i = 0; i < p_.uniform_steps.size(); ++i) {
      const UniformStep& s = p_.uniform_steps[i];
      out_ += uniform(static_cast<int>(first_step + i)) + " = ";
      const std::uint8_t args[] = {s.a, s.b, s.c};
      call(s.op, args, true);
    }
    for (const Step& s : p_.steps) {
      out_ += reg(s.dst) + " = ";
      const std::uint8_t args[] = {s.a, s.b, s.c};
      call(s.op, args, false);
    }
    out_ += "return ";
    for (std::size_t i = 0; i < p_.results.size(); ++i) {
      if (i) out_ += ", ";
      out_ += reg(p_.results[i].reg);
      if (p_.results[i].is_bool) out_ += ": bool";
    }
    return out_;
  }

 private:
  std::string uniform(int i) const {
    const int n = static_cast<int>(p_.scalars.size());
    if (i < n) {
      const ScalarInput& s = p_.scalars[i];
      switch (s.kind) {
        case ScalarInput::Kind::kValue: return s.name;
        case ScalarInput::Kind::kHasValue: return "has(" + s.name + ")";
        case ScalarInput::Kind::kEquals:
          return "(" + s.name + " == '" + s.text + "')";
      }
    }
    i -= n;
    if (i < static_cast<int>(p_.constants.size())) {
      return number_text(p_.constants[i]);
    }
    return "u" + std::to_string(i - static_cast<int>(p_.constants.size()));
  }

  std::string reg(int i) const {
    if (i < p_.first_uniform()) return p_.inputs[i].name;
    if (i < p_.first_temporary()) {
      return uniform(p_.uniforms[i - p_.first_uniform()].reg);
    }
    return "t" + std::to_string(i - p_.first_temporary());
  }

  void call(Prim op, const std::uint8_t (&args)[3], bool on_uniforms) {
    const PrimInfo& info = kPrims[static_cast<int>(op)];
    out_ += info.name;
    out_ += '(';
    for (int i = 0; i < arity(info.type); ++i) {
      if (i) out_ += ", ";
      out_ += on_uniforms ? uniform(args[i]) : reg(args[i]);
    }
    out_ += ")\n";
  }

  const Program& p_;
  std::string out_;
};

}  // namespace

PrimDomain Program::domain() const {
  bool floats = false;
  bool ints = false;
  bool numbers = false;
  for (const Step& s : steps) {
    const PrimDomain d = kPrims[static_cast<int>(s.op)].domain;
    floats |= d == PrimDomain::FLT;
    ints |= d == PrimDomain::INT;
    numbers |= d == PrimDomain::NUM;
  }
  return floats    ? PrimDomain::FLT
         : ints    ? PrimDomain::INT
         : numbers ? PrimDomain::NUM
                   : PrimDomain::ALL;
}

template <class T>
static std::uint64_t bool_mask(const std::vector<T>& list) {
  std::uint64_t mask = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].reg_class == RegClass::kBool) mask |= std::uint64_t{1} << i;
  }
  return mask;
}
std::uint64_t Program::bool_inputs() const { return bool_mask(inputs); }
std::uint64_t Program::bool_uniforms() const { return bool_mask(uniforms); }

std::string to_string(const Program& program) { return Listing(program).run(); }

void eval_uniforms(const Program& program, std::span<const Uniform> scalars,
                   std::span<Uniform> out) {
  std::array<Uniform, 64> inline_registers;
  std::vector<Uniform> heap;
  const std::size_t n = program.scalars.size() + program.constants.size() +
                        program.uniform_steps.size();
  Uniform* r = inline_registers.data();
  if (n > inline_registers.size()) {
    heap.resize(n);
    r = heap.data();
  }
  std::size_t next = 0;
  for (const Uniform& u : scalars) r[next++] = u;
  for (const Uniform& u : program.constants) r[next++] = u;
  for (const UniformStep& s : program.uniform_steps) {
    r[next++] = eval_uniform(s.op, r[s.a], r[s.b], r[s.c]);
  }
  for (std::size_t i = 0; i < program.uniforms.size(); ++i) {
    out[i] = r[program.uniforms[i].reg];
  }
}

std::vector<double> eval(const Program& program, std::span<const double> inputs,
                         std::span<const Uniform> scalars) {
  std::vector<Uniform> uniforms(program.uniforms.size());
  eval_uniforms(program, scalars, uniforms);
  std::vector<double> r(static_cast<std::size_t>(program.n_registers));
  std::size_t next = 0;
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    const bool as_bool = program.inputs[i].reg_class == RegClass::kBool;
    r[next++] = as_bool ? inputs[i] != 0 : inputs[i];
  }
  for (const Uniform& u : uniforms) r[next++] = u.as_double();
  for (const Step& s : program.steps) {
    const bool integer =
        kPrims[static_cast<int>(s.op)].domain == PrimDomain::INT;
    const auto read = [&](std::uint8_t i) {
      return integer ? Uniform::of(static_cast<std::int64_t>(r[i]))
                     : Uniform::of(r[i]);
    };
    r[s.dst] = eval_uniform(s.op, read(s.a), read(s.b), read(s.c)).as_double();
  }
  std::vector<double> out;
  for (const Result& result : program.results) {
    out.push_back(r[result.reg]);
  }
  return out;
}

}  // namespace sy::lang
