#include "aten/engine/copy.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>

#include "aten/engine/iter.h"
#include "aten/engine/view.h"
#include "aten/ops/copy_ops.h"
#include "c10/device/backend.h"
#include "c10/memory/pinned_memory.h"

namespace sy {

namespace {

// A CPU tensor over host memory that holds the span of `t`.
Tensor over_host(const TensorBase& t, Storage storage, size_t first) {
  const auto item = t.itemsize();
  return Tensor(TensorImpl::make(
      std::move(storage), t.dtype(), Device(kCPU), DispatchKeySet::dense(kCPU),
      t.sizes(), t.strides(),
      t.storage_offset() - static_cast<int64_t>(first / item)));
}

std::atomic<int64_t> by_kernel{0}, in_pieces{0}, by_host{0};

void count(std::atomic<int64_t>& way) noexcept {
  way.fetch_add(1, std::memory_order_relaxed);
}

char* device_bytes(const TensorBase& t) {
  return static_cast<char*>(t.storage()->data());
}

// Computes elements now that would be computed later.
void need_memory(const TensorBase& t) { t.impl()->const_data("copy_"); }

Tensor download(const TensorBase& t) {
  const StorageSpan span = storage_span(t);
  const Device device = t.device();
  Storage host = StorageImpl::allocate(span.bytes, Device(kCPU));
  if (span.bytes != 0) {
    DeviceInterface& d = device_interface(device.type());
    d.synchronize(device.index());
    d.copy_to_host(host->data(), device_bytes(t) + span.first, span.bytes,
                   device.index());
  }
  return over_host(t, std::move(host), span.first);
}

void upload(const TensorBase& t, const void* host) {
  const StorageSpan span = storage_span(t);
  if (span.bytes == 0) return;
  const Device device = t.device();
  device_interface(device.type())
      .copy_from_host(device_bytes(t) + span.first, host, span.bytes,
                      device.index());
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
      std::memmove(dst.raw_data(), src.raw_data(), bytes);
      return;
    }
  }
  ops::_copy_from::redispatch(DispatchKeySet::dense(kCPU),
                              static_cast<const Tensor&>(src),
                              static_cast<const Tensor&>(dst), false);
}

