#include <gtest/gtest.h>

#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>

#include "c10/schema/parser.h"

namespace sy {
namespace {

// `@` in the text marks where the error is; it is taken out before parsing.
struct Malformed {
  std::string_view marked;
  std::string_view message;

  std::size_t offset() const { return marked.find('@'); }
  std::string text() const {
    std::string result(marked);
    return result.erase(offset(), 1);
  }
};

void PrintTo(const Malformed& m, std::ostream* out) { *out << m.marked; }

class ParserErrors : public testing::TestWithParam<Malformed> {};

TEST_P(ParserErrors, NameWhatWasExpectedAndWhere) {
  try {
    parse_schema(GetParam().text());
    FAIL() << "was accepted";
  } catch (const SchemaError& error) {
    EXPECT_EQ(error.message(), GetParam().message);
    EXPECT_EQ(error.what(), error.message());
    EXPECT_EQ(error.offset(), GetParam().offset());
  }
}

constexpr Malformed kNames[] = {
    {"@", "expected an operator name, got end of text"},
    {"@(Tensor self) -> Tensor", "expected an operator name, got '('"},
    {"@2add() -> ()", "expected an operator name, got '2add'"},
    {"aten::@.out() -> ()", "expected an operator name after '::', got '.'"},
    {"add.@(Tensor self) -> Tensor",
     "expected an overload name after '.', got '('"},
    {"add@", "expected '(' after operator name 'add', got end of text"},
    {"aten::add@::x() -> ()",
     "expected '(' after operator name 'add', got '::'"},
    {"add@\xc3\xa9() -> ()",
     "expected '(' after operator name 'add', got byte 0xc3"},
};

constexpr Malformed kArguments[] = {
    {"f(@", "expected an argument type, got end of text"},
    {"f(Tensor a, @) -> ()", "expected an argument type, got ')'"},
    {"f(@, Tensor a) -> ()", "expected an argument type, got ','"},
    {"f(Tensor@) -> ()",
     "expected an argument name after type 'Tensor', got ')'"},
    {"f(int[2]? @3) -> ()",
     "expected an argument name after type 'int[2]?', got '3'"},
    {"f(Tensor self@; Tensor other) -> ()",
     "expected ',' or ')' after argument 'self', got ';'"},
    {"f(Tensor self @other) -> ()",
     "expected ',' or ')' after argument 'self', got 'other'"},
    {"f(Tensor self@",
     "expected ',' or ')' after argument 'self', got end of text"},
    {"f(int a=1 @2) -> ()", "expected ',' or ')' after argument 'a', got '2'"},
    {"f(Tensor a, *@) -> ()", "expected ',' after '*', got ')'"},
    {"f(*, int a, @*, int b) -> ()", "'*' appears twice"},
    {"f(...@, int a) -> ()", "expected ')' after '...', got ','"},
};

constexpr Malformed kTypes[] = {
    {"f(@Tensr self) -> ()", "unknown type 'Tensr'; did you mean 'Tensor'?"},
    {"f(@tensor self) -> ()", "unknown type 'tensor'; did you mean 'Tensor'?"},
    {"f(@Symint n) -> ()", "unknown type 'Symint'; did you mean 'SymInt'?"},
    {"f(@double x) -> ()", "unknown type 'double'; did you mean 'float'?"},
    {"f(@IntArrayRef x) -> ()",
     "unknown type 'IntArrayRef'; did you mean 'int[]'?"},
    {"f() -> @Wombat", "unknown type 'Wombat'"},
    {"f(int[@-1] a) -> ()", "expected a list size or ']', got '-'"},
    {"f(int[2@, int a) -> ()", "expected ']' after the list size, got ','"},
    {"f(int[@0] a) -> ()", "list size must be between 1 and 32767, got 0"},
    {"f(int[@99999999999] a) -> ()",
     "list size must be between 1 and 32767, got 99999999999"},
    {"f(Tensor?@? a) -> ()", "'?' follows '?'"},
    {"f(int[][][][][][][][]@[] a) -> ()",
     "the type is nested deeper than 8 levels"},
    {"f(@__torch__.Cell a) -> ()",
     "expected a class type '__torch__.torch.classes.NAME', got "
     "'__torch__.Cell'"},
    {"f(__torch__.@) -> ()", "expected a class name after '.', got ')'"},
};

constexpr Malformed kAliases[] = {
    {"f(Tensor(@) a) -> ()", "expected an alias letter or '*', got ')'"},
    {"f(Tensor(a|@!) a) -> ()", "expected an alias letter or '*', got '!'"},
    {"f(Tensor(@ab) a) -> ()", "an alias set is a letter 'a' to 'z', got 'ab'"},
    {"f(Tensor(@A) a) -> ()", "an alias set is a letter 'a' to 'z', got 'A'"},
    {"f(Tensor(a! @b) a) -> ()",
     "expected ')' after the alias annotation, got 'b'"},
    {"f(Tensor(a@, int b) -> ()",
     "expected ')' after the alias annotation, got ','"},
    {"f(Tensor?@(a!) x) -> ()",
     "an alias annotation goes right after the base type, as in "
     "'Tensor(a!)?'"},
};

constexpr Malformed kDefaults[] = {
    {"f(int a=@) -> ()", "expected a default value, got ')'"},
    {"f(int a=@{}) -> ()", "expected a default value, got '{'"},
    {"f(str a=@'mean) -> ()", "unterminated string"},
    {"f(str a=@'mean\\", "unterminated string"},
    {"f(str a='x@\\q') -> ()",
     "unknown escape '\\q' in a string; write \\\\, \\', \\\", \\n or \\t"},
    {"f(int a=@9223372036854775808) -> ()",
     "integer 9223372036854775808 does not fit in 64 bits"},
    {"f(float a=@1e999) -> ()", "number 1e999 does not fit in a double"},
    {"f(float a=@1e) -> ()", "malformed number '1e'"},
    {"f(float a=@1.2.3) -> ()", "malformed number '1.2.3'"},
    {"f(int a=@0x10) -> ()", "malformed number '0x10'"},
    {"f(int a=@-) -> ()", "malformed number '-'"},
    {"f(float a=@-nan) -> ()", "malformed number '-nan'"},
    {"f(int[] a=[1,@]) -> ()", "expected a default value, got ']'"},
    {"f(int[] a=[1 @2]) -> ()", "expected ',' or ']' in a list, got '2'"},
    {"f(int[] a=[[[[[[[[@[]]]]]]]]]) -> ()",
     "lists are nested deeper than 8 levels"},
};

constexpr Malformed kReturns[] = {
    {"f()@", "expected '->' after the arguments, got end of text"},
    {"f() @=> Tensor", "expected '->' after the arguments, got '='"},
    {"f() ->@", "expected a return type, got end of text"},
    {"f() -> (Tensor, @)", "expected a return type, got ')'"},
    {"f() -> (Tensor a @b)", "expected ',' or ')' after return 1, got 'b'"},
    {"f() -> (Tensor, int@",
     "expected ',' or ')' after return 2, got end of text"},
    {"f() -> Tensor@, Tensor",
     "expected end of text after the returns, got ','"},
    {"f() -> ()@;", "expected end of text after the returns, got ';'"},
    {"f() -> (...@, int)", "expected ')' after '...', got ','"},
};

INSTANTIATE_TEST_SUITE_P(Names, ParserErrors, testing::ValuesIn(kNames));
INSTANTIATE_TEST_SUITE_P(Arguments, ParserErrors,
                         testing::ValuesIn(kArguments));
INSTANTIATE_TEST_SUITE_P(Types, ParserErrors, testing::ValuesIn(kTypes));
INSTANTIATE_TEST_SUITE_P(Aliases, ParserErrors, testing::ValuesIn(kAliases));
INSTANTIATE_TEST_SUITE_P(Defaults, ParserErrors, testing::ValuesIn(kDefaults));
INSTANTIATE_TEST_SUITE_P(Returns, ParserErrors, testing::ValuesIn(kReturns));

TEST(ParserLimits, RefusesTooManyArguments) {
  std::string text = "f(int a0";
  for (int i = 1; i < 256; ++i) text += ", int a" + std::to_string(i);
  const std::size_t last = text.rfind("int a255");
  const ParseResult result = try_parse_schema(text + ") -> ()");
  ASSERT_EQ(result.errors.size(), 1u);
  EXPECT_EQ(result.errors[0].message(), "more than 255 arguments");
  EXPECT_EQ(result.errors[0].offset(), last);
}

TEST(ParserLimits, PartsMustEndTheirText) {
  const auto error_of = [](auto parse, std::string_view text) -> std::string {
    try {
      parse(text);
    } catch (const SchemaError& error) {
      return error.message() + " at " + std::to_string(error.offset());
    }
    return "accepted";
  };
  EXPECT_EQ(error_of(parse_type, "Tensor x"),
            "expected end of text after the type, got 'x' at 7");
  EXPECT_EQ(error_of(parse_type, "Tensor(a!)"),
            "expected end of text after the type, got '(' at 6");
  EXPECT_EQ(error_of(parse_operator_name, "add.out.x"),
            "expected end of text after the operator name, got '.' at 7");
  EXPECT_EQ(error_of(DefaultValue::parse, "1, 2"),
            "expected end of text after the default value, got ',' at 1");
}

}  // namespace
}  // namespace sy
