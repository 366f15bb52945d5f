#pragma once

#include <atomic>
#include <memory>

#include "aten/tensor.h"
#include "frontend/compile/guards.h"

namespace sy::compiling {

// The number of captures that own a tensor of the program. All captures that
// own it share the number, as copies do, so they know how many other owners the
// tensor has.
class Kept {
 public:
  explicit Kept(const Tensor& t);
  Kept(const Kept& other) = default;
  Kept(Kept&& other) noexcept = default;
  Kept& operator=(const Kept&) = default;
  Kept& operator=(Kept&&) noexcept = default;

  // Owners that are no captures.
  uint32_t other_owners() const noexcept {
    return count_->impl->use_count() -
           count_->captures.load(std::memory_order_relaxed);
  }

 private:
  friend struct Outer;
  struct Count {
    explicit Count(const TensorImpl* impl) : impl(impl) {}
    ~Count();
    const TensorImpl* const impl;
    std::atomic<uint32_t> captures{0};
  };
  std::shared_ptr<Count> count_;
};

// A tensor that the code reaches without being given it.
struct Outer {
  explicit Outer(const Tensor& t);
  Outer(Outer&&) noexcept = default;
  Outer& operator=(Outer&&) = delete;
  ~Outer();

  Tensor tensor;  // no view
  Storage storage;
  TensorGuard guard;
  int64_t offset;
  Kept kept;

  bool is_forgotten() const noexcept { return kept.other_owners() == 0; }
};

}  // namespace sy::compiling
