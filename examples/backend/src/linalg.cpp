#include <sy/sy.h>

#include "memory.h"
#include "sample_kernels.h"

namespace sample {

sy::Tensor mm(const sy::Tensor& self, const sy::Tensor& mat2) {
  sy::Tensor out = sy::empty({self.size(0), mat2.size(1)}, self.options());
  float* to = elements<float>(out);
  const float* a = elements<float>(self);
  const float* b = elements<float>(mat2);
  for (int64_t i = 0; i < out.size(0); ++i) {
    for (int64_t j = 0; j < out.size(1); ++j) {
      double sum = 0;
      for (int64_t k = 0; k < self.size(1); ++k) {
        sum += static_cast<double>(a[i * self.stride(0) + k * self.stride(1)]) *
               static_cast<double>(b[k * mat2.stride(0) + j * mat2.stride(1)]);
      }
      to[i * out.stride(0) + j * out.stride(1)] = static_cast<float>(sum);
    }
  }
  return out;
}

}  // namespace sample
