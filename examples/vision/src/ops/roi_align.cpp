#include <optional>
#include <vector>

#include "bins.h"

namespace vision {
namespace {

// The numbers that roi_align and its gradient share.
struct Align {
  double scale;
  int64_t height, width;  // of the result
  int64_t ratio;
  bool aligned;
};

template <class T>
BoxBins<T> bins_of(const Align& a, const Elements<T>& rois, int64_t k,
                   const Batch& images) {
  const T shift = a.aligned ? T(0.5) : T(0);
  const Box<T> box =
      box_at("roi_align", rois, k, static_cast<T>(a.scale), images.images);
  const T x = box.x1 - shift, y = box.y1 - shift;
  T w = box.x2 - shift - x, h = box.y2 - shift - y;
  if (!a.aligned) {
    w = std::max(w, T(1));
    h = std::max(h, T(1));
  }
  const T bin_h = h / static_cast<T>(a.height);
  const T bin_w = w / static_cast<T>(a.width);
  const int64_t nh = a.ratio > 0 ? a.ratio : whole(std::ceil(bin_h));
  const int64_t nw = a.ratio > 0 ? a.ratio : whole(std::ceil(bin_w));
  return {box.image, AxisBins<T>(a.height, y, bin_h, nh, images.height),
          AxisBins<T>(a.width, x, bin_w, nw, images.width),
          static_cast<T>(std::max<int64_t>(nh * nw, 1))};
}

template <class T>
void align(const Align& a, const Tensor& input, const Tensor& rois_of,
           const Tensor& out) {
  const Batch in = batch_of(input);
  const Elements<T> from(input), rois(rois_of);
  const Room<T> to(out);
  const int64_t bins = a.height * a.width;
  sy::parallel_for(0, rois_of.size(0), 1, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const BoxBins<T> box = bins_of(a, rois, k, in);
      const T* plane = from.data() + box.image * in.channels * in.plane();
      T* at = to.data() + k * in.channels * bins;
      for (int64_t c = 0; c < in.channels; ++c, plane += in.plane()) {
        for (int64_t ph = 0; ph < a.height; ++ph) {
          for (int64_t pw = 0; pw < a.width; ++pw) {
            *at++ = box.sum(plane, in.width, ph, pw) / box.count;
          }
        }
      }
    }
  });
  to.store();
}

template <class T>
void align_backward(const Align& a, const Tensor& grad, const Tensor& rois_of,
                    const Tensor& out) {
  const Batch in = batch_of(out);
  const Elements<T> from(grad), rois(rois_of);
  const Room<T> to(out);
  std::vector<BoxBins<T>> boxes;
  for (int64_t k = 0; k < rois_of.size(0); ++k) {
    boxes.push_back(bins_of(a, rois, k, in));
  }
  sy::parallel_for(0, in.channels, 1, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      for (int64_t k = 0; k < rois_of.size(0); ++k) {
        const BoxBins<T>& box = boxes[static_cast<size_t>(k)];
        T* const plane = to.data() + (box.image * in.channels + c) * in.plane();
        const T* g = from.data() + (k * in.channels + c) * a.height * a.width;
        for (int64_t ph = 0; ph < a.height; ++ph) {
          for (int64_t pw = 0; pw < a.width; ++pw) {
            box.spread(*g++ / box.count, plane, in.width, ph, pw);
          }
        }
      }
    }
  });
  to.store();
}

}  // namespace
}  // namespace vision

namespace sy::cpu {

void roi_align_out(const Tensor& input, const Tensor& rois,
                   double spatial_scale, int64_t pooled_height,
                   int64_t pooled_width, int64_t sampling_ratio, bool aligned,
                   const Tensor& out) {
  const vision::Align a{spatial_scale, pooled_height, pooled_width,
                        sampling_ratio, aligned};
  vision::visit(input,
                [&]<class T>() { vision::align<T>(a, input, rois, out); });
}

void roi_align_backward_out(const Tensor& grad, const Tensor& rois,
                            double spatial_scale, int64_t pooled_height,
                            int64_t pooled_width, int64_t, int64_t, int64_t,
                            int64_t, int64_t sampling_ratio, bool aligned,
                            const Tensor& out) {
  const vision::Align a{spatial_scale, pooled_height, pooled_width,
                        sampling_ratio, aligned};
  vision::visit(
      grad, [&]<class T>() { vision::align_backward<T>(a, grad, rois, out); });
}

}  // namespace sy::cpu
