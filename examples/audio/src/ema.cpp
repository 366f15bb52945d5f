#include <sy/library.h>

#include <cstdint>

// The kernel that audio.yaml names for CPU. `out` is made, and the arguments
// are checked, before it is called.

namespace sy::cpu {
namespace {

template <class T>
void rows(const Tensor& self, double keep, const Tensor& out) {
  const int64_t n = self.size(-1);
  const int64_t rows = n == 0 ? 0 : self.numel() / n;
  const Tensor x = self.contiguous();
  const auto* from = static_cast<const T*>(x.data_ptr());
  auto* to = static_cast<T*>(out.data_ptr());
  for (int64_t r = 0; r < rows; ++r) {
    double y = 0;
    for (int64_t i = 0; i < n; ++i) {
      y = (1 - keep) * static_cast<double>(from[r * n + i]) + keep * y;
      to[r * n + i] = static_cast<T>(y);
    }
  }
}

}  // namespace

void ema_out(const Tensor& self, double keep, const Tensor& out) {
  switch (self.scalar_type()) {
    case kFloat: return rows<float>(self, keep, out);
    case kDouble: return rows<double>(self, keep, out);
    default: {
      const Tensor wide = self.to(kFloat);
      const Tensor sum = wide.clone();
      rows<float>(wide, keep, sum);
      out.copy_(sum);
    }
  }
}

}  // namespace sy::cpu
