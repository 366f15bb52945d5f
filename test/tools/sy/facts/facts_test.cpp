#include "tools/sy/facts/facts.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "aten/tensor.h"
#include "c10/plugin/library.h"
#include "c10/process/error.h"
#include "tools/sy/facts/curves.h"
#include "tools/sy/facts/errors.h"
#include "tools/sy/facts/example.h"

namespace {

sy::Tensor crash(const sy::Tensor&) { std::abort(); }
sy::Tensor twice(const sy::Tensor& self) { return self.mul(2); }

}  // namespace

SY_LIBRARY(facts_test, m) {
  m.def("crash(Tensor self) -> Tensor");
  m.def("twice(Tensor self) -> Tensor");
}
SY_LIBRARY_IMPL(facts_test, CompositeImplicitAutograd, m) {
  m.impl("crash", SY_FN(crash));
  m.impl("twice", SY_FN(twice));
}

namespace sy::tools {
namespace {

OperatorHandle find(const std::string& name) {
  return Dispatcher::singleton().find_or_throw("aten::" + name);
}

FactsExample example(const std::string& name, const std::string& words) {
  const auto e = example_of(find(name), words);
  EXPECT_TRUE(e.has_value()) << name;
  return e.value_or(FactsExample());
}

using Lines = std::vector<std::string>;

TEST(FactsExample, ShowsBothSigns) {
  const FactsExample e = example("relu", "2x3");
  EXPECT_EQ(e.call.lines, Lines{"sy::Tensor self = sy::tensor({{0.5, -1.5, "
                                "2.0}, {-0.5, 1.0, 0.0}});"});
  EXPECT_EQ(e.text, "sy::relu(self)");
  EXPECT_EQ(e.output,
            " 0.5000  0.0000  2.0000\n 0.0000  1.0000  0.0000\n"
            "[ CPUFloatType{2,3} ]");
}

TEST(FactsExample, ChoosesNumbersThatTheOperatorTakes) {
  EXPECT_EQ(example("log", "2x3").call.lines,
            Lines{"sy::Tensor self = sy::tensor({{1.0, 0.5, 2.0}, {1.5, 3.0, "
                  "2.5}});"});
  EXPECT_EQ(example("logit", "3").call.lines,
            Lines{"sy::Tensor self = sy::tensor({0.3, 0.8, 0.5});"});
  EXPECT_EQ(example("acosh", "3+1").call.lines,
            Lines{"sy::Tensor self = sy::tensor({1.3, 1.8, 1.5});"});
  EXPECT_EQ(example("isnan", "3").call.lines,
            Lines{"sy::Tensor self = sy::tensor({1.5, NAN, -INFINITY});"});
}

TEST(FactsExample, CountsWhereElementsAreOnlyMoved) {
  const FactsExample e = example("flip", "2x3 0");
  EXPECT_EQ(e.text, "sy::flip(self, {0})");
  EXPECT_EQ(e.output, " 4  5  6\n 1  2  3\n[ CPULongType{2,3} ]");
}

TEST(FactsExample, LeavesDefaultsOut) {
  EXPECT_EQ(example("softplus", "2 1 20").text, "sy::softplus(self)");
  EXPECT_EQ(example("softplus", "2 1 3").text, "sy::softplus(self, 1, 3)");
  EXPECT_EQ(example("sum.dim_IntList", "2x3 1").text, "sy::sum(self, 1)");
  EXPECT_EQ(example("min.dim", "2x3 0 True").text, "sy::min(self, 0, true)");
  EXPECT_EQ(example("min.dim", "2x3 0 False").text, "sy::min(self, 0)");
  EXPECT_EQ(example("sum.dim_IntList", "2x3 0,1 True float64").text,
            "sy::sum(self, {0, 1}, true, sy::kFloat64)");
  EXPECT_EQ(example("ones", "2 dtype=int64 device=cpu").text,
            "sy::ones({2}, sy::TensorOptions().dtype(sy::kInt64)"
            ".device(sy::kCPU))");
  EXPECT_EQ(example("mse_loss", "2 2 2").text,
            "sy::mse_loss(self, target, sy::Reduction::Sum)");
}

TEST(FactsExample, LargeTensorsAreCounted) {
  const FactsExample e = example("max_pool2d", "1x1x4x4 2,2");
  EXPECT_EQ(e.call.lines,
            Lines{"sy::Tensor self = sy::arange(1, 17).view({1, 1, 4, 4});"});
  EXPECT_EQ(e.output,
            "(1,1,.,.) = \n   6   8\n  14  16\n[ CPULongType{1,1,2,2} ]");
}

TEST(FactsExample, RandomOnesAreSeeded) {
  const FactsExample e = example("rand", "3");
  EXPECT_EQ(e.call.lines, Lines{"sy::manual_seed(0);"});
  EXPECT_EQ(e.output, example("rand", "3").output);
}

TEST(FactsExample, LongLinesAreBroken) {
  const FactsExample e = example("cat", "{2x3;1x3;2x3} 0");
  EXPECT_EQ(e.call.lines,
            (Lines{"std::vector<sy::Tensor> tensors = {sy::tensor({{1, 2, 3}, "
                   "{4, 5, 6}}),",
                   "                                   sy::tensor({{7, 8, "
                   "9}}),",
                   "                                   sy::tensor({{10, 11, "
                   "12}, {13, 14, 15}})};"}));
}

TEST(FactsExample, ValuesThatAreNotSetAreNotShown) {
  const FactsExample e = example("empty.memory_format", "2,3");
  EXPECT_EQ(e.text, "sy::empty({2, 3}).sizes()");
  EXPECT_EQ(e.output, "[2, 3]");
}

TEST(FactsExample, NoneIfNoCallSucceeds) {
  EXPECT_FALSE(example_of(find("mm"), "2x3 2x3").has_value());
}

TEST(FactsErrors, OneOfEachKind) {
  const Json errors = errors_of(find("cumsum"), example("cumsum", "2x3 1"));
  ASSERT_GE(errors.size(), 1u);
  EXPECT_EQ(errors[0]["call"], "sy::cumsum(self, 7)");
  EXPECT_EQ(errors[0]["type"], "IndexError");
  EXPECT_EQ(errors[0]["text"],
            "[cumsum] dim: expected a value in [-2, 1], got 7");
  const Json softplus = errors_of(find("softplus"), example("softplus", "2"));
  EXPECT_EQ(softplus[0]["call"], "sy::softplus(self.to(sy::kBool))");
  EXPECT_EQ(softplus[0]["type"], "TypeError");
  const Json mm = errors_of(find("mm"), example("mm", "2x3 3x4"));
  ASSERT_EQ(mm.size(), 2u);
  EXPECT_EQ(mm[1]["call"], "sy::mm(sy::ones({5, 7}), mat2)");
}

const Json& line(const Json& curves, const std::string& label) {
  for (const Json& l : curves["lines"]) {
    if (l["label"] == label) return l;
  }
  ADD_FAILURE() << "no line " << label;
  return curves["lines"][0];
}

TEST(FactsCurves, ValuesAndSlopes) {
  const Json curves = curves_of(find("softplus"), "");
  EXPECT_EQ(curves["axis"], "self");
  ASSERT_EQ(curves["lines"].size(), 3u);
  EXPECT_EQ(curves["lines"][0]["label"], "beta=1");  // the default
  for (const double beta : {0.5, 1.0, 2.0}) {
    const Json& l = line(curves, beta == 0.5   ? "beta=0.5"
                                 : beta == 1.0 ? "beta=1"
                                               : "beta=2");
    ASSERT_EQ(l["x"].size(), 121u);
    EXPECT_EQ(l["x"][0], -4);
    EXPECT_EQ(l["x"][120], 4);
    for (size_t i = 0; i < 121; ++i) {
      const double x = l["x"][i].get<double>();
      const double y = std::log1p(std::exp(beta * x)) / beta;
      EXPECT_NEAR(l["y"][i].get<double>(), y, 1e-4 * (1 + y));
      EXPECT_NEAR(l["dy"][i].get<double>(), 1 / (1 + std::exp(-beta * x)),
                  1e-4);
    }
  }
}

TEST(FactsCurves, WhereTheyAreDefined) {
  const auto ends = [](const char* op, const char* words) {
    const Json x = curves_of(find(op), words)["lines"][0]["x"];
    return std::pair(x.front().get<double>(), x.back().get<double>());
  };
  EXPECT_EQ(ends("asin", ""), std::pair(-1.0, 1.0));
  EXPECT_EQ(ends("acosh", "2x3+1"), std::pair(1.0, 4.0));
  EXPECT_EQ(ends("sqrt", ""), std::pair(0.0, 4.0));
  EXPECT_GT(ends("log", "").first, 0);
  EXPECT_LT(ends("log", "").first, 0.01);
  EXPECT_LT(ends("exp", "").second, 2.4);
}

TEST(FactsCurves, PolesAreNull) {
  const Json l = curves_of(find("reciprocal"), "")["lines"][0];
  EXPECT_TRUE(l["y"][60].is_null());
  EXPECT_EQ(l["y"][0], -0.25);
}

TEST(FactsCurves, OfASecondTensor) {
  const Json curves = curves_of(find("atan2"), "");
  const Json& l = line(curves, "other=2");
  const double x = l["x"][100].get<double>();
  EXPECT_NEAR(l["y"][100].get<double>(), std::atan2(x, 2), 1e-4);
}

TEST(FactsCurves, NoneOfWhatIsNotNumberByNumber) {
  EXPECT_TRUE(curves_of(find("softmax.int"), "3 0").is_null());
  EXPECT_TRUE(curves_of(find("mm"), "2x3 3x4").is_null());
  EXPECT_TRUE(curves_of(find("add.Tensor"), "").is_null());  // straight
  EXPECT_TRUE(curves_of(find("clone"), "").is_null());
  EXPECT_TRUE(curves_of(find("rand_like"), "").is_null());
}

Json run(FactsOptions options) {
  const char* const dir = std::getenv("TEST_TMPDIR");
  const auto file = std::filesystem::path(dir != nullptr ? dir : "/tmp") /
                    str("facts_test_{}.json", int64_t{getpid()});
  options.out = file.string();
  EXPECT_EQ(run_facts(options), 0);
  EXPECT_LE(std::filesystem::file_size(file), 6u << 20);
  const Json out = parse_json(read_file(file.string()), "facts");
  std::filesystem::remove(file);
  return out;
}

TEST(Facts, OneThatCrashesIsLeftOut) {
  FactsOptions options;
  options.glob = "facts_test::*";
  testing::internal::CaptureStderr();
  const Json operators = run(options)["operators"];
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "sy facts: facts_test::crash ends the process\n");
  ASSERT_EQ(operators.size(), 1u);
  const Json& twice = operators["facts_test::twice"];
  EXPECT_EQ(twice["example"]["call"], "facts_test::twice(self)");
  EXPECT_EQ(twice["curves"]["lines"][0]["y"][0], -8);
}

TEST(Facts, OfAllOperators) {
  const Json facts = run({});
  EXPECT_EQ(facts["version"], 1);
  EXPECT_EQ(facts["devices"], Json({"cpu"}));
  const Json& operators = facts["operators"];
  for (const OperatorHandle op : Dispatcher::singleton().operators()) {
    const FunctionSchema& s = op.schema();
    if (!s.is_functional() || s.name().ns.view() != "aten") continue;
    EXPECT_TRUE(operators.contains(s.name().name.view())) << op.name();
  }
  EXPECT_TRUE(operators.contains("resize_"));  // has no other form
  EXPECT_FALSE(operators.contains("relu_"));
  std::string without;
  size_t curves = 0;
  for (const auto& [name, f] : operators.items()) {
    // The words of operators that only backward calls are with their file.
    const bool helper = name.starts_with("sy_dist::_");
    if (!f.contains("example") && !helper) without += " " + name;
    curves += f.contains("curves");
    EXPECT_FALSE(f["dispatch"].empty()) << name;
  }
  // The first always throws, the next two need an accelerator; float_power_
  // has no example, as its float64 does not fit into float32. The last three
  // are between two ranks, and here is one.
  EXPECT_EQ(without,
            " _not_implemented _pin_memory float_power_ pin_memory "
            "sy_dist::recv sy_dist::recv_ sy_dist::send");
  EXPECT_EQ(operators["sy_dist::all_reduce"]["example"]["call"],
            "sy_dist::all_reduce(self)");
  EXPECT_EQ(operators["sy_dist::all_reduce"]["errors"][0]["type"],
            "ValueError");
  EXPECT_GT(curves, 100u);

  const Json& softplus = operators["softplus"];
  EXPECT_EQ(softplus["dtypes"]["cpu"][0][0], "native");
  EXPECT_NE(softplus["dtypes"]["cpu"][0][1].get<std::string>().find("float32"),
            std::string::npos);
  bool found = false;
  for (const Json& row : softplus["dispatch"]) {
    if (row[0] != "CPU") continue;
    found = true;
    EXPECT_EQ(row[1], "own: CPU");
    EXPECT_NE(row[2].get<std::string>().find("backends/cpu/activation_gen.cpp"),
              std::string::npos);
  }
  EXPECT_TRUE(found);
}

TEST(Facts, NoOperatorFits) {
  FactsOptions options;
  options.glob = "no_such*";
  EXPECT_THROW(run_facts(options), ValueError);
}

}  // namespace
}  // namespace sy::tools
