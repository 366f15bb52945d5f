#include <gtest/gtest.h>
#include <malloc.h>
#include <sy/sy.h>

#include "runtime/load_schema.h"
#include "test/growth/described.h"
#include "test/growth/work.h"

// Doubled work takes at most three times the instructions: nothing is searched
// for among all that there is, each time.

namespace sy::test {
namespace {

int next_namespace = 0;

TEST(Growth, LoadedOperators) {
  const double g = growth(
      [](int64_t n) -> std::function<void()> {
        const std::string ns = "grow" + std::to_string(next_namespace++);
        return [ns, text = described(ns, n)] {
          load_schema_text(text, ns).keep();
        };
      },
      400);
  EXPECT_LT(g, kMostGrowth) << unit_of_work();
}

TEST(Growth, LoadedLibraries) {
  const double g = growth(
      [](int64_t n) -> std::function<void()> {
        return [n] {
          for (int64_t i = 0; i < n; ++i) {
            const std::string ns = "many" + std::to_string(next_namespace++);
            load_schema_text(described(ns, 40), ns).keep();
          }
        };
      },
      8);
  EXPECT_LT(g, kMostGrowth) << unit_of_work();
}

double bytes_of_loading(const std::string& text, const std::string& ns) {
  malloc_trim(0);
  const auto in_use = [] {
    const struct mallinfo2 m = mallinfo2();
    return static_cast<double>(m.uordblks + m.hblkhd);
  };
  const double before = in_use();
  load_schema_text(text, ns).keep();
  return in_use() - before;
}

TEST(Growth, ALoadedOperatorIsSmall) {
  EXPECT_LT(bytes_of_loading(described("small", 2000), "small") / 2000, 5500)
      << "bytes an operator";
}

// Three forms, a program, and two gradients that are programs, too.
TEST(Growth, ALoadedOperatorWithGradientsIsSmall) {
  std::string text;
  for (int i = 0; i < 2000; ++i) {
    text += "- func: full::p" + std::to_string(i) +
            "(Tensor self, Tensor other, Scalar alpha=1) -> Tensor\n"
            "  promote: int_to_float\n"
            "  pointwise: self * exp(other) + alpha\n"
            "  derivative: {self: auto, other: auto}\n\n";
  }
  EXPECT_LT(bytes_of_loading(text, "full") / 2000, 8192) << "bytes an operator";
}

TEST(Growth, UnloadedOperators) {
  const double g = growth(
      [](int64_t n) -> std::function<void()> {
        const std::string ns = "gone" + std::to_string(next_namespace++);
        auto handle = std::make_shared<SchemaHandle>(
            load_schema_text(described(ns, n), ns));
        return [handle] { handle->unload(); };
      },
      300);
  EXPECT_LT(g, kMostGrowth) << unit_of_work();
}

TEST(Growth, DepthOfAGraph) {
  const double g = growth(
      [](int64_t n) -> std::function<void()> {
        return [n] {
          const Tensor x = ones({4}).requires_grad_();
          Tensor y = x;
          for (int64_t i = 0; i < n; ++i) y = y * 1.0001;
          y.sum().backward();
          EXPECT_TRUE(x.grad().defined());
        };
      },
      2000);
  EXPECT_LT(g, kMostGrowth) << unit_of_work();
}

TEST(Growth, WidthOfAGraph) {
  const double g = growth(
      [](int64_t n) -> std::function<void()> {
        return [n] {
          const Tensor x = ones({4}).requires_grad_();
          std::vector<Tensor> parts;
          for (int64_t i = 0; i < n; ++i) parts.push_back(x * 2);
          sy::stack(parts).sum().backward();
        };
      },
      1000);
  EXPECT_LT(g, kMostGrowth) << unit_of_work();
}

TEST(Growth, LiveTensors) {
  const double g = growth(
      [](int64_t n) -> std::function<void()> {
        return [n] {
          std::vector<Tensor> all;
          for (int64_t i = 0; i < n; ++i) all.push_back(empty({8}));
          for (const Tensor& t : all) all.front().add_(t);
        };
      },
      3000);
  EXPECT_LT(g, kMostGrowth) << unit_of_work();
}

TEST(Growth, ViewsOfOneTensor) {
  const double g = growth(
      [](int64_t n) -> std::function<void()> {
        return [n] {
          const Tensor x = ones({8, 8});
          std::vector<Tensor> views;
          for (int64_t i = 0; i < n; ++i) views.push_back(x.select(0, i % 8));
          for (Tensor& v : views) v.add_(1);
        };
      },
      3000);
  EXPECT_LT(g, kMostGrowth) << unit_of_work();
}

}  // namespace
}  // namespace sy::test
