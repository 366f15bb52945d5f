#include "codegen/text.h"

#include <gtest/gtest.h>

namespace sy::codegen {
namespace {

TEST(Wrap, LeavesShortLinesAlone) {
  EXPECT_EQ(wrap("  return f(a, b);"), "  return f(a, b);");
}

TEST(Wrap, LinesArgumentsUpBehindTheBracket) {
  EXPECT_EQ(wrap("SY_API Tensor add(const Tensor& self, const Tensor& other, "
                 "const Scalar& alpha = 1);"),
            "SY_API Tensor add(const Tensor& self, const Tensor& other,\n"
            "                  const Scalar& alpha = 1);");
}

TEST(Wrap, BreaksBehindTheBracketOfACallIfThatSavesLines) {
  EXPECT_EQ(wrap("  return generated::call_guarded<ops::gelu_backward_out>(k, "
                 "keys, grad_output, self, approximate, grad_input);"),
            "  return generated::call_guarded<ops::gelu_backward_out>(\n"
            "      k, keys, grad_output, self, approximate, grad_input);");
}

TEST(Wrap, DoesNotBreakInsideTemplateArguments) {
  const std::string line = wrap(
      "  const std::tuple<Tensor, Tensor, Tensor, Tensor> results = "
      "some_function(first, second);");
  EXPECT_NE(line.find("std::tuple<Tensor, Tensor, Tensor, Tensor>"),
            std::string::npos);
}

TEST(Wrap, CutsLongLiteralsAtSpaces) {
  const std::string text(66, 'x');
  EXPECT_EQ(wrap("  SY_CHECK(a, Value, \"" + text + " and some more text\");"),
            "  SY_CHECK(a, Value,\n"
            "           \"" +
                text +
                " \"\n"
                "           \"and some more text\");");
}

TEST(Wrap, IsNotMisledByCommasInLiterals) {
  const std::string line = "  f(\"a, b(c\", " + std::string(70, 'y') + ");";
  EXPECT_EQ(wrap(line), "  f(\"a, b(c\",\n    " + std::string(70, 'y') + ");");
}

TEST(Comment, FillsLines) {
  EXPECT_EQ(comment("one two"), "// one two\n");
  const std::string word(40, 'w');
  EXPECT_EQ(comment(word + " " + word, 2),
            "  // " + word + "\n  // " + word + "\n");
}

TEST(Writer, JoinsAShortFunction) {
  Writer w;
  w.function("int f()", "  return 1;\n");
  EXPECT_EQ(w.str(), "int f() { return 1; }\n");
}

TEST(Writer, BreaksALineFromAFormatLikeAnyOther) {
  const std::string head(40, 'h'), argument(30, 'a');
  Writer text, format;
  text.line("  " + head + "(" + argument + ", " + argument + ");");
  format.line("  {0}({1}, {1});", head, argument);
  EXPECT_EQ(format.str(), text.str());
  EXPECT_EQ(format.str(), "  " + head + "(" + argument + ",\n" +
                              std::string(43, ' ') + argument + ");\n");
}

TEST(Writer, TakesATextWithoutArgumentsAsItIs) {
  Writer w;
  w.line("struct {} a;");
  w.raw("{}");
  w.raw(" {} {{\n", "b");
  EXPECT_EQ(w.str(), "struct {} a;\n{} b {\n");
}

TEST(Writer, BreaksEachLineOfSeveral) {
  const std::string word(50, 'w');
  Writer w;
  w.lines("{}(a,\n  b);\n\n{}({}, {});\n", "f", "g", word, word);
  EXPECT_EQ(w.str(), "f(a,\n  b);\n\ng(" + word + ",\n  " + word + ");\n");
}

TEST(Join, PutsTheSeparatorBetween) {
  EXPECT_EQ(join({}, ", "), "");
  EXPECT_EQ(join({"a"}, ", "), "a");
  EXPECT_EQ(join(std::set<std::string_view>{"b", "a", ""}, "|"), "|a|b");
}

TEST(Append, WritesBehindWhatIsThere) {
  std::string out = "a";
  append(out, "{} {{{:>3}}}", true, 7);
  EXPECT_EQ(out, "atrue {  7}");
}

TEST(Writer, KeepsOneEmptyLine) {
  Writer w;
  w.gap();
  w.line("a");
  w.gap();
  w.gap();
  w.line("b");
  EXPECT_EQ(w.str(), "a\n\nb\n");
}

TEST(Writer, PutsLongListsOneALine) {
  Writer w;
  const std::string item(30, 'i');
  w.list("int a[] = {", {item, item, item}, "};");
  EXPECT_EQ(w.str(), "int a[] = {\n    " + item + ",\n    " + item + ",\n    " +
                         item + ",\n};\n");
}

}  // namespace
}  // namespace sy::codegen
