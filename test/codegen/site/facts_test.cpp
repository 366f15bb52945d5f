#include "codegen/site/facts.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sy::codegen::site {
namespace {

Facts good(const std::string& text) {
  lang::Diagnostics d;
  Facts out = read_facts("facts.json", text, d);
  EXPECT_EQ(d.str(), "");
  return out;
}

std::string errors(const std::string& text) {
  lang::Diagnostics d;
  read_facts("facts.json", text, d);
  return d.str();
}

// The errors of an operator `op` with this under it.
std::string operator_errors(const std::string& text) {
  return errors(R"({"operators": {"op": )" + text + "}}");
}

TEST(Facts, AllParts) {
  const Facts f = good(R"_({"version": 1, "devices": ["cpu", "npu"],
    "operators": {"mine::bump": {
      "example": {"lines": ["a;", "b;"], "call": "f(a)", "output": "1\n2"},
      "errors": [{"call": "f()", "type": "TypeError", "text": "no"}],
      "curves": {"axis": "self", "lines": [
        {"label": "p=2", "x": [0, 1.5], "y": [1, null], "dy": [0, 2]},
        {"x": [], "y": []}]},
      "dtypes": {"cpu": [["native", "float32,int64"], ["cpu", "bool"]]},
      "dispatch": [["CPU", "own: CPU", "a.cpp:5"]]
}
}
})_");
  EXPECT_EQ(f.devices, (std::vector<std::string>{"cpu", "npu"}));
  ASSERT_EQ(f.operators.count("mine::bump"), 1u);
  const OperatorFacts& op = f.operators.at("mine::bump");
  EXPECT_EQ(op.example.lines, (std::vector<std::string>{"a;", "b;"}));
  EXPECT_EQ(op.example.call, "f(a)");
  EXPECT_EQ(op.example.output, "1\n2");
  ASSERT_EQ(op.errors.size(), 1u);
  EXPECT_EQ(op.errors[0].call, "f()");
  EXPECT_EQ(op.errors[0].type, "TypeError");
  EXPECT_EQ(op.errors[0].text, "no");
  EXPECT_EQ(op.axis, "self");
  ASSERT_EQ(op.curves.size(), 2u);
  EXPECT_EQ(op.curves[0].label, "p=2");
  EXPECT_EQ(op.curves[0].x, (std::vector<double>{0, 1.5}));
  EXPECT_TRUE(std::isnan(op.curves[0].y[1]));
  EXPECT_EQ(op.curves[0].dy[1], 2);
  EXPECT_TRUE(op.curves[1].dy.empty());
  const auto& cpu = op.dtypes.at("cpu");
  ASSERT_EQ(cpu.size(), 2u);
  EXPECT_EQ(cpu[0],
            std::pair(std::string("native"), std::string("float32,int64")));
  EXPECT_EQ(cpu[1].first, "cpu");
  ASSERT_EQ(op.dispatch.size(), 1u);
  EXPECT_EQ(op.dispatch[0].key, "CPU");
  EXPECT_EQ(op.dispatch[0].how, "own: CPU");
  EXPECT_EQ(op.dispatch[0].kernel, "a.cpp:5");
}

TEST(Facts, MissingAndUnknownParts) {
  EXPECT_TRUE(good("{}").operators.empty());
  const Facts f =
      good(R"({"later": 1, "operators": {"op": {"color": "red"}}})");
  EXPECT_TRUE(f.operators.at("op").curves.empty());
}

TEST(Facts, TheLineOfBadJson) {
  EXPECT_TRUE(errors("{\n \"version\": 1,\n \"x\" 2}")
                  .starts_with("facts.json:3:6: error: bad JSON: "))
      << errors("{\n \"version\": 1,\n \"x\" 2}");
  EXPECT_TRUE(errors("").starts_with("facts.json:1:1: error: bad JSON: "));
  EXPECT_TRUE(errors("{\"version\": 1").starts_with("facts.json:1:"));
  EXPECT_NE(errors("{\"a\": \"\xff\"}").find("bad JSON"), std::string::npos);
  EXPECT_NE(errors("{\"a\": 1e999}").find("bad JSON"), std::string::npos);
}

