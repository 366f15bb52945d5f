#include "codegen/tools/diff.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <ostream>

#include "codegen/text.h"
#include "codegen/tools/diff_signature.h"
#include "codegen/tools/json_schema.h"
#include "codegen/tools/schema_files.h"
#include "lang/compile.h"

namespace sy::codegen {
namespace {

using lang::OperatorKind;

struct Known {
  const Operator* op;
  const Overload* overload;
};
using Table = std::map<std::string, Known>;

Table table_of(const Model& model) {
  Table out;
  for (const Family& family : model.families()) {
    for (const Operator& op : family.operators) {
      for (const Overload* o : op.overloads()) {
        out.try_emplace((op.ns == "aten" ? "" : op.ns + "::") + o->name,
                        Known{&op, o});
      }
    }
  }
  return out;
}

std::string shown(const lang::Formula& f) {
  return f.expr ? lang::to_string(f.expr) : "";
}

// The text of an element's formula, folded: folding changes no dtype there.
std::string folded(const lang::Formula& f) {
  return f.expr ? lang::to_string(lang::fold(f.expr)) : "";
}

template <class Text>
std::string listed(const std::vector<lang::Formula>& list, Text&& text) {
  std::string out;
  for (const lang::Formula& f : list) {
    out += (out.empty() ? "" : ", ") + text(f);
  }
  return out;
}

std::string shown(const std::vector<lang::Formula>& list) {
  return listed(list, [](const lang::Formula& f) { return shown(f); });
}

// The conditions that an entry requires; `a and b` is both.
std::vector<std::string> required(const lang::OperatorEntry& e) {
  std::vector<std::string> out;
  const auto add = [&out](const auto& self, const lang::Expr& x) -> void {
    if (x && x->kind == lang::ExprKind::kBinary && x->op == lang::Op::kAnd) {
      self(self, x->children[0]);
      self(self, x->children[1]);
    } else {
      out.push_back(x ? lang::to_string(x) : "");
    }
  };
  for (const lang::Requirement& r : e.require) add(add, r.condition.expr);
  return out;
}

// Everything that a kind says, printed.
std::string body_text(const lang::OperatorEntry& e) {
  if (e.pointwise) return listed(e.pointwise->results, folded);
  if (e.composite) return shown(*e.composite);
  if (e.view) {
    return shown(e.view->sizes) +
           (e.view->strides ? "; " + shown(*e.view->strides) : "") +
           (e.view->offset ? "; " + shown(*e.view->offset) : "");
  }
  std::string out;
  if (!e.reduce) return out;
  for (const lang::Accumulator& a : e.reduce->accumulators) {
    append(out, "{}: {} | {} | {}; ", a.name, folded(a.map), folded(a.identity),
           folded(a.combine));
  }
  return out + listed(e.reduce->finish, folded) +
         (e.reduce->accumulate ? e.reduce->accumulate->str() : "");
}

std::string number(double v) { return fmt::format("{:.6g}", v); }

// Runs two expressions on some numbers. The difference tells where they part;
// it is empty if they do not. run() is false if they cannot be compared.
class PointTest {
 public:
  static constexpr int kPoints = 200;

  PointTest(const Operator& a, const Operator& b) : a_(a), b_(b) {}

  bool run() {
    const auto p = program(a_);
    const auto q = program(b_);
    if (!p || !q || p->results.size() != q->results.size()) return false;
    for (int i = 0; i < kPoints; ++i) {
      std::map<std::string, double> at;
      const auto x = values(*p, at);
      const auto y = values(*q, at);
      for (std::size_t r = 0; r < x.size(); ++r) {
        const bool close = x[r] == y[r] ||
                           (std::isnan(x[r]) && std::isnan(y[r])) ||
                           std::fabs(x[r] - y[r]) <=
                               1e-12 * (std::fabs(x[r]) + std::fabs(y[r]));
        if (close) continue;
        for (const auto& [name, v] : at) {
          append(difference_, "{}{} = {}", difference_.empty() ? "" : ", ",
                 name, number(v));
        }
        difference_ = fmt::format("at {}: {}, now {}", difference_,
                                  number(x[r]), number(y[r]));
        return true;
      }
    }
    return true;
  }

  const std::string& difference() const { return difference_; }

