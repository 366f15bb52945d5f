#include "tools/sy/repeated.h"

#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "aten/tensor.h"
#include "c10/error.h"
#include "tools/sy/case_runner.h"
#include "tools/sy/tensors.h"

namespace sy::tools {

namespace {

using Clock = std::chrono::steady_clock;

std::vector<Value> call(OperatorHandle op, std::vector<Value> args) {
  std::vector<Value> out(op.schema().returns().size());
  op.call_boxed(args.data(), args.size(), out.data(), out.size());
  return out;
}

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

// Memory that the process holds, in bytes.
int64_t resident() {
  int64_t all = 0, held = 0;
  std::ifstream("/proc/self/statm") >> all >> held;
  return held * sysconf(_SC_PAGESIZE);
}

}  // namespace

std::string call_often(OperatorHandle op, const std::vector<Value>& arguments) {
  constexpr int kCalls = 1100, kWarm = 100;
  constexpr int64_t kLost = 4096;  // bytes a call, on average
  const auto end = Clock::now() + std::chrono::milliseconds(400);
  const std::string first = bytes_of(call(op, arguments));
  int64_t before = 0;
  int n = 0;
  for (; n < kCalls && Clock::now() < end; ++n) {
    if (n == kWarm) before = resident();
    if (bytes_of(call(op, arguments)) == first) continue;
    return str("call {} of the same gives other values", n + 2);
  }
  const int64_t calls = n - kWarm;
  if (calls < kWarm) return "";
  const int64_t lost = (resident() - before) / calls;
  if (lost < kLost) return "";
  return str("the process keeps {} bytes of each call", lost);
}

std::string call_at_once(OperatorHandle op,
                         const std::function<std::vector<Value>()>& arguments) {
  constexpr int kThreads = 4, kCalls = 300;
  const auto end = Clock::now() + std::chrono::milliseconds(150);
  std::vector<std::vector<Value>> args;
  std::vector<std::string> alone, why(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    std::vector<Value> own = arguments();
    for (const Value& v : own) {
      if (!v.is_tensor() || !v.to_tensor().defined()) continue;
      const Tensor x(v.to_tensor());
      // Values of its own.
      if (is_floating_type(x.scalar_type())) x.mul_(1.0 - 0.125 * t);
    }
    alone.push_back(bytes_of(call(op, own)));
    args.push_back(std::move(own));
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const auto k = static_cast<size_t>(t);
      try {
        for (int n = 0; n < kCalls && Clock::now() < end; ++n) {
          if (bytes_of(call(op, args[k])) == alone[k]) continue;
          why[k] = "other values than alone while threads call it";
          return;
        }
      } catch (...) {
        why[k] = current_exception_text();
      }
    });
  }
  for (std::thread& t : threads) t.join();
  for (const std::string& w : why) {
    if (!w.empty()) return w;
  }
  return "";
}

}  // namespace sy::tools
