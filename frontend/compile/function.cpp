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
#include "c10/environment.h"
#include "c10/error.h"
#include "c10/fork.h"
#include "c10/plugin/load_library.h"
#include "c10/thread_state.h"
#include "c10/trace.h"
#include "frontend/compile/session.h"

namespace sy::compiling {

namespace {

std::atomic<bool>& check_flag() {
  static std::atomic<bool> on = [] {
    const char* const what = environment("SWITCHYARD_CHECK");
    return what != nullptr && what == std::string_view("capture");
  }();
  return on;
}

// Which replays of a graph are captured again instead: the first, then ever
// fewer, up to one of 64.
bool is_checked(int64_t replays) {
  return check_flag() && (replays % 64 == 0 || (replays & (replays - 1)) == 0);
}

capture::Engine& engine() {
  static constinit ForkOnce<bool> once;
  const bool loaded = once.get([] {
    load_library("lazy").keep();
    return true;
  });
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
    int64_t replays = 0;
  };

  // The variant that fits, and whether the call is captured again to compare.
  std::shared_ptr<const Variant> find(const Arguments& a, bool* checked) {
    const std::lock_guard lock(mutex_);
    ++counters_.calls;
    for (auto e = entries_.begin(); e != entries_.end(); ++e) {
      if (!e->variant->matches(a)) continue;
      if (e != entries_.begin()) entries_.splice(entries_.begin(), entries_, e);
      *checked = is_checked(++e->replays);
      if (!*checked) ++counters_.replays;
      return e->variant;
    }
    return nullptr;
  }

  std::string reason(const Arguments& a) {
    if (entries_.empty()) return "the first call";
    return entries_.front().variant->difference(a);
  }

  bool capture(const Arguments& a, Device device, Body body, void* context,
               Outputs* out, const Variant* checked) {
    std::string why;
    {
      const std::lock_guard lock(mutex_);
      why = checked != nullptr ? "a check" : reason(a);
    }
    const TraceSpan span("capture",
                         [&] { return str("{}: {}", options_.name, why); });
    Captured c =
        capture_call(engine(), device, options_.backend, a, body, context, out);
    std::string broken;
    {
      const std::lock_guard lock(mutex_);
      ++counters_.captures;
      for (const capture::Break& b : c.breaks) {
        ++counters_.breaks;
        ++breaks_[{b.reason, b.place}];
      }
      if (!c.breaks.empty()) {
        broken = c.breaks[0].reason;
        if (!c.breaks[0].place.empty()) broken += " at " + c.breaks[0].place;
      }
      if (checked != nullptr) {
        ++counters_.checked;
      } else if (c.variant != nullptr) {
        add(std::move(c.variant), std::move(why));
      }
    }
    SY_CHECK(broken.empty() || !options_.fullgraph, Value,
             "[compile] {}: expected a call that can be replayed as a whole, "
             "got one that cannot: {}",
             options_.name, broken);
    if (checked != nullptr) {
      const std::string now =
          c.variant == nullptr ? "a break: " + broken : c.variant->text();
      const std::string then = checked->text();
      SY_CHECK(now == then, Value,
               "[compile] {}: expected the calls that are replayed, but the "
               "code now makes others: {}; it depends on what no guard sees",
               options_.name, first_difference(then, now));
    }
    return !c.own_result;
  }

  std::string explain() {
    const std::lock_guard lock(mutex_);
    const CompileCounters& c = counters_;
    std::string text = str("{}: {} calls, {} captured, {} replayed\n",
                           options_.name, c.calls, c.captures, c.replays);
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
  }

  CompileCounters now() {
    const std::lock_guard lock(mutex_);
    CompileCounters c = counters_;
    c.variants = static_cast<int64_t>(entries_.size());
    c.backwards = backwards_gone_;
    for (const Entry& e : entries_) c.backwards += backwards_of(*e.variant);
    return c;
  }

  void count_plain() {
    const std::lock_guard lock(mutex_);
    ++counters_.calls;
    ++counters_.plain;
  }

  const CompileOptions options_;

 private:
  static CompileOptions with_backend(CompileOptions options) {
    const char* const name = environment("SWITCHYARD_COMPILE_BACKEND");
    if (options.backend.empty() && name != nullptr) options.backend = name;
    return options;
  }
  static bool has_backward(const Variant& v) {
    return v.backward != nullptr && v.backward->graph != nullptr;
  }
  static int64_t backwards_of(const Variant& v) {
    return v.backward == nullptr ? 0 : v.backward->runs->load();
  }

  void add(std::shared_ptr<const Variant> v, std::string why) {
    entries_.push_front({std::move(v), std::move(why), 0});
    while (entries_.size() >
           static_cast<size_t>(std::max(options_.max_variants, 1))) {
      backwards_gone_ += backwards_of(*entries_.back().variant);
      entries_.pop_back();
      ++counters_.evicted;
    }
  }

  ForkMutex mutex_;
  std::list<Entry> entries_;  // the last used one is in front
  std::map<std::pair<std::string, std::string>, int64_t> breaks_;
  CompileCounters counters_;
  int64_t backwards_gone_ = 0;
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
      !is_captured(device)) {
    s.count_plain();
    body(context, out);
    return false;
  }
  // The graph reads memory.
  for (const Tensor& argument : a.tensors) wait_pending(argument, "compile");
  bool checked = false;
  const std::shared_ptr<const Variant> v = s.find(a, &checked);
  if (v != nullptr && !checked) {
    v->replay(a, out);
    return true;
  }
  return s.capture(a, device, body, context, out, v.get());
}

CompileCounters Function::counters() const { return state_->now(); }
std::string Function::explain() const { return state_->explain(); }
std::string Function::graph_text() const { return state_->graph_text(); }
void Function::reset() { state_->reset(); }

}  // namespace sy::compiling
