#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "codegen/commands.h"
#include "codegen/model_names.h"
#include "model/model.h"

namespace sy::codegen {
namespace {

constexpr const char* kData = "test/codegen/testdata/";

std::string read(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

// A file with that text; errors name it "NAME.yaml".
class Errors : public ::testing::Test {
 protected:
  std::string check(const std::string& text,
                    const std::string& name = "x.yaml") {
    const std::string folder = ::testing::TempDir();
    {
      std::ofstream out(folder + name);
      out << text;
    }
    std::ostringstream err;
    status_ = check_files({folder + name}, err);
    std::string all = err.str();
    for (std::size_t at = all.find(folder); at != std::string::npos;
         at = all.find(folder)) {
      all.erase(at, folder.size());
    }
    // The lines with carets are for people.
    std::istringstream lines(all);
    std::string out;
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("  ")) out += line + '\n';
    }
    return out;
  }
  int status_ = 0;
};

TEST(Check, ReportsEveryMistakeOfAFileAtOnce) {
  std::ostringstream err;
  EXPECT_EQ(
      check_files({"schemas/tags.yaml", kData + std::string("bad.yaml")},
                  {"backends/cpu/backend.yaml", "backends/meta/backend.yaml"},
                  err),
      1);
  EXPECT_EQ(err.str(), read(kData + std::string("bad.txt")));
}

TEST(Check, IsSilentAboutGoodFiles) {
  std::ostringstream err;
  EXPECT_EQ(check_files({kData + std::string("sample.yaml")}, err), 0);
  EXPECT_EQ(err.str(), "");
}

TEST(Check, FindsNothingInTheRepositorysOwn) {
  std::vector<std::string> files = {"schemas/tags.yaml"};
  for (const auto& entry : std::filesystem::directory_iterator("schemas/ops")) {
    files.push_back(entry.path().string());
  }
  ASSERT_GT(files.size(), 10u);
  for (const char* backend : {"cpu", "meta"}) {
    files.push_back(std::string("backends/") + backend + "/backend.yaml");
  }
  std::ostringstream err;
  EXPECT_EQ(check_files(files, err), 0);
  EXPECT_EQ(err.str(), "");
}

TEST(Check, SaysThatAFileCannotBeRead) {
  std::ostringstream err;
  EXPECT_EQ(check_files({"no/such/file.yaml"}, err), 1);
  EXPECT_NE(err.str().find("no/such/file.yaml: error: "), std::string::npos);
}

TEST_F(Errors, OfForeach) {
  EXPECT_EQ(check("- func: each(Tensor self) -> Tensor\n"
                  "  foreach: neg(self)\n"),
            "x.yaml:1:9: error: 'foreach:' needs a functional signature from "
            "'Tensor[]' to 'Tensor[]'\n");
  EXPECT_EQ(check("- func: each(Tensor[] self) -> Tensor[]\n"
                  "  foreach: self\n"),
            "x.yaml:2:12: error: the in-place form needs a call of an operator "
            "that has one, with 'self' first; 'forms: {inplace: none}' drops "
            "it\n");
  EXPECT_EQ(check("- func: each(Tensor[] self, Scalar[] by) -> Tensor[]\n"
                  "  foreach: self\n"
                  "  forms: {inplace: none}\n"),
            "x.yaml:1:9: error: argument 'by' is not used by 'foreach:'\n");
}

TEST_F(Errors, CompositesThatCallThemselves) {
  EXPECT_EQ(check("- func: a(Tensor self) -> Tensor\n"
                  "  composite: b(self)\n"
                  "- func: b(Tensor self) -> Tensor\n"
                  "  composite: c(c(self))\n"
                  "- func: c.Tensor(Tensor self) -> Tensor\n"
                  "  composite: if self.dim() == 0 then self else a(self)\n"
                  "- func: d(Tensor self) -> Tensor\n"
                  "  composite: d(self)\n"
                  "- func: e(Tensor self) -> Tensor\n"
                  "  composite: a(d(self))\n"),
            "x.yaml:2:14: error: composite 'a' calls itself: a -> b -> "
            "c.Tensor -> a\n"
            "x.yaml:8:14: error: composite 'd' calls itself: d -> d\n");
  EXPECT_EQ(status_, 1);
}

// A family that names an operator of another one: both places are told.
TEST_F(Errors, OperatorOfTwoFiles) {
  const std::string folder = ::testing::TempDir();
  for (const char* name : {"one.yaml", "two.yaml"}) {
    std::ofstream(folder + name) << "- func: f(Tensor self) -> Tensor\n"
                                    "  pointwise: self\n";
  }
  std::ostringstream err;
  EXPECT_EQ(check_files({folder + "one.yaml", folder + "two.yaml"}, err), 1);
  EXPECT_EQ(err.str(), folder +
                           "two.yaml:1:9: error: operator 'f' is defined "
                           "twice; the first is at " +
                           folder +
                           "one.yaml:1:9\n"
                           "  - func: f(Tensor self) -> Tensor\n"
                           "          ^\n");
}

TEST_F(Errors, ExpressionsNestedTooDeep) {
  EXPECT_EQ(
      check("- func: f(Tensor self) -> Tensor\n  pointwise: " +
            std::string(10000, '(') + "self" + std::string(10000, ')') + "\n"),
      "x.yaml:2:214: error: the expression is nested more than 200 "
      "deep\n");
}

// Emitting writes nothing that it cannot write whole.
TEST_F(Errors, EmitLeavesNoPartOfAFile) {
  const std::string folder = ::testing::TempDir() + "emitted";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder +
                                      "/autograd/x_gen.cpp/in_the_way");
  const std::string path = ::testing::TempDir() + "x.yaml";
  std::ofstream(path) << "- func: f(Tensor self) -> Tensor\n"
                         "  pointwise: self\n";
  std::ostringstream err;
  EXPECT_EQ(emit_all({path}, folder, err), 1);
  EXPECT_EQ(
      err.str(),
      folder + "/autograd/x_gen.cpp: error: the file cannot be written\n");
  for (const auto& e : std::filesystem::recursive_directory_iterator(folder)) {
    EXPECT_NE(e.path().extension(), ".part") << e.path();
  }
  std::filesystem::remove_all(folder);
  std::ofstream(path) << "- func: f(Tensor self) -> Tensor\n"
                         "  pointwise: selv\n";
  EXPECT_EQ(emit_all({path}, folder, err), 1);
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST_F(Errors, DerivativeOfANumber) {
  EXPECT_EQ(check("- func: f(Tensor self, Scalar a) -> Tensor\n"
                  "  pointwise: self * a\n"
                  "  derivative:\n"
                  "    self: grad\n"
                  "    a: grad\n"),
            "x.yaml:5:8: error: 'a' is no tensor and has no derivative\n");
  EXPECT_EQ(status_, 1);
}

TEST_F(Errors, DerivativeOfTheWrongType) {
  EXPECT_EQ(check("- func: f(Tensor self) -> Tensor\n"
                  "  pointwise: -self\n"
                  "  derivative:\n"
                  "    self: grad.sizes()\n"),
            "x.yaml:4:16: error: expected Tensor, got int[]\n");
}

TEST_F(Errors, ReductionWithoutKnownDerivative) {
  EXPECT_EQ(check("- func: f(Tensor self) -> Tensor\n"
                  "  reduce: {map: self, identity: 1, combine: a * b}\n"
                  "  derivative:\n"
                  "    self: auto\n"),
            "x.yaml:4:11: error: no derivative is known for this reduction; "
            "write the formula\n");
}

TEST_F(Errors, DerivedFormsThatMeet) {
  EXPECT_EQ(check("- func: f(Tensor self) -> Tensor\n"
                  "  pointwise: -self\n"
                  "- func: f.out(Tensor self, *, Tensor(a!) out) -> "
                  "Tensor(a!)\n"
                  "  dispatch: {CPU: f_out}\n"),
            "x.yaml:1:9: error: the form 'f.out' of 'f' is defined twice; the "
            "first is at x.yaml:3:9; 'forms:' can rename or drop it\n");
}

TEST_F(Errors, TypesWithoutCpp) {
  EXPECT_EQ(check("- func: f(Tensor self, Stream s) -> Tensor\n"
                  "  dispatch: {CPU: f}\n"),
            "x.yaml:1:9: error: argument 's': no C++ type for 'Stream'\n");
}

TEST_F(Errors, KernelThatIsNoName) {
  EXPECT_EQ(check("- func: f(Tensor self) -> Tensor\n"
                  "  dispatch: {CPU: a-b}\n"
                  "  forms: none\n"),
            "x.yaml:2:19: error: 'a-b' is no name of a function\n");
}

TEST_F(Errors, ShapeWithoutATensorNeedsADtype) {
  EXPECT_EQ(check("- func: f(int n) -> Tensor\n"
                  "  shape: '[n]'\n"
                  "  dispatch: {CPU: f_out}\n"),
            "x.yaml:1:9: error: 'shape:' needs 'dtype:' where no argument is a "
            "Tensor\n");
}

TEST(Print, CanonicalSignaturesInFileOrder) {
  std::ostringstream out, err;
  EXPECT_EQ(print({kData + std::string("sample.yaml")}, {}, out, err), 0);
  EXPECT_EQ(out.str().substr(0, out.str().find('\n')),
            "mul.Tensor(Tensor self, Tensor other) -> Tensor");
  EXPECT_EQ(out.str().find("mul_"), std::string::npos);
}

TEST(Print, AutogenAddsDerivedForms) {
  std::ostringstream out, err;
  EXPECT_EQ(
      print({kData + std::string("sample.yaml")}, {.autogen = true}, out, err),
      0);
  EXPECT_NE(out.str().find("mul_.Tensor(Tensor(a!) self, Tensor other) -> "
                           "Tensor(a!)\n"),
            std::string::npos);
  EXPECT_NE(out.str().find("mul.out("), std::string::npos);
  // Forms that 'forms:' drops are not there.
  EXPECT_EQ(out.str().find("soften_("), std::string::npos);
}

}  // namespace
}  // namespace sy::codegen
