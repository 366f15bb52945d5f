#include "codegen/tools/new_op.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <vector>

#include "c10/schema/parser.h"
#include "codegen/files.h"
#include "codegen/model_names.h"
#include "codegen/text.h"
#include "codegen/tools/schema_files.h"
#include "lang/entry.h"
#include "lang/yaml.h"
#include "model/backends.h"

namespace sy::codegen {
namespace {

constexpr std::string_view kKinds[] = {
    "pointwise", "reduce", "scan", "composite", "foreach", "view", "dispatch"};

bool is_tensor_list(Type t) {
  return t.is_list() && t.element() == TypeKind::kTensor;
}

bool returns_one_tensor(const FunctionSchema& s) {
  return s.returns().size() == 1 && s.returns()[0].type == TypeKind::kTensor;
}

std::string suggested_kind(const FunctionSchema& s) {
  if (!s.is_functional()) return "dispatch";
  const bool aliases =
      std::any_of(s.returns().begin(), s.returns().end(),
                  [](const Return& r) { return static_cast<bool>(r.alias); });
  if (aliases) return "view";
  if (s.argument_index("dim") >= 0 && s.argument_index("keepdim") >= 0) {
    return "reduce";
  }
  if (s.returns().size() == 1 && is_tensor_list(s.returns()[0].type) &&
      !s.arguments().empty() && is_tensor_list(s.arguments()[0].type)) {
    return "foreach";
  }
  const bool element_wise = std::all_of(
      s.arguments().begin(), s.arguments().end(), [](const Argument& a) {
        const Type t = a.type.without_optional();
        return t == TypeKind::kTensor || t == TypeKind::kScalar ||
               t == TypeKind::kInt || t == TypeKind::kFloat ||
               t == TypeKind::kBool || t == TypeKind::kStr;
      });
  return returns_one_tensor(s) && element_wise ? "pointwise" : "dispatch";
}

std::string function_name(const FunctionSchema& s) {
  std::string out(s.name().name.view());
  while (!out.empty() && out.back() == '_') out.pop_back();
  if (!s.name().overload.empty()) {
    append(out, "_{}", s.name().overload.view());
  }
  return out;
}

class Skeleton {
 public:
  Skeleton(const FunctionSchema& s, const std::string& kind,
           const std::string& key)
      : s_(s), kind_(kind), key_(key) {}

  std::string run() {
    out_ = fmt::format("- func: {}\n  doc: DESCRIPTION\n", to_string(s_));
    const bool own = !s_.name().ns.empty() && s_.name().ns.view() != "aten";
    if (s_.self_index() >= 0 && !own && kind_ != "foreach")
      out_ += "  variants: function, method\n";
    if (kind_ == "pointwise") {
      out_ += "  pointwise: EXPRESSION\n";
    } else if (kind_ == "reduce") {
      out_ += "  reduce: {map: EXPRESSION, identity: 0, combine: a + b}\n";
    } else if (kind_ == "scan") {
      out_ += s_.returns().size() == 2 ? "  scan: {choose: b >= a}\n"
                                       : "  scan: {combine: EXPRESSION}\n";
    } else if (kind_ == "foreach") {
      out_ += "  foreach: EXPRESSION\n";
    } else if (kind_ == "composite") {
      out_ += "  composite: EXPRESSION\n";
    } else if (kind_ == "view") {
      out_ += "  view:\n    sizes: EXPRESSION\n    strides: EXPRESSION\n";
    } else {
      dispatch();
    }
    if (kind_ != "composite" && kind_ != "foreach") derivative();
    return std::move(out_);
  }

 private:
  void dispatch() {
    const bool tensors =
        s_.is_functional() && !s_.returns().empty() &&
        std::all_of(s_.returns().begin(), s_.returns().end(),
                    [](const Return& r) {
                      return r.type == TypeKind::kTensor && !r.alias;
                    });
    const std::string name = function_name(s_);
    if (!tensors) {
      append(out_, "  dispatch: {{CompositeExplicitAutograd: {}}}\n", name);
      return;
    }
    const bool reads =
        std::any_of(s_.arguments().begin(), s_.arguments().end(),
                    [](const Argument& a) { return a.type.is_tensor_like(); });
    repeat("shape");
    if (!reads) out_ += "  dtype: DTYPE\n";
    append(out_, "  dispatch: {{{}: {}_out}}\n", key_, name);
  }

  void repeat(const std::string& key) {
    if (s_.returns().size() == 1) {
      append(out_, "  {}: EXPRESSION\n", key);
      return;
    }
    append(out_, "  {}:\n", key);
    for (std::size_t i = 0; i < s_.returns().size(); ++i) {
      out_ += "    - EXPRESSION\n";
    }
  }

