#include "aten/engine/geometry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "aten/contract/pooling_windows.h"
#include "aten/ops/factory.h"
#include "aten/tensor.h"
#include "test/aten/tensor_values.h"
#include "test/c10/expect_error.h"

// Functions of numbers and lists have values that are written here. What
// sizes, strides and offsets say together is held by the places of elements,
// for many sizes.

namespace sy {
namespace {

using List = std::vector<int64_t>;

TEST(Geometry, Numbers) {
  for (int64_t a = -7; a <= 7; ++a) {
    for (int64_t b = -4; b <= 4; ++b) {
      if (b == 0) continue;
      const double quotient = static_cast<double>(a) / static_cast<double>(b);
      EXPECT_EQ(geometry::floor_div("f", a, b), std::floor(quotient));
      EXPECT_EQ(geometry::ceil_div("f", a, b), std::ceil(quotient));
      EXPECT_EQ(geometry::mod("f", a, b),
                a - b * geometry::floor_div("f", a, b));
    }
  }
  EXPECT_EQ(geometry::clamp(9, 0, 3), 3);
  EXPECT_EQ(geometry::clamp(-9, 0, 3), 0);
  EXPECT_EQ(geometry::ceil(1.5), 2);
  EXPECT_EQ(geometry::floor(-1.5), -2);
  const char* const divisor = "[f] expected a divisor other than 0, got 0";
  SY_EXPECT_ERROR(geometry::floor_div("f", 1, 0), ValueError, divisor);
  SY_EXPECT_ERROR(geometry::ceil_div("f", 1, 0), ValueError, divisor);
  SY_EXPECT_ERROR(geometry::mod("f", 1, 0), ValueError, divisor);
}

// Ends of the number range: no sum or product goes beyond it.
TEST(Geometry, EndsOfTheNumberRange) {
  using namespace geometry;
  EXPECT_EQ(ceil_div("f", INT64_MIN, 3), INT64_MIN / 3);
  EXPECT_EQ(ceil_div("f", INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(floor_div("f", INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(ceil_div("f", INT64_MAX, INT64_MIN), 0);
  const int64_t strides[] = {1, 1};
  EXPECT_EQ(diagonal_offset("f", strides, INT64_MAX, 0, 1), 0);
  EXPECT_EQ(diagonal_offset("f", strides, INT64_MIN + 1, 0, 1), 0);
}

TEST(Geometry, Lists) {
  using namespace geometry;
  EXPECT_EQ(len({4, 5}), 2);
  EXPECT_EQ(at("f", IntArrayRef({4, 5}), -1), 5);
  EXPECT_EQ(wrap_index("f", -2, 2), 0);
  EXPECT_EQ(sum({4, 5, -2}), 7);
  EXPECT_EQ(prod({4, 5, -2}), -40);
  EXPECT_EQ(prod({}), 1);
  EXPECT_EQ(geometry::min("f", {4, -5, 2}), -5);
  EXPECT_EQ(geometry::max("f", {4, -5, 2}), 4);
  EXPECT_TRUE(contains({4, 5}, 5));
  EXPECT_FALSE(contains({4, 5}, 6));
  EXPECT_TRUE(all({4, 5}));
  EXPECT_FALSE(all({4, 0}));
  EXPECT_TRUE(any({4, 0}));
  EXPECT_FALSE(any({0, 0}));
  EXPECT_EQ(ints(range(1, 8, 3)), (List{1, 4, 7}));
  EXPECT_EQ(ints(range(3, 0, -2)), (List{3, 1}));
  EXPECT_EQ(ints(range(3)), (List{0, 1, 2}));
  EXPECT_EQ(ints(range(0, 3, 0)), (List{}));
  EXPECT_EQ(ints(fill(2, 5)), (List{5, 5}));
  EXPECT_EQ(ints(concat({1, 2}, {3})), (List{1, 2, 3}));
  EXPECT_EQ(ints(slice({1, 2, 3}, 1, INT64_MAX)), (List{2, 3}));
  EXPECT_EQ(ints(slice({1, 2, 3}, 0, -2)), (List{1}));
  EXPECT_EQ(ints(slice({1, 2, 3}, -2, -1)), (List{2}));
  EXPECT_EQ(ints(slice({1, 2, 3}, 2, 1)), (List{}));
  EXPECT_EQ(ints(slice({1, 2, 3}, -9, 9)), (List{1, 2, 3}));
  EXPECT_EQ(ints(reversed({1, 2, 3})), (List{3, 2, 1}));
  SY_EXPECT_ERROR(at("f", IntArrayRef({4, 5}), 2), IndexError,
                  "[f] expected an index in [-2, 1], got 2");
  SY_EXPECT_ERROR(wrap_index("f", -3, 2), IndexError,
                  "[f] expected an index in [-2, 1], got -3");
  SY_EXPECT_ERROR(geometry::min("f", {}), ValueError, "min of an empty list");
  SY_EXPECT_ERROR(geometry::max("f", {}), ValueError, "max of an empty list");
}

TEST(Geometry, ListsByDim) {
  using namespace geometry;
  EXPECT_EQ(geometry::wrap_dim("f", -1, 3), 2);
  EXPECT_EQ(geometry::wrap_dim("f", -1, 0), 0);
  EXPECT_EQ(ints(wrap_dims("f", {-1, 0}, 3)), (List{2, 0}));
  EXPECT_EQ(ints(with("f", {2, 3, 4}, -1, 9)), (List{2, 3, 9}));
  EXPECT_EQ(ints(with("f", {}, 0, 9)), (List{}));
  EXPECT_EQ(of_dim({2, 3}, 1), 3);
  EXPECT_EQ(of_dim({}, 0), 1);
  EXPECT_EQ(ints(without("f", {2, 3, 4}, -2)), (List{2, 4}));
  EXPECT_EQ(ints(without("f", {2, 3, 4}, IntArrayRef({2, 0}))), (List{3}));
  EXPECT_EQ(ints(inserted("f", {2, 3, 4}, -1, 1)), (List{2, 3, 4, 1}));
  EXPECT_EQ(ints(inserted("f", {2, 3, 4}, 1, 9)), (List{2, 9, 3, 4}));
  EXPECT_EQ(ints(swapped("f", {12, 4, 1}, 0, -1)), (List{1, 4, 12}));
  EXPECT_EQ(ints(swapped("f", {}, 0, -1)), (List{}));
  EXPECT_EQ(ints(permuted("f", {2, 3, 4}, {2, 0, -2})), (List{4, 2, 3}));
  EXPECT_EQ(ints(inverse_permutation("f", {2, 0, 1})), (List{1, 2, 0}));
  EXPECT_TRUE(contains_dim("f", {-1}, 2, 3));
  EXPECT_FALSE(contains_dim("f", {-1}, 1, 3));
  EXPECT_TRUE(is_permutation({1, 0, 2}, 3));
  EXPECT_FALSE(is_permutation({1, 1, 2}, 3));
  EXPECT_FALSE(is_permutation({1, 0}, 3));
  EXPECT_FALSE(is_permutation({1, 3, 0}, 3));
  SY_EXPECT_ERROR(geometry::wrap_dim("f", 3, 3), IndexError,
                  "[f] dim: expected a value in [-3, 2], got 3");
  SY_EXPECT_ERROR(wrap_dims("f", {0, -3}, 3), ValueError,
                  "[f] dim: expected distinct dims, got [0, -3]");
  SY_EXPECT_ERROR(without("f", {2, 3}, IntArrayRef({2})), IndexError,
                  "[f] dim: expected a value in [-2, 1], got 2");
  SY_EXPECT_ERROR(permuted("f", {2, 3}, {0}), ValueError,
                  "[f] dims: expected 2 dims, got [0]");
  SY_EXPECT_ERROR(inverse_permutation("f", {0, 0}), ValueError,
                  "expected distinct dims");
}

TEST(Geometry, Sizes) {
  using namespace geometry;
  EXPECT_EQ(ints(broadcast("f", {3, 1}, {2, 1, 5})), (List{2, 3, 5}));
  EXPECT_EQ(ints(geometry::infer_size("f", {2, -1}, 24)), (List{2, 12}));
  EXPECT_EQ(ints(geometry::contiguous_strides({2, 3, 4})), (List{12, 4, 1}));
  EXPECT_EQ(ints(expand_sizes("f", {2, 1}, {7, -1, 3})), (List{7, 2, 3}));
  EXPECT_TRUE(is_expandable_to({3, 1}, {2, 3, 4}));
  EXPECT_FALSE(is_expandable_to({3, 2}, {2, 3, 4}));
  EXPECT_FALSE(is_expandable_to({1, 1}, {4}));
  EXPECT_EQ(unsqueezed_stride("f", {2, 3, 4}, {12, 4, 1}, 1), 12);
  EXPECT_EQ(unsqueezed_stride("f", {2, 3, 4}, {12, 4, 1}, -1), 1);
  EXPECT_EQ(ints(reduced_sizes("f", {2, 3, 4}, IntArrayRef({2, 0}), true)),
            (List{1, 3, 1}));
  EXPECT_EQ(
      ints(reduced_sizes("f", {2, 3, 4}, std::optional<int64_t>(-2), false)),
      (List{2, 4}));
  EXPECT_EQ(ints(reduced_sizes("f", {2, 3, 4}, std::nullopt, false)), (List{}));
  EXPECT_EQ(ints(reduced_sizes("f", {2, 3}, std::nullopt, true)), (List{1, 1}));
  EXPECT_TRUE(is_floating(ones({1})));
  EXPECT_FALSE(is_floating(ones({1}, kLong)));
  SY_EXPECT_ERROR(broadcast("f", {2}, {3}), ValueError,
                  "[f] sizes: expected sizes that broadcast, got [2] and [3]");
  SY_EXPECT_ERROR(expand_sizes("f", {3}, {2}), ValueError,
                  "[f] size: expected sizes that [3] can be expanded to, got "
                  "[2]");
  SY_EXPECT_ERROR(expand_sizes("f", {2, 3}, {3}), ValueError,
                  "[f] size: expected at least 2 sizes, got [3]");
  SY_EXPECT_ERROR(expand_sizes("f", {3}, {-1, 3}), ValueError,
                  "can be expanded to");
  SY_EXPECT_ERROR(
      geometry::view_strides("f", {2, 3}, {1, 2}, {6}), ValueError,
      "[f] self: expected sizes and strides that can be seen as [6], got [2, "
      "3] and [1, 2]; call contiguous() or reshape");
  SY_EXPECT_ERROR(diagonal_sizes("f", {2, 3}, 0, 1, -1), ValueError,
                  "[f] dim2: expected another dim than dim1, got 1 and -1");
  SY_EXPECT_ERROR(unfold_sizes("f", {2, 3}, 1, 4, 1), ValueError,
                  "[f] size: expected a value in [0, 3], got 4");
  SY_EXPECT_ERROR(unfold_sizes("f", {2, 3}, 1, 2, 0), ValueError,
                  "[f] step: expected a positive step, got 0");
}

TEST(Geometry, CatSizes) {
  const Tensor a = ones({2, 3}), b = ones({2, 4}), none = ones({0});
  const auto sizes = [](std::vector<Tensor> list, int64_t dim) {
    return ints(geometry::cat_sizes("f", ArrayRef<Tensor>(list), dim));
  };
  EXPECT_EQ(sizes({a, b}, 1), (List{2, 7}));
  EXPECT_EQ(sizes({none, a, none, b}, -1), (List{2, 7}));
  EXPECT_EQ(sizes({a, a}, 0), (List{4, 3}));
  EXPECT_EQ(sizes({none}, 0), (List{0}));
  SY_EXPECT_ERROR(sizes({a, b}, 0), ValueError,
                  "[f] tensors: expected sizes that agree with [2, 3] but in "
                  "dim 0, got [2, 4]");
  SY_EXPECT_ERROR(sizes({ones({})}, 0), ValueError, "at least one dim");
}

// Elements as their places in memory.
struct Strided {
  List sizes, strides;
  int64_t offset = 0;

  int64_t numel() const { return geometry::prod(sizes); }
  int64_t place(const List& index) const {
    int64_t at = offset;
    for (size_t d = 0; d < index.size(); ++d) at += index[d] * strides[d];
    return at;
  }
  // The index of element k, row by row.
  List index(int64_t k) const {
    List out(sizes.size());
    for (size_t d = sizes.size(); d-- > 0;) {
      out[d] = k % sizes[d];
      k /= sizes[d];
    }
    return out;
  }
};

class GeometryOfViews : public testing::Test {
 protected:
  static constexpr int kRounds = 3000;

  int64_t number(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(rng_);
  }
  List list(int64_t least, int64_t most, int64_t low, int64_t high) {
    List out(static_cast<size_t>(number(least, most)));
    for (int64_t& v : out) v = number(low, high);
    return out;
  }
  // Its dims stand in memory in any order.
  Strided tensor(int64_t least) {
    const List sizes = list(least, 4, 1, 4);
    List order(sizes.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), rng_);
    const auto moved = ints(geometry::permuted("f", sizes, order));
    const auto strides = ints(geometry::contiguous_strides(moved));
    const auto back = ints(geometry::inverse_permutation("f", order));
    return {sizes, ints(geometry::permuted("f", strides, back)), 0};
  }

  std::mt19937 rng_{1};
};

TEST_F(GeometryOfViews, InversePermutationsUndo) {
  for (int round = 0; round < kRounds; ++round) {
    const Strided a = tensor(0);
    // Dense: the places are all numbers below their count.
    List places;
    for (int64_t k = 0; k < a.numel(); ++k)
      places.push_back(a.place(a.index(k)));
    std::sort(places.begin(), places.end());
    List all(places.size());
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(places, all);
  }
}

TEST_F(GeometryOfViews, NewSizesKeepTheOrderOfElements) {
  int made = 0, refused = 0;
  for (int round = 0; round < kRounds; ++round) {
    const Strided a = tensor(0);
    Strided b{list(1, 4, 1, 4), {}, 0};
    const int64_t rest = b.numel() / b.sizes.back();
    if (a.numel() % rest != 0) continue;
    b.sizes.back() = a.numel() / rest;
    // No other strides than these can show the elements in their order.
    b.strides = ints(geometry::contiguous_strides(b.sizes));
    for (size_t d = 0; d < b.sizes.size(); ++d) {
      const int64_t step = b.strides[d];
      b.strides[d] = b.sizes[d] == 1 ? 0 : a.place(a.index(step));
    }
    bool exists = true;
    for (int64_t k = 0; k < a.numel(); ++k) {
      exists = exists && a.place(a.index(k)) == b.place(b.index(k));
    }
    try {
      const Strided c{
          b.sizes,
          ints(geometry::view_strides("f", a.sizes, a.strides, b.sizes)), 0};
      for (int64_t k = 0; k < a.numel(); ++k) {
        EXPECT_EQ(c.place(c.index(k)), a.place(a.index(k)));
      }
      ++made;
    } catch (const ValueError&) {
      EXPECT_FALSE(exists);
      ++refused;
    }
  }
  EXPECT_GT(made, 100);
  EXPECT_GT(refused, 100);
}

TEST_F(GeometryOfViews, ExpandedElementsAreUsedAgain) {
  for (int round = 0; round < kRounds; ++round) {
    const Strided a = tensor(0);
    List wanted = list(0, 2, 0, 3);
    const size_t added = wanted.size();
    for (const int64_t s : a.sizes) {
      wanted.push_back(s != 1         ? number(0, 1) ? s : -1
                       : number(0, 1) ? number(0, 4)
                                      : -1);
    }
    const Strided b{
        ints(geometry::expand_sizes("f", a.sizes, wanted)),
        ints(geometry::expand_strides("f", a.sizes, a.strides, wanted)), 0};
    EXPECT_TRUE(geometry::is_expandable_to(a.sizes, b.sizes));
    EXPECT_EQ(ints(geometry::broadcast("f", a.sizes, b.sizes)), b.sizes);
    for (int64_t k = 0; k < b.numel(); ++k) {
      const List at = b.index(k);
      List own(at.begin() + static_cast<std::ptrdiff_t>(added), at.end());
      for (size_t d = 0; d < own.size(); ++d) {
        if (a.sizes[d] == 1) own[d] = 0;
      }
      EXPECT_EQ(b.place(at), a.place(own));
    }
  }
}

TEST_F(GeometryOfViews, SlicesHaveTheElementsOfPython) {
  using Bound = std::optional<int64_t>;
  for (int64_t n = 0; n <= 4; ++n) {
    std::vector<Bound> bounds = {std::nullopt};
    for (int64_t i = -6; i <= 6; ++i) bounds.emplace_back(i);
    for (const Bound& start : bounds) {
      for (const Bound& end : bounds) {
        for (int64_t step = 1; step <= 3; ++step) {
          int64_t from = start.value_or(0), to = end.value_or(n);
          if (from < 0) from += n;
          if (to < 0) to += n;
          List elements;
          for (int64_t i = 0; i < n; ++i) {
            if (i >= from && i < to) elements.push_back(i);
          }
          const size_t step_size = static_cast<size_t>(step);
          EXPECT_EQ(geometry::slice_size("f", n, start, end, step),
                    static_cast<int64_t>((elements.size() + step_size - 1) /
                                         step_size));
          if (elements.empty()) continue;
          EXPECT_EQ(geometry::slice_start(n, start), elements[0]);
        }
      }
    }
  }
  SY_EXPECT_ERROR(geometry::slice_size("f", 4, 0, 4, 0), ValueError,
                  "[f] step: expected a positive step, got 0");
}

TEST_F(GeometryOfViews, DiagonalsGoDownBothDims) {
  for (int round = 0; round < kRounds; ++round) {
    const Strided a = tensor(2);
    const auto n = static_cast<int64_t>(a.sizes.size());
    const int64_t i = number(0, n - 1), j = (i + number(1, n - 1)) % n;
    const int64_t by = number(-5, 5), dim1 = i - n * number(0, 1);
    const Strided b{ints(geometry::diagonal_sizes("f", a.sizes, by, dim1, j)),
                    ints(geometry::diagonal_strides("f", a.strides, dim1, j)),
                    geometry::diagonal_offset("f", a.strides, by, dim1, j)};
    int64_t length = 0;
    for (int64_t k = 0; k < a.sizes[static_cast<size_t>(i)]; ++k) {
      length += k + by >= 0 && k + by < a.sizes[static_cast<size_t>(j)];
    }
    EXPECT_EQ(b.sizes.back(), length);
    for (int64_t k = 0; k < b.numel(); ++k) {
      const List at = b.index(k);
      List own;
      size_t next = 0;
      for (int64_t d = 0; d < n; ++d) {
        own.push_back(d == i   ? at.back() + std::max<int64_t>(-by, 0)
                      : d == j ? at.back() + std::max<int64_t>(by, 0)
                               : at[next++]);
      }
      EXPECT_EQ(b.place(at), a.place(own));
    }
  }
}

TEST_F(GeometryOfViews, UnfoldedDimsHaveWindows) {
  for (int round = 0; round < kRounds; ++round) {
    const Strided a = tensor(1);
    const auto n = static_cast<int64_t>(a.sizes.size());
    const int64_t dim = number(0, n - 1), step = number(1, 3);
    const auto d = static_cast<size_t>(dim);
    const int64_t size = number(1, a.sizes[d]);
    const Strided b{
        ints(geometry::unfold_sizes("f", a.sizes, dim - n, size, step)),
        ints(geometry::unfold_strides("f", a.strides, dim - n, step)), 0};
    int64_t windows = 0;
    for (int64_t at = 0; at + size <= a.sizes[d]; at += step) ++windows;
    EXPECT_EQ(b.sizes[d], windows);
    for (int64_t k = 0; k < b.numel(); ++k) {
      const List at = b.index(k);
      List own(at.begin(), at.end() - 1);
      own[d] = own[d] * step + at.back();
      EXPECT_EQ(b.place(at), a.place(own));
    }
  }
}

TEST_F(GeometryOfViews, WindowsAreCounted) {
  for (int round = 0; round < kRounds; ++round) {
    const int64_t size = number(0, 9), kernel = number(1, 4),
                  stride = number(1, 3), padding = number(0, 3),
                  dilation = number(1, 3);
    int64_t expected = 0;
    const int64_t last = (kernel - 1) * dilation;
    for (int64_t at = -padding; at + last < size + padding; at += stride) {
      ++expected;
    }
    const int64_t made = geometry::window_counts(
        "f", {size}, {kernel}, {stride}, {padding}, {dilation})[0];
    EXPECT_EQ(std::max<int64_t>(made, 0), expected);
  }
  using geometry::pooled_sizes;
  EXPECT_EQ(ints(pooled_sizes("f", 2, {3, 7, 8}, {2}, {}, {0}, {1}, true)),
            (List{3, 4, 4}));
  EXPECT_EQ(ints(pooled_sizes("f", 2, {3, 7, 8}, {2}, {}, {0}, {1}, false)),
            (List{3, 3, 4}));
  EXPECT_EQ(ints(pooled_sizes("f", 1, {2, 3, 9}, {3}, {2}, {1}, {2}, false)),
            (List{2, 3, 4}));
}

}  // namespace
}  // namespace sy
