#include "codegen/emit/programs.h"

#include <algorithm>

#include "codegen/model_names.h"
#include "lang/cpp_text.h"
#include "lang/format.h"
#include "model/cpp_types.h"

namespace sy::codegen {
namespace {

template <class T, class F>
std::vector<std::string> each(const std::vector<T>& list, F&& f) {
  std::vector<std::string> out;
  for (const T& x : list) out.push_back(f(x));
  return out;
}

std::string_view name_of(lang::Prim op) {
  return lang::kPrims[static_cast<int>(op)].name;
}

std::string step_text(const lang::Step& s) {
  return fmt::format("{{Prim::{}, {}, {}, {}, {}}}", name_of(s.op), s.dst, s.a,
                     s.b, s.c);
}

std::string step_text(const lang::UniformStep& s) {
  return fmt::format("{{Prim::{}, {}, {}, {}}}", name_of(s.op), s.a, s.b, s.c);
}

std::string class_text(lang::RegClass c) {
  return c == lang::RegClass::kBool ? "RegClass::kBool" : "RegClass::kValue";
}

// The name of the array, or "nullptr" if there is nothing in it.
std::string array(Writer& w, const std::string& type, const std::string& name,
                  const std::vector<std::string>& items) {
  if (items.empty()) return "nullptr";
  w.list(fmt::format("constexpr {} {}[] = {{", type, name), items, "};");
  return name;
}

// ".name = value," where it is not what the struct begins with.
class Fields {
 public:
  void add(std::string_view name, const std::string& value) {
    if (value != "nullptr") w_.line("    .{} = {},", name, value);
  }
  void add(std::string_view name, std::uint64_t value) {
    if (value != 0) w_.line("    .{} = {},", name, value);
  }
  const std::string& text() const { return w_.str(); }

