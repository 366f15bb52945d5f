#pragma once

#include "test/backends/cuda/fake/dnn/descriptors.h"

namespace fake::dnn {

// A convolution, or a gradient of one, by the host: sums in float64.
class Convolution {
 public:
  // `rounds`: operands have the mantissa of TF32.
  Convolution(const Operation& operation, bool rounds);

  void run(const void* x, const void* w, void* y) const;  // by the operation

 private:
  static constexpr int kDims = 3;
  struct Tensor {
    int64_t sizes[kDims + 2], strides[kDims + 2];
  };
  Tensor tensor_of(const Descriptor& d) const;
  double at(const void* data, int64_t i) const;
  // f(batch, group, output, channel of the group, places of x, w and y) for
  // each product.
  template <class F>
  void each(const F& f) const;

  Kind kind_;
  int type_;
  int64_t space_;
  bool rounds_;
  Tensor x_, w_, y_;
  int64_t stride_[kDims], padding_[kDims], dilation_[kDims];
};

}  // namespace fake::dnn
