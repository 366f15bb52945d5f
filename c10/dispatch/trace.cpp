#include "c10/dispatch/trace.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "c10/dispatch/implementation.h"
#include "c10/dispatch/kernel_watch.h"
#include "c10/dispatch/registry.h"
#include "c10/dispatch/thread_state.h"
#include "c10/dispatch/trace_interval.h"
#include "c10/process/environment.h"
#include "c10/process/error.h"
#include "c10/process/fork.h"
#include "c10/tensor/value.h"

// Note [Tracing]
// While something is traced or watched, Registry::build() puts a kernel of its
// own before each slot's: run_traced, whose context is the kernel that the slot
// would have had. It has no typed form, so that typed calls box their
// arguments.

namespace sy {

namespace {

using Clock = std::chrono::steady_clock;

struct Event {
  std::string name, key, text;  // arguments -> results
  int depth;
  bool threw;
  Clock::time_point begin, end;
  long thread;
  std::vector<std::string> choices;  // of implementations
  std::string declined;              // of the choice under way
};

// A choice for each row or batch would tell nothing more.
constexpr size_t kMostChoices = 8;

double microseconds(Clock::duration d) {
  return std::chrono::duration<double, std::micro>(d).count();
}

// Bytes of the UTF-8 character that `text` begins with; 0 if it is none.
size_t character(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const size_t n = first < 0x80                    ? 1
                   : first >= 0xc2 && first < 0xe0 ? 2
                   : first >= 0xe0 && first < 0xf0 ? 3
                   : first >= 0xf0 && first < 0xf5 ? 4
                                                   : 0;
  if (n == 0 || n > text.size()) return 0;
  for (size_t i = 1; i < n; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return 0;
  }
  // Longer than need be, or half of a surrogate pair, or beyond the last.
  const auto second = n > 1 ? static_cast<unsigned char>(text[1]) : 0;
  const bool wrong =
      (first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0) ||
      (first == 0xf0 && second < 0x90) || (first == 0xf4 && second >= 0x90);
  return wrong ? 0 : n;
}

// Text in a JSON string.
std::string escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t n = character(text);
    const char c = text[0];
    if (n <= 1) {
      if (c == '"' || c == '\\') out += '\\';
      out += n == 0 ? '?' : static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    } else {
      out += text.substr(0, n);
    }
    text.remove_prefix(std::max<size_t>(n, 1));
  }
  return out;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines)
    out += (out.empty() ? "" : "; then ") + line;
  return out;
}

// The calls of this thread since its outermost one began, in the order in which
// they began: each knows its place.
struct ThreadCalls {
  int depth = 0;
  size_t innermost = 0;  // of the events: the call that runs, if depth > 0
  std::vector<Event> events;
};
thread_local ThreadCalls* own_calls = nullptr;
struct AtThreadEnd {
  ~AtThreadEnd() { delete std::exchange(own_calls, nullptr); }
};
// Static destructors that run when thread-locals are gone get a new one.
ThreadCalls& thread_calls() {
  if (own_calls == nullptr) {
    static thread_local AtThreadEnd at_end;
    static_cast<void>(at_end);
    own_calls = new ThreadCalls;
  }
  return *own_calls;
}

std::string list(const Value* values, size_t n) {
  std::string out;
  for (size_t i = 0; i < n; ++i) {
    if (i != 0) out += ", ";
    out += to_string(values[i]);
  }
  return out;
}

constinit std::atomic<int64_t> clock_offset{0};

}  // namespace

struct Trace::Session {
  bool prints = false;
  std::string path;
  ForkMutex mutex;
  std::vector<Event> events;
  std::map<std::string, long> lanes;  // and their numbers, beside threads'
  Clock::time_point begin = Clock::now();

  long number_of(const std::string& lane) {
    constexpr long kBeyondThreads = 100'000'000;
    const std::lock_guard lock(mutex);
    const auto next = kBeyondThreads + static_cast<long>(lanes.size());
    return lanes.try_emplace(lane, next).first->second;
  }

