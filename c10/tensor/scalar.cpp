#include "c10/tensor/scalar.h"

#include <charconv>
#include <cmath>
#include <limits>

namespace sy {
namespace {

constexpr double kTwo63 = 0x1p63;

}  // namespace

int64_t Scalar::to_long() const {
  if (tag_ != Tag::Double) return i_;
  if (std::isnan(d_)) return 0;
  if (d_ >= kTwo63) return std::numeric_limits<int64_t>::max();
  if (d_ < -kTwo63) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(d_);
}

int64_t Scalar::checked_long() const {
  if (tag_ != Tag::Double) return i_;
  SY_CHECK(d_ >= -kTwo63 && d_ < kTwo63, Value,
           "Scalar: value {} does not fit into int64", *this);
  return static_cast<int64_t>(d_);
}

void Scalar::does_not_fit(ScalarType t) const {
  fail(ErrorKind::Value, "Scalar: value {} does not fit into {}", *this,
       dtype_name(t));
}

bool Scalar::equal(const Scalar& o) const {
  if (tag_ != Tag::Double && o.tag_ != Tag::Double) return i_ == o.i_;
  return to_double() == o.to_double();
}

Scalar Scalar::operator-() const {
  SY_CHECK(tag_ != Tag::Bool, Type, "Scalar: a bool cannot be negated");
  if (tag_ == Tag::Double) return Scalar(-d_);
  return Scalar(static_cast<int64_t>(-static_cast<uint64_t>(i_)));
}

std::string to_string(const Scalar& s) {
  if (s.is_boolean()) return s.to_bool() ? "True" : "False";
  char buffer[40];
  const auto text = [&buffer](std::to_chars_result r) {
    return std::string(buffer, r.ptr);
  };
  char* const end = buffer + sizeof buffer;
  if (!s.is_floating_point()) {
    return text(std::to_chars(buffer, end, s.to_long()));
  }
  const double d = s.to_double();
  if (std::isnan(d)) return "nan";
  if (std::isinf(d)) return d < 0 ? "-inf" : "inf";
  const double magnitude = std::fabs(d);
  if (d != 0 && (magnitude < 1e-4 || magnitude >= 1e16)) {
    return text(std::to_chars(buffer, end, d, std::chars_format::scientific));
  }
  std::string out =
      text(std::to_chars(buffer, end, d, std::chars_format::fixed));
  if (out.find('.') == std::string::npos) out += ".0";
  return out;
}

}  // namespace sy
