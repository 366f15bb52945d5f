#include <utility>
#include <vector>

#include "aten/engine/dims.h"
#include "aten/engine/geometry.h"
#include "aten/engine/widened.h"
#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/comparison.h"
#include "aten/ops/factory.h"
#include "aten/ops/image.h"
#include "aten/ops/image_kernels.h"
#include "aten/ops/math.h"
#include "aten/ops/shape.h"
#include "c10/dispatch/thread_state.h"

// grid_sampler and its gradients made of gather and scatter_add: for backends
// that have no kernels of their own for them, and where gradients are
// differentiated again. Narrow floats are computed in float32.

namespace sy::composite {

namespace {

enum Mode : int64_t { kLinear = 0, kNearest = 1, kCubic = 2 };
enum Beyond : int64_t { kZeros = 0, kBorder = 1, kReflection = 2 };

// A place along one dim, and how it moves with what it came from: 1, 0 or -1.
struct Coordinate {
  Tensor x, sign;
};

// One tap of each point: an element along one dim, its weight, and the weight's
// slope by the point's coordinate.
struct Tap {
  Tensor at, weight, slope;
};

struct Axis {
  int64_t size, mode, beyond;
  bool align_corners;

  // Brings places into [0, size - 1], unless elements beyond are zero. Not
  // differentiated.
  Coordinate brought_back(const Tensor& x) const {
    Coordinate p{x, ones_like(x)};
    if (beyond == kReflection) {
      const double edge = align_corners ? 0 : 0.5;
      const double low = -edge, span = static_cast<double>(size - 1) + 2 * edge;
      if (!(span > 0)) return {zeros_like(x), zeros_like(x)};
      const Tensor from = x - low, far = abs(from), extra = fmod(far, span);
      const Tensor even = fmod(floor(far / span), 2).eq(0);
      const Tensor sign = where(from.lt(0), -p.sign, p.sign);
      p.x = where(even, extra + low, span - extra + low);
      p.sign = where(even, sign, -sign);
    }
    if (beyond != kZeros) {
      const double last = static_cast<double>(size - 1);
      const Tensor inside = logical_and(p.x.gt(0), p.x.lt(last));
      p.x = clamp(p.x, Scalar(0), Scalar(last));
      p.sign = where(inside, p.sign, Scalar(0));
    }
    return p;
  }

  // The index of a place; -1 if it is not within the dim.
  Tensor index_of(const Tensor& x) const {
    return where(logical_and(x.ge(0), x.lt(size)), x, Scalar(-1)).to(kLong);
  }

  // Keys' cubic convolution: a weight and its slope at a distance from 0 to 1,
  // and from 1 to 2.
  static std::pair<Tensor, Tensor> near(const Tensor& d) {
    constexpr double a = -0.75;
    return {((a + 2) * d - (a + 3)) * d * d + 1,
            (3 * (a + 2) * d - 2 * (a + 3)) * d};
  }
  static std::pair<Tensor, Tensor> far(const Tensor& d) {
    constexpr double a = -0.75;
    return {((a * d - 5 * a) * d + 8 * a) * d - 4 * a,
            (3 * a * d - 10 * a) * d + 8 * a};
  }

  std::vector<Tap> cubic(const Tensor& x, double scale) const {
    const Tensor low = floor(x.detach());
    const Tensor t = x - low, u = 1 - t;
    const std::pair<Tensor, Tensor> w[] = {far(t + 1), near(t), near(u),
                                           far(u + 1)};
    std::vector<Tap> taps;
    for (int k = 0; k < 4; ++k) {
      const double sign = k < 2 ? scale : -scale;
      taps.push_back({index_of(brought_back(low + (k - 1)).x), w[k].first,
                      w[k].second * sign});
    }
    return taps;
  }

  // `g` goes from -1 to 1 along the dim.
  std::vector<Tap> taps(const Tensor& g) const {
    const double scale =
        static_cast<double>(align_corners ? size - 1 : size) / 2;
    const Tensor x = (g + 1) * scale - (align_corners ? 0 : 0.5);
    if (mode == kCubic) return cubic(x, scale);
    const Tensor known = x.detach();
    const Coordinate p = brought_back(known);
    if (mode == kNearest) {
      return {{index_of(round(p.x)), ones_like(p.x), zeros_like(p.x)}};
    }
    // Bringing back moves a place along, or against it, or not at all.
    const Tensor low = floor(p.x);
    const Tensor part = p.x - low + p.sign * (x - known);
    const Tensor slope = p.sign * scale;
    return {{index_of(low), 1 - part, -slope},
            {index_of(low + 1), part, slope}};
  }
};

bool recorded(std::initializer_list<const Tensor*> tensors) {
  if (!GradMode::is_enabled()) return false;
  for (const Tensor* t : tensors) {
    if (t->defined() && t->requires_grad()) return true;
  }
  return false;
}

// Images as planes of places, and the taps of each point along each dim.
struct Sampling {
  int64_t images, channels, count;
  Tensor planes;
  std::vector<std::vector<Tap>> axes;  // width first
  std::vector<int64_t> sizes;          // of the dims, likewise

  Sampling(const Tensor& input, const Tensor& grid, int64_t mode,
           int64_t beyond, bool align_corners)
      : images(input.size(0)), channels(input.size(1)) {
    const int64_t n = input.dim() - 2;
    const int64_t places =
        geometry::prod(geometry::slice(input.sizes(), 2, INT64_MAX));
    count = geometry::prod(geometry::slice(grid.sizes(), 1, n + 1));
    planes = input.reshape({images, channels, places});
    const Tensor points = grid.reshape({images, count, n});
    for (int64_t d = 0; d < n; ++d) {
      sizes.push_back(input.size(-1 - d));
      const Axis axis{sizes.back(), mode, beyond, align_corners};
      axes.push_back(axis.taps(points.select(2, d)));
    }
  }

