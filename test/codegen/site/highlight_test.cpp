#include "codegen/site/highlight.h"

#include <gtest/gtest.h>

namespace sy::codegen::site {
namespace {

TEST(Highlight, CppHasKeywordsTypesCallsAndLiterals) {
  EXPECT_EQ(
      highlighted("cpp", "const sy::Tensor x = sy::add(a, 1.5e-3f);"),
      "<span class=\"k\">const</span> sy::<span class=\"t\">Tensor</span> "
      "x = sy::<span class=\"f\">add</span>(a, <span "
      "class=\"n\">1.5e-3f</span>);");
  EXPECT_EQ(highlighted("cpp", "#include <sy/sy.h>\nf(\"a\\\"b\");  // c < d"),
            "<span class=\"k\">#include</span> <span "
            "class=\"s\">&lt;sy/sy.h&gt;</span>\n<span "
            "class=\"f\">f</span>(<span class=\"s\">&quot;a\\&quot;b&quot;"
            "</span>);  <span class=\"c\">// c &lt; d</span>");
  EXPECT_EQ(highlighted("cpp", "R\"x(a\n\")x\"; /* b\n */ sy::kFloat"),
            "<span class=\"s\">R&quot;x(a\n&quot;)x&quot;</span>; <span "
            "class=\"c\">/* b\n */</span> sy::<span class=\"n\">kFloat</span>");
}

TEST(Highlight, YamlHasKeysAndExpressions) {
  EXPECT_EQ(highlighted("yaml",
                        "- func: f(Tensor self) -> Tensor  # why\n"
                        "  doc: If it is, 1.\n"
                        "  pointwise: if a then exp(self) else 0\n"),
            "- <span class=\"k\">func</span>: <span class=\"f\">f</span>(<span "
            "class=\"t\">Tensor</span> self) -&gt; <span "
            "class=\"t\">Tensor</span>  <span class=\"c\"># why</span>\n"
            "  <span class=\"k\">doc</span>: If it is, 1.\n"
            "  <span class=\"k\">pointwise</span>: <span class=\"k\">if</span> "
            "a then <span class=\"f\">exp</span>(self) else <span "
            "class=\"n\">0</span>\n");
}

TEST(Highlight, ShellHasCommandsOptionsAndStrings) {
  EXPECT_EQ(
      highlighted("sh", "./sy test --full | grep 'a b'  # all\nA=1 cc $X"),
      "<span class=\"f\">./sy</span> test <span "
      "class=\"t\">--full</span> | <span class=\"f\">grep</span> <span "
      "class=\"s\">'a b'</span>  <span class=\"c\"># all</span>\n<span "
      "class=\"n\">A</span>=1 <span class=\"f\">cc</span> <span "
      "class=\"n\">$X</span>");
}

TEST(Highlight, AnyOtherLanguageIsText) {
  EXPECT_EQ(highlighted("text", "if a < b & \"c\""),
            "if a &lt; b &amp; &quot;c&quot;");
  EXPECT_EQ(highlighted("", "return"), "return");
}

// A token that is cut off ends the text, and nothing is lost or repeated.
TEST(Highlight, EveryPrefixOfCodeIsShownWhole) {
  const std::string code =
      "#include \"a\"\nR\"(x)\" 'c' \"s\\\"\" /* */ 0x1F'F ${A} - key: 'v'\n# "
      "c";
  for (const char* language :
       {"cpp", "python", "cmake", "yaml", "sh", "text"}) {
    for (std::size_t n = 0; n <= code.size(); ++n) {
      const std::string html = highlighted(language, code.substr(0, n));
      std::string text;
      for (std::size_t i = 0; i < html.size(); ++i) {
        if (html[i] == '<') {
          i = html.find('>', i);
        } else if (html[i] == '&') {
          const std::size_t end = html.find(';', i);
          ASSERT_NE(end, html.npos);
          EXPECT_EQ(html.substr(i, end - i), "&quot");
          text += '"';
          i = end;
        } else {
          text += html[i];
        }
      }
      ASSERT_EQ(text, code.substr(0, n)) << language;
    }
  }
}

}  // namespace
}  // namespace sy::codegen::site
