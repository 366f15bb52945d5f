#include "aten/engine/copy.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "aten/engine/iter.h"
#include "aten/engine/view.h"
#include "backends/cpu/program/kernels.h"
#include "c10/backend.h"
#include "c10/pinned_memory.h"

namespace sy {

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
    alignas(64) char buffer[kChunk * 8];
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
  alignas(64) char from[kChunk * 8], to[kChunk * 8];
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
  iter.for_each(kGrain, [&](const Iter::Block& b) {
    if (transposed) return copy_transposed(iter, b, streams);
    if (is_short && b.rows >= kShort) return copy_columns(iter, b);
    for (int64_t r = 0; r < b.rows; ++r) {
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

// A CPU tensor over host memory that holds the span of `t`.
Tensor over_host(const TensorBase& t, Storage storage, size_t first) {
  const auto item = t.itemsize();
  return Tensor(TensorImpl::make(
      std::move(storage), t.dtype(), Device(kCPU), DispatchKeySet::dense(kCPU),
      t.sizes(), t.strides(),
      t.storage_offset() - static_cast<int64_t>(first / item)));
}

char* device_bytes(const TensorBase& t) {
  return static_cast<char*>(t.storage()->data());
}

Tensor download(const TensorBase& t) {
  const StorageSpan span = storage_span(t);
  const Device device = t.device();
  Storage host = StorageImpl::allocate(span.bytes, Device(kCPU));
  if (span.bytes != 0) {
    DeviceInterface& d = device_interface(device.type);
    d.synchronize(device.index);
    d.copy_to_host(host->data(), device_bytes(t) + span.first, span.bytes,
                   device.index);
  }
  return over_host(t, std::move(host), span.first);
}

void upload(const TensorBase& t, const void* host) {
  const StorageSpan span = storage_span(t);
  if (span.bytes == 0) return;
  const Device device = t.device();
  device_interface(device.type)
      .copy_from_host(device_bytes(t) + span.first, host, span.bytes,
                      device.index);
}

bool same_dense(const TensorBase& a, const TensorBase& b) {
  return a.dtype() == b.dtype() && a.sizes() == b.sizes() &&
         ((a.is_contiguous() && b.is_contiguous()) ||
          (a.strides() == b.strides() && a.is_non_overlapping_and_dense()));
}

}  // namespace

StorageSpan storage_span(const TensorBase& t) {
  if (t.numel() == 0) return {};
  int64_t last = 0;
  for (int64_t d = 0; d < t.dim(); ++d) {
    const auto i = static_cast<size_t>(d);
    last += (t.sizes()[i] - 1) * t.strides()[i];
  }
  const size_t item = t.itemsize();
  return {static_cast<size_t>(t.storage_offset()) * item,
          static_cast<size_t>(last + 1) * item};
}

void copy_cpu(const TensorBase& dst, const TensorBase& src) {
  if (dst.numel() == 0) return;
  if (dst.is_contiguous() && src.is_contiguous() &&
      dst.dtype() == src.dtype() && dst.numel() == src.numel()) {
    const size_t bytes = dst.nbytes();
    if (bytes <= 65536) {
      std::memmove(dst.data_ptr(), src.data_ptr(), bytes);
      return;
    }
  }
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

void copy_strided(ScalarType dtype, IntArrayRef sizes, void* dst,
                  IntArrayRef dst_strides, const void* src,
                  IntArrayRef src_strides) {
  const size_t item = element_size(dtype);
  Iter iter(sizes);
  iter.add(dst, item, dst_strides);
  iter.add(const_cast<void*>(src), item, src_strides);
  iter.finish();
  copy_same_dtype(iter);
}

void copy_between(const TensorBase& dst, const TensorBase& src) {
  const Dims sizes = broadcast_sizes("copy_", dst.sizes(), src.sizes());
  SY_CHECK(IntArrayRef(sizes) == dst.sizes(), Value,
           "[copy_] src: expected sizes that broadcast to ", dst.sizes(),
           ", got ", src.sizes());
  if (dst.numel() == 0 || dst.is_meta()) return;
  SY_CHECK(!src.is_meta(), NotImplemented,
           "[copy_] src: expected a tensor with data, ", "got ", describe(src));
  if (dst.is_cpu() && src.is_cpu()) return copy_cpu(dst, src);
  if (dst.is_cpu()) return copy_cpu(dst, download(src));

  const Device device = dst.device();
  if (src.device() == device && same_dense(dst, src)) {
    device_interface(device.type)
        .copy_on_device(dst.data_ptr(), src.data_ptr(), dst.nbytes(),
                        device.index);
    return;
  }
  if (src.device().type == device.type && src.device() != device &&
      same_dense(dst, src) &&
      device_interface(device.type)
          .copy_across(dst.data_ptr(), device.index, src.data_ptr(),
                       src.device().index, dst.nbytes())) {
    return;
  }
  const Tensor host_src =
      src.is_cpu() ? Tensor(TensorBase(src)) : download(src);
  if (same_dense(dst, host_src)) return upload(dst, host_src.data_ptr());
  // Where dst's elements leave gaps, those keep what they hold.
  const Tensor host =
      dst.is_non_overlapping_and_dense()
          ? over_host(
                dst,
                StorageImpl::allocate(storage_span(dst).bytes, Device(kCPU)),
                storage_span(dst).first)
          : download(dst);
  copy_cpu(host, host_src);
  upload(dst, host.storage()->data());
}

bool begin_copy(const TensorBase& dst, const TensorBase& src) {
  const bool up = src.is_cpu();
  const Device device = up ? dst.device() : src.device();
  const TensorBase& host = up ? src : dst;
  if (!host.is_cpu() || device.type <= kMeta || dst.numel() == 0 ||
      !same_dense(dst, src) || !host.storage() ||
      !is_pinned(*host.storage(), device)) {
    return false;
  }
  return device_interface(device.type)
      .begin_copy(dst.storage(), storage_span(dst).first, src.storage(),
                  storage_span(src).first, dst.nbytes(), device.index);
}

void dense_strides_like(const TensorBase& t, MemoryFormat format,
                        int64_t* strides) {
  const int64_t n = t.dim();
  if (format == MemoryFormat::ChannelsLast ||
      format == MemoryFormat::ChannelsLast3d) {
    const int64_t expected = format == MemoryFormat::ChannelsLast ? 4 : 5;
    SY_CHECK(n == expected, Value, "memory_format: expected ", expected,
             " dims for ", format, ", got ", n);
    int64_t stride = 1;
    const auto set = [&](int64_t d) {
      strides[d] = stride;
      stride *= std::max<int64_t>(t.sizes()[static_cast<size_t>(d)], 1);
    };
    set(1);
    for (int64_t d = n - 1; d >= 2; --d) set(d);
    set(0);
    return;
  }
  if (format == MemoryFormat::Contiguous || t.is_contiguous()) {
    contiguous_strides(t.sizes(), strides);
    return;
  }
  if (t.is_non_overlapping_and_dense()) {
    std::copy(t.strides().begin(), t.strides().end(), strides);
    return;
  }
  const int64_t* list = t.strides().data();
  uint8_t order[TensorImpl::kMaxDims];
  sort_dims(&list, 1, t.sizes().data(), static_cast<int>(n), order);
  int64_t stride = 1;
  for (int64_t i = 0; i < n; ++i) {
    strides[order[i]] = stride;
    stride *= std::max<int64_t>(t.sizes()[order[i]], 1);
  }
}

Tensor to_device(const Tensor& t, Device device) {
  int64_t strides[TensorImpl::kMaxDims];
  dense_strides_like(t, MemoryFormat::Preserve, strides);
  Tensor result(make_tensor_strided(
      t.sizes(), {strides, static_cast<size_t>(t.dim())}, t.dtype(), device));
  copy_between(result, t);
  return result;
}

Tensor contiguous_cpu(const Tensor& t) { return contiguous_cpu(t, t.dtype()); }

Tensor contiguous_cpu(const Tensor& t, ScalarType dtype) {
  if (t.is_contiguous() && t.dtype() == dtype) return t;
  Tensor result(make_tensor(t.sizes(), dtype, Device(kCPU)));
  copy_cpu(result, t);
  return result;
}

}  // namespace sy
