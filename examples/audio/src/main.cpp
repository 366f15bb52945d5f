#include <sy/sy.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <string>

// Loads the operators, tries their values and gradients, and unloads them.
// Usage: host libaudio.so studio.yaml

namespace {

using sy::Tensor;
int failures = 0;

void check(bool holds, const char* what) {
  std::printf("%s %s\n", holds ? "PASS" : "FAIL", what);
  failures += holds ? 0 : 1;
}

// Passes if `body` throws an Error whose message has `part`.
void check_throws(const char* what, const std::function<void()>& body,
                  const std::string& part) {
  try {
    body();
    check(false, what);
  } catch (const sy::Error& e) {
    const bool named = std::string(e.what()).find(part) != std::string::npos;
    if (!named) std::printf("  %s\n", e.what());
    check(named, what);
  }
}

template <class Signature>
auto op(const char* name) {
  return sy::typed_operator<Signature>(name);
}

void compiled_operators() {
  const Tensor x =
      sy::linspace(-1, 1, 10, sy::TensorOptions(sy::kDouble)).reshape({2, 5});
  const auto ema = op<Tensor(const Tensor&, double)>("audio::ema");
  const Tensor y = ema.call(x, 0.5);
  double expected = 0;
  for (int64_t i = 0; i < 5; ++i) {
    expected =
        0.5 * x.select(0, 1).select(0, i).item<double>() + 0.5 * expected;
  }
  check(std::abs(y.select(0, 1).select(0, 4).item<double>() - expected) < 1e-12,
        "ema is what its recurrence says");
  check(sy::allclose(ema.call(x.t(), 0.5), ema.call(x.t().contiguous(), 0.5)),
        "of strided rows too");
  check(ema.call(x.to(sy::kBFloat16), 0.5).scalar_type() == sy::kBFloat16,
        "in the dtype of its argument");
  Tensor out = sy::empty({0}, x.options());
  op<Tensor&(const Tensor&, double, Tensor&)>("audio::ema.out")
      .call(x, 0.5, out);
  check(sy::allclose(out, y), "its out= form is derived");
  check(ema.call(x.to(sy::Device(sy::kMeta)), 0.5).sizes() == x.sizes(),
        "and its shapes without data");
  check_throws(
      "the requirements of audio.yaml are checked",
      [&] { ema.call(x.to(sy::kLong), 0.5); }, "a floating dtype");

  const auto loudness = op<Tensor(const Tensor&, double)>("audio::loudness");
  const auto f = [&](sy::TensorList in) {
    return std::vector<Tensor>{loudness.call(in[0], 0.25)};
  };
  check(sy::autograd::gradcheck(f, {x.clone().requires_grad_()}).ok(),
        "gradients go through all of them");
  check(sy::autograd::gradgradcheck(f, {x.clone().requires_grad_()}).ok(),
        "and so do second ones");
}

void run_time_operators() {
  const Tensor x = sy::linspace(-3, 3, 8, sy::TensorOptions(sy::kDouble));
  const auto drive = op<Tensor(const Tensor&, double)>("studio::drive");
  const Tensor y = drive.call(x, 4);
  check(sy::allclose(y, x * 4 / (sy::abs(x * 4) + 1)),
        "studio.yaml's operator runs the library's kernel");
  const auto f = [&](sy::TensorList in) {
    return std::vector<Tensor>{drive.call(in[0], 4)};
  };
  check(sy::autograd::gradcheck(f, {(x + 0.1).requires_grad_()}).ok(),
        "with the gradient that studio.yaml says");
  check_throws(
      "and its contract",
      [&] { op<Tensor(const Tensor&, double)>("studio::limit").call(x, -1); },
      "a positive bound");
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::fprintf(stderr, "usage: host libaudio.so studio.yaml\n");
    return 2;
  }
  sy::SchemaHandle schema = sy::load_schema(argv[2]);
  check_throws(
      "without the library, its operator has no kernel",
      [] {
        op<Tensor(const Tensor&, double)>("studio::limit")
            .call(sy::ones({2}), 1);
      },
      "studio::limit");
  sy::LibraryHandle library = sy::load_library(argv[1]);
  compiled_operators();
  run_time_operators();
  check_throws(
      "the schema stays while the library has a kernel for it",
      [&] { schema.unload(); }, "audio");
  library.unload();
  check_throws(
      "the operators are gone with the library",
      [] { op<Tensor(const Tensor&, double)>("audio::ema"); }, "audio::ema");
  schema.unload();
  check(!schema, "and the schema after it");
  return failures == 0 ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "host: %s\n", e.what());
  return 1;
}
