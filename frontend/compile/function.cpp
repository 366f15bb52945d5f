#include "frontend/compile/function.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <list>
#include <map>
#include <mutex>
#include <string_view>

#include "aten/backend/capture.h"
#include "aten/backend/pending.h"
#include "autograd/thread.h"
#include "c10/error.h"
#include "c10/plugin/load_library.h"
#include "c10/thread_state.h"
#include "c10/trace.h"
#include "frontend/compile/session.h"

namespace sy::compiling {

namespace {

std::atomic<bool>& check_flag() {
  static std::atomic<bool> on = [] {
    const char* const what = std::getenv("SWITCHYARD_CHECK");
    return what != nullptr && what == std::string_view("capture");
  }();
  return on;
}

// Which calls that a graph fits are recorded again to compare: the first, then
// ever fewer.
bool is_checked(int64_t fits) {
  return check_flag() || (fits & (fits - 1)) == 0;
}

// Functions of the user save tensors for gradients.
bool has_saved_hooks() {
  return autograd::detail::thread.saved_hooks != nullptr;
}

capture::Engine& engine() {
  static const bool loaded = [] {
    load_library("lazy").keep();
    return true;
  }();
  static_cast<void>(loaded);
  capture::Engine* const e = capture::engine();
  SY_CHECK(e != nullptr, NotImplemented,
           "[compile] expected a library that captures, found none");
  return *e;
}

// The device of the call: that of its tensors which is no CPU, if any.
Device device_of(const Arguments& a) {
  Device device(kCPU);
  for (const Tensor& t : a.tensors) {
    if (t.defined() && !t.device().is_cpu()) device = t.device();
  }
  return device;
}

bool is_captured(Device d) { return !d.is_meta() && !d.is_lazy(); }

// The first line of `b` that is not in the same place of `a`.
std::string first_difference(const std::string& a, const std::string& b) {
  size_t i = 0;
  while (i < a.size() && i < b.size() && a[i] == b[i]) ++i;
  const auto line = [&](const std::string& s) {
    if (i >= s.size()) return std::string("the end");
    const size_t begin = s.rfind('\n', i) + 1;
    return s.substr(begin, s.find('\n', i) - begin);
  };
  return str("'{}', replayed: '{}'", line(b), line(a));
}

}  // namespace

void set_check(bool on) { check_flag() = on; }

class FunctionState {
 public:
  explicit FunctionState(CompileOptions options)
      : options_(with_backend(std::move(options))) {}

  struct Entry {
    std::shared_ptr<const Variant> variant;
    std::string why;
    // The last used one is in front.
    std::list<std::unique_ptr<Watch>> watches{};
    int64_t fits = 0, replays = 0;

    bool holds(const Arguments& a) {
      for (auto w = watches.begin(); w != watches.end(); ++w) {
        if (!(*w)->holds(a)) continue;
        if (w != watches.begin()) watches.splice(watches.begin(), watches, w);
        watches.front()->rest();
        return true;
      }
      return false;
    }
    // The graph is also that of the state that `now` has seen.
    void accept(const Arguments& a, std::unique_ptr<Watch> now) {
      constexpr size_t kMostStates = 4;
      const auto same =
          std::find_if(watches.begin(), watches.end(),
                       [](const auto& w) { return w->has_same_state(); });
      if (same != watches.end()) {
        (*same)->accept(a);
        return watches.splice(watches.begin(), watches, same);
      }
      now->follow(*watches.front());
      watches.push_front(std::move(now));
      if (watches.size() > kMostStates) watches.pop_back();
    }
  };

  // What becomes of a call.
  struct Found {
    // That which fits. nullptr: the call is captured.
    std::shared_ptr<const Variant> variant;
    // It is recorded once more, to compare.
    bool checked = false;
    // Others that may fit then.
    std::vector<std::shared_ptr<const Variant>> others{};
    // Why nobody knows whether it still is what the code does; "" for a check
    // that nothing asked for.
    std::string doubt{};
  };

  Found find(const Arguments& a) {
    const std::lock_guard lock(mutex_);
    ++counters_.calls;
    Found found;
    for (auto e = entries_.begin(); e != entries_.end(); ++e) {
      if (!e->variant->matches(a)) continue;
      if (!e->holds(a)) {
        if (found.variant == nullptr) {
          found = {e->variant, true, {}, e->watches.front()->difference()};
        } else {
          found.others.push_back(e->variant);
        }
        continue;
      }
      if (e != entries_.begin()) entries_.splice(entries_.begin(), entries_, e);
      found = {e->variant, is_checked(++e->fits)};
      break;
    }
    if (found.variant == nullptr) {
      for (Entry& e : entries_) {
        for (const auto& w : e.watches) w->refresh();
      }
    } else if (found.checked) {
      ++counters_.checked;
    } else {
      ++counters_.replays;
      ++entries_.front().replays;
    }
    return found;
  }

