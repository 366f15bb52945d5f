#include <algorithm>
#include <cctype>
#include <unordered_map>

#include "codegen/torch/vocabulary.h"
#include "codegen/torch/world.h"
#include "lang/format.h"

namespace sy::codegen::torch {
namespace {

using Kind = DerivativeFormula::Kind;

bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string suggest_of(std::string_view name,
                       const std::vector<std::string>& names) {
  const std::vector<std::string_view> views(names.begin(), names.end());
  return lang::suggest(name, views);
}

// One `name:` with one of its sections.
class Checker {
 public:
  Checker(const Derivative& d, const DerivativeSection& section,
          Diagnostics& diagnostics)
      : d_(d),
        section_(section),
        returns_(d.schema.returns()),
        results_(d.result_names()),
        diagnostics_(diagnostics) {
    for (const Argument& a : d.schema.arguments()) {
      arguments_.emplace_back(a.name.view());
    }
    for (const DerivativeFormula& f : section.formulas) {
      if (f.kind != Kind::kBackward) continue;
      for (const Text& n : f.names) differentiable_.push_back(n.str());
    }
  }

  void run() {
    for (const DerivativeFormula& f : section_.formulas) {
      names(f);
      if (f.kind == Kind::kForward) forward(f);
      if (f.kind == Kind::kBackward) backward(f);
      if (f.kind == Kind::kAutoLinear || f.kind == Kind::kAutoElementWise) {
        automatic(f);
      }
      if (f.kind == Kind::kBackward || f.kind == Kind::kForward) words(f);
    }
    gradients();
  }

 private:
  template <class... Args>
  void error(const Location& at, fmt::format_string<const Args&...> format,
             const Args&... args) {
    diagnostics_.error(at, fmt::format(format, args...));
  }
  std::string function() const {
    return fmt::format("'{}'", to_string(d_.schema.name()));
  }

  void names(const DerivativeFormula& f) {
    for (const Text& name : f.names) {
      const bool argument = has(arguments_, name.str());
      const bool result = is_result(name.str());
      if (!argument && !result) {
        std::vector<std::string> known = arguments_;
        known.insert(known.end(), results_.begin(), results_.end());
        error(name.start(), "'{}' is neither an argument nor a result of {}{}",
              name.str(), function(), suggest_of(name.str(), known));
      } else if (argument && result) {
        error(name.start(), "'{}' is an argument and a result of {}",
              name.str(), function());
      } else if (argument == f.is_forward()) {
        error(name.start(),
              "'{}' and '{}' cannot share a formula: one is an argument, one a "
              "result",
              name.str(), f.names[0].str());
      }
      for (const DerivativeFormula& other : section_.formulas) {
        if (&other >= &f) break;
        for (const Text& n : other.names) {
          if (n.str() != name.str()) continue;
          error(name.start(), "'{}' has two formulas; the first is at {}",
                name.str(), to_string(n.start()));
        }
      }
    }
  }

  // Results may be called by number even if they have names.
  bool is_result(const std::string& name) const {
    if (has(results_, name)) return true;
    if (name == "result") return returns_.size() == 1;
    for (std::size_t i = 0; i < returns_.size(); ++i) {
      if (name == fmt::format("result{}", i)) return true;
    }
    return false;
  }

  void backward(const DerivativeFormula& f) {
    accessors(f);
    for (const std::size_t i : f.uses.grad_indices) {
      if (i < returns_.size()) continue;
      error(f.text.at(f.text.str().find(fmt::format("grads[{}", i))),
            "'grads[{}]' is of no result: {} has {}", i, function(),
            returns_.size());
    }
  }

  void forward(const DerivativeFormula& f) {
    const bool foreach = d_.schema.name().name.view().starts_with("_foreach_");
    for (const Word& w : words_of(f.text.str())) {
      if (w.is_member || w.is_scoped || w.is_called) continue;
      const std::string name(w.text);
      if (!has(differentiable_, name)) continue;
      const int i = d_.schema.argument_index(name);
      if (d_.schema.arguments()[static_cast<std::size_t>(i)].type.is_list() &&
          !foreach) {
        continue;
      }
      error(f.text.at(w.offset),
            "a forward formula uses '{0}_p', the value, or '{0}_t', the "
            "tangent, not '{0}'",
            name);
    }
  }

