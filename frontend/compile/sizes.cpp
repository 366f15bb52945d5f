#include "frontend/compile/sizes.h"

#include <algorithm>
#include <bit>

#include "c10/error.h"

namespace sy::compiling {

namespace {

using capture::SizeRule;

bool same_place(Place a, Place b) {
  return a.kind == b.kind && a.index == b.index && a.step == b.step;
}

bool same_outer(const Variant& x, const Variant& y) {
  return std::equal(x.outer.begin(), x.outer.end(), y.outer.begin(),
                    y.outer.end(), [](const Outer& a, const Outer& b) {
                      return a.tensor == b.tensor &&
                             a.storage == b.storage && a.guard == b.guard;
                    });
}

bool next_grads(const Variant& x, const Variant& y, const SizeRule& rule,
                Variant* v) {
  if (x.grads.size() != y.grads.size()) return false;
  for (size_t i = 0; i < x.grads.size(); ++i) {
    const Grad &a = x.grads[i], &b = y.grads[i];
    if (!same_place(a.of, b.of) || a.effect != b.effect || a.read != b.read ||
        a.result != b.result) {
      return false;
    }
    Grad g = a;
    if (!a.before.resized(b.before, rule, &g.before)) return false;
    v->grads.push_back(g);
  }
  return true;
}

bool next_inputs(const Variant& x, const Variant& y, const SizeRule& rule,
                 Variant* v) {
  if (x.inputs.size() != y.inputs.size()) return false;
  for (size_t i = 0; i < x.inputs.size(); ++i) {
    const BoundInput &a = x.inputs[i], &b = y.inputs[i];
    BoundInput in = a;
    int64_t bytes = 0;
    if (!same_place(a.place, b.place) || a.whole != b.whole ||
        a.written != b.written || !rule.next(a.offset, b.offset, &in.offset)) {
      return false;
    }
    if (a.whole) {
      if (!rule.next(a.first, b.first, &in.first) ||
          !rule.next(static_cast<int64_t>(a.bytes),
                     static_cast<int64_t>(b.bytes), &bytes)) {
        return false;
      }
      in.bytes = static_cast<size_t>(bytes);
    }
    v->inputs.push_back(in);
  }
  return true;
}

bool same_outputs(const Variant& x, const Variant& y) {
  return x.lengths == y.lengths &&
         std::equal(x.outputs.begin(), x.outputs.end(), y.outputs.begin(),
                    y.outputs.end(), [](const Output& a, const Output& b) {
                      return a.defined == b.defined &&
                             a.is_place == b.is_place &&
                             a.requires_grad == b.requires_grad &&
                             a.result == b.result &&
                             (!a.defined || same_place(a.place, b.place));
                    });
}

bool next_backward(const Variant& x, const Variant& y, const SizeRule& rule,
                   Variant* v) {
  if ((x.backward == nullptr) != (y.backward == nullptr)) return false;
  if (x.backward == nullptr) return true;
  const Backward &a = *x.backward, &b = *y.backward;
  const auto same_edge = [](const autograd::Edge& e, const autograd::Edge& f) {
    return e.node == f.node && e.input_nr == f.input_nr;
  };
  if (a.graph == nullptr || b.graph == nullptr || !a.flow.failing.empty() ||
      !b.flow.failing.empty() || a.flow.outputs != b.flow.outputs ||
      a.flow.sources != b.flow.sources ||
      a.flow.arguments != b.flow.arguments ||
      !std::equal(a.flow.edges.begin(), a.flow.edges.end(),
                  b.flow.edges.begin(), b.flow.edges.end(), same_edge)) {
    return false;
  }
  auto made = std::make_shared<Backward>();
  made->graph = a.graph->resized(*b.graph, rule);
  if (made->graph == nullptr) return false;
  made->flow.outputs = a.flow.outputs;
  made->flow.sources = a.flow.sources;
  made->flow.edges = a.flow.edges;
  made->flow.arguments = a.flow.arguments;
  made->runs = std::make_shared<std::atomic<int64_t>>(0);
  v->backward = std::move(made);
  return true;
}

}  // namespace

std::shared_ptr<Variant> resized(const Variant& x, const Variant& y,
                                 const Arguments& a, SizeRule* rule) {
  if (!x.steps.empty() || !y.steps.empty() || !same_outer(x, y)) return nullptr;
  auto v = std::make_shared<Variant>();
  if (!x.arguments.find_rule(y.arguments, a, rule) ||
      !x.arguments.resized(y.arguments, *rule, &v->arguments) ||
      !v->arguments.holds(a)) {
    return nullptr;
  }
  v->outer = x.outer;
  v->outputs = x.outputs;
  v->lengths = x.lengths;
  if (!same_outputs(x, y) || !next_grads(x, y, *rule, v.get()) ||
      !next_inputs(x, y, *rule, v.get()) ||
      !next_backward(x, y, *rule, v.get())) {
    return nullptr;
  }
  v->forward = x.forward->resized(*y.forward, *rule);
  return v->forward == nullptr ? nullptr : v;
}

bool OpenSizes::is_trusted(const Family& f, int64_t n) {
  const auto kind = [](int64_t m) {
    return std::min(std::countr_zero(static_cast<uint64_t>(m)), 3);
  };
  bool below = false, above = false;
  for (const int64_t c : f.confirmed) {
    if (c <= 1 || kind(c) != kind(n)) continue;
    below = below || c <= n;
    above = above || c >= n;
  }
  return n > 1 && below && above;
}

void OpenSizes::add(const std::shared_ptr<const Variant>& v,
                    const std::vector<std::shared_ptr<const Variant>>& older) {
  constexpr size_t kMost = 8;
  for (const auto& o : older) {
    int tensor = 0, dim = 0;
    SizeRule rule;
    if (!o->arguments.find_rule(v->arguments, &rule, &tensor, &dim)) continue;
    families_.insert(
        families_.begin(),
        {o, v, str("size {} of tensor {}", dim, tensor), {rule.n1, rule.n2},
         {}, 0});
    if (families_.size() > kMost) families_.pop_back();
    return;
  }
}

OpenSizes::Opened OpenSizes::open(const Arguments& a) {
  for (size_t i = 0; i < families_.size(); ++i) {
    Family& f = families_[i];
    if (!f.wrong.empty()) continue;
    SizeRule rule;
    auto v = resized(*f.first, *f.second, a, &rule);
    if (v == nullptr || !v->matches(a)) continue;
    ++f.opened;
    last_n_ = rule.n;
    return {std::move(v), i, is_trusted(f, rule.n),
            str("{} is {}; graphs of {} and {} say how", f.what, rule.n,
                rule.n1, rule.n2)};
  }
  return {};
}

void OpenSizes::confirm(const Opened& o, bool equal) {
  Family& f = families_[o.family];
  (equal ? f.confirmed : f.wrong).push_back(last_n_);
}

std::string OpenSizes::text() const {
  std::string text;
  for (const Family& f : families_) {
    if (f.opened == 0 && f.wrong.empty()) continue;
    text += str("{} is open: {} graphs were made from those of {} and {}",
                f.what, f.opened, f.confirmed[0], f.confirmed[1]);
    if (!f.wrong.empty()) {
      text += str("; the code does something else for {}", f.wrong[0]);
    }
    text += "\n";
  }
  return text;
}

}  // namespace sy::compiling