 private:
  static std::optional<lang::Program> program(const Operator& op) {
    std::vector<lang::Expr> results;
    for (const lang::Formula& f : op.entry->pointwise->results) {
      results.push_back(f.expr);
    }
    lang::Diagnostics quiet;
    return lang::compile_element(results, lang::ElementEnv::of(op.base.schema),
                                 quiet);
  }

  // The same value for a name in both.
  double value(const std::string& name, std::map<std::string, double>& at) {
    const auto [it, fresh] = at.try_emplace(name, 0);
    if (fresh) {
      constexpr double kSpecial[] = {0, 1, -1, 0.5, 2, 25, -25, 1e3};
      seed_ = seed_ * 6364136223846793005u + 1442695040888963407u;
      const auto r = static_cast<std::uint32_t>(seed_ >> 33);
      it->second = r % 4 == 0 ? kSpecial[r / 4 % 8]
                              : (static_cast<int>(r % 8001) - 4000) / 500.0;
    }
    return it->second;
  }

  std::vector<double> values(const lang::Program& p,
                             std::map<std::string, double>& at) {
    std::vector<double> inputs;
    std::vector<lang::Uniform> scalars;
    for (const lang::ProgramInput& in : p.inputs) {
      inputs.push_back(value(in.name, at));
    }
    for (const lang::ScalarInput& s : p.scalars) {
      if (s.kind == lang::ScalarInput::Kind::kValue) {
        scalars.push_back(lang::Uniform::of(value(s.name, at)));
      } else {
        const bool yes = value(fmt::format("{} is {}", s.name, s.text), at) > 0;
        scalars.push_back(lang::Uniform::of(std::int64_t{yes}));
      }
    }
    return lang::eval(p, inputs, scalars);
  }

  const Operator& a_;
  const Operator& b_;
  std::uint64_t seed_ = 1;
  std::string difference_;
};

class Comparer {
 public:
  std::vector<Change> out;

  void run(const Model& before, const Model& after) {
    const Table old_table = table_of(before);
    const Table new_table = table_of(after);
    for (const auto& [name, known] : old_table) {
      op_ = name;
      a_ = &known;
      const auto it = new_table.find(name);
      b_ = it == new_table.end() ? nullptr : &it->second;
      if (!b_) {
        report("overload-removed", false, "overload removed",
               "calls of it are errors");
        continue;
      }
      compare_signatures(known.overload->schema, b_->overload->schema,
                         [&](std::string what, bool compatible,
                             std::string detail, std::string why) {
                           report(std::move(what), compatible,
                                  std::move(detail), std::move(why));
                         });
      if (!known.overload->derived && !b_->overload->derived) {
        entries(*known.op, *b_->op);
      }
    }
    for (const auto& [name, known] : new_table) {
      if (old_table.count(name)) continue;
      op_ = name;
      a_ = nullptr;
      b_ = &known;
      report("overload-added", true, "overload added",
             "nobody could call it before");
    }
    std::stable_sort(
        out.begin(), out.end(),
        [](const Change& x, const Change& y) { return x.op < y.op; });
  }

 private:
  void report(std::string what, bool compatible, std::string detail,
              std::string why) {
    out.push_back({op_, std::move(what), compatible, std::move(detail),
                   std::move(why), a_ ? a_->op->source : "",
                   b_ ? b_->op->source : ""});
  }

  void entries(const Operator& a, const Operator& b) {
    const lang::OperatorEntry& x = *a.entry;
    const lang::OperatorEntry& y = *b.entry;
    variant("function", x.function_variant, y.function_variant);
    variant("method", x.method_variant, y.method_variant);
    if (a.family != b.family) {
      report("family-changed", true,
             fmt::format("moved from family '{}' to '{}'", a.family, b.family),
             "sy.h and aten/ops/all.h include both");
    }
    promotion(x, y);
    body(a, b);
    rules(x, y);
    dispatch(x, y);
    derivatives(x, y);
    if (x.doc != y.doc) {
      report("doc-changed", true, "doc changed", "nothing behaves otherwise");
    }
    if (x.tags != y.tags) {
      report("tags-changed", true, "tags changed", "nothing behaves otherwise");
    }
    if (x.device_check != y.device_check) {
      report("device-check-changed", !y.device_check,
             y.device_check ? "devices are checked now"
                            : "devices are not checked any more",
             y.device_check ? "calls that mix devices are errors"
                            : "every call that was good still is");
    }
    if (x.device_guard != y.device_guard) {
      report("device-guard-changed", true,
             y.device_guard ? "kernels run on the device of the arguments"
                            : "kernels run on the current device",
             "results do not change");
    }
  }

