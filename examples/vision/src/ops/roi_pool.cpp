#include <limits>

#include "rois.h"

namespace vision {
namespace {

// The places [begin, end) of bin b of an axis, in whole pixels.
struct Span {
  int64_t begin, end;
};

template <class T>
Span span(int64_t b, T bin, int64_t start, int64_t length) {
  const int64_t begin = whole(std::floor(static_cast<T>(b) * bin)) + start;
  const int64_t end = whole(std::ceil(static_cast<T>(b + 1) * bin)) + start;
  return {std::clamp<int64_t>(begin, 0, length),
          std::clamp<int64_t>(end, 0, length)};
}

template <class T>
void pool_plane(const T* plane, const Batch& in, Span y, Span x, T* value,
                int32_t* place) {
  const bool empty = y.end <= y.begin || x.end <= x.begin;
  *value = empty ? T(0) : -std::numeric_limits<float>::max();
  *place = -1;
  for (int64_t h = y.begin; h < y.end; ++h) {
    for (int64_t w = x.begin; w < x.end; ++w) {
      const int64_t at = h * in.width + w;
      if (plane[at] > *value) {
        *value = plane[at];
        *place = static_cast<int32_t>(at);
      }
    }
  }
}

template <class T>
void pool(const Tensor& input, const Tensor& rois_of, double scale,
          const Tensor& out, const Tensor& argmax) {
  const Batch in = batch_of(input);
  const Batch to = batch_of(out);
  SY_CHECK(in.plane() <= std::numeric_limits<int32_t>::max(), Value,
           "[torchvision::roi_pool] input: expected fewer than 2^31 places in "
           "an image, got {}",
           input.sizes());
  const Elements<T> from(input), rois(rois_of);
  const Room<T> room(out);
  auto* const places = static_cast<int32_t*>(argmax.data_ptr());
  sy::parallel_for(0, to.images, 1, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const Box<T> box =
          box_at("roi_pool", rois, k, static_cast<T>(scale), in.images);
      const int64_t x = whole(std::round(box.x1));
      const int64_t y = whole(std::round(box.y1));
      const int64_t w = std::max<int64_t>(whole(std::round(box.x2)) - x + 1, 1);
      const int64_t h = std::max<int64_t>(whole(std::round(box.y2)) - y + 1, 1);
      const T bin_h = static_cast<T>(h) / static_cast<T>(to.height);
      const T bin_w = static_cast<T>(w) / static_cast<T>(to.width);
      const T* const image = from.data() + box.image * in.channels * in.plane();
      int64_t at = k * to.channels * to.plane();
      for (int64_t c = 0; c < to.channels; ++c) {
        for (int64_t p = 0; p < to.plane(); ++p, ++at) {
          pool_plane(image + c * in.plane(), in,
                     span(p / to.width, bin_h, y, in.height),
                     span(p % to.width, bin_w, x, in.width), room.data() + at,
                     places + at);
        }
      }
    }
  });
  room.store();
}

template <class T>
void pool_backward(const Tensor& grad, const Tensor& rois_of,
                   const Tensor& argmax, const Tensor& out) {
  const Batch in = batch_of(out);
  const int64_t bins = grad.size(2) * grad.size(3);
  const Elements<T> from(grad), rois(rois_of);
  const Tensor places_of = argmax.contiguous();
  const auto* const places = static_cast<const int32_t*>(places_of.data_ptr());
  const Room<T> room(out);
  for (int64_t k = 0; k < rois_of.size(0); ++k) {
    const int64_t image =
        box_at("_roi_pool_backward", rois, k, T(1), in.images).image;
    for (int64_t c = 0; c < in.channels; ++c) {
      T* const plane = room.data() + (image * in.channels + c) * in.plane();
      for (int64_t b = 0; b < bins; ++b) {
        const int64_t at = (k * in.channels + c) * bins + b;
        if (places[at] == -1) continue;
        SY_CHECK(places[at] >= 0 && places[at] < in.plane(), Value,
                 "[torchvision::_roi_pool_backward] argmax: expected places "
                 "below {}, got {}",
                 in.plane(), places[at]);
        plane[places[at]] += from[at];
      }
    }
  }
  room.store();
}

}  // namespace
}  // namespace vision

namespace sy::cpu {

void roi_pool_out(const Tensor& input, const Tensor& rois, double spatial_scale,
                  int64_t, int64_t, const Tensor& out, const Tensor& argmax) {
  vision::visit(input, [&]<class T>() {
    vision::pool<T>(input, rois, spatial_scale, out, argmax);
  });
}

void roi_pool_backward_out(const Tensor& grad, const Tensor& rois,
                           const Tensor& argmax, double, int64_t, int64_t,
                           int64_t, int64_t, int64_t, int64_t,
                           const Tensor& out) {
  vision::visit(grad, [&]<class T>() {
    vision::pool_backward<T>(grad, rois, argmax, out);
  });
}

}  // namespace sy::cpu
