#pragma once

#include <optional>
#include <tuple>
#include <vector>

#include "aten/tensor.h"

// Pooling, made of index_select, index_add, scatter_add and max, for backends
// that have no pooling kernels of their own. Here the elements of a plane form
// one dim, and so do its windows.
namespace sy::composite::pooling {

// The elements of one window along one dim, its length with the padding, and
// the first element, or any if there is none.
struct Span {
  std::vector<int64_t> places;
  int64_t padded = 0, first = 0;
};

using Axis = std::vector<Span>;

// The windows over the last `n` dims of a tensor.
struct Windows {
  std::vector<int64_t> sizes, counts;
  // The places in the plane of the elements of each window, in row-major order.
  std::vector<std::vector<int64_t>> places;
  std::vector<int64_t> padded, firsts;

  Windows(const std::vector<int64_t>& dims, const std::vector<Axis>& axes);
  int64_t plane() const;  // the number of its elements

 private:
  void add(const Axis& axis, int64_t size);
};

std::vector<int64_t> last_sizes(const Tensor& t, int64_t n);

// The windows of the last n dims of self.
Windows pooling_windows(const char* op, int64_t n, const Tensor& self,
                        IntArrayRef kernel, IntArrayRef stride,
                        IntArrayRef padding, IntArrayRef dilation,
                        bool ceil_mode);
// Windows of adaptive pooling: output[k] of them along the k-th of the last
// dims.
Windows adaptive_windows(const Tensor& self, IntArrayRef output);

// The mean of each window. The sum is divided by `divisor` or, without it, by
// the number of elements, including the padding if `with_padding`.
Tensor average(const Windows& w, const Tensor& self, bool with_padding,
               std::optional<int64_t> divisor);
Tensor average_backward(const Windows& w, const Tensor& grad_output,
                        bool with_padding, std::optional<int64_t> divisor);

// The largest element of each window, and its place in the plane: the first of
// equals, the last of NaNs. The least number of the dtype, if the window has no
// element.
std::tuple<Tensor, Tensor> largest(const Windows& w, const Tensor& self);
// Adds each gradient to its index in planes with the last n dims of self. That
// of index -1 is dropped.
Tensor spread_like(const Tensor& grad, const Tensor& indices,
                   const Tensor& self, int64_t n);

}  // namespace sy::composite::pooling
