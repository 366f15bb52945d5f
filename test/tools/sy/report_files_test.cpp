#include "tools/sy/report_files.h"

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
