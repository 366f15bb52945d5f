#include <cstdio>
#include <string>

#include "aten/ops/factory.h"
#include "aten/tensor.h"
#include "c10/process/error.h"
#include "c10/tensor/tensor_base.h"
#include "frontend/export/native_function.h"

namespace sy::exporting {

namespace {

bool holds(const Value& v) {
  return v.is_double() ? v.to_double() != 0 : v.to_int() != 0;
}

Value assert_scalar(const Value* a, size_t) {
  SY_CHECK(holds(a[0]), Value, "{}", a[1].to_string_view());
  return {};
}

Value assert_async(const Value* a, size_t) {
  SY_CHECK(static_cast<const Tensor&>(a[0].to_tensor()).item<bool>(), Value,
           "expected a tensor that is not 0");
  return {};
}

Value assert_async_with_message(const Value* a, size_t) {
  SY_CHECK(static_cast<const Tensor&>(a[0].to_tensor()).item<bool>(), Value,
           "{}", a[1].to_string_view());
  return {};
}

Value print(const Value* a, size_t) {
  std::fprintf(stderr, "%s\n", std::string(a[0].to_string_view()).c_str());
  return {};
}

Value constrain_range(const Value* a, size_t) {
  const int64_t size = a[0].to_int();
  const bool low = !a[1].is_none() && size < a[1].to_int();
  const bool high = !a[2].is_none() && size > a[2].to_int();
  SY_CHECK(!low && !high, Value, "size: expected {} {}, got {}",
           low ? "at least" : "at most", low ? a[1].to_int() : a[2].to_int(),
           size);
  return {};
}

template <class T>
void expect_same(const char* what, const T& expected, const T& got) {
  SY_CHECK(expected == got, Value, "a: expected {} {}, got {}", what,
           to_string(expected), to_string(got));
}

Value assert_metadata(const Value* a, size_t) {
  const TensorBase& t = a[0].to_tensor();
  if (!a[1].is_none()) expect_same("sizes", a[1].to_int_list(), t.sizes());
  if (!a[2].is_none()) expect_same("strides", a[2].to_int_list(), t.strides());
  if (!a[3].is_none()) {
    expect_same("dtype", a[3].to_scalar_type(), t.scalar_type());
  }
  if (!a[4].is_none()) {
    expect_same("a device of type", Device(a[4].to_device().type()),
                Device(t.device().type()));
  }
  return {};
}

// Graphs without side effects put assertions in an order by a tensor that each
// takes and gives.
Value make_token(const Value*, size_t) {
  return Value(TensorBase(sy::empty({0})));
}

template <NativeFunction assertion>
Value with_token(const Value* a, size_t n) {
  assertion(a, n - 1);
  return a[n - 1];
}

constexpr std::pair<std::string_view, AssertionInfo> kAssertions[] = {
    {"aten::_assert_async",
     {"aten::_assert_async(Tensor self) -> ()", assert_async}},
    {"aten::_assert_async.msg",
     {"aten::_assert_async.msg(Tensor self, str assert_msg) -> ()",
      assert_async_with_message}},
    {"aten::_functional_assert_async.msg",
     {"aten::_functional_assert_async.msg(Tensor self, str assert_msg, Tensor "
      "dep_token) -> Tensor",
      with_token<assert_async_with_message>}},
    {"aten::_functional_sym_constrain_range",
     {"aten::_functional_sym_constrain_range(Scalar size, int? min, int? max, "
      "Tensor dep_token) -> Tensor",
      with_token<constrain_range>}},
    {"aten::_functional_sym_constrain_range_for_size",
     {"aten::_functional_sym_constrain_range_for_size(Scalar size, int? min, "
      "int? max, Tensor dep_token) -> Tensor",
      with_token<constrain_range>}},
    {"aten::_make_dep_token",
     {"aten::_make_dep_token(*, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None, MemoryFormat? "
      "memory_format=None) -> Tensor",
      make_token}},
    {"aten::_print", {"aten::_print(str s) -> ()", print}},
    {"aten::_assert_scalar",
     {"aten::_assert_scalar(Scalar self, str assert_msg) -> ()",
      assert_scalar}},
    {"aten::_assert_tensor_metadata",
     {"aten::_assert_tensor_metadata(Tensor a, SymInt[]? size=None, SymInt[]? "
      "stride=None, ScalarType? dtype=None, *, Device? device=None, Layout? "
      "layout=None) -> ()",
      assert_metadata}},
    {"aten::sym_constrain_range",
     {"aten::sym_constrain_range(Scalar size, *, int? min=None, int? "
      "max=None) -> ()",
      constrain_range}},
    {"aten::sym_constrain_range_for_size",
     {"aten::sym_constrain_range_for_size(Scalar size, *, int? min=None, int? "
      "max=None) -> ()",
      constrain_range}},
};

}  // namespace

std::optional<AssertionInfo> assertion_function(std::string_view name) {
  for (const auto& [known, info] : kAssertions) {
    if (known == name) return info;
  }
  return {};
}

}  // namespace sy::exporting
