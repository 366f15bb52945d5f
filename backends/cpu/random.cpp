#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "aten/copy.h"
#include "aten/guard.h"
#include "backends/cpu/dtype_switch.h"
#include "backends/cpu/random_kernels_gen.h"
#include "c10/parallel.h"
#include "c10/philox.h"

// Which numbers an element is made of: a draw of n elements that take w words
// each reserves ceil(n w / 4) counters; element i, counted in row-major order
// whatever the strides, takes the words w i to w i + w - 1 of the draw (see
// Note [Random stream] in c10/philox.h).
//   uniform_   1 word: the high 24 (11, 8) bits for float32 (float16,
//              bfloat16); float64 2 words: 53 bits
//   normal_    as uniform_, but the elements 2k and 2k + 1 are made of the
//              numbers of both by the method of Box and Muller; float16 and
//              bfloat16 as float32, rounded
//   random_    2 words: the high half of the product of 64 bits and the count
//              of possible values
//   bernoulli  2 words: 53 bits, less than the probability
// No result depends on the number of threads. All arithmetic is that of this
// file, so that neither the C library nor the machine's vectors change it.

namespace sy::cpu {

namespace {

using Range = GeneratorImpl::Range;

constexpr int64_t kChunk = 1024;  // elements, a multiple of kLanes * 4
constexpr int64_t kLanes = 16;    // blocks made side by side, all written
constexpr int64_t kGrain = 16;    // chunks

// The words of `blocks` blocks, rounded up to whole kLanes.
void make_words(Range range, int64_t blocks, uint32_t* words) {
  for (int64_t b = 0; b < blocks; b += kLanes) {
    uint32_t c[4][kLanes];
    uint32_t k0 = static_cast<uint32_t>(range.seed);
    uint32_t k1 = static_cast<uint32_t>(range.seed >> 32);
    for (int64_t l = 0; l < kLanes; ++l) {
      const uint64_t at = range.offset + static_cast<uint64_t>(b + l);
      c[0][l] = static_cast<uint32_t>(at);
      c[1][l] = static_cast<uint32_t>(at >> 32);
      c[2][l] = c[3][l] = 0;
    }
    for (int round = 0; round < 10; ++round) {
      for (int64_t l = 0; l < kLanes; ++l) {
        const PhiloxBlock next =
            detail::philox_round({c[0][l], c[1][l], c[2][l], c[3][l]}, k0, k1);
        for (size_t i = 0; i < 4; ++i) c[i][l] = next[i];
      }
      k0 += 0x9E3779B9;
      k1 += 0xBB67AE85;
    }
    for (int64_t l = 0; l < kLanes; ++l) {
      for (int64_t i = 0; i < 4; ++i) words[(b + l) * 4 + i] = c[i][l];
    }
  }
}

Range reserve(const char* op, const std::optional<Generator>& generator,
              int64_t words) {
  const Generator& g =
      generator && *generator ? *generator : default_generator();
  SY_CHECK(g->device().is_cpu(), Value, "[", op,
           "] generator: expected one of the CPU, got one of ", g->device());
  return g->reserve((static_cast<uint64_t>(words) + 3) / 4);
}

// f(words, first element, elements) for pieces that together are all of n.
template <int kWords, class F>
void draw(const char* op, const std::optional<Generator>& generator, int64_t n,
          const F& f) {
  const Range range = reserve(op, generator, n * kWords);
  parallel_for(
      0, (n + kChunk - 1) / kChunk, kGrain, [&](int64_t begin, int64_t end) {
        uint32_t words[kChunk * kWords];
        for (int64_t k = begin; k < end; ++k) {
          const int64_t first = k * kChunk;
          const int64_t count = std::min(kChunk, n - first);
          const Range at{range.seed, range.offset + static_cast<uint64_t>(
                                                        first * kWords / 4)};
          make_words(at, (count * kWords + 3) / 4, words);
          f(words, first, count);
        }
      });
}

// draw() into the elements of a tensor: f(words, T* to, count).
template <class T, int kWords, class F>
void fill(const char* op, const Tensor& self,
          const std::optional<Generator>& generator, const F& f) {
  assert_no_internal_overlap(op, "self", self);
  const Tensor to =
      self.is_contiguous()
          ? self
          : Tensor(make_tensor(self.sizes(), self.dtype(), self.device()));
  T* const data = static_cast<T*>(to.data_ptr());
  draw<kWords>(op, generator, to.numel(),
               [&](const uint32_t* words, int64_t first, int64_t count) {
                 f(words, data + first, count);
               });
  if (!to.is_same(self)) copy_cpu(self, to);
}

uint64_t join(const uint32_t* words) {
  return (uint64_t{words[1]} << 32) | words[0];
}

// Digits of a floating type, hidden one included.
template <class T>
constexpr int kDigits = std::numeric_limits<T>::digits;
template <>
constexpr int kDigits<Half> = 11;
template <>
constexpr int kDigits<BFloat16> = 8;

template <class T>
constexpr int kWordsOf = sizeof(T) == 8 ? 2 : 1;

// In [0, 1), with as many digits as T holds exactly.
template <class T>
auto unit(const uint32_t* words) {
  if constexpr (sizeof(T) == 8) {
    return uniform_double(words[0], words[1]);
  } else {
    constexpr float kScale =
        1.0f / static_cast<float>(uint32_t{1} << kDigits<T>);
    return static_cast<float>(words[0] >> (32 - kDigits<T>)) * kScale;
  }
}

// kPairs numbers side by side: loops of constant length, which the compiler
// makes vector code of.
constexpr int kPairs = 16;
template <class A>
using Lanes = A[kPairs];

// The natural logarithm of x in (0, 1]: x = m 2^e with m near 1, and
// log m = 2 artanh((m - 1) / (m + 1)) by its series.
template <class A>
void take_log(Lanes<A>& x) {
  constexpr bool kWide = sizeof(A) == 8;
  using Bits = std::conditional_t<kWide, int64_t, int32_t>;
  constexpr int kMantissa = kWide ? 52 : 23;
  constexpr Bits kHalfRoot = std::bit_cast<Bits>(A(0.7071067811865476));
  constexpr int kTerms = kWide ? 12 : 5;
  Lanes<A> s, z, e, sum;
  for (int l = 0; l < kPairs; ++l) {
    // Counted from the root of one half, so that m is in [0.71, 1.42).
    const Bits from = std::bit_cast<Bits>(x[l]) - kHalfRoot;
    const Bits exponent = from >> kMantissa;
    e[l] = static_cast<A>(static_cast<int>(exponent));
    const A m =
        std::bit_cast<A>((from & ((Bits{1} << kMantissa) - 1)) + kHalfRoot);
    s[l] = (m - 1) / (m + 1);
    z[l] = s[l] * s[l];
    sum[l] = 0;
  }
  for (int k = kTerms; k > 0; --k) {
    const A term = A(2) / A(2 * k + 1);
    for (int l = 0; l < kPairs; ++l) sum[l] = (sum[l] + term) * z[l];
  }
  for (int l = 0; l < kPairs; ++l) {
    x[l] = e[l] * A(0.6931471805599453) + s[l] * (2 + sum[l]);
  }
}

// Sine and cosine of u turns, u in [0, 1): the nearest quarter taken away, the
// series, the quarter put back.
template <class A>
void take_sine_cosine(const Lanes<A>& u, Lanes<A>& sine, Lanes<A>& cosine) {
  constexpr int kTerms = sizeof(A) == 8 ? 9 : 5;
  int quarter[kPairs];
  Lanes<A> x, z, s, c;
  for (int l = 0; l < kPairs; ++l) {
    quarter[l] = static_cast<int>(u[l] * 4 + A(0.5));
    x[l] = (u[l] * 4 - static_cast<A>(quarter[l])) * A(1.5707963267948966);
    z[l] = x[l] * x[l];
    s[l] = c[l] = 1;
  }
  for (int k = kTerms; k > 0; --k) {
    const A for_sine = A(1) / A(2 * k * (2 * k + 1));
    const A for_cosine = A(1) / A(2 * k * (2 * k - 1));
    for (int l = 0; l < kPairs; ++l) {
      s[l] = 1 - s[l] * z[l] * for_sine;
      c[l] = 1 - c[l] * z[l] * for_cosine;
    }
  }
  for (int l = 0; l < kPairs; ++l) {
    const A in = s[l] * x[l], co = c[l];
    const bool swap = (quarter[l] & 1) != 0;
    const A a = swap ? co : in, b = swap ? in : co;
    sine[l] = (quarter[l] & 2) != 0 ? -a : a;
    cosine[l] = ((quarter[l] + 1) & 2) != 0 ? -b : b;
  }
}

// 2 kPairs numbers of the standard normal distribution.
template <class A>
void take_normal(const uint32_t* words, A* to) {
  constexpr int kWords = kWordsOf<A>;
  Lanes<A> radius, turn, s, c;
  for (int l = 0; l < kPairs; ++l) {
    radius[l] = 1 - unit<A>(words + 2 * kWords * l);
    turn[l] = unit<A>(words + 2 * kWords * l + kWords);
  }
  take_log<A>(radius);
  take_sine_cosine<A>(turn, s, c);
  for (int l = 0; l < kPairs; ++l) {
    // Not -0, nor less by rounding, where the logarithm is 0.
    const A square = radius[l] < 0 ? -2 * radius[l] : A(0);
    radius[l] = std::sqrt(square);
  }
  for (int l = 0; l < kPairs; ++l) {
    to[2 * l] = radius[l] * c[l];
    to[2 * l + 1] = radius[l] * s[l];
  }
}

// A whole number in [0, count); count 0 stands for 2^64.
uint64_t below(uint64_t count, const uint32_t* words) {
  const uint64_t bits = join(words);
  if (count == 0) return bits;
  return static_cast<uint64_t>((static_cast<unsigned __int128>(bits) * count) >>
                               64);
}

// The largest whole number up to which T holds all.
template <class T>
constexpr int64_t largest() {
  if constexpr (std::is_integral_v<T>) {
    return std::numeric_limits<T>::max();
  } else {
    return int64_t{1} << kDigits<T>;
  }
}

// Whole numbers from `from`, `count` of them; `last` is the greatest.
template <class T>
void fill_whole(const char* op, const Tensor& self, int64_t from,
                uint64_t count, int64_t last,
                const std::optional<Generator>& generator) {
  using A = typename Accumulate<T>::type;
  fill<T, 2>(op, self, generator, [=](const uint32_t* words, T* to, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      const auto v = static_cast<int64_t>(static_cast<uint64_t>(from) +
                                          below(count, words + 2 * i));
      T t = static_cast<T>(static_cast<A>(v));
      if constexpr (!std::is_integral_v<T>) {
        // Rounding must not reach the bound.
        if (static_cast<double>(static_cast<A>(t)) >
            static_cast<double>(last)) {
          t = static_cast<T>(static_cast<A>(from));
        }
      }
      to[i] = t;
    }
  });
}

template <class T>
void check_bound(const char* op, const char* argument, int64_t v,
                 const Tensor& self) {
  const auto reject = [&](const auto& low, const auto& high) {
    fail(ErrorKind::Value, "[", op, "] ", argument, ": expected a value in [",
         low, ", ", high, "] for ", self.dtype(), ", got ", v);
  };
  if constexpr (std::is_integral_v<T>) {
    constexpr int64_t kLow = std::numeric_limits<T>::min();
    constexpr int64_t kHigh = std::numeric_limits<T>::max();
    if (v < kLow || v > kHigh) reject(kLow, kHigh);
  } else if constexpr (std::is_same_v<T, Half>) {
    if (v < -65504 || v > 65504) reject(-65504, 65504);
  }
}

// No `to`: up to the largest value of the dtype.
Tensor& random_between(const char* op, Tensor& self, int64_t from,
                       std::optional<int64_t> to,
                       const std::optional<Generator>& generator) {
  SY_CHECK(!to || from < *to, Value, "[", op,
           "] to: expected more than 'from', ", from, ", got ", *to);
  visit_all_dtypes(op, self.dtype(), [&]<class T>() {
    const int64_t last = to ? *to - 1 : largest<T>();
    check_bound<T>(op, "from", from, self);
    if (to) check_bound<T>(op, "to - 1", last, self);
    SY_CHECK(from <= last, Value, "[", op, "] from: expected at most ", last,
             " for ", self.dtype(), ", got ", from);
    const uint64_t count =
        static_cast<uint64_t>(last) - static_cast<uint64_t>(from) + 1;
    fill_whole<T>(op, self, from, count, last, generator);
  });
  return self;
}

}  // namespace

