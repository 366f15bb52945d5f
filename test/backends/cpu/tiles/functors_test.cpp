// functors/list.inc read a second time: the interpreter's kernels against each
// functor as a plain function, bit for bit.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "backends/cpu/tiles/kernels.h"
#include "test/backends/cpu/tiles/reference.h"
#include "test/backends/cpu/tiles/scalar_functors.h"

namespace sy::cpu::tiles::testing {
namespace {

using lang::Prim;

using Functors = std::map<std::pair<Prim, ComputeType>, ScalarFunctor>;

void add(Functors* to, ScalarFunctors list) {
  for (int i = 0; i < list.count; ++i) {
    const ScalarFunctor& f = list.first[i];
    to->insert_or_assign({f.prim, f.type}, f);
  }
}

Functors functors_of(Isa isa) {
  Functors out;
  add(&out, isa == Isa::sse4 ? plain_functors() : fused_functors());
  if (isa == Isa::avx512) add(&out, avx512_functors());
  return out;
}

// Random bits, numbers of everyday size and what is special, in turn.
template <class T>
void fill_floats(Random& random, T* x, int n) {
  using Limits = std::numeric_limits<T>;
  constexpr T kSpecial[] = {T(0),
                            -T(0),
                            T(1),
                            T(-1),
                            T(0.5),
                            T(-0.5),
                            T(2),
                            T(3),
                            Limits::infinity(),
                            -Limits::infinity(),
                            Limits::quiet_NaN(),
                            Limits::min(),
                            -Limits::min(),
                            Limits::denorm_min(),
                            -Limits::denorm_min(),
                            Limits::max(),
                            Limits::lowest(),
                            T(1) + Limits::epsilon(),
                            T(1) - Limits::epsilon() / 2,
                            T(16777216),
                            T(3.14159265358979)};
  for (int i = 0; i < n; ++i) {
    const uint64_t bits = random.bits();
    switch (random.bits() % 4) {
      case 0: x[i] = kSpecial[bits % std::size(kSpecial)]; break;
      case 1: x[i] = static_cast<T>(random.uniform(-10, 10)); break;
      case 2: x[i] = static_cast<T>(static_cast<int>(bits % 41) - 20); break;
      default: std::memcpy(&x[i], &bits, sizeof(T));
    }
  }
}
template <class T>
void fill_integers(Random& random, T* x, int n) {
  constexpr T kSpecial[] = {T(0),
                            T(1),
                            T(2),
                            static_cast<T>(-1),
                            std::numeric_limits<T>::min(),
                            std::numeric_limits<T>::max()};
  for (int i = 0; i < n; ++i) {
    const uint64_t bits = random.bits();
    switch (random.bits() % 4) {
      case 0: x[i] = kSpecial[bits % std::size(kSpecial)]; break;
      case 1: x[i] = static_cast<T>(static_cast<int>(bits % 41) - 20); break;
      default: x[i] = static_cast<T>(bits >> (bits & 63));
    }
  }
}

void fill(Random& random, ComputeType type, void* x, int n) {
  switch (type) {
    case ComputeType::f32:
      return fill_floats(random, static_cast<float*>(x), n);
    case ComputeType::f64:
      return fill_floats(random, static_cast<double*>(x), n);
    case ComputeType::u8:
      return fill_integers(random, static_cast<uint8_t*>(x), n);
    case ComputeType::i8:
      return fill_integers(random, static_cast<int8_t*>(x), n);
    case ComputeType::i16:
      return fill_integers(random, static_cast<int16_t*>(x), n);
    case ComputeType::i32:
      return fill_integers(random, static_cast<int32_t*>(x), n);
    case ComputeType::i64:
      return fill_integers(random, static_cast<int64_t*>(x), n);
    case ComputeType::b8:
      for (int i = 0; i < n; ++i) {
        static_cast<uint8_t*>(x)[i] = random.bits() & 1;
      }
  }
}

// NaN equals NaN, whatever its bits: compilers may swap a + b.
bool same(const char* x, const char* y, ComputeType type) {
  if (std::memcmp(x, y, compute_type_size(type)) == 0) return true;
  if (type == ComputeType::f32) {
    float a, b;
    std::memcpy(&a, x, sizeof a);
    std::memcpy(&b, y, sizeof b);
    return a != a && b != b;
  }
  if (type == ComputeType::f64) {
    double a, b;
    std::memcpy(&a, x, sizeof a);
    std::memcpy(&b, y, sizeof b);
    return a != a && b != b;
  }
  return false;
}

// Everyday numbers: some of the special functions take a time that grows with
// their arguments.
void fill_small(Random& random, ComputeType type, void* x, int n) {
  for (int i = 0; i < n; ++i) {
    double v = random.uniform(-20, 20);
    const uint64_t kind = random.bits() % 8;
    if (kind == 0) v = std::numeric_limits<double>::quiet_NaN();
    if (kind >= 5) v = std::trunc(v);
    if (type == ComputeType::f32) {
      static_cast<float*>(x)[i] = static_cast<float>(v);
    } else {
      static_cast<double*>(x)[i] = v;
    }
  }
}

// The number of elements on which a kernel and the functor differ.
int differences(const ScalarFunctor& f, PrimFn kernel) {
  const int n = f.is_special ? 1003 : 8203;
  const Signature s = signature(f.prim);
  Random random(static_cast<uint64_t>(f.prim) * 8 +
                static_cast<uint64_t>(f.type));
  std::vector<char> in[3], out(static_cast<size_t>(n) * 8);
  size_t sizes[3] = {};
  for (int k = 0; k < s.arity; ++k) {
    const ComputeType type = s.bool_operand[k] ? ComputeType::b8 : f.type;
    in[k].resize(static_cast<size_t>(n) * 8);
    sizes[k] = compute_type_size(type);
    f.is_special ? fill_small(random, type, in[k].data(), n)
                 : fill(random, type, in[k].data(), n);
  }
  kernel(out.data(), in[0].data(), in[1].data(), in[2].data(), 0, n);
  const ComputeType result = s.bool_result ? ComputeType::b8 : f.type;
  int count = 0;
  for (int i = 0; i < n; ++i) {
    const void* at[3] = {};
    for (int k = 0; k < s.arity; ++k) {
      at[k] = in[k].data() + static_cast<size_t>(i) * sizes[k];
    }
    alignas(8) char want[8];
    f.run(want, at);
    const char* got =
        out.data() + static_cast<size_t>(i) * compute_type_size(result);
    count += !same(got, want, result);
  }
  return count;
}

TEST(Functors, EveryLineIsAKernelAndEveryKernelALine) {
  const Functors all = functors_of(Isa::sse4);
  EXPECT_EQ(all.size(), static_cast<size_t>(plain_functors().count))
      << "a primitive of one type has two lines";
  for (int p = 0; p < static_cast<int>(Prim::kCount); ++p) {
    for (int t = 0; t < kNumComputeTypes; ++t) {
      const auto prim = static_cast<Prim>(p);
      const auto type = static_cast<ComputeType>(t);
      EXPECT_EQ(prim_fn(prim, type) != nullptr, all.contains({prim, type}))
          << lang::kPrims[p].name << " of type " << t;
    }
  }
}

TEST(Functors, AreWhatTheInterpreterComputes) {
  for_each_isa([](Isa isa) {
    for (const auto& [key, f] : functors_of(isa)) {
      EXPECT_EQ(differences(f, prim_fn(f.prim, f.type)), 0)
          << lang::kPrims[static_cast<int>(f.prim)].name << " of type "
          << static_cast<int>(f.type) << " for instruction set "
          << static_cast<int>(isa);
    }
  });
  take_error();
}

}  // namespace
}  // namespace sy::cpu::tiles::testing
