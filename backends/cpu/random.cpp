#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "aten/engine/copy.h"
#include "aten/engine/guard.h"
#include "backends/cpu/random_kernel/random_kernel.h"
#include "backends/cpu/random_kernels_gen.h"
#include "backends/cpu/support/dtype_switch.h"
#include "c10/device/philox.h"
#include "c10/process/parallel.h"

// The numbers that an element is made of: a draw of n elements that take w
// words each reserves ceil(n w / 4) counters; element i, counted in row-major
// order whatever the strides, takes the words w i to w i + w - 1 of the draw
// (see Note [Random stream] in c10/device/philox.h).
//   uniform_   1 word: the high 24 (11, 8) bits for float32 (float16,
//              bfloat16); float64 2 words: 53 bits
//   normal_    as uniform_, but the elements 2k and 2k + 1 are made of the
//              numbers of both by the method of Box and Muller; float16 and
//              bfloat16 as float32, rounded
//   random_    2 words: the high half of the product of 64 bits and the count
//              of possible values
//   bernoulli  2 words: 53 bits, less than the probability
// No result depends on the number of threads. All arithmetic is that of this
// file and random_kernel/, so that neither the C library nor the machine's
// vectors change it.

namespace sy::cpu {

namespace {

using Range = GeneratorImpl::Range;

constexpr int64_t kChunk = 1024;  // elements
constexpr int64_t kGrain = 16;    // chunks
static_assert(kChunk % (4 * kPhiloxLanes) == 0 && kChunk % kNormals == 0);

Range reserve(const char* op, const std::optional<Generator>& generator,
              int64_t words) {
  const Generator& g =
      generator && *generator ? *generator : default_generator();
  SY_CHECK(g->device().is_cpu(), Value,
           "[{}] generator: expected one of the CPU, got one of {}", op,
           g->device());
  return g->reserve((static_cast<uint64_t>(words) + 3) / 4);
}

// f(words, first element, elements) for pieces that together are all of n.
template <int kWords, class F>
void draw(const char* op, const std::optional<Generator>& generator, int64_t n,
          const F& f) {
  const Range range = reserve(op, generator, n * kWords);
  parallel_for(
      0, (n + kChunk - 1) / kChunk, kGrain, [&](int64_t begin, int64_t end) {
        const RandomKernels& kernels = random_kernels();
        alignas(64) uint32_t words[kChunk * kWords];
        for (int64_t k = begin; k < end; ++k) {
          const int64_t first = k * kChunk;
          const int64_t count = std::min(kChunk, n - first);
          const int64_t skipped = first * kWords / 4;
          kernels.philox_words(range.seed,
                               range.offset + static_cast<uint64_t>(skipped),
                               (count * kWords + 3) / 4, words);
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
  T* const data = static_cast<T*>(to.raw_data());
  draw<kWords>(op, generator, to.numel(),
               [&](const uint32_t* words, int64_t first, int64_t count) {
                 f(words, data + first, count);
               });
  if (!to.is_same(self)) copy_cpu(self, to);
}

uint64_t join(const uint32_t* words) {
  return (uint64_t{words[1]} << 32) | words[0];
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
    fail(ErrorKind::Value,
         "[{}] {}: expected a value in [{}, {}] for {}, got {}", op, argument,
         low, high, self.dtype(), v);
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
  SY_CHECK(!to || from < *to, Value,
           "[{}] to: expected more than 'from', {}, got {}", op, from, *to);
  visit_all_dtypes(op, self.dtype(), [&]<class T>() {
    const int64_t last = to ? *to - 1 : largest<T>();
    check_bound<T>(op, "from", from, self);
    if (to) check_bound<T>(op, "to - 1", last, self);
    SY_CHECK(from <= last, Value,
             "[{}] from: expected at most {} for {}, got {}", op, last,
             self.dtype(), from);
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
    SY_CHECK(
        std::isfinite(low) && std::isfinite(range), Value,
        "[uniform_] to: expected a finite distance from 'from', {}, got {}",
        from, to);
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
                           alignas(64) A normal[kChunk];
                           if constexpr (std::is_same_v<A, double>) {
                             random_kernels().normal_double(words, n, normal);
                           } else {
                             random_kernels().normal_float(words, n, normal);
                           }
                           for (int64_t k = 0; k < n; ++k) {
                             out[k] = static_cast<T>(normal[k] * d + m);
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
  const auto* chance = static_cast<const double*>(p.raw_data());
  const int64_t n = p.numel();
  for (int64_t i = 0; i < n; ++i) {
    SY_CHECK(chance[i] >= 0 && chance[i] <= 1, Value,
             "[bernoulli] self: expected probabilities in [0, 1], got {}",
             chance[i]);
  }
  const Tensor bits(make_tensor(out.sizes(), kBool, out.device()));
  auto* to = static_cast<bool*>(bits.raw_data());
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
