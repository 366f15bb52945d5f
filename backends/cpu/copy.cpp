#include "backends/cpu/copy.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "aten/engine/copy.h"
#include "aten/engine/dims.h"
#include "aten/engine/iter.h"
#include "aten/engine/view.h"
#include "aten/scalar_tensor.h"
#include "backends/cpu/copy_kernels_gen.h"
#include "backends/cpu/tiles/kernels.h"

namespace sy::cpu {

namespace {

constexpr int64_t kGrain = 32768;
constexpr int64_t kChunk = 1024;  // elements converted at a time

struct Row {
  char* data;
  int64_t stride;
};

// One row, dtypes equal.
void copy_row(Row dst, Row src, int64_t size, int64_t n, bool streams) {
  if (dst.stride == size && src.stride == size) {
    const auto bytes = static_cast<size_t>(n * size);
    if (streams) {
      tiles::stream_copy(dst.data, src.data, bytes);
    } else {
      std::memmove(dst.data, src.data, bytes);
    }
  } else if (dst.stride == size) {
    tiles::load_strided(static_cast<size_t>(size), dst.data, src.data,
                        src.stride, n);
  } else if (src.stride == size) {
    tiles::store_strided(static_cast<size_t>(size), dst.data, dst.stride,
                         src.data, n);
  } else {
    alignas(64) char buffer[kChunk * kMaxElementSize];
    for (int64_t i = 0; i < n; i += kChunk) {
      const int64_t m = std::min(kChunk, n - i);
      tiles::load_strided(static_cast<size_t>(size), buffer,
                          src.data + i * src.stride, src.stride, m);
      tiles::store_strided(static_cast<size_t>(size), dst.data + i * dst.stride,
                           dst.stride, buffer, m);
    }
  }
}

void convert_row(Row dst, int64_t dst_size, Row src, int64_t src_size,
                 tiles::ConvertFn convert, int64_t n) {
  if (dst.stride == dst_size && src.stride == src_size) {
    convert(dst.data, src.data, n);
    return;
  }
  alignas(64) char from[kChunk * kMaxElementSize];
  alignas(64) char to[kChunk * kMaxElementSize];
  for (int64_t i = 0; i < n; i += kChunk) {
    const int64_t m = std::min(kChunk, n - i);
    char* d = dst.data + i * dst.stride;
    const char* s = src.data + i * src.stride;
    if (src.stride != src_size) {
      tiles::load_strided(static_cast<size_t>(src_size), from, s, src.stride,
                          m);
      s = from;
    }
    if (dst.stride == dst_size) {
      convert(d, s, m);
    } else {
      convert(to, s, m);
      tiles::store_strided(static_cast<size_t>(dst_size), d, dst.stride, to, m);
    }
  }
}

// dst[r][c] = src[c][r] in pieces that the first cache holds: by way of a
// buffer where rows of dst lie far apart, as writing them line by line costs
// more. Past the caches a wide piece at a time.
void copy_transposed(const Iter& iter, const Iter::Block& block, bool streams) {
  const int64_t size = iter.itemsize(0);
  constexpr int64_t kRows = 64, kRowBytes = 512;
  alignas(64) char near[kRows * kRowBytes];
  const bool direct = !streams && iter.stride(0, 1) <= 2 * kRowBytes;
  const int64_t row_bytes = direct    ? iter.stride(0, 1)
                            : streams ? 1024 * size
                                      : kRowBytes;
  const int64_t width = direct ? 64 : row_bytes / size;
  Storage far;
  if (streams) {
    far = StorageImpl::allocate(static_cast<size_t>(row_bytes * kRows),
                                Device(kCPU));
  }
  char* const room = streams ? static_cast<char*>(far->data()) : near;
  for (int64_t r = 0; r < block.rows; r += kRows) {
    const int64_t rows = std::min(kRows, block.rows - r);
    for (int64_t c = 0; c < block.columns; c += width) {
      const int64_t columns = std::min(width, block.columns - c);
      char* const to = block.data[0] + r * iter.stride(0, 1) + c * size;
      const char* const from = block.data[1] + c * iter.stride(1, 0) + r * size;
      tiles::transpose(static_cast<size_t>(size), direct ? to : room, row_bytes,
                       from, iter.stride(1, 0), columns, rows);
      for (int64_t i = 0; !direct && i < rows; ++i) {
        char* const row = to + i * iter.stride(0, 1);
        const auto bytes = static_cast<size_t>(columns * size);
        if (streams) {
          tiles::stream_copy(row, room + i * row_bytes, bytes);
        } else {
          std::memcpy(row, room + i * row_bytes, bytes);
        }
      }
    }
  }
  if (streams) tiles::stream_fence();
}

// Column by column, as many rows at a time as the first cache holds.
void copy_columns(const Iter& iter, const Iter::Block& block) {
  for (int64_t r = 0; r < block.rows; r += kChunk) {
    const int64_t rows = std::min(kChunk, block.rows - r);
    for (int64_t c = 0; c < block.columns; ++c) {
      const auto at = [&](int k) {
        return Row{
            block.data[k] + r * iter.stride(k, 1) + c * iter.stride(k, 0),
            iter.stride(k, 1)};
      };
      copy_row(at(0), at(1), iter.itemsize(0), rows, false);
    }
  }
}

void copy_same_dtype(const Iter& iter) {
  const int64_t size = iter.itemsize(0);
  const bool transposed = iter.ndim() > 1 && iter.stride(0, 0) == size &&
                          iter.stride(1, 1) == size &&
                          iter.stride(1, 0) > size && iter.size(0) >= 4 &&
                          iter.size(1) >= 4;
  const bool streams = iter.numel() * size >= tiles::kStreamBytes;
  // Many rows of a few elements: down the columns, which are longer.
  constexpr int64_t kShort = 8;
  const bool is_short = iter.ndim() > 1 && iter.size(0) < kShort;
  // Rows of some lines on other pages: the machine does not guess the next.
  constexpr int64_t kLine = 64, kPage = 4096, kAhead = 2;
  const int64_t row_bytes = iter.size(0) * size;
  const bool apart = iter.ndim() > 1 && iter.stride(1, 0) == size &&
                     std::abs(iter.stride(1, 1)) >= kPage &&
                     row_bytes >= 2 * kLine && row_bytes <= kPage / 2;
  // One row many times: in pieces that memmove copies by vectors. Longer ones
  // go to an instruction for strings, which is slow where the source is near.
  constexpr int64_t kPiece = 2048;
  const bool repeats = iter.ndim() > 1 && iter.stride(0, 0) == size &&
                       iter.stride(1, 0) == size && iter.stride(1, 1) == 0 &&
                       row_bytes > kPiece && row_bytes <= 4 * kPiece &&
                       !streams;
  const auto repeat = [&](const Iter::Block& b) {
    for (int64_t r = 0; r < b.rows; ++r) {
      char* const to = b.data[0] + r * iter.stride(0, 1);
      for (int64_t i = 0; i < row_bytes; i += kPiece) {
        std::memmove(to + i, b.data[1] + i,
                     static_cast<size_t>(std::min(kPiece, row_bytes - i)));
      }
    }
  };
  iter.for_each(kGrain, [&](const Iter::Block& b) {
    if (repeats && b.columns == iter.size(0)) return repeat(b);
    if (transposed) return copy_transposed(iter, b, streams);
    if (is_short && b.rows >= kShort) return copy_columns(iter, b);
    for (int64_t r = 0; r < b.rows; ++r) {
      for (int64_t i = 0; apart && r + kAhead < b.rows && i < row_bytes;
           i += kLine) {
        __builtin_prefetch(b.data[1] + (r + kAhead) * iter.stride(1, 1) + i);
      }
      copy_row({b.data[0] + r * (b.rows > 1 ? iter.stride(0, 1) : 0),
                iter.stride(0, 0)},
               {b.data[1] + r * (b.rows > 1 ? iter.stride(1, 1) : 0),
                iter.stride(1, 0)},
               size, b.columns, streams);
    }
    if (streams) tiles::stream_fence();
  });
}

void copy_converting(const Iter& iter, ScalarType to, ScalarType from) {
  const tiles::ConvertFn convert = tiles::convert_fn(from, to);
  iter.for_each(kGrain, [&](const Iter::Block& b) {
    for (int64_t r = 0; r < b.rows; ++r) {
      convert_row({b.data[0] + r * (b.rows > 1 ? iter.stride(0, 1) : 0),
                   iter.stride(0, 0)},
                  iter.itemsize(0),
                  {b.data[1] + r * (b.rows > 1 ? iter.stride(1, 1) : 0),
                   iter.stride(1, 0)},
                  iter.itemsize(1), convert, b.columns);
    }
  });
}

}  // namespace

void copy_elements(const TensorBase& dst, const TensorBase& src) {
  if (dst.numel() == 0) return;
  Iter iter(dst.sizes());
  iter.add(dst);
  iter.add(src);
  iter.finish();
  if (dst.dtype() == src.dtype()) {
    copy_same_dtype(iter);
  } else {
    copy_converting(iter, dst.dtype(), src.dtype());
  }
}

void copy_strided(size_t item, IntArrayRef sizes, void* dst,
                  IntArrayRef dst_strides, const void* src,
                  IntArrayRef src_strides) {
  Iter iter(sizes);
  iter.add(dst, item, dst_strides);
  iter.add(const_cast<void*>(src), item, src_strides);
  iter.finish();
  copy_same_dtype(iter);
}

// The kernel of aten's copies (aten/engine/copy.h).
Tensor copy_from(const Tensor& self, const Tensor& dst, bool) {
  SY_CHECK(dst.is_cpu() && self.is_cpu(), NotImplemented,
           "[_copy_from] dst: expected two CPU tensors, got {} and {}",
           describe(self), describe(dst));
  check_copied_sizes("_copy_from", "self", dst, self);
  copy_elements(dst, self);
  return dst;
}

Scalar local_scalar_dense(const Tensor& self) {
  return read_scalar("_local_scalar_dense", self);
}

}  // namespace sy::cpu
