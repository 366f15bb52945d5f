#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>

#include "lang/parser.h"
#include "test/codegen/describe/parts_testing.h"

namespace sy::codegen {
namespace {

using Json = nlohmann::json;

std::multiset<std::string> labels(const Json& graph) {
  std::multiset<std::string> out;
  for (const Json& b : graph["boxes"]) out.insert(b["label"]);
  return out;
}

TEST_F(PartsTest, CompositesHaveTheirCalls) {
  const Json graph = calls("chosen");
  EXPECT_EQ(labels(graph), (std::multiset<std::string>{
                               "best", "if reduction == 1", "if reduction == 2",
                               "plus", "result", "self", "target", "total"}));
  for (const Json& b : graph["boxes"]) {
    EXPECT_EQ(b["role"] == "call", b["page"] == b["label"]) << b;
  }
  for (const Json& e : graph["edges"]) EXPECT_LT(e[0], e[1]);
  EXPECT_EQ(graph["boxes"].back()["role"], "result");
}

TEST_F(PartsTest, NoCallsOfOthers) {
  EXPECT_TRUE(calls("again").is_null());
  EXPECT_TRUE(calls("total").is_null());
  EXPECT_EQ(calls("long_way")["boxes"].size(), 23u);
}

TEST(LaidOut, LetAndIf) {
  EXPECT_EQ(laid_out(lang::parse("let x = 1 in x + 1")), "let x = 1 in x + 1");
  EXPECT_EQ(laid_out(lang::parse(
                "let some_value = one_function(first_argument) in if "
                "some_value == None then another_function(1) else if "
                "some_value > 2 then 3 else some_value")),
            "let some_value = one_function(first_argument) in\n"
            "if some_value == None then\n"
            "  another_function(1)\n"
            "else if some_value > 2 then 3 else some_value");
}

TEST(Describe, OthersAreNamed) {
  lang::Diagnostics d;
  const Model model = Model::load(
      std::vector<SourceText>{
          {"mine.yaml",
           "- func: mine::bump(Tensor self) -> Tensor\n"
           "  doc: 1 above.\n"
           "  composite: mul(self, self)\n"},
          {"ops.yaml",
           "- func: mul(Tensor self, Tensor other) -> Tensor\n"
           "  pointwise: self * other\n"}},
      d);
  ASSERT_EQ(d.str(), "");
  const Json all = describe(model, model.families().first(1));
  EXPECT_EQ(all["version"], 1);
  ASSERT_EQ(all["families"].size(), 1u);
  const Json& bump = all["families"][0]["operators"][0];
  EXPECT_EQ(bump["page"], "mine.bump");
  EXPECT_EQ(bump["calls"], Json({"mul"}));
  ASSERT_EQ(all["others"].size(), 1u);
  EXPECT_EQ(all["others"][0]["overloads"], Json({"mul", "mul_", "mul.out"}));
  EXPECT_FALSE(all["others"][0].contains("doc"));
}

// The members that an operator has, one a line.
std::string lines_of(const Json& op) {
  std::string out = '\n' + op["name"].get<std::string>() + '\n';
  for (const auto& [key, value] : op.items()) {
    if (value != "" && !value.empty()) {
      out += "  " + key + ": " + value.dump() + '\n';
    }
  }
  return out;
}

// The description of an operator of each kind is what lies in sample.txt. To
// accept a change: SY_UPDATE_GOLDENS=$PWD/test/codegen/golden and run this
// test.
TEST(Describe, Sample) {
  lang::Diagnostics d;
  const Model model =
      Model::load(std::vector<std::string>{"backends/cpu/backend.yaml",
                                           "backends/meta/backend.yaml",
                                           "test/codegen/testdata/sample.yaml"},
                  d);
  ASSERT_EQ(d.str(), "");
  std::string made;
  const Json all = describe(model, model.families());
  for (const Json& op : all["families"][0]["operators"]) made += lines_of(op);
  if (const char* update = std::getenv("SY_UPDATE_GOLDENS")) {
    std::ofstream(std::string(update) + "/../describe/sample.txt") << made;
  }
  std::ifstream in("test/codegen/describe/sample.txt");
  const std::string known((std::istreambuf_iterator<char>(in)), {});
  EXPECT_EQ(made, known);
}

}  // namespace
}  // namespace sy::codegen
