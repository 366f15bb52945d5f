#include "backends/cpu/jit/kernels.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "backends/cpu/jit/apart.h"
#include "backends/cpu/jit/api.h"
#include "backends/cpu/jit/perf_map.h"
#include "backends/cpu/jit/store.h"
#include "backends/cpu/support/optional_library.h"
#include "c10/dispatch/thread_state.h"
#include "c10/dispatch/trace.h"
#include "c10/process/background_queue.h"
#include "c10/process/environment.h"
#include "c10/process/fork.h"

namespace sy::cpu::jit {

namespace {

constexpr cpu::OptionalLibrary kLibrary = {
    "libswitchyard_jit.so", "switchyard_jit_api", "SWITCHYARD_JIT_LIBRARY"};

// The work that a program must have done before it is compiled, in elements
// times steps: some milliseconds.
constexpr int64_t kHot = int64_t{32} << 20;
constexpr size_t kMostPrograms = 65536;

using Clock = std::chrono::steady_clock;
int64_t since(Clock::time_point begin) {
  return std::chrono::nanoseconds(Clock::now() - begin).count();
}

const CompilerApi* compiler() {
  const ForkSection section;
  static const CompilerApi* const api = cpu::load_table<CompilerApi>(kLibrary);
  return api;
}

// ---- programs

uint64_t mix(uint64_t h, uint64_t word) {
  h = (h ^ word) * 0x9E3779B97F4A7C15u;
  return h ^ h >> 32;
}

uint64_t hash_of(const Wanted& w) {
  const program::Program& p = *w.program;
  uint64_t h = mix(p.bool_inputs, p.bool_uniforms);
  h = mix(h, uint64_t{p.n_steps} << 32 | uint64_t{p.n_inputs} << 24 |
                 uint64_t{p.n_uniforms} << 16 | uint64_t{p.n_results} << 8 |
                 static_cast<uint64_t>(w.compute) << 4 |
                 static_cast<uint64_t>(w.isa));
  for (int i = 0; i < p.n_inputs; ++i) {
    h = mix(h, static_cast<uint64_t>(w.inputs[i].dtype) << 1 |
                   uint64_t{w.inputs[i].is_single});
  }
  for (int k = 0; k < p.n_results; ++k) {
    h = mix(h, static_cast<uint64_t>(w.results[k]) << 16 |
                   uint64_t{p.results[k].reg} << 1 |
                   uint64_t{p.results[k].is_bool});
  }
  for (int i = 0; i < p.n_steps; ++i) {
    const program::Step& s = p.steps[i];
    h = mix(h, static_cast<uint64_t>(s.op) << 32 | uint64_t{s.dst} << 24 |
                   uint64_t{s.a} << 16 | uint64_t{s.b} << 8 | uint64_t{s.c});
  }
  return h;
}

enum class State : uint8_t { kCold, kQueued, kReady, kRefused };

struct Entry {
  Request request;
  std::string bytes;
  std::atomic<int64_t> work{0};
  std::atomic<State> state{State::kCold};
  std::atomic<uint64_t> used{0};  // the last epoch
  std::atomic<int64_t> runs{0}, compile_ns{0};
  intrusive_ptr<Kernel> kernel;  // guarded by the table's mutex
  std::string refusal;           // not written after State::kRefused

