// Images at another size: by sizes or factors; and, for backends that have no
// kernels of their own, made of index_select and index_add. Each element there
// is a weighted sum of a few, along one dim after the other.

#include <algorithm>

#include "aten/composite/upsample.h"
#include "aten/engine/dims.h"
#include "aten/engine/guard.h"
#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/factory.h"
#include "aten/ops/indexing.h"
#include "aten/ops/math.h"
#include "aten/ops/upsample.h"
#include "aten/ops/upsample_kernels.h"
#include "aten/tensor_new.h"

namespace sy::composite {

namespace {

bool is_nearest(const ResizeRequest& r) {
  return r.mode == Resize::Nearest || r.mode == Resize::NearestExact;
}

// The elements and weights of one tap, for every element of the resized dim.
struct Tap {
  Tensor at, weight, none;  // none: undefined where each element has the tap
};

// The dim of t that axis k of three is, one of the last n.
int64_t dim_of(const ResizeRequest& r, const Tensor& t, int64_t k) {
  return t.dim() - r.n + (k - (3 - r.n));
}

template <class T>
std::vector<Tap> taps_of(const ResizeRequest& r, int64_t k, int64_t size,
                         int64_t count, int64_t dims_behind,
                         const TensorOptions& options) {
  const ResizeAxis<T> axis = r.axis<T>(k, size, count);
  std::vector<int64_t> shape(static_cast<size_t>(dims_behind) + 1, 1);
  shape[0] = count;
  std::vector<Tap> out;
  for (int64_t tap = 0; tap < axis.taps; ++tap) {
    std::vector<int64_t> at;
    std::vector<double> weight;
    std::vector<bool> none;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t from = axis.index(tap, i);
      none.push_back(from < 0);
      at.push_back(std::max<int64_t>(from, 0));
      weight.push_back(static_cast<double>(axis.weight_of(tap, i)));
    }
    Tap t{sy::tensor(at, kLong).to(options.device()),
          sy::tensor(weight, kDouble).to(options).reshape(shape),
          {}};
    if (std::find(none.begin(), none.end(), true) != none.end()) {
      t.none = sy::tensor(std::vector<int64_t>(none.begin(), none.end()), kLong)
                   .to(options.device())
                   .to(kBool)
                   .reshape(shape);
    }
    out.push_back(std::move(t));
  }
  return out;
}

// Finds the taps in the precision of places and weights.
std::vector<Tap> taps_along(const ResizeRequest& r, int64_t k, int64_t size,
                            int64_t count, const Tensor& t, ScalarType given) {
  const int64_t behind = t.dim() - 1 - dim_of(r, t, k);
  const bool wide = given == kDouble || std::max(size, count) >= 1 << 24;
  return wide ? taps_of<double>(r, k, size, count, behind, t.options())
              : taps_of<float>(r, k, size, count, behind, t.options());
}

ScalarType computed_as(const ResizeRequest& r, ScalarType t) {
  const bool narrow = !is_floating_type(t) || is_reduced_floating_type(t);
  return narrow && !is_nearest(r) ? kFloat : t;
}

// Elements that have no such tap get nothing, not NaN times 0.
Tensor weighted(const Tensor& t, const Tap& tap) {
  const Tensor product = t * tap.weight;
  return tap.none.defined()
             ? sy::where(tap.none, sy::zeros({}, t.options()), product)
             : product;
}

// The sizes that the request is about.
IntArrayRef last(const ResizeRequest& r, IntArrayRef sizes) {
  const auto n = static_cast<size_t>(r.n);
  return sizes.slice(sizes.size() - n, n);
}

}  // namespace

