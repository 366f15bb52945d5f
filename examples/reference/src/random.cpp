#include "random.h"

#include <cmath>
#include <limits>

#include "reference_kernels.h"

// The numbers of the CPU for the same seed: element i, counted row-major, is
// made of words w i to w i + w - 1 of the draw, w as given below.

namespace reference {
namespace {

using std::optional;
using sy::Generator;

int digits_of(ScalarType dtype) {
  if (dtype == sy::kDouble) return 53;
  if (dtype == sy::kFloat) return 24;
  return dtype == sy::kHalf ? 11 : 8;
}
int64_t words_of(ScalarType dtype) { return dtype == sy::kDouble ? 2 : 1; }

// A number in [0, 1), with as many digits as the dtype holds.
double unit(const Stream& stream, ScalarType dtype, int64_t i) {
  if (dtype == sy::kDouble) return stream.even(2 * i);
  const int digits = digits_of(dtype);
  return std::ldexp(stream.word(i) >> (32 - digits), -digits);
}

// f(i) for element i of self, counted row-major.
template <class F>
Tensor& fill(Tensor& self, const F& f) {
  int64_t i = 0;
  visit_computed(self.scalar_type(), [&]<class T>() {
    for_each_place(self.sizes(), [&](const Index& at) {
      write<T>(self, at, static_cast<T>(f(i++)));
    });
  });
  return self;
}

void check_floating(const char* op, const Tensor& self) {
  SY_CHECK(sy::is_floating_type(self.scalar_type()), Type,
           "[{}] self: expected a floating dtype, got {}", op,
           self.scalar_type());
}

// The number up to which a dtype holds all whole numbers.
int64_t largest(ScalarType dtype) {
  if (sy::is_floating_type(dtype)) return int64_t{1} << digits_of(dtype);
  int64_t most = 0;
  visit(dtype, [&]<class T>() {
    if constexpr (std::is_integral_v<T>) most = std::numeric_limits<T>::max();
  });
  return most;
}

// 2 words an element: the high half of the product of 64 bits and the count.
Tensor& whole(Tensor& self, int64_t from, optional<int64_t> to,
              const optional<Generator>& generator) {
  SY_CHECK(!to || from < *to, Value,
           "[random_] to: expected more than 'from', {}, got {}", from, *to);
  const ScalarType dtype = self.scalar_type();
  const int64_t last = to ? *to - 1 : largest(dtype);
  visit(dtype, [&]<class T>() {
    for (const int64_t bound : {from, last}) {
      bool fits = true;
      if constexpr (std::is_integral_v<T>) {
        fits = bound >= static_cast<int64_t>(std::numeric_limits<T>::min()) &&
               bound <= static_cast<int64_t>(std::numeric_limits<T>::max());
      } else if constexpr (std::is_same_v<T, sy::Half>) {
        fits = bound >= -65504 && bound <= 65504;
      }
      SY_CHECK(fits, Value,
               "[random_] from, to: expected what {} holds, got {}", dtype,
               bound);
    }
  });
  const uint64_t count =
      static_cast<uint64_t>(last) - static_cast<uint64_t>(from) + 1;
  const Stream stream(generator, self.device(), 2 * self.numel());
  int64_t i = 0;
  for_each_place(self.sizes(), [&](const Index& at) {
    const uint64_t more = below(stream.bits(2 * i++), count);
    write(self, at, static_cast<int64_t>(static_cast<uint64_t>(from) + more));
    // Rounding must not reach the bound.
    if (sy::is_floating_type(dtype) &&
        read<double>(self, at) > static_cast<double>(last)) {
      write(self, at, from);
    }
  });
  return self;
}

}  // namespace

Tensor& uniform_(Tensor& self, double from, double to,
                 optional<Generator> generator) {
  check_floating("uniform_", self);
  SY_CHECK(std::isfinite(from) && std::isfinite(to - from), Value,
           "[uniform_] to: expected a finite distance from 'from', {}, got {}",
           from, to);
  const ScalarType dtype = self.scalar_type();
  const Stream stream(generator, self.device(), words_of(dtype) * self.numel());
  int64_t i = 0;
  visit_computed(dtype, [&]<class T>() {
    const T low = static_cast<T>(from), range = static_cast<T>(to - from);
    for_each_place(self.sizes(), [&](const Index& at) {
      const T u = static_cast<T>(unit(stream, dtype, i++));
      write<T>(self, at, u * range + low);
      // Rounding must not reach the bound.
      if (read<double>(self, at) >= to) write<T>(self, at, low);
    });
  });
  return self;
}

// Elements 2k and 2k + 1 are made of the even numbers of both, by the method of
// Box and Muller; narrow floats as float32, rounded.
Tensor& normal_(Tensor& self, double mean, double std,
                optional<Generator> generator) {
  check_floating("normal_", self);
  const bool wide = self.scalar_type() == sy::kDouble;
  const ScalarType dtype = wide ? sy::kDouble : sy::kFloat;
  const Stream stream(generator, self.device(), words_of(dtype) * self.numel());
  return fill(self, [&](int64_t i) {
    const int64_t first = i - i % 2;
    const double radius =
        std::sqrt(-2 * std::log(1 - unit(stream, dtype, first)));
    const double turn = 2 * M_PI * unit(stream, dtype, first + 1);
    const double v = radius * (i % 2 == 0 ? std::cos(turn) : std::sin(turn));
    const double rounded = wide ? v : static_cast<float>(v);
    return rounded * std + mean;
  });
}

Tensor& random__from(Tensor& self, int64_t from, optional<int64_t> to,
                     optional<Generator> generator) {
  return whole(self, from, to, generator);
}
Tensor& random__to(Tensor& self, int64_t to, optional<Generator> generator) {
  return whole(self, 0, to, generator);
}
Tensor& random_(Tensor& self, optional<Generator> generator) {
  return whole(self, 0, std::nullopt, generator);
}

// Each place from the last on exchanged with one of those up to it.
Tensor& randperm_generator_out(int64_t n, optional<Generator> generator,
                               Tensor& out) {
  SY_CHECK(n >= 0, Value, "[randperm] n: expected at least 0, got {}", n);
  SY_CHECK(out.scalar_type() != sy::kBool, Type,
           "[randperm] dtype: expected a dtype of numbers, got bool");
  const Stream stream(generator, out.device(), 2 * n);
  Index order(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) order[static_cast<size_t>(i)] = i;
  for (int64_t i = n - 1; i > 0; --i) {
    const uint64_t other =
        below(stream.bits(2 * i), static_cast<uint64_t>(i) + 1);
    std::swap(order[static_cast<size_t>(i)], order[other]);
  }
  visit(out.scalar_type(), [&]<class T>() {
    if (n > 0) (void)sy::Scalar(n - 1).to<T>();  // throws if too narrow
  });
  resize_vector(out, n);
  size_t i = 0;
  for_each_place(out.sizes(),
                 [&](const Index& at) { write(out, at, order[i++]); });
  return out;
}

}  // namespace reference
