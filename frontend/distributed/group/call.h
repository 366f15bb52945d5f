#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "aten/tensor.h"
#include "frontend/distributed/engine.h"

namespace sy::distributed {

// The dtype and sizes of a tensor, for a call that outlives it.
struct TensorShape {
  static constexpr size_t kKept = 6;
  ScalarType dtype;
  uint8_t dims;
  int64_t sizes[kKept];  // of the first dims
};

// The call of a rank. All ranks of a group must agree on it.
struct Call {
  Collective what = Collective::kBarrier;
  const char* name = "barrier";  // of the operator, for people
  ReduceOp op = ReduceOp::SUM;
  int root = -1;  // of broadcast, reduce, gather and scatter; else -1
  int tag = -1;   // of send and recv; else -1
  // The device whose memory the engine moves; kCPU: the host's.
  DeviceType device = kCPU;
  std::vector<TensorShape> tensors;
  uint64_t tensors_hash = 0;
  std::string label;  // CallLabel
  // Not empty: this rank's arguments were refused, and why.
  std::string refused;

  // A tensor whose dtype and sizes are the same everywhere; with `any_rows`,
  // all sizes but the first.
  void add(const Tensor& t, bool any_rows = false);
  bool reduces() const noexcept;
  uint64_t hash() const noexcept;
  // "all_reduce(float32[4], sum)".
  std::string text() const;
  // The same with the label: "all_reduce(float32[4], sum), gradients of fc1".
  std::string full_text() const;
};

// Mixes a value into a hash.
uint64_t mixed(uint64_t hash, uint64_t value) noexcept;
uint64_t mixed(uint64_t hash, std::string_view text) noexcept;

}  // namespace sy::distributed
