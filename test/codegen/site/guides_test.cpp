#include "codegen/site/guides.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace sy::codegen::site {
namespace {

class Guides : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = ::testing::TempDir() + "guides_" +
            ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(root_);
    write("docs/a.md", "# A\n\nFirst.\n\n## Part one\n\nText.\n");
  }

  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ + '/' + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  // guides.txt with these lines behind one for a.md.
  void list(const std::string& lines) {
    write("docs/guides.txt", "a.md: A: About a.\n" + lines);
  }

  std::vector<GuidePage> pages() {
    list_ = read_guide_list(root_ + "/docs", diagnostics_);
    return guide_pages(
        list_,
        [](std::string_view name) -> std::string {
          return name == "cumsum" || name == "add" || name == "mine::bump"
                     ? fmt::format("ops/{}.html", name)
                     : "";
        },
        diagnostics_);
  }
  std::string body(const std::string& markdown) {
    write("docs/b.md", markdown);
    list("b.md: B: About b.\n");
    const auto all = pages();
    EXPECT_TRUE(diagnostics_.empty()) << errors();
    return all.size() == 2 ? all[1].page.body : "";
  }
  std::string errors() {
    std::string out;
    for (const lang::Diagnostic& d : diagnostics_.all()) {
      std::string line = to_string(d) + '\n';
      for (std::size_t at; (at = line.find(root_ + '/')) != line.npos;) {
        line.erase(at, root_.size() + 1);
      }
      out += line;
    }
    return out;
  }

  std::string root_;
  GuideList list_;
  lang::Diagnostics diagnostics_;
};

TEST_F(Guides, ListGivesOrderSectionsAndTheStartPage) {
  write("README.md", "# R\n");
  write("x.cpp", "int main() {}\n");
  write("x.txt", "7\n");
  list(
      "# a comment\n\nname: Yard\nsays: So: it is.\nprogram: ../x.cpp\n"
      "output: ../x.txt\ndoor: a.md#part-one: Go: In.\n"
      "door: operators.html: Look: Up.\nsection: More\n"
      "../README.md: Read: It first.\n");
  const auto all = pages();
  ASSERT_TRUE(diagnostics_.empty()) << errors();
  EXPECT_EQ(list_.name, "Yard");
  EXPECT_EQ(list_.says, "So: it is.");
  EXPECT_EQ(list_.program, "int main() {}\n");
  EXPECT_EQ(list_.output, "7\n");
  ASSERT_EQ(list_.doors.size(), 2u);
  EXPECT_EQ(list_.doors[0].target, "guides/a.html#part-one");
  EXPECT_EQ(list_.doors[1].target, "operators.html");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].page.path, "guides/a.html");
  EXPECT_EQ(all[0].page.summary, "About a.");
  EXPECT_EQ(all[0].guide->section, "Guides");
  EXPECT_EQ(all[1].page.path, "guides/readme.html");
  EXPECT_EQ(all[1].guide->section, "More");
  EXPECT_EQ(all[1].guide->source, "README.md");
}

TEST_F(Guides, WithoutAListAllFilesAreGuides) {
  write("docs/b_c.md", "# B\n");
  const auto all = pages();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].page.title, "b_c");
  EXPECT_EQ(all[1].guide->source, "docs/b_c.md");
}

TEST_F(Guides, MarkdownBecomesHtml) {
  EXPECT_EQ(
      body("# B\n\nFirst *a* & <b>.\n\n<!-- file: x -->\n## C `d`\n\n"
           "- e\n\n```cpp\nint f;\n```\n\n| g |\n|---|\n| `h` |\n"),
      "<h1 id=\"b\">B</h1>\n<p class=\"lead\">First <em>a</em> &amp; "
      "&lt;b&gt;.</p>\n<h2 id=\"c-d\">C <code>d</code></h2>\n<ul>\n"
      "<li>e</li>\n</ul>\n<pre tabindex=\"0\"><code class=\"language-cpp\">"
      "<span class=\"k\">int</span> f;\n</code></pre>\n<div "
      "class=\"scroll\"><table>\n<thead>\n<tr><th scope=\"col\">g</th>"
      "</tr>\n</thead>\n<tbody>\n<tr><td><code>h</code></td></tr>\n"
      "</tbody>\n</table></div>\n");
}

