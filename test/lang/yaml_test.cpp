#include "lang/yaml.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

namespace sy::lang {
namespace {

std::string errors(const std::string& text) {
  Diagnostics d;
  parse_yaml(text, "a.yaml", d);
  return d.str();
}

// The place of the first occurrence of `what` in the scalar at `key`.
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

// Our errors of these differ from those of yaml-cpp, which may have none.
TEST(YamlTest, ErrorsOfTheLibraryAreInOurWords) {
  const std::pair<const char*, const char*> kErrors[] = {
      {"a: ]\n", "1:4: ']' cannot begin a text; put the text in quotes"},
      {"a: 'b' ]\n", "1:8: expected the end of the line"},
      {"---\na: 'b' c\n", "2:8: expected the end of the line"},
      {"a: , b\n", "1:4: ',' cannot begin a text; put the text in quotes"},
      {"a: 'b' - c\n", "1:8: expected the end of the line"},
      {"a: [- b]\n", "1:5: '-' cannot begin a text; put the text in quotes"},
      {"a: [b?]\n", "1:6: '?' within brackets; put the text in quotes"},
      {"a: ['b' 'c']\n", "1:9: expected ',' or ']'"},
      {"a: {b: c d: e}\n", "1:11: expected ',' or '}'"},
      {"a: [b}\n", "1:6: expected ',' or ']'"},
      {"{, a: b}\n", "1:2: ',' cannot begin a text; put the text in quotes"},
      {"[{a: [b, c]\n", "1:2: '{' is not closed"},
      {"['it', \"y\n", "1:8: the quotes are not closed"},
      {"a: 'b\n  ", "1:4: the quotes are not closed"},
      {"a: 'b\nc'\n", "2:1: a line of a text in quotes that is not indented"},
      {"a: 'b\n---\nc'\n",
       "2:1: a line of a text in quotes that is not indented"},
      {"a: \"b\\x4g\"\n", "1:9: expected more hexadecimal digits after '\\x'"},
      {"a: \"b\\u12\n", "1:10: expected more hexadecimal digits after '\\u'"},
      {"a: \"b\\'\"\n", "1:7: an unknown escape after '\\'"},
      {"a: \"b\\N\"\n", "1:7: an unknown escape after '\\'"},
      {"a: 'b'#c\n", "1:7: expected a space before the '#' of a comment"},
      {"a: |#c\n b\n", "1:5: expected a space before the '#' of a comment"},
      {"a: |0\n b\n",
       "1:5: expected the end of the line after '|' or '>'; put a text that "
       "begins so in quotes"},
      {"a: 1\nb\nc: 2\n", "2:1: expected 'key: value'"},
      {"a:\nb\n", "2:1: expected 'key: value'"},
      {"a:\n  - b\n  c: 1\n", "3:3: indented deeper than what it belongs to"},
      {"a: 'b'\n  c: 1\n", "2:3: indented deeper than what it belongs to"},
      {"a: 1\n- b\n", "2:1: expected a key, got an item of a list"},
      {"'a' b\n", "1:5: expected the end of the line"},
      {"a: : b\n", "1:4: expected a key before ':'"},
      {"{a\n  b: c}\n",
       "1:2: expected a key on one line, of at most 1024 bytes"},
      {"- \ta: b\n", "1:3: a tab in the indentation; use spaces"},
      {"\ta: b\n", "1:1: a tab in the indentation; use spaces"},
      {"a: [b,\n\tc]\n", "2:1: a tab in the indentation; use spaces"},
      {"a: |\n  b\n \tc\n", "3:2: a tab in the indentation; use spaces"},
      {"a: 1\n...\nb: 2\n", "3:1: expected the end, got more text"},
      {"a: 1\n...\n...\n", "3:1: expected the end, got more text"},
      {"%TAG ! x\n---\na: 1\n",
       "1:1: a YAML directive, which is not supported"},
      {"a: 1\n%b\nc: 2\n", "2:1: a YAML directive, which is not supported"}};
  for (const auto& [text, error] : kErrors) {
    std::string expected = std::string("a.yaml:") + error;
    expected.insert(expected.find(' '), " error: YAML:");
    EXPECT_EQ(errors(text), expected) << text;
  }
  const std::string key(1025, 'k');
  EXPECT_EQ(errors(key.substr(1) + ": 1\n"), "");
  EXPECT_EQ(errors(key + ": 1\n"),
            "a.yaml:1:1: error: YAML: expected a key on one line, of at most "
            "1024 bytes");
}

TEST(YamlTest, AnchorsAliasesAndTagsAreAllReported) {
  const auto unsupported = [](const std::string& place, const char* what) {
    return "a.yaml:" + place + ": error: " + what +
           ", which is not supported; put the text in quotes\n";
  };
  const char* const anchor = "'&' begins a YAML anchor";
  const char* const alias = "'*' begins a YAML alias";
  EXPECT_EQ(errors("a: *x\nb: [*y, &z c]\nd: *z\n"
                   "e: !f [1]\n&g h: !<i> j\n") +
                '\n',
            unsupported("1:4", alias) + unsupported("2:5", alias) +
                unsupported("2:9", anchor) + unsupported("3:4", alias) +
                unsupported("4:4", "'!f' is a YAML tag") +
                unsupported("5:1", anchor) +
                unsupported("5:7", "'!<i>' is a YAML tag"));
  // Texts at which yaml-cpp gives up.
  const std::pair<const char*, const char*> kLast[] = {
      {"a: &\n", anchor},
      {"a: * b\n", alias},
      {"a: *b[0]\n", alias},
      {"a: &b &c d\n", anchor},
      {"a: !<b c\n", "'!<b' is a YAML tag"}};
  for (const auto& [text, what] : kLast) {
    EXPECT_NE(errors(text).find(what), std::string::npos) << text;
    EXPECT_TRUE(errors(text).starts_with("a.yaml:1:4: error: ")) << text;
  }
  std::string many;
  for (int i = 0; i < 100; ++i) many += "- *x" + std::to_string(i) + '\n';
  EXPECT_NE(errors(many).find("a.yaml:9:3: error: YAML: " + std::string(alias)),
            std::string::npos);
}

TEST(YamlTest, LineEndsOfAllKinds) {
  EXPECT_EQ(place("k: abc +\r\n   def\r\n", "k", "def"), "a.yaml:2:4");
  EXPECT_EQ(place("k: |\r\n  abc\r\n\r\n  def\r\n", "k", "def"), "a.yaml:4:3");
  EXPECT_EQ(place("k: 'abc\r\n   def'\r\n", "k", "def"), "a.yaml:2:4");
  EXPECT_EQ(errors("a: 1\r\nb: @c\r\n"),
            "a.yaml:2:4: error: YAML: '@' cannot begin a text; put the text in "
            "quotes");
  Diagnostics d;
  const YamlNode root = parse_yaml("a: |\r  x\r  y\rb: z", "a.yaml", d);
  ASSERT_EQ(d.str(), "");
  EXPECT_EQ(root.find("a")->str(), "x\ny\n");
  // Lines are those of an editor: a carriage return alone ends none.
  EXPECT_EQ(to_string(root.find("b")->at), "a.yaml:1:17");
}

TEST(YamlTest, ColumnsCountBytes) {
  EXPECT_EQ(errors("\xEF\xBB\xBF"
                   "a: @b\n"),
            "a.yaml:1:7: error: YAML: '@' cannot begin a text; put the text in "
            "quotes");
  EXPECT_EQ(place("k: \xC3\xA4 def\n", "k", "def"), "a.yaml:1:7");
  EXPECT_EQ(place("k: \"\xC3\xA4\\u00e4\\\n   def\"\n", "k", "def"),
            "a.yaml:2:4");
}

TEST(YamlTest, WhatIsNotThereHasAPlace) {
  const auto at = [](const char* text, const char* key) {
    Diagnostics d;
    const YamlNode root = parse_yaml(text, "a.yaml", d);
    EXPECT_EQ(d.str(), "");
    const YamlNode& n = *key ? *root.find(key) : root;
    EXPECT_TRUE(n.is_null());
    return to_string(n.at);
  };
  EXPECT_EQ(at("", ""), "a.yaml:1:1");
  EXPECT_EQ(at("# only a comment\n", ""), "a.yaml:2:1");
  EXPECT_EQ(at("a:  # none\nb: 1\n", "a"), "a.yaml:1:3");
  EXPECT_EQ(at("a:\nnull: 1\n", "a"), "a.yaml:1:3");
  EXPECT_EQ(at("a:\n  null\n", "a"), "a.yaml:2:3");
  EXPECT_EQ(at("{a: , b: 1}\n", "a"), "a.yaml:1:5");
}

TEST(YamlTest, ThreadsReadAtOnce) {
  const std::string text =
      "a: [b, 'c', {d: \"e\\x41\"}]\nf: |\n  g\nh: >\n  i\n  j\nk: [l\n";
  std::vector<std::string> told(8);
  std::vector<std::thread> threads;
  for (std::string& out : told) {
    threads.emplace_back([&text, &out] {
      for (int i = 0; i < 100; ++i) out = errors(text);
    });
  }
  for (std::thread& t : threads) t.join();
  for (const std::string& out : told) {
    EXPECT_EQ(out, "a.yaml:7:4: error: YAML: '[' is not closed");
  }
}

TEST(YamlTest, LongLinesOfAnyKind) {
  constexpr std::size_t kLong = 4 << 20;
  const std::string x(kLong, 'x');
  const std::string blanks(kLong, ' ');
  EXPECT_EQ(errors("a: 'b" + blanks + "c'\n"), "");
  EXPECT_EQ(errors("a: b" + blanks + "c\n"), "");
  EXPECT_EQ(errors("a: [b," + blanks + "c]\n"), "");
  EXPECT_EQ(errors("a: # " + x + "\n"), "");
  EXPECT_EQ(errors("a: |\n  " + x + '\n' + blanks), "");
  std::string words;
  while (words.size() < kLong) words += "\\x41 ";
  EXPECT_EQ(errors("a: \"" + words + "\"\n"), "");
  // yaml-cpp would take gigabytes before it told of the first.
  EXPECT_EQ(errors("a: " + std::string(20'000'000, '[')),
            "a.yaml:1:104: error: YAML: nested more than 100 deep");
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
  const auto nested = [](std::size_t n) {
    return "a: " + std::string(n - 1, '[') + std::string(n - 1, ']') + '\n';
  };
  EXPECT_EQ(errors(nested(100)), "");
  EXPECT_EQ(errors(nested(101)), "a.yaml:1:103: " + deep);
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
