#include <algorithm>

#include "c10/memory/allocator.h"
#include "c10/process/error.h"
#include "tools/sy/calls/device_arguments.h"
#include "tools/sy/cases/arguments.h"
#include "tools/sy/support/exception_text.h"
#include "tools/sy/trials/mutations.h"
#include "tools/sy/trials/soundness.h"
#include "tools/sy/trials/trials.h"

namespace sy::tools {

namespace {

// The bytes that a call may allocate before it counts as absurd.
constexpr int64_t kMemory = int64_t{256} << 20;

std::string result_out_of_bounds(const Value& v) {
  std::string why;
  for_each_tensor(v, [&](const TensorBase& t) {
    if (why.empty()) why = out_of_bounds(t);
  });
  return why;
}

class Hostile final : public Trials {
 public:
  Hostile(OperatorHandle op, std::shared_ptr<const Calls> calls, Device device)
      : op_(op), calls_(std::move(calls)), device_(device) {
    set_memory_limit(kMemory);
    const size_t n = calls_->size();
    for (size_t i = 0; i < n; i += std::max<size_t>(1, n - 1)) {
      Base base{i, {}, offsets_.empty() ? 0 : offsets_.back()};
      base.mutations = mutations_of(op.schema(), calls_->arguments(i));
      offsets_.push_back(base.first + base.mutations.size());
      bases_.push_back(std::move(base));
    }
  }

  size_t size() const override {
    return offsets_.empty() ? 0 : offsets_.back();
  }
  std::string id(size_t i) const override {
    const Base& c = base_of(i);
    return str("{}, {}", calls_->id(c.call), c.mutations[i - c.first].id);
  }

  CaseResult run(size_t i) const override {
    CaseResult result;
    result.non_empty = true;
    try {
      Arguments in = arguments(i);
      if (!device_.is_cpu()) {
        in.values = moved(op_, in, device_);
      }
      result.why = call(in);
    } catch (...) {
      result.why = "making the arguments: " + current_exception_text();
    }
    return result;
  }

  Arguments arguments(size_t i) const override {
    const Base& c = base_of(i);
    Arguments in = calls_->arguments(c.call);
    c.mutations[i - c.first].apply(in);
    return in;
  }

 private:
  // The first call or the last.
  struct Base {
    size_t call;
    std::vector<Mutation> mutations;
    size_t first;  // the trial that its first mutation is
  };

  const Base& base_of(size_t i) const {
    return bases_[static_cast<size_t>(
        std::upper_bound(offsets_.begin(), offsets_.end(), i) -
        offsets_.begin())];
  }

  std::string call(Arguments& in) const {
    std::vector<Value> out(op_.schema().returns().size());
    try {
      op_.call_boxed(in.values.data(), in.values.size(), out.data(),
                     out.size());
    } catch (const InternalError&) {
      return current_exception_text();
    } catch (const OutOfMemoryError&) {
      return "";
    } catch (const Error& e) {
      return begins_with_operator(e.what(), op_)
                 ? ""
                 : "the error names no operator: " + current_exception_text();
    } catch (...) {
      return "expected an sy::Error, got " + current_exception_text();
    }
    for (const Value& v : out) {
      if (const std::string why = result_out_of_bounds(v); !why.empty()) {
        return why;
      }
    }
    return "";
  }

  OperatorHandle op_;
  std::shared_ptr<const Calls> calls_;
  Device device_;
  std::vector<Base> bases_;
  std::vector<size_t> offsets_;  // of the ends
};

}  // namespace

std::unique_ptr<Trials> hostile_trials(OperatorHandle op,
                                       std::shared_ptr<const Calls> calls,
                                       Device device) {
  return std::make_unique<Hostile>(op, std::move(calls), device);
}

}  // namespace sy::tools