  // One tap of each dim: the places of all points, and whether they are there.
  struct Corner {
    std::vector<const Tap*> taps;
    Tensor index, valid;

    // The product of weights, but of dim `by` of the slope.
    Tensor product(size_t by) const {
      Tensor w;
      for (size_t d = 0; d < taps.size(); ++d) {
        const Tensor& f = d == by ? taps[d]->slope : taps[d]->weight;
        w = d == 0 ? f : w * f;
      }
      return where(valid, w, Scalar(0));
    }
    Tensor weight() const { return product(taps.size()).unsqueeze(1); }
  };

  // f(corner) for each.
  template <class F>
  void corners(const F& f) const {
    const size_t each = axes[0].size();
    size_t all = 1;
    for (size_t d = 0; d < axes.size(); ++d) all *= each;
    for (size_t k = 0; k < all; ++k) {
      Corner c;
      Tensor at;
      int64_t stride = 1;
      size_t rest = k;
      for (size_t d = 0; d < axes.size(); ++d, rest /= each) {
        c.taps.push_back(&axes[d][rest % each]);
        const Tensor& own = c.taps.back()->at;
        at = d == 0 ? own : at + own * stride;
        c.valid = d == 0 ? own.ge(0) : logical_and(c.valid, own.ge(0));
        stride *= sizes[d];
      }
      c.index = where(c.valid, at, Scalar(0))
                    .unsqueeze(1)
                    .expand({images, channels, count});
      f(c);
    }
  }
};

Tensor sampled(const Tensor& input, const Tensor& grid, int64_t mode,
               int64_t beyond, bool align_corners) {
  const Sampling s(widened(input), widened(grid), mode, beyond, align_corners);
  Tensor sum = sy::zeros({s.images, s.channels, s.count}, s.planes.options());
  s.corners([&](const Sampling::Corner& c) {
    // An element that is not there counts as 0, whatever lies at the place
    // instead.
    const Tensor v =
        where(c.valid.unsqueeze(1), s.planes.gather(2, c.index), Scalar(0));
    sum = sum + v * c.weight();
  });
  Dims sizes(input.sizes());
  for (int64_t d = 2; d < input.dim(); ++d) sizes[d] = grid.size(d - 1);
  return sum.reshape(sizes).to(input.scalar_type());
}

std::tuple<Tensor, Tensor> gradients(const Tensor& grad_output,
                                     const Tensor& input, const Tensor& grid,
                                     int64_t mode, int64_t beyond,
                                     bool align_corners, bool by_image) {
  const Sampling s(widened(input), widened(grid), mode, beyond, align_corners);
  const Tensor g =
      widened(grad_output).reshape({s.images, s.channels, s.count});
  Tensor by_input = zeros_like(s.planes);
  std::vector<Tensor> by_point(
      s.axes.size(), sy::zeros({s.images, s.count}, s.planes.options()));
  s.corners([&](const Sampling::Corner& c) {
    if (by_image) {
      by_input = by_input.scatter_add(2, c.index, g * c.weight());
    }
    if (mode == kNearest) return;
    const Tensor along = (g * s.planes.gather(2, c.index)).sum({1});
    for (size_t d = 0; d < by_point.size(); ++d) {
      by_point[d] = by_point[d] + along * c.product(d);
    }
  });
  const ScalarType dtype = input.scalar_type();
  return {by_image ? by_input.reshape(input.sizes()).to(dtype) : Tensor(),
          stack(by_point, -1).reshape(grid.sizes()).to(dtype)};
}

}  // namespace

std::tuple<Tensor, Tensor> grid_sampler_grads(
    const Tensor& grad_output, const Tensor& input, const Tensor& grid,
    int64_t interpolation_mode, int64_t padding_mode, bool align_corners,
    ArrayRef<bool> output_mask) {
  SY_CHECK(input.dim() == 4 || input.dim() == 5, Value,
           "[_grid_sampler_grads] input: expected 4 or 5 dims, got {}",
           input.sizes());
  const int64_t n = input.dim() - 2;
  if (!recorded({&grad_output, &input, &grid})) {
    const auto backward =
        n == 2 ? sy::grid_sampler_2d_backward : sy::grid_sampler_3d_backward;
    return backward(grad_output, input, grid, interpolation_mode, padding_mode,
                    align_corners, output_mask);
  }
  const auto check = n == 2 ? contract::grid_sampler_2d_backward
                            : contract::grid_sampler_3d_backward;
  check(grad_output, input, grid, interpolation_mode, padding_mode,
        align_corners, output_mask);

  return gradients(grad_output, input, grid, interpolation_mode, padding_mode,
                   align_corners, output_mask[0]);
}

Tensor grid_sampler_by_gather(const Tensor& input, const Tensor& grid,
                              int64_t interpolation_mode, int64_t padding_mode,
                              bool align_corners) {
  return sampled(input, grid, interpolation_mode, padding_mode, align_corners);
}

std::tuple<Tensor, Tensor> grid_sampler_backward_by_gather(
    const Tensor& grad_output, const Tensor& input, const Tensor& grid,
    int64_t interpolation_mode, int64_t padding_mode, bool align_corners,
    ArrayRef<bool> output_mask) {
  return gradients(grad_output, input, grid, interpolation_mode, padding_mode,
                   align_corners, output_mask[0]);
}

}  // namespace sy::composite
