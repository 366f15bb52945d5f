#include "c10/memory/allocator.h"
#include "c10/process/error.h"
#include "tools/sy/cases/arguments.h"
#include "tools/sy/support/exception_text.h"
#include "tools/sy/trials/failing_new.h"
#include "tools/sy/trials/trials.h"

namespace sy::tools {

namespace {

// Beyond so many allocations a call repeats itself.
constexpr int64_t kMostAllocations = 64;

class Starved final : public CallTrials {
 public:
  using CallTrials::CallTrials;

 private:
  using Fail = int64_t (*)(int64_t) noexcept;

  std::string problem(size_t i, CaseResult&) const override {
    bool failed = false;
    call(i, &fail_allocation, 0, failed);  // what it keeps for later is made
    std::string why = starve(i, "allocation", &fail_allocation);
    return why.empty() ? starve(i, "operator new", &fail_new) : why;
  }

  std::string starve(size_t i, const char* what, Fail fail) const {
    bool failed = true;
    for (int64_t n = 1; failed && n <= kMostAllocations; ++n) {
      const int64_t before = memory_stats().allocated;
      std::string why = call(i, fail, n, failed);
      const int64_t leaked = memory_stats().allocated - before;
      if (why.empty() && failed && leaked != 0) {
        why = str("{} bytes are not given back", leaked);
      }
      if (!why.empty()) return str("with {} {} failing: {}", what, n, why);
    }
    return "";
  }

  // Sets `failed` to whether the call came as far as its nth allocation.
  std::string call(size_t i, Fail fail, int64_t n, bool& failed) const {
    Arguments in = arguments(i);
    std::vector<Value> out(op().schema().returns().size());
    std::string why;
    fail(n);
    try {
      op().call_boxed(in.values.data(), in.values.size(), out.data(),
                      out.size());
      failed = fail(0) == 0 && n != 0;
      // A kernel may do with less where memory is short.
      if (failed && fail == &fail_allocation) why = "the call succeeds";
    } catch (...) {
      failed = fail(0) == 0 && n != 0;
      why = current_exception_text();
      if (failed && why.starts_with("OutOfMemoryError: ")) why.clear();
    }
    return why;
  }
};

}  // namespace

std::unique_ptr<Trials> starved_trials(OperatorHandle op,
                                       std::shared_ptr<const Calls> calls) {
  return std::make_unique<Starved>(op, std::move(calls));
}

}  // namespace sy::tools
