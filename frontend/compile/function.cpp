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
#include "c10/error.h"
#include "c10/plugin/load_library.h"
#include "c10/thread_state.h"
#include "c10/trace.h"
#include "frontend/compile/session.h"
#include "frontend/compile/sizes.h"
#include "frontend/compile/walk.h"

namespace sy::compiling {

namespace {

std::atomic<bool>& check_flag() {
  static std::atomic<bool> on = [] {
    const char* const what = std::getenv("SWITCHYARD_CHECK");
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

  // Whether a variant looks at elements, or is of an open size.
  enum Kind : uint8_t { kWhole, kLooking, kOpened };
  struct Entry {
    std::shared_ptr<const Variant> variant;
    std::string why;
    int64_t replays = 0;
    Kind kind = kWhole;
  };

  // What a call can do.
  struct Found {
    std::shared_ptr<const Variant> variant;
    // The variant and others that begin as it does; empty unless the code looks
    // at elements.
    Variants paths;
    // A variant of an open size that has to be compared first.
    OpenSizes::Opened opened;
    bool checked = false;  // the call is captured again to compare
    bool plain = false;    // the code runs as it is
  };
  Found find(const Arguments& a) {
    const std::lock_guard lock(mutex_);
    ++counters_.calls;
    Found f;
    for (auto e = entries_.begin(); e != entries_.end(); ++e) {
      if (!e->variant->matches(a)) continue;
      if (e != entries_.begin()) entries_.splice(entries_.begin(), entries_, e);
      f.variant = e->variant;
      break;
    }
    if (f.variant == nullptr) f.opened = open_sizes_.open(a);
    if (f.opened.trusted) {
      f.variant = f.opened.variant;
      add(std::move(f.opened.variant), f.opened.why, kOpened);
      ++entries_.front().replays;
      note_replay();
    } else if (f.variant == nullptr) {
      f.plain = spares_capture(credit_ < kCapture);
    } else if (!f.variant->steps.empty()) {
      f.plain = spares_capture(!may_walk(*f.variant));
      if (!f.plain) add_paths(a, &f);
    } else {
      f.checked = is_checked(++entries_.front().replays);
      if (!f.checked) note_replay();
    }
    if (f.plain) ++counters_.plain;
    return f;
  }

  // The call went along this variant; nullptr: along none.
  void note_path(const Found& f, const Variant* v) {
    const std::lock_guard lock(mutex_);
    note_walk(*f.variant, v != nullptr);
    if (v == nullptr) return;
    note_replay();
    for (Entry& e : entries_) e.replays += e.variant.get() == v;
  }

  std::string reason(const Arguments& a) {
    if (entries_.empty()) return "the first call";
    return entries_.front().variant->difference(a);
  }

  // `depth`: how many steps of f.paths the call has in common with them.
  bool capture(const Arguments& a, Device device, Body body, void* context,
               Outputs* out, const Found& f, size_t depth) {
    const Variant* const checked = f.checked ? f.variant.get() : nullptr;
    std::string why;
    {
      const std::lock_guard lock(mutex_);
      why = checked != nullptr ? "a check"
            : depth > 0        ? look_text(*f.variant, depth)
            : f.opened.variant ? f.opened.why
                               : reason(a);
    }
    const TraceSpan span("capture",
                         [&] { return str("{}: {}", options_.name, why); });
    Captured c =
        capture_call(engine(), device, options_.backend, a, body, context, out);
    std::string broken;
    {
      const std::lock_guard lock(mutex_);
      const bool is_confirmed = confirm(f.opened, c.variant.get());
      if (!is_confirmed) ++counters_.captures;
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
      } else if (is_confirmed) {
        ++counters_.checked;
        credit_ = std::max<int64_t>(credit_ - kCapture, 0);
        add(std::move(c.variant), std::move(why), kOpened);
      } else {
        credit_ = std::max<int64_t>(credit_ - kCapture, 0);
        if (depth > 0) share(f, depth, c.variant.get());
        if (f.opened.variant) why += "; but the code does something else";
        const bool kept = broken.empty() || !options_.fullgraph;
        if (c.variant != nullptr && kept) {
          const Kind kind = c.variant->steps.empty() ? kWhole : kLooking;
          if (kind == kWhole) open_sizes_.add(c.variant, whole_variants());
          add(std::move(c.variant), std::move(why), kind);
        }
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
    if (spared_ > 0) {
      text += str(
          "{} calls ran the code as it is: those before differed too often in "
          "what a graph depends on\n",
          spared_);
    }
    text += open_sizes_.text();
    int i = 0;
    for (const Entry& e : entries_) {
      const Variant& v = *e.variant;
      text += str("variant {}, replayed {} times, captured for: {}\n", i++,
                  e.replays, e.why);
      if (!v.steps.empty()) {
        text += str("  it looks {} times at elements, and saw{}\n",
                    v.steps.size(), seen_text(v));
      }
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
    open_sizes_.clear();
    credit_ = kMostCredit;
    plain_left_ = 0;
    plain_span_ = 1;
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
    const char* const name = std::getenv("SWITCHYARD_COMPILE_BACKEND");
    if (options.backend.empty() && name != nullptr) options.backend = name;
    return options;
  }
  static bool has_backward(const Variant& v) {
    return v.backward != nullptr && v.backward->graph != nullptr;
  }
  static int64_t backwards_of(const Variant& v) {
    return v.backward == nullptr ? 0 : v.backward->runs->load();
  }

  // ---- calls whose captures do not pay. A capture costs credit that replays
  // earn. Without any, the code runs as it is, and is captured again after a
  // time that doubles.

  static constexpr int64_t kCapture = 8, kMostCredit = 32 * kCapture;
  static constexpr int64_t kMostSpan = 4096;

  void note_replay() {
    ++counters_.replays;
    credit_ = std::min(credit_ + 1, kMostCredit);
  }
  bool spares_capture(bool without_credit) {
    if (!without_credit || options_.fullgraph) return false;
    if (plain_left_ > 0) {
      --plain_left_;
      ++spared_;
      return true;
    }
    plain_span_ = std::min(2 * plain_span_, kMostSpan);
    plain_left_ = plain_span_;
    return false;
  }

  // ---- variants that look at elements

  void add_paths(const Arguments& a, Found* f) const {
    const Variant& first = *f->variant;
    for (const Entry& e : entries_) {
      const Variant& v = *e.variant;
      const bool begins_so =
          !v.steps.empty() && v.steps[0] == first.steps[0] &&
          (&v == &first || v.matches(a));
      if (begins_so) f->paths.push_back(e.variant);
    }
  }
  // A variant that cannot share steps makes those that it should share them
  // with useless: the code does something else by now.
  void share(const Found& f, size_t depth, Variant* v) {
    if (v != nullptr && share_steps(*f.variant, depth, v)) return;
    for (auto e = entries_.begin(); e != entries_.end();) {
      const bool useless =
          std::find(f.paths.begin(), f.paths.end(), e->variant) !=
          f.paths.end();
      e = useless ? drop(e) : std::next(e);
    }
  }
  static std::string look_text(const Variant& v, size_t depth) {
    return str("{} saw something new", v.steps[depth - 1]->look->text());
  }
  static std::string seen_text(const Variant& v) {
    std::string text;
    for (size_t i = 0; i < v.seen.size(); ++i) {
      text += (i == 0 ? " " : "; ") + v.steps[i]->look->text_of(v.seen[i]);
    }
    return text;
  }

  std::list<Entry>::iterator drop(std::list<Entry>::iterator e) {
    backwards_gone_ += backwards_of(*e->variant);
    ++counters_.evicted;
    return entries_.erase(e);
  }

  // ---- variants of other sizes

  std::vector<std::shared_ptr<const Variant>> whole_variants() const {
    std::vector<std::shared_ptr<const Variant>> all;
    for (const Entry& e : entries_) {
      if (e.kind == kWhole) all.push_back(e.variant);
    }
    return all;
  }
  // Whether a call that was compared with an opened variant is that.
  bool confirm(const OpenSizes::Opened& o, const Variant* recorded) {
    if (o.variant == nullptr || o.trusted) return false;
    const bool equal =
        recorded != nullptr && recorded->text() == o.variant->text();
    open_sizes_.confirm(o, equal);
    return equal;
  }

  // Those that look at elements or are of open sizes may be more.
  void add(std::shared_ptr<const Variant> v, std::string why, Kind kind) {
    constexpr size_t kMore = 8;
    entries_.push_front({std::move(v), std::move(why), 0, kind});
    const size_t most =
        static_cast<size_t>(std::max(options_.max_variants, 1)) *
        (kind == kWhole ? 1 : kMore);
    const auto is_one = [&](const Entry& e) { return e.kind == kind; };
    const auto n = std::count_if(entries_.begin(), entries_.end(), is_one);
    if (static_cast<size_t>(n) <= most) return;
    const auto last = std::find_if(entries_.rbegin(), entries_.rend(), is_one);
    drop(std::prev(last.base()));
  }

  std::mutex mutex_;
  std::list<Entry> entries_;  // the last used one is in front
  std::map<std::pair<std::string, std::string>, int64_t> breaks_;
  CompileCounters counters_;
  OpenSizes open_sizes_;
  int64_t backwards_gone_ = 0;
  int64_t credit_ = kMostCredit, plain_left_ = 0, plain_span_ = 1;
  int64_t spared_ = 0;
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
  const FunctionState::Found f = s.find(a);
  if (f.plain) {
    body(context, out);
    return false;
  }
  size_t depth = 0;
  if (!f.paths.empty()) {
    Frame frame;
    const auto v = walk(a, f.paths, &frame, &depth);
    s.note_path(f, v.get());
    if (v != nullptr) {
      v->replay(a, frame, out);
      return true;
    }
  } else if (f.variant != nullptr && !f.checked) {
    f.variant->replay(a, {}, out);
    return true;
  }
  return s.capture(a, device, body, context, out, f, depth);
}

CompileCounters Function::counters() const { return state_->now(); }
std::string Function::explain() const { return state_->explain(); }
std::string Function::graph_text() const { return state_->graph_text(); }
void Function::reset() { state_->reset(); }

}  // namespace sy::compiling
