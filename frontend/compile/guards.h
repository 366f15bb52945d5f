#pragma once

#include <array>
#include <string>
#include <vector>

#include "c10/dispatch/thread_state.h"
#include "frontend/compile/function.h"

// The state that must be as it was for a graph to be replayed.

namespace sy::compiling {

// The properties that code can see of a tensor without its elements.
class TensorGuard {
 public:
  TensorGuard() = default;
  explicit TensorGuard(const Tensor& t);
  bool holds(const Tensor& t) const;
  // "sizes [64, 10], were [32, 10]"; "" if it holds.
  std::string difference(const Tensor& t) const;
  // Whether the other one differs in sizes alone, and in strides of the same
  // order, if at all.
  bool is_but_for_sizes(const TensorGuard& other) const;

 private:
  bool has_same_order(const TensorGuard& other) const;

  bool defined_ = false;
  bool requires_grad_ = false, leaf_ = true, inference_ = false;
  ScalarType dtype_ = ScalarType::Undefined;
  Device device_;
  DispatchKeySet keys_;
  std::vector<int64_t> dims_;  // sizes, then strides
};

// The state of the thread that operators depend on.
struct Modes {
  uint64_t included = 0, excluded = 0;
  bool grad = false, inference = false;
  uint32_t autocast = 0;
  std::array<uint8_t, 32> autocast_dtypes{};
  ScalarType default_dtype = ScalarType::Undefined;

  static Modes now();
  // The difference from `was`; "" if there is none.
  std::string difference(const Modes& was) const;
  friend bool operator==(const Modes&, const Modes&) = default;
};

// Whether functions of the user run when a gradient comes to the tensor.
bool has_hooks(const Tensor& t);

// The arguments of a call.
class ArgumentGuard {
 public:
  ArgumentGuard() = default;
  explicit ArgumentGuard(const Arguments& a);
  bool holds(const Arguments& a) const;
  // The first difference; "" if there is none.
  std::string difference(const Arguments& a) const;
  const Modes& modes() const { return modes_; }
  std::string tensor_difference(const Arguments& a) const;
  bool is_but_for_sizes(const ArgumentGuard& other) const;

 private:
  // The first argument with the same memory, and how far behind its first
  // element this one's is.
  struct Share {
    size_t with;
    int64_t offset;
    friend bool operator==(const Share&, const Share&) = default;
  };
  static Share share_of(const Arguments& a, size_t i);

  Modes modes_;
  std::vector<uint64_t> words_;
  std::vector<TensorGuard> tensors_;
  std::vector<Share> shares_;
};

}  // namespace sy::compiling