  void variant(const std::string& name, bool before, bool after) {
    if (before == after) return;
    report(name + (after ? "-added" : "-removed"), after,
           name + (after ? " variant added" : " variant removed"),
           after ? "nobody could call it before" : "calls of it are errors");
  }

  static std::string promote_text(const lang::OperatorEntry& e) {
    if (!e.promote) return "default";
    std::string out = e.promote->rule.str();
    for (std::size_t i = 0; i < e.promote->arguments.size(); ++i) {
      out += (i ? ", " : " of ") + e.promote->arguments[i].str();
    }
    return out;
  }

  void promotion(const lang::OperatorEntry& x, const lang::OperatorEntry& y) {
    const std::string before = promote_text(x);
    const std::string after = promote_text(y);
    if (before == after) return;
    report("promotion-changed", false,
           fmt::format("promotion changed from '{}' to '{}'", before, after),
           "results may have another dtype");
  }

  void body(const Operator& a, const Operator& b) {
    if (a.kind() != b.kind()) {
      report("kind-changed", true,
             fmt::format("kind changed from {} to {}", to_string(a.kind()),
                         to_string(b.kind())),
             "callers see the same signature; results are for tests to "
             "compare");
      return;
    }
    const std::string before = body_text(*a.entry);
    const std::string after = body_text(*b.entry);
    if (before == after) return;
    const std::string detail =
        fmt::format("expression changed from '{}' to '{}'", before, after);
    if (a.kind() == OperatorKind::kPointwise) {
      PointTest test(a, b);
      if (test.run()) {
        const bool equal = test.difference().empty();
        report("expression-changed", equal, detail,
               equal ? fmt::format("the same values at {} points",
                                   PointTest::kPoints)
                     : "other values: " + test.difference());
        return;
      }
    }
    report("expression-changed", false, detail, "results may differ");
  }

  void rules(const lang::OperatorEntry& x, const lang::OperatorEntry& y) {
    const std::vector<std::string> before = required(x), after = required(y);
    const auto has = [](const std::vector<std::string>& list,
                        const std::string& text) {
      return std::find(list.begin(), list.end(), text) != list.end();
    };
    for (const std::string& r : before) {
      if (has(after, r)) continue;
      report("requirement-removed", true,
             fmt::format("'require: {}' removed", r),
             "every call that was good still is");
    }
    for (const std::string& r : after) {
      if (has(before, r)) continue;
      report("requirement-added", false, fmt::format("'require: {}' added", r),
             "calls that were good may be errors");
    }
    if (shown(x.shape) != shown(y.shape)) {
      report("shape-changed", false,
             fmt::format("shape changed from '{}' to '{}'", shown(x.shape),
                         shown(y.shape)),
             "results may have other sizes");
    }
    if (shown(x.dtype) != shown(y.dtype)) {
      report("dtype-changed", false,
             fmt::format("dtype changed from '{}' to '{}'", shown(x.dtype),
                         shown(y.dtype)),
             "results may have another dtype");
    }
  }

  static std::string kernel(const lang::OperatorEntry& e,
                            const std::string& key) {
    for (const lang::DispatchItem& d : e.dispatch) {
      if (d.key.str() == key) return d.kernel.str();
    }
    return "";
  }

  void dispatch(const lang::OperatorEntry& x, const lang::OperatorEntry& y) {
    for (const lang::DispatchItem& d : x.dispatch) {
      const std::string& key = d.key.str();
      const std::string now = kernel(y, key);
      if (now == d.kernel.str()) continue;
      if (!now.empty()) {
        report("kernel-changed", true,
               fmt::format("kernel of {} changed from '{}' to '{}'", key,
                           d.kernel.str(), now),
               "callers see the same signature");
      } else if (y.kind == OperatorKind::kDispatch) {
        const bool covered = !kernel(y, "CompositeExplicitAutograd").empty() ||
                             !kernel(y, "CompositeImplicitAutograd").empty();
        report("kernel-removed", covered,
               fmt::format("kernel of {} removed", key),
               covered ? "a composite kernel serves it"
                       : "calls with tensors there are errors");
      }
    }
    for (const lang::DispatchItem& d : y.dispatch) {
      if (x.kind != OperatorKind::kDispatch ||
          !kernel(x, d.key.str()).empty()) {
        continue;
      }
      report("kernel-added", true,
             fmt::format("kernel of {} added", d.key.str()),
             "every call that was good still is");
    }
  }

