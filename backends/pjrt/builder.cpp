#include "backends/pjrt/builder.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "c10/process/error.h"

namespace sy::pjrt {

namespace {

std::string list(const Sizes& numbers) {
  std::string text;
  for (const int64_t n : numbers) append(&text, str("{}", n));
  return "[" + text + "]";
}

// The bits of a floating number, in all digits.
std::string bits_of(ScalarType dtype, double value) {
  char text[32];
  if (dtype == kDouble) {
    std::snprintf(
        text, sizeof text, "0x%016llX",
        static_cast<unsigned long long>(std::bit_cast<uint64_t>(value)));
  } else {
    std::snprintf(text, sizeof text, "0x%08X",
                  std::bit_cast<uint32_t>(static_cast<float>(value)));
  }
  return text;
}

}  // namespace

const char* element_name(ScalarType dtype) noexcept {
  switch (dtype) {
    case kBool: return "i1";
    case kByte: return "ui8";
    case kChar: return "i8";
    case kShort: return "i16";
    case kInt: return "i32";
    case kLong: return "i64";
    case kHalf: return "f16";
    case kBFloat16: return "bf16";
    case kFloat: return "f32";
    case kDouble: return "f64";
    default: return nullptr;
  }
}

std::string type_name(ScalarType dtype, const Sizes& sizes) {
  const char* const element = element_name(dtype);
  SY_CHECK(element != nullptr, NotImplemented,
           "[pjrt] expected a dtype that XLA has, got {}", dtype);
  std::string text = "tensor<";
  for (const int64_t n : sizes) text += str("{}x", n);
  return text + element + ">";
}

int64_t numel_of(const Sizes& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1},
                         std::multiplies<>());
}

std::string Builder::fresh() { return str("%{}", next_++); }

void Builder::line(std::string_view text) {
  text_ += "  ";
  text_ += text;
  text_ += '\n';
}

Ssa Builder::made(std::string_view what, ScalarType dtype, Sizes sizes,
                  std::string_view types) {
  Ssa out{fresh(), dtype, std::move(sizes)};
  line(str("{} = {} : {}", out.name, what, types));
  return out;
}

Ssa Builder::unary(std::string_view op, const Ssa& x) {
  return made(str("{} {}", op, x.name), x.dtype, x.sizes, type_of(x));
}

Ssa Builder::binary(std::string_view op, const Ssa& x, const Ssa& y) {
  return made(str("{} {}, {}", op, x.name, y.name), x.dtype, x.sizes,
              type_of(x));
}

Ssa Builder::chlo(std::string_view op, const Ssa& x) {
  return made(str("{} {}", op, x.name), x.dtype, x.sizes,
              str("{} -> {}", type_of(x), type_of(x)));
}

Ssa Builder::chlo(std::string_view op, const Ssa& x, const Ssa& y) {
  return made(str("{} {}, {}", op, x.name, y.name), x.dtype, x.sizes,
              str("{}, {} -> {}", type_of(x), type_of(y), type_of(x)));
}

Ssa Builder::compare(std::string_view direction, const Ssa& x, const Ssa& y) {
  return made(
      str("stablehlo.compare {}, {}, {}", direction, x.name, y.name), kBool,
      x.sizes,
      str("({}, {}) -> {}", type_of(x), type_of(y), type_name(kBool, x.sizes)));
}

Ssa Builder::select(const Ssa& where, const Ssa& x, const Ssa& y) {
  return made(str("stablehlo.select {}, {}, {}", where.name, x.name, y.name),
              x.dtype, x.sizes, str("{}, {}", type_of(where), type_of(x)));
}

Ssa Builder::is_finite(const Ssa& x) {
  return made(str("stablehlo.is_finite {}", x.name), kBool, x.sizes,
              str("({}) -> {}", type_of(x), type_name(kBool, x.sizes)));
}

Ssa Builder::convert(const Ssa& x, ScalarType dtype) {
  if (x.dtype == dtype) return x;
  if (is_floating_type(x.dtype) && is_integral_type(dtype, false)) {
    return truncated(x, dtype);
  }
  return converted(x, dtype);
}

Ssa Builder::converted(const Ssa& x, ScalarType dtype) {
  if (x.dtype == dtype) return x;
  return made(str("stablehlo.convert {}", x.name), dtype, x.sizes,
              str("({}) -> {}", type_of(x), type_name(dtype, x.sizes)));
}

// Truncates as processors and our kernels do: a number that does not fit gives
// the least integer, of 32 bits where these hold the type. XLA gives the
// nearest.
Ssa Builder::truncated(const Ssa& x, ScalarType dtype) {
  const bool wide = dtype == kLong || (dtype == kByte && x.dtype == kDouble);
  const ScalarType to = wide ? kLong : kInt;
  const double limit = wide ? 0x1p63 : 0x1p31;
  const Ssa number = converted(x, x.dtype == kDouble ? kDouble : kFloat);
  const Ssa fits =
      binary("stablehlo.and", compare("GE", number, like(number, -limit)),
             compare("LT", number, like(number, limit)));
  const int64_t least = wide ? INT64_MIN : INT32_MIN;
  const Ssa whole =
      select(fits, converted(number, to), this->number(to, x.sizes, least));
  return converted(whole, dtype);
}

