#include "deform.h"

// The matrix of what the taps read, and a product with the weight, image by
// image.

namespace vision {
namespace {

template <class T>
void convolve(const Deform& d, const Tensor& input, const Tensor& weight,
              const Tensor& offset, const Tensor& mask, const Tensor& bias,
              const Tensor& out) {
  const DeformSizes s(input, weight, offset);
  if (out.numel() == 0) return;
  const Elements<T> image(input), offsets(offset), masks(mask);
  const sy::TensorOptions type(kTypeOf<T>);
  const Tensor columns = sy::empty({s.rows(), s.out.plane()}, type);
  const Tensor by_group =
      columns.view({d.groups, s.rows() / d.groups, s.out.plane()});
  const Tensor w =
      weight.to(kTypeOf<T>)
          .reshape({d.groups, s.out.channels / d.groups, s.rows() / d.groups});
  const Tensor b = bias.to(kTypeOf<T>).reshape({s.out.channels, 1});
  for (int64_t n = 0; n < s.in.images; ++n) {
    const int64_t numbers = d.offset_groups * s.taps() * s.out.plane();
    const Taps<T> taps{d, s, offsets.data() + 2 * n * numbers,
                       d.use_mask ? masks.data() + n * numbers : nullptr};
    fill_columns(taps, image.data() + n * s.in.channels * s.in.plane(),
                 static_cast<T*>(columns.data_ptr()));
    out.select(0, n).copy_(w.bmm(by_group)
                               .view({s.out.channels, s.out.plane()})
                               .add(b)
                               .view(out.sizes().slice(1, 3)));
  }
}

// The gradients that convolve_backward fills.
struct Gradients {
  const Tensor& input;
  const Tensor& weight;
  const Tensor& offset;
  const Tensor& mask;
  const Tensor& bias;
};

// Puts the gradient of `columns` back to the image, the offsets and the mask,
// each of which points to its part for one image.
template <class T>
void spread_columns(const Taps<T>& taps, const T* image, const T* columns,
                    T* to_image, T* to_offset, T* to_mask) {
  const DeformSizes& s = taps.s;
  const int64_t each = s.in.channels / taps.d.offset_groups;
  const int64_t plane = s.out.plane();
  sy::parallel_for(0, taps.d.offset_groups, 1, [&](int64_t begin, int64_t end) {
    for (int64_t gk = begin * s.taps(); gk < end * s.taps(); ++gk) {
      const int64_t g = gk / s.taps(), k = gk % s.taps();
      for (int64_t p = 0; p < plane; ++p) {
        const Corners<T> at = taps.corners(g, k, p);
        const T weight = taps.weight(g, k, p);
        T down = 0, right = 0, value = 0;
        for (int64_t c = g * each; c < (g + 1) * each; ++c) {
          const T grad = columns[(c * s.taps() + k) * plane + p];
          const T* const from = image + c * s.in.plane();
          value += grad * at.value(from);
          down += grad * weight * at.slope_down(from);
          right += grad * weight * at.slope_right(from);
          T* const to = to_image + c * s.in.plane();
          for (int i = 0; i < 4; ++i) {
            if (at.at[i] >= 0) to[at.at[i]] += at.weight[i] * weight * grad;
          }
        }
        to_offset[gk * 2 * plane + p] = down;
        to_offset[(gk * 2 + 1) * plane + p] = right;
        if (to_mask != nullptr) to_mask[gk * plane + p] = value;
      }
    }
  });
}

template <class T>
void convolve_backward(const Deform& d, const Tensor& grad, const Tensor& input,
                       const Tensor& weight, const Tensor& offset,
                       const Tensor& mask, const Gradients& to) {
  const DeformSizes s(input, weight, offset);
  const Elements<T> image(input), offsets(offset), masks(mask);
  const Room<T> in(to.input), by_offset(to.offset), by_mask(to.mask);
  const sy::TensorOptions type(kTypeOf<T>);
  const Tensor columns = sy::empty({s.rows(), s.out.plane()}, type);
  const Tensor by_group =
      columns.view({d.groups, s.rows() / d.groups, s.out.plane()});
  const Tensor w =
      weight.to(kTypeOf<T>)
          .reshape({d.groups, s.out.channels / d.groups, s.rows() / d.groups});
  const Tensor g = grad.to(kTypeOf<T>)
                       .reshape({s.out.images, d.groups,
                                 s.out.channels / d.groups, s.out.plane()});
  const Tensor by_weight = sy::zeros_like(w);
  for (int64_t n = 0; grad.numel() > 0 && n < s.in.images; ++n) {
    const int64_t numbers = d.offset_groups * s.taps() * s.out.plane();
    const int64_t elements = s.in.channels * s.in.plane();
    const Taps<T> taps{d, s, offsets.data() + 2 * n * numbers,
                       d.use_mask ? masks.data() + n * numbers : nullptr};
    const T* const from = image.data() + n * elements;
    fill_columns(taps, from, static_cast<T*>(columns.data_ptr()));
    Tensor(by_weight).add_(g.select(0, n).bmm(by_group.transpose(1, 2)));
    const Tensor by_columns =
        w.transpose(1, 2).bmm(g.select(0, n)).contiguous();
    spread_columns(taps, from, static_cast<const T*>(by_columns.data_ptr()),
                   in.data() + n * elements, by_offset.data() + 2 * n * numbers,
                   d.use_mask ? by_mask.data() + n * numbers : nullptr);
  }
  in.store();
  by_offset.store();
  by_mask.store();
  Tensor(to.weight).copy_(by_weight.view(weight.sizes()));
  Tensor(to.bias).copy_(grad.to(kTypeOf<T>).sum({0, 2, 3}));
}

}  // namespace
}  // namespace vision

namespace sy::cpu {

void deform_conv2d_out(const Tensor& input, const Tensor& weight,
                       const Tensor& offset, const Tensor& mask,
                       const Tensor& bias, int64_t stride_h, int64_t stride_w,
                       int64_t pad_h, int64_t pad_w, int64_t dilation_h,
                       int64_t dilation_w, int64_t groups,
                       int64_t offset_groups, bool use_mask,
                       const Tensor& out) {
  const vision::Deform d{
      {stride_h, stride_w}, {pad_h, pad_w}, {dilation_h, dilation_w}, groups,
      offset_groups,        use_mask};
  vision::visit(input, [&]<class T>() {
    vision::convolve<T>(d, input, weight, offset, mask, bias, out);
  });
}

void deform_conv2d_backward_out(
    const Tensor& grad, const Tensor& input, const Tensor& weight,
    const Tensor& offset, const Tensor& mask, const Tensor&, int64_t stride_h,
    int64_t stride_w, int64_t pad_h, int64_t pad_w, int64_t dilation_h,
    int64_t dilation_w, int64_t groups, int64_t offset_groups, bool use_mask,
    const Tensor& by_input, const Tensor& by_weight, const Tensor& by_offset,
    const Tensor& by_mask, const Tensor& by_bias) {
  const vision::Deform d{
      {stride_h, stride_w}, {pad_h, pad_w}, {dilation_h, dilation_w}, groups,
      offset_groups,        use_mask};
  vision::visit(input, [&]<class T>() {
    vision::convolve_backward<T>(
        d, grad, input, weight, offset, mask,
        {by_input, by_weight, by_offset, by_mask, by_bias});
  });
}

}  // namespace sy::cpu
