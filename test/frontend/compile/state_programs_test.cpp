#include <gtest/gtest.h>
#include <sy/compile.h>
#include <sy/nn.h>
#include <sy/optim.h>
#include <sy/sy.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <memory>
#include <random>
#include <utility>

#include "test/backends/lazy/programs.h"

// Random steps on a model, compiled and as they are, side by side for 50 calls.
// Between calls the model is changed at random: modules, modes, options,
// captured tensors and their sizes, hooks, numbers, what is given as arguments
// and how many rows these have. Arguments may be captured tensors, each other,
// or views of these. Steps branch on elements and on sizes too.
// Both sides must have the same results, elements, gradients and calls of
// hooks.
//
// SY_SEED gives another start, SY_PROGRAMS another number of programs,
// SY_SECONDS a time instead, SY_CHANGES the kinds of changes alone ("3,7").
//
// Never varied: devices, threads, and how many columns there are. Other tests
// cover numbers in places that nothing can watch (guards_test), and tensors
// that the code only asks for their properties (seen_test).

namespace sy::test {
namespace {

constexpr int kCalls = 50;
constexpr int64_t kSize = 4;

using Random = std::mt19937_64;

struct Change {
  uint32_t kind, a, b;
};
struct Steps {
  std::vector<Call> body;
  uint32_t ending = 0, optimizer = 0;
  bool described = false;  // by the backend "debug"
  // The place of the model: in the stack, on the heap, there behind a variable.
  enum Home : uint32_t { kStack, kHeap, kVariable } home = kStack;
  uint64_t seed = 0;
  std::vector<std::vector<Change>> changes;  // before each call
};

TensorOptions like() { return TensorOptions(kDouble); }

class World {
  // These lie in the first 64 bytes, which are watched.
  double scale_ = 1.5;
  int64_t count_ = 1;
  bool flag_ = false, other_ = true;
  const Steps* const p_;
  // The seed stands before the modules, with a number: what is in memory beside
  // members may lead to anything, and then the code seems to write.
  struct Seed {
    const uint64_t number;
    explicit Seed(uint64_t seed) : number(seed) { manual_seed(seed); }
  } seed_;

  // No bias before the norm: its gradient would be nothing but rounding, which
  // Adam makes steps of.
  static nn::Linear first_linear() {
    return nn::Linear(nn::LinearOptions(kSize, kSize).bias(false));
  }
  struct NetImpl : nn::Module {
    nn::Linear first = register_module("first", first_linear());
    nn::Dropout drop = register_module("drop", nn::Dropout(0.3));
    nn::BatchNorm1d norm = register_module("norm", nn::BatchNorm1d(kSize));
    nn::Sequential rest = register_module(
        "rest",
        nn::Sequential(nn::Linear(kSize, kSize), nn::Tanh(), nn::Dropout(0.2)));
    double factor = 0.5;
    Tensor forward(const Tensor& x) { return norm(first(x)) * factor; }
  };
  SY_MODULE(Net);

  Net net_;
  std::vector<nn::Linear> list_;
  std::vector<Tensor> tensors_;
  std::vector<Tensor> old_;  // what was replaced lives on
  std::vector<nn::Linear> old_modules_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  std::unique_ptr<optim::LRScheduler> scheduler_;
  std::vector<autograd::HookHandle> hooks_;
  std::vector<nn::HookHandle> module_hooks_;
  int hooks_made_ = 0;

 public:
  // The hooks' numbers and notes. Hooks of different tensors run in any order.
  std::vector<std::pair<int, double>> log;
  // The arguments of the next call.
  int number_type = 0, argument = 0, second = 0;
  int64_t rows = kSize;
  // The input of a step is off by this part of it.
  double shake = 0;

  explicit World(const Steps& p) : p_(&p), seed_(p.seed) {
    for (int i = 0; i < 2; ++i) list_.push_back(nn::Linear(kSize, kSize));
    net_->to(kDouble);
    for (auto& l : list_) l->to(kDouble);
    for (int i = 0; i < 3; ++i) tensors_.push_back(fresh());
    tensors_.push_back(randn({3, kSize, kSize}, like()).select(0, 1));
    tensors_.push_back(fresh().requires_grad_());
    std::vector<Tensor> parameters = net_->parameters();
    for (auto& l : list_) {
      for (const Tensor& t : l->parameters()) parameters.push_back(t);
    }
    using namespace optim;
    if (p.optimizer % 3 == 0) {
      optimizer_ = std::make_unique<SGD>(parameters, SGDOptions(0.05));
    } else if (p.optimizer % 3 == 1) {
      optimizer_ =
          std::make_unique<SGD>(parameters, SGDOptions(0.05).momentum(0.9));
      OneCycleLROptions q;
      q.total_steps = 4 * kCalls;
      scheduler_ = std::make_unique<OneCycleLR>(*optimizer_, 0.05, q);
    } else {
      optimizer_ = std::make_unique<Adam>(parameters, AdamOptions(0.01));
      scheduler_ = std::make_unique<StepLR>(*optimizer_, 3, 0.7);
    }
  }

