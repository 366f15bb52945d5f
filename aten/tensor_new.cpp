#include "aten/tensor_new.h"

#include "aten/engine/copy.h"
#include "aten/engine/dims.h"
#include "aten/from_blob.h"

namespace sy::detail {

namespace {

// The dtype that elements of one C++ type make.
ScalarType made_of(ScalarType t) {
  if (t == kInt) return kLong;
  return t == kFloat || t == kDouble ? default_dtype() : t;
}

// Sizes by the first of every list; the dtype of all numbers.
struct Shape {
  Dims sizes;
  ScalarType dtype = ScalarType::Undefined;

  void measure(const TensorData& data) {
    if (data.kind() == TensorData::kNumber) return;
    sizes.push_back(static_cast<int64_t>(data.size()));
    if (data.kind() == TensorData::kList && data.size() > 0) measure(data[0]);
  }

  void check(const TensorData& data, int64_t depth) {
    const bool number = data.kind() == TensorData::kNumber;
    const bool fits =
        number ? depth == sizes.size()
               : depth < sizes.size() &&
                     static_cast<int64_t>(data.size()) == sizes[depth];
    SY_CHECK(
        fits, Value,
        "[tensor] data: expected lists of equal sizes, {}, got {} at depth {}",
        IntArrayRef(sizes),
        number ? std::string("a number") : str("a list of {}", data.size()),
        depth);
    if (data.kind() == TensorData::kList) {
      for (size_t i = 0; i < data.size(); ++i) check(data[i], depth + 1);
      return;
    }
    SY_CHECK(number || depth + 1 == sizes.size(), Value,
             "[tensor] data: expected lists of equal depth");
    const ScalarType t = made_of(data.dtype());
    SY_CHECK(dtype == ScalarType::Undefined || dtype == t, Type,
             "[tensor] data: expected elements of one type, got {} and {}",
             dtype, t);
    dtype = t;
  }
};

template <class T>
T* write(const TensorData& data, T* to) {
  switch (data.kind()) {
    case TensorData::kNumber: *to = data.number().to<T>(); return to + 1;
    case TensorData::kList:
      for (size_t i = 0; i < data.size(); ++i) to = write(data[i], to);
      return to;
    default: break;
  }
  const int64_t sizes[] = {static_cast<int64_t>(data.size())};
  if (sizes[0] == 0) return to;
  copy_cpu(sy::from_blob(to, sizes, CppTypeToScalarType<T>::value),
           sy::from_blob(const_cast<void*>(data.array()), sizes, data.dtype()));
  return to + sizes[0];
}

}  // namespace

Tensor tensor(const TensorData& data, const TensorOptions& options) {
  Shape shape;
  shape.measure(data);
  shape.check(data, 0);
  if (shape.dtype == ScalarType::Undefined) shape.dtype = default_dtype();
  const ScalarType dtype = options.dtype_opt().value_or(shape.dtype);
  Tensor out(make_tensor(shape.sizes, dtype, Device(kCPU)));
  switch (dtype) {
#define SY_WRITE(T, Enum) \
  case ScalarType::Enum: write<T>(data, static_cast<T*>(out.raw_data())); break;
    SY_FORALL_SCALAR_TYPES(SY_WRITE)
#undef SY_WRITE
    default: break;
  }
  if (options.device() != Device(kCPU)) {
    out = to_device(out, options.device());
  }
  if (options.pinned_memory_opt().value_or(false)) {
    out = out.to(TensorOptions().pinned_memory(true));
  }
  if (options.requires_grad()) out.requires_grad_();
  return out;
}

}  // namespace sy::detail
