#include "frontend/nn/python_text.h"

#include <algorithm>

namespace sy::nn::detail {

namespace {

std::string text_of(int64_t value) { return str("{}", value); }
std::string text_of(double value) { return python_float(value); }
std::string text_of(const std::optional<int64_t>& value) {
  return value.has_value() ? text_of(*value) : "None";
}

template <class T>
std::string tuple(ArrayRef<T> values) {
  std::string text = "(";
  for (size_t i = 0; i < values.size(); ++i) {
    text += (i == 0 ? "" : ", ") + text_of(values[i]);
  }
  return text + (values.size() == 1 ? ",)" : ")");
}

template <class T>
std::string tuple_or_one(ArrayRef<T> values) {
  const bool equal =
      !values.empty() && std::all_of(values.begin(), values.end(),
                                     [&](T v) { return v == values.front(); });
  return equal ? text_of(values.front()) : tuple(values);
}

}  // namespace

std::string python_bool(bool value) { return value ? "True" : "False"; }

std::string python_float(double value) {
  const std::string text = str("{}", value);
  const bool whole = text.find_first_not_of("-0123456789") == std::string::npos;
  return whole ? text + ".0" : text;
}

std::string python_float(const std::optional<double>& value) {
  return value.has_value() ? python_float(*value) : "None";
}

std::string python_tuple(IntArrayRef values) { return tuple(values); }

std::string python_size(IntArrayRef values) { return tuple_or_one(values); }

std::string python_size(ArrayRef<double> values) {
  return tuple_or_one(values);
}

std::string python_size(ArrayRef<std::optional<int64_t>> values) {
  return tuple_or_one(values);
}

}  // namespace sy::nn::detail