Tensor resize_by_index(const ResizeRequest& r, const Tensor& self,
                       IntArrayRef sizes) {
  check_room(self, last(r, sizes));
  const ScalarType given = self.scalar_type();
  Tensor x = self.to(computed_as(r, given));
  for (int64_t k = 2; k >= 3 - r.n; --k) {
    const int64_t dim = dim_of(r, self, k);
    const int64_t count = sizes[static_cast<size_t>(k - (3 - r.n))];
    Tensor sum;
    for (const Tap& tap : taps_along(r, k, self.size(dim), count, x, given)) {
      const Tensor one = sy::index_select(x, dim, tap.at);
      if (is_nearest(r)) {
        sum = one;
      } else {
        sum = sum.defined() ? sum + weighted(one, tap) : weighted(one, tap);
      }
    }
    // Bytes are rounded along each dim.
    x = given == kByte && !is_nearest(r)
            ? sy::clamp(sy::floor(sum + 0.5), Scalar(0), Scalar(255))
            : sum;
  }
  return x.to(given).contiguous(self.suggest_memory_format());
}

Tensor resize_backward_by_index(const ResizeRequest& r,
                                const Tensor& grad_output, IntArrayRef sizes) {
  check_room(grad_output, last(r, sizes));
  const ScalarType given = grad_output.scalar_type();
  Tensor g = grad_output.to(is_reduced_floating_type(given) ? kFloat : given);
  for (int64_t k = 2; k >= 3 - r.n; --k) {
    const int64_t dim = dim_of(r, grad_output, k);
    const int64_t size = sizes[static_cast<size_t>(dim)];
    std::vector<int64_t> shape = g.sizes().vec();
    shape[static_cast<size_t>(dim)] = size;
    Tensor sum = sy::zeros(shape, g.options());
    for (const Tap& tap : taps_along(r, k, size, g.size(dim), g, given)) {
      sum =
          sy::index_add(sum, dim, tap.at, is_nearest(r) ? g : weighted(g, tap));
    }
    g = sum;
  }
  return g.to(given);
}

Dims resized_dims(const char* op, const Tensor& input,
                  const OptionalIntArrayRef& output_size,
                  const ResizeFactors& factors, int64_t n) {
  SY_CHECK(input.dim() == n + 2, Value, "[{}] input: expected {} dims, got {}",
           op, n + 2, input.sizes());
  SY_CHECK(output_size.has_value() != factors.has_value(), Value,
           "[{}] output_size: expected it or scale_factors, got {}", op,
           output_size.has_value() ? "both" : "neither");
  Dims out;
  if (output_size.has_value()) {
    SY_CHECK(static_cast<int64_t>(output_size->size()) == n, Value,
             "[{}] output_size: expected {} sizes, got {}", op, n,
             *output_size);
    return Dims(*output_size);
  }
  SY_CHECK(static_cast<int64_t>(factors->size()) == n, Value,
           "[{}] scale_factors: expected {} factors, got {}", op, n,
           factors->size());
  for (int64_t i = 0; i < n; ++i) {
    const double factor = (*factors)[static_cast<size_t>(i)];
    const double size = static_cast<double>(input.size(i + 2)) * factor;
    SY_CHECK(
        size >= 1 && size <= 0x1p53, Value,
        "[{}] scale_factors: expected factors that give sizes, got {} for {}",
        op, factor, input.sizes());
    out.push_back(static_cast<int64_t>(size));
  }
  return out;
}

Tensor upsample_linear1d_vec(const Tensor& input,
                             OptionalIntArrayRef output_size,
                             bool align_corners,
                             std::optional<ArrayRef<double>> scale_factors) {
  return resized<1>("upsample_linear1d", input, output_size, scale_factors,
                    [&](IntArrayRef sizes, auto... scales) {
                      return sy::upsample_linear1d(input, sizes, align_corners,
                                                   scales...);
                    });
}

Tensor upsample_bilinear2d_vec(const Tensor& input,
                               OptionalIntArrayRef output_size,
                               bool align_corners,
                               std::optional<ArrayRef<double>> scale_factors) {
  return resized<2>("upsample_bilinear2d", input, output_size, scale_factors,
                    [&](IntArrayRef sizes, auto... scales) {
                      return sy::upsample_bilinear2d(input, sizes,
                                                     align_corners, scales...);
                    });
}

