#pragma once

#include <atomic>

#include "aten/backend/region.h"
#include "aten/engine/pointwise.h"

namespace sy {

// A pointwise program that is not an operator, run as a region. Autograd makes
// one for a derivative. It keeps the regions that backends have prepared, by
// dtypes and layout. Static ones are made at compile time and never destroyed.
// Thread-safe.
class SY_API FusedPointwise {
 public:
  // `op` must live as long as this object.
  constexpr explicit FusedPointwise(const PointwiseOp& op) : op_(&op) {}
  FusedPointwise(const FusedPointwise&) = delete;

  // Returns the result, or an undefined tensor if operators have to compute it:
  // while gradients are recorded, if the inputs are on several devices or have
  // keys beyond those of their backend, or if no engine takes the region.
  // Throws what a pointwise operator throws for its arguments.
  Tensor operator()(const PointwiseArgs& args);

  // Frees what was kept. Needed before an object that is not static is
  // destroyed. No other call may run meanwhile.
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
  FusedPointwise* next_ = nullptr;  // in the list of FusedRegions
  bool listed_ = false;             // whether it is in that list
};

}  // namespace sy
