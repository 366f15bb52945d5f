#include "aten/dlpack.h"

#include <memory>

#include "aten/engine/dims.h"
#include "aten/from_blob.h"

namespace sy {

namespace {

using dlpack::DataType;
using dlpack::Managed;
using dlpack::ManagedVersioned;
using dlpack::TensorView;

DataType type_of(ScalarType t) {
  const auto bits = static_cast<uint8_t>(8 * element_size(t));
  const uint8_t code = t == sy::kBool        ? dlpack::kBool
                       : t == kBFloat16      ? dlpack::kBfloat
                       : is_floating_type(t) ? dlpack::kFloat
                       : t == kByte          ? dlpack::kUInt
                                             : dlpack::kInt;
  return {code, bits, 1};
}

ScalarType dtype_of(DataType t) {
  for (int i = 0; i < kNumScalarTypes; ++i) {
    const auto dtype = static_cast<ScalarType>(i);
    const DataType known = type_of(dtype);
    if (t.code == known.code && t.bits == known.bits && t.lanes == 1) {
      return dtype;
    }
  }
  fail(ErrorKind::Type,
       "[from_dlpack] dtype: expected one of Switchyard's, got code {} of {} "
       "bits and {} lanes",
       int{t.code}, int{t.bits}, int{t.lanes});
}

// A structure for others, with the tensor that it shows.
template <class M>
struct Export {
  M managed;
  Tensor tensor;
  Dims sizes, strides;

  static void release(M* m) { delete static_cast<Export*>(m->context); }
};

template <class M>
M* export_tensor(const char* op, const Tensor& t) {
  SY_CHECK(t.defined() && t.is_cpu(), Value,
           "[{}] t: expected a tensor on cpu, got {}", op, describe(t));
  auto e = std::make_unique<Export<M>>();
  e->tensor = t.detach();
  e->sizes = Dims(t.sizes());
  e->strides = Dims(t.strides());
  e->managed.context = e.get();
  e->managed.deleter = &Export<M>::release;
  e->managed.tensor = {t.impl()->mutable_data(op),
                       {dlpack::kDeviceCpu, 0},
                       static_cast<int32_t>(t.dim()),
                       type_of(t.scalar_type()),
                       e->sizes.data(),
                       e->strides.data(),
                       0};
  return &e.release()->managed;
}

template <class M>
void release(void* managed) {
  auto* const m = static_cast<M*>(managed);
  if (m->deleter != nullptr) m->deleter(m);
}

template <class M>
Tensor import_tensor(M* managed) {
  const TensorView& v = managed->tensor;
  SY_CHECK(v.device.type == dlpack::kDeviceCpu, Value,
           "[from_dlpack] device: expected cpu (1), got {}", v.device.type);
  const ScalarType dtype = dtype_of(v.dtype);
  SY_CHECK(v.ndim >= 0 && v.ndim <= TensorImpl::kMaxDims, Value,
           "[from_dlpack] ndim: expected 0 to {}, got {}", TensorImpl::kMaxDims,
           v.ndim);
  SY_CHECK(v.shape != nullptr || v.ndim == 0, Value,
           "[from_dlpack] shape: expected {} sizes, got a null pointer",
           v.ndim);
  const IntArrayRef sizes(v.shape, static_cast<size_t>(v.ndim));
  int64_t numel = 1;
  for (const int64_t s : sizes) {
    SY_CHECK(s >= 0, Value,
             "[from_dlpack] shape: expected sizes of at least 0, got {}",
             sizes);
    numel = s == 0 ? 0 : numel;
  }
  SY_CHECK(
      v.data != nullptr || numel == 0, Value,
      "[from_dlpack] data: expected memory for sizes {}, got a null pointer",
      sizes);
  const uintptr_t start = reinterpret_cast<uintptr_t>(v.data) + v.byte_offset;
  SY_CHECK(start % element_size(dtype) == 0, Value,
           "[from_dlpack] data: expected an address that {} can be read at, "
           "got an offset of {} bytes",
           dtype, v.byte_offset);
  Dims strides(sizes);
  if (v.strides == nullptr) {
    contiguous_strides(sizes, strides.data());
  } else {
    strides = Dims(IntArrayRef(v.strides, static_cast<size_t>(v.ndim)));
    for (int d = 0; d < v.ndim; ++d) {
      // Such a stride is never taken.
      if (sizes[static_cast<size_t>(d)] <= 1 || numel == 0) strides[d] = 1;
    }
  }
  void* const data = numel == 0 ? nullptr : reinterpret_cast<void*>(start);
  const IntArrayRef stride_list(strides);
  return detail::from_blob(data, sizes, &stride_list, &release<M>, managed,
                           TensorOptions().dtype(dtype));
}

}  // namespace

Managed* to_dlpack(const Tensor& t) {
  return export_tensor<Managed>("to_dlpack", t);
}

ManagedVersioned* to_dlpack_versioned(const Tensor& t) {
  auto* const m = export_tensor<ManagedVersioned>("to_dlpack_versioned", t);
  m->version = dlpack::kVersion;
  m->flags = 0;
  return m;
}

Tensor from_dlpack(Managed* managed) {
  SY_CHECK(managed != nullptr, Value,
           "[from_dlpack] managed: expected a tensor, got a null pointer");
  return import_tensor(managed);
}

Tensor from_dlpack(ManagedVersioned* managed) {
  SY_CHECK(managed != nullptr, Value,
           "[from_dlpack] managed: expected a tensor, got a null pointer");
  SY_CHECK(managed->version.major == dlpack::kVersion.major, Value,
           "[from_dlpack] version: expected {}.x, got {}.{}",
           dlpack::kVersion.major, managed->version.major,
           managed->version.minor);
  const Tensor t = import_tensor(managed);
  return (managed->flags & dlpack::kReadOnly) != 0 ? t.clone() : t;
}

}  // namespace sy
