#pragma once

#include "places.cuh"
#include "scatter.cuh"

namespace sy::cuda {

// Element i of n * columns: source `source`, at these bytes in its columns.
struct SortedPlace {
  int64_t source, to, from;
};
__device__ __forceinline__ SortedPlace sorted_place(const SortedParams& p,
                                                    int64_t i) {
  int64_t source, column;
  if (p.divides != 0) {
    const auto n = static_cast<unsigned>(i);
    const unsigned q = divide(p.divisor, n);
    source = q;
    column = n - q * p.divisor.divisor;
  } else {
    source = i / p.columns.numel;
    column = i - source * p.columns.numel;
  }
  int64_t at[2];
  places(p.columns, column, at);
  return {source, at[0], at[1]};
}

// The end of the sources that go where source `first` does.
__device__ __forceinline__ int64_t sorted_end(const SortedParams& p,
                                              int64_t first, int64_t key) {
  const auto same = [&](int64_t i) {
    return i < p.n && p.keys[i] == key;
  };
  int64_t step = 1;
  while (same(first + step)) step *= 2;
  int64_t low = first + step / 2, high = first + step;  // low is one of them
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (same(middle) ? low : high) = middle;
  }
  return high;
}

// The first of the sources that go where source `one` does.
__device__ __forceinline__ int64_t sorted_begin(const SortedParams& p,
                                                int64_t one, int64_t key) {
  const auto same = [&](int64_t i) { return i >= 0 && p.keys[i] == key; };
  int64_t step = 1;
  while (same(one - step)) step *= 2;
  int64_t low = one - step, high = one - step / 2;  // high is one of them
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (same(middle) ? high : low) = middle;
  }
  return high;
}

__device__ __forceinline__ const char* sorted_source(const SortedParams& p,
                                                     int64_t source,
                                                     int64_t column) {
  int64_t at[1];
  places(p.sources, p.order[source], at);
  return p.from + at[0] + column;
}

}  // namespace sy::cuda
