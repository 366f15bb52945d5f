#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "codegen/commands.h"

// testdata/errors.txt: every position of the language with something wrong in
// it, "=== NAME", the file, "---" and all that `sygen check` says of it, to the
// letter. After a change:
// SY_UPDATE_ERRORS=$PWD/test/codegen/testdata/errors.txt and run this test,
// then read what became of them.

namespace sy::codegen {
namespace {

constexpr const char* kCases = "test/codegen/testdata/errors.txt";

struct Case {
  std::string name, yaml, expected;
};

std::vector<Case> read_cases() {
  std::ifstream in(kCases);
  std::vector<Case> out;
  bool is_expected = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("=== ")) {
      out.push_back({line.substr(4), "", ""});
      is_expected = false;
    } else if (line == "---") {
      is_expected = true;
    } else if (!out.empty()) {
      (is_expected ? out.back().expected : out.back().yaml) += line + '\n';
    }
  }
  return out;
}

std::string check(const std::string& yaml) {
  const std::string folder = ::testing::TempDir();
  {
    std::ofstream out(folder + "x.yaml");
    out << yaml;
  }
  std::ostringstream err;
  EXPECT_EQ(
      check_files({folder + "x.yaml"},
                  {"schemas/tags.yaml", "test/codegen/testdata/sample.yaml",
                   "backends/cpu/backend.yaml", "backends/meta/backend.yaml"},
                  err),
      1);
  std::string all = err.str();
  for (std::size_t at; (at = all.find(folder)) != std::string::npos;) {
    all.erase(at, folder.size());
  }
  return all;
}

TEST(Errors, AreToldToTheLetter) {
  std::vector<Case> cases = read_cases();
  ASSERT_GT(cases.size(), 100u);
  for (Case& c : cases) {
    const std::string told = check(c.yaml);
    EXPECT_EQ(told, c.expected) << c.name;
    EXPECT_NE(told, "") << c.name;
    // Something nobody wrote has no place.
    EXPECT_EQ(told.find("<text>"), std::string::npos) << c.name;
    c.expected = told;
  }
  const char* update = std::getenv("SY_UPDATE_ERRORS");
  if (!update) return;
  std::ofstream out(update);
  for (const Case& c : cases) {
    out << "=== " << c.name << '\n' << c.yaml << "---\n" << c.expected;
  }
}

TEST(Errors, CutFilesAreNoCrash) {
  std::string text;
  for (const Case& c : read_cases()) text += c.yaml;
  const std::string path = ::testing::TempDir() + "cut.yaml";
  for (std::size_t n = 0; n < text.size(); n += 97) {
    std::ofstream(path) << text.substr(0, n);
    std::ostringstream err;
    const int status = check_files({path}, err);
    EXPECT_EQ(status != 0, !err.str().empty()) << n;
  }
}

}  // namespace
}  // namespace sy::codegen
