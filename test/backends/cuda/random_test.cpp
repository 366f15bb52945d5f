#include "c10/device/generator.h"
#include "test/backends/cuda/numeric_fixture.h"

namespace sy::cuda::testing {
namespace {

Generator on_cpu(uint64_t seed) { return make_generator(seed); }
Generator on_cuda(uint64_t seed) {
  return make_generator(seed, with_index(Device(kCUDA)));
}

// f(tensor, generator) on both, from the same place of the same stream: the
// same bits, and as much of the stream used.
template <class F>
::testing::AssertionResult draws_the_same(const Pair& p, const F& f,
                                          uint64_t offset = 5) {
  const Generator a = on_cpu(11), b = on_cuda(11);
  a->set_offset(offset);
  b->set_offset(offset);
  const Tensor x = f(p.cpu, a), y = f(p.cuda, b);
  const auto equal = same(x, y);
  if (!equal) return equal;
  if (a->offset() == b->offset()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "the CPU moved to " << a->offset()
                                       << ", the device to " << b->offset();
}

Pair zeros_of(IntArrayRef sizes, ScalarType dtype) {
  return pair(zeros(sizes, TensorOptions(dtype)));
}

const std::vector<std::vector<int64_t>>& shapes() {
  static const std::vector<std::vector<int64_t>> list = {
      {}, {0}, {1}, {2}, {3}, {5}, {7, 9}, {4099}};
  return list;
}

TEST(Random, uniform_numbers_are_those_of_the_cpu) {
  for (const ScalarType dtype : floating_dtypes()) {
    for (const auto& shape : shapes()) {
      for (const double to : {1.0, 3.25}) {
        EXPECT_TRUE(draws_the_same(zeros_of(shape, dtype),
                                   [&](Tensor t, const Generator& g) {
                                     return t.uniform_(-0.5, to, g);
                                   }))
            << dtype << " " << IntArrayRef(shape);
      }
    }
  }
}

TEST(Random, normal_numbers_are_those_of_the_cpu) {
  for (const ScalarType dtype : floating_dtypes()) {
    for (const auto& shape : shapes()) {
      EXPECT_TRUE(draws_the_same(
          zeros_of(shape, dtype),
          [](Tensor t, const Generator& g) { return t.normal_(2, 0.75, g); }))
          << dtype << " " << IntArrayRef(shape);
    }
  }
}

TEST(Random, whole_numbers_are_those_of_the_cpu) {
  for (const ScalarType dtype : all_dtypes()) {
    const int64_t to = dtype == kBool ? 2 : 100;
    const int64_t from = dtype == kBool || dtype == kByte ? 0 : -100;
    for (const auto& shape : shapes()) {
      const Pair p = zeros_of(shape, dtype);
      EXPECT_TRUE(draws_the_same(
          p, [](Tensor t, const Generator& g) { return t.random_(g); }))
          << dtype << " " << IntArrayRef(shape);
      EXPECT_TRUE(draws_the_same(
          p, [&](Tensor t, const Generator& g) { return t.random_(to, g); }))
          << dtype << " " << IntArrayRef(shape);
      EXPECT_TRUE(draws_the_same(
          p,
          [&](Tensor t, const Generator& g) { return t.random_(from, to, g); }))
          << dtype << " " << IntArrayRef(shape);
    }
  }
  EXPECT_TRUE(
      draws_the_same(zeros_of({50}, kLong), [](Tensor t, const Generator& g) {
        return t.random_(INT64_MIN, std::nullopt, g);
      }));
  // Rounded, these reach the bound.
  EXPECT_TRUE(
      draws_the_same(zeros_of({500}, kHalf), [](Tensor t, const Generator& g) {
        return t.random_(-60000, 60001, g);
      }));
}

TEST(Random, ones_by_chance_are_those_of_the_cpu) {
  for (const ScalarType dtype : all_dtypes()) {
    EXPECT_TRUE(draws_the_same(zeros_of({7, 9}, dtype), [](Tensor t,
                                                           const Generator& g) {
      return t.bernoulli_(0.3, g);
    })) << dtype;
  }
  for (const ScalarType dtype : floating_dtypes()) {
    const Pair chances =
        pair(arange(64, TensorOptions(kDouble)).div(Scalar(63)).to(dtype));
    EXPECT_TRUE(draws_the_same(chances, [](const Tensor& t,
                                           const Generator& g) {
      return bernoulli(t, g);
    })) << dtype;
  }
}

TEST(Random, elements_count_in_row_major_order_in_every_layout) {
  for (const LaidOut layout : all_layouts()) {
    if (layout == LaidOut::kExpanded) continue;
    const Pair p = laid_out({6, 5, 4}, layout, kFloat);
    EXPECT_TRUE(draws_the_same(p, [](Tensor t, const Generator& g) {
      return t.uniform_(0, 1, g);
    })) << name_of(layout);
  }
  const Pair one = pair(zeros({1, 4}, TensorOptions(kFloat)));
  Tensor wide = one.cuda.expand({3, 4});
  EXPECT_THROW(wide.uniform_(), ValueError);
}

TEST(Random, the_default_generator_of_the_device_is_seeded_with_all) {
  manual_seed(21);
  const Tensor a = randn({33});
  manual_seed(21);
  const Tensor b = randn({33}, TensorOptions().device(Device(kCUDA)));
  EXPECT_TRUE(same(a, b));
}

TEST(Random, orders_are_those_of_the_cpu) {
  for (const ScalarType dtype : {kLong, kInt, kShort, kFloat, kHalf}) {
    for (const int64_t n : {0, 1, 2, 3, 10, 1001}) {
      EXPECT_TRUE(draws_the_same(
          zeros_of({0}, dtype),
          [&](Tensor t, const Generator& g) { return randperm_out(t, n, g); }))
          << dtype << " " << n;
    }
  }
  Tensor narrow = zeros_of({0}, kByte).cuda;
  EXPECT_THROW(randperm_out(narrow, 300), ValueError);
}

TEST(Random, errors_are_those_of_the_cpu) {
  Tensor t = zeros_of({3}, kFloat).cuda, b = zeros_of({3}, kByte).cuda;
  EXPECT_THROW(t.uniform_(2, 1), ValueError);
  EXPECT_THROW(t.uniform_(0, 1e60), ValueError);
  EXPECT_THROW(t.normal_(0, -1), ValueError);
  EXPECT_THROW(t.random_(3, 3), ValueError);
  EXPECT_THROW(b.random_(257), ValueError);
  EXPECT_THROW(b.random_(-1, 5), ValueError);
  EXPECT_THROW(b.uniform_(), Error);
  EXPECT_THROW(t.uniform_(0, 1, on_cpu(1)), ValueError);
}

TEST(Random, a_chance_out_of_range_is_named) {
  const Tensor t = pair(full({3}, Scalar(1.5), TensorOptions(kFloat))).cuda;
  const std::string error = error_of([&] { bernoulli(t); });
  EXPECT_NE(error.find("bernoulli"), std::string::npos) << error;
  EXPECT_NE(error.find("1.5"), std::string::npos) << error;
}

TEST(Distribution, poisson_numbers_are_those_of_the_cpu) {
  for (const ScalarType dtype : floating_dtypes()) {
    const Pair means =
        view(pair(arange(160, TensorOptions(kDouble)).div(Scalar(4)).to(dtype)),
             [](const Tensor& t) {
               return t.reshape({8, 20}).t();
             });
    EXPECT_TRUE(draws_the_same(means, [](const Tensor& t, const Generator& g) {
      return poisson(t, g);
    })) << dtype;
  }
}

TEST(Distribution, binomial_numbers_are_those_of_the_cpu) {
  for (const ScalarType dtype : floating_dtypes()) {
    const Tensor chances =
        arange(11, TensorOptions(kDouble)).div(Scalar(10)).to(dtype);
    const Tensor counts =
        arange(60, TensorOptions(kDouble)).to(dtype).reshape({60, 1});
    EXPECT_TRUE(draws_the_same(pair(counts), [&](const Tensor& t,
                                                 const Generator& g) {
      return binomial(t, chances.to(t.device()), g);
    })) << dtype;
  }
}

TEST(Distribution, numbers_that_are_none_are_named) {
  const auto of = [](double v) {
    return pair(full({2}, Scalar(v), TensorOptions(kDouble))).cuda;
  };
  const std::string mean = error_of([&] { poisson(of(-2.5)); });
  EXPECT_NE(mean.find("poisson"), std::string::npos) << mean;
  EXPECT_NE(mean.find("-2.5"), std::string::npos) << mean;
  const std::string count = error_of([&] { binomial(of(-3), of(0.5)); });
  EXPECT_NE(count.find("count"), std::string::npos) << count;
  EXPECT_NE(count.find("-3"), std::string::npos) << count;
  const std::string chance = error_of([&] { binomial(of(3), of(1.25)); });
  EXPECT_NE(chance.find("prob"), std::string::npos) << chance;
  EXPECT_NE(chance.find("1.25"), std::string::npos) << chance;
  EXPECT_NE(error_of([&] { poisson(of(INFINITY)); }), "");
  EXPECT_NE(error_of([&] { poisson(of(NAN)); }), "");
  EXPECT_EQ(error_of([&] { poisson(of(3)); }), "");
}

}  // namespace
}  // namespace sy::cuda::testing