  static Tensor fresh() { return randn({kSize, kSize}, like()); }

  template <class N>
  Tensor step(const Tensor& x, const Tensor& z, N number) {
    Tensor y = shake != 0 ? shaken(x) : x;
    for (const Call& c : p_->body) y = call(c, x, z, y, number);
    if (p_->ending % 3 == 0) return y;
    const Tensor loss = (y - 0.3).square().mean();
    if (p_->ending % 3 == 1) return loss;
    if (!loss.requires_grad()) return loss;
    optimizer_->zero_grad();
    loss.backward();
    optimizer_->step();
    return loss.detach();
  }

  // Each element by another part of it: a norm takes out what all share.
  Tensor shaken(const Tensor& x) const {
    return x * (1 + shake * arange(x.numel(), like()).sin().view(x.sizes()));
  }

  // A row of it if it does not fit the rows of y.
  static Tensor fitting(const Tensor& t, const Tensor& y) {
    const int64_t rows = t.size(0);
    return rows == 1 || rows == y.size(0) ? t : t.narrow(0, 0, 1);
  }

  Tensor call(const Call& c, const Tensor& x, const Tensor& z, const Tensor& y,
              auto number) {
    const Tensor& t = tensors_[c.a % tensors_.size()];
    switch (c.kind % kCallKinds) {
      case 0: return net_(y);
      case 1: return net_->forward(y);
      case 2: return net_->rest->forward(y);
      case 3: return list_[c.a % 2](y);
      case 4: return net_->drop(y);
      case 5: return y * scale_;
      case 6: return y + fitting(t, y);
      case 7: return y - fitting(t.t(), y);
      case 8: return y * t.select(0, c.b % 2);
      case 9:
        if (t.requires_grad()) return y + t.detach() * 0.1;
        {
          const NoGradGuard no_grad;
          Tensor(t).add_(y.detach().mean() * 0.1);
        }
        return y;
      case 10: return flag_ ? y.tanh() : y.sin();
      case 11: return y * x;
      case 12: {
        if (x.requires_grad()) return y;
        Tensor(x).mul_(0.5);
        return y;
      }
      case 13: {
        // Not 0 if the default is a short dtype.
        const Tensor third = (ones({kSize}) / 3).to(kDouble);
        return y + zeros({kSize}) + (third * 3 - 1) * 1e7;
      }
      case 14: return y + number + 0.1 * double(sizeof number);
      case 15: return y * double(count_) / 4;
      case 16: return y - double(y.size(0)) / 8;
      case 17: return y.size(0) > 3 ? y * 0.5 : y + 0.5;
      case 18: return y * 0.5 + fitting(z, y);
      case 19:
        if (!z.requires_grad()) Tensor(z).mul_(0.5);
        return y - z.size(0);
      default:
        // Few programs look, since what looks and trains is not kept.
        if (c.b % 4 != 0) return y.sigmoid();
        // Behind a norm the sum is 0, but for rounding.
        return y.detach().sum().gt(0.37).template item<bool>() ? y * 0.7
                                                               : y + 0.1;
    }
  }
  static constexpr uint32_t kCallKinds = 21, kFirstWithoutModules = 5;

  // The first argument of a call.
  Tensor input(int i) {
    const Tensor& t = tensors_[size_t(i) % tensors_.size()];
    switch (argument % 6) {
      case 1: return t;
      case 2: return t.t();
      case 3: return randn({rows, kSize}, like()).requires_grad_();
      case 4: return list_[0]->weight * 2;
      case 5: return net_->first->weight;
      default: return randn({rows, kSize}, like());
    }
  }
  // Beside x.
  Tensor second_input(int i, const Tensor& x) {
    const Tensor& t = tensors_[size_t(i) % tensors_.size()];
    switch (second % 7) {
      case 1: return x;
      case 2: return x.size(0) == kSize ? x.t() : x;
      case 3: return t;
      case 4: return t.narrow(0, 0, 1);
      case 5: return randn({rows, kSize}, like()).requires_grad_();
      case 6: return list_[1]->weight;
      default: return randn({rows, kSize}, like());
    }
  }