TEST_F(Guides, LinksLeadToPagesOrShowPaths) {
  write("src/x.h", "");
  const std::string html = body(
      "[a](a.md#part-one) [b](#end) [w](https://x.y/) [x.h](../src/x.h) "
      "[it](../src/x.h)\n\n## End\n");
  EXPECT_EQ(html,
            "<p><a href=\"a.html#part-one\">a</a> <a href=\"#end\">b</a> <a "
            "href=\"https://x.y/\">w</a> <code>src/x.h</code> it "
            "(<code>src/x.h</code>)</p>\n<h2 id=\"end\">End</h2>\n");
}

TEST_F(Guides, NamesOfOperatorsAreLinksOnce) {
  EXPECT_EQ(
      body("`sy::cumsum(x, 0)` `cumsum` `add` `add(a, b)` `mine::bump` "
           "`cumsum + 1`\n"),
      "<p><a href=\"../ops/cumsum.html\"><code>sy::cumsum(x, 0)</code></a> "
      "<code>cumsum</code> <code>add</code> <a "
      "href=\"../ops/add.html\"><code>add(a, b)</code></a> <a "
      "href=\"../ops/mine::bump.html\"><code>mine::bump</code></a> "
      "<code>cumsum + 1</code></p>\n");
}

TEST_F(Guides, LinksToNothingAreErrors) {
  write("docs/b.md",
        "# B\n\nText [x](none.md)\nand [y](a.md#no-part),\n\n[z](#here)\n");
  list("b.md: B: About b.\ndoor: a.md#gone: G: H.\n");
  pages();
  EXPECT_EQ(errors(),
            "docs/b.md:3:10: error: links to 'none.md', which does not exist\n"
            "docs/b.md:4:9: error: links to a heading that does not exist: "
            "guides/a.html#no-part\n"
            "docs/b.md:6:5: error: links to a heading that does not exist: "
            "guides/b.html#here\n"
            "docs/guides.txt:3:1: error: links to a heading that does not "
            "exist: guides/a.html#gone\n");
}

TEST_F(Guides, MistakesInTheListAreErrors) {
  write("docs/new.md", "# N\n");
  write("docs/A.md", "# A\n");
  list(
      "b.md: B: About b.\nnonsense\nA.md: A: Again.\nprogram: x.cpp\n"
      "door: b.html: B: C.\na.md: only a title\n");
  pages();
  EXPECT_EQ(
      errors(),
      "docs/guides.txt:2:1: error: there is no file 'docs/b.md'\n"
      "docs/guides.txt:3:1: error: expected name, says, program, output, "
      "section or door: …, or FILE.md: Title: A sentence., got 'nonsense'\n"
      "docs/guides.txt:4:1: error: 'docs/a.md' and 'docs/A.md' would be one "
      "page, guides/a.html\n"
      "docs/guides.txt:5:1: error: there is no file 'docs/x.cpp'\n"
      "docs/guides.txt:7:1: error: expected name, says, program, output, "
      "section or door: …, or FILE.md: Title: A sentence., got 'a.md: only a "
      "title'\n"
      "docs/guides.txt:6:1: error: a door leads to a guide of this list or to "
      "operators.html, got 'b.html'\n"
      "docs/guides.txt:7:1: error: 'docs/A.md' is not in this list: add "
      "FILE.md: Title: A sentence.\n"
      "docs/guides.txt:7:1: error: 'docs/new.md' is not in this list: add "
      "FILE.md: Title: A sentence.\n");
}

TEST_F(Guides, ImagesAndFoldersThatAreNoneAreErrors) {
  write("docs/a.md", "# A\n\n![p](p.png)\n");
  list("");
  pages();
  EXPECT_EQ(errors(),
            "docs/a.md:3:6: error: the site has no images, got 'p.png'\n");
  lang::Diagnostics none;
  read_guide_list(root_ + "/gone/", none);
  ASSERT_EQ(none.size(), 1u);
  EXPECT_EQ(to_string(none.all()[0]),
            root_ + "/gone: error: is no folder of guides");
}

}  // namespace
}  // namespace sy::codegen::site
