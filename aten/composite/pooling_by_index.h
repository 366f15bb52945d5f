#pragma once

#include <optional>
#include <tuple>
#include <vector>

#include "aten/tensor.h"

// Pooling, made of index_select, index_add, scatter_add and max: for backends
// that have no kernels of their own for it. The elements of a plane are one dim
// here, and so are its windows.
namespace sy::composite::pooling {

// The elements of one window along one dim, and how many there are with those
// of the padding.
struct Span {
  std::vector<int64_t> places;
  int64_t padded;
};

using Axis = std::vector<Span>;

// Of the last `n` dims of a tensor.
struct Windows {
  std::vector<int64_t> sizes, counts;
  // Row-major: the places, in the plane, of the elements of each window.
  std::vector<std::vector<int64_t>> places;
  std::vector<int64_t> padded;

  Windows(const std::vector<int64_t>& dims, const std::vector<Axis>& axes);
  int64_t plane() const;  // how many elements it has

 private:
  void add(const Axis& axis, int64_t size);
};

std::vector<int64_t> last_sizes(const Tensor& t, int64_t n);

// The windows of the last n dims of self.
Windows pooling_windows(const char* op, int64_t n, const Tensor& self,
                        IntArrayRef kernel, IntArrayRef stride,
                        IntArrayRef padding, IntArrayRef dilation,
                        bool ceil_mode);
// As many windows along the last dims as `output` says.
Windows adaptive_windows(const Tensor& self, IntArrayRef output);

// The mean of each window: its sum by `divisor`, or by its elements, with those
// of the padding if asked.
Tensor average(const Windows& w, const Tensor& self, bool with_padding,
               std::optional<int64_t> divisor);
Tensor average_backward(const Windows& w, const Tensor& grad_output,
                        bool with_padding, std::optional<int64_t> divisor);

// The largest element of each window, and its place in the plane.
std::tuple<Tensor, Tensor> largest(const Windows& w, const Tensor& self);
// Each gradient added up at its index in the planes of self, of n dims.
Tensor spread_like(const Tensor& grad, const Tensor& indices,
                   const Tensor& self, int64_t n);

}  // namespace sy::composite::pooling
