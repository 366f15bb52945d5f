#include <vector>

#include "bins.h"

namespace vision {
namespace {

struct PsAlign {
  double scale;
  int64_t height, width;  // of the result
  int64_t ratio;

  int64_t bins() const { return height * width; }
};

template <class T>
BoxBins<T> bins_of(const PsAlign& a, const Elements<T>& rois, int64_t k,
                   const Batch& images) {
  const Box<T> box =
      box_at("ps_roi_align", rois, k, static_cast<T>(a.scale), images.images);
  const T x = box.x1 - T(0.5), y = box.y1 - T(0.5);
  const T bin_h = (box.y2 - T(0.5) - y) / static_cast<T>(a.height);
  const T bin_w = (box.x2 - T(0.5) - x) / static_cast<T>(a.width);
  const int64_t nh = a.ratio > 0 ? a.ratio : whole(std::ceil(bin_h));
  const int64_t nw = a.ratio > 0 ? a.ratio : whole(std::ceil(bin_w));
  return {box.image, AxisBins<T>(a.height, y, bin_h, nh, images.height),
          AxisBins<T>(a.width, x, bin_w, nw, images.width),
          static_cast<T>(nh * nw)};
}

template <class T>
void align(const PsAlign& a, const Tensor& input, const Tensor& rois_of,
           const Tensor& out, const Tensor& mapping) {
  const Batch in = batch_of(input);
  const int64_t channels = in.channels / a.bins();
  const Elements<T> from(input), rois(rois_of);
  const Room<T> to(out);
  auto* const channel_of = static_cast<int32_t*>(mapping.data_ptr());
  sy::parallel_for(0, rois_of.size(0), 1, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const BoxBins<T> box = bins_of(a, rois, k, in);
      const T* plane = from.data() + box.image * in.channels * in.plane();
      int64_t at = k * channels * a.bins();
      int32_t channel = 0;
      for (int64_t c = 0; c < channels; ++c) {
        for (int64_t b = 0; b < a.bins(); ++b, ++at, plane += in.plane()) {
          to.data()[at] =
              box.sum(plane, in.width, b / a.width, b % a.width) / box.count;
          channel_of[at] = channel++;
        }
      }
    }
  });
  to.store();
}

template <class T>
void align_backward(const PsAlign& a, const Tensor& grad, const Tensor& rois_of,
                    const Tensor& mapping, const Tensor& out) {
  const Batch in = batch_of(out);
  const int64_t each = grad.size(1) * a.bins();
  const Elements<T> from(grad), rois(rois_of);
  const Tensor channels = mapping.contiguous();
  const auto* const channel_of =
      static_cast<const int32_t*>(channels.data_ptr());
  const Room<T> to(out);
  for (int64_t k = 0; k < rois_of.size(0); ++k) {
    const BoxBins<T> box = bins_of(a, rois, k, in);
    for (int64_t i = 0; i < each; ++i) {
      const int64_t c = channel_of[k * each + i];
      SY_CHECK(c >= 0 && c < in.channels, Value,
               "[torchvision::_ps_roi_align_backward] channel_mapping: "
               "expected channels below {}, got {}",
               in.channels, c);
      const int64_t b = i % a.bins();
      box.spread(from[k * each + i] / box.count,
                 to.data() + (box.image * in.channels + c) * in.plane(),
                 in.width, b / a.width, b % a.width);
    }
  }
  to.store();
}

}  // namespace
}  // namespace vision

namespace sy::cpu {

void ps_roi_align_out(const Tensor& input, const Tensor& rois,
                      double spatial_scale, int64_t pooled_height,
                      int64_t pooled_width, int64_t sampling_ratio,
                      const Tensor& out, const Tensor& mapping) {
  const vision::PsAlign a{spatial_scale, pooled_height, pooled_width,
                          sampling_ratio};
  vision::visit(input, [&]<class T>() {
    vision::align<T>(a, input, rois, out, mapping);
  });
}

void ps_roi_align_backward_out(const Tensor& grad, const Tensor& rois,
                               const Tensor& channel_mapping,
                               double spatial_scale, int64_t pooled_height,
                               int64_t pooled_width, int64_t sampling_ratio,
                               int64_t, int64_t, int64_t, int64_t,
                               const Tensor& out) {
  const vision::PsAlign a{spatial_scale, pooled_height, pooled_width,
                          sampling_ratio};
  vision::visit(grad, [&]<class T>() {
    vision::align_backward<T>(a, grad, rois, channel_mapping, out);
  });
}

}  // namespace sy::cpu
