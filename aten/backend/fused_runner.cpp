#include "aten/backend/fused_runner.h"

#include <atomic>

#include "c10/thread_state.h"

namespace sy {

namespace {
std::atomic<FusedRunner> runners[kMaxBackends];
}  // namespace

void register_fused_runner(DeviceType device, FusedRunner runner) noexcept {
  runners[number_of(device)].store(runner, std::memory_order_release);
}

Tensor fused_pointwise(const PointwiseOp& op, const PointwiseArgs& args) {
  if (GradMode::is_enabled() || op.n_inputs == 0) return {};
  DispatchKeySet keys;
  for (uint8_t i = 0; i < op.n_inputs; ++i) {
    keys = keys | args.inputs[i]->key_set();
  }
  // Autograd records nothing while grad mode is off.
  keys = keys - DispatchKeySet(DispatchKey::Autograd);
  const DeviceType device = keys.highest_backend();
  if (keys != DispatchKeySet::dense(device)) return {};
  const FusedRunner run =
      runners[number_of(device)].load(std::memory_order_acquire);
  return run == nullptr ? Tensor() : run(op, args);
}

}  // namespace sy