Tensor& uniform_(Tensor& self, double from, double to,
                 std::optional<Generator> generator) {
  visit_floating_dtypes("uniform_", self.dtype(), [&]<class T>() {
    using A = typename Accumulate<T>::type;
    const A low = static_cast<A>(from), range = static_cast<A>(to - from);
    SY_CHECK(std::isfinite(low) && std::isfinite(range), Value,
             "[uniform_] to: expected a finite distance from 'from', ", from,
             ", got ", to);
    fill<T, kWordsOf<T>>(
        "uniform_", self, generator,
        [&](const uint32_t* words, T* out, int64_t n) {
          for (int64_t i = 0; i < n; ++i) {
            const T v =
                static_cast<T>(unit<T>(words + kWordsOf<T> * i) * range + low);
            // Rounding must not reach the bound.
            out[i] = static_cast<A>(v) >= to ? static_cast<T>(low) : v;
          }
        });
  });
  return self;
}

Tensor& normal_(Tensor& self, double mean, double std,
                std::optional<Generator> generator) {
  visit_floating_dtypes("normal_", self.dtype(), [&]<class T>() {
    using A = typename Accumulate<T>::type;
    const A m = static_cast<A>(mean), d = static_cast<A>(std);
    fill<T, kWordsOf<T>>("normal_", self, generator,
                         [&](const uint32_t* words, T* out, int64_t n) {
                           A normal[2 * kPairs];
                           for (int64_t i = 0; i < n; i += 2 * kPairs) {
                             take_normal<A>(words + kWordsOf<T> * i, normal);
                             const int64_t count =
                                 std::min<int64_t>(2 * kPairs, n - i);
                             for (int64_t k = 0; k < count; ++k) {
                               out[i + k] = static_cast<T>(normal[k] * d + m);
                             }
                           }
                         });
  });
  return self;
}

