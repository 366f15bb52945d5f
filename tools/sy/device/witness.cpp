#include "tools/sy/device/witness.h"

#include <utility>

#include "aten/backend/cpu_fallback.h"
#include "c10/device/backend.h"
#include "c10/dispatch/introspect.h"

namespace sy::tools {

namespace {

constexpr const char* kNoError = "expected an error, got a result";
constexpr const char* kStrides = ": strides: expected ";

bool ran_on_cpu(OperatorHandle op) {
  for (const FallbackCount& f : fallback_counts()) {
    if (f.op == op.name()) return true;
  }
  return false;
}

}  // namespace

Witness::Witness(OperatorHandle op, Device device, const Claims* claims)
    : op_(op), device_(device), claims_(claims) {
  const std::string key = backend_key_name(device.type());
  for (const DispatchInfo& d : dispatch_of(op)) {
    own_kernel_ |= d.key == key && d.route == DispatchInfo::Route::Own;
  }
}

CaseResult Witness::run(const Trials& trials, size_t i) const {
  if (device_.type() <= kMeta) return trials.run(i);
  reset_fallback_counts();
  CaseResult result = trials.run(i);
  if (!result.skipped.empty()) return result;
  if (ran_on_cpu(op_)) {
    judge(trials, i, result);
  } else {
    result.way = own_kernel_ ? "native" : "composed";
    // An operator made of others may take more than a kernel does, and lay out=
    // tensors out otherwise.
    const bool strides = result.why.find(kStrides) != std::string::npos;
    if (!own_kernel_ && (result.why == kNoError || strides)) {
      result.way = strides ? "restrided" : "accepted";
      result.note = std::exchange(result.why, "");
      result.non_empty = strides;
    }
  }
  return result;
}

// Judges a call that went to the CPU.
void Witness::judge(const Trials& trials, size_t i, CaseResult& result) const {
  result.way = "cpu";
  if (claims_ == nullptr || !claims_->supports(op_.name())) return;
  const KernelClaims& claims = claims_->of(op_.name());
  std::string outside;
  try {
    outside = claims.outside(trials.arguments(i));
  } catch (const Error& e) {
    outside = e.what();
  }
  if (!outside.empty()) {
    result.way = "declared";
  } else if (claims.limited() && result.why.empty()) {
    result.why =
        "the backend claims to take this call, and gives it to the CPU";
  }
}

}  // namespace sy::tools
