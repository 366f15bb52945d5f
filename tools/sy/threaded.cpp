#include "c10/error.h"
#include "c10/generator.h"
#include "c10/parallel.h"
#include "tools/sy/arguments.h"
#include "tools/sy/compare.h"
#include "tools/sy/trials.h"

namespace sy::tools {

namespace {

constexpr int kThreads = 3;

// What a call leaves behind.
struct Outcome {
  std::vector<HostTensor> tensors;
  std::vector<std::string> plain;
  std::string error;
};

// As large results are: every piece of work may go to another thread.
class SmallGrain {
 public:
  explicit SmallGrain(int threads) : before_(get_num_threads()) {
    set_num_threads(threads);
    detail::limit_grain(1);
  }
  ~SmallGrain() {
    detail::limit_grain(0);
    set_num_threads(before_);
  }

 private:
  int before_;
};

class Threaded final : public CallTrials {
 public:
  using CallTrials::CallTrials;

 private:
  std::string problem(size_t i, CaseResult&) const override {
    const Outcome one = call(i, 1);
    const std::string why = difference(one, call(i, kThreads));
    return why.empty() ? "" : str("with {} threads: {}", kThreads, why);
  }

  Outcome call(size_t i, int threads) const {
    Arguments in = arguments(i);
    std::vector<Value> out(op().schema().returns().size());
    Outcome outcome;
    manual_seed(5);
    {
      const SmallGrain small(threads);
      try {
        op().call_boxed(in.values.data(), in.values.size(), out.data(),
                        out.size());
      } catch (const Error&) {
        outcome.error = current_exception_text();
      }
    }
    for (const Value& v : out) keep(v, outcome);
    for (const NamedTensor& t : in.tensors) keep(Value(t.tensor), outcome);
    return outcome;
  }

  static void keep(const Value& v, Outcome& outcome) {
    if (v.tag() == Value::Tag::TensorList) {
      for (const TensorBase& t : v.to_tensor_list()) keep(Value(t), outcome);
    } else if (v.is_tensor()) {
      outcome.tensors.push_back(read_tensor(v.to_tensor()));
    } else {
      outcome.plain.push_back(to_string(v));
    }
  }

  static std::string difference(const Outcome& a, const Outcome& b) {
    if (a.error != b.error) {
      return str("expected '{}', got '{}'", a.error, b.error);
    }
    if (a.plain != b.plain) return "another number";
    for (size_t i = 0; i < a.tensors.size(); ++i) {
      const std::string why =
          compare_tensor(b.tensors[i], a.tensors[i], Tolerance{});
      if (!why.empty()) return why;
    }
    return "";
  }
};

}  // namespace

std::unique_ptr<Trials> threaded_trials(OperatorHandle op,
                                        std::shared_ptr<const Calls> calls) {
  return std::make_unique<Threaded>(op, std::move(calls));
}

}  // namespace sy::tools