Tensor& random_from_(Tensor& self, int64_t from, std::optional<int64_t> to,
                     std::optional<Generator> generator) {
  return random_between("random_", self, from, to, generator);
}

Tensor& random_to_(Tensor& self, int64_t to,
                   std::optional<Generator> generator) {
  return random_between("random_", self, 0, to, generator);
}

Tensor& random_(Tensor& self, std::optional<Generator> generator) {
  return random_between("random_", self, 0, std::nullopt, generator);
}

Tensor& bernoulli_(Tensor& self, double p, std::optional<Generator> generator) {
  visit_all_dtypes("bernoulli_", self.dtype(), [&]<class T>() {
    using A = typename Accumulate<T>::type;
    fill<T, 2>("bernoulli_", self, generator,
               [&](const uint32_t* words, T* to, int64_t n) {
                 for (int64_t i = 0; i < n; ++i) {
                   const bool one =
                       uniform_double(words[2 * i], words[2 * i + 1]) < p;
                   to[i] = static_cast<T>(static_cast<A>(one));
                 }
               });
  });
  return self;
}

void bernoulli_out(const Tensor& self, std::optional<Generator> generator,
                   const Tensor& out) {
  const Tensor p = contiguous_cpu(self, kDouble);
  const auto* chance = static_cast<const double*>(p.data_ptr());
  const int64_t n = p.numel();
  for (int64_t i = 0; i < n; ++i) {
    SY_CHECK(chance[i] >= 0 && chance[i] <= 1, Value,
             "[bernoulli] self: expected probabilities in [0, 1], got ",
             chance[i]);
  }
  const Tensor bits(make_tensor(out.sizes(), kBool, out.device()));
  auto* to = static_cast<bool*>(bits.data_ptr());
  draw<2>("bernoulli", generator, n,
          [&](const uint32_t* words, int64_t first, int64_t count) {
            for (int64_t i = 0; i < count; ++i) {
              to[first + i] = uniform_double(words[2 * i], words[2 * i + 1]) <
                              chance[first + i];
            }
          });
  copy_cpu(out, bits);
}

}  // namespace sy::cpu
