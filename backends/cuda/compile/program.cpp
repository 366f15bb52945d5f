#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "backends/cuda/compile/images.h"
#include "backends/cuda/compile/jit.h"
#include "backends/cuda/compile/module.h"
#include "backends/cuda/compile/nvrtc.h"
#include "backends/cuda/compile/record.h"
#include "backends/cuda/compile/unit.h"
#include "backends/cuda/runtime/context.h"
#include "c10/dispatch/trace.h"
#include "c10/process/background_queue.h"
#include "c10/process/environment.h"
#include "c10/process/error.h"

namespace sy::cuda {

namespace {

// The most kernels of one unit: 16 kernels take as long as 3 apart.
constexpr size_t kMostInUnit = 16;

// ---- the programs that were asked for

enum class State : uint8_t {
  kCold,     // nobody makes it
  kBusy,     // a thread makes it, or it is queued
  kReady,    // function is set
  kRefused,  // it does not compile
};

struct Entry {
  ProgramKey key;
  int device = 0;
  std::atomic<const Function*> ready{nullptr};
  std::atomic<State> state{State::kCold};
  Function function;
  std::string symbol, label;
  Entry* next = nullptr;
};

// Chains of entries that are never removed: readers take no lock. Leaked, as
// threads may outlive everything.
struct Table {
  std::mutex adding;
  std::array<std::atomic<Entry*>, 4096> chains{};
};
Table& table() {
  static auto* const t = new Table;
  return *t;
}

size_t chain_of(const ProgramKey& key, int device) {
  return (key.hash[0] + static_cast<uint64_t>(device)) % 4096;
}

Entry* find(const ProgramKey& key, int device) {
  Entry* e =
      table().chains[chain_of(key, device)].load(std::memory_order_acquire);
  while (e != nullptr && (e->key != key || e->device != device)) e = e->next;
  return e;
}

Entry& find_or_add(const ProgramKey& key, int device) {
  Table& t = table();
  const std::lock_guard lock(t.adding);
  if (Entry* const e = find(key, device)) return *e;
  auto fresh = std::make_unique<Entry>();
  fresh->key = key;
  fresh->device = device;
  fresh->symbol = "p" + hex({key.hash[0], key.hash[1]});
  auto& chain = t.chains[chain_of(key, device)];
  fresh->next = chain.load(std::memory_order_relaxed);
  chain.store(fresh.get(), std::memory_order_release);
  return *fresh.release();
}

// ---- the queue

struct Job {
  Entry* entry = nullptr;
  std::string text;  // of its kernel alone
  Hash key;          // of the unit that has it alone
};

BackgroundQueue<Job>& queue();

void set_state(Entry& e, State s) {
  queue().change([&] { e.state = s; });
}

const char* text_of(const Entry& e) {
  return e.label.empty() ? e.symbol.c_str() : e.label.c_str();
}

void refuse(Entry& e, const std::string& why) {
  // A process that ends cancels what is compiled: nobody has missed it.
  if (!queue().is_closed()) {
    std::fprintf(stderr,
                 "switchyard: cuda: the program %s stays interpreted: %s\n",
                 text_of(e), why.c_str());
  }
  set_state(e, State::kRefused);
}

void publish(Entry& e, driver::Module module) {
  use_device(e.device);
  driver::check(driver::api().module_function(&e.function.handle, module,
                                              e.symbol.c_str()),
                "cuModuleGetFunction");
  e.function.name = text_of(e);
  e.ready.store(&e.function, std::memory_order_release);
  set_state(e, State::kReady);
}

// Whether anything can be compiled; says once that it cannot.
bool has_compiler(int device) {
  const std::string why = why_not_compiled(device);
  if (why.empty()) return true;
  static std::atomic<bool> told = false;
  if (!told.exchange(true)) {
    std::fprintf(stderr, "switchyard: cuda: programs are interpreted: %s\n",
                 why.c_str());
  }
  return false;
}

// ---- making kernels. Nothing here throws.

Unit unit_of(const std::vector<const Job*>& jobs) {
  std::string kernels;
  for (const Job* const j : jobs) kernels += j->text;
  return printed_unit(jobs.size() == 1 ? text_of(*jobs[0]->entry)
                                       : str("{} programs", jobs.size()),
                      kernels);
}

// Compiles jobs that are for devices of one architecture.
void compile(const std::vector<const Job*>& jobs) {
  const Job& first = *jobs[0];
  try {
    driver::Module module = nullptr;
    std::string why;
    std::vector<Hash> keys;
    keys.reserve(jobs.size());
    for (const Job* const j : jobs) keys.push_back(j->key);
    if (!compile_and_load(first.entry->device, unit_of(jobs), keys, &module,
                          &why)) {
      if (jobs.size() == 1) return refuse(*first.entry, why);
      for (const Job* const j : jobs) compile({j});
      return;
    }
    for (const Job* const j : jobs) {
      // A job of another device with the same architecture takes a copy on
      // disk, or is compiled again.
      if (j->entry->device == first.entry->device) {
        publish(*j->entry, module);
      } else if (load_kept(j->entry->device, j->key, &module)) {
        publish(*j->entry, module);
      } else {
        compile({j});
      }
    }
  } catch (const std::exception& e) {
    for (const Job* const j : jobs) {
      if (j->entry->state != State::kReady) refuse(*j->entry, e.what());
    }
  }
}

bool make_of_kept(const Job& job) {
  driver::Module module = nullptr;
  if (!load_kept(job.entry->device, job.key, &module)) return false;
  publish(*job.entry, module);
  return true;
}

void make(const std::vector<Job>& jobs) {
  const TraceSpan span("compile", [&] {
    return jobs.size() == 1 ? std::string(text_of(*jobs[0].entry))
                            : str("{} programs", jobs.size());
  });
  std::vector<const Job*> fresh;
  for (const Job& j : jobs) {
    try {
      if (!has_compiler(j.entry->device)) {
        set_state(*j.entry, State::kRefused);
      } else if (!make_of_kept(j)) {
        fresh.push_back(&j);
      }
    } catch (const std::exception& e) {
      refuse(*j.entry, e.what());
    }
  }
  if (!fresh.empty()) compile(fresh);
}

// Whether one unit can hold them.
bool joins(const std::vector<Job>& batch, const Job& job) {
  return batch.size() < kMostInUnit &&
         architecture_of(batch[0].entry->device) ==
             architecture_of(job.entry->device);
}

// Threads that launch kernels come first. The child of a fork has no devices.
// NVRTC must not be taken down under the thread: Note [The end of a process] of
// c10/process/background_queue.cpp.
BackgroundQueue<Job>& queue() {
  static auto* const q = new BackgroundQueue<Job>(
      {.name = "sy-cuda-jit",
       .niceness = 10,
       .goes_on_in_child = false,
       .prepare = []() noexcept { Nvrtc::get(nullptr); },
       .cancel = &Nvrtc::cancel},
      [](const std::vector<Job>& batch) noexcept { make(batch); }, &joins);
  return *q;
}

// ---- what callers do

std::atomic<JitMode>& current_mode() {
  static std::atomic<JitMode> m =
      environment_choice("SWITCHYARD_CUDA_JIT", {"background", "wait", "off"},
                         JitMode::kBackground);
  return m;
}

// Whether the caller is the one to make it.
bool claim(Entry& e) {
  State cold = State::kCold;
  return e.state.compare_exchange_strong(cold, State::kBusy);
}

void wait_for(Entry& e) {
  queue().wait_until([&] { return e.state != State::kBusy; });
}

// The caller has claimed it. With `off` it stays cold.
void begin(Entry& e, const ProgramSource& source, JitMode mode) {
  try {
    use_device(e.device);
    Job job{&e, source.text(e.symbol), {}};
    if (e.label.empty()) e.label = source.label();
    job.key = key_of(unit_of({&job}));
    record_printed(job.key, text_of(e), job.text);
    driver::Module module = nullptr;
    if (load_baked(e.device, job.key, &module)) return publish(e, module);
    if (mode == JitMode::kOff) {
      set_state(e, State::kCold);
    } else if (mode == JitMode::kWait) {
      std::vector<Job> jobs;
      jobs.push_back(std::move(job));
      make(jobs);
    } else {
      queue().add(std::move(job));
    }
  } catch (...) {
    set_state(e, State::kCold);
    throw;
  }
}

}  // namespace

JitMode jit_mode() noexcept { return current_mode(); }
void set_jit_mode(JitMode mode) noexcept { current_mode() = mode; }

const Function* program(int device, const ProgramKey& key,
                        const ProgramSource& source) {
  Entry* e = find(key, device);
  if (e != nullptr) {
    const Function* const f = e->ready.load(std::memory_order_acquire);
    if (f != nullptr) return f;
  }
  const JitMode mode = jit_mode();
  if (e == nullptr) {
    e = &find_or_add(key, device);
  } else if (mode == JitMode::kOff || e->state == State::kRefused) {
    // Packs were asked when the key was new.
    return nullptr;
  }
  if (claim(*e)) begin(*e, source, mode);
  if (mode == JitMode::kWait) wait_for(*e);
  return e->ready.load(std::memory_order_acquire);
}

void finish_compiling() { queue().finish(); }

}  // namespace sy::cuda
