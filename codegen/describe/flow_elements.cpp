#include <algorithm>
#include <cmath>
#include <exception>
#include <set>

#include "codegen/describe/flow.h"
#include "lang/element.h"
#include "lang/element_eval.h"
#include "lang/format.h"

namespace sy::codegen {
namespace {

using lang::Expr;
using lang::Uniform;
using Sizes = std::vector<std::int64_t>;
using Values = std::map<std::string, Uniform>;

// Numbers without an order, so that the largest one is somewhere inside.
constexpr int kNumbers[] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8,
                            9, 7, 9, 3, 2, 3, 8, 4, 6, 2, 6, 4};

Uniform number(std::int64_t k) {
  return Uniform::of(static_cast<double>(
      kNumbers[static_cast<std::size_t>(k) % std::size(kNumbers)]));
}

Uniform whole(std::int64_t k) {
  return Uniform::of(std::int64_t{
      kNumbers[static_cast<std::size_t>(k) % std::size(kNumbers)]});
}

std::string text(const Uniform& u) {
  const double v = u.as_double();
  if (!std::isfinite(v)) return std::isnan(v) ? "nan" : v > 0 ? "inf" : "-inf";
  if (v == std::round(v)) return fmt::format("{:.0f}", v);
  const std::string out = fmt::format("{:.2f}", v);
  return out;
}

// The arguments that are no tensors, bound in element expressions.
lang::Bindings bindings(const FlowExample& example) {
  lang::Bindings out;
  for (const auto& [name, v] : example.values) {
    if (const auto* i = std::get_if<std::int64_t>(&v)) {
      out[name] = lang::make_int(*i);
    } else if (const auto* b = std::get_if<bool>(&v)) {
      out[name] = lang::make_bool(*b);
    } else if (const auto* d = std::get_if<double>(&v)) {
      out[name] = lang::make_double(*d);
    } else if (const auto* s = std::get_if<std::string>(&v)) {
      out[name] = lang::make_string(*s);
    } else if (std::holds_alternative<std::monostate>(v)) {
      out[name] = lang::make_none();
    }
  }
  return out;
}

// The dims that a reduction takes away; all if it names none.
std::vector<bool> reduced_dims(const FlowExample& example, std::size_t ndim) {
  std::vector<bool> out(ndim, true);
  const auto dim = example.values.find("dim");
  if (dim == example.values.end()) return out;
  Sizes named;
  if (const auto* i = std::get_if<std::int64_t>(&dim->second)) named = {*i};
  if (const auto* l = std::get_if<Sizes>(&dim->second)) named = *l;
  if (named.empty()) return out;
  out.assign(ndim, false);
  for (const auto d : named) {
    const auto at = d < 0 ? d + static_cast<std::int64_t>(ndim) : d;
    if (at >= 0 && at < static_cast<std::int64_t>(ndim)) {
      out[static_cast<std::size_t>(at)] = true;
    }
  }
  return out;
}

// The values of one result of a reduction of `elements`.
class Reduction {
 public:
  Reduction(const lang::ReduceBody& body, const FlowExample& example,
            std::string self)
      : body_(body), bound_(bindings(example)), self_(std::move(self)) {}

  std::vector<Uniform> run(const std::vector<Uniform>& elements) const {
    Values acc;
    for (std::size_t k = 0; k < elements.size(); ++k) {
      const Values mapped = map(elements[k]);
      acc = k == 0 ? mapped : combined(acc, mapped);
    }
    std::vector<Uniform> out;
    if (body_.finish.empty()) {
      for (const lang::Accumulator& a : body_.accumulators) {
        out.push_back(acc.at(a.name));
      }
      return out;
    }
    acc["n"] = Uniform::of(static_cast<double>(elements.size()));
    for (const lang::Formula& f : body_.finish)
      out.push_back(eval(f.expr, acc));
    return out;
  }

 private:
  Uniform eval(const Expr& e, const Values& values) const {
    return lang::eval_tree(lang::specialise(e, bound_), values);
  }

  Values map(const Uniform& x) const {
    Values out;
    for (const lang::Accumulator& a : body_.accumulators) {
      out[a.name] = eval(a.map.expr, {{self_, x}});
    }
    return out;
  }

