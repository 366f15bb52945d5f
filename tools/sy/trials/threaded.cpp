#include "c10/process/error.h"
#include "c10/process/parallel.h"
#include "tools/sy/trials/outcome.h"
#include "tools/sy/trials/trials.h"

namespace sy::tools {

namespace {

constexpr int kThreads = 3;

// Splits the work as for large results: every piece may go to another thread.
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
    const std::string why = difference(one, call(i, kThreads), Tolerance{});
    return why.empty() ? "" : str("with {} threads: {}", kThreads, why);
  }

  Outcome call(size_t i, int threads) const {
    Arguments in = arguments(i);
    const SmallGrain small(threads);
    return outcome_of(op(), std::move(in));
  }
};

}  // namespace

std::unique_ptr<Trials> threaded_trials(OperatorHandle op,
                                        std::shared_ptr<const Calls> calls) {
  return std::make_unique<Threaded>(op, std::move(calls));
}

}  // namespace sy::tools