  bool is(const Wanted& w) const {
    const program::Program &a = *w.program, &b = request.program;
    const auto n = [](const auto x) { return static_cast<size_t>(x); };
    return w.isa == request.isa && w.compute == request.compute &&
           a.n_inputs == b.n_inputs && a.n_uniforms == b.n_uniforms &&
           a.n_results == b.n_results && a.n_steps == b.n_steps &&
           a.n_registers == b.n_registers && a.bool_inputs == b.bool_inputs &&
           a.bool_uniforms == b.bool_uniforms &&
           std::equal(w.inputs, w.inputs + n(a.n_inputs),
                      request.inputs.begin()) &&
           std::equal(w.results, w.results + n(a.n_results),
                      request.results.begin()) &&
           std::equal(a.results, a.results + n(a.n_results), b.results) &&
           std::equal(a.steps, a.steps + n(a.n_steps), b.steps);
  }
};
using EntryPtr = std::shared_ptr<Entry>;

struct Totals {
  std::atomic<int64_t> compiled{0}, loaded{0}, refused{0}, failed{0},
      evicted{0}, compile_ns{0}, blocked_ns{0}, runs{0};
};

// Leaked: threads may outlive everything.
struct Table {
  std::shared_mutex mutex;
  std::unordered_multimap<uint64_t, EntryPtr> entries;
  size_t capacity = 4096, kernels = 0, bytes = 0;
  std::atomic<uint64_t> epoch{0};
  Totals counts;
};
Table& table() {
  static auto* const t = new Table;
  return *t;
}

// The locks of a thread that reads the table, and of one that changes it.
class Reading {
  const ForkSection section_;
  const std::shared_lock<std::shared_mutex> lock_{table().mutex};
};
class Writing {
  const ForkSection section_;
  const std::unique_lock<std::shared_mutex> lock_{table().mutex};
};

// ---- compiling

// Removes kernels that were not used for the longest time. The lock is held.
void evict(Table& t) {
  while (t.kernels > t.capacity) {
    Entry* oldest = nullptr;
    for (const auto& [hash, e] : t.entries) {
      if (e->kernel == nullptr) continue;
      if (oldest == nullptr || e->used < oldest->used) oldest = e.get();
    }
    t.bytes -= oldest->kernel->bytes();
    --t.kernels;
    ++t.counts.evicted;
    oldest->kernel.reset();
    oldest->work = 0;
    oldest->state = State::kCold;
  }
}

void keep_kernel(Entry& e, intrusive_ptr<Kernel> kernel) {
  Table& t = table();
  const Writing lock;
  ++t.kernels;
  t.bytes += kernel->bytes();
  e.used = ++t.epoch;
  e.kernel = std::move(kernel);
  e.state = State::kReady;
  evict(t);
}

// Appends an image, or says why there is none.
bool compile(const Entry& e, std::string* image, std::string* why) {
  const CompilerApi& c = *compiler();
  Totals& totals = table().counts;
  if (read_image(c.fingerprint, e.bytes, image)) {
    ++totals.loaded;
    return true;
  }
  if (mode() == Mode::kProcess) {
    const Apart end = compile_apart(c, e.bytes, image, why);
    if (end != Apart::kCompiled) {
      ++(end == Apart::kDied ? totals.failed : totals.refused);
      return false;
    }
  } else {
    const ForkSection section;  // the compiler has locks of its own
    if (!c.compile(e.bytes, image, why)) {
      ++totals.refused;
      return false;
    }
  }
  ++totals.compiled;
  keep_image(c.fingerprint, e.bytes, *image);
  return true;
}

void refuse(Entry& e, std::string why) {
  const ForkSection section;
  e.refusal = std::move(why);
  e.state = State::kRefused;
}

void compile_entry(Entry& e) {
  const auto begin = Clock::now();
  const TraceSpan span("compile",
                       [&] { return program_text(e.request.program); });
  std::string image, why;
  try {
    if (!compile(e, &image, &why)) return refuse(e, std::move(why));
    if (auto kernel = Kernel::load(image)) {
      write_perf_map(*kernel, e.request.program);
      e.compile_ns = since(begin);
      table().counts.compile_ns += e.compile_ns;
      return keep_kernel(e, std::move(kernel));
    }
  } catch (const std::bad_alloc&) {
  }
  ++table().counts.failed;
  refuse(e, "no memory");
}

BackgroundQueue<EntryPtr>& queue() {
  static auto* const q = new BackgroundQueue<EntryPtr>(
      {.name = "sy-jit", .niceness = 19, .goes_on_in_child = true},
      [](const std::vector<EntryPtr>& batch) noexcept {
        for (const EntryPtr& e : batch) compile_entry(*e);
      });
  return *q;
}

// Says once that there is no compiler.
bool has_compiler() {
  if (compiler() != nullptr) return true;
  static std::atomic<bool> told{false};
  if (!told.exchange(true)) {
    std::fprintf(stderr, "switchyard: jit: programs are interpreted: %s\n",
                 cpu::why_not_loaded(kLibrary).c_str());
  }
  return false;
}

EntryPtr find(const Wanted& w, uint64_t hash, intrusive_ptr<Kernel>* kernel) {
  Table& t = table();
  const Reading lock;
  const auto [begin, end] = t.entries.equal_range(hash);
  for (auto at = begin; at != end; ++at) {
    if (!at->second->is(w)) continue;
    *kernel = at->second->kernel;
    return at->second;
  }
  return nullptr;
}

// nullptr: another thread was faster, or there is no room.
EntryPtr add(const Wanted& w, uint64_t hash) {
  auto e = std::make_shared<Entry>();
  e->bytes = encode(*w.program, w.compute, w.inputs, w.results, w.isa);
  if (!decode(e->bytes, &e->request)) return nullptr;
  Table& t = table();
  const Writing lock;
  const auto [begin, end] = t.entries.equal_range(hash);
  for (auto at = begin; at != end; ++at) {
    if (at->second->is(w)) return nullptr;
  }
  if (t.entries.size() >= kMostPrograms) {
    std::erase_if(t.entries, [](const auto& x) {
      return x.second->state == State::kCold;
    });
    if (t.entries.size() >= kMostPrograms) return nullptr;
  }
  t.entries.emplace(hash, e);
  return e;
}

std::atomic<Mode>& current_mode() {
  static std::atomic<Mode> m = environment_choice(
      "SWITCHYARD_JIT", {"off", "background", "wait", "process"},
      Mode::kBackground);
  return m;
}

}  // namespace

Mode mode() noexcept { return current_mode(); }
void set_mode(Mode m) noexcept { current_mode() = m; }

namespace {

// Shows progress to a person who waits longer than half a second in all.
void show_progress(int64_t blocked_ns) {
  static const bool seen = isatty(STDERR_FILENO) != 0;
  if (!seen || blocked_ns < 500'000'000) return;
  std::fprintf(stderr, "\rswitchyard: jit: %lld programs compiled in %.1f s ",
               static_cast<long long>(table().counts.compiled),
               static_cast<double>(blocked_ns) / 1e9);
}

// Compiles a hot program, or has it compiled.
void make(const EntryPtr& e, Mode m) {
  State cold = State::kCold;
  if (!e->state.compare_exchange_strong(cold, State::kQueued)) return;
  if (!has_compiler()) {
    e->refusal = "there is no compiler";
    e->state = State::kRefused;
  } else if (m == Mode::kWait) {
    const auto begin = Clock::now();
    compile_entry(*e);
    show_progress(table().counts.blocked_ns += since(begin));
  } else {
    queue().add(e);
  }
}

}  // namespace

intrusive_ptr<Kernel> kernel_for(const Wanted& w, int64_t work) noexcept {
  const Mode m = mode();
  if (m == Mode::kOff || thread_state.interpreted) return nullptr;
  try {
    const uint64_t hash = hash_of(w);
    intrusive_ptr<Kernel> kernel;
    EntryPtr e = find(w, hash, &kernel);
    if (e == nullptr) e = add(w, hash);
    if (e == nullptr) return nullptr;
    const int64_t done =
        e->work.fetch_add(work, std::memory_order_relaxed) + work;
    if (kernel == nullptr && e->state == State::kCold &&
        (m == Mode::kWait || done >= kHot)) {
      make(e, m);
      if (m == Mode::kWait) find(w, hash, &kernel);
    }
    if (kernel == nullptr) return nullptr;
    e->runs.fetch_add(1, std::memory_order_relaxed);
    table().counts.runs.fetch_add(1, std::memory_order_relaxed);
    e->used.store(table().epoch.load(std::memory_order_relaxed),
                  std::memory_order_relaxed);
    return kernel;
  } catch (const std::exception&) {  // no memory for the table
    return nullptr;
  }
}

Counters counters() noexcept {
  Table& t = table();
  Counters s;
  {
    const Reading lock;
    s.kernels = static_cast<int64_t>(t.kernels);
    s.bytes = static_cast<int64_t>(t.bytes);
  }
  s.runs = t.counts.runs;
  s.compiled = t.counts.compiled;
  s.loaded = t.counts.loaded;
  s.refused = t.counts.refused;
  s.failed = t.counts.failed;
  s.evicted = t.counts.evicted;
  s.compile_ns = t.counts.compile_ns;
  s.blocked_ns = t.counts.blocked_ns;
  s.queued = static_cast<int64_t>(queue().pending());
  return s;
}

std::vector<Seen> programs() {
  Table& t = table();
  std::vector<Seen> all;
  {
    const Reading lock;
    for (const auto& [hash, e] : t.entries) {
      Seen& s = all.emplace_back();
      s.request = e->bytes;
      s.work = e->work;
      s.runs = e->runs;
      s.compile_ns = e->compile_ns;
      if (e->kernel != nullptr)
        s.bytes = static_cast<int64_t>(e->kernel->bytes());
      const State state = e->state;
      s.is_queued = state == State::kQueued;
      if (state == State::kRefused) s.refusal = e->refusal;
    }
  }
  std::sort(all.begin(), all.end(), [](const Seen& a, const Seen& b) {
    return std::tie(b.work, a.request) < std::tie(a.work, b.request);
  });
  return all;
}

std::string code_text(const std::string& request, bool assembly) {
  if (compiler() == nullptr) return why_no_compiler();
  std::string text;
  compiler()->print_code(request, assembly, &text);
  return text;
}

void finish() noexcept { queue().finish(); }

void clear() noexcept {
  finish();
  Table& t = table();
  const Writing lock;
  t.entries.clear();
  t.kernels = t.bytes = 0;
}

void set_capacity(size_t kernels) noexcept {
  Table& t = table();
  const Writing lock;
  t.capacity = kernels == 0 ? 1 : kernels;
  evict(t);
}

std::string why_no_compiler() {
  return compiler() != nullptr ? "" : cpu::why_not_loaded(kLibrary);
}

}  // namespace sy::cpu::jit