  void automatic(const DerivativeFormula& f) {
    const std::string rule = fmt::format("'{}'", f.text.str());
    const auto forwards = std::count_if(
        section_.formulas.begin(), section_.formulas.end(),
        [](const DerivativeFormula& g) { return g.is_forward(); });
    if (forwards > 1 || f.names.size() > 1) {
      error(f.text.start(), "{} needs a single differentiable result", rule);
    }
    if (f.kind == Kind::kAutoLinear) {
      if (differentiable_.empty()) {
        error(f.text.start(), "{} needs a differentiable argument", rule);
      }
      return;
    }
    if (d_.schema.is_inplace()) {
      error(f.text.start(), "{} is not for an in-place form", rule);
    }
    if (differentiable_.size() != 1) {
      error(f.text.start(),
            "{} needs a single argument with a formula, {} has {}", rule,
            function(), differentiable_.size());
    }
  }

  // Sizes and strides are asked for as symbols.
  void accessors(const DerivativeFormula& f) {
    const std::vector<Word> words = words_of(f.text.str());
    const std::string& text = f.text.str();
    for (const Word& w : words) {
      if (!w.is_member || !w.is_called) continue;
      const std::string_view after =
          std::string_view(text).substr(w.offset + w.text.size());
      const bool plain =
          (w.text == "sizes" || w.text == "strides") && after.starts_with("()");
      const bool size = w.text == "size" && after.size() > 2 &&
                        (after[1] == '-' ||
                         std::isdigit(static_cast<unsigned char>(after[1])));
      if (!plain && !size) continue;
      error(f.text.at(w.offset), "write 'sym_{0}' for '{0}' in a formula",
            w.text);
    }
  }

  // Words that stand by themselves are arguments, results or gradients. This
  // check skips names of functions, and formulas with a lambda.
  void words(const DerivativeFormula& f) {
    const std::string& text = f.text.str();
    if (text.find("[&]") != std::string::npos ||
        text.find("[=]") != std::string::npos) {
      return;
    }
    std::vector<std::string> known = {"grad", "grads", "grad_input_mask",
                                      "true", "false", "nullptr"};
    known.insert(known.end(), arguments_.begin(), arguments_.end());
    known.insert(known.end(), results_.begin(), results_.end());
    for (const std::string& r : results_) known.push_back("grad_" + r);
    if (f.is_forward()) {
      for (const std::string& a : arguments_) {
        known.push_back(a + "_p");
        known.push_back(a + "_t");
        known.push_back(fmt::format("original_{}_p", a));
        known.push_back(fmt::format("original_{}_t", a));
      }
    }
    for (const Word& w : words_of(text)) {
      if (w.is_member || w.is_scoped || w.is_called) continue;
      const std::string word(w.text);
      if (has(known, word) || is_result(word)) continue;
      const std::string nearest = suggest_of(word, known);
      if (nearest.empty()) continue;
      error(f.text.at(w.offset), "unknown name '{}'{}", word, nearest);
    }
  }

  // A node has one gradient by one kind of name.
  void gradients() {
    const DerivativeFormula* grad = nullptr;
    const DerivativeFormula* grads = nullptr;
    const DerivativeFormula* named = nullptr;
    int count = 0;
    std::vector<std::size_t> indices;
    for (const DerivativeFormula& f : section_.formulas) {
      if (f.kind != Kind::kBackward) continue;
      if (f.uses.grad && !grad) grad = &f;
      if (f.uses.grads && !grads) grads = &f;
      if (uses_named(f) && !named) named = &f;
      count += f.uses.grads;
      indices.insert(indices.end(), f.uses.grad_indices.begin(),
                     f.uses.grad_indices.end());
    }
    const auto mixed = [&](const DerivativeFormula& f, const char* a,
                           const char* b) {
      error(f.text.start(), "the formulas of {} mix '{}' and '{}'", function(),
            a, b);
    };
    if (grad && grads) mixed(*std::max(grad, grads), "grad", "grads");
    if (named && grad) mixed(*std::max(named, grad), "grad", "grad_NAME");
    if (named && grads) mixed(*std::max(named, grads), "grads", "grad_NAME");
    if (grads && count == static_cast<int>(indices.size()) &&
        std::all_of(indices.begin(), indices.end(),
                    [](std::size_t i) { return i == 0; })) {
      error(grads->text.start(),
            "only 'grads[0]' is used: write 'grad', or the gradients of the "
            "other results are lost");
    }
  }

