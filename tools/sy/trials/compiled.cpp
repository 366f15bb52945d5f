#include <sy/compile.h>
#include <sy/sy.h>

#include <string_view>

#include "c10/process/environment.h"
#include "tools/sy/cases/case_runner.h"
#include "tools/sy/support/exception_text.h"
#include "tools/sy/trials/outcome.h"
#include "tools/sy/trials/trials.h"

namespace sy::tools {

namespace {

constexpr int kRuns = 3;  // a capture, and replays of it

// The call as sy::compile makes it: captured, then replayed with other tensors
// of the same values.
class Compiled final : public CallTrials {
 public:
  using CallTrials::CallTrials;

 private:
  // A call in flight.
  struct Call {
    OperatorHandle op;
    Arguments in;
    std::vector<Value> out;
  };

  std::string problem(size_t i, CaseResult& result) const override {
    int64_t replays = 0;
    for (const bool gradient : {false, true}) {
      const Outcome expected = outcome(nullptr, i, gradient);
      const Tolerance tolerance = tolerance_of(expected, i);
      compiling::Function f({.name = "the call"});
      for (int run = 0; run < kRuns; ++run) {
        const Outcome actual = outcome(&f, i, gradient);
        if (gradient && may_fail(expected, actual, i)) break;
        const std::string why = difference(expected, actual, tolerance);
        if (!why.empty()) {
          return str("{}, run {}: {}\n{}", gradient ? "gradient" : "call", run,
                     why, f.explain());
        }
      }
      replays += f.counters().replays;
    }
    if (replays == 0) result.note = "never replayed";
    return "";
  }

  // A gradient that fails does so with the names of other nodes. Some fail when
  // they are made of operators, as they are to be differentiated once more.
  bool may_fail(const Outcome& expected, const Outcome& actual,
                size_t i) const {
    if (actual.error.empty()) return false;
    return !expected.error.empty() ||
           !outcome(nullptr, i, true, true).error.empty();
  }

  // Fused loops round as the calls do one by one, but for what kernels of
  // several steps keep wide. Engines of others add in orders of their own: a
  // sum of n numbers is off by up to n roundings.
  Tolerance tolerance_of(const Outcome& o, size_t i) const {
    Tolerance t{1e-5, 1e-6};
    for (const HostTensor& x : o.tensors) {
      if (x.dtype == kHalf || x.dtype == kBFloat16) t = {2e-2, 2e-2};
    }
    if (!adds_as_we_do()) {
      t.rtol += 0x1p-24 * static_cast<double>(arguments(i).most_elements());
    }
    return t;
  }

  static bool adds_as_we_do() {
    const char* const set = environment("SWITCHYARD_COMPILE_BACKEND");
    const std::string_view name = set == nullptr ? "" : set;
    return name.empty() || name == "jit" || name == "interpret" ||
           name == "debug";
  }

  // Makes the call by `f`, or as it is without `f`. Results that are no tensors
  // are not replayed.
  Outcome outcome(compiling::Function* f, size_t i, bool gradient,
                  bool create_graph = false) const {
    Call call{op(), arguments(i), {}};
    compiling::Arguments in;
    for (const NamedTensor& t : call.in.tensors) {
      in.tensors.emplace_back(t.tensor);
    }
    compiling::Outputs out;
    Outcome outcome;
    manual_seed(5);
    try {
      if (gradient) require_gradients(in.tensors);
      if (f == nullptr) {
        run(&call, &out);
      } else {
        f->call(in, &run, &call, &out);
      }
      if (gradient) run_backward(out.tensors, create_graph);
    } catch (const Error&) {
      outcome.error = current_exception_text();
    }
    for (const Tensor& t : out.tensors) outcome.keep(Value(TensorBase(t)));
    for (const Tensor& t : in.tensors) {
      outcome.keep(Value(TensorBase(t)));
      const bool has = gradient && t.defined() && t.grad().defined();
      if (has) outcome.keep(Value(TensorBase(t.grad())));
    }
    return outcome;
  }

  static void require_gradients(const std::vector<Tensor>& tensors) {
    for (const Tensor& t : tensors) {
      if (t.defined() && t.is_floating_point()) t.requires_grad_();
    }
  }

  static void run_backward(const std::vector<Tensor>& results,
                           bool create_graph) {
    Tensor total;
    for (const Tensor& t : results) {
      if (!t.defined() || !t.requires_grad()) continue;
      const Tensor sum = (t.to(kDouble) * 0.7).sum();
      total = total.defined() ? total + sum : sum;
    }
    if (total.defined()) total.backward({}, false, create_graph);
  }

  static void run(void* context, compiling::Outputs* out) {
    Call& call = *static_cast<Call*>(context);
    call.out.resize(call.op.schema().returns().size());
    call.op.call_boxed(call.in.values.data(), call.in.values.size(),
                       call.out.data(), call.out.size());
    for (const Value& v : call.out) {
      if (v.is_tensor()) {
        out->tensors.emplace_back(v.to_tensor());
      } else if (v.tag() == Value::Tag::TensorList) {
        for (const TensorBase& t : v.to_tensor_list()) {
          out->tensors.emplace_back(t);
        }
      }
    }
  }
};

}  // namespace

std::unique_ptr<Trials> compiled_trials(OperatorHandle op,
                                        std::shared_ptr<const Calls> calls) {
  return std::make_unique<Compiled>(op, std::move(calls));
}

}  // namespace sy::tools
