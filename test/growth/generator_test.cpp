#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "codegen/commands.h"
#include "lang/yaml.h"
#include "test/growth/described.h"
#include "test/growth/work.h"

// The tests of runtime_test.cpp, for sygen.

namespace sy::codegen {
namespace {

using test::growth;
using test::kMostGrowth;
using test::unit_of_work;

std::string file(const std::string& name, const std::string& text) {
  std::string path = ::testing::TempDir() + name;
  std::ofstream(path) << text;
  return path;
}

std::vector<std::string> known() {
  std::vector<std::string> out;
  for (const auto& e : std::filesystem::directory_iterator("schemas/ops")) {
    out.push_back(e.path().string());
  }
  for (const char* b : {"cpu", "meta"}) {
    out.push_back(std::string("backends/") + b + "/backend.yaml");
  }
  return out;
}

// Names of the library's operators are given by its files, whose share of the
// work does not grow: it is taken off.
double growth_beyond_known(
    const std::function<std::function<void()>(int64_t)>& prepare, int64_t n) {
  prepare(1)();
  const auto none = static_cast<double>(test::work_of(prepare(1)));
  const auto once = static_cast<double>(test::work_of(prepare(n)));
  const auto twice = static_cast<double>(test::work_of(prepare(2 * n)));
  return (twice - none) / (once - none);
}

TEST(Growth, Check) {
  const double g = growth_beyond_known(
      [](int64_t n) -> std::function<void()> {
        const std::string path = file("check.yaml", test::described("grow", n));
        return [path] {
          std::ostringstream err;
          EXPECT_EQ(check_files({path}, known(), err), 0) << err.str();
        };
      },
      400);
  EXPECT_LT(g, kMostGrowth) << unit_of_work();
}

// Entries of one line, in which # stands for the number.
std::string entries(int64_t n, const std::string& line) {
  std::string out;
  for (int64_t i = 0; i < n; ++i) {
    const std::string k = std::to_string(i);
    out += "- func: grow::c" + k + "(Tensor self) -> Tensor\n  " + line;
    out.replace(out.rfind('#'), 1, k);
    out += "\n\n";
  }
  return out;
}

// Each mistake is told with the name that may be meant.
TEST(Growth, CheckOfUnknownOperators) {
  const double g = growth_beyond_known(
      [](int64_t n) -> std::function<void()> {
        const std::string path =
            file("unknown.yaml", entries(n, "composite: absent#(self)"));
        return [path] {
          std::ostringstream err;
          EXPECT_EQ(check_files({path}, {}, err), 1);
        };
      },
      3000);
  EXPECT_LT(g, kMostGrowth) << unit_of_work();
}

TEST(Growth, BackendOfUnknownOperators) {
  const double g = growth_beyond_known(
      [](int64_t n) -> std::function<void()> {
        std::string yaml = "backend: Npu\ncpp_namespace: npu\nsupported:\n";
        for (int64_t i = 0; i < n; ++i) {
          yaml += "  - grow::absent" + std::to_string(i) + "\n";
        }
        EmitOptions o;
        o.kind = "backend";
        o.inputs = {file("unknown_npu.yaml", yaml)};
        o.extra = {
            file("unknown_listed.yaml", entries(n, "pointwise: self + #"))};
        o.outs = {::testing::TempDir() + "unknown_npu.h",
                  ::testing::TempDir() + "unknown_npu.cpp"};
        return [o] {
          std::ostringstream err;
          EXPECT_EQ(emit(o, err), 1);
        };
      },
      3000);
  EXPECT_LT(g, kMostGrowth) << unit_of_work();
}

TEST(Growth, EmitLibrary) {
  const double g = growth_beyond_known(
      [](int64_t n) -> std::function<void()> {
        EmitOptions o;
        o.kind = "library";
        o.inputs = {file("grown.yaml", test::described("grow", n))};
        o.extra = known();
        o.outs = {::testing::TempDir() + "grown.h",
                  ::testing::TempDir() + "grown.cpp"};
        return [o] {
          std::ostringstream err;
          EXPECT_EQ(emit(o, err), 0) << err.str();
        };
      },
      400);
  EXPECT_LT(g, kMostGrowth) << unit_of_work();
}

TEST(Growth, EmitBackend) {
  const double g = growth_beyond_known(
      [](int64_t n) -> std::function<void()> {
        std::string yaml = "backend: Npu\ncpp_namespace: npu\nsupported:\n";
        for (int64_t i = 0; i < n; ++i) {
          yaml += std::string("  - grow::") + "pcrv"[i % 4] +
                  std::to_string(i) + "\n";
        }
        EmitOptions o;
        o.kind = "backend";
        o.inputs = {file("grown_npu.yaml", yaml)};
        o.extra = known();
        o.extra.push_back(file("listed.yaml", test::described("grow", n)));
        o.outs = {::testing::TempDir() + "grown_npu.h",
                  ::testing::TempDir() + "grown_npu.cpp"};
        return [o] {
          std::ostringstream err;
          EXPECT_EQ(emit(o, err), 0) << err.str();
        };
      },
      400);
  EXPECT_LT(g, kMostGrowth) << unit_of_work();
}

TEST(Growth, Yaml) {
  const double g = growth(
      [](int64_t n) -> std::function<void()> {
        return [text = test::described("grow", n)] {
          lang::Diagnostics d;
          lang::parse_yaml(text, "x.yaml", d);
          EXPECT_TRUE(d.empty()) << d.str();
        };
      },
      2000);
  EXPECT_LT(g, kMostGrowth) << unit_of_work();
}

}  // namespace
}  // namespace sy::codegen
