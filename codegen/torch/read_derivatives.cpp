#include <algorithm>

#include "c10/schema/parser.h"
#include "codegen/torch/derivatives.h"
#include "lang/format.h"
#include "lang/yaml.h"

namespace sy::codegen::torch {
namespace {

using Kind = DerivativeFormula::Kind;
using lang::YamlNode;

bool is_own_key(std::string_view key) {
  return key == "name" || key == "output_differentiability" ||
         key == "dispatch";
}

class Reader {
 public:
  Reader(const YamlNode& node, Diagnostics& diagnostics)
      : node_(node), diagnostics_(diagnostics) {}

  std::optional<Derivative> run() {
    if (!node_.is_map()) {
      error(node_.at, "expected a derivative, a map that begins with 'name:'");
      return std::nullopt;
    }
    const YamlNode* name = node_.find("name");
    if (!name || !name->is_scalar()) {
      error(name ? name->at : node_.at,
            "a derivative needs 'name:', the signature of its function");
      return std::nullopt;
    }
    ParseResult parsed = parse_and_check_schema(name->str());
    for (const SchemaError& e : parsed.errors) {
      diagnostics_.error(name->scalar.at(e.offset()), e.message());
    }
    if (!parsed.ok()) return std::nullopt;
    const std::size_t before = diagnostics_.size();
    Derivative d(std::move(*parsed.schema));
    d.name = name->scalar;
    d.at = node_.at;
    for (const Argument& a : d.schema.arguments()) {
      arguments_.emplace_back(a.name.view());
    }
    results_ = d.result_names();
    differentiability(d);
    if (const YamlNode* dispatch = node_.find("dispatch")) {
      sections(d, *dispatch);
    } else {
      d.sections.push_back({Text("Default"), formulas(node_)});
    }
    if (diagnostics_.size() != before) return std::nullopt;
    return d;
  }

 private:
  template <class... Args>
  void error(const Location& at, fmt::format_string<const Args&...> format,
             const Args&... args) {
    diagnostics_.error(at, fmt::format(format, args...));
  }

  void differentiability(Derivative& d) {
    const YamlNode* n = node_.find("output_differentiability");
    if (!n) return;
    d.differentiability_at = n->at;
    if (!n->is_sequence()) {
      return error(n->at,
                   "expected a list of True and False for "
                   "'output_differentiability'");
    }
    const auto is_bool = [](const YamlNode& item) {
      const std::string& s = item.str();
      return item.plain &&
             (s == "True" || s == "False" || s == "true" || s == "false");
    };
    if (n->items.size() == 1 && n->items[0].is_scalar() &&
        !is_bool(n->items[0])) {
      d.differentiability_condition = n->items[0].scalar;
      return;
    }
    auto& list = d.output_differentiability.emplace();
    for (const YamlNode& item : n->items) {
      if (!is_bool(item)) {
        error(item.at,
              "expected True or False, got '{}'; a condition stands alone",
              item.str());
      }
      list.push_back(item.str() == "True" || item.str() == "true");
    }
  }

  void sections(Derivative& d, const YamlNode& dispatch) {
    if (!dispatch.is_map()) {
      return error(dispatch.at, "expected a map for 'dispatch'");
    }
    for (const YamlNode::Entry& e : node_.entries) {
      if (!is_own_key(e.key.str())) {
        error(e.key.start(),
              "with 'dispatch:' the formula of '{}' belongs to one of its keys",
              e.key.str());
      }
    }
    for (const YamlNode::Entry& e : dispatch.entries) {
      if (!e.value.is_map()) {
        error(e.key.start(), "expected a map of formulas for '{}'",
              e.key.str());
        continue;
      }
      d.sections.push_back({e.key, formulas(e.value)});
    }
  }

  std::vector<DerivativeFormula> formulas(const YamlNode& map) {
    std::vector<DerivativeFormula> out;
    for (const YamlNode::Entry& e : map.entries) {
      if (&map == &node_ && is_own_key(e.key.str())) continue;
      if (!e.value.is_scalar() || e.value.str().empty()) {
        error(e.key.start(), "expected a formula for '{}'", e.key.str());
        continue;
      }
      out.push_back(formula(e));
    }
    return out;
  }

  DerivativeFormula formula(const YamlNode::Entry& e) {
    DerivativeFormula f;
    f.names = lang::split_commas(e.key);
    f.text = e.value.scalar;
    const std::string& text = f.text.str();
    const bool argument =
        !f.names.empty() && std::find(arguments_.begin(), arguments_.end(),
                                      f.names[0].str()) != arguments_.end();
    if (!argument) {
      f.kind = text == "auto_linear"         ? Kind::kAutoLinear
               : text == "auto_element_wise" ? Kind::kAutoElementWise
                                             : Kind::kForward;
    } else if (text == "non_differentiable") {
      f.kind = Kind::kNonDifferentiable;
    }
    std::vector<std::string> names = arguments_;
    names.insert(names.end(), results_.begin(), results_.end());
    if (f.kind == Kind::kBackward || f.kind == Kind::kForward) {
      f.uses = uses_of(text, names, results_);
    }
    return f;
  }

  const YamlNode& node_;
  Diagnostics& diagnostics_;
  std::vector<std::string> arguments_;
  std::vector<std::string> results_;
};

}  // namespace

std::vector<std::string> Derivative::result_names() const {
  std::vector<std::string> out;
  const auto returns = schema.returns();
  for (std::size_t i = 0; i < returns.size(); ++i) {
    if (!returns[i].name.empty()) {
      out.emplace_back(returns[i].name.view());
    } else if (returns.size() == 1) {
      out.emplace_back("result");
    } else {
      out.push_back(fmt::format("result{}", i));
    }
  }
  return out;
}

std::vector<Derivative> read_derivatives(const lang::YamlNode& root,
                                         Diagnostics& diagnostics) {
  std::vector<Derivative> out;
  if (root.is_null()) return out;
  if (!root.is_sequence()) {
    diagnostics.error(root.at, "expected a list of derivatives: '- name: …'");
    return out;
  }
  out.reserve(root.items.size());
  for (const lang::YamlNode& item : root.items) {
    if (auto d = Reader(item, diagnostics).run()) out.push_back(std::move(*d));
  }
  return out;
}

}  // namespace sy::codegen::torch
