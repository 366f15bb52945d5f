#include "backends/cpu/upsample.h"

#include "backends/cpu/upsample_kernels_gen.h"

namespace sy::cpu {

void upsample_linear1d_out(const Tensor& self, IntArrayRef, bool align_corners,
                           std::optional<double> scales, const Tensor& out) {
  resize_images({Resize::Linear, 1, align_corners, {scales}}, self, out);
}

void upsample_linear1d_backward_out(const Tensor& grad_output, IntArrayRef,
                                    IntArrayRef, bool align_corners,
                                    std::optional<double> scales,
                                    const Tensor& out) {
  resize_images_backward({Resize::Linear, 1, align_corners, {scales}},
                         grad_output, out);
}

void upsample_bilinear2d_out(const Tensor& self, IntArrayRef,
                             bool align_corners, std::optional<double> scales_h,
                             std::optional<double> scales_w,
                             const Tensor& out) {
  resize_images({Resize::Linear, 2, align_corners, {scales_h, scales_w}}, self,
                out);
}

void upsample_bilinear2d_backward_out(const Tensor& grad_output, IntArrayRef,
                                      IntArrayRef, bool align_corners,
                                      std::optional<double> scales_h,
                                      std::optional<double> scales_w,
                                      const Tensor& out) {
  resize_images_backward(
      {Resize::Linear, 2, align_corners, {scales_h, scales_w}}, grad_output,
      out);
}

void upsample_trilinear3d_out(const Tensor& self, IntArrayRef,
                              bool align_corners,
                              std::optional<double> scales_d,
                              std::optional<double> scales_h,
                              std::optional<double> scales_w,
                              const Tensor& out) {
  resize_images(
      {Resize::Linear, 3, align_corners, {scales_d, scales_h, scales_w}}, self,
      out);
}

void upsample_trilinear3d_backward_out(const Tensor& grad_output, IntArrayRef,
                                       IntArrayRef, bool align_corners,
                                       std::optional<double> scales_d,
                                       std::optional<double> scales_h,
                                       std::optional<double> scales_w,
                                       const Tensor& out) {
  resize_images_backward(
      {Resize::Linear, 3, align_corners, {scales_d, scales_h, scales_w}},
      grad_output, out);
}

void upsample_bicubic2d_out(const Tensor& self, IntArrayRef, bool align_corners,
                            std::optional<double> scales_h,
                            std::optional<double> scales_w, const Tensor& out) {
  resize_images({Resize::Cubic, 2, align_corners, {scales_h, scales_w}}, self,
                out);
}

void upsample_bicubic2d_backward_out(const Tensor& grad_output, IntArrayRef,
                                     IntArrayRef, bool align_corners,
                                     std::optional<double> scales_h,
                                     std::optional<double> scales_w,
                                     const Tensor& out) {
  resize_images_backward(
      {Resize::Cubic, 2, align_corners, {scales_h, scales_w}}, grad_output,
      out);
}

void _upsample_bilinear2d_aa_out(const Tensor& self, IntArrayRef,
                                 bool align_corners,
                                 std::optional<double> scales_h,
                                 std::optional<double> scales_w,
                                 const Tensor& out) {
  resize_images({Resize::LinearAA, 2, align_corners, {scales_h, scales_w}},
                self, out);
}

void _upsample_bilinear2d_aa_backward_out(const Tensor& grad_output,
                                          IntArrayRef, IntArrayRef,
                                          bool align_corners,
                                          std::optional<double> scales_h,
                                          std::optional<double> scales_w,
                                          const Tensor& out) {
  resize_images_backward(
      {Resize::LinearAA, 2, align_corners, {scales_h, scales_w}}, grad_output,
      out);
}

void _upsample_bicubic2d_aa_out(const Tensor& self, IntArrayRef,
                                bool align_corners,
                                std::optional<double> scales_h,
                                std::optional<double> scales_w,
                                const Tensor& out) {
  resize_images({Resize::CubicAA, 2, align_corners, {scales_h, scales_w}}, self,
                out);
}

void _upsample_bicubic2d_aa_backward_out(const Tensor& grad_output, IntArrayRef,
                                         IntArrayRef, bool align_corners,
                                         std::optional<double> scales_h,
                                         std::optional<double> scales_w,
                                         const Tensor& out) {
  resize_images_backward(
      {Resize::CubicAA, 2, align_corners, {scales_h, scales_w}}, grad_output,
      out);
}

void _upsample_lanczos2d_aa_out(const Tensor& self, IntArrayRef,
                                bool align_corners,
                                std::optional<double> scales_h,
                                std::optional<double> scales_w,
                                const Tensor& out) {
  resize_images({Resize::LanczosAA, 2, align_corners, {scales_h, scales_w}},
                self, out);
}

void _upsample_lanczos2d_aa_backward_out(const Tensor& grad_output, IntArrayRef,
                                         IntArrayRef, bool align_corners,
                                         std::optional<double> scales_h,
                                         std::optional<double> scales_w,
                                         const Tensor& out) {
  resize_images_backward(
      {Resize::LanczosAA, 2, align_corners, {scales_h, scales_w}}, grad_output,
      out);
}

}  // namespace sy::cpu
