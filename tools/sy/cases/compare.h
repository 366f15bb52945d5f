#pragma once

#include <string>

#include "c10/tensor/value.h"
#include "tools/sy/cases/tensors.h"
#include "tools/sy/support/json.h"

namespace sy::tools {

struct Tolerance {
  double rtol = 0, atol = 0;
  // NaN equals NaN, infinities are equal by sign.
  bool accepts(double actual, double expected) const;
};

// The element at that storage index, of any dtype.
double element_value(const HostTensor& t, int64_t index);

// Each says what differs, "" if nothing does.

std::string compare_values(const HostTensor& actual, const HostTensor& expected,
                           Tolerance tolerance);
// Sizes and dtype, then values.
std::string compare_tensor(const HostTensor& actual, const HostTensor& expected,
                           Tolerance tolerance);
// Strides of dims with several elements, and the offset; both only of tensors
// with elements.
std::string compare_geometry(const HostTensor& actual,
                             const HostTensor& expected);
// A result that is no tensor: bool, int, float, string, dtype, list of these.
std::string compare_plain(const Value& actual, const Json& expected,
                          Tolerance tolerance);

}  // namespace sy::tools
