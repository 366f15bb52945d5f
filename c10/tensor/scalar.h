#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include "c10/process/error.h"
#include "c10/tensor/scalar_type.h"

namespace sy {

// A number that an operator is given: bool, int64 or double. It has room for a
// number of two doubles.
class SY_API Scalar {
 public:
  enum class Tag : uint8_t { Bool, Int, Double };

  constexpr Scalar() : i_(0), tag_(Tag::Int) {}
  // Exactly a bool: pointers and texts do not convert to it.
  template <std::same_as<bool> B>
  constexpr Scalar(B v) : i_(v), tag_(Tag::Bool) {}
  constexpr Scalar(int v) : i_(v), tag_(Tag::Int) {}
  constexpr Scalar(long v) : i_(v), tag_(Tag::Int) {}
  constexpr Scalar(long long v) : i_(v), tag_(Tag::Int) {}
  constexpr Scalar(unsigned char v) : i_(v), tag_(Tag::Int) {}
  constexpr Scalar(signed char v) : i_(v), tag_(Tag::Int) {}
  constexpr Scalar(short v) : i_(v), tag_(Tag::Int) {}
  constexpr Scalar(unsigned v) : i_(v), tag_(Tag::Int) {}
  constexpr Scalar(float v) : d_(v), tag_(Tag::Double) {}
  constexpr Scalar(double v) : d_(v), tag_(Tag::Double) {}
  constexpr Scalar(Half v) : d_(static_cast<float>(v)), tag_(Tag::Double) {}
  constexpr Scalar(BFloat16 v) : d_(static_cast<float>(v)), tag_(Tag::Double) {}

  constexpr Tag tag() const { return tag_; }
  constexpr bool is_floating_point() const { return tag_ == Tag::Double; }
  constexpr bool is_boolean() const { return tag_ == Tag::Bool; }
  constexpr bool is_integral(bool include_bool) const {
    return tag_ == Tag::Int || (include_bool && tag_ == Tag::Bool);
  }
  bool isFloatingPoint() const { return is_floating_point(); }
  bool isBoolean() const { return is_boolean(); }
  bool isIntegral(bool include_bool) const { return is_integral(include_bool); }

  // kBool, kLong or kDouble.
  constexpr ScalarType type() const {
    return tag_ == Tag::Double ? kDouble : tag_ == Tag::Int ? kLong : kBool;
  }
  constexpr double to_double() const {
    return tag_ == Tag::Double ? d_ : static_cast<double>(i_);
  }
  // Cuts fractions. A double beyond int64 gives the nearest int64, NaN gives 0.
  int64_t to_long() const;
  constexpr bool to_bool() const {
    return tag_ == Tag::Double ? d_ != 0 : i_ != 0;
  }
  // Converts by ATen's rule: fractions are cut, negative numbers wrap in an
  // unsigned type, infinities stay what they are. Throws ValueError if the
  // value does not fit into T.
  template <class T>
  T to() const {
    constexpr ScalarType kType = CppTypeToScalarType<T>::value;
    if constexpr (std::is_same_v<T, bool>) {
      return to_bool();
    } else if constexpr (std::is_integral_v<T>) {
      const int64_t v = checked_long();
      constexpr int64_t kMax = std::numeric_limits<T>::max();
      constexpr int64_t kMin =
          std::is_signed_v<T> ? std::numeric_limits<T>::min() : -kMax;
      if (SY_UNLIKELY(v > kMax || v < kMin)) does_not_fit(kType);
      return static_cast<T>(v);
    } else if constexpr (std::is_same_v<T, double>) {
      return to_double();
    } else {
      constexpr double kMax = std::is_same_v<T, Half>       ? 65504.0
                              : std::is_same_v<T, BFloat16> ? 0x1.fep127
                                                            : 0x1.fffffep127;
      const double v = to_double();
      if (SY_UNLIKELY((v > kMax && v <= kMaxDouble) ||
                      (v < -kMax && v >= -kMaxDouble))) {
        does_not_fit(kType);
      }
      return static_cast<T>(static_cast<float>(v));
    }
  }
  double toDouble() const { return to_double(); }
  float toFloat() const { return to<float>(); }
  int64_t toLong() const { return to<int64_t>(); }
  int toInt() const { return to<int>(); }
  bool toBool() const { return to_bool(); }

  bool equal(const Scalar& o) const;
  Scalar operator-() const;

 private:
  static constexpr double kMaxDouble = std::numeric_limits<double>::max();

  int64_t checked_long() const;
  [[noreturn]] SY_COLD void does_not_fit(ScalarType t) const;
  union {
    int64_t i_;
    double d_;
    double pair_[2];
  };
  Tag tag_;
};

static_assert(sizeof(Scalar) == kMaxElementSize + 8);
static_assert(std::is_trivially_copyable_v<Scalar>);

// As PyTorch prints it: "1", "1.5", "True".
SY_API std::string to_string(const Scalar& s);

}  // namespace sy
