#include "test/backends/cuda/numeric_fixture.h"

namespace sy::cuda::testing {
namespace {

// Numbers of every kind: denormals, the largest, infinities and NaN.
Tensor kinds(ScalarType dtype) {
  constexpr double kNumbers[] = {0.0,      -0.0,      1.0,   -1.5,   0.7,
                                 5e-324,   -3e-310,   1e-45, 1e-40,  6e-8,
                                 65504.0,  -3.4e38,   1e308, 1e-8,   1024.0,
                                 INFINITY, -INFINITY, 0.499, 2.0e-38};
  const Tensor t = empty({static_cast<int64_t>(std::size(kNumbers))},
                         TensorOptions(kDouble));
  std::copy(std::begin(kNumbers), std::end(kNumbers),
            static_cast<double*>(t.data_ptr()));
  return t.to(dtype);
}

TEST(Number, frexp_takes_every_kind_apart) {
  for (const ScalarType dtype : floating_dtypes()) {
    const Pair p = pair(kinds(dtype));
    const auto [m, e] = frexp(p.cpu);
    const auto [n, f] = frexp(p.cuda);
    EXPECT_TRUE(same(m, n)) << dtype;
    EXPECT_TRUE(same(e, f)) << dtype;
  }
  for (const LaidOut layout : all_layouts()) {
    const Pair p = laid_out({3, 4, 5}, layout, kFloat);
    EXPECT_TRUE(same(std::get<0>(frexp(p.cpu)), std::get<0>(frexp(p.cuda))))
        << name_of(layout);
  }
  EXPECT_TRUE(std::isnan(std::get<0>(frexp(pair(full({1}, Scalar(NAN))).cuda))
                             .to(kCPU)
                             .item<double>()));
}

TEST(Number, nextafter_of_every_kind_towards_every_kind) {
  for (const ScalarType dtype : floating_dtypes()) {
    const Pair p = pair(kinds(dtype));
    const Pair q = view(p, [](const Tensor& t) { return t.reshape({-1, 1}); });
    EXPECT_TRUE(same(nextafter(p.cpu, q.cpu), nextafter(p.cuda, q.cuda)))
        << dtype;
  }
  const Pair f = pair(kinds(kFloat)), d = pair(kinds(kDouble));
  EXPECT_TRUE(same(nextafter(f.cpu, d.cpu), nextafter(f.cuda, d.cuda)));
  const Pair one = pair(ones({}, TensorOptions(kFloat)));
  EXPECT_TRUE(same(nextafter(f.cpu, one.cpu), nextafter(f.cuda, one.cpu)));
  const Tensor nan =
      nextafter(pair(full({1}, Scalar(NAN))).cuda, pair(ones({1})).cuda);
  EXPECT_TRUE(std::isnan(nan.to(kCPU).item<double>()));
}

}  // namespace
}  // namespace sy::cuda::testing
