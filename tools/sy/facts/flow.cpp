#include "tools/sy/facts/flow.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "aten/ops/factory.h"
#include "aten/tensor.h"
#include "aten/tensor_new.h"
#include "c10/process/error.h"
#include "tools/sy/calls/words.h"
#include "tools/sy/cases/arguments.h"
#include "tools/sy/facts/text.h"
#include "tools/sy/facts/view_flow.h"

namespace sy::tools {

namespace {

constexpr size_t kMostCells = 72;
constexpr size_t kWidest = 6;  // characters of a number

// A tensor of the arguments or of the results, and where its elements stand
// among those of all.
struct Grid {
  std::string name;
  std::vector<int64_t> sizes;
  size_t first = 0, count = 0;
  bool is_plain = false;  // no floating dtype: an index or a mask
  bool is_bool = false;
};

using Numbers = std::vector<double>;

std::string number(double v) {
  if (v == std::round(v)) return fmt::format("{:.0f}", v);
  return fmt::format("{:.2f}", v);
}

class Probe {
 public:
  Probe(OperatorHandle op, const std::string& words)
      : op_(op), words_(words), given_(parse_arguments(op, words)) {
    Arguments in = arguments();
    change_tensors(
        op_.schema(), [](const Tensor& t) { return t; }, in);
    for (const NamedTensor& n : in.tensors) {
      if (!n.tensor.defined()) continue;
      const Tensor t(n.tensor);
      Grid g{shown_name(n.name), t.sizes().vec(), elements_.size(),
             static_cast<size_t>(t.numel())};
      g.is_plain = t.scalar_type() != kDouble;
      g.is_bool = t.scalar_type() == kBool;
      const Tensor d = t.detach().to(kDouble).contiguous();
      elements_.insert(elements_.end(), d.data_ptr<double>(),
                       d.data_ptr<double>() + d.numel());
      inputs_.push_back(std::move(g));
    }
    // Makes the numbers differ, so that no result is one of them by chance.
    for (const Grid& g : inputs_) {
      for (size_t i = 0; !g.is_plain && i < g.count; ++i) {
        elements_[g.first + i] += 1e-7 * static_cast<double>(g.first + i + 1);
      }
    }
  }

  Json run() {
    if (elements_.empty() || elements_.size() > kMostCells) return {};
    const auto base = call(elements_, &outputs_);
    if (!base || base->empty()) return {};
    base_ = *base;
    if (base_.size() + elements_.size() > kMostCells) return {};
    const auto again = call(elements_);
    if (!again || !same(*again, base_)) return {};
    from_.resize(base_.size());
    for (const Grid& g : inputs_) {
      for (size_t i = 0; i < g.count; ++i) follow(g, g.first + i);
    }
    if (!says_something()) return {};
    return json();
  }

 private:
  static std::string shown_name(const std::string& name) {
    const size_t dot = name.find('.');
    return dot == name.npos ? name
                            : fmt::format("{}[{}]", name.substr(0, dot),
                                          name.substr(dot + 1));
  }

  Arguments arguments() const {
    Arguments in;
    in.values = given_;
    return in;
  }

  static bool same(double a, double b) {
    return a == b || (std::isnan(a) && std::isnan(b));
  }
  static bool same(const Numbers& a, const Numbers& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](double x, double y) { return same(x, y); });
  }

