#include "model/compiled.h"
#include "codegen/model_names.h"

#include "codegen/emit/common.h"
#include "codegen/emit/emit.h"
#include "codegen/emit/programs.h"
#include "lang/cpp_names.h"

namespace sy::codegen {
namespace {

void head(Writer& w) {
  w.line("// Generated from schemas/ops by sygen. Do not edit.");
}

// The function of one element, with the C++ names of its registers.
class Element {
 public:
  explicit Element(const lang::Program& p) : p_(p) {
    std::set<std::string> taken = {"u", "type", "T", "f", "step"};
    for (const lang::ProgramInput& in : p.inputs) {
      taken.insert(lang::cpp_name(in.name));
      names_.push_back(lang::cpp_name(in.name));
    }
    for (std::size_t i = 0; i < p.uniforms.size(); ++i) {
      names_.push_back(fmt::format("u[{}]", i));
    }
    names_.resize(static_cast<std::size_t>(p.n_registers));
    for (std::size_t i = 0; i + 1 < p.steps.size(); ++i) {
      values_.push_back(lang::fresh_name(fmt::format("t{}", i), taken));
    }
  }

  // "T self, const T* u"
  std::string parameters(std::string_view body) const {
    std::string out;
    for (std::size_t i = 0; i < p_.inputs.size(); ++i) {
      append(out, "{}{}, ",
             uses_name(body, names_[i]) ? "T " : "[[maybe_unused]] T ",
             names_[i]);
    }
    return fmt::format("{}{}const T* u", out,
                       uses_name(body, "u") ? "" : "[[maybe_unused]] ");
  }

  void body(Writer& w) {
    for (std::size_t i = 0; i < p_.steps.size(); ++i) {
      const lang::Step& s = p_.steps[i];
      const std::uint8_t operands[] = {s.a, s.b, s.c};
      std::vector<std::string> args;
      for (int k = 0; k < arity(s); ++k) args.push_back(names_[operands[k]]);
      const std::string call = fmt::format(
          "step<Prim::{}, type>({});",
          lang::kPrims[static_cast<int>(s.op)].name, join(args, ", "));
      if (i + 1 == p_.steps.size()) {
        w.line("    return {}", call);
      } else {
        w.line("    const auto {} = {}", values_[i], call);
        names_[s.dst] = values_[i];
      }
    }
  }

 private:
  const lang::Program& p_;
  std::vector<std::string> names_;   // of registers, as they stand
  std::vector<std::string> values_;  // of steps
};

void loop(Writer& w, const CompiledProgram& c) {
  Element element(c.program);
  Writer body;
  element.body(body);
  w.gap();
  w.line(item_source(*c.op));
  w.lines(R"(struct {} {{
  static constexpr int kInputs = {};
  static constexpr int kUniforms = {};
  template <ComputeType type, class T>
  static HWY_INLINE T f({}) {{
)",
          camel(c.name), c.program.inputs.size(), c.program.uniforms.size(),
          element.parameters(body.str()));
  w.raw(body.str());
  w.raw("  }\n};\n");
}

}  // namespace

std::string emit_compiled_header(const Model& model) {
  const CompiledPrograms compiled(model);
  Writer w;
  head(w);
  w.line("#pragma once");
  w.gap();
  w.include("<cstdint>");
  w.include("aten/program/program.h");
  includes(w, w.headers());
  open_namespace(w, "sy::program");
  w.gap();
  w.line("enum class Compiled : uint8_t {");
  w.line("  none,");
  for (const CompiledProgram& c : compiled.all()) {
    w.line("  {},  // {}", c.name, c.op->source);
  }
  w.line("};");
  w.line("inline constexpr int kNumCompiled = {};", compiled.all().size());
  w.gap();
  w.comment("In that order, from the one behind none.");
  w.line("SY_API extern const Program kCompiled[kNumCompiled];");
  close_namespace(w, "sy::program");
  return w.str();
}

std::string emit_compiled_programs(const Model& model) {
  const CompiledPrograms compiled(model);
  Writer w;
  head(w);
  includes(w, {"aten/program/compiled_gen.h"});
  open_namespace(w, "sy::program");
  open_namespace(w, "");
  w.gap();
  w.line("using lang::Prim;");
  std::vector<std::string> rows;
  for (const CompiledProgram& c : compiled.all()) {
    w.gap();
    w.line(item_source(*c.op));
    rows.push_back(emit_steps(w, camel(c.name), c.program, compiled));
  }
  close_namespace(w, "");
  w.gap();
  w.line("constexpr Program kCompiled[kNumCompiled] = {");
  for (const std::string& row : rows) {
    w.line("    {");
    w.block(row, 4);
    w.line("    },");
  }
  w.line("};");
  close_namespace(w, "sy::program");
  return w.str();
}

std::string emit_compiled_loops(const Model& model) {
  const CompiledPrograms compiled(model);
  Writer w;
  head(w);
  w.comment(
      "The functions of one element of the programs that have loops of their "
      "own. Included for each instruction set by compiled.cpp.");
  for (const CompiledProgram& c : compiled.all()) loop(w, c);
  w.gap();
  w.comment("Calls `each` with each of them, in the order of kCompiled.");
  w.line("template <class Each>");
  w.line("void each_compiled([[maybe_unused]] const Each& each) {");
  for (const CompiledProgram& c : compiled.all()) {
    w.line("  each({}());", camel(c.name));
  }
  w.line("}");
  return w.str();
}

}  // namespace sy::codegen