  static std::string derivative_text(const lang::DerivativeItem* d) {
    if (!d) return "";
    switch (d->kind) {
      case lang::DerivativeItem::Kind::kAuto: return "auto";
      case lang::DerivativeItem::Kind::kNonDifferentiable:
        return "non_differentiable";
      case lang::DerivativeItem::Kind::kFormula: break;
    }
    return lang::to_string(d->formula.expr);
  }

  void derivatives(const lang::OperatorEntry& x, const lang::OperatorEntry& y) {
    // The derivatives of the operators that a composite calls take the place of
    // its own.
    const bool composite = y.kind == OperatorKind::kComposite;
    for (const Argument& a : x.schema.arguments()) {
      const std::string name(a.name.view());
      const std::string before = derivative_text(x.find_derivative(name));
      const std::string after = derivative_text(y.find_derivative(name));
      if (before == after || (after.empty() && composite)) continue;
      const bool had = !before.empty() && before != "non_differentiable";
      const std::string by = fmt::format("derivative by '{}' ", name);
      if (!had) {
        report("derivative-added", true, by + "added",
               "there was none to rely on");
      } else if (after.empty() || after == "non_differentiable") {
        report("derivative-removed", false, by + "removed",
               "gradients that were there are not");
      } else {
        report("derivative-changed", false,
               fmt::format("{}changed from '{}' to '{}'", by, before, after),
               "gradients may differ");
      }
    }
  }

  std::string op_;
  const Known* a_ = nullptr;
  const Known* b_ = nullptr;
};

void print_text(const std::vector<Change>& changes, std::size_t bad,
                std::ostream& out) {
  for (const Change& c : changes) {
    out << fmt::format("{} {}: {}\n{:14}{}  ({})\n",
                       c.compatible ? "compatible   " : "INCOMPATIBLE ", c.op,
                       c.detail, "", c.why,
                       c.after.empty() ? c.before : c.after);
  }
  out << fmt::format("{} change{}, {} incompatible\n", changes.size(),
                     changes.size() == 1 ? "" : "s", bad);
}

void print_json(const std::vector<Change>& changes, std::size_t bad,
                std::ostream& out) {
  out << fmt::format("{{\n  \"compatible\": {},\n  \"changes\": [", bad == 0);
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const Change& c = changes[i];
    out << fmt::format(
        R"({}    {{"operator": {}, "change": {}, "compatible": {},
     "detail": {},
     "why": {},
     "before": {}, "after": {}}})",
        i ? ",\n" : "\n", json_string(c.op), json_string(c.what), c.compatible,
        json_string(c.detail), json_string(c.why), json_string(c.before),
        json_string(c.after));
  }
  out << (changes.empty() ? "]\n}\n" : "\n  ]\n}\n");
}

}  // namespace

std::vector<Change> compare(const Model& before, const Model& after) {
  Comparer comparer;
  comparer.run(before, after);
  return std::move(comparer.out);
}

int diff_schemas(const std::string& before, const std::string& after, bool json,
                 std::ostream& out, std::ostream& err) {
  std::optional<Model> models[2];
  const std::string* const paths[2] = {&before, &after};
  bool good = true;
  for (int i = 0; i < 2; ++i) {
    const std::vector<std::string> files = schema_files(*paths[i]);
    if (files.empty()) {
      err << *paths[i] << ": error: no schema files here\n";
      good = false;
      continue;
    }
    // Only errors in the form of each file count; names may be those of another
    // tree.
    lang::Diagnostics form, other;
    for (const std::string& file : files) {
      if (!is_tags(file)) lang::read_schema_file(file, form);
    }
    if (!form.empty()) err << form.str_with_sources() << '\n';
    good &= form.empty();
    models[i].emplace(Model::load(files, other));
  }
  if (!good) return 2;
  const std::vector<Change> changes = compare(*models[0], *models[1]);
  const auto bad = static_cast<std::size_t>(
      std::count_if(changes.begin(), changes.end(),
                    [](const Change& c) { return !c.compatible; }));
  json ? print_json(changes, bad, out) : print_text(changes, bad, out);
  return bad == 0 ? 0 : 1;
}

}  // namespace sy::codegen
