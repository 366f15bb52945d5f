#include <sy/cuda.h>
#include <sy/library.h>
#include <sy/sy.h>

#include "launch_ema.h"

// The operator on GPUs. Sizes and dtypes are checked before it is called.

namespace own_cuda {
namespace {

sy::Tensor ema(const sy::Tensor& self, double keep) {
  const sy::Tensor x = self.contiguous();
  const sy::Tensor y = sy::empty_like(x);
  if (x.numel() == 0) return y;
  const sy::cuda::DeviceGuard guard(x.device().index());
  const int64_t n = x.size(-1);
  // Both tensors belong to the current stream; if others had made them,
  // note_kernels({x, y}) would follow.
  const char* const error =
      launch_ema(x.const_data_ptr<float>(), y.mutable_data_ptr<float>(),
                 x.numel() / n, n, keep, sy::cuda::native_stream(x.device()));
  SY_CHECK(error == nullptr, Error, "[own_cuda::ema] {}", error);
  return y;
}

}  // namespace
}  // namespace own_cuda

SY_LIBRARY_IMPL(own_cuda, CUDA, m) { m.impl("ema", SY_FN(own_cuda::ema)); }
