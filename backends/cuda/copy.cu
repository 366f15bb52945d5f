#include "places.cuh"

#include "copy.cuh"

// Elements of one size, between any two layouts.

SY_KERNEL(copy_items, CopyParams, 256) {
  const int64_t stride = index_stride();
  for (int64_t i = first_index(); i < p.walk.numel; i += kAhead * stride) {
    Item items[kAhead];
    int64_t to[kAhead];
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      if (i + k * stride >= p.walk.numel) break;
      int64_t at[2];
      places(p.walk, i + k * stride, at);
      to[k] = at[0];
      items[k] = *reinterpret_cast<const Item*>(p.from + at[1]);
    }
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      if (i + k * stride >= p.walk.numel) break;
      *reinterpret_cast<Item*>(p.to + to[k]) = items[k];
    }
  }
}

// A tile by way of shared memory: both sides are read and written along the dim
// that lies closest. Dim 0 of the walk is `to`'s, dim 1 `from`'s; the block's
// number says which tile of which matrix.
SY_KERNEL(transpose_items, CopyParams, 256) {
  constexpr int kTile = 32;
  __shared__ Item tile[kTile][kTile + 1];
  const Walk<2>& w = p.walk;
  const int64_t columns = w.sizes[0], rows = w.sizes[1];
  const int64_t across = (columns + kTile - 1) / kTile;
  const int64_t down = (rows + kTile - 1) / kTile;
  const int64_t matrices = w.numel / (columns * rows);
  const int x = static_cast<int>(threadIdx.x) % kTile;
  const int y = static_cast<int>(threadIdx.x) / kTile;
  const int step = static_cast<int>(blockDim.x) / kTile;
  for (int64_t b = blockIdx.x; b < across * down * matrices; b += gridDim.x) {
    const int64_t c0 = b % across * kTile, r0 = b / across % down * kTile;
    int64_t rest = b / (across * down);
    int64_t to = 0, from = 0;
    for (int d = 2; d < w.dims; ++d) {
      const int64_t at = rest % w.sizes[d];
      to += at * w.strides[0][d];
      from += at * w.strides[1][d];
      rest /= w.sizes[d];
    }
    // Rows of the tile are columns of `to`.
    for (int i = y; i < kTile; i += step) {
      if (c0 + i < columns && r0 + x < rows) {
        tile[i][x] = *reinterpret_cast<const Item*>(p.from + from +
                                                    (c0 + i) * w.strides[1][0] +
                                                    (r0 + x) * w.strides[1][1]);
      }
    }
    __syncthreads();
    for (int i = y; i < kTile; i += step) {
      if (r0 + i < rows && c0 + x < columns) {
        *reinterpret_cast<Item*>(p.to + to + (c0 + x) * w.strides[0][0] +
                                 (r0 + i) * w.strides[0][1]) = tile[x][i];
      }
    }
    __syncthreads();
  }
}