  void change(const Change& c) {
    const NoGradGuard no_grad;
    Tensor& t = tensors_[c.a % tensors_.size()];
    nn::Linear& l = list_[c.a % 2];
    const auto keep = [&](const Tensor& x) { old_.push_back(x); };
    const auto dense = [&] { return fresh() * 0.5; };
    switch (c.kind % kKinds) {
      case 0: return net_->train(c.a % 2 == 0);
      case 1: return net_->rest->train(c.a % 2 == 0);
      case 2: return net_->drop->train(c.a % 2 == 0);
      case 3:
        old_modules_.push_back(l);
        l = nn::Linear(kSize, kSize);
        return l->to(kDouble);
      case 4: return std::swap(list_[0], list_[1]);
      case 5:
        old_modules_.push_back(net_->first);
        net_->first = net_->replace_module("first", first_linear());
        return net_->first->to(kDouble);
      case 6:
        keep(l->weight);
        l->weight = l->set_parameter("weight", dense());
        return;
      case 7: net_->factor = 0.1 * (1 + c.a % 9); return;
      case 8: scale_ = 0.25 * (1 + c.a % 7); return;
      case 9: flag_ = c.a % 2 == 0; return;
      case 10: ++count_; return;
      case 11:
        keep(t);
        t = dense();
        return;
      case 12: return std::swap(t, tensors_[c.b % tensors_.size()]);
      case 13:
        if (!t.requires_grad()) t.t_();
        return;
      case 14:
        if (!t.requires_grad()) t.as_strided_({kSize, kSize}, {1, kSize}, 0);
        return;
      case 15: return set_default_dtype(c.a % 2 == 0 ? kFloat : kDouble);
      case 16: return set_option(c);
      case 17:
        if (scheduler_) scheduler_->step();
        return;
      case 18: return hook(c);
      case 19:
        for (auto& h : hooks_) h.remove();
        for (auto& h : module_hooks_) h.remove();
        hooks_.clear();
        module_hooks_.clear();
        return;
      case 20:
        argument = int(c.a % 6);
        second = int(c.b % 7);
        return;
      case 21: number_type = int(c.a % 7); return;
      case 22:
        if (t.is_leaf() && !t.is_view()) t.requires_grad_(!t.requires_grad());
        return;
      case 23:
        if (t.requires_grad() || t.is_view()) return;
        return static_cast<void>(t.resize_({1 + c.b % 2 * 3, kSize}));
      case 24:
      case 25:
        // Two rows are left out: behind a norm they are the same, whatever they
        // are, and their gradient is nothing but rounding.
        rows = std::array{4, 4, 1, 3, 5, 7}[c.a % 6];
        return;
      default: net_->drop->options.p(0.1 * (c.a % 5));
    }
  }
  static constexpr uint32_t kKinds = 27;

  void set_option(const Change& c) {
    using namespace optim;
    OptimizerOptions& o = optimizer_->param_groups()[0].options();
    const double x = 0.1 * (1 + c.b % 8);
    if (p_->optimizer % 3 == 2) {
      auto& adam = static_cast<AdamOptions&>(o);
      switch (c.a % 4) {
        case 0: adam.lr(0.01 * x); return;
        case 1: adam.betas({x, 0.99}); return;
        case 2: adam.weight_decay(c.b % 2 == 0 ? 0 : 0.1 * x); return;
        default: adam.eps(1e-3 * x); return;
      }
    }
    auto& sgd = static_cast<SGDOptions&>(o);
    switch (c.a % 4) {
      case 0: sgd.lr(0.1 * x); return;
      case 1: sgd.momentum(sgd.momentum() == 0 ? 0 : x); return;
      case 2: sgd.weight_decay(c.b % 2 == 0 ? 0 : 0.1 * x); return;
      default: sgd.dampening(0.5 * x); return;
    }
  }

