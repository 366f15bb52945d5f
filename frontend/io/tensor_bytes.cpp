#include "frontend/io/tensor_bytes.h"

#include <cstring>

#include "aten/engine/copy.h"
#include "aten/from_blob.h"
#include "aten/ops/factory.h"

namespace sy::io {

namespace {

// Any other value of a bool is undefined behaviour in C++.
void check_bools(const FileView& file, uint64_t begin, uint64_t n) {
  uint8_t all = 0;
  for (uint64_t i = 0; i < n; ++i) all |= file.data[begin + i];
  if (all <= 1) return;
  uint64_t at = begin;
  while (file.data[at] <= 1) ++at;
  file.fail_at(at, "expected a bool of 0 or 1, got {}", int{file.data[at]});
}

}  // namespace

Tensor tensor_over(const FileView& file, uint8_t* data, uint64_t begin,
                   ScalarType dtype, IntArrayRef sizes,
                   const std::shared_ptr<void>& owner) {
  const size_t item = element_size(dtype);
  const auto numel = static_cast<uint64_t>(
      checked_numel(std::string(file.op).c_str(), sizes, item));
  if (dtype == kBool) check_bools(file, begin, numel);
  if (numel == 0 || reinterpret_cast<uintptr_t>(data + begin) % item != 0) {
    Tensor copy = empty(sizes, dtype);
    if (numel > 0) std::memcpy(copy.raw_data(), data + begin, numel * item);
    return copy;
  }
  return from_blob(
      data + begin, sizes, [owner](void*) {}, TensorOptions(dtype));
}

void check_savable(std::string_view op, std::string_view name,
                   const Tensor& t) {
  SY_CHECK(t.defined() && !t.is_meta(), Value,
           "[{}] {}: expected a tensor with elements, got {}", op, name,
           t.defined() ? "one on meta" : "an undefined one");
}

Tensor on_cpu(const char* op, const Tensor& t) {
  t.impl()->const_data(op);
  const Tensor here = t.is_cpu() ? t : to_device(t, Device(kCPU));
  return contiguous_cpu(here, here.scalar_type());
}

}  // namespace sy::io
