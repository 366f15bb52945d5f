#include "c10/schema/parser.h"
#include "codegen/model_names.h"
#include "codegen/torch/backend.h"
#include "lang/yaml.h"
#include "model/backends.h"

namespace sy::codegen::torch {
namespace {

using lang::YamlNode;

constexpr std::string_view kKeys[] = {
    "backend",   "cpp_namespace", "class_name",   "extra_headers",
    "supported", "autograd",      "symint",       "full_codegen",
    "ir_gen",    "non_native",    "device_guard", "use_out_as_primary"};

class Reader {
 public:
  Reader(const YamlNode& root, Diagnostics& diagnostics)
      : root_(root), diagnostics_(diagnostics) {}

  std::optional<Backend> run() {
    check_keys(root_, "a backend", kKeys, diagnostics_);
    const std::size_t before = diagnostics_.size();
    Backend b;
    b.at = root_.at;
    b.backend = needed("backend");
    b.cpp_namespace = needed("cpp_namespace");
    if (const Text& ns = b.cpp_namespace;
        !ns.empty() && !is_namespace(ns.str())) {
      diagnostics_.error(ns.start(),
                         "'" + ns.str() + "' is no name of a C++ namespace");
    }
    b.class_name = text("class_name");
    b.extra_headers = text("extra_headers");
    b.supported = names("supported");
    b.autograd = names("autograd");
    b.full_codegen = names("full_codegen");
    b.ir_gen = names("ir_gen");
    b.symint = names("symint");
    if (const YamlNode* n = root_.find("device_guard")) {
      b.device_guard = yaml_bool(*n, "device_guard", diagnostics_);
    }
    if (const YamlNode* n = root_.find("use_out_as_primary")) {
      b.use_out_as_primary = yaml_bool(*n, "use_out_as_primary", diagnostics_);
    }
    non_native(b);
    if (diagnostics_.size() != before) return std::nullopt;
    return b;
  }

 private:
  Text needed(std::string_view key) {
    const YamlNode* n = root_.find(key);
    if (n && n->is_scalar() && !n->str().empty()) return n->scalar;
    diagnostics_.error(n ? n->at : root_.at, "a backend needs '{}:'", key);
    return {};
  }

  std::optional<Text> text(std::string_view key) {
    const YamlNode* n = root_.find(key);
    if (!n || n->is_null()) return std::nullopt;
    return n->scalar;
  }

  std::vector<Text> names(std::string_view key) {
    const YamlNode* n = root_.find(key);
    if (!n || n->is_null()) return {};
    if (!n->is_sequence()) {
      diagnostics_.error(n->at, "expected a list of operators for '{}'", key);
      return {};
    }
    std::vector<Text> out;
    for (Text& name : yaml_list(*n, key, diagnostics_)) {
      try {
        parse_operator_name(name.str());
        out.push_back(std::move(name));
      } catch (const SchemaError& e) {
        diagnostics_.error(name.at(e.offset()), e.message());
      }
    }
    return out;
  }

  void non_native(Backend& b) {
    const YamlNode* n = root_.find("non_native");
    if (!n || n->is_null()) return;
    if (!n->is_sequence()) {
      diagnostics_.error(n->at, "expected a list for 'non_native'");
      return;
    }
    for (const YamlNode& item : n->items) {
      const YamlNode* func = item.find("func");
      if (!func || !func->is_scalar()) {
        diagnostics_.error(item.at, "an item of 'non_native' needs 'func:'");
        continue;
      }
      ParseResult parsed = parse_and_check_schema(func->str());
      for (const SchemaError& e : parsed.errors) {
        diagnostics_.error(func->scalar.at(e.offset()), e.message());
      }
      if (!parsed.ok()) continue;
      NonNative node{std::move(*parsed.schema), func->scalar, {}, {}};
      if (const YamlNode* kind = item.find("opkind")) {
        node.opkind = kind->scalar;
      }
      if (const YamlNode* p = item.find("properties")) {
        node.properties = yaml_list(*p, "properties", diagnostics_);
      }
      b.non_native.push_back(std::move(node));
    }
  }

  const YamlNode& root_;
  Diagnostics& diagnostics_;
};

}  // namespace

std::optional<Backend> read_backend(const lang::YamlNode& root,
                                    Diagnostics& diagnostics) {
  if (!root.is_map()) {
    diagnostics.error(root.at, "expected a map: 'backend: …'");
    return std::nullopt;
  }
  return Reader(root, diagnostics).run();
}

}  // namespace sy::codegen::torch
