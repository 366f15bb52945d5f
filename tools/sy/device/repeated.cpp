#include "tools/sy/device/repeated.h"

#include <malloc.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

#include "aten/tensor.h"
#include "c10/process/error.h"
#include "tools/sy/cases/arguments.h"
#include "tools/sy/cases/tensors.h"
#include "tools/sy/device/red_zones.h"
#include "tools/sy/support/exception_text.h"

namespace sy::tools {

namespace {

using Clock = std::chrono::steady_clock;

// The elements of all results in row-major order, and what is no tensor.
std::string bytes_of(const std::vector<Value>& results) {
  std::string out;
  for (const Value& v : results) {
    bool any = false;
    for_each_tensor(v, [&](const TensorBase& t) {
      any = true;
      if (!t.defined()) return;
      const HostTensor h = read_tensor(t);
      for (int64_t i : element_indices(h.sizes, h.strides, h.offset)) {
        out.append(h.at(i), element_size(h.dtype));
      }
    });
    if (!any) out += to_string(v) + ";";
  }
  return out;
}

// Memory that a call might keep, in bytes.
struct Held {
  int64_t heap, resident, device;

  static Held now() {
    const struct mallinfo2 heap = mallinfo2();
    int64_t all = 0, pages = 0;
    std::ifstream("/proc/self/statm") >> all >> pages;
    return {static_cast<int64_t>(heap.uordblks + heap.hblkhd),
            pages * sysconf(_SC_PAGESIZE), bytes_in_zones()};
  }
};

// The CPU time of this thread: a busy machine makes as many calls in it.
std::chrono::nanoseconds computed() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

}  // namespace

std::string call_often(OperatorHandle op, const std::vector<Value>& arguments) {
  constexpr int kCalls = 1100, kWarm = 100;
  // Bytes a call, on average; the system gives pages out in larger pieces.
  constexpr int64_t kLost = 512, kLostPages = 8192;
  const auto cpu_end = computed() + std::chrono::milliseconds(500);
  const auto end = Clock::now() + std::chrono::seconds(10);
  const std::string first = bytes_of(call_with(op, arguments));
  Held before{};
  int n = 0;
  for (; n < kCalls && computed() < cpu_end && Clock::now() < end; ++n) {
    if (n == kWarm) before = Held::now();
    if (bytes_of(call_with(op, arguments)) == first) continue;
    return str("call {} of the same gives other values", n + 2);
  }
  const int64_t calls = n - kWarm;
  if (calls < kWarm) return "";
  const Held after = Held::now();
  const int64_t device = (after.device - before.device) / calls;
  if (device > 0) return str("the device keeps {} bytes of each call", device);
  const int64_t heap = (after.heap - before.heap) / calls;
  const int64_t resident = (after.resident - before.resident) / calls;
  if (heap < kLost && resident < kLostPages) return "";
  return str("the process keeps {} bytes of each call",
             std::max(heap, resident));
}

std::string call_at_once(
    OperatorHandle op,
    const std::function<std::vector<Value>(int thread)>& arguments) {
  constexpr int kThreads = 4, kCalls = 300;
  const auto end = Clock::now() + std::chrono::milliseconds(800);
  std::vector<std::vector<Value>> args;
  std::vector<std::string> alone, why(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    args.push_back(arguments(t));
    alone.push_back(bytes_of(call_with(op, args.back())));
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const auto k = static_cast<size_t>(t);
      try {
        for (int n = 0; n < kCalls && Clock::now() < end; ++n) {
          if (bytes_of(call_with(op, args[k])) == alone[k]) continue;
          why[k] = "other values than alone while threads call it";
          return;
        }
      } catch (...) {
        why[k] = current_exception_text();
      }
    });
  }
  for (std::thread& t : threads) t.join();
  const auto wrong = std::find_if(why.begin(), why.end(),
                                  [](const auto& w) { return !w.empty(); });
  return wrong == why.end() ? "" : *wrong;
}

}  // namespace sy::tools
