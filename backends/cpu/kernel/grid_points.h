#pragma once

#include <cstddef>
#include <vector>

#include "backends/cpu/kernel/row_kernel.h"

// Points of a sampling grid as elements and weights, a block at a time.

namespace sy::cpu {

enum class Sample { Linear = 0, Nearest = 1, Cubic = 2 };
enum class Beyond { Zeros = 0, Border = 1, Reflection = 2 };

struct SampleRule {
  Sample mode;
  Beyond beyond;
  bool align_corners;
  // Along one dim.
  int64_t taps() const {
    return mode == Sample::Nearest ? 1 : mode == Sample::Linear ? 2 : 4;
  }
};

// The taps of up to kBlock points in an image of n dims (width first).
template <class T>
class GridBlock {
 public:
  using Index = IndexAsWide<T>;
  static constexpr int64_t kBlock = 256;

  // `slopes`: those of the weights along each dim too.
  GridBlock(const SampleRule& rule, int64_t n, const int64_t* sizes,
            bool slopes);

  // From the coordinates of `count` points, n numbers each.
  void set(const T* points, int64_t count);

  int64_t taps() const { return taps_; }
  // Tap k of point i at [k * kBlock + i]; -1 where there is none.
  const Index* at() const { return at_.data(); }
  // 1 for the nearest element.
  const T* weights() const { return weights_[n_].data(); }
  // The weights' slopes along dim d by the point's coordinate; of the nearest
  // element there are none.
  const T* slopes(int64_t d) const {
    return weights_[static_cast<size_t>(d)].data();
  }

 private:
  SampleRule rule_;
  size_t n_;
  int64_t sizes_[3], taps_;
  std::vector<Index> at_;
  std::vector<T> weights_[4];  // slopes by dim, then the weights at n_
};

}  // namespace sy::cpu