  void hook(const Change& c) {
    const auto note = [this, who = 10 * ++hooks_made_](int what,
                                                       const Tensor& g) {
      log.emplace_back(who + what, g.sum().item<double>());
    };
    const Tensor w = list_[c.a % 2]->weight;
    switch (c.b % 4) {
      case 0:
        hooks_.push_back(w.register_hook([note](const Tensor& g) {
          note(1, g);
          return g * 0.5;
        }));
        return;
      case 1:
        hooks_.push_back(w.register_post_accumulate_grad_hook(
            [note](const Tensor& leaf) { note(2, leaf.grad()); }));
        return;
      case 2:
        module_hooks_.push_back(list_[c.a % 2]->register_forward_hook(
            [note](nn::Module&, TensorList, std::vector<Tensor>& out) {
              note(3, out[0].detach());
              out[0] = out[0] * 0.5;
            }));
        return;
      default:
        module_hooks_.push_back(net_->first->register_full_backward_hook(
            [note](nn::Module&, std::vector<Tensor>&, TensorList g) {
              if (g[0].defined()) note(4, g[0]);
            }));
    }
  }

  // After a call that threw: which gradients had arrived by then is not
  // defined.
  void forget_gradients() {
    for (const Tensor& t : tensors()) {
      if (t.grad().defined()) t.mutable_grad() = Tensor();
    }
    log.clear();
  }

  // All that a step may have changed.
  std::vector<Tensor> state() const {
    std::vector<Tensor> all;
    for (const Tensor& t : tensors()) {
      all.push_back(t.detach());
      all.push_back(t.grad());
    }
    return all;
  }

 private:
  std::vector<Tensor> tensors() const {
    std::vector<Tensor> all;
    const auto add = [&](const Tensor& t) { all.push_back(t); };
    for (const Tensor& t : net_->parameters()) add(t);
    for (const Tensor& t : net_->buffers()) add(t);
    for (const auto& l : list_) {
      for (const Tensor& t : l->parameters()) add(t);
    }
    for (const Tensor& t : tensors_) add(t);
    for (const Tensor& t : old_) add(t);
    for (const auto& l : old_modules_) {
      for (const Tensor& t : l->parameters()) add(t);
    }
    return all;
  }
};

// A difference; `what` is "" if there is none.
struct Trouble {
  std::string what;
  // The size of a difference of elements or hooks' notes; no other has a size.
  double by = std::numeric_limits<double>::infinity();
  int call = 0;