namespace {

// The most pieces of a copy within a device. Each takes one call of the
// backend.
constexpr int64_t kMostPieces = 256;

// dst = src on one device, dtypes equal, if what lies together in both makes
// few pieces.
bool copy_in_pieces(const TensorBase& dst, const TensorBase& src) {
  Iter iter(dst.sizes());
  iter.add(dst);
  iter.add(src);
  iter.finish();
  const int64_t item = iter.itemsize(0);
  const bool runs = iter.stride(0, 0) == item && iter.stride(1, 0) == item;
  if (iter.numel() / (runs ? iter.size(0) : 1) > kMostPieces) return false;
  const Device device = dst.device();
  DeviceInterface& d = device_interface(device.type());
  iter.run(0, iter.numel(), [&](const Iter::Block& b) {
    const int64_t step = runs ? b.columns : 1;
    for (int64_t r = 0; r < b.rows; ++r) {
      const auto at = [&](int k, int64_t c) {
        return b.data[k] + (b.rows > 1 ? r * iter.stride(k, 1) : 0) +
               c * iter.stride(k, 0);
      };
      for (int64_t c = 0; c < b.columns; c += step) {
        d.copy_on_device(at(0, c), at(1, c), static_cast<size_t>(step * item),
                         device.index());
      }
    }
  });
  return true;
}

void copy_by_host(const TensorBase& dst, const TensorBase& src) {
  const Tensor host_src =
      src.is_cpu() ? Tensor(TensorBase(src)) : download(src);
  if (same_dense(dst, host_src)) return upload(dst, host_src.raw_data());
  // Gaps between dst's elements keep what they hold.
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

bool has_kernel(const OperatorEntry& op, DeviceType type) {
  return type > kMeta && op.has_kernel(DispatchKey::Dense, type);
}

// Copies by the kernel of the device that a tensor is on, if it has one.
bool copy_by_kernel(const TensorBase& dst, const TensorBase& src,
                    bool non_blocking) {
  const DeviceType to = dst.device().type(), from = src.device().type();
  const DeviceType kind = to == kCPU ? from : to;
  // A device need not know another kind of device.
  if (kind > kMeta && (to == from || to == kCPU || from == kCPU) &&
      ops::copy_::entry().has_own_kernel(kind)) {
    Tensor self{TensorBase(dst)};
    ops::copy_::redispatch(DispatchKeySet::dense(kind), self,
                           Tensor(TensorBase(src)), non_blocking);
  } else if (has_kernel(ops::_copy_from::entry(), to) ||
             has_kernel(ops::_copy_from::entry(), from)) {
    ops::_copy_from::call(Tensor(TensorBase(src)), Tensor(TensorBase(dst)),
                          non_blocking);
  } else {
    return false;
  }
  if (to == from) count(by_kernel);
  return true;
}

}  // namespace

void check_copied_sizes(const char* op, const char* argument,
                        const TensorBase& dst, const TensorBase& src) {
  if (SY_LIKELY(dst.sizes() == src.sizes())) return;
  const Dims sizes = broadcast_sizes(op, dst.sizes(), src.sizes());
  SY_CHECK(IntArrayRef(sizes) == dst.sizes(), Value,
           "[{}] {}: expected sizes that broadcast to {}, got {}", op, argument,
           dst.sizes(), src.sizes());
}

void copy_between(const TensorBase& dst, const TensorBase& src) {
  check_copied_sizes("copy_", "src", dst, src);
  if (dst.numel() == 0 || dst.is_meta()) return;
  SY_CHECK(!src.is_meta(), NotImplemented,
           "[copy_] src: expected a tensor with data, got {}", describe(src));
  need_memory(dst);
  need_memory(src);
  if (dst.is_cpu() && src.is_cpu()) return copy_cpu(dst, src);
  if (dst.is_cpu()) return copy_cpu(dst, download(src));

  const Device device = dst.device();
  if (src.device() != device) {
    if (src.device().type() == device.type() && same_dense(dst, src) &&
        device_interface(device.type())
            .copy_across(dst.raw_data(), device.index(), src.raw_data(),
                         src.device().index(), dst.nbytes())) {
      return;
    }
    return copy_by_host(dst, src);
  }
  if (same_dense(dst, src)) {
    device_interface(device.type())
        .copy_on_device(dst.raw_data(), src.raw_data(), dst.nbytes(),
                        device.index());
  } else if (dst.dtype() == src.dtype() && copy_in_pieces(dst, src)) {
    count(in_pieces);
  } else {
    count(by_host);
    copy_by_host(dst, src);
  }
}

void copy_tensor(const TensorBase& dst, const TensorBase& src,
                 bool non_blocking) {
  if (SY_UNLIKELY(thread_state.capture != nullptr)) {
    check_copied_sizes("copy_", "src", dst, src);
    ops::_copy_from::call(Tensor(TensorBase(src)), Tensor(TensorBase(dst)),
                          non_blocking);
    return;
  }
  if (SY_UNLIKELY(!dst.is_cpu() || !src.is_cpu())) {
    check_copied_sizes("copy_", "src", dst, src);
    if (copy_by_kernel(dst, src, non_blocking)) return;
    if (non_blocking && begin_copy(dst, src)) return;
  }
  copy_between(dst, src);
}

CopyCounts copy_counts() noexcept {
  return {by_kernel.load(std::memory_order_relaxed),
          in_pieces.load(std::memory_order_relaxed),
          by_host.load(std::memory_order_relaxed)};
}

bool begin_copy(const TensorBase& dst, const TensorBase& src) {
  const bool up = src.is_cpu();
  const Device device = up ? dst.device() : src.device();
  const TensorBase& host = up ? src : dst;
  if (!host.is_cpu() || device.type() <= kMeta || dst.numel() == 0 ||
      !same_dense(dst, src) || !host.storage() ||
      !is_pinned(*host.storage(), device)) {
    return false;
  }
  need_memory(dst);
  need_memory(src);
  return device_interface(device.type())
      .begin_copy(dst.storage(), storage_span(dst).first, src.storage(),
                  storage_span(src).first, dst.nbytes(), device.index());
}

void dense_strides_like(const TensorBase& t, MemoryFormat format,
                        int64_t* strides) {
  const int64_t n = t.dim();
  if (format == MemoryFormat::ChannelsLast ||
      format == MemoryFormat::ChannelsLast3d) {
    const int64_t expected = format == MemoryFormat::ChannelsLast ? 4 : 5;
    SY_CHECK(n == expected, Value,
             "memory_format: expected {} dims for {}, got {}", expected, format,
             n);
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
  t.storage()->const_data("contiguous_cpu");
  if (t.is_contiguous() && t.dtype() == dtype) return t;
  Tensor result(make_tensor(t.sizes(), dtype, Device(kCPU)));
  copy_cpu(result, t);
  return result;
}

}  // namespace sy
