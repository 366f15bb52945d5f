#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "test/fuzz/call_target.h"

// The example of every operator is the seed of a call whose arguments are any:
// words changed at random, and taken from one another.

namespace sy::fuzz {
namespace {

std::vector<std::string> examples() {
  std::ifstream in("schemas/gen/docs/ops/examples.txt");
  std::vector<std::string> out;
  for (std::string line; std::getline(in, line);) {
    // Lines that say why there is no derivative are no calls.
    if (line.find(" derivative: ") == line.npos) out.push_back(line);
  }
  return out;
}

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> out = {""};
  for (const char c : line) {
    if (c == ' ') {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

// Recurrences as long as their order says.
bool is_endless(const std::string& line) {
  return line.find("_polynomial_") != line.npos;
}

TEST(Calls, OfEveryExampleAndAllThatIsNearIt) {
  const std::vector<std::string> lines = examples();
  ASSERT_GT(lines.size(), 500u);
  std::vector<std::string> pool = {"0",
                                   "-1",
                                   "2",
                                   "[]",
                                   "None",
                                   "s",
                                   "0x3",
                                   "1x1x1x1",
                                   "{}",
                                   "True",
                                   "3",
                                   "2x3!",
                                   "2x3:b",
                                   "1e9",
                                   "nan",
                                   "9223372036854775807",
                                   "-9223372036854775808"};
  for (const std::string& line : lines) {
    std::vector<std::string> words = words_of(line);
    pool.insert(pool.end(), words.begin() + 1, words.end());
  }
  constexpr std::string_view kLetters = "0123456789x,:;{}!*+-=sib.";
  std::mt19937 random(20261121);
  const auto below = [&](size_t n) { return random() % n; };
  size_t calls = 0;
  for (const std::string& line : lines) {
    ASSERT_TRUE(run_call(line)) << line;
    if (is_endless(line)) continue;
    for (int i = 0; i < 60; ++i) {
      std::vector<std::string> words = words_of(line);
      for (size_t n = 1 + below(2); n > 0 && words.size() > 1; --n) {
        std::string& word = words[1 + below(words.size() - 1)];
        const size_t at = below(word.size() + 1);
        switch (below(5)) {
          case 0: word.erase(at, 1); break;
          case 1: word.insert(at, 1, kLetters[below(kLetters.size())]); break;
          case 2:
            if (at < word.size()) word[at] = kLetters[below(kLetters.size())];
            break;
          default: word = pool[below(pool.size())];
        }
      }
      std::string text = words[0];
      for (size_t k = 1; k < words.size(); ++k) text += ' ' + words[k];
      SCOPED_TRACE(text);
      calls += run_call(text);
    }
  }
  EXPECT_GT(calls, 30'000u);
}

}  // namespace
}  // namespace sy::fuzz
