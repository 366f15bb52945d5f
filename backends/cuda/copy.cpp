#include "backends/cuda/copy.h"

#include <algorithm>
#include <cstring>

#include "aten/engine/copy.h"
#include "aten/engine/guard.h"
#include "aten/engine/view.h"
#include "aten/scalar_tensor.h"
#include "backends/cuda/backend_gen.h"
#include "backends/cuda/device/copy.cuh"
#include "backends/cuda/engine/pointwise.h"
#include "backends/cuda/runtime/context.h"
#include "backends/cuda/runtime/copy.h"
#include "backends/cuda/support/walk.h"
#include "c10/device/backend.h"
#include "c10/device/device_guard.h"

namespace sy::cuda {

namespace {

// Whether the two lie as one, element by element.
bool same_dense(const TensorBase& a, const TensorBase& b) {
  return a.dtype() == b.dtype() && a.sizes() == b.sizes() &&
         ((a.is_contiguous() && b.is_contiguous()) ||
          (a.strides() == b.strides() && a.is_non_overlapping_and_dense()));
}

// Whether the elements of `to` lie one after the other along dim 0, and those
// of `from` along dim 1: such a copy goes by way of shared memory.
bool is_transposed(const Walk<2>& w, int64_t item) {
  constexpr int64_t kLeast = 16;
  return w.dims > 1 && w.strides[0][0] == item && w.strides[1][0] != item &&
         w.strides[1][1] == item && w.sizes[0] >= kLeast &&
         w.sizes[1] >= kLeast;
}

// `in_order`: elements of `to` may share memory, and what is written last
// stays.
void copy_walk(Walk<2>& w, char* const* data, int64_t item, int device,
               const TensorBase* to, const TensorBase* from,
               bool in_order = false) {
  const bool transposed = !in_order && is_transposed(w, item);
  if (!transposed && !in_order) item = widen(w, 2, data, 0, item);
  finish_walk(w);
  CopyParams p{{}, w, data[0], data[1]};
  if (transposed) {
    const int64_t tiles = (w.sizes[0] + 31) / 32 * ((w.sizes[1] + 31) / 32) *
                          (w.numel / (w.sizes[0] * w.sizes[1]));
    launch(device, item_kernel(device, "copy.cu", "transpose_items", item),
           {{static_cast<unsigned>(std::min<int64_t>(tiles, 1 << 30))}, {256}},
           p, {to, from});
    return;
  }
  launch(device, item_kernel(device, "copy.cu", "copy_items", item),
         in_order ? LaunchShape{{1}, {1}} : shape_for_items(device, w.numel), p,
         {to, from});
}

// `t` without the repetitions that it was expanded by.
Tensor unexpanded(const Tensor& t) {
  Dims sizes(t.sizes());
  for (int64_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] > 1 && t.strides()[static_cast<size_t>(d)] == 0) sizes[d] = 1;
  }
  return IntArrayRef(sizes) == t.sizes()
             ? t
             : alias_without_view(t, sizes, t.strides(), t.storage_offset());
}

Tensor strided_on(Device device, const TensorBase& like, ScalarType dtype) {
  return Tensor(
      make_tensor_strided(like.sizes(), like.strides(), dtype, device));
}

void upload(const Tensor& src, const Tensor& dst, bool non_blocking) {
  if (non_blocking && begin_copy(dst, src)) return;
  if (same_dense(dst, src)) {
    return upload_bytes(dst, src.raw_data(), dst.nbytes());
  }
  // The device converts and spreads elements, sent as they lie on the host.
  const Tensor few = unexpanded(src);
  const Tensor host =
      few.is_non_overlapping_and_dense() ? few : contiguous_cpu(few);
  const Tensor there = strided_on(dst.device(), host, host.dtype());
  if (!non_blocking || !host.is_same(few) || !begin_copy(there, host)) {
    upload_bytes(there, host.raw_data(), host.nbytes());
  }
  copy_strided(dst, expand_for_kernel("copy_", there, dst.sizes()));
}

// The dtype in which elements travel: the smaller one.
ScalarType travels_as(const TensorBase& src, const TensorBase& dst) {
  return dst.itemsize() <= src.itemsize() ? dst.dtype() : src.dtype();
}

// The elements of src, laid as `like` is, if that is dense, in another dtype.
Tensor laid_like(const Tensor& src, const TensorBase& like, ScalarType dtype) {
  const bool dense =
      src.sizes() == like.sizes() && like.is_non_overlapping_and_dense();
  const Tensor t = dense ? strided_on(src.device(), like, dtype)
                         : empty_on(src.device(), src.sizes(), dtype);
  if (same_dense(t, src)) return src;
  copy_strided(t, src);
  return t;
}

void download(const Tensor& src, const Tensor& dst, bool non_blocking) {
  const Tensor here = laid_like(unexpanded(src), dst, travels_as(src, dst));
  if (same_dense(dst, here)) {
    if (non_blocking && begin_copy(dst, here)) return;
    device_interface(kCUDA).copy_to_host(dst.raw_data(), here.raw_data(),
                                         here.nbytes(), src.device().index());
    return;
  }
  const Tensor host = strided_on(Device(kCPU), here, here.dtype());
  device_interface(kCUDA).copy_to_host(host.raw_data(), here.raw_data(),
                                       here.nbytes(), src.device().index());
  copy_cpu(dst, host);
}

void copy_to_other(const Tensor& src, const Tensor& dst) {
  Tensor here;
  {
    const DeviceGuard guard(src.device());
    here = laid_like(unexpanded(src), dst, travels_as(src, dst));
  }
  const DeviceGuard guard(dst.device());
  if (same_dense(dst, here)) return copy_between(dst, here);
  const Tensor there = strided_on(dst.device(), here, here.dtype());
  copy_between(there, here);
  copy_strided(dst, expand_for_kernel("copy_", there, dst.sizes()));
}

}  // namespace