  Values combined(const Values& a, const Values& b) const {
    Values sides, out;
    const bool single =
        body_.accumulators.size() == 1 && body_.accumulators[0].name == "acc";
    for (const lang::Accumulator& acc : body_.accumulators) {
      sides[single ? "a" : "a." + acc.name] = a.at(acc.name);
      sides[single ? "b" : "b." + acc.name] = b.at(acc.name);
    }
    for (const lang::Accumulator& acc : body_.accumulators) {
      out[acc.name] = eval(acc.combine.expr, sides);
    }
    return out;
  }

  const lang::ReduceBody& body_;
  const lang::Bindings bound_;
  const std::string self_;
};

std::string result_name(const Operator& op, std::size_t k) {
  const auto returns = op.base.schema.returns();
  const auto name = returns[k].name.view();
  if (!name.empty()) return std::string(name);
  return returns.size() == 1 ? "result" : fmt::format("result {}", k);
}

}  // namespace

std::optional<Flow> reduce_flow(const Operator& op, const FlowExample& given) {
  if (given.tensors.size() != 1) return std::nullopt;
  FlowExample example = given;
  const std::string& self = example.tensors[0];
  Sizes sizes = std::get<FlowTensor>(example.values.at(self)).sizes;
  if (sizes == Sizes{2, 3}) sizes = {3, 4};
  const std::vector<bool> gone = reduced_dims(example, sizes.size());
  const auto n = static_cast<std::size_t>(count_of(sizes));
  if (n == 0 || sizes.empty()) return std::nullopt;

  // Cells of the result with the dims kept, as ones.
  Sizes kept = sizes, left;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (gone[d]) {
      kept[d] = 1;
    } else {
      left.push_back(sizes[d]);
    }
  }
  const Sizes strides = contiguous_strides(kept);
  std::vector<std::vector<int>> groups(
      static_cast<std::size_t>(count_of(kept)));
  for (std::size_t k = 0; k < n; ++k) {
    auto rest = static_cast<std::int64_t>(k);
    std::int64_t at = 0;
    for (std::size_t d = sizes.size(); d-- > 0;) {
      if (!gone[d]) at += rest % sizes[d] * strides[d];
      rest /= sizes[d];
    }
    groups[static_cast<std::size_t>(at)].push_back(static_cast<int>(k));
  }

  Flow out;
  out.call = call_text(op, example);
  Flow::Grid input{self, sizes, {}, ""};
  // Truth values are told apart by a few zeros.
  const Expr& identity = op.entry->reduce->accumulators[0].identity.expr;
  const bool truths = identity && identity->kind == lang::ExprKind::kBool;
  std::vector<Uniform> elements;
  for (std::size_t k = 0; k < n; ++k) {
    const auto i = static_cast<std::int64_t>(k);
    elements.push_back(truths ? Uniform::of(k % 7 < 4 ? 1.0 : 0.0) : number(i));
    input.texts.push_back(text(elements.back()));
  }
  out.inputs.push_back(std::move(input));

  const std::size_t results = op.base.schema.returns().size();
  const auto keepdim = example.values.find("keepdim");
  const bool can_keep = keepdim != example.values.end();
  const bool keeps = can_keep && std::get_if<bool>(&keepdim->second) &&
                     std::get<bool>(keepdim->second);
  std::string note;
  if (can_keep) {
    note = keeps ? "else " + sizes_text(left) + " without keepdim"
                 : "with keepdim " + sizes_text(kept);
  }
  for (std::size_t r = 0; r < results; ++r) {
    Flow::Grid grid{result_name(op, r), kept, {}, r == 0 ? note : ""};
    grid.shape = sizes_text(keeps ? kept : left);
    out.outputs.push_back(std::move(grid));
    out.from.insert(out.from.end(), groups.begin(), groups.end());
  }
  try {
    const Reduction reduction(*op.entry->reduce, example, self);
    for (const auto& group : groups) {
      std::vector<Uniform> values;
      for (const int k : group) {
        values.push_back(elements[static_cast<std::size_t>(k)]);
      }
      const auto made = reduction.run(values);
      for (std::size_t r = 0; r < results && r < made.size(); ++r) {
        out.outputs[r].texts.push_back(text(made[r]));
      }
    }
  } catch (const std::exception&) {
    // The flow is right without the numbers.
    for (auto& o : out.outputs) o.texts.clear();
  }
  return out;
}

