#include "c10/schema/parser.h"

#include <gtest/gtest.h>

#include <string>

namespace sy {
namespace {

std::string canonical(std::string_view text) {
  return to_string(parse_schema(text));
}

TEST(Parser, ReadsTheNameInItsThreeParts) {
  const OperatorName full = parse_schema("aten::add.Tensor() -> ()").name();
  EXPECT_EQ(full.ns, "aten");
  EXPECT_EQ(full.name, "add");
  EXPECT_EQ(full.overload, "Tensor");
  const OperatorName bare = parse_operator_name("relu");
  EXPECT_TRUE(bare.ns.empty());
  EXPECT_EQ(bare.name, "relu");
  EXPECT_TRUE(bare.overload.empty());
  EXPECT_EQ(to_string(parse_operator_name(" sy :: mul . out ")), "sy::mul.out");
}

TEST(Parser, ReadsEveryBaseType) {
  const auto names = base_type_names();
  ASSERT_EQ(names.size(), static_cast<std::size_t>(TypeKind::kClass));
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Type type = parse_type(names[i]);
    EXPECT_EQ(type.kind(), static_cast<TypeKind>(i)) << names[i];
    EXPECT_EQ(type.str(), names[i]);
    EXPECT_EQ(type.base(), type);
  }
}

TEST(Parser, NestsListsAndOptionals) {
  const Type type = parse_type("int[2]?[]");
  ASSERT_TRUE(type.is_list());
  EXPECT_EQ(type.size(), 0);
  ASSERT_TRUE(type.element().is_optional());
  const Type pair = type.element().without_optional();
  ASSERT_TRUE(pair.is_list());
  EXPECT_EQ(pair.size(), 2);
  EXPECT_EQ(pair.element(), TypeKind::kInt);
  EXPECT_EQ(type.base(), TypeKind::kInt);
  EXPECT_EQ(type.str(), "int[2]?[]");
  EXPECT_FALSE(type.is_tensor_like());
  EXPECT_TRUE(parse_type("Tensor?[]").is_tensor_like());
}

TEST(Parser, EqualTypesAreTheSameNode) {
  EXPECT_EQ(parse_type("Tensor?[]"),
            Type::list_of(Type::optional_of(TypeKind::kTensor)));
  EXPECT_EQ(parse_type("bool[4]"), Type::list_of(TypeKind::kBool, 4));
  EXPECT_FALSE(parse_type("bool[4]") == parse_type("bool[3]"));
  EXPECT_FALSE(parse_type("bool[]") == parse_type("bool?"));
}

TEST(Parser, ReadsClassTypes) {
  const Type type = parse_type("__torch__.torch.classes.rnn.Cell[]?");
  EXPECT_EQ(type.base(), TypeKind::kClass);
  EXPECT_EQ(type.base().str(), "__torch__.torch.classes.rnn.Cell");
  EXPECT_EQ(type.str(), "__torch__.torch.classes.rnn.Cell[]?");
  EXPECT_EQ(type.base(), Type::class_named("__torch__.torch.classes.rnn.Cell"));
}

TEST(Parser, ReadsAliasAnnotations) {
  const auto alias = [](std::string_view text) {
    return parse_schema("f(" + std::string(text) + " x) -> ()")
        .arguments()[0]
        .alias;
  };
  const AliasSet a = AliasSet::of('a');
  const AliasSet b = AliasSet::of('b');
  EXPECT_FALSE(alias("Tensor"));
  EXPECT_EQ(alias("Tensor(a)"), AliasInfo(a, false));
  EXPECT_EQ(alias("Tensor(a!)"), AliasInfo(a, true));
  EXPECT_EQ(alias("Tensor(b|a)"), AliasInfo(a | b, false));
  EXPECT_EQ(alias("Tensor(a -> *)"), AliasInfo(a, false, AliasSet::of('*')));
  EXPECT_EQ(alias("Tensor(a! -> a|b)"), AliasInfo(a, true, a | b));
  EXPECT_EQ(alias("Tensor(a!)[]"), AliasInfo(a, true));
  EXPECT_EQ(alias("Tensor(a!)?"), AliasInfo(a, true));
  EXPECT_TRUE(alias("Tensor(*)").before().is_wildcard());
}

TEST(Parser, AliasInfoKnowsItsSets) {
  const AliasInfo moved(AliasSet::of('a'), true,
                        AliasSet::of('a') | AliasSet::of('b'));
  EXPECT_TRUE(moved.is_write());
  EXPECT_TRUE(moved.has_after());
  EXPECT_EQ(moved.before(), AliasSet::of('a'));
  EXPECT_TRUE(moved.after().contains(AliasSet::of('b')));
  EXPECT_FALSE(moved.before().intersects(AliasSet::of('b')));
  EXPECT_TRUE(moved.after().has_several());
  const AliasInfo plain(AliasSet::of('z'), false);
  EXPECT_FALSE(plain.has_after());
  EXPECT_EQ(plain.after(), AliasSet::of('z'));
}

TEST(Parser, SeparatesKeywordOnlyArguments) {
  const FunctionSchema schema =
      parse_schema("f(Tensor a, int b=1, *, bool c, str d='x') -> ()");
  ASSERT_EQ(schema.arguments().size(), 4u);
  EXPECT_EQ(schema.num_positional(), 2u);
  EXPECT_FALSE(schema.arguments()[1].kwarg_only);
  EXPECT_TRUE(schema.arguments()[2].kwarg_only);
  EXPECT_FALSE(schema.arguments()[2].default_value);
  EXPECT_EQ(schema.arguments()[3].default_value.as_string(), "x");
}

TEST(Parser, ReadsReturnsWithAndWithoutNames) {
  EXPECT_TRUE(parse_schema("f() -> ()").returns().empty());
  const FunctionSchema one = parse_schema("f() -> Tensor[] parts");
  ASSERT_EQ(one.returns().size(), 1u);
  EXPECT_EQ(one.returns()[0].name, "parts");
  EXPECT_EQ(one.returns()[0].type.str(), "Tensor[]");
  const FunctionSchema two = parse_schema("f() -> (Tensor values, int)");
  ASSERT_EQ(two.returns().size(), 2u);
  EXPECT_EQ(two.returns()[0].name, "values");
  EXPECT_TRUE(two.returns()[1].name.empty());
}

TEST(Parser, ReadsVariadicMarks) {
  const FunctionSchema all = parse_schema("f(int a, ...) -> ...");
  EXPECT_TRUE(all.is_vararg());
  EXPECT_TRUE(all.is_varret());
  EXPECT_EQ(all.arguments().size(), 1u);
  EXPECT_TRUE(all.returns().empty());
  const FunctionSchema some = parse_schema("f() -> (Tensor, ...)");
  EXPECT_FALSE(some.is_vararg());
  EXPECT_TRUE(some.is_varret());
  EXPECT_EQ(some.returns().size(), 1u);
}

TEST(Parser, PrintsOneCanonicalLine) {
  EXPECT_EQ(canonical("  add . Tensor(Tensor self,Tensor other,\n    * ,"
                      "Scalar alpha = 1)->Tensor\n"),
            "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> "
            "Tensor");
  EXPECT_EQ(canonical("f(Tensor ( a!->b|a ) [ ] x, int [ 2 ] y=[ 0 , 1 ])->("
                      "Tensor(a) r)"),
            "f(Tensor(a! -> a|b)[] x, int[2] y=[0,1]) -> Tensor(a) r");
  EXPECT_EQ(canonical("f(*,int a)->(int,...)"), "f(*, int a) -> (int, ...)");
  EXPECT_EQ(canonical("f(...)->..."), "f(...) -> ...");
}

TEST(Parser, TryParseReportsInsteadOfThrowing) {
  const ParseResult good = try_parse_schema("f() -> ()");
  EXPECT_TRUE(good.ok());
  EXPECT_TRUE(good.schema.has_value());
  const ParseResult bad = try_parse_schema("f(");
  EXPECT_FALSE(bad.ok());
  EXPECT_FALSE(bad.schema.has_value());
  ASSERT_EQ(bad.errors.size(), 1u);
  EXPECT_EQ(bad.errors[0].offset(), 2u);
}

}  // namespace
}  // namespace sy
