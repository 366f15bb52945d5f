#include "backends/cuda/sort.h"

#include <algorithm>
#include <numeric>

#include "test/backends/cuda/numeric_fixture.h"

namespace sy::cuda::testing {
namespace {

using Two = std::tuple<Tensor, Tensor>;

::testing::AssertionResult same_two(const Two& cpu, const Two& cuda) {
  const auto first = same(std::get<0>(cpu), std::get<0>(cuda));
  return first ? same(std::get<1>(cpu), std::get<1>(cuda)) : first;
}

TEST(Sort, every_dtype_layout_and_dim_as_on_the_cpu) {
  const std::vector<std::vector<int64_t>> shapes = {
      {}, {1}, {7}, {0}, {3, 0}, {5, 33}, {4, 3, 9}};
  for (const ScalarType dtype : all_dtypes()) {
    for (const auto& shape : shapes) {
      for (const LaidOut layout : all_layouts()) {
        const Pair p = laid_out(shape, layout,
                                [&](IntArrayRef s) { return ties(s, dtype); });
        for (int64_t dim = -1; dim < std::max<int64_t>(1, p.cpu.dim()); ++dim) {
          for (const bool descending : {false, true}) {
            EXPECT_TRUE(same_two(sort(p.cpu, true, dim, descending),
                                 sort(p.cuda, true, dim, descending)))
                << dtype << " " << IntArrayRef(shape) << " " << name_of(layout)
                << " dim " << dim << " descending " << descending;
          }
        }
      }
    }
  }
}

TEST(Sort, rows_about_the_room_of_a_block) {
  for (const ScalarType dtype : {kByte, kFloat, kDouble, kLong}) {
    for (const int64_t n : {2, 31, 32, 33, 1024, 2047, 2048, 2049}) {
      const Pair p = pair(ties({2, n}, dtype, static_cast<unsigned>(n), 1000));
      EXPECT_TRUE(same_two(sort(p.cpu), sort(p.cuda))) << dtype << " " << n;
    }
  }
}

// Digits are sorted in several tiles, of which each waits for those before it.
TEST(Sort, long_rows_of_every_dtype) {
  for (const ScalarType dtype : all_dtypes()) {
    for (const bool descending : {false, true}) {
      const Pair p = pair(ties({2, 9001}, dtype, 5, 3000));
      EXPECT_TRUE(same_two(sort(p.cpu, true, 1, descending),
                           sort(p.cuda, true, 1, descending)))
          << dtype << " descending " << descending;
    }
  }
}

TEST(Sort, long_rows_that_are_sorted_or_equal) {
  const Tensor up = arange(10000, TensorOptions(kInt));
  for (const Tensor& t : {up, up.flip({0}), zeros({10000}, TensorOptions(kInt)),
                          up.remainder(Scalar(2))}) {
    const Pair p = pair(t);
    EXPECT_TRUE(same_two(sort(p.cpu), sort(p.cuda)));
  }
}

TEST(Sort, integers_over_all_of_their_range) {
  for (const ScalarType dtype : {kChar, kShort, kInt, kLong}) {
    for (const int64_t n : {100, 5000}) {
      Tensor t = empty({n}, TensorOptions(dtype));
      std::mt19937_64 random(3);
      auto* const bytes = static_cast<uint8_t*>(t.data_ptr());
      for (size_t i = 0; i < static_cast<size_t>(n) * t.itemsize(); ++i) {
        bytes[i] = static_cast<uint8_t>(random());
      }
      const Pair p = pair(t);
      EXPECT_TRUE(same_two(sort(p.cpu), sort(p.cuda))) << dtype << " " << n;
    }
  }
}

TEST(Sort, out_and_a_dim_that_is_none) {
  const Pair p = pair(ties({3, 5}, kFloat));
  Tensor values = empty({0}, p.cuda.options());
  Tensor places = empty({0}, p.cuda.options().dtype(kLong));
  sort_out(values, places, p.cuda, 0);
  EXPECT_TRUE(same_two(sort(p.cpu, 0), {values, places}));
  EXPECT_THROW(sort(p.cuda, 2), IndexError);
}

TEST(SortKeys, looks_at_the_digits_of_the_bound_alone) {
  for (const int64_t bound : {1, 2, 256, 257, 70000}) {
    for (const int64_t n : {0, 1, 100, 6000}) {
      const Pair p = pair(indices({n}, bound));
      const SortedKeys sorted = sort_keys(p.cuda, bound);
      EXPECT_TRUE(same_two(sort(p.cpu), {sorted.keys, sorted.places}))
          << bound << " " << n;
    }
  }
}

// Equal elements come as the host's library leaves them.
TEST(Topk, ties_as_on_the_cpu) {
  for (const ScalarType dtype : all_dtypes()) {
    if (dtype == kBool) continue;
    for (const int64_t n : {1, 2, 3, 5, 17, 40, 200, 1000}) {
      for (const int64_t k :
           {int64_t{0}, int64_t{1}, int64_t{2}, n / 65, n / 2, n - 1, n}) {
        if (k > n || k < 0) continue;
        for (const bool largest : {false, true}) {
          for (const bool sorted : {false, true}) {
            const Pair p =
                pair(ties({3, n}, dtype, static_cast<unsigned>(n + k)));
            EXPECT_TRUE(same_two(topk(p.cpu, k, -1, largest, sorted),
                                 topk(p.cuda, k, -1, largest, sorted)))
                << dtype << " " << k << " of " << n << " largest " << largest
                << " sorted " << sorted;
          }
        }
      }
    }
  }
}

TEST(Topk, few_of_long_rows_with_ties) {
  for (const ScalarType dtype : {kFloat, kBFloat16, kLong, kByte}) {
    for (const int64_t k : {1, 3, 70, 78}) {
      const Pair p = pair(ties({2, 5000}, dtype, 3, 200));
      EXPECT_TRUE(same_two(topk(p.cpu, k), topk(p.cuda, k)))
          << dtype << " " << k;
    }
  }
}

TEST(Topk, many_of_long_rows_without_ties) {
  for (const ScalarType dtype : {kFloat, kDouble, kInt}) {
    for (const int64_t k : {100, 2000, 4500, 5000}) {
      for (const bool largest : {false, true}) {
        const Pair p = pair(different({2, 5000}, dtype));
        EXPECT_TRUE(
            same_two(topk(p.cpu, k, 1, largest), topk(p.cuda, k, 1, largest)))
            << dtype << " " << k;
      }
    }
  }
}

// Equal elements of longer rows come in the order of their places.
TEST(Topk, many_of_long_rows_with_ties_by_place) {
  for (const int64_t k : {300, 2000, 4900}) {
    const Pair p = pair(ties({2, 5000}, kHalf, 9, 30));
    const auto [values, places] = topk(p.cuda, k);
    const auto [sorted, order] = sort(p.cpu, true, 1, true);
    EXPECT_TRUE(same(sorted.narrow(1, 0, k), values)) << k;
    EXPECT_TRUE(same(order.narrow(1, 0, k), places)) << k;
  }
}

TEST(Topk, along_any_dim_of_any_layout) {
  for (const LaidOut layout : all_layouts()) {
    const Pair p = laid_out({6, 5, 4}, layout,
                            [](IntArrayRef s) { return ties(s, kInt); });
    for (const int64_t dim : {0, 1, 2}) {
      EXPECT_TRUE(same_two(topk(p.cpu, 3, dim), topk(p.cuda, 3, dim)))
          << name_of(layout) << " " << dim;
    }
  }
  const Pair one = pair(ties({}, kFloat));
  EXPECT_TRUE(same_two(topk(one.cpu, 1), topk(one.cuda, 1)));
  const Pair none = pair(ties({0, 3}, kFloat));
  EXPECT_TRUE(same_two(topk(none.cpu, 2), topk(none.cuda, 2)));
  EXPECT_THROW(topk(one.cuda, 2), ValueError);
}

TEST(Mode, the_smallest_of_the_most_frequent) {
  for (const ScalarType dtype : all_dtypes()) {
    for (const int64_t n : {1, 2, 9, 300, 5000}) {
      for (const bool keepdim : {false, true}) {
        const Pair p = pair(ties({3, n}, dtype, static_cast<unsigned>(n), 30));
        EXPECT_TRUE(same_two(mode(p.cpu, 1, keepdim), mode(p.cuda, 1, keepdim)))
            << dtype << " " << n;
      }
    }
  }
  const Pair p = pair(ties({5, 4, 3}, kFloat));
  EXPECT_TRUE(same_two(mode(p.cpu, 0), mode(p.cuda, 0)));
  const Pair one = pair(ties({}, kLong));
  EXPECT_TRUE(same_two(mode(one.cpu), mode(one.cuda)));
}

TEST(Searchsorted, every_dtype_and_side) {
  for (const ScalarType dtype : all_dtypes()) {
    if (dtype == kBool) continue;
    for (const int64_t n : {0, 1, 2, 17, 300}) {
      const Tensor row = std::get<0>(sort(ties({3, n}, dtype)));
      const Pair rows = pair(row), values = pair(ties({3, 40}, dtype, 5));
      const Pair vector = view(rows, [](const Tensor& t) { return t[1]; });
      for (const bool right : {false, true}) {
        for (const bool narrow : {false, true}) {
          EXPECT_TRUE(same(searchsorted(rows.cpu, values.cpu, narrow, right),
                           searchsorted(rows.cuda, values.cuda, narrow, right)))
              << dtype << " " << n;
          EXPECT_TRUE(
              same(searchsorted(vector.cpu, values.cpu, narrow, right),
                   searchsorted(vector.cuda, values.cuda, narrow, right)))
              << dtype << " " << n;
        }
      }
    }
  }
}

TEST(Searchsorted, mixed_dtypes_layouts_and_a_sorter) {
  const Pair rows = pair(ties({4, 10}, kInt));
  const Pair order = {std::get<1>(sort(rows.cpu)),
                      std::get<1>(sort(rows.cuda))};
  const Pair values =
      view(pair(ties({3, 4}, kDouble)), [](const Tensor& t) { return t.t(); });
  EXPECT_TRUE(same(
      searchsorted(rows.cpu, values.cpu, false, false, "right", order.cpu),
      searchsorted(rows.cuda, values.cuda, false, false, "right", order.cuda)));
}

TEST(Searchsorted, an_index_of_the_sorter_out_of_range_is_named) {
  const Pair rows = pair(arange(5, TensorOptions(kFloat)));
  const Pair values = pair(ones({2}, TensorOptions(kFloat)));
  const Pair order = pair(full({5}, Scalar(7), TensorOptions(kLong)));
  const std::string error = error_of([&] {
    searchsorted(rows.cuda, values.cuda, false, false, std::nullopt,
                 order.cuda);
  });
  EXPECT_NE(error.find("searchsorted"), std::string::npos) << error;
  EXPECT_NE(error.find("sorter"), std::string::npos) << error;
  EXPECT_NE(error.find("7"), std::string::npos) << error;
  // The device goes on.
  EXPECT_TRUE(same(searchsorted(rows.cpu, values.cpu),
                   searchsorted(rows.cuda, values.cuda)));
}

}  // namespace
}  // namespace sy::cuda::testing
