#include "backends/cuda/cub/library.h"
#include "backends/cuda/sort.h"
#include "test/backends/cuda/numeric_fixture.h"

// CUB, or its double (fake/cub), gives the results of our own kernels to the
// bit.

namespace sy::cuda::testing {
namespace {

class Cub : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cub::functions(0) == nullptr) GTEST_SKIP() << cub::describe();
    use_cub();
  }
  void TearDown() override { cub::least() = {}; }

  // Uses CUB from the first element on; or never.
  static void use_cub() { cub::least() = {1, 1, 1, 1, 1}; }
  static void use_own() {
    constexpr int64_t kNever = int64_t{1} << 62;
    cub::least() = {kNever, kNever, kNever, kNever, kNever};
  }

  // f() gives the bits of `expected` by CUB, with at least so many calls of it,
  // and by our own kernels.
  template <class F>
  static void expect(const std::vector<Tensor>& expected, int64_t least_calls,
                     const F& f) {
    use_cub();
    const int64_t before = cub::calls();
    const std::vector<Tensor> by_cub = f();
    EXPECT_GE(cub::calls() - before, least_calls);
    use_own();
    const int64_t then = cub::calls();
    const std::vector<Tensor> own = f();
    EXPECT_EQ(cub::calls(), then);
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_TRUE(same(expected[i], by_cub[i])) << "result " << i;
      EXPECT_TRUE(same(expected[i], own[i])) << "own result " << i;
    }
  }
};

template <class... T>
std::vector<Tensor> list(const std::tuple<T...>& t) {
  return std::apply([](const auto&... e) { return std::vector<Tensor>{e...}; },
                    t);
}

TEST_F(Cub, sorts_every_dtype_and_layout) {
  const std::vector<std::vector<int64_t>> shapes = {{},     {7},     {0},
                                                    {3, 0}, {2, 33}, {4, 3, 9}};
  for (const ScalarType dtype : all_dtypes()) {
    for (const auto& shape : shapes) {
      for (const LaidOut layout : all_layouts()) {
        const Pair p = laid_out(shape, layout,
                                [&](IntArrayRef s) { return ties(s, dtype); });
        for (const bool descending : {false, true}) {
          SCOPED_TRACE(::testing::Message()
                       << dtype << " " << IntArrayRef(shape) << " "
                       << name_of(layout) << " descending " << descending);
          expect(list(sort(p.cpu, true, 0, descending)), p.cpu.numel() > 0,
                 [&] { return list(sort(p.cuda, true, 0, descending)); });
        }
      }
    }
  }
}

// A row takes the device alone, or many share it.
TEST_F(Cub, sorts_few_and_many_long_rows) {
  for (const ScalarType dtype : {kByte, kShort, kFloat, kDouble}) {
    for (const int64_t rows : {1, 3, 40}) {
      const Pair p = pair(ties({rows, 900}, dtype, 5, 3000));
      expect(list(sort(p.cpu, true, 1, true)), 1,
             [&] { return list(sort(p.cuda, true, 1, true)); });
    }
  }
  const Pair long_one = pair(ties({9001}, kHalf, 5, 3000));
  expect(list(sort(long_one.cpu)), 1,
         [&] { return list(sort(long_one.cuda)); });
}

TEST_F(Cub, sorts_by_the_digits_of_a_bound) {
  for (const int64_t bound : {1, 256, 257, 70000}) {
    const Pair p = pair(indices({3000}, bound));
    expect(list(sort(p.cpu)), 1, [&] {
      const SortedKeys s = sort_keys(p.cuda, bound);
      return std::vector<Tensor>{s.keys, s.places};
    });
  }
}

TEST_F(Cub, takes_the_first_and_the_most_frequent) {
  const Pair p = pair(different({2, 5000}, kFloat));
  expect(list(topk(p.cpu, 4500)), 1, [&] { return list(topk(p.cuda, 4500)); });
  const Pair t = pair(ties({3, 300}, kFloat, 3, 30));
  expect(list(mode(t.cpu, 1)), 1, [&] { return list(mode(t.cuda, 1)); });
}

// The least size is that of users.
TEST_F(Cub, sorts_from_the_least_size_on) {
  cub::least() = {};
  const Pair p = pair(ties({cub::least().sort_row}, kFloat, 5, 3000));
  const int64_t before = cub::calls();
  const auto [values, places] = sort(p.cuda, true, 0, false);
  EXPECT_EQ(cub::calls(), before + 1);
  const auto [expected, order] = sort(p.cpu, true, 0, false);
  EXPECT_TRUE(same(expected, values));
  EXPECT_TRUE(same(order, places));
}

// The thread's stream is not the first, and work before it is slow.
TEST_F(Cub, sorts_in_the_order_of_the_stream) {
  const Stream side = Stream::make(Device(kCUDA));
  const StreamGuard guard(side);
  const Pair p = pair(ties({5000}, kFloat, 4, 900));
  for (int i = 0; i < 8; ++i) {
    const auto [values, places] = sort(p.cuda.flip(0), true, 0, false);
    EXPECT_TRUE(same(std::get<0>(sort(p.cpu.flip(0), true, 0, false)), values));
    EXPECT_TRUE(same(p.cpu.flip(0).index_select(0, places.cpu()), values));
  }
}

