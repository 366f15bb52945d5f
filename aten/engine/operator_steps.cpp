#include "aten/engine/operator_steps.h"

#include "aten/engine/guard.h"

namespace sy::generated {

namespace {

// "add_.Tensor" of "aten::add_.Tensor", for messages.
std::string_view short_name(const OperatorEntry& op) {
  const std::string_view name = op.name();
  const size_t at = name.find("::");
  return at == std::string_view::npos ? name : name.substr(at + 2);
}

}  // namespace

void lay_out_like(const TensorBase& like, const Tensor& result) {
  const MemoryFormat format = like.suggest_memory_format();
  if (result.is_contiguous(format) || !result.is_contiguous()) return;
  int64_t strides[TensorImpl::kMaxDims];
  dense_strides_like(result, format, strides);
  const IntArrayRef sizes = result.sizes();
  result.impl()->set_sizes_and_strides(sizes, {strides, sizes.size()},
                                       result.storage_offset());
}

void undefined(const OperatorEntry& op, const char* argument) {
  fail(ErrorKind::Value, "[{}] {}: expected a tensor, got an undefined one",
       short_name(op), argument);
}

void cannot_pin(const OperatorEntry& op, Device device) {
  fail(ErrorKind::Value,
       "[{}] pin_memory: expected False for a tensor on '{}', got True: only "
       "memory of the host is pinned",
       short_name(op), device);
}

Tensor clone_for_write(const Tensor& self) { return self.clone(); }

void check_out_dtype(const OperatorEntry& op, const TensorBase& out,
                     ScalarType dtype) {
  SY_CHECK(!out.defined() || out.scalar_type() == dtype, Type,
           "[{}] out: expected {}, got {}", short_name(op), dtype,
           describe(out));
}

void check_inplace_sizes(const OperatorEntry& op, const TensorBase& self,
                         IntArrayRef sizes) {
  SY_CHECK(self.sizes() == sizes, Value,
           "[{}] self: expected sizes {}, those of the result, got {}",
           short_name(op), sizes, self.sizes());
}

void check_list_size(const char* op, const char* argument, size_t size,
                     size_t expected) {
  SY_CHECK(size == expected, Value, "[{}] {}: expected {} values, got {}", op,
           argument, expected, size);
}

void check_list(const OperatorEntry& op, const char* argument, TensorList list,
                const TensorBase* first) {
  for (const Tensor& t : list) {
    SY_CHECK(t.defined(), Value,
             "[{}] {}: expected tensors, got an undefined one", short_name(op),
             argument);
    if (first == nullptr) first = &t;
    const TensorBase* const both[] = {first, &t};
    check_same_device(op, both, 2);
    if (first->device().is_cpu()) first = &t;
  }
}

void check_in_storage(const char* op, const Tensor& self, IntArrayRef sizes,
                      IntArrayRef strides, int64_t offset) {
  SY_CHECK(sizes.size() == strides.size(), Value,
           "[{}] stride: expected {} strides for sizes {}, got {}", op,
           sizes.size(), sizes, strides);
  SY_CHECK(offset >= 0, Value,
           "[{}] storage_offset: expected at least 0, got {}", op, offset);
  checked_numel(op, sizes, self.itemsize());
  int64_t last = offset;
  bool empty = false, fits = true;
  for (size_t d = 0; d < sizes.size(); ++d) {
    SY_CHECK(strides[d] >= 0, Value,
             "[{}] stride: expected strides of at least 0, got {}", op,
             strides);
    int64_t reach = 0;
    empty = empty || sizes[d] == 0;
    fits = fits && !__builtin_mul_overflow(sizes[d] - 1, strides[d], &reach) &&
           !__builtin_add_overflow(last, reach, &last);
  }
  const auto item = static_cast<int64_t>(self.itemsize());
  const auto elements = static_cast<int64_t>(self.storage()->nbytes()) / item;
  SY_CHECK(empty || (fits && last < elements), Value,
           "[{}] size: expected a view inside the storage of {} elements, got "
           "sizes {}, strides {} and offset {}",
           op, elements, sizes, strides, offset);
}

Tensor& assign_inplace(const OperatorEntry& op, const Tensor& result,
                       Tensor& self) {
  static constinit KnownOperator<Tensor&(Tensor&, const Tensor&, bool)> copy(
      "aten::copy_");
  check_can_cast(short_name(op).data(), "self", result.scalar_type(),
                 self.scalar_type());
  check_inplace_sizes(op, self, result.sizes());
  // A view of self, such as its transpose, is read before self is written.
  if (!result.is_same(self) && result.is_alias_of(self)) {
    copy.call(self, result.clone(), false);
    name_writer(self, &op);
    return self;
  }
  copy.call(self, result, false);
  name_writer(self, &op);
  return self;
}

}  // namespace sy::generated
