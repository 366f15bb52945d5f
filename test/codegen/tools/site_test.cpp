#include "codegen/tools/site.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "codegen/tools/html.h"
#include "codegen/tools/schema_files.h"

namespace sy::codegen {
namespace {

const std::vector<DtypeList> kLists = {
    {"a.txt", "relu cpu native:float64,float32\nmm cpu composed:float64\n"},
    {"b.txt", "relu npu:0 cpu:int64 native:float32\n"}};

class Site : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    lang::Diagnostics diagnostics;
    model_ = new Model(Model::load(known_files({}, {"schemas"}), diagnostics));
    for (OutputFile& f : make_site(*model_, kLists, diagnostics)) {
      files_[f.path] = std::move(f.text);
    }
    ASSERT_TRUE(diagnostics.empty()) << diagnostics.str_with_sources();
  }

  // What follows `before` up to a quote, each time.
  static std::vector<std::string> all(const std::string& text,
                                      const std::string& before) {
    std::vector<std::string> out;
    for (std::size_t at = 0; (at = text.find(before, at)) != text.npos;) {
      at += before.size();
      out.push_back(text.substr(at, text.find('"', at) - at));
    }
    return out;
  }

  static inline const Model* model_;
  static inline std::map<std::string, std::string> files_;
};

TEST_F(Site, EveryLinkLeadsSomewhereInIt) {
  std::map<std::string, std::set<std::string>> places;
  for (const auto& [path, text] : files_) {
    for (const std::string& id : all(text, " id=\"")) {
      EXPECT_TRUE(places[path].insert(id).second) << path << '#' << id;
    }
  }
  std::size_t links = 0;
  for (const auto& [path, text] : files_) {
    std::vector<std::string> targets = all(text, " href=\"");
    for (std::string& s : all(text, " src=\"")) targets.push_back(std::move(s));
    for (const std::string& target : targets) {
      const std::size_t hash = target.find('#');
      const std::string file = hash == 0 ? path : target.substr(0, hash);
      ++links;
      ASSERT_TRUE(files_.count(file)) << path << ": " << target;
      if (hash == target.npos) continue;
      EXPECT_TRUE(places[file].count(target.substr(hash + 1)))
          << path << ": " << target;
    }
  }
  EXPECT_GT(links, 2000u);
}

TEST_F(Site, EachOperatorHasAPlaceAndIsFound) {
  const std::string& search = files_.at("search.js");
  for (const Family& f : model_->families()) {
    const std::string& text = files_.at(f.name + ".html");
    for (const Operator& op : f.operators) {
      EXPECT_NE(text.find("<h2 id=\"" + op.base.name + "\">"), text.npos)
          << op.base.name;
      for (const Overload* o : op.overloads()) {
        EXPECT_NE(search.find("[\"" + o->name + "\",\"" + f.name + "\",\"" +
                              op.base.name + "\","),
                  search.npos)
            << o->name;
      }
    }
  }
}

TEST_F(Site, NeedsNothingFromElsewhere) {
  for (const auto& [path, text] : files_) {
    for (const char* word : {"http:", "https:", "//cdn", "@import", "fetch(",
                             "XMLHttpRequest", "url("}) {
      EXPECT_EQ(text.find(word), text.npos) << path << " has " << word;
    }
  }
}

TEST_F(Site, TagsAreClosed) {
  for (const auto& [path, text] : files_) {
    if (!path.ends_with(".html")) continue;
    for (const char* tag : {"h1", "h2", "p", "ul", "li", "pre", "code", "a",
                            "table", "tr", "td", "nav", "span"}) {
      const auto count = [&](const std::string& what) {
        std::size_t n = 0;
        for (std::size_t at = 0; (at = text.find(what, at)) != text.npos; ++at)
          ++n;
        return n;
      };
      const std::string name = tag;
      EXPECT_EQ(count('<' + name + '>') + count('<' + name + ' '),
                count("</" + name + '>'))
          << path << ": " << tag;
    }
  }
}

TEST_F(Site, TableHasADeviceInEachColumn) {
  const std::string& text = files_.at("dtypes.html");
  EXPECT_NE(text.find("<th>cpu</th><th>npu:0</th>"), text.npos);
  EXPECT_NE(
      text.find("<td><span class=\"native\">native</span> float64 float32</td>"
                "<td><span class=\"cpu\">cpu</span> int64<br>"
                "<span class=\"native\">native</span> float32</td>"),
      text.npos)
      << text.substr(0, 3000);
  EXPECT_NE(text.find("<span class=\"composed\">composed</span> float64</td>"
                      "<td></td>"),
            text.npos);
}

TEST_F(Site, ListThatCannotBeReadIsAnError) {
  lang::Diagnostics diagnostics;
  make_site(*model_, {{"x.txt", "relu cpu native:float32\nrelu cpu fast:f\n"}},
            diagnostics);
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_EQ(to_string(diagnostics.all()[0]),
            "x.txt:2:1: error: expected OPERATOR DEVICE WAY:DTYPES…, as `sy "
            "dtypes` prints them, got 'relu cpu fast:f'");
}

TEST_F(Site, IsWrittenToAFolder) {
  const std::string folder = ::testing::TempDir() + "site/deep";
  std::ostringstream out, err;
  EXPECT_EQ(write_site({folder, {"schemas"}, {}}, out, err), 0) << err.str();
  EXPECT_EQ(out.str(), folder + "/index.html, " +
                           std::to_string(files_.size()) + " files\n");
  std::ifstream in(folder + "/search.js");
  std::stringstream text;
  text << in.rdbuf();
  EXPECT_EQ(text.str(), files_.at("search.js"));
  EXPECT_EQ(write_site({folder, {"schemas"}, {"none.txt"}}, out, err), 1);
  EXPECT_NE(err.str().find("none.txt"), err.str().npos);
}

TEST(Html, WhatPagesHoldIsConverted) {
  EXPECT_EQ(html_of_page("# a\n\n## b<c\n\nd `e < f`\ng\n\n```cpp\nh & i\n```\n"
                         "\n- j: `k`\n- l\n"),
            "<h1>a</h1>\n<h2 id=\"b&lt;c\"><a href=\"#b&lt;c\">b&lt;c</a></h2>"
            "\n<p>d <code>e &lt; f</code>\ng\n</p>\n<pre><code>h &amp; i\n"
            "</code></pre>\n<ul>\n<li>j: <code>k</code></li>\n<li>l</li>\n"
            "</ul>\n");
  EXPECT_EQ(script_text("a\"b\\</script>"), "\"a\\\"b\\\\\\x3c/script>\"");
}

}  // namespace
}  // namespace sy::codegen
