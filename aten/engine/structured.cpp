#include "aten/engine/structured.h"

#include <algorithm>

#include "aten/engine/apart.h"
#include "aten/engine/copy.h"
#include "aten/engine/guard.h"
#include "c10/dispatch/dispatcher.h"

namespace sy {

namespace {

// "aten::add.out" as messages name it.
const char* short_name(const OperatorEntry& op) {
  const std::string_view name = op.name();
  const size_t at = name.find("::");
  return name.data() + (at == std::string_view::npos ? 0 : at + 2);
}

}  // namespace

Tensor new_result(const TensorBase& like, IntArrayRef sizes, ScalarType dtype) {
  return Tensor(make_tensor(sizes, dtype, like.device()));
}

void prepare_out(const OperatorEntry& op, Tensor& out, IntArrayRef sizes,
                 ScalarType dtype, Device device) {
  const char* const name = short_name(op);
  check_defined(name, "out", out);
  SY_CHECK(out.device() == device, Value,
           "[{}] out: expected a tensor on {}, got {}", name, device,
           describe(out));
  check_can_cast(name, "out", dtype, out.dtype());
  assert_no_internal_overlap(name, "out", out);
  if (out.sizes() != sizes) resize_output(name, out, sizes);
  bump_version(out, &op);
}

bool overlaps(const TensorBase& a, const TensorBase& b) {
  return sharing(a, b) != Sharing::None;
}

void check_same_device(const OperatorEntry& op,
                       const TensorBase* const* tensors, int n) {
  // Nothing is named where nothing is wrong.
  const auto on_cpu = [](const TensorBase* t) {
    return t == nullptr || !t->defined() || t->device().is_cpu();
  };
  if (SY_LIKELY(std::all_of(tensors, tensors + n, on_cpu))) return;
  check_same_device(short_name(op), tensors, static_cast<size_t>(n));
}

namespace {

// A result may be a view of the tensor that it is stored in: of its argument.
bool must_copy_first(const Tensor& result, const Tensor& to) {
  return to.defined() && !result.is_same(to) && result.is_alias_of(to) &&
         (result.sizes() != to.sizes() || overlaps(result, to));
}

}  // namespace

void store_result(const OperatorEntry& op, const Tensor& result, Tensor& out) {
  if (SY_UNLIKELY(must_copy_first(result, out))) {
    return store_result(op, generated::copy_apart(result), out);
  }
  prepare_out(op, out, result.sizes(), result.dtype(), result.device());
  copy_tensor(out, result);
}

void store_inplace(const OperatorEntry& op, const Tensor& result,
                   Tensor& self) {
  if (SY_UNLIKELY(must_copy_first(result, self))) {
    return store_inplace(op, generated::copy_apart(result), self);
  }
  const char* const name = short_name(op);
  check_can_cast(name, "self", result.dtype(), self.dtype());
  SY_CHECK(result.sizes() == self.sizes(), Value,
           "[{}] self: expected {}, the sizes of the result, got {}", name,
           result.sizes(), self.sizes());
  assert_no_internal_overlap(name, "self", self);
  bump_version(self, &op);
  copy_tensor(self, result);
}

}  // namespace sy
