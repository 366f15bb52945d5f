#include "tools/sy/cases/compare.h"

#include <cmath>
#include <cstring>

#include "c10/process/error.h"
#include "tools/sy/cases/values.h"

namespace sy::tools {

namespace {

template <class T>
T load(const char* p) {
  T out;
  std::memcpy(&out, p, sizeof out);
  return out;
}

// Calls f with the element's value: a double of floats, else an int64.
template <class F>
auto with_element(ScalarType dtype, const char* p, F&& f) {
  switch (dtype) {
    case kDouble: return f(load<double>(p));
    case kFloat: return f(double{load<float>(p)});
    case kHalf: return f(double{float(load<Half>(p))});
    case kBFloat16: return f(double{float(load<BFloat16>(p))});
    case kByte: return f(int64_t{load<uint8_t>(p)});
    case kBool: return f(int64_t{load<uint8_t>(p)});
    case kChar: return f(int64_t{load<int8_t>(p)});
    case kShort: return f(int64_t{load<int16_t>(p)});
    case kInt: return f(int64_t{load<int32_t>(p)});
    default: return f(load<int64_t>(p));
  }
}

bool same_element(ScalarType dtype, const char* actual, const char* expected,
                  Tolerance tolerance) {
  if (is_floating_type(dtype)) {
    const auto number = [&](const char* p) {
      return with_element(dtype, p, [](auto v) { return double(v); });
    };
    return tolerance.accepts(number(actual), number(expected));
  }
  return std::memcmp(actual, expected, element_size(dtype)) == 0;
}

std::string print_element(ScalarType dtype, const char* p) {
  return with_element(dtype, p, [](auto v) { return str("{}", v); });
}

std::string differ(const std::string& expected, const std::string& actual) {
  return str("expected {}, got {}", expected, actual);
}

}  // namespace

double element_value(const HostTensor& t, int64_t index) {
  return with_element(t.dtype, t.at(index), [](auto v) { return double(v); });
}

bool Tolerance::accepts(double actual, double expected) const {
  if (std::isnan(expected)) return std::isnan(actual);
  if (std::isinf(expected) || std::isinf(actual)) return actual == expected;
  return std::fabs(actual - expected) <= atol + rtol * std::fabs(expected);
}

std::string compare_values(const HostTensor& actual, const HostTensor& expected,
                           Tolerance tolerance) {
  if (!actual.has_values || !expected.has_values) return "";
  const auto from =
      element_indices(actual.sizes, actual.strides, actual.offset);
  const auto want =
      element_indices(expected.sizes, expected.strides, expected.offset);
  std::string first;
  size_t wrong = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    const char *a = actual.at(from[i]), *e = expected.at(want[i]);
    if (same_element(expected.dtype, a, e, tolerance)) continue;
    if (++wrong > 1) continue;
    first = str("element {}: {}",
                element_position(expected.sizes, static_cast<int64_t>(i)),
                differ(print_element(expected.dtype, e),
                       print_element(expected.dtype, a)));
  }
  if (wrong < 2) return first;
  return str("{} ({} of {} differ)", first, wrong, want.size());
}

std::string compare_tensor(const HostTensor& actual, const HostTensor& expected,
                           Tolerance tolerance) {
  if (actual.sizes != expected.sizes) {
    return "sizes: " + differ(to_string(IntArrayRef(expected.sizes)),
                              to_string(IntArrayRef(actual.sizes)));
  }
  if (actual.dtype != expected.dtype) {
    return "dtype: " +
           differ(dtype_name(expected.dtype), dtype_name(actual.dtype));
  }
  return compare_values(actual, expected, tolerance);
}

std::string compare_geometry(const HostTensor& actual,
                             const HostTensor& expected) {
  if (expected.numel() == 0) return "";
  for (size_t d = 0; d < expected.sizes.size(); ++d) {
    if (expected.sizes[d] == 1 || actual.strides[d] == expected.strides[d]) {
      continue;
    }
    return "strides: " + differ(to_string(IntArrayRef(expected.strides)),
                                to_string(IntArrayRef(actual.strides)));
  }
  if (actual.offset != expected.offset) {
    return "offset: " +
           differ(str("{}", expected.offset), str("{}", actual.offset));
  }
  return "";
}

std::string compare_plain(const Value& actual, const Json& expected,
                          Tolerance tolerance) {
  const std::string wrong = differ(dump(expected), to_string(actual));
  if (expected.is_array()) {
    if (actual.tag() < Value::Tag::IntList) return wrong;
    const std::vector<Value> list = elements_of(actual);
    if (list.size() != expected.size()) return wrong;
    for (size_t i = 0; i < list.size(); ++i) {
      const std::string why = compare_plain(list[i], expected[i], tolerance);
      if (!why.empty()) return str("element {}: {}", i, why);
    }
    return "";
  }
  if (expected.is_null()) return actual.is_none() ? "" : wrong;
  if (expected.is_boolean()) {
    return actual.is_bool() && actual.to_bool() == expected ? "" : wrong;
  }
  if (const auto number = float_of(expected)) {
    return actual.is_double() && tolerance.accepts(actual.to_double(), *number)
               ? ""
               : wrong;
  }
  if (expected.is_number_integer()) {
    // A dtype is recorded by its number in ATen.
    if (actual.tag() == Value::Tag::ScalarType) {
      return dtype_of_number(expected) == actual.to_scalar_type() ? "" : wrong;
    }
    return actual.is_int() && actual.to_int() == expected ? "" : wrong;
  }
  if (expected.is_string()) {
    return actual.tag() == Value::Tag::String &&
                   actual.to_string_view() == expected.get<std::string>()
               ? ""
               : wrong;
  }
  if (expected.is_object() && expected.contains("dtype")) {
    return actual.tag() == Value::Tag::ScalarType &&
                   dtype_name(actual.to_scalar_type()) == expected["dtype"]
               ? ""
               : wrong;
  }
  return wrong;
}

}  // namespace sy::tools
