#include "codegen/emit/common.h"

#include <algorithm>
#include <cctype>

#include "codegen/model_names.h"
#include "lang/compile.h"
#include "lang/cpp_names.h"
#include "lang/cpp_text.h"
#include "model/cpp_types.h"
#include "model/foreach.h"
#include "model/form_plan.h"
#include "model/functional_form.h"
#include "model/programs.h"

namespace sy::codegen {

using lang::OperatorKind;

std::string local(const Operator& op, std::string_view wanted) {
  std::set<std::string> taken;
  for (const Overload* o : op.overloads()) {
    for (std::string& name : parameter_names(o->schema)) {
      taken.insert(std::move(name));
    }
  }
  if (op.entry->composite) {
    lang::add_bound_names(op.entry->composite->expr, taken);
  }
  return lang::fresh_name(std::string(wanted), taken);
}

std::string callee(const Operator& op, std::string_view ns,
                   std::string_view name) {
  const bool hidden = op.base.schema.argument_index(name) >= 0;
  return (hidden ? fmt::format("{}::", ns) : "") + std::string(name);
}

std::string banner(std::string_view path) {
  return fmt::format("// Generated from {} by sygen. Do not edit.\n", path);
}

std::string banner(const Family& family) { return banner(family.path); }

std::string in_folder(const Backend& backend, const std::string& file) {
  return backend.folder.empty() ? file
                                : fmt::format("{}/{}", backend.folder, file);
}

std::string item_source(const Operator& op) { return "// " + op.source; }

std::string api_namespace(const Family& family) {
  return family.is_own() ? "sy::" + family.ns : "sy";
}

void open_namespace(Writer& w, std::string_view name) {
  w.gap();
  w.line(name.empty() ? "namespace {" : fmt::format("namespace {} {{", name));
}

void close_namespace(Writer& w, std::string_view name) {
  w.gap();
  w.line(name.empty() ? "}  // namespace"
                      : fmt::format("}}  // namespace {}", name));
}

void includes(Writer& w, const std::set<std::string>& headers) {
  bool standard = false;                  // the last line
  for (const std::string& h : headers) {  // '<' comes before letters
    if (standard && !h.starts_with('<')) w.gap();
    standard = h.starts_with('<');
    w.line("#include {}", standard ? h : fmt::format(R"("{}")", h));
  }
}

std::set<std::string> roots_of(const std::set<std::string>& operators) {
  std::set<std::string> out;
  for (const std::string& o : operators) out.insert(o.substr(0, o.find('.')));
  return out;
}

void include_operators(Writer& w, const Model& model,
                       const std::set<std::string>& operators) {
  const auto roots = roots_of(operators);
  const std::vector<std::string> names(roots.begin(), roots.end());
  for (const std::string& family : model.families_of(names)) {
    w.include(fmt::format("aten/ops/{}.h", family));
  }
}

std::string camel(std::string_view id) {
  std::string out;
  bool up = true;
  for (const char c : id) {
    if (c == '_') {
      up = true;
      continue;
    }
    out +=
        up ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    up = false;
  }
  return out;
}

std::string parameter_list(const FunctionSchema& s) {
  return join(parameters(s), ", ");
}

bool uses_name(std::string_view code, std::string_view name) {
  const auto is_word = [&](std::size_t i) {
    return i < code.size() &&
           (std::isalnum(static_cast<unsigned char>(code[i])) != 0 ||
            code[i] == '_');
  };
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (code[i] == '"') {  // the text of a message
      for (++i; i < code.size() && code[i] != '"'; ++i) i += code[i] == '\\';
      continue;
    }
    if (!is_word(i)) continue;
    const std::size_t start = i;
    while (is_word(i)) ++i;
    const bool is_member =
        start > 0 && (code[start - 1] == '.' || code[start - 1] == ':');
    if (!is_member && code.substr(start, i - start) == name) return true;
    --i;
  }
  return false;
}

void define(Writer& w, const std::string& head, const lang::IndexCode& code) {
  w.include_all(code.headers);
  std::string value = code.value;
  if (code.type == lang::IndexType::kList && !code.is_dims) {
    value = fmt::format("Dims({})", value);
  }
  if (code.statements.empty()) return w.line("  {} = {};", head, value);
  w.line("  {} = [&] {{", head);
  for (const std::string& s : code.statements) w.block(s, 4);
  w.line("    return {};", value);
  w.line("  }();");
}

