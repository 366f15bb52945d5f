#include <gtest/gtest.h>

#include "c10/schema/parser.h"
#include "model/cpp_types.h"
#include "model/model.h"

namespace sy::model {
namespace {

std::string inplace(const char* schema) {
  return to_string(inplace_form(parse_schema(schema)));
}
std::string out(const char* schema) {
  return to_string(out_form(parse_schema(schema)));
}

TEST(Forms, InplaceAddsAnUnderscoreAndWritesSelf) {
  EXPECT_EQ(inplace("relu(Tensor self) -> Tensor"),
            "relu_(Tensor(a!) self) -> Tensor(a!)");
}

TEST(Forms, InplaceKeepsOverloadKeywordsAndDefaults) {
  EXPECT_EQ(
      inplace("add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> "
              "Tensor"),
      "add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> "
      "Tensor(a!)");
}

TEST(Forms, InplaceOfPythonOperators) {
  EXPECT_EQ(inplace("__and__.Scalar(Tensor self, Scalar other) -> Tensor"),
            "__iand__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)");
}

TEST(Forms, OutOfAnOverloadWithoutNameIsOut) {
  EXPECT_EQ(out("relu(Tensor self) -> Tensor"),
            "relu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)");
}

TEST(Forms, OutOfANamedOverloadHasASuffix) {
  EXPECT_EQ(out("eq.Scalar(Tensor self, Scalar other) -> Tensor"),
            "eq.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> "
            "Tensor(a!)");
}

TEST(Forms, OutOfSeveralReturnsIsNumbered) {
  EXPECT_EQ(out("frexp(Tensor self) -> (Tensor mantissa, Tensor exponent)"),
            "frexp.out(Tensor self, *, Tensor(a!) out0, Tensor(b!) out1) -> "
            "(Tensor(a!), Tensor(b!))");
}

TEST(Forms, OfListsWriteEachAndReturnNothing) {
  const char* functional =
      "_foreach_add.List(Tensor[] self, Tensor[] other) -> Tensor[]";
  EXPECT_EQ(inplace(functional),
            "_foreach_add_.List(Tensor(a!)[] self, Tensor[] other) -> ()");
  EXPECT_EQ(out(functional),
            "_foreach_add.List_out(Tensor[] self, Tensor[] other, *, "
            "Tensor(a!)[] out) -> ()");
}

TEST(Forms, OutOfWhatWritesOtherArguments) {
  EXPECT_EQ(
      to_string(out_form(parse_schema(
          "norm(Tensor x, Tensor(b!) mean, Tensor(a!) var) -> (Tensor, "
          "Tensor)"))),
      "norm.out(Tensor x, Tensor(b!) mean, Tensor(a!) var, *, Tensor(c!) out0, "
      "Tensor(d!) out1) -> (Tensor(c!), Tensor(d!))");
}

TEST(CppTypes, FollowTheSchema) {
  const FunctionSchema s = parse_schema(
      "f(Tensor self, Tensor? w, Tensor[] l, Tensor?[] ol, int n, int[]? d, "
      "float x, Scalar a, Scalar? b, str mode, *, ScalarType? dtype=None, "
      "Generator? generator=None, Tensor(a!) out) -> Tensor(a!)");
  EXPECT_EQ(signature_type(s),
            "Tensor&(const Tensor&, const std::optional<Tensor>&, TensorList, "
            "ArrayRef<std::optional<Tensor>>, int64_t, OptionalIntArrayRef, "
            "double, const Scalar&, const std::optional<Scalar>&, "
            "std::string_view, std::optional<ScalarType>, "
            "std::optional<Generator>, Tensor&)");
}

TEST(CppTypes, SeveralReturnsAreATuple) {
  EXPECT_EQ(return_type(parse_schema("f(Tensor self) -> (Tensor, Tensor)")),
            "std::tuple<Tensor, Tensor>");
  EXPECT_EQ(return_type(parse_schema("f(Tensor(a -> *) self) -> Tensor(a)[]")),
            "std::vector<Tensor>");
  EXPECT_EQ(return_type(parse_schema("f(Tensor self) -> ()")), "void");
}

TEST(CppTypes, DefaultsAreCpp) {
  const FunctionSchema s = parse_schema(
      "f(Tensor self, int n=-1, float x=1e-05, bool b=True, int[2] k=1, "
      "int[] l=[], str m='none', Tensor? w=None, int reduction=Mean, "
      "ScalarType t=long, MemoryFormat g=contiguous_format) -> Tensor");
  std::vector<std::string> texts;
  for (const Argument& a : s.arguments()) texts.push_back(default_text(a));
  EXPECT_EQ(texts, (std::vector<std::string>{
                       "", "-1", "1e-05", "true", "{1, 1}", "{}", "\"none\"",
                       "std::nullopt", "Reduction::Mean", "kLong",
                       "MemoryFormat::Contiguous"}));
}

TEST(CppTypes, OptionsAreGatheredAndOutComesFirst) {
  const ApiSignature factory = api_signature(
      parse_schema("f(int[] size, *, ScalarType? dtype=None, Layout? "
                   "layout=None, Device? device=None, bool? pin_memory=None) "
                   "-> Tensor"),
      false);
  ASSERT_EQ(factory.parameters.size(), 2u);
  EXPECT_EQ(factory.parameters[1].type, "TensorOptions");
  EXPECT_EQ(factory.parameters[1].default_value, "{}");
  ASSERT_EQ(factory.call.size(), 5u);
  EXPECT_EQ(factory.call[3], "options.device_opt()");
  const ApiSignature out = api_signature(
      parse_schema("f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"),
      false);
  ASSERT_EQ(out.parameters.size(), 2u);
  EXPECT_EQ(out.parameters[0].name, "out");
  EXPECT_EQ(out.call, (std::vector<std::string>{"self", "out"}));
}

TEST(CppTypes, NamesThatCppCannotTake) {
  const FunctionSchema s = parse_schema(
      "f(Tensor self, int default, int class, Tensor Scalar, int options, *, "
      "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
      "pin_memory=None) -> Tensor");
  EXPECT_EQ(parameter(s.arguments()[1]), "int64_t default_");
  EXPECT_EQ(parameter(s.arguments()[2]), "int64_t class_");
  EXPECT_EQ(parameter(s.arguments()[3]), "const Tensor& Scalar_");
  EXPECT_EQ(local_name(s, "class"), "class");
  EXPECT_EQ(local_name(s, "class_"), "class__");
  EXPECT_EQ(api_signature(s, false).options, "options_");
}

TEST(CppTypes, NoDefaultBeforeAParameterWithoutOne) {
  const ApiSignature api = api_signature(
      parse_schema("f(Tensor self, int a=1, *, str? mode) -> Tensor"), false);
  ASSERT_EQ(api.parameters.size(), 3u);
  EXPECT_EQ(api.parameters[1].default_value, "");
}

TEST(CppTypes, IdsAreThoseOfAten) {
  EXPECT_EQ(overload_id(parse_operator_name("add.Tensor")), "add_Tensor");
  EXPECT_EQ(overload_id(parse_operator_name("add_.Tensor")), "add__Tensor");
  EXPECT_EQ(overload_id(parse_operator_name("relu_")), "relu_");
}

}  // namespace
}  // namespace sy::model