  void derivative() {
    std::vector<std::string> lines;
    for (const Argument& a : s_.arguments()) {
      if (!a.type.is_tensor_like() || a.is_write()) continue;
      const bool derived = kind_ == "pointwise" || kind_ == "view";
      const bool is_auto = derived && a.type == TypeKind::kTensor;
      lines.push_back(fmt::format("    {}: {}\n", a.name.view(),
                                  is_auto ? "auto" : "EXPRESSION"));
    }
    if (lines.empty()) return;
    out_ += "  derivative:\n";
    for (const std::string& l : lines) out_ += l;
  }

  const FunctionSchema& s_;
  const std::string kind_, key_;
  std::string out_;
};

// The reason that the signature cannot have the kind; "" if it can.
std::string misfit(const FunctionSchema& s, const std::string& kind) {
  if ((kind == "pointwise" || kind == "reduce" || kind == "scan") &&
      !s.is_functional()) {
    return fmt::format(
        "'{}' needs the functional signature; the other forms are derived from "
        "it",
        kind);
  }
  if (kind == "pointwise" && !returns_one_tensor(s)) {
    return "'pointwise' gives one Tensor";
  }
  if ((kind == "reduce" || kind == "scan" || kind == "view") &&
      s.self_index() < 0) {
    return fmt::format("'{}' needs a Tensor argument 'self'", kind);
  }
  const int dim = s.argument_index("dim");
  if (kind == "scan" &&
      (dim < 0 ||
       s.arguments()[static_cast<std::size_t>(dim)].type != TypeKind::kInt)) {
    return "'scan' goes along an argument 'int dim'";
  }
  if (kind == "scan" && (s.returns().empty() || s.returns().size() > 2)) {
    return "'scan' gives one Tensor, or values and indices";
  }
  if (kind == "foreach" &&
      (s.returns().size() != 1 || !is_tensor_list(s.returns()[0].type) ||
       s.self_index() < 0 || s.arguments().empty() ||
       !is_tensor_list(s.arguments()[0].type))) {
    return "'foreach' takes 'Tensor[] self' first and gives 'Tensor[]'";
  }
  if (kind == "view" && (s.returns().empty() || !s.returns()[0].alias)) {
    return "a view returns an alias: 'Tensor(a) self' and '-> Tensor(a)'";
  }
  return "";
}

// The key is that of a backend, of those that are described beside the schemas.
bool check_key(const NewOpOptions& options, std::ostream& err) {
  lang::Diagnostics diagnostics;
  const std::string file =
      options.family.empty() ? "schemas/ops/any.yaml" : options.family;
  const auto backends =
      read_backends(backend_files(library_of(file)), diagnostics);
  std::vector<std::string_view> keys;
  for (const Backend& b : backends) keys.push_back(b.key.str());
  if (keys.empty() ||
      std::find(keys.begin(), keys.end(), options.key) != keys.end()) {
    return true;
  }
  err << fmt::format("sygen: error: unknown dispatch key '{}'{}\n", options.key,
                     lang::suggest(options.key, keys));
  return false;
}

}  // namespace

std::string op_kinds() {
  std::string out;
  for (const std::string_view k : kKinds) {
    out += (out.empty() ? "" : " ") + std::string(k);
  }
  return out;
}

int new_op(const NewOpOptions& options, std::ostream& out, std::ostream& err) {
  const ParseResult parsed = parse_and_check_schema(options.signature);
  if (!parsed.ok()) {
    for (const SchemaError& e : parsed.errors) {
      err << fmt::format("signature:1:{}: error: {}\n  {}\n  {:{}}^\n",
                         e.offset() + 1, e.message(), options.signature, "",
                         e.offset());
    }
    return 1;
  }
  const FunctionSchema& schema = *parsed.schema;
  const std::string kind =
      options.kind.empty() ? suggested_kind(schema) : options.kind;
  if (std::find(std::begin(kKinds), std::end(kKinds), kind) ==
      std::end(kKinds)) {
    err << fmt::format("sygen: error: unknown kind '{}'{}; the kinds are {}\n",
                       kind, lang::suggest(kind, kKinds), op_kinds());
    return 1;
  }
  if (const std::string why = misfit(schema, kind); !why.empty()) {
    err << fmt::format("sygen: error: {}\n", why);
    return 1;
  }
  if (!check_key(options, err)) return 1;
  const std::string entry = Skeleton(schema, kind, options.key).run();
  if (options.family.empty()) {
    out << entry;
    return 0;
  }
  lang::Diagnostics diagnostics;
  std::string text;
  if (std::filesystem::exists(options.family)) {
    const lang::SchemaFile file =
        lang::read_schema_file(options.family, diagnostics);
    for (const lang::OperatorEntry& e : file.entries) {
      if (!(e.schema.name() == schema.name())) continue;
      diagnostics.error(e.func.start(), "operator '{}' is here already",
                        to_string(schema.name()));
    }
    text = file.text;
  }
  if (!diagnostics.empty()) {
    err << diagnostics.str_with_sources() << '\n';
    return 1;
  }
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  if (!text.empty()) text += '\n';
  return write_file({options.family, text + entry}, err) ? 0 : 1;
}

}  // namespace sy::codegen