TEST(Facts, WrongKindsByTheirPath) {
  EXPECT_EQ(errors("[]"),
            "facts.json: error: the whole: expected an object, got a list");
  EXPECT_EQ(errors(R"({"version": 2})"),
            "facts.json: error: version: expected 1, got 2");
  EXPECT_EQ(errors(R"({"version": "1"})"),
            "facts.json: error: version: expected a whole number, got a text");
  EXPECT_EQ(errors(R"({"devices": "cpu"})"),
            "facts.json: error: devices: expected a list, got a text");
  EXPECT_EQ(errors(R"({"devices": [true]})"),
            "facts.json: error: devices[0]: expected a text, got a bool");
  EXPECT_EQ(operator_errors("3"),
            "facts.json: error: operators.op: expected an object, got a "
            "number");
  EXPECT_EQ(operator_errors(R"({"curves": {"lines": [{"x": 1}]}})"),
            "facts.json: error: operators.op.curves.lines[0].x: expected a "
            "list, got a number");
  EXPECT_EQ(operator_errors(R"({"curves": {"lines": [{"x": ["1"],
                                                        "y": [1]}]}})"),
            "facts.json: error: operators.op.curves.lines[0].x[0]: expected a "
            "number, got a text");
  EXPECT_EQ(operator_errors(R"({"example": {"call": null}})"),
            "facts.json: error: operators.op.example.call: expected a text, "
            "got null");
  EXPECT_EQ(operator_errors(R"({"errors": {}})"),
            "facts.json: error: operators.op.errors: expected a list, got an "
            "object");
  EXPECT_EQ(operator_errors(R"({"dispatch": [["CPU", "own"]]})"),
            "facts.json: error: operators.op.dispatch[0]: expected 3 items, "
            "got 2");
  EXPECT_EQ(operator_errors(R"({"dtypes": {"cpu": [["fast", "bool"]]}})"),
            "facts.json: error: operators.op.dtypes.cpu[0][0]: expected "
            "native, composed or cpu, got 'fast'");
}

TEST(Facts, PointsOfACurveBelongTogether) {
  EXPECT_EQ(operator_errors(R"({"curves": {"lines": [{"x": [1, 2],
                                                        "y": [1]}]}})"),
            "facts.json: error: operators.op.curves.lines[0]: expected x, y "
            "and dy of one length, got 2, 1 and 0");
}

TEST(Timings, AsTheBenchmarksWriteThem) {
  Facts f;
  lang::Diagnostics d;
  read_timings("bench.json", R"({
    "softmax/4096/real_time": {"ns": 1.5, "peer_ns": 3, "roofline": 0.5},
    "softmax/8": {"ns": 2, "peer_ns": null, "roofline": null, "peak_mb": 1},
    "mm<at::kFloat>/64": {"ns": 4, "peer_ns": 5}})",
               &f, d);
  EXPECT_EQ(d.str(), "");
  ASSERT_EQ(f.timings.at("softmax").size(), 2u);
  EXPECT_EQ(f.timings.at("softmax")[0].name, "softmax/4096/real_time");
  EXPECT_EQ(f.timings.at("softmax")[0].ours, 1.5);
  EXPECT_EQ(f.timings.at("softmax")[0].libtorch, 3);
  EXPECT_EQ(f.timings.at("softmax")[1].libtorch, 0);
  EXPECT_EQ(f.timings.at("mm")[0].libtorch, 5);
}

TEST(Timings, Errors) {
  Facts f;
  lang::Diagnostics d;
  read_timings("bench.json", R"({"a": {"ns": "1"}, "b": 2})", &f, d);
  EXPECT_EQ(d.str(),
            "bench.json: error: a.ns: expected a number, got a text\n"
            "bench.json: error: b: expected an object, got a number");
  lang::Diagnostics bad;
  read_timings("bench.json", "{\n", &f, bad);
  EXPECT_TRUE(bad.str().starts_with("bench.json:2:"));
}

}  // namespace
}  // namespace sy::codegen::site
