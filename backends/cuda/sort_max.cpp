#include <tuple>

#include "aten/engine/dims.h"
#include "backends/cuda/backend_gen.h"
#include "backends/cuda/reduction_argmax.h"

namespace sy::cuda {

namespace {

std::tuple<Tensor, Tensor> value_and_place(const char* op, bool max,
                                           const Tensor& self, int64_t dim,
                                           bool keepdim) {
  Dims sizes;
  const int64_t at = wrap_dim(op, dim, self.dim());
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d != at) sizes.push_back(self.sizes()[static_cast<size_t>(d)]);
    if (d == at && keepdim) sizes.push_back(1);
  }
  Tensor values(make_tensor(sizes, self.dtype(), self.device()));
  Tensor places(make_tensor(sizes, kLong, self.device()));
  find_extremes(op, max, self, dim, &values, &places);
  return {values, places};
}

}  // namespace

std::tuple<Tensor, Tensor> max_dim(const Tensor& self, int64_t dim,
                                   bool keepdim) {
  return value_and_place("max", true, self, dim, keepdim);
}

std::tuple<Tensor, Tensor> min_dim(const Tensor& self, int64_t dim,
                                   bool keepdim) {
  return value_and_place("min", false, self, dim, keepdim);
}

}  // namespace sy::cuda
