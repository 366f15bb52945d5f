#include "c10/schema/check.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <string_view>

#include "c10/schema/parser.h"

namespace sy {
namespace {

// `@` marks where the one error is.
struct Broken {
  std::string_view marked;
  std::string_view message;
};

void PrintTo(const Broken& b, std::ostream* out) { *out << b.marked; }

class CheckSchema : public testing::TestWithParam<Broken> {};

TEST_P(CheckSchema, FindsTheOneFault) {
  std::string text(GetParam().marked);
  const std::size_t offset = text.find('@');
  text.erase(offset, 1);
  const ParseResult result = parse_and_check_schema(text);
  ASSERT_TRUE(result.schema.has_value());
  for (const auto& errors : {result.errors, check_schema(*result.schema)}) {
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_EQ(errors[0].message(), GetParam().message);
    EXPECT_EQ(errors[0].offset(), offset);
  }
}

constexpr Broken kArguments[] = {
    {"f.@default(Tensor x) -> Tensor",
     "the overload name 'default' is reserved for the empty one"},
    {"f(Tensor x, int @x) -> Tensor", "argument name 'x' appears twice"},
    {"f(int n=1, Tensor @x) -> Tensor",
     "argument 'x' without a default follows 'n', which has one"},
    {"f(int n=@1.5) -> ()",
     "default 1.5 does not fit type 'int' of argument "
     "'n'"},
    {"f(Tensor x=@None) -> ()",
     "default None does not fit type 'Tensor' of argument 'x'"},
    {"f(bool b=@1) -> ()",
     "default 1 does not fit type 'bool' of argument "
     "'b'"},
    {"f(str s=@mean) -> ()",
     "default mean does not fit type 'str' of argument "
     "'s'"},
    {"f(int[2] n=@[0,'x']) -> ()",
     "default [0,'x'] does not fit type 'int[2]' of argument 'n'"},
    {"f(int[] n=@0) -> ()",
     "default 0 does not fit type 'int[]' of argument "
     "'n'"},
    {"f(ScalarType? t=@'float') -> ()",
     "default 'float' does not fit type 'ScalarType?' of argument 't'"},
    {"f(int[2] n=@[1,2,3]) -> ()",
     "default [1,2,3] does not fit type 'int[2]' of argument 'n'"},
    {"f(int n=@float) -> ()",
     "default float does not fit type 'int' of argument 'n'"},
    {"f(SymInt n=@Mean) -> ()",
     "default Mean does not fit type 'SymInt' of argument 'n'"},
    {"f(ScalarType t=@strided) -> ()",
     "default strided does not fit type 'ScalarType' of argument 't'"},
    {"f(Layout l=@float) -> ()",
     "default float does not fit type 'Layout' of argument 'l'"},
    {"f(MemoryFormat m=@Sum) -> ()",
     "default Sum does not fit type 'MemoryFormat' of argument 'm'"},
    {"f(@Tensor[][] l) -> ()", "type 'Tensor[][]' is a list of lists"},
    {"f(@int[][2]? l=None) -> ()", "type 'int[][2]?' is a list of lists"},
    {"f(@int(a) n) -> ()",
     "type 'int' cannot alias: only Tensor has an alias annotation"},
    {"f(@Tensor(a|b!) x) -> ()",
     "a written alias set has one letter, got '(a|b!)'"},
    {"f(Tensor(a) x, @Tensor(a!) y) -> ()",
     "arguments 'x' and 'y' share an alias set that is written"},
    {"f(@Tensor(a -> c) x) -> ()", "alias set 'c' is not that of an argument"},
    {"f(Tensor(c) x, Tensor(d) y, @Tensor(a|b -> c|d) z) -> ()",
     "the alias sets before and after '->' cannot both have several letters, "
     "got '(a|b -> c|d)'"},
    {"f(*, Tensor(a!) out=@None) -> Tensor(a!)",
     "out argument 'out' cannot have a default"},
    {"f(*, Tensor(a!) out, int @n) -> Tensor(a!)",
     "argument 'n' follows the out argument 'out'; out arguments come last"},
};

constexpr Broken kReturns[] = {
    {"f(Tensor(a) x) -> @Tensor(b)",
     "alias set 'b' is not that of an argument"},
    {"f(Tensor x) -> (int n, int @n)", "return name 'n' appears twice"},
    {"f(Tensor x) -> @int[][]", "type 'int[][]' is a list of lists"},
    {"f(Tensor(a) x) -> @int(a)",
     "type 'int' cannot alias: only Tensor has an alias annotation"},
    {"f(Tensor(a) self) -> @Tensor(a!)",
     "return 1 is marked as written, but 'self' is not"},
    {"f(Tensor x, Tensor(a!) y) -> @Tensor(a!)",
     "a written return must be 'self' or an out argument, but 'y' is "
     "positional"},
    {"f(Tensor(a!) self) -> (@Tensor(a!), Tensor)",
     "the returns are a mixture of written arguments and new values"},
};

constexpr Broken kForms[] = {
    {"@f_() -> ()", "in-place 'f_' has no argument to write"},
    {"f_(@Tensor self) -> Tensor",
     "in-place 'f_' must write its argument 'self', as in 'Tensor(a!)'"},
    {"@f_(Tensor(a!) self) -> ()",
     "in-place 'f_' must return 'self' as 'Tensor(a!)'"},
    {"f_(Tensor(a!) self) -> @Tensor",
     "in-place 'f_' must return 'self' as 'Tensor(a!)'"},
    {"f_(Tensor(a!)[] self) -> @Tensor(a!)[]",
     "in-place 'f_' on a list must return nothing"},
    {"@f_(Tensor x, *, Tensor(a!) out) -> Tensor(a!)",
     "in-place 'f_' cannot have out arguments"},
    {"@f(Tensor x, *, Tensor(a!) out) -> ()",
     "an out= form must return its out arguments: expected 1 returns, got 0"},
    {"f(Tensor x, *, Tensor(a!)[] out) -> @Tensor(a!)[]",
     "an out= form must return its out arguments, or nothing where one is a "
     "list: expected 0 returns, got 1"},
    {"f(*, Tensor(a!) x, Tensor(b!) y) -> (Tensor(a!), @Tensor(a!))",
     "return 2 must be the out argument 'y', 'Tensor(b!)'"},
};

INSTANTIATE_TEST_SUITE_P(Arguments, CheckSchema, testing::ValuesIn(kArguments));
INSTANTIATE_TEST_SUITE_P(Returns, CheckSchema, testing::ValuesIn(kReturns));
INSTANTIATE_TEST_SUITE_P(Forms, CheckSchema, testing::ValuesIn(kForms));

TEST(CheckSchema, ReportsEveryFaultInTheOrderOfTheText) {
  const ParseResult result = parse_and_check_schema(
      "f ( int n = 'a',\n  Tensor n ) -> (Tensor(a), Tensor(b))");
  ASSERT_EQ(result.errors.size(), 5u);
  EXPECT_EQ(result.errors[0].offset(), 12u);
  EXPECT_EQ(result.errors[0].message(),
            "default 'a' does not fit type 'int' of argument 'n'");
  EXPECT_EQ(result.errors[1].offset(), 26u);
  EXPECT_EQ(result.errors[2].offset(), 26u);
  EXPECT_EQ(result.errors[3].offset(), 34u);
  EXPECT_EQ(result.errors[4].offset(), 45u);
}

TEST(CheckSchema, AcceptsWhatPyTorchAccepts) {
  for (std::string_view text : {
           "f(Tensor self, Tensor other) -> Tensor",
           "f(Tensor(a) x, Tensor(a) y) -> Tensor(a)",
           "f_(Tensor(a!)[] self) -> ()",
           "f_(Tensor(a!) x) -> Tensor(a!)",
           "f(Tensor x, *, Tensor(a!)[] out) -> ()",
           "f(*, Tensor(a!) out, Tensor(b!) _scratch_space) -> Tensor(a!)",
           "f(int[2] stride=1, float eps=0, Scalar s=True) -> ()",
           "f(int reduction=Mean, Any x=[]) -> ()",
           "f(int[1] dim=[0,1], int[2] stride=[], int[2] pad=[1,2]) -> ()",
           "f(ScalarType t=long, Layout l=strided, Device d=cpu) -> ()",
           "f(MemoryFormat m=contiguous_format) -> ()",
           "f(Tensor(a! -> *) x) -> ()",
       }) {
    for (const SchemaError& error : parse_and_check_schema(text).errors) {
      ADD_FAILURE() << text << ": " << error.what();
    }
  }
}

TEST(CheckSchema, RefusesWhatCannotBeWritten) {
  const auto error_of = [](const FunctionSchema& schema) -> std::string {
    const auto errors = check_schema(schema);
    return errors.size() == 1 ? errors[0].message() : "";
  };
  const Argument named{"n", TypeKind::kInt, {}, {}, true};
  const Argument bad{"a b", TypeKind::kInt, {}, {}, false};
  const Argument late{"p", TypeKind::kInt, {}, {}, false};
  EXPECT_EQ(error_of({{{}, "f", {}}, {bad}, {}}),
            "expected ',' or ')' after argument 'a', got 'b'");
  EXPECT_EQ(error_of({{{}, "f", {}}, {named, late}, {}}),
            "the signature reads differently when parsed");
  EXPECT_EQ(error_of({{{}, "f.g", {}}, {}, {}}),
            "the signature reads differently when parsed");
  EXPECT_EQ(error_of({{{}, {}, {}}, {}, {}}),
            "expected an operator name, got '('");
}

}  // namespace
}  // namespace sy