  // Takes the events of one outermost call, in the order in which calls began.
  void take(std::vector<Event>& tree) {
    const std::lock_guard lock(mutex);
    if (prints) {
      std::string out;
      for (const Event& e : tree) {
        char time[40];
        std::snprintf(time, sizeof time, "%.1f us",
                      microseconds(e.end - e.begin));
        out += str("{}{} [{}] {}{}  {}\n",
                   std::string(static_cast<size_t>(2 * e.depth), ' '), e.name,
                   e.key, e.text, e.threw ? " threw" : "", time);
        for (const std::string& c : e.choices) {
          out += str("{}| {}\n",
                     std::string(static_cast<size_t>(2 * e.depth + 2), ' '), c);
        }
      }
      std::fputs(out.c_str(), stderr);
    }
    if (path.empty()) return;
    for (Event& e : tree) events.push_back(std::move(e));
  }

  void write() const {
    std::FILE* const file = std::fopen(path.c_str(), "w");
    bool good = file != nullptr;
    if (good) {
      std::fputs("{\"traceEvents\": [\n", file);
      const char* separator = "";
      for (const Event& e : events) {
        std::fprintf(
            file,
            "%s{\"name\": \"%s\", \"cat\": \"%s\", \"ph\": \"X\", \"ts\": "
            "%.3f, "
            "\"dur\": %.3f, \"pid\": %d, \"tid\": %ld, \"args\": {\"key\": "
            "\"%s\", \"call\": \"%s\", \"by\": \"%s\"}}",
            separator, escaped(e.name).c_str(), escaped(e.key).c_str(),
            microseconds(e.begin - begin), microseconds(e.end - e.begin),
            static_cast<int>(getpid()), e.thread, escaped(e.key).c_str(),
            escaped(e.text).c_str(), escaped(joined(e.choices)).c_str());
        separator = ",\n";
      }
      for (const auto& [lane, number] : lanes) {
        std::fprintf(file,
                     "%s{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": "
                     "%d, \"tid\": %ld, \"args\": {\"name\": \"%s\"}}",
                     separator, static_cast<int>(getpid()), number,
                     escaped(lane).c_str());
        separator = ",\n";
      }
      // The time of ts 0 on the clock that all processes of a machine share,
      // and the offset to the clock of all machines.
      std::fprintf(
          file,
          "\n], \"otherData\": {\"steady_clock_ns\": %lld, "
          "\"clock_offset_ns\": %lld}, \"displayTimeUnit\": \"ns\"}\n",
          static_cast<long long>(
              std::chrono::nanoseconds(begin.time_since_epoch()).count()),
          static_cast<long long>(clock_offset.load()));
      good = std::ferror(file) == 0;
      good = std::fclose(file) == 0 && good;
    }
    if (!good) {
      std::fprintf(stderr, "switchyard: cannot write the trace %s\n",
                   path.c_str());
    }
  }
};

namespace {

constinit std::atomic<Trace::Session*> current{nullptr};
constinit std::atomic<detail::KernelWatch> watch{nullptr};

void run_watched(const Kernel& inner, const OperatorEntry& op,
                 DispatchKeySet keys, Value* args, size_t num_args,
                 Value* results, size_t num_results) {
  const detail::KernelWatch w = watch.load(std::memory_order_acquire);
  (w != nullptr ? w : inner.boxed)(inner, op, keys, args, num_args, results,
                                   num_results);
}

}  // namespace

namespace detail {

KernelWatch kernel_watch() { return watch.load(std::memory_order_acquire); }

void set_kernel_watch(KernelWatch w) {
  watch.store(w, std::memory_order_release);
  Registry::singleton().renew_tables();
}

void run_traced(const Kernel& kernel, const OperatorEntry& op,
                DispatchKeySet keys, Value* args, size_t num_args,
                Value* results, size_t num_results) {
  const auto& inner = *static_cast<const Kernel*>(kernel.context);
  Trace::Session* const session = current.load(std::memory_order_acquire);
  if (session == nullptr) {  // it ended while this call was on its way
    run_watched(inner, op, keys, args, num_args, results, num_results);
    return;
  }
  const DispatchKey f = keys.highest_functionality();
  const bool per_backend =
      ((kPerBackendFunctionality >> static_cast<int>(f)) & 1u) != 0;
  ThreadCalls& mine = thread_calls();
  const size_t place = mine.events.size();
  mine.events.push_back(
      {std::string(op.name()),
       key_name({f, per_backend ? number_of(keys.highest_backend()) : -1}),
       "(" + list(args, num_args) + ")",
       mine.depth,
       false,
       {},
       {},
       syscall(SYS_gettid),
       {},
       {}});
  ++mine.depth;
  const size_t outer = std::exchange(mine.innermost, place);
  const auto finish = [&](bool threw) {
    const auto end = Clock::now();
    Event& e = mine.events[place];
    e.end = end;
    e.threw = threw;
    mine.innermost = outer;
    if (!threw) e.text += " -> " + list(results, num_results);
    if (--mine.depth != 0) return;
    session->take(mine.events);
    mine.events.clear();
  };
  mine.events[place].begin = Clock::now();
  try {
    run_watched(inner, op, keys, args, num_args, results, num_results);
  } catch (...) {
    finish(true);
    throw;
  }
  finish(false);
}

// Records nothing of threads that only help with a call.
void trace_choice(const char* what, const char* name, const std::string& why) {
  ThreadCalls& mine = thread_calls();
  if (mine.depth == 0) return;
  Event& e = mine.events[mine.innermost];
  if (!why.empty()) {
    e.declined +=
        str("{}{}: {}", e.declined.empty() ? "; not " : ", nor ", name, why);
    return;
  }
  std::string line =
      str("{} by {}{}", what, name, std::exchange(e.declined, std::string()));
  if (e.choices.size() < kMostChoices &&
      std::find(e.choices.begin(), e.choices.end(), line) == e.choices.end()) {
    e.choices.push_back(std::move(line));
  }
}

}  // namespace detail

