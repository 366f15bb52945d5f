#include "codegen/emit/programs.h"

#include <algorithm>

#include "codegen/cpp_types.h"
#include "codegen/lang/compile.h"
#include "codegen/lang/cpp_text.h"

namespace sy::codegen {
namespace {

std::string number(std::size_t n) { return std::to_string(n); }

template <class T, class F>
std::vector<std::string> each(const std::vector<T>& list, F&& f) {
  std::vector<std::string> out;
  for (const T& x : list) out.push_back(f(x));
  return out;
}

std::string step_text(const lang::Step& s) {
  std::string out = "{Prim::";
  out += lang::kPrims[static_cast<int>(s.op)].name;
  return out + ", " + number(s.dst) + ", " + number(s.a) + ", " + number(s.b) +
         ", " + number(s.c) + "}";
}

std::string step_text(const lang::UniformStep& s) {
  std::string out = "{Prim::";
  out += lang::kPrims[static_cast<int>(s.op)].name;
  return out + ", " + number(s.a) + ", " + number(s.b) + ", " + number(s.c) +
         "}";
}

std::string class_text(lang::RegClass c) {
  return c == lang::RegClass::kBool ? "RegClass::kBool" : "RegClass::kValue";
}

// The name of the array, or "nullptr" if there is nothing in it.
std::string array(Writer& w, const std::string& type, const std::string& name,
                  const std::vector<std::string>& items) {
  if (items.empty()) return "nullptr";
  w.list("constexpr " + type + ' ' + name + "[] = {", items, "};");
  return name;
}

template <class T>
unsigned long long bool_mask(const std::vector<T>& list) {
  unsigned long long mask = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].reg_class == lang::RegClass::kBool) mask |= 1ull << i;
  }
  return mask;
}

