#include <sy/sy.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "accel_kernels.h"
#include "kernel.h"
#include "strided.h"

namespace accel {
namespace {

using sy::Tensor;

// NaN stays.
float rectified(float a, float) { return a > 0 || a != a ? a : 0; }

// Of n elements, their steps apart.
void log_softmax_row(float* out, const float* in, int64_t n, int64_t out_step,
                     int64_t in_step) {
  float most = -std::numeric_limits<float>::infinity();
  for (int64_t i = 0; i < n; ++i) most = std::max(most, in[i * in_step]);
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += std::exp(in[i * in_step] - most);
  const float shift = most + static_cast<float>(std::log(sum));
  for (int64_t i = 0; i < n; ++i) out[i * out_step] = in[i * in_step] - shift;
}

}  // namespace

Tensor relu(const Tensor& self) {
  if (!native({&self})) return OnCpu<decltype(relu)>{"aten::relu"}(self);
  count_native_call();
  Tensor out = sy::empty(self.sizes(), self.options());
  for_each(out, self, self, rectified);
  return out;
}

Tensor& relu_(Tensor& self) {
  if (!native({&self})) return OnCpu<decltype(relu_)>{"aten::relu_"}(self);
  count_native_call();
  for_each(self, self, self, rectified);
  return self;
}

Tensor _log_softmax(const Tensor& self, int64_t dim, bool half_to_float) {
  // Rows of a matrix are what models ask for.
  const bool rows = self.dim() == 2 && (dim == 1 || dim == -1);
  if (!native({&self}) || !rows || half_to_float) {
    return OnCpu<decltype(_log_softmax)>{"aten::_log_softmax"}(self, dim,
                                                               half_to_float);
  }
  count_native_call();
  Tensor out = sy::empty(self.sizes(), self.options());
  if (self.numel() == 0) return out;
  float* to = elements<float>(out);
  const float* from = elements<float>(self);
  for (int64_t i = 0; i < self.size(0); ++i) {
    log_softmax_row(to + i * out.stride(0), from + i * self.stride(0),
                    self.size(1), out.stride(1), self.stride(1));
  }
  return out;
}

}  // namespace accel
