#include "backends/cpu/pooling.h"

#include "backends/cpu/pooling_adaptive_kernels_gen.h"
#include "backends/cpu/pooling_max.h"

namespace sy::cpu {

namespace {

void adaptive_avg_pool(int64_t n, const Tensor& self, const Tensor& out) {
  lie_like(self, n, out);
  if (out.numel() == 0) return;
  pool_means(n, self, adaptive_windows(n, self.sizes(), out.sizes()), {}, out);
}

void adaptive_avg_pool_backward(int64_t n, const Tensor& grad_output,
                                const Tensor& self, const Tensor& out) {
  lie_like(self, n, out);
  if (out.numel() == 0) return;
  share_means(n, grad_output, self,
              adaptive_windows(n, self.sizes(), grad_output.sizes()), {}, out);
}

}  // namespace

void adaptive_avg_pool1d_out(const Tensor& self, IntArrayRef,
                             const Tensor& out) {
  adaptive_avg_pool(1, self, out);
}

void _adaptive_avg_pool2d_out(const Tensor& self, IntArrayRef,
                              const Tensor& out) {
  adaptive_avg_pool(2, self, out);
}

void _adaptive_avg_pool2d_backward_out(const Tensor& grad_output,
                                       const Tensor& self, const Tensor& out) {
  adaptive_avg_pool_backward(2, grad_output, self, out);
}

void _adaptive_avg_pool3d_out(const Tensor& self, IntArrayRef,
                              const Tensor& out) {
  adaptive_avg_pool(3, self, out);
}

void _adaptive_avg_pool3d_backward_out(const Tensor& grad_output,
                                       const Tensor& self, const Tensor& out) {
  adaptive_avg_pool_backward(3, grad_output, self, out);
}

namespace {

void adaptive_max_pool(int64_t n, const Tensor& self, const Tensor& out,
                       const Tensor& indices) {
  lie_like(self, n, out);
  lie_like(self, n, indices);
  if (out.numel() == 0) return;
  pool_max(n, self, adaptive_windows(n, self.sizes(), out.sizes()), out,
           indices);
}

}  // namespace

void adaptive_max_pool1d_out(const Tensor& self, IntArrayRef, const Tensor& out,
                             const Tensor& indices) {
  adaptive_max_pool(1, self, out, indices);
}

void adaptive_max_pool2d_out(const Tensor& self, IntArrayRef, const Tensor& out,
                             const Tensor& indices) {
  adaptive_max_pool(2, self, out, indices);
}

void adaptive_max_pool3d_out(const Tensor& self, IntArrayRef, const Tensor& out,
                             const Tensor& indices) {
  adaptive_max_pool(3, self, out, indices);
}

void adaptive_max_pool2d_backward_out(const Tensor& grad_output,
                                      const Tensor& self, const Tensor& indices,
                                      const Tensor& out) {
  lie_like(self, 2, out);
  put_at_indices("adaptive_max_pool2d_backward", 2, grad_output, indices,
                 AtIndex::Add, out);
}

void adaptive_max_pool3d_backward_out(const Tensor& grad_output,
                                      const Tensor& self, const Tensor& indices,
                                      const Tensor& out) {
  lie_like(self, 3, out);
  put_at_indices("adaptive_max_pool3d_backward", 3, grad_output, indices,
                 AtIndex::Add, out);
}

}  // namespace sy::cpu