Tensor upsample_trilinear3d_vec(const Tensor& input,
                                OptionalIntArrayRef output_size,
                                bool align_corners,
                                std::optional<ArrayRef<double>> scale_factors) {
  return resized<3>("upsample_trilinear3d", input, output_size, scale_factors,
                    [&](IntArrayRef sizes, auto... scales) {
                      return sy::upsample_trilinear3d(input, sizes,
                                                      align_corners, scales...);
                    });
}

Tensor upsample_bicubic2d_vec(const Tensor& input,
                              OptionalIntArrayRef output_size,
                              bool align_corners,
                              std::optional<ArrayRef<double>> scale_factors) {
  return resized<2>("upsample_bicubic2d", input, output_size, scale_factors,
                    [&](IntArrayRef sizes, auto... scales) {
                      return sy::upsample_bicubic2d(input, sizes, align_corners,
                                                    scales...);
                    });
}

Tensor upsample_bilinear2d_aa_vec(
    const Tensor& input, OptionalIntArrayRef output_size, bool align_corners,
    std::optional<ArrayRef<double>> scale_factors) {
  return resized<2>("_upsample_bilinear2d_aa", input, output_size,
                    scale_factors, [&](IntArrayRef sizes, auto... scales) {
                      return sy::_upsample_bilinear2d_aa(
                          input, sizes, align_corners, scales...);
                    });
}

Tensor upsample_bicubic2d_aa_vec(
    const Tensor& input, OptionalIntArrayRef output_size, bool align_corners,
    std::optional<ArrayRef<double>> scale_factors) {
  return resized<2>("_upsample_bicubic2d_aa", input, output_size, scale_factors,
                    [&](IntArrayRef sizes, auto... scales) {
                      return sy::_upsample_bicubic2d_aa(
                          input, sizes, align_corners, scales...);
                    });
}

Tensor upsample_lanczos2d_aa_vec(
    const Tensor& input, OptionalIntArrayRef output_size, bool align_corners,
    std::optional<ArrayRef<double>> scale_factors) {
  return resized<2>("_upsample_lanczos2d_aa", input, output_size, scale_factors,
                    [&](IntArrayRef sizes, auto... scales) {
                      return sy::_upsample_lanczos2d_aa(
                          input, sizes, align_corners, scales...);
                    });
}

Tensor upsample_linear1d_by_index(const Tensor& self, IntArrayRef output_size,
                                  bool align_corners,
                                  std::optional<double> scales) {
  return resize_by_index({Resize::Linear, 1, align_corners, {scales}}, self,
                         output_size);
}

Tensor upsample_linear1d_backward_by_index(const Tensor& grad_output,
                                           IntArrayRef, IntArrayRef input_size,
                                           bool align_corners,
                                           std::optional<double> scales) {
  return resize_backward_by_index({Resize::Linear, 1, align_corners, {scales}},
                                  grad_output, input_size);
}

Tensor upsample_bilinear2d_by_index(const Tensor& self, IntArrayRef output_size,
                                    bool align_corners,
                                    std::optional<double> scales_h,
                                    std::optional<double> scales_w) {
  return resize_by_index(
      {Resize::Linear, 2, align_corners, {scales_h, scales_w}}, self,
      output_size);
}

Tensor upsample_bilinear2d_backward_by_index(const Tensor& grad_output,
                                             IntArrayRef,
                                             IntArrayRef input_size,
                                             bool align_corners,
                                             std::optional<double> scales_h,
                                             std::optional<double> scales_w) {
  return resize_backward_by_index(
      {Resize::Linear, 2, align_corners, {scales_h, scales_w}}, grad_output,
      input_size);
}

