#include "frontend/nn/functional/upsampling.h"

#include <cmath>

#include "aten/ops/pooling_adaptive.h"
#include "aten/ops/upsample.h"
#include "aten/ops/upsample_nearest.h"

namespace sy::nn::functional {

namespace {

using Options = InterpolateFuncOptions;
using Mode = Options::mode_t;

// The target that operators take: one of both.
struct Target {
  std::optional<std::vector<int64_t>> size;
  std::optional<std::vector<double>> scale;

  std::optional<ArrayRef<double>> scales() const {
    if (!scale.has_value()) return std::nullopt;
    return ArrayRef<double>(*scale);
  }
};

bool aligns(Mode mode) {
  return mode == kLinear || mode == kBilinear || mode == kBicubic ||
         mode == kTrilinear;
}

void check(const Tensor& input, const Options& o) {
  const int64_t dim = input.dim();
  SY_CHECK(3 <= dim && dim <= 5, Value,
           "[interpolate] input: expected 3 to 5 dimensions, got {}", dim);
  const int64_t wanted = o.mode() == kLinear      ? 3
                         : o.mode() == kTrilinear ? 5
                         : aligns(o.mode())       ? 4
                                                  : dim;
  SY_CHECK(dim == wanted, Value,
           "[interpolate] mode: '{}' expects an input of {} dimensions, got {}",
           o.mode().name(), wanted, dim);
  SY_CHECK(!o.align_corners().has_value() || aligns(o.mode()), Value,
           "[interpolate] align_corners: expected none with the mode '{}'",
           o.mode().name());
  SY_CHECK(!o.antialias() || o.mode() == kBilinear || o.mode() == kBicubic,
           Value, "[interpolate] antialias: expected false with the mode '{}'",
           o.mode().name());
  SY_CHECK(o.size().has_value() != o.scale_factor().has_value(), Value,
           "[interpolate] expected one of size and scale_factor, got {}",
           o.size().has_value() ? "both" : "none");
  const size_t values =
      o.size().has_value() ? o.size()->size() : o.scale_factor()->size();
  SY_CHECK(values + 2 == static_cast<size_t>(dim), Value,
           "[interpolate] {}: expected {} values for an input of {} "
           "dimensions, got {}",
           o.size().has_value() ? "size" : "scale_factor", dim - 2, dim,
           values);
  SY_CHECK(!o.recompute_scale_factor().value_or(false) || !o.size().has_value(),
           Value,
           "[interpolate] recompute_scale_factor: expected false with a size, "
           "got true");
}

Target target_of(const Tensor& input, const Options& o) {
  const bool by_size =
      o.recompute_scale_factor().value_or(false) || o.mode() == kArea;
  if (o.size().has_value() || !by_size) return {o.size(), o.scale_factor()};
  std::vector<int64_t> size;
  for (size_t i = 0; i < o.scale_factor()->size(); ++i) {
    const auto n = static_cast<double>(input.size(static_cast<int64_t>(i) + 2));
    size.push_back(
        static_cast<int64_t>(std::floor(n * (*o.scale_factor())[i])));
  }
  return {size, std::nullopt};
}

Tensor nearest(const Tensor& x, const Target& t) {
  if (x.dim() == 3) return sy::upsample_nearest1d(x, t.size, t.scales());
  if (x.dim() == 4) return sy::upsample_nearest2d(x, t.size, t.scales());
  return sy::upsample_nearest3d(x, t.size, t.scales());
}

Tensor nearest_exact(const Tensor& x, const Target& t) {
  if (x.dim() == 3) return sy::_upsample_nearest_exact1d(x, t.size, t.scales());
  if (x.dim() == 4) return sy::_upsample_nearest_exact2d(x, t.size, t.scales());
  return sy::_upsample_nearest_exact3d(x, t.size, t.scales());
}

Tensor area(const Tensor& x, const Target& t) {
  if (x.dim() == 3) return sy::adaptive_avg_pool1d(x, *t.size);
  if (x.dim() == 4) return sy::adaptive_avg_pool2d(x, *t.size);
  return sy::adaptive_avg_pool3d(x, *t.size);
}

}  // namespace

Tensor interpolate(const Tensor& input, const InterpolateFuncOptions& o) {
  check(input, o);
  const Target t = target_of(input, o);
  const Mode mode = o.mode();
  if (mode == kNearest) return nearest(input, t);
  if (mode == kNearestExact) return nearest_exact(input, t);
  if (mode == kArea) return area(input, t);
  const bool align = o.align_corners().value_or(false);
  if (mode == kLinear) {
    return sy::upsample_linear1d(input, t.size, align, t.scales());
  }
  if (mode == kTrilinear) {
    return sy::upsample_trilinear3d(input, t.size, align, t.scales());
  }
  if (mode == kBilinear) {
    return o.antialias()
               ? sy::_upsample_bilinear2d_aa(input, t.size, align, t.scales())
               : sy::upsample_bilinear2d(input, t.size, align, t.scales());
  }
  return o.antialias()
             ? sy::_upsample_bicubic2d_aa(input, t.size, align, t.scales())
             : sy::upsample_bicubic2d(input, t.size, align, t.scales());
}

}  // namespace sy::nn::functional
