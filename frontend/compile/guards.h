#pragma once

#include <string>
#include <vector>

#include "aten/backend/size_rule.h"
#include "c10/thread_state.h"
#include "frontend/compile/function.h"

// What must be as it was for a graph to be replayed.

namespace sy::compiling {

// What code can see of a tensor without its elements.
class TensorGuard {
 public:
  TensorGuard() = default;
  explicit TensorGuard(const Tensor& t);
  bool holds(const Tensor& t) const;
  // "sizes [64, 10], were [32, 10]"; "" if it holds.
  std::string difference(const Tensor& t) const;
  friend bool operator==(const TensorGuard&, const TensorGuard&) = default;

  // Sizes, then strides.
  const std::vector<int64_t>& dims() const { return dims_; }
  // The guard for another size than this one and `other` have; false if they
  // differ in more.
  bool resized(const TensorGuard& other, const capture::SizeRule& rule,
               TensorGuard* to) const;

 private:
  bool defined_ = false;
  bool requires_grad_ = false;
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

  static Modes now();
  friend bool operator==(const Modes&, const Modes&) = default;
};

// The arguments of a call.
class ArgumentGuard {
 public:
  ArgumentGuard() = default;
  explicit ArgumentGuard(const Arguments& a);
  bool holds(const Arguments& a) const;
  // The first difference; "" if there is none.
  std::string difference(const Arguments& a) const;
  std::string tensor_difference(const Arguments& a) const;

  // The first size that differs from `other`, as n1 and n2; and as n what
  // `a` has in its place.
  bool find_rule(const ArgumentGuard& other, capture::SizeRule* rule,
                 int* tensor, int* dim) const;
  bool find_rule(const ArgumentGuard& other, const Arguments& a,
                 capture::SizeRule* rule) const;
  bool resized(const ArgumentGuard& other, const capture::SizeRule& rule,
               ArgumentGuard* to) const;
  friend bool operator==(const ArgumentGuard&, const ArgumentGuard&) = default;

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
