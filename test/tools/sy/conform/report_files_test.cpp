#include "tools/sy/conform/report_files.h"

#include <gtest/gtest.h>

namespace sy::tools {
namespace {

Report example() {
  Report r;
  r["add.Tensor"].passed = 2;
  r["add.Tensor"].non_empty = true;
  r["add.Tensor"].ways = {{"native", 2}};
  r["mul.Tensor"].passed = 1;
  r["mul.Tensor"].failed = 1;
  r["mul.Tensor"].failures = {{"case", "expected <1> & got \"2\"\x01"}};
  r["relu"].ways = {{"declared", 3}};
  r["gone"].missing = 1;
  return r;
}

TEST(Report, DeclaredCasesAreNoPasses) {
  const Report r = example();
  EXPECT_TRUE(r.at("relu").declared_only());
  EXPECT_FALSE(r.at("relu").works());
  EXPECT_FALSE(none_fails(r));
  EXPECT_FALSE(none_fails({}));
  const std::string text = to_text(r, false);
  EXPECT_NE(text.find("ways: 2 by kernels of the backend, 3 on the CPU, as the "
                      "backend declares"),
            text.npos)
      << text;
  EXPECT_NE(text.find("overloads: 1 of 4 work, 1 fail, 1 missing, 0 unproven, "
                      "1 declared unsupported"),
            text.npos)
      << text;
  EXPECT_EQ(to_json(r)["overloads"]["relu"]["ways"]["declared"], 3);
  EXPECT_EQ(to_json(r)["passed"], 3);
}

TEST(Report, SaysWhatDiffersAndWhatIsNotCalled) {
  Report r = example();
  r["relu"].skipped = {{"refused by the CPU", 2}};
  r["rand"].skipped = {{"random", 1}};
  r["sub.out"].passed = 1;
  r["sub.out"].non_empty = true;
  r["sub.out"].ways = {{"accepted", 2}, {"restrided", 1}};
  r["sub.out"].notes = {{"a", "expected an error, got a result"},
                        {"b", "expected an error, got a result"},
                        {"c", "out: strides: expected [1], got [2]"}};
  EXPECT_TRUE(r.at("rand").only_skipped());
  EXPECT_FALSE(r.at("relu").only_skipped());
  const std::string text = to_text(r, false);
  for (const char* line :
       {"2 calls of composed operators give a result where an error is "
        "expected (--notes lists them): sub.out (2)\n",
        "1 calls of composed operators write tensors with other strides "
        "(--notes lists them): sub.out (1)\n",
        "3 calls skipped: random 1, refused by the CPU 2\n",
        "1 composed, with other strides, 2 composed, with a result for an "
        "error (not counted as passed)",
        "0 unproven, 1 declared unsupported, 1 not called\n"}) {
    EXPECT_NE(text.find(line), text.npos) << line << "\n" << text;
  }
  EXPECT_EQ(text.find("fresh results differ"), text.npos) << text;
  EXPECT_EQ(to_json(r)["skipped"]["random"], 1);
  EXPECT_EQ(to_json(r)["overloads"]["rand"]["skipped"]["random"], 1);
  const std::string xml = to_junit(r, "");
  EXPECT_NE(xml.find("name=\"rand\">\n    <skipped message=\"random\"/>"),
            xml.npos)
      << xml;
}

TEST(Junit, CountsAndEscapes) {
  const std::string xml = to_junit(example(), "a < b");
  EXPECT_NE(xml.find("<testsuite name=\"a &lt; b\" tests=\"4\" failures=\"2\" "
                     "skipped=\"1\" errors=\"0\">"),
            xml.npos)
      << xml;
  EXPECT_NE(xml.find("<testcase classname=\"conform\" name=\"add.Tensor\"/>"),
            xml.npos)
      << xml;
  EXPECT_NE(xml.find("case: expected &lt;1&gt; &amp; got &quot;2&quot;\n"),
            xml.npos)
      << xml;
}

TEST(Html, HasARowForEachOperator) {
  const std::string page = to_html(example(), "title");
  for (const char* row :
       {"<tr><td>add.Tensor</td><td class=\"works\">works</td><td>2</td>",
        "<tr><td>gone</td><td class=\"missing\">missing</td>",
        "<tr><td>mul.Tensor</td><td class=\"fails\">fails</td><td>1</td><td>1",
        "<tr><td>relu</td><td class=\"declared\">declared</td>"}) {
    EXPECT_NE(page.find(row), page.npos) << row << "\n" << page;
  }
}

}  // namespace
}  // namespace sy::tools
