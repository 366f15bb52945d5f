#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "test/fuzz/targets.h"

// The fuzzers' inputs, replayed, and changed a little at random. A promise
// that is broken aborts.

namespace sy::fuzz {
namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> corpus(std::string_view name) {
  std::vector<std::filesystem::path> paths;
  for (const auto& e : std::filesystem::directory_iterator(
           std::filesystem::path("test/fuzz/corpus") / name)) {
    paths.push_back(e.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> texts;
  for (const auto& path : paths) texts.push_back(read(path));
  return texts;
}

class Corpus : public ::testing::TestWithParam<Target> {};

TEST_P(Corpus, KeepsItsPromises) {
  const auto texts = corpus(GetParam().name);
  ASSERT_FALSE(texts.empty());
  for (const std::string& text : texts) GetParam().run(text);
}

TEST_P(Corpus, CutAnywhere) {
  for (const std::string& text : corpus(GetParam().name)) {
    const std::size_t step = 1 + text.size() / 200;
    for (std::size_t n = 0; n < text.size(); n += step) {
      GetParam().run(std::string_view(text).substr(0, n));
    }
  }
}

TEST_P(Corpus, ChangedAtRandom) {
  constexpr std::string_view kTokens[] = {
      "\n", "  ", ": ", "- ",   "'",   "\"",   "[",        "]",   "{",
      "}",  "(",  ")",  ",",    "#",   " #",   "|",        ">",   "&",
      "*",  "!",  "?",  "->",   "if ", "let ", "\t",       "\\",  "=",
      "1e", "::", ".",  "\x01", "%",   "@",    "\xC3\xA4", "\xFF"};
  const auto texts = corpus(GetParam().name);
  std::mt19937 random(20240613);
  const auto below = [&](std::size_t n) {
    return random() % std::max<std::size_t>(n, 1);
  };
  for (int i = 0; i < 3000; ++i) {
    std::string text = texts[below(texts.size())];
    if (text.size() > 3000) text = text.substr(below(text.size()), 3000);
    for (std::size_t n = 1 + below(4); n > 0; --n) {
      const std::size_t at = below(text.size() + 1);
      switch (below(4)) {
        case 0: text.erase(at, 1 + below(8)); break;
        case 1: text.insert(at, kTokens[below(std::size(kTokens))]); break;
        case 2:
          text.insert(at, text.substr(below(text.size()), below(60)));
          break;
        default: text.resize(at);
      }
    }
    GetParam().run(text);
  }
}

// Inputs that would exhaust a stack, or time that grows with their square.
TEST_P(Corpus, DeepAndLong) {
  const auto repeated = [](std::string_view part, int n) {
    std::string out;
    for (int i = 0; i < n; ++i) out += part;
    return out;
  };
  for (const char* part :
       {"(",  "[",          "{",        "-",       "- ",  "not ", "a.b", "1+",
        "a[", "if a then ", "let a = ", "Tensor?", "&a ", "a: ",  "'",   "\"",
        "\\", "* ",         "! ",       "|\n",     "?",   "a\n "}) {
    GetParam().run(repeated(part, 10000));
    GetParam().run("k: " + repeated(part, 10000));
    GetParam().run("- func: f(" + repeated(part, 10000));
  }
  GetParam().run("- name: " + std::string(1 << 20, 'x'));
  GetParam().run(std::string(1 << 20, '\n'));
}

INSTANTIATE_TEST_SUITE_P(
    Fuzz, Corpus, ::testing::ValuesIn(targets().begin(), targets().end()),
    [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace sy::fuzz
