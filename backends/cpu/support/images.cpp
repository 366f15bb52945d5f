#include "backends/cpu/support/images.h"

#include "aten/engine/copy.h"
#include "aten/engine/dims.h"

namespace sy::cpu {

namespace {

MemoryFormat format_of(int64_t n, bool last) {
  if (!last) return MemoryFormat::Contiguous;
  return n == 2 ? MemoryFormat::ChannelsLast : MemoryFormat::ChannelsLast3d;
}

Images describe_images(Tensor t, int64_t n, bool last) {
  Images out;
  const int64_t dims = t.dim();
  if (dims == n + 2) out.images = t.size(0);
  out.channels = t.size(dims - n - 1);
  for (int64_t i = 0; i < n; ++i) out.size[3 - n + i] = t.size(dims - n + i);
  out.last = last;
  out.t = std::move(t);
  return out;
}

Tensor dense_room(const Tensor& like, ScalarType dtype, MemoryFormat format) {
  Dims strides;
  strides.resize(like.dim());
  if (format == MemoryFormat::Contiguous) {
    contiguous_strides(like.sizes(), strides.data());
  } else {
    dense_strides_like(like, format, strides.data());
  }
  return Tensor(
      make_tensor_strided(like.sizes(), strides, dtype, Device(kCPU)));
}

}  // namespace

bool has_channels_last(const Tensor& t, int64_t n) {
  return n >= 2 && t.dim() == n + 2 &&
         t.suggest_memory_format() == format_of(n, true);
}

Images read_images(const Tensor& t, int64_t n, ScalarType dtype, bool last) {
  const MemoryFormat format = format_of(n, last);
  if (t.dtype() == dtype && t.is_contiguous(format)) {
    return describe_images(t, n, last);
  }
  Tensor dense = dense_room(t, dtype, format);
  copy_cpu(dense, t);
  return describe_images(std::move(dense), n, last);
}

Images room_for_images(const Tensor& out, int64_t n, ScalarType dtype,
                       bool last) {
  const MemoryFormat format = format_of(n, last);
  if (out.dtype() == dtype && out.is_contiguous(format)) {
    return describe_images(out, n, last);
  }
  return describe_images(dense_room(out, dtype, format), n, last);
}

void store_images(const Images& room, const Tensor& out) {
  if (!room.t.is_same(out)) copy_cpu(out, room.t);
}

void lie_like(const Tensor& like, int64_t n, const Tensor& out, bool given) {
  const MemoryFormat format = like.suggest_memory_format();
  if (n == 1 || out.is_contiguous(format)) return;
  if (!out.is_contiguous() && !(given && out.is_non_overlapping_and_dense())) {
    return;
  }
  Dims strides;
  strides.resize(out.dim());
  dense_strides_like(out, format, strides.data());
  out.impl()->set_sizes_and_strides(out.sizes(), strides, out.storage_offset());
}

ScalarType computed_as(ScalarType dtype) {
  switch (dtype) {
    case kHalf:
    case kBFloat16:
    case kFloat: return kFloat;
    case kDouble: return kDouble;
    default: return kLong;
  }
}

}  // namespace sy::cpu
