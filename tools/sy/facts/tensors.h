#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "aten/tensor.h"
#include "lang/words.h"

// The tensors of examples, as values and in C++.

namespace sy::tools {

// Kinds of numbers, for tensors that the words say nothing of.
enum class Look {
  kWhole,    // 1, 2, 3 … in int64
  kCounted,  // the same in floats, where tensors are large
  kMixed,    // with a zero
  kNonzero,
  kPositive,
  kUnit,     // between 0 and 1
  kZeros,    // many of them
  kSpecial,  // NaN and infinities
};

struct TensorArgument {
  std::string text;  // an expression
  Tensor value;
};

// Whether a tensor has too many elements to write one by one.
bool is_large(const lang::TensorWord& w);

// Makes the tensors of one call: what comes later differs from what came.
class FactsTensors {
 public:
  explicit FactsTensors(Look look) : look_(look) {}
  TensorArgument make(const lang::TensorWord& w);

 private:
  bool is_whole(const lang::TensorWord& w) const;
  double element(const lang::TensorWord& w, int64_t i, size_t k) const;
  TensorArgument literal(const lang::TensorWord& w,
                         const std::vector<double>& v) const;
  TensorArgument large(const lang::TensorWord& w, int64_t n, size_t k);

  Look look_;
  size_t made_ = 0;
  int64_t first_ = 1;  // of what is counted
};

}  // namespace sy::tools