// ".name = value," where it is not what the struct begins with.
class Fields {
 public:
  void add(const std::string& name, const std::string& value) {
    if (value == "0" || value == "nullptr") return;
    text_ += wrap("    ." + name + " = " + value + ",") + '\n';
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace

std::string uniform_text(const lang::Uniform& u) {
  if (u.is_int) return "Uniform::of(int64_t{" + lang::cpp_int(u.i) + "})";
  return "Uniform::of(" + lang::cpp_double(u.d) + ")";
}

std::string promote_rule(std::string_view rule) {
  if (rule == "int_to_float") return "PromoteRule::IntToFloat";
  if (rule == "bool_to_int") return "PromoteRule::BoolToInt";
  if (rule == "same") return "PromoteRule::Same";
  return "PromoteRule::Default";
}

std::string emit_program(Writer& w, const std::string& prefix,
                         const lang::Program& p,
                         const std::vector<std::string>& indices) {
  std::string listing = lang::to_string(p);
  for (std::size_t i = 0; i < listing.size();) {
    const std::size_t end = std::min(listing.find('\n', i), listing.size());
    w.line("//   " + listing.substr(i, end - i));
    i = end + 1;
  }
  const auto name = [&](const char* what) { return "k" + prefix + what; };
  const std::string steps =
      array(w, "tile::Step", name("Steps"),
            each(p.steps, [](const lang::Step& s) { return step_text(s); }));
  const std::string results =
      array(w, "tile::Result", name("Results"),
            each(p.results, [](const lang::ProgramResult& r) {
              const bool is_bool = r.reg_class == lang::RegClass::kBool;
              return "{" + number(r.reg) + (is_bool ? ", true}" : ", false}");
            }));
  const std::string constants =
      array(w, "Uniform", name("Constants"), each(p.constants, uniform_text));
  const std::string uniform_steps =
      array(w, "UniformStep", name("UniformSteps"),
            each(p.uniform_steps,
                 [](const lang::UniformStep& s) { return step_text(s); }));
  const std::string uniforms =
      array(w, "UniformOperand", name("Uniforms"),
            each(p.uniforms, [](const lang::UniformOperand& u) {
              return "{" + number(u.reg) + ", " + class_text(u.reg_class) + "}";
            }));
  const std::string index = array(w, "uint8_t", name("ScalarIndex"), indices);

  Fields tile;
  tile.add("steps", steps);
  tile.add("results", results);
  tile.add("bool_inputs", std::to_string(bool_mask(p.inputs)));
  tile.add("bool_uniforms", std::to_string(bool_mask(p.uniforms)));
  tile.add("n_steps", number(p.steps.size()));
  tile.add("n_registers", number(static_cast<std::size_t>(p.n_registers)));
  tile.add("n_inputs", number(p.inputs.size()));
  tile.add("n_uniforms", number(p.uniforms.size()));
  tile.add("n_results", number(p.results.size()));
  w.raw("constexpr tile::Program " + name("Tile") + " = {\n" + tile.text() +
        "};\n");
  Fields all;
  all.add("tile", name("Tile"));
  all.add("constants", constants);
  all.add("uniform_steps", uniform_steps);
  all.add("uniforms", uniforms);
  all.add("scalar_index", index);
  all.add("n_scalars", number(p.scalars.size()));
  all.add("n_constants", number(p.constants.size()));
  all.add("n_uniform_steps", number(p.uniform_steps.size()));
  w.raw("constexpr ElementProgram " + name("Program") + " = {\n" + all.text() +
        "};\n");
  return name("Program");
}

namespace {

// The value of a scalar input when its argument has its default, if it has
// one.
std::optional<lang::Uniform> default_of(const FunctionSchema& schema,
                                        const lang::ScalarInput& s) {
  const int i = schema.argument_index(s.name);
  if (i < 0) return std::nullopt;
  const DefaultValue v = schema.arguments()[i].default_value;
  if (!v) return std::nullopt;
  using Kind = DefaultValue::Kind;
  switch (s.kind) {
    case lang::ScalarInput::Kind::kHasValue:
      return lang::Uniform::of(int64_t{!v.is_none()});
    case lang::ScalarInput::Kind::kEquals:
      return lang::Uniform::of(
          int64_t{v.is(Kind::kString) && v.as_string() == s.text});
    case lang::ScalarInput::Kind::kValue: break;
  }
  switch (v.kind()) {
    case Kind::kBool: return lang::Uniform::of(int64_t{v.as_bool()});
    case Kind::kInt: return lang::Uniform::of(v.as_int());
    case Kind::kDouble: return lang::Uniform::of(v.as_double());
    case Kind::kNone: return lang::Uniform::of(int64_t{0});
    default: return std::nullopt;
  }
}

lang::Expr default_expr(DefaultValue v) {
  using Kind = DefaultValue::Kind;
  switch (v.kind()) {
    case Kind::kBool: return lang::make_bool(v.as_bool());
    case Kind::kInt: return lang::make_int(v.as_int());
    case Kind::kDouble: return lang::make_double(v.as_double());
    case Kind::kString: return lang::make_string(std::string(v.as_string()));
    default: return lang::make_none();
  }
}

// The program with every scalar at its default; nothing if it is no simpler.
std::optional<lang::Program> at_defaults(const FunctionSchema& schema,
                                         const lang::Expr& e,
                                         const lang::ElementEnv& env,
                                         const lang::Program& general) {
  if (general.scalars.empty()) return std::nullopt;
  lang::Bindings bindings;
  for (const lang::ScalarInput& s : general.scalars) {
    if (!default_of(schema, s)) return std::nullopt;
    bindings[s.name] = default_expr(
        schema.arguments()[schema.argument_index(s.name)].default_value);
  }
  lang::Diagnostics diagnostics;
  const lang::Expr results[] = {lang::specialise(e, bindings)};
  auto program = lang::compile_element(results, env, diagnostics);
  if (!program || !program->scalars.empty()) return std::nullopt;
  return program;
}

lang::ElementEnv environment(const lang::Program& program,
                             const FunctionSchema& schema) {
  lang::ElementEnv env = lang::ElementEnv::of(schema);
  // A derivative's operands are other ones.
  std::erase_if(env.names, [](const lang::ElementName& n) {
    return n.kind == lang::ElementKind::kTensor;
  });
  for (const lang::ProgramInput& in : program.inputs) {
    env.names.push_back({in.name, lang::ElementKind::kTensor});
  }
  return env;
}

}  // namespace

void emit_pointwise_op(Writer& w, const PointwiseText& text,
                       const lang::Expr& e, const lang::Program& program) {
  const std::string prefix = camel(text.id);
  const auto promotes = [&](const std::string& name) {
    return std::find(text.promoted.begin(), text.promoted.end(), name) !=
           text.promoted.end();
  };
  unsigned promote_inputs = 0, promote_scalars = 0, whole_scalars = 0;
  unsigned lower_bounds = 0, upper_bounds = 0;
  std::vector<std::string> inputs, scalars, defaults;
  for (const lang::ProgramInput& in : program.inputs) {
    if (promotes(in.name)) promote_inputs |= 1u << inputs.size();
    inputs.push_back(lang::cpp_string(in.name));
  }
  for (const lang::ScalarInput& s : program.scalars) {
    const bool value = s.kind == lang::ScalarInput::Kind::kValue;
    if (value && promotes(s.name)) promote_scalars |= 1u << scalars.size();
    if (value && (s.name == "alpha" || s.name == "beta")) {
      whole_scalars |= 1u << scalars.size();
    }
    if (value && s.name == "min") lower_bounds |= 1u << scalars.size();
    if (value && s.name == "max") upper_bounds |= 1u << scalars.size();
    scalars.push_back(lang::cpp_string(s.name));
    if (const auto v = default_of(*text.schema, s)) {
      defaults.push_back(uniform_text(*v));
    }
  }
  const std::string input_names =
      array(w, "const char*", "k" + prefix + "Inputs", inputs);
  const std::string scalar_names =
      array(w, "const char*", "k" + prefix + "Scalars", scalars);
  const std::string body = emit_program(w, prefix, program, {});
  std::string simple = "nullptr", default_values = "nullptr";
  if (const auto at = at_defaults(
          *text.schema, e, environment(program, *text.schema), program)) {
    simple = "&" + emit_program(w, prefix + "AtDefaults", *at, {});
    default_values = array(w, "Uniform", "k" + prefix + "Defaults", defaults);
  }
  Fields f;
  f.add("name", lang::cpp_string(text.name));
  f.add("promote", promote_rule(text.rule));
  f.add("n_inputs", number(inputs.size()));
  f.add("n_scalars", number(scalars.size()));
  f.add("promote_inputs", std::to_string(promote_inputs));
  f.add("promote_scalars", std::to_string(promote_scalars));
  f.add("whole_scalars", std::to_string(whole_scalars));
  // Hardly any operator has them.
  if (lower_bounds != 0) f.add("lower_bounds", std::to_string(lower_bounds));
  if (upper_bounds != 0) f.add("upper_bounds", std::to_string(upper_bounds));
  f.add("input_names", input_names);
  f.add("scalar_names", scalar_names);
  f.add("program", body);
  f.add("at_defaults", simple);
  f.add("defaults", default_values);
  w.raw(std::string("const PointwiseOp ") + text.id + " = {\n" + f.text() +
        "};\n");
}

}  // namespace sy::codegen
