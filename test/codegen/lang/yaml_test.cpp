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
            "a.yaml:3:1: error: YAML: expected one YAML "
            "document, got another after it");
}

TEST(YamlTest, SyntaxErrorsHaveAPlace) {
  const std::pair<const char*, const char*> kErrors[] = {
      {"a: [1, 2\n", "1:4: error: YAML: '[' is not closed"},
      {"a: {b: 1\n", "1:4: error: YAML: '{' is not closed"},
      {"a: [1 2]\nb: [c}\n", "2:6: error: YAML: expected ',' or ']'"},
      {"a: [1,, 2]\n", "1:7: error: YAML: expected a value before ','"},
      {"a: b: c\n",
       "1:5: error: YAML: ': ' within a text; put the text in quotes"},
      {"a: b\n  c: d\n",
       "2:4: error: YAML: ': ' within a text; put the text in quotes"},
      {"a:\n\tb: 1\n",
       "2:1: error: YAML: a tab in the indentation; use spaces"},
      {"a:\n  b: 1\n \tc: 2\n",
       "3:2: error: YAML: a tab in the indentation; use spaces"},
      {"a: 'b\n", "1:4: error: YAML: the quotes are not closed"},
      {"a: \"b\\q\"\n", "1:7: error: YAML: an unknown escape after '\\'"},
      {"a: \"\\uD800\"\n",
       "1:11: error: YAML: an escape that is no character of Unicode"},
      {"a: 'b' c\n", "1:8: error: YAML: expected the end of the line"},
      {"a: @b\n",
       "1:4: error: YAML: '@' cannot begin a text; put the text in quotes"},
      {"a: 1\n   b: 2\n",
       "2:5: error: YAML: ': ' within a text; put the text in quotes"},
      {"- a\n   - b\nc: 1\n",
       "3:1: error: YAML: expected the end, got more "
       "text"},
      {"a:\n  - b\n    c: 1\n",
       "3:6: error: YAML: ': ' within a text; put the text in quotes"},
      {"a: - b\n", "1:4: error: YAML: a list begins on a line of its own"},
      {"? a\n: b\n", "1:1: error: YAML: keys after '? ' are not supported"},
      {": b\n", "1:1: error: YAML: expected a key before ':'"},
      {"a: 1\nb\n", "2:1: error: YAML: expected 'key: value'"},
      {"a: |x\n  b\n",
       "1:5: error: YAML: expected the end of the line after '|' or '>'; put a "
       "text that begins so in quotes"},
      {"%YAML 1.2\n---\na: 1\n",
       "1:1: error: YAML: a YAML directive, which is not supported"},
      {"a: \xFF\n", "1:4: error: YAML: the text is not UTF-8"},
      {"a: \x01\n", "1:4: error: YAML: a control character, byte 1"}};
  for (const auto& [text, error] : kErrors) {
    EXPECT_EQ(errors(text), std::string("a.yaml:") + error) << text;
  }
  EXPECT_NE(errors("a: *b\n"), "");
  EXPECT_EQ(errors(""), "");
  EXPECT_EQ(errors("\xEF\xBB\xBF# only a comment\n"), "");
}

TEST(YamlTest, NestingIsLimited) {
  const std::string deep = "error: YAML: nested more than 100 deep";
  EXPECT_NE(errors(std::string(100000, '[')).find(deep), std::string::npos);
  EXPECT_NE(errors(std::string(100000, '{')).find(deep), std::string::npos);
  std::string items;
  for (int i = 0; i < 100000; ++i) items += "- ";
  EXPECT_NE(errors(items).find(deep), std::string::npos);
  std::string maps;
  for (int i = 0; i < 500; ++i) maps += std::string(i, ' ') + "a:\n";
  EXPECT_NE(errors(maps).find(deep), std::string::npos);
}

TEST(YamlTest, ScalarsOfAllKinds) {
  Diagnostics d;
  const YamlNode root = parse_yaml(
      "---\r\n"
      "plain: a b  # comment\r\n"
      "lines: a\n  b\n\n  c\n"
      "hash: a#b\n"
      "colon: a:b\n"
      "single: 'it''s\n  two'\n"
      "double: \"\\u00e4\\t\\\"\\\n   x\"\n"
      "literal: |+\n  a\n    b\n\n"
      "folded: >\n  a\n  b\n\n  c\n    d\n  e\n"
      "strip: >-\n\n  a\n"
      "indent: |1\n  a\n"
      "empty: ''\nnothing:\ntilde: ~\n"
      "list:\n- a\n-\n- - b\n  - c\n"
      "flow: {a: [b, {c: d}], 'e':f, g}\n"
      "'quoted key' : \xC3\xA4\n"
      "...\n",
      "a.yaml", d);
  ASSERT_EQ(d.str(), "");
  const auto is = [&](const char* key, const std::string& value) {
    const YamlNode* n = root.find(key);
    ASSERT_NE(n, nullptr) << key;
    EXPECT_TRUE(n->is_scalar()) << key;
    EXPECT_EQ(n->str(), value) << key;
  };
  is("plain", "a b");
  is("lines", "a b\nc");
  is("hash", "a#b");
  is("colon", "a:b");
  is("single", "it's two");
  is("double", "\xC3\xA4\t\"x");
  is("literal", "a\n  b\n\n");
  is("folded", "a b\nc\n  d\ne\n");
  is("strip", "\na");
  is("indent", " a\n");
  is("empty", "");
  is("quoted key", "\xC3\xA4");
  EXPECT_TRUE(root.find("nothing")->is_null());
  EXPECT_TRUE(root.find("tilde")->is_null());
  const YamlNode& list = *root.find("list");
  ASSERT_EQ(list.items.size(), 3u);
  EXPECT_TRUE(list.items[1].is_null());
  EXPECT_EQ(list.items[2].items[1].str(), "c");
  const YamlNode& flow = *root.find("flow");
  EXPECT_EQ(flow.find("a")->items[1].find("c")->str(), "d");
  EXPECT_EQ(flow.find("a")->raw.str(), "[b, {c: d}]");
  EXPECT_EQ(flow.find("e")->str(), "f");
  EXPECT_TRUE(flow.find("g")->is_null());
}

TEST(YamlTest, ManyKeysAndBigTextsTakeLinearTime) {
  std::string text;
  for (int i = 0; i < 20000; ++i) {
    text += "key" + std::to_string(i) + ": [a, 'b']\n";
  }
  EXPECT_EQ(errors(text), "");
  text += "key77: again\n";
  EXPECT_EQ(errors(text),
            "a.yaml:20001:1: error: duplicate key 'key77'; the first is on "
            "line 78");
  EXPECT_EQ(errors("a: " + std::string(4 << 20, 'x') + "\n"), "");
  EXPECT_EQ(errors("a: |\n" + std::string(4 << 20, '\n')), "");
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