TEST_F(Cub, finds_what_differs) {
  for (const ScalarType dtype : all_dtypes()) {
    for (const auto& shape :
         std::vector<std::vector<int64_t>>{{}, {1}, {0}, {60}, {2, 9}}) {
      SCOPED_TRACE(::testing::Message() << dtype << " " << IntArrayRef(shape));
      const Pair p = pair(ties(shape, dtype, 2));
      expect(list(_unique2(p.cpu, true, true, true)), p.cpu.numel() > 0,
             [&] { return list(_unique2(p.cuda, true, true, true)); });
      expect(list(_unique(p.cpu, true, false)), 0,
             [&] { return list(_unique(p.cuda, true, false)); });
      expect(list(unique_consecutive(p.cpu, true, true)), 0,
             [&] { return list(unique_consecutive(p.cuda, true, true)); });
    }
  }
  const Pair rows = pair(indices({4, 6}, 3));
  expect(list(unique_consecutive(rows.cpu, true, true, 1)), 0,
         [&] { return list(unique_consecutive(rows.cuda, true, true, 1)); });
  EXPECT_THROW(unique_consecutive(rows.cuda, true, true, 2), IndexError);
}

// Several tiles, in which groups begin and end anywhere.
TEST_F(Cub, finds_what_differs_in_many) {
  for (const unsigned values : {2u, 100u, 40000u}) {
    const Pair p = view(pair(ties({10000, 2}, kFloat, 8, values)),
                        [](const Tensor& t) { return t.select(1, 0); });
    expect(list(_unique2(p.cpu, true, true, true)), 1,
           [&] { return list(_unique2(p.cuda, true, true, true)); });
    const Pair runs = view(p, [](const Tensor& t) {
      return std::get<0>(sort(t.clamp(-1, 1), true, 0, false));
    });
    expect(list(unique_consecutive(runs.cpu, true, true)), 0,
           [&] { return list(unique_consecutive(runs.cuda, true, true)); });
  }
}

TEST_F(Cub, selects) {
  for (const int64_t n : {0, 1, 9000}) {
    const Pair mask = pair(ties({n}, kBool, 3));
    const Pair x = pair(numbers({n}, kFloat));
    expect({nonzero(mask.cpu)}, n > 0,
           [&] { return std::vector<Tensor>{nonzero(mask.cuda)}; });
    expect({x.cpu.masked_select(mask.cpu)}, n > 0, [&] {
      return std::vector<Tensor>{x.cuda.masked_select(mask.cuda)};
    });
    expect({nonzero_static(mask.cpu, 5)}, 0,
           [&] { return std::vector<Tensor>{nonzero_static(mask.cuda, 5)}; });
  }
  const Pair p = laid_out({5, 70}, LaidOut::kTransposed, kInt);
  expect({nonzero(p.cpu)}, 0,
         [&] { return std::vector<Tensor>{nonzero(p.cuda)}; });
}

TEST_F(Cub, counts_numbers) {
  for (const ScalarType dtype : {kByte, kChar, kShort, kInt, kLong}) {
    for (const int64_t n : {0, 1, 6000}) {
      const Pair p = pair(indices({n}, 100, dtype));
      for (const int64_t least : {0, 300}) {
        expect({bincount(p.cpu, {}, least)}, n > 0, [&] {
          return std::vector<Tensor>{bincount(p.cuda, {}, least)};
        });
      }
    }
  }
  const Pair wide = pair(indices({3000}, 100000));
  expect({bincount(wide.cpu)}, 1,
         [&] { return std::vector<Tensor>{bincount(wide.cuda)}; });
  const Pair weights = pair(numbers({3000}, kFloat));
  expect({bincount(wide.cpu, weights.cpu)}, 0, [&] {
    return std::vector<Tensor>{bincount(wide.cuda, weights.cuda)};
  });
  EXPECT_THROW(bincount(pair(numbers({9}, kInt)).cuda), ValueError);
}

TEST_F(Cub, counts_elements_in_bins) {
  for (const ScalarType dtype : floating_dtypes()) {
    const Pair p = pair(ties({40, 50}, dtype, 6, 100));
    for (const int64_t bins : {1, 7, 100}) {
      expect({histc(p.cpu, bins, -20, 30)}, 1,
             [&] { return std::vector<Tensor>{histc(p.cuda, bins, -20, 30)}; });
    }
    const Pair own = pair(numbers({500}, dtype));
    expect({histc(own.cpu, 10)}, 1,
           [&] { return std::vector<Tensor>{histc(own.cuda, 10)}; });
    const Pair none = pair(numbers({0}, dtype));
    expect({histc(none.cpu, 3)}, 0,
           [&] { return std::vector<Tensor>{histc(none.cuda, 3)}; });
    EXPECT_THROW(histc(p.cuda, 3), ValueError);  // NaN among the elements
  }
}

}  // namespace
}  // namespace sy::cuda::testing
