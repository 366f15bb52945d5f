#include <algorithm>

#include "aten/backend/region.h"
#include "backends/cuda/compile/jit.h"
#include "backends/cuda/engine/region_interpret.h"
#include "backends/cuda/engine/region_plan.h"
#include "backends/cuda/engine/region_run.h"
#include "backends/cuda/runtime/context.h"
#include "backends/cuda/runtime/stream.h"
#include "c10/plugin/library.h"

namespace sy::cuda {

namespace {

// Work of this thread goes to the stream of the call, unless it names none.
class CallStream {
 public:
  explicit CallStream(const RegionCall& call)
      : device_(call.device),
        before_(current_stream_number(call.device)),
        changes_(call.stream != 0 && call.stream != before_) {
    if (changes_) stream_interface().set_current_stream(device_, call.stream);
  }
  ~CallStream() {
    if (changes_) stream_interface().set_current_stream(device_, before_);
  }
  CallStream(const CallStream&) = delete;
  CallStream& operator=(const CallStream&) = delete;

 private:
  int device_;
  uint64_t before_;
  bool changes_;
};

class CudaRegionEngine final : public RegionEngine {
 public:
  bool supports(const Region& region, RegionReason* why) const override {
    RegionPlan plan;
    const RegionValues values(region);
    if (!plan_region(region, values, &plan, why)) return false;
    if (jit_mode() != JitMode::kOff ||
        std::all_of(plan.steps.begin(), plan.steps.end(), can_interpret)) {
      return true;
    }
    why->say(
        "a kernel that must be compiled, as nodes have too many operands or "
        "steps for the interpreter, and SWITCHYARD_CUDA_JIT=off");
    return false;
  }

  intrusive_ptr<PreparedRegion> prepare(const Region& region) override {
    auto prepared = make_intrusive<PreparedOnCuda>(region);
    // Compiled meanwhile, if it is in the background.
    if (device_count() > 0 && jit_mode() == JitMode::kBackground) {
      prepared->ask(0);
    }
    return prepared;
  }

  void run(const PreparedRegion& prepared, const RegionCall& call) override {
    const CallStream stream(call);
    run_region_steps(static_cast<const PreparedOnCuda&>(prepared), call);
  }
};

// Leaked: regions may be run until the process ends.
CudaRegionEngine& engine() {
  static auto* e = new CudaRegionEngine;
  return *e;
}

}  // namespace

SY_LIBRARY_IMPL(_, CUDA, m) { m.service(BackendService::kRegions, &engine()); }

}  // namespace sy::cuda