// The trace waits for spans as it does for calls.
struct TraceSpan::State {
  Trace::Session* session;
  size_t place, outer;
  CallScope scope;
};

void TraceSpan::begin(const char* name, std::string text) {
  auto state = std::make_unique<State>();
  state->session = current.load(std::memory_order_acquire);
  if (state->session == nullptr) return;
  ThreadCalls& mine = thread_calls();
  state->place = mine.events.size();
  mine.events.push_back({name,
                         "span",
                         std::move(text),
                         mine.depth,
                         false,
                         Clock::now(),
                         {},
                         syscall(SYS_gettid),
                         {},
                         {}});
  ++mine.depth;
  state->outer = std::exchange(mine.innermost, state->place);
  state_ = state.release();
}

void TraceSpan::end() noexcept {
  const std::unique_ptr<State> state(state_);
  ThreadCalls& mine = thread_calls();
  mine.events[state->place].end = Clock::now();
  mine.innermost = state->outer;
  if (--mine.depth != 0) return;
  state->session->take(mine.events);
  mine.events.clear();
}

void trace_interval(const std::string& lane, const char* name, std::string text,
                    Clock::time_point begin, Clock::time_point end) {
  if (!is_traced()) return;
  const CallScope scope;
  Trace::Session* const session = current.load(std::memory_order_acquire);
  if (session == nullptr) return;
  std::vector<Event> one;
  one.push_back({name,
                 "interval",
                 std::move(text),
                 0,
                 false,
                 begin,
                 end,
                 session->number_of(lane),
                 {},
                 {}});
  session->take(one);
}

void set_trace_clock_offset(std::chrono::nanoseconds offset) noexcept {
  clock_offset = offset.count();
}

Trace::Trace(std::string_view what) : session_(new Session) {
  if (what == "dispatch") {
    session_->prints = true;
  } else {
    SY_CHECK(what.starts_with("chrome:") && what.size() > 7, Value,
             "[Trace] expected dispatch or chrome:FILE, got '{}'", what);
    session_->path = what.substr(7);
  }
  init();
  Session* nobody = nullptr;
  SY_CHECK(current.compare_exchange_strong(nobody, session_.get()), Value,
           "[Trace] calls are being traced already");
  detail::choices_are_told = true;
  Registry::singleton().set_tracing(true);
}

Trace::~Trace() {
  Registry::singleton().set_tracing(false);
  detail::choices_are_told = false;
  current.store(nullptr, std::memory_order_release);
  // Calls may still tell of the session in a call, or with one that does not
  // end.
  if (!detail::synchronize_calls(std::chrono::seconds(10))) {
    static_cast<void>(session_.release());
    return;
  }
  if (!session_->path.empty()) session_->write();
}

namespace detail {

void trace_by_environment() {
  static bool done = false;
  if (done) return;
  done = true;
  const char* const what = environment("SWITCHYARD_TRACE");
  if (what == nullptr || *what == '\0') return;
  static Trace* trace = nullptr;
  try {
    trace = new Trace(what);
  } catch (const Error& e) {
    std::fprintf(stderr, "switchyard: SWITCHYARD_TRACE: %s\n", e.what());
    return;
  }
  std::atexit([] {
    delete trace;
    trace = nullptr;
  });
}

}  // namespace detail
}  // namespace sy