std::optional<Flow> scan_flow(const Operator& op, const FlowExample& example) {
  if (example.tensors.empty()) return std::nullopt;
  constexpr std::int64_t kLength = 6;
  Flow out;
  out.is_scan = true;
  out.call = call_text(op, example);
  Flow::Grid input{example.tensors[0], {kLength}, {}, "one row along dim"};
  Flow::Grid values{result_name(op, 0), {kLength}, {}, ""};
  Flow::Grid places{"", {kLength}, {}, ""};
  try {
    Uniform acc, at;
    for (std::int64_t k = 0; k < kLength; ++k) {
      const Uniform x = number(k), i = Uniform::of(k);
      if (k == 0) {
        acc = x;
        at = i;
      } else {
        const Uniform made = lang::eval_tree(op.entry->scan->combine.expr,
                                             {{"a", acc}, {"b", x}});
        if (!op.entry->scan->chooses) {
          acc = made;
        } else if (made.as_double() != 0) {
          acc = x;
          at = i;
        }
      }
      input.texts.push_back(text(x));
      values.texts.push_back(text(acc));
      places.texts.push_back(text(at));
      out.from.push_back({static_cast<int>(k)});
    }
  } catch (const std::exception&) {
    return std::nullopt;
  }
  const std::string combine = op.entry->scan->combine.text.str();
  values.note =
      op.entry->scan->chooses ? "b where " + combine + ", else a" : combine;
  if (values.note.size() < 30) {
    values.note += " of a from the left and b from above";
  }
  out.inputs.push_back(std::move(input));
  out.outputs.push_back(std::move(values));
  if (op.entry->scan->chooses && op.base.schema.returns().size() > 1) {
    places.name = result_name(op, 1);
    places.is_plain = true;
    out.outputs.push_back(std::move(places));
    for (std::int64_t k = 0; k < kLength; ++k) out.from.push_back({});
  }
  return out;
}

std::optional<Flow> broadcast_flow(const Operator& op,
                                   const FlowExample& example) {
  std::set<Sizes> different;
  Sizes sizes;
  const auto meta = [&](const std::string& name) -> const Sizes& {
    return std::get<FlowTensor>(example.values.at(name)).sizes;
  };
  for (const std::string& name : example.tensors) {
    different.insert(meta(name));
    if (meta(name).size() > sizes.size()) sizes.resize(meta(name).size(), 1);
  }
  if (different.size() < 2 || example.tensors.size() > 3) return std::nullopt;
  sizes.assign(sizes.size(), 1);
  for (const std::string& name : example.tensors) {
    const Sizes& own = meta(name);
    const std::size_t skip = sizes.size() - own.size();
    for (std::size_t d = 0; d < own.size(); ++d) {
      std::int64_t& s = sizes[skip + d];
      if (own[d] != 1 && s != 1 && s != own[d]) return std::nullopt;
      s = std::max(s, own[d]);
    }
  }
  Flow out;
  out.call = call_text(op, example);
  out.from.resize(static_cast<std::size_t>(count_of(sizes)));
  std::int64_t first = 0;
  std::vector<Uniform> numbers;
  for (const std::string& name : example.tensors) {
    const Sizes& own = meta(name);
    const Sizes strides = contiguous_strides(own);
    const std::size_t skip = sizes.size() - own.size();
    for (std::size_t k = 0; k < out.from.size(); ++k) {
      auto rest = static_cast<std::int64_t>(k);
      std::int64_t at = first;
      for (std::size_t d = sizes.size(); d-- > 0;) {
        const std::int64_t i = rest % sizes[d];
        rest /= sizes[d];
        if (d >= skip && own[d - skip] != 1) at += i * strides[d - skip];
      }
      out.from[k].push_back(static_cast<int>(at));
    }
    out.inputs.push_back({name, own, {}, ""});
    for (std::int64_t k = 0; k < count_of(own); ++k) {
      const auto& word = example.values.at(name);
      const bool truth = std::get<FlowTensor>(word).is_bool;
      numbers.push_back(truth ? Uniform::of((first + k) % 2)
                              : whole(first + k));
      out.inputs.back().texts.push_back(text(numbers.back()));
    }
    first += count_of(own);
  }
  out.outputs.push_back({"result", sizes, {}, ""});
  try {
    const Expr body = lang::specialise(op.entry->pointwise->results[0].expr,
                                       bindings(example));
    for (const auto& from : out.from) {
      Values values;
      for (std::size_t k = 0; k < from.size(); ++k) {
        values[example.tensors[k]] = numbers[static_cast<std::size_t>(from[k])];
      }
      out.outputs[0].texts.push_back(text(lang::eval_tree(body, values)));
    }
  } catch (const std::exception&) {
    out.outputs[0].texts.clear();
  }
  return out;
}

}  // namespace sy::codegen
