#include <algorithm>

#include "lang/compile.h"
#include "lang/diff.h"
#include "lang/element.h"
#include "lang/entry.h"
#include "lang/index.h"

namespace sy::lang {
namespace {

class Checker {
 public:
  Checker(const OperatorEntry& e, Diagnostics& diagnostics)
      : e_(e),
        diagnostics_(diagnostics),
        op_(e.schema.name().name),
        element_(ElementEnv::of(e.schema)),
        index_(IndexEnv::of(e.schema)) {}

  void run() {
    if (e_.pointwise) pointwise();
    if (e_.reduce) reduce();
    if (e_.scan) scan();
    if (e_.view) view();
    for (const Formula& f : e_.shape) index(f, IndexType::kList);
    for (const Requirement& r : e_.require) {
      compile_require(r.condition.expr, index_, r.message.str(), op_,
                      diagnostics_);
    }
  }

 private:
  void pointwise() {
    std::vector<Expr> results;
    for (const Formula& f : e_.pointwise->results) results.push_back(f.expr);
    const auto program = compile_element(results, element_, diagnostics_);
    if (!program) return;
    for (const ElementName& n : element_.names) {
      // An argument may be there to be required something of.
      const bool used =
          std::any_of(results.begin(), results.end(),
                      [&](const Expr& e) { return mentions(e, n.name); }) ||
          std::any_of(e_.require.begin(), e_.require.end(),
                      [&](const Requirement& r) {
                        return mentions(r.condition.expr, n.name);
                      });
      if (!used) {
        diagnostics_.error(e_.func.start(),
                           "argument '{}' is not used by 'pointwise:'", n.name);
      }
    }
    for (const DerivativeItem& d : e_.derivative) {
      if (d.kind != DerivativeItem::Kind::kAuto) continue;
      if (results.size() != 1) {
        diagnostics_.error(d.at,
                           "'auto' needs a single result; write the "
                           "formula");
        continue;
      }
      for (const Text& a : d.arguments) {
        differentiate(results[0], a.str(), {.env = &element_}, diagnostics_);
      }
    }
  }

  void reduce() {
    const ElementEnv combine = combine_env(*e_.reduce);
    const ElementEnv finish = finish_env(*e_.reduce, e_.schema);
    for (const Accumulator& acc : e_.reduce->accumulators) {
      check_element(acc.map.expr, element_, diagnostics_);
      check_element(acc.combine.expr, combine, diagnostics_);
      if (!acc.identity.expr) continue;
      const auto identity =
          check_element(acc.identity.expr, element_, diagnostics_);
      if (identity && !identity->uniform) {
        diagnostics_.error(acc.identity.expr->at,
                           "the identity cannot depend on elements");
      }
    }
    for (const Formula& f : e_.reduce->finish) {
      check_element(f.expr, finish, diagnostics_);
    }
  }

  void scan() {
    const Formula& f = e_.scan->combine;
    if (!f.expr) return;
    const auto type = check_element(f.expr, scan_env(), diagnostics_);
    if (type && e_.scan->chooses && !type->is_bool) {
      diagnostics_.error(f.expr->at, "'choose' is a condition");
    }
  }

  void view() {
    index(e_.view->sizes, IndexType::kList);
    if (e_.view->strides) index(*e_.view->strides, IndexType::kList);
    if (e_.view->offset) index(*e_.view->offset, IndexType::kInt);
  }

  void index(const Formula& f, IndexType type) {
    compile_index(f.expr, index_, type, op_, diagnostics_);
  }

  const OperatorEntry& e_;
  Diagnostics& diagnostics_;
  const std::string op_;
  const ElementEnv element_;
  const IndexEnv index_;
};

}  // namespace

void check_types(const OperatorEntry& entry, Diagnostics& diagnostics) {
  Checker(entry, diagnostics).run();
  check_rules(entry, diagnostics);
  check_contradictions(entry, diagnostics);
}

}  // namespace sy::lang
