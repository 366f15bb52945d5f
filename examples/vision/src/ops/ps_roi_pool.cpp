#include <algorithm>

#include "rois.h"

namespace vision {
namespace {

struct Span {
  int64_t begin, end;
  int64_t count() const { return std::max<int64_t>(end - begin, 0); }
};

// A box in whole pixels. torchvision's bins never have the last row and column
// of the image, but its gradients go there: `edge` is 1 for the former and 0
// for the latter.
template <class T>
struct Bins {
  int64_t image, x, y;
  T bin_h, bin_w;

  Bins(std::string_view op, const Elements<T>& rois, int64_t k, double scale,
       const Batch& in, int64_t height, int64_t width, int64_t edge)
      : edge_(edge) {
    const Box<T> box = box_at(op, rois, k, static_cast<T>(scale), in.images);
    image = box.image;
    x = whole(std::round(box.x1));
    y = whole(std::round(box.y1));
    const int64_t w = std::max<int64_t>(whole(std::round(box.x2)) - x, 1);
    const int64_t h = std::max<int64_t>(whole(std::round(box.y2)) - y, 1);
    bin_h = static_cast<T>(h) / static_cast<T>(height);
    bin_w = static_cast<T>(w) / static_cast<T>(width);
  }

  Span rows(int64_t b, const Batch& in) const {
    return span(b, bin_h, y, in.height);
  }
  Span columns(int64_t b, const Batch& in) const {
    return span(b, bin_w, x, in.width);
  }

 private:
  Span span(int64_t b, T bin, int64_t start, int64_t length) const {
    const int64_t last = std::max<int64_t>(length - edge_, 0);
    const int64_t begin = whole(std::floor(static_cast<T>(b) * bin)) + start;
    const int64_t end = whole(std::ceil(static_cast<T>(b + 1) * bin)) + start;
    return {std::clamp<int64_t>(begin, 0, last),
            std::clamp<int64_t>(end, 0, last)};
  }

  int64_t edge_;
};

template <class T>
void pool(const Tensor& input, const Tensor& rois_of, double scale,
          const Tensor& out, const Tensor& mapping) {
  const Batch in = batch_of(input);
  const Batch to = batch_of(out);
  const Elements<T> from(input), rois(rois_of);
  const Room<T> room(out);
  auto* const channel_of = static_cast<int32_t*>(mapping.data_ptr());
  sy::parallel_for(0, to.images, 1, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const Bins<T> box("ps_roi_pool", rois, k, scale, in, to.height, to.width,
                        1);
      const int64_t each = to.channels * to.plane();
      for (int64_t i = 0; i < each; ++i) {
        const int64_t b = i % to.plane();
        const Span y = box.rows(b / to.width, in);
        const Span x = box.columns(b % to.width, in);
        const T* const plane =
            from.data() + (box.image * in.channels + i) * in.plane();
        T sum = 0;
        for (int64_t h = y.begin; h < y.end; ++h) {
          for (int64_t w = x.begin; w < x.end; ++w) {
            sum += plane[h * in.width + w];
          }
        }
        const int64_t area = y.count() * x.count();
        room.data()[k * each + i] = area == 0 ? 0 : sum / static_cast<T>(area);
        channel_of[k * each + i] = static_cast<int32_t>(i);
      }
    }
  });
  room.store();
}

template <class T>
void pool_backward(const Tensor& grad, const Tensor& rois_of,
                   const Tensor& mapping, double scale, const Tensor& out) {
  const Batch in = batch_of(out);
  const Batch g = batch_of(grad);
  const int64_t each = g.channels * g.plane();
  const Elements<T> from(grad), rois(rois_of);
  const Tensor channels = mapping.contiguous();
  const auto* const channel_of =
      static_cast<const int32_t*>(channels.data_ptr());
  const Room<T> room(out);
  for (int64_t k = 0; k < g.images; ++k) {
    const Bins<T> box("_ps_roi_pool_backward", rois, k, scale, in, g.height,
                      g.width, 0);
    for (int64_t i = 0; i < each; ++i) {
      const int64_t c = channel_of[k * each + i];
      SY_CHECK(c >= 0 && c < in.channels, Value,
               "[torchvision::_ps_roi_pool_backward] channel_mapping: expected "
               "channels below {}, got {}",
               in.channels, c);
      const int64_t b = i % g.plane();
      const Span y = box.rows(b / g.width, in);
      const Span x = box.columns(b % g.width, in);
      const int64_t area = y.count() * x.count();
      if (area == 0) continue;
      const T value = from[k * each + i] / static_cast<T>(area);
      T* const plane = room.data() + (box.image * in.channels + c) * in.plane();
      for (int64_t h = y.begin; h < y.end; ++h) {
        for (int64_t w = x.begin; w < x.end; ++w) {
          plane[h * in.width + w] += value;
        }
      }
    }
  }
  room.store();
}

}  // namespace
}  // namespace vision

namespace sy::cpu {

void ps_roi_pool_out(const Tensor& input, const Tensor& rois,
                     double spatial_scale, int64_t, int64_t, const Tensor& out,
                     const Tensor& mapping) {
  vision::visit(input, [&]<class T>() {
    vision::pool<T>(input, rois, spatial_scale, out, mapping);
  });
}

void ps_roi_pool_backward_out(const Tensor& grad, const Tensor& rois,
                              const Tensor& channel_mapping,
                              double spatial_scale, int64_t, int64_t, int64_t,
                              int64_t, int64_t, int64_t, const Tensor& out) {
  vision::visit(grad, [&]<class T>() {
    vision::pool_backward<T>(grad, rois, channel_mapping, spatial_scale, out);
  });
}

}  // namespace sy::cpu
