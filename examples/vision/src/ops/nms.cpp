#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "rois.h"

namespace vision {
namespace {

// The places that are kept, best first.
template <class T>
std::vector<int64_t> kept(const Tensor& dets, const Tensor& scores_of,
                          double threshold) {
  const int64_t n = dets.size(0);
  const Elements<T> boxes(dets), scores(scores_of);
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  // NaN comes first, as PyTorch sorts.
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return scores[a] > scores[b] ||
           (std::isnan(scores[a]) && !std::isnan(scores[b]));
  });
  const auto area = [](const T* b) { return (b[2] - b[0]) * (b[3] - b[1]); };
  std::vector<char> covered(static_cast<size_t>(n));
  std::vector<int64_t> out;
  for (size_t i = 0; i < order.size(); ++i) {
    if (covered[i]) continue;
    out.push_back(order[i]);
    const T* const a = boxes.data() + 4 * order[i];
    for (size_t j = i + 1; j < order.size(); ++j) {
      if (covered[j]) continue;
      const T* const b = boxes.data() + 4 * order[j];
      const T w = std::max(T(0), std::min(a[2], b[2]) - std::max(a[0], b[0]));
      const T h = std::max(T(0), std::min(a[3], b[3]) - std::max(a[1], b[1]));
      const T both = w * h;
      covered[j] = both / (area(a) + area(b) - both) > threshold;
    }
  }
  return out;
}

}  // namespace
}  // namespace vision

namespace sy::cpu {

Tensor nms(const Tensor& dets, const Tensor& scores, double iou_threshold) {
  std::vector<int64_t> out;
  vision::visit(dets, [&]<class T>() {
    out = vision::kept<T>(dets, scores, iou_threshold);
  });
  const Tensor places =
      sy::empty({static_cast<int64_t>(out.size())}, TensorOptions(kLong));
  std::copy(out.begin(), out.end(), static_cast<int64_t*>(places.data_ptr()));
  return places;
}

}  // namespace sy::cpu