  std::string reason(const Arguments& a) {
    if (always_) return "what no guard sees";
    if (entries_.empty()) return "the first call";
    return entries_.front().variant->difference(a);
  }

  // Whether a call that was recorded once more gave the same graph.
  bool is_same(const Captured& now, const Variant& then, std::string* how) {
    if (now.variant == nullptr) {
      *how = now.breaks.empty() ? "a break" : now.breaks[0].reason;
      return false;
    }
    const std::string a = then.text(), b = now.variant->text();
    if (a != b) *how = first_difference(a, b);
    if (a == b && !now.variant->has_same_tensors(then)) {
      *how = "other tensors of the program";
    }
    return how->empty();
  }

  // After a call was recorded that a graph fits.
  void compare(const Found& found, const Arguments& a, Captured* now,
               std::unique_ptr<Watch> watch) {
    std::string how;
    std::shared_ptr<const Variant> same;
    if (is_same(*now, *found.variant, &how)) same = found.variant;
    for (const auto& other : found.others) {
      std::string ignored;
      if (same == nullptr && is_same(*now, *other, &ignored)) same = other;
    }
    std::unique_lock lock(mutex_);
    if (same != nullptr) {
      const auto e =
          std::find_if(entries_.begin(), entries_.end(),
                       [&](const Entry& x) { return x.variant == same; });
      if (e != entries_.end()) e->accept(a, std::move(watch));
      return;
    }
    if (!found.doubt.empty()) {
      ++counters_.captures;
      if (now->variant != nullptr) {
        add(std::move(now->variant), std::move(watch), found.doubt);
      }
      return;
    }
    // Nothing has told that the code would do something else.
    ++counters_.untold;
    if (untold_.empty()) untold_ = how;
    always_ = true;
    entries_.clear();
    lock.unlock();
    SY_CHECK(!check_flag() && !options_.fullgraph, Value,
             "[compile] {}: expected the calls that are replayed, but the code "
             "now makes others: {}; it depends on what no guard sees",
             options_.name, how);
  }

  bool capture(const Arguments& a, Device device, Body body, void* context,
               Outputs* out, const Found& found) {
    std::string why;
    {
      const std::lock_guard lock(mutex_);
      why = found.variant == nullptr ? reason(a)
            : found.doubt.empty()    ? "a check"
                                     : found.doubt;
    }
    const TraceSpan span("capture",
                         [&] { return str("{}: {}", options_.name, why); });
    auto watch = std::make_unique<Watch>(a, backwards_);
    Captured c = capture_call(engine(), device, options_.backend, a, body,
                              context, out, watch.get());
    if (c.variant != nullptr) {
      watch->settle(a, c.variant->outer, c.sighted);
    }
    std::string broken;
    {
      const std::lock_guard lock(mutex_);
      if (found.variant == nullptr) ++counters_.captures;
      for (const capture::Break& b : c.breaks) {
        ++counters_.breaks;
        ++breaks_[{b.reason, b.place}];
      }
      if (!c.breaks.empty()) {
        broken = c.breaks[0].reason;
        if (!c.breaks[0].place.empty()) broken += " at " + c.breaks[0].place;
      }
      if (found.variant == nullptr && c.variant != nullptr && !always_) {
        add(std::move(c.variant), std::move(watch), std::move(why));
      }
    }
    SY_CHECK(broken.empty() || !options_.fullgraph, Value,
             "[compile] {}: expected a call that can be replayed as a whole, "
             "got one that cannot: {}",
             options_.name, broken);
    const bool own_result = c.own_result;
    if (found.variant != nullptr) compare(found, a, &c, std::move(watch));
    return !own_result;
  }