Tensor upsample_trilinear3d_by_index(const Tensor& self,
                                     IntArrayRef output_size,
                                     bool align_corners,
                                     std::optional<double> scales_d,
                                     std::optional<double> scales_h,
                                     std::optional<double> scales_w) {
  return resize_by_index(
      {Resize::Linear, 3, align_corners, {scales_d, scales_h, scales_w}}, self,
      output_size);
}

Tensor upsample_trilinear3d_backward_by_index(
    const Tensor& grad_output, IntArrayRef, IntArrayRef input_size,
    bool align_corners, std::optional<double> scales_d,
    std::optional<double> scales_h, std::optional<double> scales_w) {
  return resize_backward_by_index(
      {Resize::Linear, 3, align_corners, {scales_d, scales_h, scales_w}},
      grad_output, input_size);
}

Tensor upsample_bicubic2d_by_index(const Tensor& self, IntArrayRef output_size,
                                   bool align_corners,
                                   std::optional<double> scales_h,
                                   std::optional<double> scales_w) {
  return resize_by_index(
      {Resize::Cubic, 2, align_corners, {scales_h, scales_w}}, self,
      output_size);
}

Tensor upsample_bicubic2d_backward_by_index(const Tensor& grad_output,
                                            IntArrayRef, IntArrayRef input_size,
                                            bool align_corners,
                                            std::optional<double> scales_h,
                                            std::optional<double> scales_w) {
  return resize_backward_by_index(
      {Resize::Cubic, 2, align_corners, {scales_h, scales_w}}, grad_output,
      input_size);
}

Tensor upsample_bilinear2d_aa_by_index(const Tensor& self,
                                       IntArrayRef output_size,
                                       bool align_corners,
                                       std::optional<double> scales_h,
                                       std::optional<double> scales_w) {
  return resize_by_index(
      {Resize::LinearAA, 2, align_corners, {scales_h, scales_w}}, self,
      output_size);
}

Tensor upsample_bilinear2d_aa_backward_by_index(
    const Tensor& grad_output, IntArrayRef, IntArrayRef input_size,
    bool align_corners, std::optional<double> scales_h,
    std::optional<double> scales_w) {
  return resize_backward_by_index(
      {Resize::LinearAA, 2, align_corners, {scales_h, scales_w}}, grad_output,
      input_size);
}

Tensor upsample_bicubic2d_aa_by_index(const Tensor& self,
                                      IntArrayRef output_size,
                                      bool align_corners,
                                      std::optional<double> scales_h,
                                      std::optional<double> scales_w) {
  return resize_by_index(
      {Resize::CubicAA, 2, align_corners, {scales_h, scales_w}}, self,
      output_size);
}

Tensor upsample_bicubic2d_aa_backward_by_index(const Tensor& grad_output,
                                               IntArrayRef,
                                               IntArrayRef input_size,
                                               bool align_corners,
                                               std::optional<double> scales_h,
                                               std::optional<double> scales_w) {
  return resize_backward_by_index(
      {Resize::CubicAA, 2, align_corners, {scales_h, scales_w}}, grad_output,
      input_size);
}

Tensor upsample_lanczos2d_aa_by_index(const Tensor& self,
                                      IntArrayRef output_size,
                                      bool align_corners,
                                      std::optional<double> scales_h,
                                      std::optional<double> scales_w) {
  return resize_by_index(
      {Resize::LanczosAA, 2, align_corners, {scales_h, scales_w}}, self,
      output_size);
}

Tensor upsample_lanczos2d_aa_backward_by_index(const Tensor& grad_output,
                                               IntArrayRef,
                                               IntArrayRef input_size,
                                               bool align_corners,
                                               std::optional<double> scales_h,
                                               std::optional<double> scales_w) {
  return resize_backward_by_index(
      {Resize::LanczosAA, 2, align_corners, {scales_h, scales_w}}, grad_output,
      input_size);
}

}  // namespace sy::composite