 private:
  Writer w_;
};

}  // namespace

std::string uniform_text(Writer& w, const lang::Uniform& u) {
  if (u.is_int) {
    return fmt::format("Uniform::of(int64_t{{{}}})", lang::cpp_int(u.i));
  }
  lang::Headers headers;
  std::string number = lang::cpp_double(u.d, headers);
  w.include_all(headers);
  return fmt::format("Uniform::of({})", number);
}

void emit_program_names(Writer& w) {
  for (const char* name :
       {"Prim", "RegClass", "Uniform", "UniformOperand", "UniformStep"}) {
    w.line("using lang::{};", name);
  }
  w.gap();
}

std::string promote_rule(std::string_view rule) {
  if (rule == "int_to_float") return "PromoteRule::IntToFloat";
  if (rule == "bool_to_int") return "PromoteRule::BoolToInt";
  if (rule == "same") return "PromoteRule::Same";
  return "PromoteRule::Default";
}

std::string emit_steps(Writer& w, const std::string& prefix,
                       const lang::Program& p,
                       const CompiledPrograms& compiled) {
  std::string listing = lang::to_string(p);
  for (std::size_t i = 0; i < listing.size();) {
    const std::size_t end = std::min(listing.find('\n', i), listing.size());
    w.line("//   {}", listing.substr(i, end - i));
    i = end + 1;
  }
  const std::size_t place = compiled.place(p);
  if (place != 0) {
    w.line("//   has the loop of {}", compiled.all()[place - 1].name);
  }
  const auto name = [&](const char* what) {
    return fmt::format("k{}{}", prefix, what);
  };
  const std::string steps =
      array(w, "lang::Step", name("Steps"),
            each(p.steps, [](const lang::Step& s) { return step_text(s); }));
  const std::string results =
      array(w, "lang::Result", name("Results"),
            each(p.results, [](const lang::Result& r) {
              return fmt::format("{{{}, {}}}", r.reg, r.is_bool);
            }));
  Fields body;
  body.add("steps", steps);
  body.add("results", results);
  body.add("bool_inputs", p.bool_inputs());
  body.add("bool_uniforms", p.bool_uniforms());
  body.add("n_steps", p.steps.size());
  body.add("n_registers", static_cast<std::uint64_t>(p.n_registers));
  body.add("n_inputs", p.inputs.size());
  body.add("n_uniforms", p.uniforms.size());
  body.add("n_results", p.results.size());
  body.add("compiled", place);
  return body.text();
}

std::string emit_program(Writer& w, const std::string& prefix,
                         const lang::Program& p,
                         const std::vector<std::string>& indices,
                         const CompiledPrograms& compiled) {
  const std::string body = emit_steps(w, prefix, p, compiled);
  const auto name = [&](const char* what) {
    return fmt::format("k{}{}", prefix, what);
  };
  const auto uniform = [&](const lang::Uniform& u) {
    return uniform_text(w, u);
  };
  const std::string constants =
      array(w, "Uniform", name("Constants"), each(p.constants, uniform));
  const std::string uniform_steps =
      array(w, "UniformStep", name("UniformSteps"),
            each(p.uniform_steps,
                 [](const lang::UniformStep& s) { return step_text(s); }));
  const std::string uniforms =
      array(w, "UniformOperand", name("Uniforms"),
            each(p.uniforms, [](const lang::UniformOperand& u) {
              return fmt::format("{{{}, {}}}", u.reg, class_text(u.reg_class));
            }));
  const std::string index = array(w, "uint8_t", name("ScalarIndex"), indices);

  w.raw("constexpr program::Program {} = {{\n{}}};\n", name("Body"), body);
  Fields all;
  all.add("body", name("Body"));
  all.add("constants", constants);
  all.add("uniform_steps", uniform_steps);
  all.add("uniforms", uniforms);
  all.add("scalar_index", index);
  all.add("n_scalars", p.scalars.size());
  all.add("n_constants", p.constants.size());
  all.add("n_uniform_steps", p.uniform_steps.size());
  w.raw("constexpr ElementProgram {} = {{\n{}}};\n", name("Program"),
        all.text());
  return name("Program");
}

void emit_pointwise_op(Writer& w, const std::string& id,
                       const PointwiseParts& parts,
                       const CompiledPrograms& compiled) {
  const std::string prefix = camel(id);
  std::vector<std::string> inputs, scalars;
  for (const lang::ProgramInput& in : parts.program.inputs) {
    inputs.push_back(lang::cpp_string(in.name));
  }
  for (const lang::ScalarInput& s : parts.program.scalars) {
    scalars.push_back(lang::cpp_string(s.name));
  }
  const std::string input_names =
      array(w, "const char*", fmt::format("k{}Inputs", prefix), inputs);
  const std::string scalar_names =
      array(w, "const char*", fmt::format("k{}Scalars", prefix), scalars);
  const std::string body = emit_program(w, prefix, parts.program, {}, compiled);
  std::string simple = "nullptr", defaults = "nullptr";
  if (parts.at_defaults) {
    simple = "&" + emit_program(w, prefix + "AtDefaults", *parts.at_defaults,
                                {}, compiled);
    defaults = array(w, "Uniform", fmt::format("k{}Defaults", prefix),
                     each(parts.defaults, [&](const lang::Uniform& u) {
                       return uniform_text(w, u);
                     }));
  }
  Fields f;
  f.add("name", lang::cpp_string(parts.name));
  f.add("promote", promote_rule(parts.rule));
  f.add("n_inputs", inputs.size());
  f.add("n_scalars", scalars.size());
  f.add("promote_inputs", parts.promote_inputs);
  f.add("promote_scalars", parts.promote_scalars);
  f.add("whole_scalars", parts.whole_scalars);
  f.add("lower_bounds", parts.lower_bounds);
  f.add("upper_bounds", parts.upper_bounds);
  f.add("input_names", input_names);
  f.add("scalar_names", scalar_names);
  f.add("program", body);
  f.add("at_defaults", simple);
  f.add("defaults", defaults);
  w.raw("const PointwiseOp {} = {{\n{}}};\n", id, f.text());
}

}  // namespace sy::codegen
