#include "codegen/tools/fmt.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "codegen/tools/commands.h"
#include "codegen/tools/schema_files.h"
#include "lang/entry.h"
#include "lang/parser.h"
#include "test/lang/random_expr.h"

namespace sy::codegen {
namespace {

std::string fmt(const std::string& text) {
  lang::Diagnostics d;
  const auto out = format_schema(text, "a.yaml", d);
  return out ? *out : d.str();
}

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

TEST(Fmt, BringsAFileIntoOrder) {
  EXPECT_EQ(fmt("# The file.   \r\n"
                "- pointwise: self*2+ other   # twice\r\n"
                "  func:   f( Tensor self,Tensor other )->Tensor\r\n"
                "  # What it says.\n"
                "  doc:   Some   thing.\n"
                "\n"
                "  derivative: {self:   auto,other: grad*1}\n"
                "  tags: [ core,pointwise ]\n"
                "\n"
                "\n"
                "# Of g.\n"
                "\n"
                "# And more.\n"
                "- func: g(Tensor self) -> Tensor\n"
                "  require:\n"
                "  - self.dim()>0: some dims\n"
                "  -   self.size(0)==1\n"
                "  dispatch: { CPU: g }\n"
                "  # The end of g.\n"
                "# The end.\n"),
            "# The file.\n"
            "- func: f(Tensor self, Tensor other) -> Tensor\n"
            "  # What it says.\n"
            "  doc: Some   thing.\n"
            "  tags: [core, pointwise]\n"
            "  pointwise: self * 2 + other  # twice\n"
            "  derivative: {self: auto, other: grad * 1}\n"
            "\n"
            "# Of g.\n"
            "\n"
            "# And more.\n"
            "- func: g(Tensor self) -> Tensor\n"
            "  require:\n"
            "    - self.dim() > 0: some dims\n"
            "    - self.size(0) == 1\n"
            "  dispatch: {CPU: g}\n"
            "  # The end of g.\n"
            "# The end.\n");
}

TEST(Fmt, KeepsParenthesesAndNumbersOfTheAuthor) {
  EXPECT_EQ(space_expression("(a*b)+1.50"), "(a*b)+1.50");
  EXPECT_EQ(space_expression("a*(b+1.5)"), "a * (b + 1.5)");
  EXPECT_EQ(space_expression("if a=='x  y' then b else c"),
            "if a == 'x  y' then b else c");
  EXPECT_EQ(space_expression("a +"), "a +");
  EXPECT_EQ(space_signature("f(Tensor self,int n = 1)->Tensor"),
            "f(Tensor self, int n=1) -> Tensor");
}

TEST(Fmt, KeepsTheLinesOfABlock) {
  EXPECT_EQ(fmt("- func: f(Tensor self) -> Tensor\n"
                "  pointwise: >-\n"
                "       let t=tanh(self) in\n"
                "         t*t+\n"
                "       t\n"),
            "- func: f(Tensor self) -> Tensor\n"
            "  pointwise: >-\n"
            "    let t = tanh(self) in\n"
            "      t * t +\n"
            "    t\n");
}

TEST(Fmt, BreaksLongExpressions) {
  std::string sum = "exp(self)";
  for (int i = 0; i < 12; ++i)
    sum += " + exp(self * " + std::to_string(i) + ")";
  const std::string out =
      fmt("- func: f(Tensor self) -> Tensor\n"
          "  pointwise: let t = tanh(self) in if self > 0 then " +
          sum + " else t\n");
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 120u) << line;
  }
  EXPECT_NE(out.find("  pointwise: >-\n    let t = tanh(self) in if self > 0\n"
                     "    then "),
            std::string::npos)
      << out;
  EXPECT_EQ(fmt(out), out);
}

TEST(Fmt, SaysWhatItCannotRead) {
  EXPECT_EQ(fmt("func: f"),
            "a.yaml:1:1: error: expected a list of operators: '- func: …'");
  EXPECT_EQ(fmt("- func: &a f\n"),
            "a.yaml:1:9: error: '&' begins a YAML anchor, which is not "
            "supported; put the text in quotes");
  EXPECT_EQ(fmt(""), "");
  EXPECT_EQ(fmt("# Nothing yet.\n"), "# Nothing yet.\n");
}

TEST(Fmt, TheRepositorysOwnAreFormatted) {
  std::ostringstream out, err;
  EXPECT_EQ(format_files({"schemas"}, true, out, err), 0);
  EXPECT_EQ(out.str() + err.str(), "");
}