  bool uses_named(const DerivativeFormula& f) const {
    for (const std::string& name : f.uses.named_grads) {
      for (std::size_t i = 0; i < returns_.size(); ++i) {
        if (returns_[i].name == name && returns_[i].type.is_tensor_like() &&
            is_differentiable(i) && !has(arguments_, "grad_" + name)) {
          return true;
        }
      }
    }
    return false;
  }

  bool is_differentiable(std::size_t i) const {
    const auto& list = d_.output_differentiability;
    return !list || (i < list->size() && (*list)[i]);
  }

  const Derivative& d_;
  const DerivativeSection& section_;
  const std::span<const Return> returns_;
  const std::vector<std::string> results_;
  std::vector<std::string> arguments_;
  std::vector<std::string> differentiable_;
  Diagnostics& diagnostics_;
};

void check_outputs(const Derivative& d, Diagnostics& diagnostics) {
  const std::size_t returns = d.schema.returns().size();
  const std::string name = fmt::format("'{}'", to_string(d.schema.name()));
  if (d.output_differentiability &&
      d.output_differentiability->size() > returns) {
    diagnostics.error(d.differentiability_at,
                      "{} has {} results, 'output_differentiability' is for {}",
                      name, returns, d.output_differentiability->size());
  }
  if (d.differentiability_condition && returns != 1) {
    diagnostics.error(d.differentiability_condition->start(),
                      "a condition is for functions with one result, {} has {}",
                      name, returns);
  }
}

void check_arguments(const Derivative& d, Diagnostics& diagnostics) {
  for (const Argument& a : d.schema.arguments()) {
    if (a.name != "result" && a.name != "grad_input_mask") continue;
    diagnostics.error(
        d.name.start(),
        "an argument cannot be named '{}', which has a meaning in formulas",
        a.name);
  }
}

void check_sections(const Derivative& d, Diagnostics& diagnostics) {
  for (const DerivativeSection& section : d.sections) {
    const auto keys = autograd_keys();
    const std::string& key = section.key.str();
    if (key != "Default" &&
        std::find(keys.begin(), keys.end(), key) == keys.end()) {
      diagnostics.error(
          section.key.start(),
          "unknown dispatch key '{}'{}; expected Default or an Autograd key",
          key, lang::suggest(key, keys));
    }
    Checker(d, section, diagnostics).run();
  }
}

// The function must be there, with just this signature.
void check_function(const World& world, const Derivative& d,
                    Diagnostics& diagnostics) {
  const std::string name = to_string(d.schema.name());
  const NativeFunction* f = world.find(name);
  if (!f) {
    std::vector<std::string> known;
    for (const auto& list : {world.functions(), world.generated()}) {
      for (const NativeFunction& n : list) known.push_back(n.name());
    }
    diagnostics.error(d.name.start(), "there is no function '{}'{}", name,
                      suggest_of(name, known));
  } else if (!f->broken && f->schema != d.schema) {
    diagnostics.error(d.name.start(),
                      "the signature differs from that of '{}' at {}, {}", name,
                      to_string(f->func.start()), to_string(f->schema));
  }
}

}  // namespace

void check_derivatives(const World& world, Diagnostics& diagnostics) {
  std::unordered_map<std::string, const Derivative*> seen;
  for (const Derivative& d : world.derivatives()) {
    const auto [it, inserted] =
        seen.try_emplace(to_string(d.schema.name()), &d);
    if (!inserted) {
      diagnostics.error(
          d.name.start(),
          "the derivative of '{}' is given twice; the first is at {}",
          it->first, to_string(it->second->name.start()));
    }
    if (world.has_functions()) check_function(world, d, diagnostics);
    check_outputs(d, diagnostics);
    check_arguments(d, diagnostics);
    check_sections(d, diagnostics);
  }
}

}  // namespace sy::codegen::torch
