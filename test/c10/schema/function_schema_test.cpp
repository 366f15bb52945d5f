#include "c10/schema/function_schema.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "c10/schema/parser.h"

namespace sy {
namespace {

TEST(OperatorName, KnowsInplaceForms) {
  const auto name = [](const char* text) { return parse_operator_name(text); };
  EXPECT_TRUE(name("add_.Tensor").is_inplace());
  EXPECT_TRUE(name("_foreach_add_").is_inplace());
  EXPECT_TRUE(name("__iadd__").is_inplace());
  EXPECT_TRUE(name("__ilshift__").is_inplace());
  EXPECT_FALSE(name("add.out").is_inplace());
  EXPECT_FALSE(name("__and__").is_inplace());
  EXPECT_FALSE(name("__invert__").is_inplace());
  EXPECT_FALSE(name("_").is_inplace());
  EXPECT_TRUE(name("__or__").is_dunder());
  EXPECT_FALSE(name("____").is_dunder());
}

TEST(OperatorName, DropsTheInplaceMark) {
  EXPECT_EQ(parse_operator_name("add_").functional_name(), "add");
  EXPECT_EQ(parse_operator_name("__iadd__").functional_name(), "__add__");
  EXPECT_EQ(parse_operator_name("__and__").functional_name(), "__and__");
  EXPECT_EQ(parse_operator_name("relu").functional_name(), "relu");
}

TEST(FunctionSchema, TellsItsKind) {
  const auto kind = [](const char* text) { return parse_schema(text).kind(); };
  EXPECT_EQ(kind("f(Tensor self) -> Tensor"), SchemaKind::kFunctional);
  EXPECT_EQ(kind("f_(Tensor(a!) self) -> Tensor(a!)"), SchemaKind::kInplace);
  EXPECT_EQ(kind("f(Tensor x, *, Tensor(a!) out) -> Tensor(a!)"),
            SchemaKind::kOut);
  EXPECT_EQ(kind("f(Tensor x, Tensor(a!) state) -> Tensor"),
            SchemaKind::kMutable);
  EXPECT_FALSE(parse_schema("f(Tensor(a) x) -> Tensor(a)").is_mutable());
  EXPECT_TRUE(parse_schema("f(Tensor(a!) x) -> ()").is_mutable());
}

TEST(FunctionSchema, FindsOutArguments) {
  const FunctionSchema schema = parse_schema(
      "topk.values(Tensor self, int k, *, bool sorted=True, Tensor(a!) values, "
      "Tensor(b!) indices) -> (Tensor(a!) values, Tensor(b!) indices)");
  ASSERT_EQ(schema.num_out(), 2u);
  EXPECT_EQ(schema.out_arguments()[0].name, "values");
  EXPECT_EQ(schema.aliased_argument(0), 3);
  EXPECT_EQ(schema.aliased_argument(1), 4);
  EXPECT_EQ(parse_schema("f(Tensor(a!) x) -> ()").num_out(), 0u);
}

TEST(FunctionSchema, FindsArgumentsByName) {
  const FunctionSchema schema = parse_schema(
      "where.self(Tensor condition, Tensor self, *, int n) -> Tensor");
  EXPECT_EQ(schema.argument_index("condition"), 0);
  EXPECT_EQ(schema.argument_index("n"), 2);
  EXPECT_EQ(schema.argument_index("m"), -1);
  EXPECT_EQ(schema.self_index(), 1);
  EXPECT_EQ(schema.aliased_argument(0), -1);
  EXPECT_EQ(parse_schema("f(*, Tensor self) -> ()").self_index(), -1);
}

TEST(FunctionSchema, IsAValue) {
  const FunctionSchema first =
      parse_schema("add(Tensor self, *, Scalar alpha=1) -> Tensor");
  FunctionSchema second = first;
  EXPECT_EQ(first, second);
  second = first.with_name(parse_operator_name("sy::sub.x"));
  EXPECT_NE(first, second);
  EXPECT_EQ(to_string(second),
            "sy::sub.x(Tensor self, *, Scalar alpha=1) -> Tensor");
  EXPECT_EQ(to_string(first), "add(Tensor self, *, Scalar alpha=1) -> Tensor");
}

TEST(FunctionSchema, IsPutTogetherByHand) {
  const AliasInfo written(AliasSet::of('a'), true);
  const FunctionSchema schema({"sy", "neg", "out"},
                              {{"self", TypeKind::kTensor, {}, {}, false},
                               {"out", TypeKind::kTensor, written, {}, true}},
                              {{{}, TypeKind::kTensor, written}});
  EXPECT_EQ(to_string(schema),
            "sy::neg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)");
  EXPECT_EQ(schema, parse_schema(to_string(schema)));
  EXPECT_EQ(to_string(schema.arguments()[1]), "Tensor(a!) out");
  EXPECT_EQ(to_string(schema.returns()[0]), "Tensor(a!)");
}

TEST(FunctionSchema, TakesLittleMemory) {
  const FunctionSchema schema = parse_schema(
      "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> "
      "Tensor");
  EXPECT_LE(sizeof(FunctionSchema), 80u);
  EXPECT_LE(schema.heap_bytes(), 144u);
}

TEST(FunctionSchema, SharesNamesBetweenThreads) {
  std::vector<std::thread> threads;
  std::vector<std::vector<FunctionSchema>> parsed(4);
  for (auto& mine : parsed) {
    threads.emplace_back([&mine] {
      for (int i = 0; i < 500; ++i) {
        const std::string n = std::to_string(i);
        mine.push_back(parse_schema("shared" + n + "(int[" +
                                    std::to_string(i + 1) + "]? thread" + n +
                                    "=" + n + ") -> ()"));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& mine : parsed) EXPECT_EQ(mine, parsed[0]);
}

TEST(InternedString, IsOneCopyWithItsText) {
  const InternedString a(std::string("inter") + "ned");
  const InternedString b("interned");
  EXPECT_EQ(a, b);
  EXPECT_EQ(a.c_str(), b.c_str());
  EXPECT_STREQ(a.c_str(), "interned");
  EXPECT_EQ(a.size(), 8u);
  EXPECT_FALSE(a == InternedString("Interned"));
  EXPECT_TRUE(InternedString("").empty());
  EXPECT_STREQ(InternedString().c_str(), "");
}

}  // namespace
}  // namespace sy
