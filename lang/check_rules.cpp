#include <algorithm>

#include "lang/entry.h"
#include "lang/format.h"

namespace sy::lang {
namespace {

class RuleChecker {
 public:
  RuleChecker(const OperatorEntry& e, Diagnostics& diagnostics)
      : e_(e),
        kind_(
            fmt::format("'{}:'", e.is_foreach ? "foreach" : to_string(e.kind))),
        diagnostics_(diagnostics) {}

  void run() {
    keys();
    dispatch();
    arguments();
    derivative();
  }

 private:
  template <class... Args>
  void error(const Location& at, fmt::format_string<const Args&...> format,
             const Args&... args) {
    diagnostics_.error(at, fmt::format(format, args...));
  }

  bool has_key(std::string_view key) const {
    return std::any_of(
        e_.dispatch.begin(), e_.dispatch.end(),
        [&](const DispatchItem& d) { return d.key.str() == key; });
  }

  static std::string_view shape_source(OperatorKind kind) {
    switch (kind) {
      case OperatorKind::kPointwise: return "the arguments, broadcast";
      case OperatorKind::kReduce: return "'dim' and 'keepdim'";
      case OperatorKind::kScan: return "'self'";
      case OperatorKind::kView: return "'sizes:'";
      default: return "the expression";
    }
  }

  void keys() {
    const bool dispatched = e_.kind == OperatorKind::kDispatch;
    if (!e_.shape.empty() && !dispatched) {
      error(e_.shape[0].text.start(),
            "'shape' is for 'dispatch:' only; that of {} follows from {}",
            kind_, shape_source(e_.kind));
    }
    if (!e_.dtype.empty() && !dispatched &&
        e_.kind != OperatorKind::kComposite) {
      error(e_.dtype[0].text.start(),
            "'dtype' is for 'dispatch:' only; that of {} follows from {}",
            kind_, e_.kind == OperatorKind::kView ? "'self'" : "'promote:'");
    }
    if (e_.dispatch.empty()) return;
    const bool fills = std::any_of(
        e_.dispatch.begin(), e_.dispatch.end(), [](const DispatchItem& d) {
          return !d.key.str().starts_with("Composite");
        });
    if (!e_.shape.empty() && !fills) {
      error(e_.shape[0].text.start(),
            "'shape' needs a kernel that fills a result made before, as of "
            "CPU; a composite one makes its own");
    }
  }

  void dispatch() {
    if (!has_key("CompositeImplicitAutograd") ||
        !has_key("CompositeExplicitAutograd")) {
      return;
    }
    error(e_.dispatch[1].key.start(),
          "CompositeExplicitAutograd and CompositeImplicitAutograd exclude "
          "each other: the gradient is a formula's or that of the operators "
          "called");
  }

  // Hints, that results do not depend on.
  static bool is_ignorable(const Argument& a) {
    const Type t = a.type.without_optional();
    return t == TypeKind::kLayout || t == TypeKind::kDevice ||
           t == TypeKind::kMemoryFormat || t == TypeKind::kGenerator ||
           t == TypeKind::kBool || a.is_out();
  }

  bool is_mentioned(std::string_view name) const {
    std::vector<const Formula*> all;
    for (const Requirement& r : e_.require) all.push_back(&r.condition);
    for (const Formula& f : e_.dtype) all.push_back(&f);
    if (e_.composite) all.push_back(&*e_.composite);
    if (e_.view) {
      all.push_back(&e_.view->sizes);
      if (e_.view->strides) all.push_back(&*e_.view->strides);
      if (e_.view->offset) all.push_back(&*e_.view->offset);
    }
    if (e_.reduce) {
      for (const Accumulator& acc : e_.reduce->accumulators) {
        all.insert(all.end(), {&acc.map, &acc.identity, &acc.combine});
      }
      for (const Formula& f : e_.reduce->finish) all.push_back(&f);
    }
    return std::any_of(all.begin(), all.end(), [&](const Formula* f) {
      return f->expr && mentions(f->expr, name);
    });
  }

  // check_types asks this of `pointwise:`.
  void arguments() {
    const bool reduce = e_.kind == OperatorKind::kReduce;
    if (!reduce && e_.kind != OperatorKind::kComposite &&
        e_.kind != OperatorKind::kView) {
      return;
    }
    for (const Argument& a : e_.schema.arguments()) {
      const std::string name(a.name.view());
      if (is_ignorable(a) || is_mentioned(name)) continue;
      // A view is one of self, whatever it asks of it.
      if (!reduce && e_.view && name == "self") continue;
      if (reduce && (name == "self" || name == "dim" || name == "keepdim" ||
                     name == "dtype")) {
        continue;
      }
      error(e_.func.start(), "argument '{}' is not used by {}", name, kind_);
    }
  }

  void derivative() {
    const bool composite = e_.kind == OperatorKind::kComposite ||
                           has_key("CompositeImplicitAutograd");
    if (e_.derivative.empty()) return;
    for (const DerivativeItem& d : e_.derivative) {
      for (const Text& a : d.arguments) {
        // A misspelt one is told already.
        if (e_.schema.argument_index(a.str()) < 0) return;
      }
    }
    const Location& at = e_.derivative[0].arguments.empty()
                             ? e_.derivative[0].at
                             : e_.derivative[0].arguments[0].start();
    if (composite) {
      if (e_.derivative[0].kind == DerivativeItem::Kind::kAuto) return;
      if (e_.no_derivative) return;  // words for the reader
      error(at,
            "'derivative' is without effect here: the operators that are "
            "called have their own");
      return;
    }
    hidden_names();
    for (const Argument& a : e_.schema.arguments()) {
      const std::string name(a.name.view());
      if (!a.type.is_tensor_like() || a.is_write() ||
          e_.find_derivative(name)) {
        continue;
      }
      error(at,
            "the derivative by '{0}' is missing; write a formula, or '{0}: "
            "non_differentiable'",
            name);
    }
  }

  // Arguments that stand for something else in formulas.
  void hidden_names() {
    const bool any = std::any_of(
        e_.derivative.begin(), e_.derivative.end(), [](const auto& d) {
          return d.kind != DerivativeItem::Kind::kNonDifferentiable;
        });
    if (!any) return;
    const auto returns = e_.schema.returns();
    for (const Argument& a : e_.schema.arguments()) {
      const std::string name(a.name.view());
      bool result = false;
      for (std::size_t i = 0; i < returns.size(); ++i) {
        if (!returns[i].name.empty()) continue;
        result |= name ==
                  (returns.size() == 1 ? "result" : fmt::format("result{}", i));
      }
      if (!result && name != "grad" && name != "grads") continue;
      error(e_.func.start(),
            "argument '{0}' needs another name: '{0}' is {1} in the formulas "
            "of 'derivative:'",
            name,
            result ? "the operator's result" : "the gradient of the results");
    }
  }

  const OperatorEntry& e_;
  const std::string kind_;
  Diagnostics& diagnostics_;
};

}  // namespace

void check_rules(const OperatorEntry& entry, Diagnostics& diagnostics) {
  RuleChecker(entry, diagnostics).run();
}

}  // namespace sy::lang
