#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

#include "aten/ops/copy.h"
#include "aten/tensor.h"
#include "c10/dispatch/thread_state.h"
#include "c10/process/error.h"
#include "c10/schema/function_schema.h"
#include "include/sy/jit.h"
#include "tools/sy/calls/words.h"
#include "tools/sy/cases/arguments.h"
#include "tools/sy/inspect/inspect.h"
#include "tools/sy/support/json.h"

namespace sy::tools {

namespace {

constexpr const char* kTensors = "1000x1000!";
// A time is the least of as many calls as fit in.
constexpr std::chrono::milliseconds kMeasured{60};

template <class F>
double least_us(const F& f) {
  using Clock = std::chrono::steady_clock;
  double least = 0;
  for (const auto end = Clock::now() + kMeasured; Clock::now() < end;) {
    const auto begin = Clock::now();
    f();
    const std::chrono::duration<double, std::micro> time = Clock::now() - begin;
    if (least == 0 || time.count() < least) least = time.count();
  }
  return least;
}

struct Call {
  OperatorHandle op;
  std::vector<Value> arguments;
  std::string described;  // the tensors
  int64_t bytes = 0;      // of tensors that are read and written

  Call(OperatorHandle which, std::string_view words) : op(which) {
    Arguments in;
    in.values = parse_arguments(op, words, kTensors);
    change_tensors(
        op.schema(),
        [&](const Tensor& t) {
          const Tensor out =
              t.scalar_type() == kDouble ? t.to(kFloat) : t.detach();
          described += str("{}{}{}", described.empty() ? "" : ", ",
                           out.scalar_type(), out.sizes());
          bytes += static_cast<int64_t>(out.nbytes());
          return out;
        },
        in);
    arguments = std::move(in.values);
    for (const Value& v : run()) {
      for_each_tensor(v, [&](const TensorBase& t) {
        bytes += static_cast<int64_t>(Tensor(t).nbytes());
      });
    }
  }
  std::vector<Value> run() const {
    const AutoDispatchBelowAutograd no_tape;
    return call_with(op, arguments);
  }
};

// Half of the bytes are read, and half written.
double copy_us(int64_t bytes) {
  const auto n = static_cast<size_t>(bytes / 2);
  const std::vector<char> from(n, 1);
  std::vector<char> to(n);
  return least_us([&] { std::memcpy(to.data(), from.data(), n); });
}

struct Figures {
  double interpreted, compiled, copy;  // us
};

Figures measure(const Call& call) {
  Figures f{};
  jit::set_mode(jit::Mode::kOff);
  f.interpreted = least_us([&] { call.run(); });
  jit::clear();
  jit::set_mode(jit::Mode::kWait);
  call.run();
  f.compiled = least_us([&] { call.run(); });
  f.copy = copy_us(call.bytes);
  return f;
}

std::string text_of(const Call& call, const Figures& f) {
  std::string text = str("{}\n  of {}\n", call.op.entry().schema_text(),
                         call.described.empty() ? "nothing" : call.described);
  const std::string code = jit::code_text();
  const auto us = [](double t) { return static_cast<int64_t>(t + 0.5); };
  if (code.empty()) {
    return text + str("  {} us; no program: it has a kernel of its own, or too "
                      "few steps or elements\n",
                      us(f.interpreted));
  }
  text +=
      str("  interpreted {} us, compiled {} us; a copy of as many bytes "
          "({} KB read and written) {} us: {} %\n",
          us(f.interpreted), us(f.compiled), call.bytes / 1000, us(f.copy),
          us(100 * f.copy / f.compiled));
  return text + code;
}

Json json_of(const Call& call, const Figures& f) {
  const jit::Counters c = jit::counters();
  return {{"name", call.op.name()},      {"tensors", call.described},
          {"bytes", call.bytes},         {"interpreted_us", f.interpreted},
          {"compiled_us", f.compiled},   {"copy_us", f.copy},
          {"kernels", c.kernels},        {"compile_us", c.compile_ns / 1000},
          {"programs", jit::code_text()}};
}

}  // namespace

int explain_jit(const std::string& name, const std::string& words, bool json) {
  Json list = Json::array();
  std::string text, problem;
  for (const OperatorHandle op : overloads(name)) {
    try {
      const Call call(op, words);
      const Figures f = measure(call);
      list.push_back(json_of(call, f));
      text += (text.empty() ? "" : "\n") + text_of(call, f);
    } catch (const Error& e) {
      problem = e.what();
    }
  }
  SY_CHECK(!list.empty(), Value,
           "no call of {} succeeds; --call has its "
           "arguments. The last error: {}",
           name, problem);
  std::fputs((json ? dump(list, 1) + "\n" : text).c_str(), stdout);
  return 0;
}

}  // namespace sy::tools
