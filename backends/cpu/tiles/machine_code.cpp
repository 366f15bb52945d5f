#include "backends/cpu/tiles/machine_code.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/jit/kernels.h"
#include "backends/cpu/tiles/kernels.h"

namespace sy::cpu::tiles {

namespace {

// The most bytes of one unit of all operands.
constexpr int64_t kRestBytes = 32 << 10;

}  // namespace

MachineCode MachineCode::find(const Program& p, ComputeType compute,
                              const Operand* inputs, const Operand* results,
                              int64_t work) {
  MachineCode code;
  const Isa isa = active_isa();
  if (work < kLeastWork || isa == Isa::sse4 || p.n_steps == 0) {
    return code;
  }
  cpu::jit::Port ports[kMaxInputs];
  ScalarType dtypes[kMaxResults];
  int64_t bytes = 0;  // of an element of all
  for (int k = 0; k < p.n_inputs; ++k) {
    const Operand& o = inputs[k];
    const auto size = static_cast<int64_t>(element_size(o.dtype));
    if (o.stride != 0 && o.stride != size) return code;
    ports[k] = {o.dtype, o.stride == 0};
    code.strides_[k] = static_cast<uint8_t>(o.stride);
    bytes += size;
  }
  for (int k = 0; k < p.n_results; ++k) {
    const Operand& o = results[k];
    const auto size = static_cast<int64_t>(element_size(o.dtype));
    if (o.stride != size) return code;
    dtypes[k] = o.dtype;
    code.strides_[p.n_inputs + k] = static_cast<uint8_t>(size);
    bytes += size;
  }
  if (bytes * cpu::jit::kMostUnit > kRestBytes) return code;
  code.n_inputs_ = p.n_inputs;
  code.n_results_ = p.n_results;
  code.kernel_ = cpu::jit::kernel_for(
      {&p, compute, ports, dtypes,
       isa == Isa::avx512 ? cpu::jit::Isa::kAvx512 : cpu::jit::Isa::kAvx2},
      work);
  return code;
}

// Runs less than a unit, in memory of its own, where the first element stands
// for those that are missing.
bool MachineCode::run_rest(char* const* data, const Uniform* uniforms,
                           int64_t from, int64_t n) const {
  const int64_t unit = kernel_->unit();
  alignas(64) char buffers[kRestBytes];
  char* next = buffers;
  char* at[kMaxInputs + kMaxResults];
  const int operands = n_inputs_ + n_results_;
  for (int k = 0; k < operands; ++k) {
    const int64_t size = strides_[k];
    at[k] = data[k];
    if (size == 0) continue;
    at[k] = next;
    next += unit * size;
    if (k >= n_inputs_) continue;
    const char* const src = data[k] + from * size;
    std::memcpy(at[k], src, static_cast<size_t>(n * size));
    for (int64_t i = n; i < unit; ++i) {
      std::memcpy(at[k] + i * size, src, static_cast<size_t>(size));
    }
  }
  if (kernel_->run(at, uniforms, unit) < unit) return false;
  for (int k = n_inputs_; k < operands; ++k) {
    const int64_t size = strides_[k];
    std::memcpy(data[k] + from * size, at[k], static_cast<size_t>(n * size));
  }
  return true;
}

}  // namespace sy::cpu::tiles