void copy_strided(const TensorBase& dst, const TensorBase& src) {
  if (dst.numel() == 0) return;
  if (same_dense(dst, src)) {
    return copy_bytes(dst, dst.raw_data(), src, src.raw_data(), dst.nbytes());
  }
  const bool in_order = internal_overlap(dst) != Overlap::No;
  if (dst.dtype() != src.dtype()) {
    if (!in_order) return copy_elements(src, dst);
    const Tensor converted = empty_on(dst.device(), dst.sizes(), dst.dtype());
    copy_elements(src, converted);
    return copy_strided(dst, converted);
  }
  Walker iter(dst.sizes());
  iter.add(dst);
  iter.add(src);
  iter.finish();
  each_walk<2>(iter, [&](Walk<2>& w, char* const* data) {
    copy_walk(w, data, static_cast<int64_t>(dst.itemsize()),
              dst.device().index(), &dst, &src, in_order);
  });
}

void copy_part(IntArrayRef sizes, const Part& to, const Part& from) {
  const size_t item = to.owner->itemsize();
  Walker iter(sizes);
  iter.add(to.data, item, to.strides);
  iter.add(from.data, item, from.strides);
  iter.finish();
  each_walk<2>(iter, [&](Walk<2>& w, char* const* data) {
    copy_walk(w, data, static_cast<int64_t>(item), to.owner->device().index(),
              to.owner, from.owner);
  });
}

Tensor empty_on(Device device, IntArrayRef sizes, ScalarType dtype) {
  return Tensor(make_tensor(sizes, dtype, device));
}

Tensor uploaded(const Tensor& t, Device device) {
  const Tensor r = t.is_non_overlapping_and_dense()
                       ? strided_on(device, t, t.dtype())
                       : empty_on(device, t.sizes(), t.dtype());
  t.impl()->const_data("copy_");  // computes deferred elements now
  if (r.numel() != 0) upload(t, r, false);
  return r;
}

Tensor copy_of(const Tensor& t) {
  if (t.is_cpu()) return uploaded(t, with_index(Device(kCUDA)));
  Tensor r = empty_on(t.device(), t.sizes(), t.dtype());
  copy_strided(r, t);
  return r;
}

Tensor contiguous_on_device(const Tensor& t) {
  return t.is_contiguous() ? t : copy_of(t);
}

Tensor on_device(const Tensor& t, Device device) {
  if (device.is_cpu() || t.device() == device) return t;
  SY_CHECK(t.is_cpu(), Value,
           "[cuda] expected all tensors on one device, got {} and {}",
           t.device(), device);
  return uploaded(t, device);
}

std::string_view item_text(int64_t item) noexcept {
  switch (item) {
    case 1: return "1";
    case 2: return "2";
    case 4: return "4";
    case 8: return "8";
    default: return "16";
  }
}

const Function& item_kernel(int device, std::string_view source,
                            std::string_view name, int64_t item) {
  const Define sizes[] = {{"SY_ITEM", item_text(item)}};
  return kernel(device, source, name, sizes);
}

std::string_view device_type(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::Byte: return "uint8_t";
    case ScalarType::Char: return "int8_t";
    case ScalarType::Short: return "int16_t";
    case ScalarType::Int: return "int32_t";
    case ScalarType::Long: return "int64_t";
    case ScalarType::Half: return "half16";
    case ScalarType::BFloat16: return "bfloat16";
    case ScalarType::Float: return "float";
    case ScalarType::Double: return "double";
    case ScalarType::Bool: return "bool_byte";
    default: fail(ErrorKind::Type, "[cuda] dtype: expected a dtype of CUDA");
  }
}

LaunchShape shape_for_items(int device, int64_t n) {
  // A thread takes several once there are enough to go round.
  constexpr unsigned kThreads = 256, kEach = 4;
  const int64_t full = int64_t{limits(device).multiprocessors} * 2048;
  return shape_for(n, kThreads, n >= kEach * full ? kEach : 1);
}

Tensor _copy_from(const Tensor& self, const Tensor& dst, bool non_blocking) {
  check_copied_sizes("_copy_from", "self", dst, self);
  const auto known = [](const Tensor& t) { return t.is_cpu() || t.is_cuda(); };
  if (!known(self) || !known(dst)) {
    copy_between(dst, self);
    return dst;
  }
  if (dst.numel() == 0) return dst;
  // const_data() computes deferred elements now.
  self.impl()->const_data("copy_");
  dst.impl()->const_data("copy_");
  const Tensor src = self.sizes() == dst.sizes()
                         ? self
                         : expand_for_kernel("_copy_from", self, dst.sizes());
  if (src.is_cpu()) {
    upload(src, dst, non_blocking);
  } else if (dst.is_cpu()) {
    download(src, dst, non_blocking);
  } else if (src.device() != dst.device()) {
    copy_to_other(src, dst);
  } else {
    copy_strided(dst, src);
  }
  return dst;
}

Scalar _local_scalar_dense(const Tensor& self) {
  SY_CHECK(self.numel() == 1, Value,
           "[_local_scalar_dense] self: expected a tensor of one element, got "
           "{}",
           self.sizes());
  const Tensor host(make_tensor({}, self.dtype(), Device(kCPU)));
  device_interface(kCUDA).copy_to_host(host.raw_data(), self.raw_data(),
                                       self.itemsize(), self.device().index());
  return read_scalar("_local_scalar_dense", host);
}

}  // namespace sy::cuda
