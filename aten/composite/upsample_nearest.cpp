#include "aten/ops/upsample_nearest.h"

#include "aten/composite/upsample.h"
#include "aten/ops/upsample_nearest_kernels.h"

namespace sy::composite {

Tensor upsample_nearest1d_vec(const Tensor& input,
                              OptionalIntArrayRef output_size,
                              std::optional<ArrayRef<double>> scale_factors) {
  return resized<1>("upsample_nearest1d", input, output_size, scale_factors,
                    [&](IntArrayRef sizes, auto... scales) {
                      return sy::upsample_nearest1d(input, sizes, scales...);
                    });
}

Tensor upsample_nearest_exact1d_vec(
    const Tensor& input, OptionalIntArrayRef output_size,
    std::optional<ArrayRef<double>> scale_factors) {
  return resized<1>("_upsample_nearest_exact1d", input, output_size,
                    scale_factors, [&](IntArrayRef sizes, auto... scales) {
                      return sy::_upsample_nearest_exact1d(input, sizes,
                                                           scales...);
                    });
}

Tensor upsample_nearest2d_vec(const Tensor& input,
                              OptionalIntArrayRef output_size,
                              std::optional<ArrayRef<double>> scale_factors) {
  return resized<2>("upsample_nearest2d", input, output_size, scale_factors,
                    [&](IntArrayRef sizes, auto... scales) {
                      return sy::upsample_nearest2d(input, sizes, scales...);
                    });
}

Tensor upsample_nearest_exact2d_vec(
    const Tensor& input, OptionalIntArrayRef output_size,
    std::optional<ArrayRef<double>> scale_factors) {
  return resized<2>("_upsample_nearest_exact2d", input, output_size,
                    scale_factors, [&](IntArrayRef sizes, auto... scales) {
                      return sy::_upsample_nearest_exact2d(input, sizes,
                                                           scales...);
                    });
}

Tensor upsample_nearest3d_vec(const Tensor& input,
                              OptionalIntArrayRef output_size,
                              std::optional<ArrayRef<double>> scale_factors) {
  return resized<3>("upsample_nearest3d", input, output_size, scale_factors,
                    [&](IntArrayRef sizes, auto... scales) {
                      return sy::upsample_nearest3d(input, sizes, scales...);
                    });
}

Tensor upsample_nearest_exact3d_vec(
    const Tensor& input, OptionalIntArrayRef output_size,
    std::optional<ArrayRef<double>> scale_factors) {
  return resized<3>("_upsample_nearest_exact3d", input, output_size,
                    scale_factors, [&](IntArrayRef sizes, auto... scales) {
                      return sy::_upsample_nearest_exact3d(input, sizes,
                                                           scales...);
                    });
}

// For backends that have no kernels of their own.
Tensor upsample_nearest1d_by_index(const Tensor& self, IntArrayRef output_size,
                                   std::optional<double> scales) {
  return resize_by_index({Resize::Nearest, 1, false, {scales}}, self,
                         output_size);
}

Tensor upsample_nearest1d_backward_by_index(const Tensor& grad_output,
                                            IntArrayRef, IntArrayRef input_size,
                                            std::optional<double> scales) {
  return resize_backward_by_index({Resize::Nearest, 1, false, {scales}},
                                  grad_output, input_size);
}

Tensor upsample_nearest_exact1d_by_index(const Tensor& self,
                                         IntArrayRef output_size,
                                         std::optional<double> scales) {
  return resize_by_index({Resize::NearestExact, 1, false, {scales}}, self,
                         output_size);
}

Tensor upsample_nearest_exact1d_backward_by_index(
    const Tensor& grad_output, IntArrayRef, IntArrayRef input_size,
    std::optional<double> scales) {
  return resize_backward_by_index({Resize::NearestExact, 1, false, {scales}},
                                  grad_output, input_size);
}

Tensor upsample_nearest2d_by_index(const Tensor& self, IntArrayRef output_size,
                                   std::optional<double> scales_h,
                                   std::optional<double> scales_w) {
  return resize_by_index({Resize::Nearest, 2, false, {scales_h, scales_w}},
                         self, output_size);
}

Tensor upsample_nearest2d_backward_by_index(const Tensor& grad_output,
                                            IntArrayRef, IntArrayRef input_size,
                                            std::optional<double> scales_h,
                                            std::optional<double> scales_w) {
  return resize_backward_by_index(
      {Resize::Nearest, 2, false, {scales_h, scales_w}}, grad_output,
      input_size);
}

Tensor upsample_nearest_exact2d_by_index(const Tensor& self,
                                         IntArrayRef output_size,
                                         std::optional<double> scales_h,
                                         std::optional<double> scales_w) {
  return resize_by_index({Resize::NearestExact, 2, false, {scales_h, scales_w}},
                         self, output_size);
}

Tensor upsample_nearest_exact2d_backward_by_index(
    const Tensor& grad_output, IntArrayRef, IntArrayRef input_size,
    std::optional<double> scales_h, std::optional<double> scales_w) {
  return resize_backward_by_index(
      {Resize::NearestExact, 2, false, {scales_h, scales_w}}, grad_output,
      input_size);
}

Tensor upsample_nearest3d_by_index(const Tensor& self, IntArrayRef output_size,
                                   std::optional<double> scales_d,
                                   std::optional<double> scales_h,
                                   std::optional<double> scales_w) {
  return resize_by_index(
      {Resize::Nearest, 3, false, {scales_d, scales_h, scales_w}}, self,
      output_size);
}

Tensor upsample_nearest3d_backward_by_index(const Tensor& grad_output,
                                            IntArrayRef, IntArrayRef input_size,
                                            std::optional<double> scales_d,
                                            std::optional<double> scales_h,
                                            std::optional<double> scales_w) {
  return resize_backward_by_index(
      {Resize::Nearest, 3, false, {scales_d, scales_h, scales_w}}, grad_output,
      input_size);
}

Tensor upsample_nearest_exact3d_by_index(const Tensor& self,
                                         IntArrayRef output_size,
                                         std::optional<double> scales_d,
                                         std::optional<double> scales_h,
                                         std::optional<double> scales_w) {
  return resize_by_index(
      {Resize::NearestExact, 3, false, {scales_d, scales_h, scales_w}}, self,
      output_size);
}

Tensor upsample_nearest_exact3d_backward_by_index(
    const Tensor& grad_output, IntArrayRef, IntArrayRef input_size,
    std::optional<double> scales_d, std::optional<double> scales_h,
    std::optional<double> scales_w) {
  return resize_backward_by_index(
      {Resize::NearestExact, 3, false, {scales_d, scales_h, scales_w}},
      grad_output, input_size);
}

}  // namespace sy::composite