  // The operator's results for these elements; nullopt if it takes them for
  // wrong.
  std::optional<Numbers> call(const Numbers& elements,
                              std::vector<Grid>* grids = nullptr) const {
    Arguments in = arguments();
    size_t at = 0;
    const auto filled = [&](const Tensor& t) {
      const auto n = static_cast<size_t>(t.numel());
      const Numbers own(elements.begin() + static_cast<std::ptrdiff_t>(at),
                        elements.begin() + static_cast<std::ptrdiff_t>(at + n));
      at += n;
      if (n == 0) return t;
      return sy::tensor(own, TensorOptions().dtype(kDouble))
          .to(t.scalar_type())
          .view(t.sizes());
    };
    change_tensors(op_.schema(), filled, in);
    std::vector<Value> out(op_.schema().returns().size());
    try {
      op_.call_boxed(in.values.data(), in.values.size(), out.data(),
                     out.size());
    } catch (const InternalError&) {
      throw;
    } catch (const Error&) {
      return std::nullopt;
    }
    Numbers all;
    for (size_t r = 0; r < out.size(); ++r) {
      const auto name = op_.schema().returns()[r].name.view();
      const bool list = !out[r].is_tensor();
      size_t k = 0;
      for_each_tensor(out[r], [&](const TensorBase& t) {
        if (!t.defined()) return;
        const Tensor d = Tensor(t).detach().to(kDouble).contiguous();
        if (grids != nullptr) {
          std::string label = !name.empty()     ? std::string(name)
                              : out.size() == 1 ? "result"
                                                : fmt::format("result {}", r);
          if (list) label += fmt::format("[{}]", k);
          grids->push_back({std::move(label), d.sizes().vec(), all.size(),
                            static_cast<size_t>(d.numel())});
        }
        ++k;
        all.insert(all.end(), d.data_ptr<double>(),
                   d.data_ptr<double>() + d.numel());
      });
    }
    return all;
  }

  // The results that change with this element.
  std::set<size_t> changed(size_t cell, double value, bool* failed) const {
    Numbers elements = elements_;
    elements[cell] = value;
    const auto made = call(elements);
    std::set<size_t> out;
    *failed = !made || made->size() != base_.size();
    for (size_t k = 0; !*failed && k < base_.size(); ++k) {
      if (!same((*made)[k], base_[k])) out.insert(k);
    }
    return out;
  }

  // Finds the results that are made of this element. Large changes tell what
  // only the largest or the smallest one shows. An index matters to a result
  // that every change of it changes: other results only get what went elsewhere
  // before.
  void follow(const Grid& g, size_t cell) {
    const double v = elements_[cell];
    std::vector<double> values = {v + 0.01, v + 5, v - 5, 0};
    if (g.is_bool) {
      values = {1 - v};
    } else if (g.is_plain) {
      values = {v + 1, v - 1, v + 2, v - 2, v + 3, v - 3};
    }
    std::set<size_t> all;
    bool is_first = true;
    for (const double value : values) {
      if (g.is_plain && value < 0) continue;
      bool failed = false;
      const std::set<size_t> now = changed(cell, value, &failed);
      if (failed) continue;
      if (g.is_plain && !is_first) {
        std::erase_if(all, [&](size_t k) { return !now.contains(k); });
      } else {
        all.insert(now.begin(), now.end());
      }
      is_first = false;
    }
    for (const size_t k : all) from_[k].push_back(cell);
  }

  bool is_plain(size_t cell) const {
    return std::any_of(inputs_.begin(), inputs_.end(), [&](const Grid& g) {
      return g.is_plain && cell >= g.first && cell < g.first + g.count;
    });
  }

  // The only element of no index that a result is made of, if it has the same
  // value.
  std::optional<size_t> moved(size_t k) const {
    std::optional<size_t> out;
    for (const size_t f : from_[k]) {
      if (is_plain(f)) continue;
      if (out || elements_[f] != base_[k]) return std::nullopt;
      out = f;
    }
    return out;
  }

  size_t count(size_t k) const {
    return static_cast<size_t>(
        std::count_if(from_[k].begin(), from_[k].end(),
                      [&](size_t f) { return !is_plain(f); }));
  }

  bool says_something() {
    size_t elements = 0, results = 0, dense = 0;
    for (size_t f = 0; f < elements_.size(); ++f) elements += !is_plain(f);
    bool moves = true, stays = true;
    for (size_t k = 0; k < base_.size(); ++k) {
      const size_t n = count(k);
      results += n > 0;
      dense += n == elements;
      moves = moves && (n == 0 || moved(k));
      for (const size_t f : from_[k]) stays = stays && is_own(f, k);
    }
    moves_ = moves;
    return results > 0 && !stays && (moves || dense < base_.size());
  }

