#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <sstream>

#include "codegen/commands.h"

// Files that nobody writes by hand: enormous, endlessly nested, of any bytes.
// Each is read or refused in seconds, with errors that have a place.

namespace sy::codegen {
namespace {

const std::string kHead = "- func: f(Tensor self) -> Tensor\n";

std::string repeat(std::string_view text, std::size_t n) {
  std::string out;
  out.reserve(text.size() * n);
  for (std::size_t i = 0; i < n; ++i) out += text;
  return out;
}

// All that is said of it.
std::string check(const std::string& text) {
  const std::string path = ::testing::TempDir() + "bad_input.yaml";
  std::ofstream(path, std::ios::binary) << text;
  std::ostringstream err;
  const int status = check_files({path}, err);
  EXPECT_EQ(status != 0, !err.str().empty());
  return err.str();
}

TEST(BadInput, ExpressionsNestedTenThousandDeep) {
  constexpr std::size_t kDeep = 10'000;
  const std::string cases[] = {
      "  pointwise: " + repeat("(", kDeep) + "self" + repeat(")", kDeep),
      "  pointwise: " + repeat("-", kDeep) + "self",
      "  pointwise: " + repeat("self + ", kDeep) + "self",
      "  pointwise: " + repeat("self ** ", kDeep) + "self",
      "  pointwise: " + repeat("exp(", kDeep) + "self" + repeat(")", kDeep),
      "  pointwise: " + repeat("if self > 0 then 1 else ", kDeep) + "self",
      "  pointwise: " + repeat("let a = ", kDeep) + "self",
      "  composite: " + repeat("not ", kDeep) + "true",
      "  composite: self" + repeat(".neg()", kDeep),
      "  require: self.sizes()" + repeat("[0]", kDeep),
      "  require: self.sizes()" + repeat("[0:1]", kDeep),
      "  require: '" + repeat("[", kDeep) + repeat("]", kDeep) + "'",
      "  require: len(" + repeat("[x for x in ", kDeep) + "self" +
          repeat("]", kDeep) + ")",
      "  require: len(" + repeat("[", kDeep) + "x" +
          repeat(" for x in self.sizes()]", kDeep) + ")"};
  for (const std::string& text : cases) {
    const std::string told = check(kHead + text + '\n');
    EXPECT_NE(told.find("bad_input.yaml:2:"), std::string::npos)
        << text.substr(0, 40) << told.substr(0, 400);
    EXPECT_NE(told.find(" deep\n"), std::string::npos)
        << text.substr(0, 40) << told.substr(0, 400);
  }
}

TEST(BadInput, YamlAndTypesNestedDeep) {
  EXPECT_NE(check(repeat("[", 100'000)).find("nested more than 100 deep"),
            std::string::npos);
  std::string maps;
  for (std::size_t i = 0; i < 2'000; ++i) maps += std::string(i, ' ') + "a:\n";
  EXPECT_NE(check(maps).find("nested more than 100 deep"), std::string::npos);
  EXPECT_NE(check("- func: f(int" + repeat("[]", 10'000) + " x) -> Tensor\n")
                .find("nested deeper than 8 levels"),
            std::string::npos);
}

TEST(BadInput, RingsAndChainsOfTenThousandOperators) {
  constexpr int kMany = 10'000;
  const auto operators = [](bool closed) {
    std::string out;
    for (int i = 0; i < kMany; ++i) {
      const bool last = i + 1 == kMany;
      const std::string next = "c" + std::to_string(last ? 0 : i + 1);
      out += "- func: c" + std::to_string(i) +
             "(Tensor self) -> Tensor\n  composite: " +
             (last && !closed ? "self" : next + "(self)") + '\n';
    }
    return out;
  };
  EXPECT_EQ(check(operators(false)), "");
  const std::string told = check(operators(true));
  EXPECT_NE(told.find("composite 'c0' calls itself: c0 -> c1 -> "),
            std::string::npos);
  EXPECT_LT(told.size(), 2'000u);
}

TEST(BadInput, TwentyMegabytes) {
  constexpr std::size_t kBig = 20'000'000;
  EXPECT_EQ(
      check(kHead + "  doc: " + repeat("x", kBig) + "\n  pointwise: self\n"),
      "");
  EXPECT_NE(check(repeat("x", kBig)).find(":1:1: error: expected a list"),
            std::string::npos);
  EXPECT_NE(
      check(kHead + "  pointwise: " + repeat("self + ", kBig / 7) + "self\n")
          .find("nested more than 1000 deep"),
      std::string::npos);
  std::string wrong;
  std::size_t entries = 0;
  for (; wrong.size() < kBig; ++entries) {
    wrong += "- func: f" + std::to_string(entries) +
             "(Tensor self) -> Tensor\n  poitwise: self\n";
  }
  const std::string told = check(wrong);
  EXPECT_NE(told.find(':' + std::to_string(2 * entries) + ":3: error: "),
            std::string::npos);
}

TEST(BadInput, AnyBytes) {
  using namespace std::string_literals;
  EXPECT_EQ(check("\xef\xbb\xbf" + kHead + "  pointwise: self\n"), "");
  EXPECT_EQ(check("- func: f(Tensor self) -> Tensor\r\n"
                  "  pointwise: self\r\n"),
            "");
  EXPECT_NE(check(kHead + "  doc: \xff\xfe\n")
                .find("2:8: error: YAML: the "
                      "text is not UTF-8"),
            std::string::npos);
  EXPECT_NE(check(kHead + "  doc: a\0b\n"s).find("a control character"),
            std::string::npos);
  std::uint32_t state = 1;
  for (int i = 0; i < 200; ++i) {
    std::string text = kHead + "  pointwise: exp(self) * 2\n  doc: 'x'\n";
    for (int k = 0; k < 8; ++k) {
      state = state * 1664525u + 1013904223u;
      text[(state >> 8) % text.size()] = static_cast<char>(state >> 24);
    }
    check(text);
  }
}

TEST(BadInput, NothingIsWrittenAfterAnError) {
  const std::string folder = ::testing::TempDir();
  std::ofstream(folder + "bad_input.yaml") << kHead + "  pointwise: selv\n";
  std::remove((folder + "bad_input.h").c_str());
  EmitOptions options;
  options.kind = "library";
  options.inputs = {folder + "bad_input.yaml"};
  options.outs = {folder + "bad_input.h", folder + "bad_input.cpp"};
  std::ostringstream err;
  EXPECT_EQ(emit(options, err), 1);
  EXPECT_FALSE(std::ifstream(folder + "bad_input.h").good());
}

}  // namespace
}  // namespace sy::codegen
