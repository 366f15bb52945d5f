#include "codegen/site/frame.h"

#include <gtest/gtest.h>

namespace sy::codegen::site {
namespace {

const Navigation kNavigation = {
    "Name",
    {{"Start", {{"guides/a.html", "A & B"}, {"guides/b.html", "B"}}}},
    {{{"families/f.html", "f"}, {{"ops/x.html", "x"}, {"ops/y.html", "y"}}},
     {{"families/g.html", "g"}, {{"ops/z.html", "z"}}}}};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

TEST(Frame, LinkGoesUpOnlyAsFarAsItMust) {
  EXPECT_EQ(link("ops/add.html", "guides/lazy.html"), "../guides/lazy.html");
  EXPECT_EQ(link("index.html", "ops/add.html"), "ops/add.html");
  EXPECT_EQ(link("ops/add.html", "ops/sub.html"), "sub.html");
  EXPECT_EQ(link("ops/add.html", "index.html"), "../index.html");
  EXPECT_EQ(link("a/b/c.html", "a/d/e.html"), "../d/e.html");
  EXPECT_EQ(link("ops/add.html", ""), "../");
}

TEST(Frame, HeadingsGetIdsLinksAndAList) {
  const std::string html =
      framed(kNavigation,
             {"guides/a.html", "A & B",
              "<h1>A</h1><h2>One <code>x</code></h2><h3 id=\"k\">Two</h3>"
              "<h2>One x</h2>",
              "guides", "It's \"so\"."},
             {"docs/a.md", {}, {"guides/b.html", "B"}});
  EXPECT_TRUE(has(html,
                  "<h2 id=\"one-x\">One <code>x</code> <a "
                  "class=\"permalink\" href=\"#one-x\""))
      << html;
  EXPECT_TRUE(has(html, "<h3 id=\"k\">Two <a class=\"permalink\""));
  EXPECT_TRUE(has(html, "<h2 id=\"one-x-2\">"));
  EXPECT_TRUE(has(html, "<li class=\"h2\"><a href=\"#one-x\">One x</a></li>"));
  EXPECT_TRUE(has(html, "<li class=\"h3\"><a href=\"#k\">Two</a></li>"));
  EXPECT_TRUE(has(html, "<title>A &amp; B · Name</title>"));
  EXPECT_TRUE(has(html, "content=\"It's &quot;so&quot;.\""));
  EXPECT_TRUE(has(html, "Made from <code>docs/a.md</code>"));
  EXPECT_TRUE(has(html, "<a rel=\"next\" href=\"b.html\">"));
  EXPECT_FALSE(has(html, "rel=\"prev\""));
}

TEST(Frame, HeadingsOfCardsAreLeftAlone) {
  const std::string html = framed(
      kNavigation,
      {"operators.html", "O",
       "<h2>a</h2><a class=\"card\" href=\"x\"><h3>In</h3></a><h2>b</h2>",
       "operators", ""},
      {});
  EXPECT_TRUE(has(html, "<h3>In</h3></a>"));
  EXPECT_FALSE(has(html, ">In</a></li>"));
}

TEST(Frame, NavigationShowsTheFamilyOfThePage) {
  const std::string html = framed(
      kNavigation, {"ops/y.html", "y", "<h1>y</h1>", "operators", ""}, {});
  EXPECT_TRUE(has(html, "<a href=\"y.html\" aria-current=\"page\">y</a>"));
  EXPECT_TRUE(has(html, "<a href=\"x.html\">x</a>"));
  EXPECT_FALSE(has(html, "z.html"));
  EXPECT_TRUE(has(html, "<details open>"));
  EXPECT_TRUE(has(html, "› <a href=\"../families/f.html\">f</a></nav>"));
  EXPECT_TRUE(has(html, "<a href=\"../guides/a.html\">A &amp; B</a>"));
}

}  // namespace
}  // namespace sy::codegen::site
