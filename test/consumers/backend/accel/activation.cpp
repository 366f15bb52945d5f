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
void rectify(const Span& out, const Span& in) {
  for_each(out, in, in, [](float a, float) { return a > 0 || a != a ? a : 0; });
}

// The log_softmax of n elements, their steps apart.
void log_softmax_row(float* out, const float* in, int64_t n, int64_t out_step,
                     int64_t in_step) {
  float most = -std::numeric_limits<float>::infinity();
  for (int64_t i = 0; i < n; ++i) most = std::max(most, in[i * in_step]);
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += std::exp(in[i * in_step] - most);
  const float shift = most + static_cast<float>(std::log(sum));
  for (int64_t i = 0; i < n; ++i) out[i * out_step] = in[i * in_step] - shift;
}

// Every row along the last dim, from dim `d` on.
void log_softmax_rows(const Span& out, const Span& in, int64_t d, float* to,
                      const float* from) {
  const int64_t last = in.dim() - 1;
  if (d >= last) {
    log_softmax_row(to, from, in.size(last), out.stride(last), in.stride(last));
    return;
  }
  for (int64_t i = 0; i < in.size(d); ++i) {
    log_softmax_rows(out, in, d + 1, to + i * out.stride(d),
                     from + i * in.stride(d));
  }
}

}  // namespace

Tensor relu(const Tensor& self) {
  Tensor out = sy::empty(self.sizes(), self.options());
  launch(rectify, out, self);
  return out;
}

Tensor& relu_(Tensor& self) {
  launch(rectify, self, self);
  return self;
}

Tensor _log_softmax(const Tensor& self, int64_t dim, bool) {
  Tensor out = sy::empty(self.sizes(), self.options());
  if (self.numel() == 0) return out;
  const Tensor in = self.dim() == 0 ? self.unsqueeze(0) : self;
  const Tensor rows = self.dim() == 0 ? out.unsqueeze(0) : out;
  launch(
      [](const Span& to, const Span& from) {
        log_softmax_rows(to, from, 0, to.elements(), from.elements());
      },
      rows.transpose(dim, -1), in.transpose(dim, -1));
  return out;
}

}  // namespace accel