Ssa Builder::bitcast(const Ssa& x, ScalarType dtype) {
  return made(str("stablehlo.bitcast_convert {}", x.name), dtype, x.sizes,
              str("({}) -> {}", type_of(x), type_name(dtype, x.sizes)));
}

Ssa Builder::number(ScalarType dtype, const Sizes& sizes, int64_t value) {
  if (is_floating_type(dtype)) {
    return number(dtype, sizes, static_cast<double>(value));
  }
  const std::string text = dtype == kBool
                               ? std::string(value != 0 ? "true" : "false")
                               : str("{}", value);
  return made(str("stablehlo.constant dense<{}>", text), dtype, sizes,
              type_name(dtype, sizes));
}

Ssa Builder::number(ScalarType dtype, const Sizes& sizes, double value) {
  if (!is_floating_type(dtype)) {
    return number(dtype, sizes, static_cast<int64_t>(value));
  }
  if (dtype == kHalf || dtype == kBFloat16) {
    return convert(number(kFloat, sizes, value), dtype);
  }
  return made(str("stablehlo.constant dense<{}>", bits_of(dtype, value)), dtype,
              sizes, type_name(dtype, sizes));
}

Ssa Builder::like(const Ssa& x, double value) {
  return number(x.dtype, x.sizes, value);
}

Ssa Builder::iota(const Sizes& sizes, int64_t dim) {
  return made(str("stablehlo.iota dim = {}", dim), kLong, sizes,
              type_name(kLong, sizes));
}

Ssa Builder::reshape(const Ssa& x, Sizes sizes) {
  if (x.sizes == sizes) return x;
  const std::string to = type_name(x.dtype, sizes);
  return made(str("stablehlo.reshape {}", x.name), x.dtype, std::move(sizes),
              str("({}) -> {}", type_of(x), to));
}

Ssa Builder::barrier(const Ssa& x) {
  return made(str("stablehlo.optimization_barrier {}", x.name), x.dtype,
              x.sizes, type_of(x));
}

Ssa Builder::transpose(const Ssa& x, const std::vector<int64_t>& order) {
  if (std::is_sorted(order.begin(), order.end())) return x;
  Sizes sizes;
  for (const int64_t d : order) sizes.push_back(x.sizes[size_t(d)]);
  const std::string to = type_name(x.dtype, sizes);
  return made(str("stablehlo.transpose {}, dims = {}", x.name, list(order)),
              x.dtype, std::move(sizes), str("({}) -> {}", type_of(x), to));
}

Ssa Builder::broadcast(const Ssa& x, const Sizes& sizes,
                       const std::vector<int64_t>& dims) {
  if (x.sizes == sizes && std::is_sorted(dims.begin(), dims.end())) return x;
  return made(
      str("stablehlo.broadcast_in_dim {}, dims = {}", x.name, list(dims)),
      x.dtype, sizes, str("({}) -> {}", type_of(x), type_name(x.dtype, sizes)));
}

Ssa Builder::broadcast(const Ssa& x, const Sizes& sizes) {
  std::vector<int64_t> dims(x.sizes.size());
  std::iota(dims.begin(), dims.end(),
            static_cast<int64_t>(sizes.size() - x.sizes.size()));
  return broadcast(x, sizes, dims);
}

Ssa Builder::slice(const Ssa& x, const Sizes& start, const Sizes& limit,
                   const Sizes& step) {
  Sizes sizes;
  std::string ranges;
  bool all = true;
  for (size_t d = 0; d < x.sizes.size(); ++d) {
    sizes.push_back((limit[d] - start[d] + step[d] - 1) / step[d]);
    all = all && sizes[d] == x.sizes[d];
    append(&ranges, str("{}:{}:{}", start[d], limit[d], step[d]));
  }
  if (all) return x;
  const std::string to = type_name(x.dtype, sizes);
  return made(str("stablehlo.slice {} [{}]", x.name, ranges), x.dtype,
              std::move(sizes), str("({}) -> {}", type_of(x), to));
}

Ssa Builder::concatenate(const std::vector<Ssa>& parts, int64_t dim) {
  Sizes sizes = parts[0].sizes;
  sizes[size_t(dim)] = 0;
  std::string names, types;
  for (const Ssa& p : parts) {
    sizes[size_t(dim)] += p.sizes[size_t(dim)];
    append(&names, p.name);
    append(&types, type_of(p));
  }
  const std::string to = type_name(parts[0].dtype, sizes);
  return made(str("stablehlo.concatenate {}, dim = {}", names, dim),
              parts[0].dtype, std::move(sizes), str("({}) -> {}", types, to));
}

}  // namespace sy::pjrt