std::string parameter_list(const FunctionSchema& s, std::string_view body) {
  std::vector<std::string> out;
  for (const Argument& a : s.arguments()) {
    const bool used = uses_name(body, parameter_name(a));
    out.push_back((used ? "" : "[[maybe_unused]] ") + parameter(a));
  }
  return join(out, ", ");
}

std::string argument_list(const FunctionSchema& s) {
  return join(parameter_names(s), ", ");
}

void function_head(Writer& w, const Overload& o, std::string_view suffix) {
  w.line("{} {}{}({}) {{", return_type(o.schema), o.id, suffix,
         parameter_list(o.schema));
}

std::string entry_of(const Overload& o) {
  return fmt::format("ops::{}::entry()", o.id);
}

std::string family_header(const Operator& op, std::string_view suffix) {
  return fmt::format("aten/ops/{}{}", op.family, suffix);
}

std::string descriptor(const Operator& op) { return "desc::" + op.base.id; }

std::string contract_call(const Operator& op) {
  std::string call =
      fmt::format("contract::{}({}", op.base.id, argument_list(op.base.schema));
  if (op.is_structured()) call += ", " + local(op, "sizes");
  return call + ");";
}

namespace {

std::string scalar_value(const FunctionSchema& schema,
                         const lang::ScalarInput& s) {
  const int i = schema.argument_index(s.name);
  if (i < 0) return "Scalar()";  // the count of a reduction
  const Argument& a = schema.arguments()[static_cast<std::size_t>(i)];
  const std::string name = parameter_name(a);
  switch (s.kind) {
    case lang::ScalarInput::Kind::kHasValue:
      return fmt::format("Scalar({}.has_value())", name);
    case lang::ScalarInput::Kind::kEquals:
      return fmt::format("Scalar({} == {})", name, lang::cpp_string(s.text));
    case lang::ScalarInput::Kind::kValue: break;
  }
  if (!a.type.is_optional()) {
    return a.type == TypeKind::kScalar ? name : fmt::format("Scalar({})", name);
  }
  if (a.type.element() == TypeKind::kScalar) {
    return name + ".value_or(Scalar())";
  }
  return fmt::format("Scalar({}.value_or(0))", name);
}

}  // namespace

std::vector<std::string> scalar_values(
    const FunctionSchema& schema,
    const std::vector<lang::ScalarInput>& scalars) {
  std::vector<std::string> out;
  for (const lang::ScalarInput& s : scalars) {
    out.push_back(scalar_value(schema, s));
  }
  return out;
}

std::string absent_mask(const FunctionSchema& schema,
                        const std::vector<lang::ScalarInput>& scalars) {
  std::string out;
  for (std::size_t i = 0; i < scalars.size(); ++i) {
    if (scalars[i].kind != lang::ScalarInput::Kind::kValue) continue;
    const int index = schema.argument_index(scalars[i].name);
    if (index < 0) continue;
    const Argument& a = schema.arguments()[static_cast<std::size_t>(index)];
    if (!a.type.is_optional()) continue;
    if (!out.empty()) out += " | ";
    append(out, "({} ? 0u : {}u)", parameter_name(a), 1u << i);
  }
  return out;
}

namespace {

void list_line(Writer& w, std::string_view head,
               const std::vector<std::string>& items, std::string_view tail) {
  w.line(std::string(head) + join(items, ", ") + std::string(tail));
}

}  // namespace

std::string pointwise_arguments(Writer& w, const Operator& op) {
  const FunctionSchema& s = op.base.schema;
  const lang::Program program = pointwise_program(op);
  std::vector<std::string> inputs;
  for (const lang::ProgramInput& in : program.inputs) {
    const int i = s.argument_index(in.name);
    inputs.push_back("&" + parameter_name(s.arguments()[i]));
  }
  std::string out = local(op, "inputs");
  list_line(w, fmt::format("  const TensorBase* const {}[] = {{", out), inputs,
            "};");
  const auto scalars = scalar_values(s, program.scalars);
  if (scalars.empty()) return fmt::format("{{{}}}", out);
  const std::string numbers = local(op, "scalars");
  list_line(w, fmt::format("  const Scalar {}[] = {{", numbers), scalars, "};");
  out += ", " + numbers;
  if (const std::string mask = absent_mask(s, program.scalars); !mask.empty()) {
    const std::string absent = local(op, "absent");
    w.line("  const uint32_t {} = {};", absent, mask);
    out += ", " + absent;
  }
  return fmt::format("{{{}}}", out);
}

