#pragma once

#include <cstddef>
#include <vector>

#include "backends/cpu/kernel/row_kernel.h"

// Turns the points of a sampling grid into elements and weights, by blocks.

namespace sy::cpu {

enum class Sample { Linear = 0, Nearest = 1, Cubic = 2 };
enum class Beyond { Zeros = 0, Border = 1, Reflection = 2 };

struct SampleRule {
  Sample mode;
  Beyond beyond;
  bool align_corners;
  // The number of taps along one dim.
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

  // A block with `slopes` also computes the slopes of the weights along each
  // dim.
  GridBlock(const SampleRule& rule, int64_t n, const int64_t* sizes,
            bool slopes);

  // Sets the block from the coordinates of `count` points, n numbers each.
  void set(const T* points, int64_t count);

  int64_t taps() const { return taps_; }
  // Tap k of point i is at [k * kBlock + i]; -1 if there is none.
  const Index* at() const { return at_.data(); }
  // For Sample::Nearest all weights are 1.
  const T* weights() const { return weights_[n_].data(); }
  // The derivatives of the weights with respect to coordinate d of the points.
  // Sample::Nearest has none.
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