  // Whether an element stands where the result does.
  bool is_own(size_t f, size_t k) const {
    const Grid *in = nullptr, *out = nullptr;
    for (const Grid& g : inputs_) {
      if (f >= g.first && f < g.first + g.count) in = &g;
    }
    for (const Grid& g : outputs_) {
      if (k >= g.first && k < g.first + g.count) out = &g;
    }
    return in->sizes == out->sizes && f - in->first == k - out->first;
  }

  // Elements that are moved are counted; others are small whole numbers, of
  // which results can be checked by eye.
  Numbers readable() const {
    static constexpr double kNumbers[] = {3, 1, 4, 1, 5, 9, 2, 6,
                                          5, 3, 5, 8, 9, 7, 9, 3};
    Numbers out = elements_;
    size_t counted = 0;
    for (size_t f = 0; f < out.size(); ++f) {
      if (is_plain(f)) continue;
      out[f] = moves_ ? static_cast<double>(counted)
                      : kNumbers[counted % std::size(kNumbers)];
      ++counted;
    }
    return out;
  }

  static Json grid(const Grid& g, const std::vector<std::string>& texts) {
    Json out = {{"name", g.name}, {"sizes", g.sizes}};
    if (!texts.empty()) {
      out["texts"] = std::vector<std::string>(
          texts.begin() + static_cast<std::ptrdiff_t>(g.first),
          texts.begin() + static_cast<std::ptrdiff_t>(g.first + g.count));
    }
    if (g.is_plain) out["plain"] = true;
    return out;
  }

  Json json() const {
    const Numbers in = readable();
    std::vector<std::string> ins, outs;
    for (const double v : in) ins.push_back(number(v));
    const auto made = call(in);
    for (size_t k = 0; k < base_.size(); ++k) {
      const auto f = moves_ ? moved(k) : std::nullopt;
      const double v = f ? in[*f] : moves_ ? base_[k] : made ? (*made)[k] : NAN;
      outs.push_back(number(v));
    }
    const bool legible =
        std::all_of(outs.begin(), outs.end(), [](const std::string& t) {
          return t.size() <= kWidest && t.find('n') == t.npos;
        });
    if (!legible) outs.clear();
    Json out = {{"call", call_words(op_, words_)},
                {"inputs", Json::array()},
                {"outputs", Json::array()},
                {"from", from_}};
    if (moves_) out["moves"] = true;
    for (const Grid& g : inputs_) out["inputs"].push_back(grid(g, ins));
    for (const Grid& g : outputs_) out["outputs"].push_back(grid(g, outs));
    return out;
  }

  OperatorHandle op_;
  const std::string words_;
  const std::vector<Value> given_;
  std::vector<Grid> inputs_, outputs_;
  Numbers elements_, base_;
  std::vector<std::vector<size_t>> from_;  // by result
  bool moves_ = false;
};

// Whether the schema says itself what goes where.
bool is_described(OperatorInfo::Kind kind) {
  return kind == OperatorInfo::kPointwise || kind == OperatorInfo::kReduce ||
         kind == OperatorInfo::kScan;
}

}  // namespace

Json flow_of(OperatorHandle op, const std::string& words) {
  const OperatorInfo* const info = op.entry().info();
  const auto kind = info == nullptr ? OperatorInfo::kDispatch : info->kind;
  if (!op.schema().is_functional() || is_described(kind) ||
      op.entry().has_flag(OperatorDef::kRandom)) {
    return {};
  }
  if (kind != OperatorInfo::kDispatch) {
    Json view = view_flow_of(op, words);
    if (!view.is_null() || kind == OperatorInfo::kView) return view;
  }
  return Probe(op, words).run();
}

}  // namespace sy::tools