std::string reduce_arguments(Writer& w, const Operator& op) {
  const FunctionSchema& s = op.base.schema;
  std::string dims = "std::nullopt";
  if (const int i = s.argument_index("dim"); i >= 0) {
    const Type t = s.arguments()[static_cast<std::size_t>(i)].type;
    dims = t.without_optional().is_list() ? "dim" : "IntArrayRef(&dim, 1)";
  }
  const bool keepdim = s.argument_index("keepdim") >= 0;
  const bool dtype = s.argument_index("dtype") >= 0;
  const auto scalars = scalar_values(s, reduce_parts(op).scalars);
  std::vector<std::string> out = {"&self"};
  if (!scalars.empty() || dtype || keepdim || dims != "std::nullopt") {
    out.push_back(dims);
  }
  if (!scalars.empty() || dtype || keepdim) {
    out.push_back(keepdim ? "keepdim" : "false");
  }
  if (!scalars.empty() || dtype) {
    out.push_back(dtype ? "dtype" : "std::nullopt");
  }
  if (!scalars.empty()) {
    out.push_back(local(op, "scalars"));
    list_line(w, fmt::format("  const Scalar {}[] = {{", out.back()), scalars,
              "};");
  }
  return fmt::format("{{{}}}", join(out, ", "));
}

std::string scan_arguments(const Operator& op) {
  const bool dtype = op.base.schema.argument_index("dtype") >= 0;
  return dtype ? "{&self, dim, dtype}" : "{&self, dim}";
}

std::string outs_line(const Operator& op, const Overload& o) {
  std::vector<std::string> outs;
  for (const std::string& name : written_arguments(o)) {
    outs.push_back("&" + name);
  }
  return fmt::format("  Tensor* const {}[] = {{{}}};", local(op, "outs"),
                     join(outs, ", "));
}

std::string like_argument(const Operator& op) {
  for (const Argument* a : op.tensor_arguments()) {
    if (a->type == TypeKind::kTensor) return parameter_name(*a);
    if (a->type.is_list()) return parameter_name(*a) + "[0]";
  }
  return "";
}

std::string result_dtype(const Operator& op, std::size_t i) {
  const auto& dtype = op.contract.dtype;
  if (dtype.empty()) return like_argument(op) + ".scalar_type()";
  return dtype[dtype.size() == 1 ? 0 : i].value;
}

lang::Headers result_headers(const Operator& op) {
  lang::Headers out;
  for (const lang::TensorCode& d : op.contract.dtype) {
    out.insert(d.headers.begin(), d.headers.end());
  }
  return out;
}

std::string functional_call(Writer& w, const Operator& op, const Overload& form,
                            const std::string& instead) {
  const FunctionSchema& f = op.base.schema;
  const auto written = written_arguments(form);
  const std::string target = written.empty() ? "" : written[0];
  std::vector<std::string> args;
  for (const Argument& a : f.arguments()) {
    const std::string name = parameter_name(a);
    switch (place_of(a, form.schema)) {
      case FormPlaces::kDtype: args.push_back(target + ".scalar_type()"); break;
      case FormPlaces::kDevice: args.push_back(target + ".device()"); break;
      case FormPlaces::kDefault: {
        const std::string value = default_text(a);
        w.include_all(default_headers(a));
        args.push_back(value.empty() ? "std::nullopt" : value);
        break;
      }
      default:
        if (instead.empty()) {
          args.push_back(name);
        } else if (name == target) {
          args.push_back(instead);
        } else if (a.type.without_optional() == TypeKind::kTensor) {
          args.push_back(fmt::format("generated::before_write_of({}, {}, {})",
                                     name, target, instead));
        } else {
          args.push_back(name);
        }
    }
  }
  return fmt::format("ops::{}::call({})", op.base.id, join(args, ", "));
}

bool has_descriptor(const Operator& op) { return is_program(op.kind()); }

std::vector<std::string> written_arguments(const Overload& o) {
  std::vector<std::string> out;
  for (const int i : written_tensors(o.schema)) {
    out.push_back(
        parameter_name(o.schema.arguments()[static_cast<std::size_t>(i)]));
  }
  return out;
}

std::string return_written(const Overload& o) {
  const auto written = written_arguments(o);
  const std::size_t n = o.schema.returns().size();
  if (n == 0) return "";
  if (n == 1) return fmt::format("return {};", written.back());
  return fmt::format("return {{{}}};", join(written, ", "));
}

}  // namespace sy::codegen
