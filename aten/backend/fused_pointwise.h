#pragma once

#include <atomic>

#include "aten/backend/region.h"
#include "aten/engine/pointwise.h"

namespace sy {

// A pointwise program that is no operator, as a region: what autograd makes of
// a derivative. Keeps what backends made of it, by dtypes and layout; made at
// compile time, never destroyed. Thread-safe.
class SY_API FusedPointwise {
 public:
  // The program lives as long as this.
  constexpr explicit FusedPointwise(const PointwiseOp& op) : op_(&op) {}
  FusedPointwise(const FusedPointwise&) = delete;

  // The result, or an undefined tensor if it has to be computed by operators:
  // while gradients are being recorded, if inputs lie on several devices or
  // have keys beyond their backend's, or if no engine takes it. Throws what a
  // pointwise operator throws for its arguments.
  Tensor operator()(const PointwiseArgs& args);

  // Forgets what was kept; for those that are not static, before they go. No
  // other call meanwhile.
  void clear() noexcept;

 private:
  friend struct FusedRegions;
  struct Kept;
  struct Key {
    uint64_t words[2];
    friend bool operator==(const Key&, const Key&) = default;
  };
  const PreparedRegion* find(const Key& key) const noexcept;
  const PreparedRegion* prepare(const Key& key, RegionEngine& engine,
                                const ElementProgram& program,
                                ScalarType compute, ScalarType result,
                                IntArrayRef sizes, ArrayRef<RegionMemory> in);
  Tensor run_simple(RegionEngine& engine, DeviceType device,
                    const PointwiseArgs& args, ScalarType dtype, bool* ran);
  Tensor run_general(RegionEngine& engine, DeviceType device,
                     const PointwiseArgs& args);

  const PointwiseOp* op_;
  std::atomic<Kept*> kept_{nullptr};
  FusedPointwise* next_ = nullptr;  // of FusedRegions
  bool listed_ = false;             // there
};

}  // namespace sy
