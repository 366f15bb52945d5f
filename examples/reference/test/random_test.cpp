#include <sy/library.h>
#include <sy/sy.h>

#include <cstdio>
#include <functional>

// The device draws the numbers of the CPU for the same seed. Usage:
// random_test LIBRARY

namespace {

using Draw = std::function<sy::Tensor(sy::Device)>;

int failed = 0;

void expect_same(const char* name, const Draw& draw, double rtol = 0) {
  sy::Tensor results[2];
  for (int i = 0; i < 2; ++i) {
    sy::manual_seed(17);
    const sy::Device device =
        i == 0 ? sy::Device(sy::kCPU) : sy::Device("reference");
    draw(device);  // the second draw goes on in the stream
    results[i] = draw(device).to(sy::kDouble).to(sy::Device(sy::kCPU));
  }
  const bool same = sy::allclose(results[1], results[0], rtol, rtol);
  const bool varied =
      results[0].max().item<double>() != results[0].min().item<double>();
  std::printf("%s %s\n", same && varied ? "PASS" : "FAIL", name);
  failed += same && varied ? 0 : 1;
}

void expect_all_draws(sy::ScalarType dtype) {
  const auto room = [dtype](sy::Device d) {
    return sy::empty({33, 5}, sy::TensorOptions(dtype).device(d));
  };
  const auto chances = [](sy::Device d) {
    return sy::linspace(0, 1, 65).to(sy::kDouble).to(d);
  };
  expect_same("random_", [&](sy::Device d) { return room(d).random_(); });
  expect_same("random_ to", [&](sy::Device d) { return room(d).random_(100); });
  expect_same("random_ from, to",
              [&](sy::Device d) { return room(d).random_(3, 50); });
  expect_same("bernoulli_",
              [&](sy::Device d) { return room(d).bernoulli_(0.3); });
  expect_same("bernoulli",
              [&](sy::Device d) { return sy::bernoulli(chances(d)); });
  expect_same("poisson", [&](sy::Device d) {
    return sy::poisson(chances(d) * 40);  // both of its methods
  });
  expect_same("binomial", [&](sy::Device d) {
    return sy::binomial(sy::full_like(chances(d), 60), chances(d));
  });
  expect_same("randperm", [&](sy::Device d) {
    return sy::randperm(97, sy::TensorOptions(sy::kLong).device(d));
  });
  if (!sy::is_floating_type(dtype)) return;
  expect_same("uniform_",
              [&](sy::Device d) { return room(d).uniform_(-2, 3); });
  // Logarithms and sines are not those of the CPU to the last bit.
  const double rounding = dtype == sy::kBFloat16 ? 1e-2
                          : dtype == sy::kHalf   ? 1e-3
                                                 : 1e-5;
  expect_same(
      "normal_", [&](sy::Device d) { return room(d).normal_(1, 2); }, rounding);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto library = sy::load_library(argv[1]);
  for (const sy::ScalarType dtype : {sy::kFloat, sy::kDouble, sy::kHalf,
                                     sy::kBFloat16, sy::kByte, sy::kLong}) {
    std::printf("%s\n", sy::str("{}", dtype).c_str());
    expect_all_draws(dtype);
  }
  for (const sy::FallbackCount& f : sy::fallback_counts()) {
    std::printf("FAIL %s went to the CPU %lld times\n", f.op.c_str(),
                static_cast<long long>(f.calls));
    ++failed;
  }
  return failed == 0 ? 0 : 1;
}
