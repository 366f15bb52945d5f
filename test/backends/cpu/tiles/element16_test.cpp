#include "backends/cpu/tiles/element16.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "backends/cpu/copy.h"
#include "backends/cpu/indexing.h"
#include "c10/tensor/scalar_type.h"

// No dtype has elements of 16 bytes yet; the code that moves elements by their
// size takes them.

namespace sy::cpu {
namespace {

using cpu::tiles::Element16;

static_assert(kMaxElementSize == sizeof(Element16));

std::vector<Element16> counting(int64_t n) {
  std::vector<Element16> out(static_cast<size_t>(n));
  for (uint64_t i = 0; i < out.size(); ++i) out[i] = {{i, ~i}};
  return out;
}

// The place of element `at` of a walk in row-major order.
int64_t place(int64_t at, IntArrayRef sizes, IntArrayRef strides) {
  int64_t out = 0;
  for (size_t d = sizes.size(); d-- > 0; at /= sizes[d]) {
    out += at % sizes[d] * strides[d];
  }
  return out;
}

void check_copy(IntArrayRef sizes, IntArrayRef to_strides,
                IntArrayRef from_strides, int64_t from_first = 0) {
  int64_t n = 1;
  for (const int64_t s : sizes) n *= s;
  const std::vector<Element16> from = counting(20000);
  std::vector<Element16> to(20000);
  copy_strided(sizeof(Element16), sizes, to.data(), to_strides,
               from.data() + from_first, from_strides);
  for (int64_t i = 0; i < n; ++i) {
    const auto want =
        static_cast<uint64_t>(from_first + place(i, sizes, from_strides));
    const Element16& got = to[static_cast<size_t>(place(i, sizes, to_strides))];
    ASSERT_EQ(got.words[0], want)
        << to_string(sizes) << " " << to_string(from_strides);
    ASSERT_EQ(got.words[1], ~want);
  }
}

TEST(Element16, IsCopiedAtAnyStrides) {
  check_copy({300}, {1}, {1});
  check_copy({300}, {1}, {7});
  check_copy({300}, {5}, {1});
  check_copy({3000}, {3}, {6});
  check_copy({100}, {1}, {-1}, 99);
  check_copy({50, 40}, {40, 1}, {1, 50});
  check_copy({50, 40}, {40, 1}, {0, 3});
  check_copy({900, 3}, {4, 1}, {1, 900});
  check_copy({4, 70, 3}, {210, 3, 1}, {3, 12, 1});
}

TEST(Element16, IsGathered) {
  const std::vector<Element16> from = counting(60);
  const int64_t index[] = {3, 0, 2, 1, 3};
  std::vector<Element16> to(5 * 15);
  GatherPlan plan{};
  plan.sizes = Dims(IntArrayRef({5, 15}));
  plan.from = from.data();
  plan.from_strides = Dims(IntArrayRef({0, 1}));
  plan.index = index;
  plan.index_strides = Dims(IntArrayRef({1, 0}));
  plan.step = 15 * static_cast<int64_t>(sizeof(Element16));
  plan.to = to.data();
  plan.to_strides = Dims(IntArrayRef({15, 1}));
  gather(sizeof(Element16), plan);
  for (size_t r = 0; r < 5; ++r) {
    for (size_t c = 0; c < 15; ++c) {
      EXPECT_EQ(to[r * 15 + c].words[0],
                static_cast<uint64_t>(index[r]) * 15 + c);
    }
  }
}

}  // namespace
}  // namespace sy::cpu
