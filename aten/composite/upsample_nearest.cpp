#include "aten/ops/upsample_nearest.h"
#include "aten/engine/dims.h"
#include "aten/ops/upsample.h"
#include "aten/ops/upsample_kernels.h"
#include "aten/ops/upsample_nearest_kernels.h"

// Resizing by sizes or factors: what it asks of the operators that do it.

namespace sy::composite {

namespace {

using Factors = std::optional<ArrayRef<double>>;

Dims size_after(const char* op, const Tensor& input,
                const OptionalIntArrayRef& output_size, const Factors& factors,
                int64_t n) {
  SY_CHECK(input.dim() == n + 2, Value, "[", op, "] input: expected ", n + 2,
           " dims, got ", input.sizes());
  SY_CHECK(output_size.has_value() != factors.has_value(), Value, "[", op,
           "] output_size: expected it or scale_factors, got ",
           output_size.has_value() ? "both" : "neither");
  Dims out;
  if (output_size.has_value()) {
    SY_CHECK(static_cast<int64_t>(output_size->size()) == n, Value, "[", op,
             "] output_size: expected ", n, " sizes, got ", *output_size);
    return Dims(*output_size);
  }
  SY_CHECK(static_cast<int64_t>(factors->size()) == n, Value, "[", op,
           "] scale_factors: expected ", n, " factors, got ", factors->size());
  for (int64_t i = 0; i < n; ++i) {
    const double factor = (*factors)[static_cast<size_t>(i)];
    const double size = static_cast<double>(input.size(i + 2)) * factor;
    SY_CHECK(size >= 1 && size <= 0x1p53, Value, "[", op,
             "] scale_factors: expected factors that give sizes, got ", factor,
             " for ", input.sizes());
    out.push_back(static_cast<int64_t>(size));
  }
  return out;
}

std::optional<double> factor_of(const Factors& factors, size_t i) {
  return factors ? std::optional<double>((*factors)[i]) : std::nullopt;
}

// f(sizes, factors…) for n dims.
template <int64_t kDims, class F>
Tensor resized(const char* op, const Tensor& input,
               const OptionalIntArrayRef& output_size, const Factors& factors,
               const F& f) {
  const Dims sizes = size_after(op, input, output_size, factors, kDims);
  if constexpr (kDims == 1) {
    return f(sizes, factor_of(factors, 0));
  } else if constexpr (kDims == 2) {
    return f(sizes, factor_of(factors, 0), factor_of(factors, 1));
  } else {
    return f(sizes, factor_of(factors, 0), factor_of(factors, 1),
             factor_of(factors, 2));
  }
}

}  // namespace

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

}  // namespace sy::composite