  bool none() const { return what.empty(); }
  Trouble within(const std::string& where) const {
    return {where + what, by, call};
  }
};

Trouble differ(const Tensor& got, const Tensor& want) {
  if (got.defined() != want.defined()) {
    return {got.defined() ? "one too many" : "one is missing"};
  }
  if (!got.defined()) return {};
  if (got.sizes() != want.sizes() || got.scalar_type() != want.scalar_type()) {
    return {"another shape or dtype"};
  }
  if (allclose(got.to(kDouble), want.to(kDouble), 1e-5, 1e-6, true)) return {};
  const double by = (got - want).abs().max().item<double>();
  return {str("elements differ, by {}", by), by};
}

struct Ran {
  Tensor result, x, z;
  std::string threw;
};

// One call, and the gradients of its result.
template <class F>
Ran run_call(World& w, int i, F&& f) {
  Ran r;
  manual_seed(1000 + uint64_t(i));
  r.x = w.input(i);
  r.z = w.second_input(i, r.x);
  try {
    switch (w.number_type) {
      case 1: r.result = f(r.x, r.z, 0.0); break;
      case 2: r.result = f(r.x, r.z, 0); break;
      case 3: r.result = f(r.x, r.z, false); break;
      case 4: r.result = f(r.x, r.z, 0.5); break;
      case 5: r.result = f(r.x, r.z, 2); break;
      case 6: r.result = f(r.x, r.z, true); break;
      default: r.result = f(r.x, r.z, 0.5f); break;
    }
    if (r.result.requires_grad() && i % 2 == 0) r.result.sum().backward();
  } catch (const Error& e) {
    r.threw = e.what();
  }
  return r;
}

auto steps_of(World& w) {
  return [&w](const Tensor& x, const Tensor& z, auto n) {
    return w.step(x, z, n);
  };
}

// Whether f, which steps in `mine`, agrees with the steps of `other` in all
// calls.
template <class F>
Trouble trouble(const Steps& p, World& mine, F&& f, World& other) {
  struct Dtype {
    ~Dtype() { set_default_dtype(kFloat); }
  } dtype;
  for (int i = 0; i < kCalls; ++i) {
    for (const Change& c : p.changes[size_t(i)]) {
      manual_seed(uint64_t(i));
      mine.change(c);
      manual_seed(uint64_t(i));
      other.change(c);
    }
    const auto fail = [&](Trouble t) {
      t.call = i;
      return t.within(str("call {}: ", i));
    };
    const Ran want = run_call(other, i, steps_of(other));
    const Ran got = run_call(mine, i, f);
    if (got.threw.empty() != want.threw.empty()) {
      return fail({"threw '" + got.threw + "', not '" + want.threw + "'"});
    }
    if (!want.threw.empty()) {
      mine.forget_gradients();
      other.forget_gradients();
    }
    Trouble why = differ(got.result, want.result);
    if (!why.none()) return fail(why.within("the result: "));
    for (const auto& [x, y] :
         {std::pair(got.x, want.x), std::pair(got.z, want.z)}) {
      why = differ(x.detach(), y.detach());
      if (!why.none()) return fail(why.within("an argument: "));
      if (x.is_leaf() && want.threw.empty()) why = differ(x.grad(), y.grad());
      if (!why.none()) return fail(why.within("an argument's gradient: "));
    }
    const std::vector<Tensor> a = mine.state(), b = other.state();
    for (size_t k = 0; k < b.size(); ++k) {
      why = differ(a[k], b[k]);
      if (!why.none()) return fail(why.within(str("tensor {}: ", k)));
    }
    if (mine.log.size() != other.log.size()) {
      return fail(
          {str("hooks: {} notes, not {}", mine.log.size(), other.log.size())});
    }
    for (World* const w : {&mine, &other}) {
      std::stable_sort(w->log.begin(), w->log.end(),
                       [](auto& l, auto& r) { return l.first < r.first; });
    }
    for (size_t k = 0; k < other.log.size(); ++k) {
      const auto& [who, got_note] = mine.log[k];
      const auto& [whose, note] = other.log[k];
      const double by = std::abs(got_note - note);
      const bool same = by <= 1e-5 * (1 + std::abs(note)) ||
                        (std::isnan(note) && std::isnan(got_note));
      if (who != whose || !same) {
        const std::string what = str("note {} of hooks: {} by {}, not {} by {}",
                                     k, got_note, who, note, whose);
        return fail(who == whose ? Trouble{what, by} : Trouble{what});
      }
    }
    mine.log.clear();
    other.log.clear();
  }
  return {};
}

// Whether the compiled steps agree with the steps as they are.
template <class F>
Trouble trouble(const Steps& p, World& mine, const F& steps,
                CompileCounters* counters) {
  World other(p);
  auto f = compile(steps, {.backend = p.described ? "debug" : ""});
  Trouble why = trouble(p, mine, f, other);
  const CompileCounters c = f.counters();
  counters->calls += c.calls;
  counters->replays += c.replays;
  counters->checked += c.checked;
  counters->untold += c.untold;
  if (!why.none()) why.what += "\n" + f.explain();
  return why;
}

Trouble trouble(const Steps& p, CompileCounters* counters) {
  if (p.home == Steps::kStack) {
    World mine(p);
    return trouble(p, mine, steps_of(mine), counters);
  }
  auto mine = std::make_unique<World>(p);
  if (p.home == Steps::kHeap) {
    return trouble(p, *mine, steps_of(*mine), counters);
  }
  const auto steps = [&mine](const Tensor& x, const Tensor& z, auto n) {
    return mine->step(x, z, n);
  };
  return trouble(p, *mine, steps, counters);
}

// Whether elements of the steps as they are differ as much, by that call, once
// their start is off by some roundings. Nobody can compare such programs: the
// gradient before a norm is almost nothing if the loss is the squares of the
// norm's results, and Adam makes whole steps of it; the sine of a number that
// has grown for 40 calls is anything.
bool is_rounding(const Steps& p, const Trouble& found) {
  constexpr double kSmall = 1e-3, kAlike = 100;
  if (!std::isfinite(found.by)) return false;
  const auto differs = [&](double shake) {
    World shaken(p);
    World other(p);
    shaken.shake = shake;
    const Trouble t = trouble(p, shaken, steps_of(shaken), other);
    if (t.none() || !std::isfinite(t.by)) return false;
    return found.by < kSmall ||
           (t.call <= found.call && t.by >= found.by / kAlike);
  };
  const auto sizes = {1e-15, 1e-14, 1e-13, 1e-12};
  return std::any_of(sizes.begin(), sizes.end(), differs);
}

std::vector<uint32_t> kinds_wanted() {
  std::vector<uint32_t> kinds;
  const char* at = std::getenv("SY_CHANGES");
  while (at != nullptr && *at != '\0') {
    char* end = nullptr;
    kinds.push_back(static_cast<uint32_t>(std::strtoul(at, &end, 10)));
    at = *end == ',' ? end + 1 : end;
  }
  return kinds;
}

Steps random_steps(uint64_t seed) {
  Random random(seed);
  const auto number = [&] { return static_cast<uint32_t>(random()); };
  std::vector<uint32_t> kinds = kinds_wanted();
  Steps p;
  p.seed = seed;
  p.ending = number() % 3;
  p.optimizer = number() % 3;
  p.described = number() % 4 == 0;
  p.home = Steps::Home(number() % 3);
  const int n = 2 + static_cast<int>(number() % 6);
  // One of three programs uses nothing that requires a gradient by itself.
  const uint32_t least = number() % 3 == 0 ? World::kFirstWithoutModules : 0;
  for (int i = 0; i < n; ++i) {
    const uint32_t kind = least + number() % (World::kCallKinds - least);
    p.body.push_back({kind, number(), number(), 0});
  }
  // Two of three programs know few kinds of changes: each is made often, and
  // none is hidden by what others lead to.
  if (kinds.empty() && number() % 3 != 0) {
    for (uint32_t left = 1 + number() % 3; left > 0; --left) {
      kinds.push_back(number() % World::kKinds);
    }
  }
  // Between no changes at all and some at each call.
  const uint32_t every = 1 + number() % 12;
  for (int i = 0; i < kCalls; ++i) {
    auto& now = p.changes.emplace_back();
    while (number() % every == 0 && now.size() < 3) {
      const uint32_t kind =
          kinds.empty() ? number() : kinds[number() % kinds.size()];
      now.push_back({kind, number(), number()});
    }
  }
  return p;
}

std::string listing_of(const Steps& p) {
  std::string text =
      str("ending {}, optimizer {}, seed {}, home {}{}\n", p.ending % 3,
          p.optimizer % 3, p.seed, uint32_t{p.home},
          p.described ? ", backend debug" : "");
  for (const Call& c : p.body) {
    text +=
        str("  body {} {} {}\n", c.kind % World::kCallKinds, c.a % 10, c.b % 8);
  }
  for (size_t i = 0; i < p.changes.size(); ++i) {
    for (const Change& c : p.changes[i]) {
      text += str("  before call {}: change {} {} {}\n", i,
                  c.kind % World::kKinds, c.a % 420, c.b % 60);
    }
  }
  return text;
}

// Removes what is not needed to fail.
Steps minimised(Steps p) {
  CompileCounters c;
  const auto fails = [&](const Steps& q) { return !trouble(q, &c).none(); };
  for (size_t i = p.body.size(); i-- > 0;) {
    Steps q = p;
    q.body.erase(q.body.begin() + static_cast<int64_t>(i));
    if (fails(q)) p = q;
  }
  for (size_t i = 0; i < p.changes.size(); ++i) {
    for (size_t k = p.changes[i].size(); k-- > 0;) {
      Steps q = p;
      q.changes[i].erase(q.changes[i].begin() + static_cast<int64_t>(k));
      if (fails(q)) p = q;
    }
  }
  return p;
}

TEST(StatePrograms, AgreeWithTheCallable) {
  const uint64_t first = setting("SY_SEED", 1);
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::seconds(setting("SY_SECONDS", 0));
  const uint64_t least =
      setting("SY_PROGRAMS", std::getenv("SY_SECONDS") != nullptr ? 1 : 600);
  uint64_t count = 0, rounding = 0;
  CompileCounters c;
  for (uint64_t seed = first;
       count < least || std::chrono::steady_clock::now() < end; ++seed) {
    ++count;
    const Steps p = random_steps(seed);
    const Trouble why = trouble(p, &c);
    if (why.none()) continue;
    if (is_rounding(p, why)) {
      ++rounding;
      continue;
    }
    const Steps shortest = minimised(p);
    ADD_FAILURE() << "seed " << seed << ": " << why.what
                  << "\nthe least: " << trouble(shortest, &c).what << "\n"
                  << listing_of(shortest);
    return;
  }
  // Many are replayed, or the test says nothing.
  EXPECT_GT(c.replays, c.calls / 8);
  std::cout << count << " programs, " << c.replays << " of " << c.calls
            << " calls replayed, " << c.checked << " checked, " << c.untold
            << " untold, " << rounding << " not comparable\n";
  EXPECT_LE(rounding, 1 + count / 500);
  // All that these steps depend on is watched. The memory beside it may look
  // like theirs.
  EXPECT_LE(c.untold, 1 + int64_t(count) / 5000);
}

}  // namespace
}  // namespace sy::test
