#include "c10/tensor/tensor_base.h"

namespace sy {

int64_t TensorBase::size(int64_t d) const {
  const int64_t n = dim();
  SY_CHECK(d >= -n && d < n, Index,
           "[size] dim: expected a value in [{}, {}], got {}", -n, n - 1, d);
  return sizes()[d < 0 ? d + n : d];
}

int64_t TensorBase::stride(int64_t d) const {
  const int64_t n = dim();
  SY_CHECK(d >= -n && d < n, Index,
           "[stride] dim: expected a value in [{}, {}], got {}", -n, n - 1, d);
  return strides()[d < 0 ? d + n : d];
}

MemoryFormat TensorBase::suggest_memory_format() const {
  if (is_contiguous()) return MemoryFormat::Contiguous;
  if (dim() == 4 && is_contiguous(MemoryFormat::ChannelsLast)) {
    return MemoryFormat::ChannelsLast;
  }
  if (dim() == 5 && is_contiguous(MemoryFormat::ChannelsLast3d)) {
    return MemoryFormat::ChannelsLast3d;
  }
  return MemoryFormat::Contiguous;
}

uint32_t TensorBase::_version() const {
  SY_CHECK(!is_inference(), Error,
           "[_version] self: expected a tensor whose writes are counted, got "
           "an inference tensor, {}",
           describe(*this));
  return get().version();
}

void TensorBase::undefined() {
  fail(ErrorKind::Value, "expected a tensor, got an undefined one");
}

void TensorBase::check_dtype(ScalarType t) const {
  SY_CHECK(scalar_type() == t, Type, "[data_ptr] expected dtype {}, got {}",
           dtype_name(t), describe(*this));
}

void TensorBase::check_accessor(ScalarType t, int64_t dims) const {
  SY_CHECK(scalar_type() == t && dim() == dims && device().is_cpu(), Type,
           "[accessor] expected a CPU tensor of dtype {} with {} dims, got {}",
           dtype_name(t), dims, describe(*this));
}

void detail::outside_accessor(int64_t i, int64_t size) {
  fail(ErrorKind::Index,
       "[accessor] expected an index in [0, {}] for a dim of size {}, got {}",
       size - 1, size, i);
}

std::string describe(const TensorBase& t) {
  if (!t.defined()) return "undefined";
  return str("{}{} on {}", dtype_name(t.scalar_type()), t.sizes(), t.device());
}

}  // namespace sy
