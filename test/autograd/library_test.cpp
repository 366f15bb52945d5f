#include <gtest/gtest.h>
#include <sy/sy.h>

#include <cmath>
#include <string>

// A library is not unloaded while a graph needs its code.

namespace sy {
namespace {

constexpr const char* kLibrary = "test/autograd/plugins/libcube.so";

Tensor call(const char* name, const Tensor& x) {
  static const char* const prefix = "cube::";
  return typed_operator<Tensor(const Tensor&)>(std::string(prefix) + name)
      .call(x);
}

std::string refusal(LibraryHandle& library) {
  try {
    library.unload();
  } catch (const Error& e) {
    return e.message();
  }
  return "";
}

void expect_held(const char* name, const char* by, double gradient) {
  SCOPED_TRACE(name);
  LibraryHandle library = load_library(kLibrary);
  const Tensor x = ones({2}, kDouble).requires_grad_();
  Tensor y = call(name, x);
  EXPECT_NE(refusal(library).find(by), std::string::npos) << refusal(library);
  y.sum().backward();
  EXPECT_NEAR(x.grad()[0].item<double>(), gradient, 1e-12);
  y = Tensor();
  EXPECT_EQ(refusal(library), "");
}

TEST(LibraryInAGraph, HoldsItsNodes) {
  expect_held("apply", "1 graph node", 3);
}

TEST(LibraryInAGraph, HoldsItsHooks) { expect_held("hooked", "1 hook", 20); }

TEST(LibraryInAGraph, HoldsWhatItPacked) {
  expect_held("packed", "1 hook", std::exp(1.0));
}

TEST(LibraryInAGraph, HoldsItsCheckpoints) {
  expect_held("again", "1 hook", std::exp(1.0) * std::exp(std::exp(1.0)));
}

}  // namespace
}  // namespace sy
