#include "codegen/lang/yaml.h"

#include <gtest/gtest.h>

#include <string>

namespace sy::lang {
namespace {

std::string errors(const std::string& text) {
  Diagnostics d;
  parse_yaml(text, "a.yaml", d);
  return d.str();
}

// Where the first occurrence of `what` in the scalar at `key` stands.
std::string place(const std::string& text, const char* key, const char* what) {
  Diagnostics d;
  const YamlNode root = parse_yaml(text, "a.yaml", d);
  EXPECT_TRUE(d.empty()) << d.str();
  const YamlNode* n = root.find(key);
  const Text& scalar = n->is_sequence() ? n->raw : n->scalar;
  return to_string(scalar.at(scalar.str().find(what)));
}

TEST(YamlTest, ReadsNodesWithTheirPlaces) {
  Diagnostics d;
  const YamlNode root =
      parse_yaml("a: 1\nb:\n  - x\n  - {c: 'd', e: [1, 2]}\nf:\n", "a.yaml", d);
  ASSERT_TRUE(d.empty()) << d.str();
  ASSERT_TRUE(root.is_map());
  EXPECT_EQ(root.find("a")->str(), "1");
  const YamlNode& map = root.find("b")->items[1];
  EXPECT_EQ(to_string(map.at), "a.yaml:4:5");
  EXPECT_FALSE(map.find("c")->plain);
  EXPECT_TRUE(map.find("e")->flow);
  EXPECT_EQ(map.find("e")->raw.str(), "[1, 2]");
  EXPECT_TRUE(root.find("f")->is_null());
  EXPECT_EQ(root.find("g"), nullptr);
}

TEST(YamlTest, EveryCharacterKnowsItsPlace) {
  EXPECT_EQ(place("k: abc + def\n", "k", "def"), "a.yaml:1:10");
  EXPECT_EQ(place("k: 'abc + def'\n", "k", "def"), "a.yaml:1:11");
  EXPECT_EQ(place("k: 'it''s def'\n", "k", "def"), "a.yaml:1:11");
  EXPECT_EQ(place("k: \"a\\\"b\\x41 def\"\n", "k", "def"), "a.yaml:1:14");
  EXPECT_EQ(place("k: abc +\n   def\n", "k", "def"), "a.yaml:2:4");
  EXPECT_EQ(place("k: |\n  abc\n    +\n\n  def\n", "k", "def"), "a.yaml:5:3");
  EXPECT_EQ(place("k: >-\n  abc\n  + def\n", "k", "def"), "a.yaml:3:5");
  EXPECT_EQ(place("k: [abc,\n  def]\n", "k", "def"), "a.yaml:2:3");
}

TEST(YamlTest, IsStricterThanYaml) {
  EXPECT_EQ(errors("a: 1\nb: 2\na: 3\n"),
            "a.yaml:3:1: error: duplicate key 'a'; the first is on line 1");
  EXPECT_EQ(errors("a: &x 1\n"),
            "a.yaml:1:4: error: '&' begins a YAML anchor, "
            "which is not supported; put the text in "
            "quotes");
  EXPECT_EQ(errors("a: !x 1\n"),
            "a.yaml:1:4: error: '!x' is a YAML tag, which "
            "is not supported; put the text in quotes");
  EXPECT_EQ(errors("<<: {b: 1}\n"),
            "a.yaml:1:1: error: merge keys are not supported");
  EXPECT_EQ(errors("[a]: 1\n"),
            "a.yaml:1:1: error: expected a word as the key, "
            "got something else");
  EXPECT_EQ(errors("a: 1\n---\nb: 2\n"),
            "a.yaml:3:1: error: expected one YAML "
            "document, got another after it");
}

TEST(YamlTest, SyntaxErrorsHaveAPlace) {
  EXPECT_EQ(errors("a: [1, 2\n"),
            "a.yaml:2:1: error: YAML: end of sequence flow not found");
  EXPECT_EQ(errors("a: b: c\n"), "a.yaml:1:5: error: YAML: illegal map value");
  EXPECT_NE(errors("a:\n\tb: 1\n"), "");
  EXPECT_NE(errors("a: *b\n"), "");
  EXPECT_NE(errors(std::string(100000, '[')), "");
  EXPECT_EQ(errors(""), "");
}

TEST(YamlTest, CutFilesAreNoCrash) {
  const std::string text =
      "- func: f(Tensor a) -> Tensor\n  doc: |\n    x\n  k: {a: [1, 'b'], "
      "\"c\\x41\": d}\n";
  for (std::size_t n = 0; n <= text.size(); ++n) {
    Diagnostics d;
    parse_yaml(text.substr(0, n), "a.yaml", d);
  }
}

TEST(YamlTest, UnknownKeysNameTheNearest) {
  constexpr std::string_view kKnown[] = {"sizes", "strides"};
  Diagnostics d;
  const YamlNode root = parse_yaml("sises: 1\nxy: 2\n", "a.yaml", d);
  check_keys(root, "'view'", kKnown, d);
  EXPECT_EQ(d.str(),
            "a.yaml:1:1: error: unknown key 'sises' in 'view' (did you "
            "mean 'sizes'?)\n"
            "a.yaml:2:1: error: unknown key 'xy' in 'view'; the keys "
            "are sizes, strides");
}

TEST(YamlTest, CommaLists) {
  const auto parts = split_commas(Text(" a,b ,, c"));
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[1].str(), "b");
  EXPECT_EQ(to_string(parts[2].start()), "<text>:1:9");
}

TEST(DiagnosticsTest, SortedOnceAndWithTheLine) {
  Location at;
  at.file = "a.yaml";
  at.line = 2;
  at.column = 4;
  Diagnostics d;
  d.error(at, "second");
  at.line = 1;
  d.error(at, "first");
  d.error(at, "first");
  EXPECT_EQ(d.str(), "a.yaml:1:4: error: first\na.yaml:2:4: error: second");
  d.add_source("a.yaml", "abc def\n\tghi\n");
  EXPECT_EQ(d.str_with_sources(),
            "a.yaml:1:4: error: first\n  abc def\n     ^\n"
            "a.yaml:2:4: error: second\n  \tghi\n  \t  ^");
}

}  // namespace
}  // namespace sy::lang
