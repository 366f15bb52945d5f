#include "aten/ops/image.h"
#include "aten/engine/dims.h"
#include "aten/ops/factory.h"
#include "aten/ops/image_kernels.h"
#include "aten/ops/ranges.h"
#include "aten/ops/shape.h"
#include "aten/ops/view.h"

namespace sy::composite {

namespace {

// The last three dims, of `self`, as channels, height and width.
struct Image {
  int64_t channels, height, width;
};

Image image_of(const char* op, const Tensor& self) {
  SY_CHECK(self.dim() >= 3, Value,
           "[{}] self: expected at least 3 dims, got {}", op, self.sizes());
  return {self.size(-3), self.size(-2), self.size(-1)};
}

void check_factor(const char* op, const char* argument, int64_t factor) {
  SY_CHECK(factor > 0 && factor <= INT32_MAX, Value,
           "[{}] {}: expected a positive factor, got {}", op, argument, factor);
}

// self's leading dims with others after them.
Dims leading(const Tensor& self, std::initializer_list<int64_t> more) {
  Dims out;
  for (int64_t d = 0; d + 3 < self.dim(); ++d) out.push_back(self.size(d));
  for (const int64_t v : more) out.push_back(v);
  return out;
}

// Splits self into `sizes`, puts the dims after the leading ones in another
// order, and joins them as `result`.
Tensor rearranged(const Tensor& self, const Dims& sizes,
                  std::initializer_list<int64_t> order, const Dims& result) {
  Dims dims;
  const int64_t n = self.dim() - 3;
  for (int64_t d = 0; d < n; ++d) dims.push_back(d);
  for (const int64_t d : order) dims.push_back(n + d);
  return self.reshape(sizes)
      .permute(dims)
      .clone(MemoryFormat::Contiguous)
      .view(result);
}

// (x, y, 1) or (x, y, z, 1) of each place, from -1 to 1.
Tensor base_grid(const Tensor& like, IntArrayRef size, bool align_corners) {
  const size_t n = size.size() - 2;
  Dims sizes(size.slice(2, n));
  sizes.push_back(1);
  std::vector<Tensor> parts;
  for (size_t i = n; i-- > 0;) {
    const int64_t count = size[i + 2];
    Tensor line = sy::linspace(-1, 1, count, like.options());
    if (count == 1) line = sy::zeros({1}, like.options());
    if (!align_corners && count > 1) {
      line =
          line.mul(static_cast<double>(count - 1) / static_cast<double>(count));
    }
    Dims along;
    for (size_t d = 0; d < n; ++d) along.push_back(d == i ? count : 1);
    along.push_back(1);
    parts.push_back(line.view(along).expand(sizes));
  }
  parts.push_back(sy::ones(sizes, like.options()));
  return sy::cat(parts, -1).reshape({-1, static_cast<int64_t>(n) + 1});
}

void check_size(const char* op, IntArrayRef size) {
  SY_CHECK(size.size() == 4 || size.size() == 5, Value,
           "[{}] size: expected 4 or 5 sizes, got {}", op, size);
  for (const int64_t s : size) {
    SY_CHECK(s > 0, Value, "[{}] size: expected positive sizes, got {}", op,
             size);
  }
}

}  // namespace

Tensor pixel_shuffle(const Tensor& self, int64_t upscale_factor) {
  const auto [channels, height, width] = image_of("pixel_shuffle", self);
  check_factor("pixel_shuffle", "upscale_factor", upscale_factor);
  const int64_t f = upscale_factor;
  SY_CHECK(channels % (f * f) == 0, Value,
           "[pixel_shuffle] self: expected a number of channels divisible by "
           "{}, got {}",
           f * f, self.sizes());
  const int64_t c = channels / (f * f);
  const Dims result = leading(self, {c, height * f, width * f});
  if (self.numel() == 0) return sy::empty(result, self.options());
  return rearranged(self, leading(self, {c, f, f, height, width}),
                    {0, 3, 1, 4, 2}, result);
}

Tensor pixel_unshuffle(const Tensor& self, int64_t downscale_factor) {
  const auto [channels, height, width] = image_of("pixel_unshuffle", self);
  check_factor("pixel_unshuffle", "downscale_factor", downscale_factor);
  const int64_t f = downscale_factor;
  SY_CHECK(height % f == 0 && width % f == 0, Value,
           "[pixel_unshuffle] self: expected height and width divisible by {}, "
           "got {}",
           f, self.sizes());
  const int64_t h = height / f, w = width / f;
  if (self.numel() == 0) {
    checked_numel("pixel_unshuffle", IntArrayRef({channels + 1, f, f}));
    return sy::empty(leading(self, {channels * f * f, h, w}), self.options());
  }
  return rearranged(self, leading(self, {channels, h, f, w, f}),
                    {0, 2, 4, 1, 3}, leading(self, {channels * f * f, h, w}));
}

Tensor channel_shuffle(const Tensor& self, int64_t groups) {
  SY_CHECK(self.dim() > 2, Value,
           "[channel_shuffle] self: expected more than 2 dims, got {}",
           self.sizes());
  SY_CHECK(groups > 0, Value,
           "[channel_shuffle] groups: expected a positive number, got {}",
           groups);
  SY_CHECK(
      self.size(1) % groups == 0, Value,
      "[channel_shuffle] groups: expected a divisor of {} channels, got {}",
      self.size(1), groups);
  if (self.numel() == 0) return sy::empty(self.sizes(), self.options());
  Dims split(self.sizes().slice(0, 1));
  split.push_back(groups);
  split.push_back(self.size(1) / groups);
  for (int64_t d = 2; d < self.dim(); ++d) split.push_back(self.size(d));
  const MemoryFormat format = self.suggest_memory_format();
  const Tensor out = sy::empty(self.sizes(), self.options(), format);
  // Channel j of group i goes to channel j of all groups, at i.
  Dims turned(split);
  std::swap(turned[1], turned[2]);
  const Tensor to =
      out.unflatten(1, IntArrayRef({self.size(1) / groups, groups}));
  to.copy_(self.unflatten(1, IntArrayRef({groups, self.size(1) / groups}))
               .transpose(1, 2));
  return out;
}

Tensor affine_grid_generator(const Tensor& theta, IntArrayRef size,
                             bool align_corners) {
  check_size("affine_grid_generator", size);
  const auto n = static_cast<int64_t>(size.size()) - 2;
  SY_CHECK(theta.sizes() == IntArrayRef({size[0], n, n + 1}), Value,
           "[affine_grid_generator] theta: expected {}, got {}",
           IntArrayRef({size[0], n, n + 1}), theta.sizes());
  SY_CHECK(theta.is_floating_point(), Type,
           "[affine_grid_generator] theta: expected a floating dtype, got {}",
           theta.dtype());
  Dims sizes(size);
  for (int64_t i = 1; i <= n; ++i) sizes[i] = size[static_cast<size_t>(i) + 1];
  sizes[n + 1] = n;
  const Tensor base = base_grid(theta, size, align_corners);
  return base.unsqueeze(0)
      .expand({size[0], base.size(0), n + 1})
      .bmm(theta.transpose(1, 2))
      .view(sizes);
}

Tensor affine_grid_generator_backward(const Tensor& grad, IntArrayRef size,
                                      bool align_corners) {
  check_size("affine_grid_generator_backward", size);
  const auto n = static_cast<int64_t>(size.size()) - 2;
  Dims sizes(size);
  for (int64_t i = 1; i <= n; ++i) sizes[i] = size[static_cast<size_t>(i) + 1];
  sizes[n + 1] = n;
  SY_CHECK(grad.sizes() == IntArrayRef(sizes), Value,
           "[affine_grid_generator_backward] grad: expected {}, got {}",
           IntArrayRef(sizes), grad.sizes());
  SY_CHECK(grad.is_floating_point(), Type,
           "[affine_grid_generator_backward] grad: expected a floating dtype, "
           "got {}",
           grad.dtype());
  const Tensor base = base_grid(grad, size, align_corners);
  const Tensor flat = grad.reshape({size[0], base.size(0), n});
  return flat.transpose(1, 2).bmm(
      base.unsqueeze(0).expand({size[0], base.size(0), n + 1}));
}

Tensor grid_sampler(const Tensor& input, const Tensor& grid,
                    int64_t interpolation_mode, int64_t padding_mode,
                    bool align_corners) {
  SY_CHECK(input.dim() == 4 || input.dim() == 5, Value,
           "[grid_sampler] input: expected 4 or 5 dims, got {}", input.sizes());
  return input.dim() == 4 ? sy::grid_sampler_2d(input, grid, interpolation_mode,
                                                padding_mode, align_corners)
                          : sy::grid_sampler_3d(input, grid, interpolation_mode,
                                                padding_mode, align_corners);
}

}  // namespace sy::composite