// The operators stay what they are, whatever formatting does to a file.
TEST(Fmt, ChangesNoMeaningAndDoesNothingTwice) {
  for (const std::string& path : schema_files("schemas")) {
    if (is_tags(path)) continue;
    std::string messy;
    const std::string text = read(path);
    bool is_example = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
      // Blocks keep their lines, so only what stands in one line is spread.
      messy += text[i];
      if (text[i] == '\n') is_example = false;
      // The words of an example have no space.
      if (text.compare(i, 9, " example:") == 0) is_example = true;
      const bool inside = i + 1 < text.size() && text[i + 1] != '\n';
      if (text[i] == ',' && inside && !is_example && messy.size() % 3 == 0) {
        messy += ' ';
      }
    }
    const std::string once = fmt(messy);
    EXPECT_EQ(fmt(once), once) << path;
    lang::Diagnostics d;
    const auto before = lang::read_schema(messy, "a.yaml", d);
    const auto after = lang::read_schema(once, "a.yaml", d);
    ASSERT_TRUE(d.empty()) << path << d.str();
    ASSERT_EQ(before.entries.size(), after.entries.size());
    for (std::size_t i = 0; i < before.entries.size(); ++i) {
      EXPECT_EQ(before.entries[i].schema, after.entries[i].schema);
      EXPECT_EQ(before.entries[i].doc, after.entries[i].doc);
      EXPECT_EQ(before.entries[i].tags, after.entries[i].tags);
      EXPECT_EQ(before.entries[i].example, after.entries[i].example);
      if (!before.entries[i].pointwise) continue;
      EXPECT_TRUE(lang::equal(before.entries[i].pointwise->results[0].expr,
                              after.entries[i].pointwise->results[0].expr));
    }
  }
}

TEST(Fmt, RandomExpressionsSurvive) {
  lang::RandomExpr random(11);
  for (int i = 0; i < 500; ++i) {
    const lang::Expr e = random.number(1 + i % 6);
    const std::string text = lang::to_string(e);
    if (text.find(": ") != std::string::npos) continue;
    const std::string file =
        "- func: f(Tensor x) -> Tensor\n  pointwise: " + text + '\n';
    const std::string once = fmt(file);
    ASSERT_EQ(fmt(once), once);
    lang::Diagnostics d;
    const auto read = lang::read_schema(once, "a.yaml", d);
    ASSERT_TRUE(d.empty()) << once << d.str();
    ASSERT_TRUE(lang::equal(read.entries[0].pointwise->results[0].expr, e));
  }
}

TEST(Fmt, AddsThePointerForEditors) {
  namespace fs = std::filesystem;
  const std::string folder = ::testing::TempDir() + "pointed/";
  fs::create_directories(folder + "ops");
  std::ofstream(folder + "operators.schema.json") << "{}\n";
  std::ofstream(folder + "ops/x.yaml") << "# Some.\n\n- func: f() -> Tensor\n";
  std::ostringstream out, err;
  EXPECT_EQ(format_files({folder + "ops/x.yaml"}, false, out, err), 0);
  EXPECT_EQ(read(folder + "ops/x.yaml"),
            "# yaml-language-server: $schema=../operators.schema.json\n"
            "# Some.\n\n- func: f() -> Tensor\n");
  EXPECT_EQ(format_files({folder + "ops/x.yaml"}, true, out, err), 0);
}

TEST(Fmt, WritesOnlyWhatDiffers) {
  const std::string path = ::testing::TempDir() + "messy.yaml";
  std::ofstream(path) << "- func: f(Tensor self)->Tensor\n  pointwise: -self\n";
  std::ostringstream out, err;
  EXPECT_EQ(format_files({path}, true, out, err), 1);
  EXPECT_EQ(out.str(), path + '\n');
  EXPECT_EQ(read(path).substr(0, 23), "- func: f(Tensor self)-");
  EXPECT_EQ(format_files({path}, false, out, err), 0);
  EXPECT_EQ(format_files({path}, true, out, err), 0);
  EXPECT_EQ(read(path).substr(0, 24), "- func: f(Tensor self) -");
  EXPECT_EQ(err.str(), "");
  EXPECT_EQ(format_files({"no/such.yaml"}, true, out, err), 1);
  EXPECT_EQ(err.str(), "no/such.yaml: error: the file cannot be read\n");
}

}  // namespace
}  // namespace sy::codegen
