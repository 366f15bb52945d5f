#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>

#include "c10/schema/check.h"
#include "c10/schema/parser.h"
#include "test/c10/schema/signatures.h"

namespace sy {
namespace {

class Mutator {
 public:
  explicit Mutator(std::vector<std::string> seeds) : seeds_(std::move(seeds)) {}

  std::string next() {
    std::string text = seeds_[below(seeds_.size())];
    for (std::size_t n = 1 + below(4); n > 0; --n) mutate(text);
    return text;
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }

  void mutate(std::string& text) {
    static constexpr std::string_view kTokens[] = {
        "(",  ")", "[",  "]",   ",",    "->",     "*",   "...",
        "?",  "!", "|",  "::",  ".",    "=",      "'",   "\"",
        "\\", "-", "1e", "999", "None", "Tensor", "int", "__torch__"};
    const std::size_t at = below(text.size() + 1);
    switch (below(6)) {
      case 0: text.erase(at, 1 + below(6)); break;
      case 1: text.insert(at, kTokens[below(std::size(kTokens))]); break;
      case 2: text.insert(at, 1, static_cast<char>(below(256))); break;
      case 3:
        if (at < text.size()) text[at] = static_cast<char>(below(256));
        break;
      case 4: {
        const std::string& other = seeds_[below(seeds_.size())];
        text.replace(at, std::string::npos, other, below(other.size()));
        break;
      }
      default: text.insert(below(text.size() + 1), text.substr(at, below(40)));
    }
  }

  std::vector<std::string> seeds_;
  std::mt19937 random_{20240613};
};

// Any text gives an error that points into it, or a signature that prints as
// something that reads the same.
TEST(Mutations, AreRefusedOrRoundTrip) {
  const auto seeds = test::sample_signatures();
  ASSERT_FALSE(seeds.empty());
  Mutator mutator(seeds);
  int accepted = 0;
  constexpr int kRuns = 100000;
  for (int i = 0; i < kRuns; ++i) {
    const std::string text = mutator.next();
    const ParseResult result = parse_and_check_schema(text);
    for (const SchemaError& error : result.errors) {
      ASSERT_LE(error.offset(), text.size()) << text;
      ASSERT_FALSE(error.message().empty()) << text;
    }
    if (!result.schema) {
      ASSERT_EQ(result.errors.size(), 1u) << text;
      continue;
    }
    ++accepted;
    ASSERT_EQ(parse_schema(to_string(*result.schema)), *result.schema) << text;
    ASSERT_EQ(check_schema(*result.schema).size(), result.errors.size());
  }
  // Both ways are taken often enough to mean something.
  EXPECT_GT(accepted, kRuns / 20);
  EXPECT_LT(accepted, kRuns - kRuns / 20);
}

}  // namespace
}  // namespace sy