  std::string explain() {
    const std::lock_guard lock(mutex_);
    const CompileCounters& c = counters_;
    std::string text =
        str("{}: {} calls, {} captured, {} replayed{}\n", options_.name,
            c.calls, c.captures, c.replays,
            c.checked == 0 ? "" : str(", {} checked", c.checked));
    if (c.untold != 0) {
      text +=
          str("the code runs at each call, since it depends on what no "
              "guard sees: {}\n",
              untold_);
    }
    for (const auto& [b, n] : breaks_) {
      text += str("{} times a piece ended: {}{}{}\n", n, b.first,
                  b.second.empty() ? "" : ", from ", b.second);
    }
    int i = 0;
    for (const Entry& e : entries_) {
      const Variant& v = *e.variant;
      text += str("variant {}, replayed {} times, captured for: {}\n", i++,
                  e.replays, e.why);
      text +=
          str("  {} calls in {} steps; {} inputs, {} written\n",
              v.forward->num_calls(), v.forward->num_steps(), v.inputs.size(),
              std::count_if(v.inputs.begin(), v.inputs.end(),
                            [](const auto& in) { return in.written; }));
      if (has_backward(v)) {
        text +=
            str("  backward: {} calls in {} steps\n",
                v.backward->graph->num_calls(), v.backward->graph->num_steps());
      }
    }
    if (entries_.empty()) return text;
    const Variant& last = *entries_.front().variant;
    text += "steps of variant 0\n" + last.forward->plan();
    if (has_backward(last)) {
      text += "steps of its backward\n" + last.backward->graph->plan();
    }
    return text;
  }

  std::string graph_text() {
    const std::lock_guard lock(mutex_);
    return entries_.empty() ? "" : entries_.front().variant->text();
  }

  void reset() {
    std::list<Entry> gone;
    const std::lock_guard lock(mutex_);
    gone.swap(entries_);
    breaks_.clear();
    always_ = false;
    untold_.clear();
  }

  CompileCounters now() {
    const std::lock_guard lock(mutex_);
    CompileCounters c = counters_;
    c.variants = static_cast<int64_t>(entries_.size());
    c.backwards = backwards_->load();
    return c;
  }

  void count_plain(const char* why) {
    const std::lock_guard lock(mutex_);
    ++counters_.calls;
    ++counters_.plain;
    if (why != nullptr) ++breaks_[{why, ""}];
  }

  const CompileOptions options_;

 private:
  static CompileOptions with_backend(CompileOptions options) {
    const char* const name = std::getenv("SWITCHYARD_COMPILE_BACKEND");
    if (options.backend.empty() && name != nullptr) options.backend = name;
    return options;
  }
  static bool has_backward(const Variant& v) {
    return v.backward != nullptr && v.backward->graph != nullptr;
  }

  void add(std::shared_ptr<const Variant> v, std::unique_ptr<Watch> watch,
           std::string why) {
    entries_.push_front({std::move(v), std::move(why)});
    entries_.front().watches.push_back(std::move(watch));
    while (entries_.size() >
           static_cast<size_t>(std::max(options_.max_variants, 1))) {
      entries_.pop_back();
      ++counters_.evicted;
    }
  }

  std::mutex mutex_;
  std::list<Entry> entries_;  // the last used one is in front
  std::map<std::pair<std::string, std::string>, int64_t> breaks_;
  CompileCounters counters_;
  const std::shared_ptr<std::atomic<int64_t>> backwards_ =
      std::make_shared<std::atomic<int64_t>>(0);
  // The code has done what no guard told: each call is recorded.
  bool always_ = false;
  std::string untold_;
};

Function::Function(CompileOptions options)
    : state_(std::make_unique<FunctionState>(std::move(options))) {}
Function::~Function() = default;

bool Function::call(const Arguments& a, Body body, void* context,
                    Outputs* out) {
  FunctionState& s = *state_;
  const Device device = device_of(a);
  const ThreadState& t = thread_state;
  if (t.capture != nullptr || t.transforms != nullptr || t.modes != nullptr ||
      !is_captured(device) || has_saved_hooks()) {
    s.count_plain(has_saved_hooks() ? "hooks of saved tensors are on"
                                    : nullptr);
    body(context, out);
    return false;
  }
  // The graph reads memory.
  for (const Tensor& argument : a.tensors) wait_pending(argument, "compile");
  const FunctionState::Found found = s.find(a);
  if (found.variant != nullptr && !found.checked) {
    found.variant->replay(a, out);
    return true;
  }
  return s.capture(a, device, body, context, out, found);
}

CompileCounters Function::counters() const { return state_->now(); }
std::string Function::explain() const { return state_->explain(); }
std::string Function::graph_text() const { return state_->graph_text(); }
void Function::reset() { state_->reset(); }

}  // namespace sy::compiling
