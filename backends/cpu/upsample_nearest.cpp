#include "backends/cpu/upsample.h"

#include "backends/cpu/upsample_nearest_kernels_gen.h"

namespace sy::cpu {

void upsample_nearest1d_out(const Tensor& self, IntArrayRef,
                            std::optional<double> scales, const Tensor& out) {
  resize_images({Resize::Nearest, 1, false, {scales}}, self, out);
}

void upsample_nearest1d_backward_out(const Tensor& grad_output, IntArrayRef,
                                     IntArrayRef, std::optional<double> scales,
                                     const Tensor& out) {
  resize_images_backward({Resize::Nearest, 1, false, {scales}}, grad_output,
                         out);
}

void _upsample_nearest_exact1d_out(const Tensor& self, IntArrayRef,
                                   std::optional<double> scales,
                                   const Tensor& out) {
  resize_images({Resize::NearestExact, 1, false, {scales}}, self, out);
}

void _upsample_nearest_exact1d_backward_out(const Tensor& grad_output,
                                            IntArrayRef, IntArrayRef,
                                            std::optional<double> scales,
                                            const Tensor& out) {
  resize_images_backward({Resize::NearestExact, 1, false, {scales}},
                         grad_output, out);
}

void upsample_nearest2d_out(const Tensor& self, IntArrayRef,
                            std::optional<double> scales_h,
                            std::optional<double> scales_w, const Tensor& out) {
  resize_images({Resize::Nearest, 2, false, {scales_h, scales_w}}, self, out);
}

void upsample_nearest2d_backward_out(const Tensor& grad_output, IntArrayRef,
                                     IntArrayRef,
                                     std::optional<double> scales_h,
                                     std::optional<double> scales_w,
                                     const Tensor& out) {
  resize_images_backward({Resize::Nearest, 2, false, {scales_h, scales_w}},
                         grad_output, out);
}

void _upsample_nearest_exact2d_out(const Tensor& self, IntArrayRef,
                                   std::optional<double> scales_h,
                                   std::optional<double> scales_w,
                                   const Tensor& out) {
  resize_images({Resize::NearestExact, 2, false, {scales_h, scales_w}}, self,
                out);
}

void _upsample_nearest_exact2d_backward_out(const Tensor& grad_output,
                                            IntArrayRef, IntArrayRef,
                                            std::optional<double> scales_h,
                                            std::optional<double> scales_w,
                                            const Tensor& out) {
  resize_images_backward({Resize::NearestExact, 2, false, {scales_h, scales_w}},
                         grad_output, out);
}

void upsample_nearest3d_out(const Tensor& self, IntArrayRef,
                            std::optional<double> scales_d,
                            std::optional<double> scales_h,
                            std::optional<double> scales_w, const Tensor& out) {
  resize_images({Resize::Nearest, 3, false, {scales_d, scales_h, scales_w}},
                self, out);
}

void upsample_nearest3d_backward_out(const Tensor& grad_output, IntArrayRef,
                                     IntArrayRef,
                                     std::optional<double> scales_d,
                                     std::optional<double> scales_h,
                                     std::optional<double> scales_w,
                                     const Tensor& out) {
  resize_images_backward(
      {Resize::Nearest, 3, false, {scales_d, scales_h, scales_w}}, grad_output,
      out);
}

void _upsample_nearest_exact3d_out(const Tensor& self, IntArrayRef,
                                   std::optional<double> scales_d,
                                   std::optional<double> scales_h,
                                   std::optional<double> scales_w,
                                   const Tensor& out) {
  resize_images(
      {Resize::NearestExact, 3, false, {scales_d, scales_h, scales_w}}, self,
      out);
}

void _upsample_nearest_exact3d_backward_out(const Tensor& grad_output,
                                            IntArrayRef, IntArrayRef,
                                            std::optional<double> scales_d,
                                            std::optional<double> scales_h,
                                            std::optional<double> scales_w,
                                            const Tensor& out) {
  resize_images_backward(
      {Resize::NearestExact, 3, false, {scales_d, scales_h, scales_w}},
      grad_output, out);
}

}  // namespace sy::cpu
