#include "codegen/tools/diff.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace sy::codegen {
namespace {

namespace fs = std::filesystem;

// "default-changed: detail: why" of each change, with '+' before it if it is
// compatible and '-' if not.
std::vector<std::string> changes(const std::string& before,
                                 const std::string& after) {
  const std::string folder = ::testing::TempDir() + "diff/";
  const std::string texts[] = {before, after};
  std::optional<Model> models[2];
  for (int i = 0; i < 2; ++i) {
    const std::string path = folder + std::to_string(i) + "/x.yaml";
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path) << texts[i];
    lang::Diagnostics d;
    const std::string paths[] = {path, "test/codegen/testdata/sample.yaml"};
    models[i].emplace(Model::load(paths, d));
    EXPECT_TRUE(d.empty()) << d.str();
  }
  std::vector<std::string> out;
  for (const Change& c : compare(*models[0], *models[1])) {
    out.push_back((c.compatible ? "+" : "-") + c.what + ": " + c.detail + ": " +
                  c.why);
  }
  return out;
}

using Lines = std::vector<std::string>;

// The changes between two signatures of a dispatched operator without other
// forms.
Lines signatures(const std::string& before, const std::string& after) {
  const std::string tail = "\n  dispatch: {CPU: f}\n  forms: none\n";
  return changes("- func: " + before + tail, "- func: " + after + tail);
}

TEST(Diff, Arguments) {
  EXPECT_EQ(signatures("f(Tensor self) -> Tensor",
                       "f(Tensor self, int n=1, *, bool b=False) -> Tensor"),
            (Lines{"+argument-added: argument 'int n=1' added at the end: "
                   "calls without it get the default",
                   "+argument-added: argument 'bool b=False' added: calls "
                   "without it get the default"}));
  EXPECT_EQ(signatures("f(Tensor self, int n) -> Tensor",
                       "f(Tensor self, int k=1, int n=2) -> Tensor"),
            (Lines{"+default-added: 'n' got the default 2: calls that give it "
                   "stay as they are",
                   "-argument-added: argument 'int k=1' added in the middle: "
                   "calls by position pass the next argument for it"}));
  EXPECT_EQ(signatures("f(Tensor self, int n) -> Tensor",
                       "f(Tensor self, int m) -> Tensor"),
            (Lines{"-argument-removed: argument 'n' removed: calls that give "
                   "it are errors",
                   "-argument-added: argument 'int m' added: it has no "
                   "default, so every call must give it"}));
  EXPECT_EQ(signatures("f(Tensor self, int a, int b) -> Tensor",
                       "f(Tensor self, int b, int a) -> Tensor"),
            (Lines{"-arguments-reordered: positional arguments changed "
                   "places: calls by position pass them for each other"}));
  EXPECT_EQ(signatures("f(Tensor self, int n=1) -> Tensor",
                       "f(Tensor self, *, int n=1) -> Tensor"),
            (Lines{"-argument-keyword-only: 'n' became keyword-only: calls by "
                   "position are errors"}));
  EXPECT_EQ(signatures("f(Tensor self, *, int n=1) -> Tensor",
                       "f(Tensor self, int n=1) -> Tensor"),
            (Lines{"+argument-positional: 'n' became positional: calls by "
                   "keyword stay as they are"}));
}

TEST(Diff, Types) {
  EXPECT_EQ(signatures("f(Tensor self, int n) -> Tensor",
                       "f(Tensor self, Scalar n) -> Tensor"),
            (Lines{"+argument-type-changed: type of 'n' changed from int to "
                   "Scalar: every value that was taken still is"}));
  EXPECT_EQ(signatures("f(Tensor self, int? n) -> Tensor",
                       "f(Tensor self, int n) -> Tensor"),
            (Lines{"-argument-type-changed: type of 'n' changed from int? to "
                   "int: values that were taken no longer are"}));
  EXPECT_EQ(signatures("f(Tensor self) -> Tensor",
                       "f(Tensor self) -> (Tensor, Tensor)"),
            (Lines{"-return-changed: number of results changed from 1 to 2: "
                   "code that takes the result gets another type"}));
  EXPECT_EQ(signatures("f(Tensor self) -> Tensor", "f(Tensor self) -> Scalar"),
            (Lines{"-return-changed: type of the result changed from Tensor "
                   "to Scalar: code that takes the result gets another type"}));
  EXPECT_EQ(
      signatures("f(Tensor self) -> Tensor", "f(Tensor(a) self) -> Tensor(a)"),
      (Lines{"-alias-changed: alias annotation of 'self' changed from "
             "'' to 'a': other memory is written or shared",
             "-alias-changed: alias annotation of the result changed "
             "from '' to 'a': whether it shares memory is another "
             "answer"}));
}

TEST(Diff, Defaults) {
  EXPECT_EQ(signatures("f(Tensor self, float x=1e-5) -> Tensor",
                       "f(Tensor self, float x=1e-05) -> Tensor"),
            Lines{});
  EXPECT_EQ(signatures("f(Tensor self, int n=1) -> Tensor",
                       "f(Tensor self, int n=2) -> Tensor"),
            (Lines{"-default-changed: default of 'n' changed from 1 to 2: "
                   "calls that leave it out mean something else"}));
  EXPECT_EQ(signatures("f(Tensor self, int n=1) -> Tensor",
                       "f(Tensor self, int n) -> Tensor"),
            (Lines{"-default-removed: 'n' lost its default 1: calls that "
                   "leave it out are errors"}));
}

TEST(Diff, OverloadsAndTheirForms) {
  const std::string f =
      "- func: f(Tensor self) -> Tensor\n  pointwise: -self\n";
  EXPECT_EQ(changes("", f), (Lines{"+overload-added: overload added: nobody "
                                   "could call it before",
                                   "+overload-added: overload added: nobody "
                                   "could call it before",
                                   "+overload-added: overload added: nobody "
                                   "could call it before"}));
  EXPECT_EQ(changes(f, f + "  forms: {inplace: none}\n"),
            (Lines{"-overload-removed: overload removed: calls of it are "
                   "errors"}));
  EXPECT_EQ(changes(f, f + "  variants: method\n"),
            (Lines{"-function-removed: function variant removed: calls of it "
                   "are errors",
                   "+method-added: method variant added: nobody could call it "
                   "before"}));
}

TEST(Diff, ExpressionsAreComparedByValue) {
  const std::string head = "- func: f(Tensor self) -> Tensor\n  pointwise: ";
  // Another spelling is no change.
  EXPECT_EQ(changes(head + "self*(1+1)\n", head + "self * 2\n"), Lines{});
  EXPECT_EQ(changes(head + "self * 2\n", head + "self + self\n"),
            (Lines{"+expression-changed: expression changed from 'self * 2' "
                   "to 'self + self': the same values at 200 points"}));
  const Lines other = changes(head + "self * 2\n", head + "self * 3\n");
  ASSERT_EQ(other.size(), 1u);
  EXPECT_TRUE(other[0].starts_with(
      "-expression-changed: expression changed from 'self * 2' to 'self * 3': "
      "other values: at self = "))
      << other[0];
}

TEST(Diff, Contracts) {
  const std::string head = "- func: f(Tensor self) -> Tensor\n";
  EXPECT_EQ(changes(head + "  pointwise: exp(self)\n",
                    head + "  promote: int_to_float\n"
                           "  require: self.dim() > 0\n"
                           "  pointwise: exp(self)\n"),
            (Lines{"-promotion-changed: promotion changed from 'default' to "
                   "'int_to_float': results may have another dtype",
                   "-requirement-added: 'require: self.dim() > 0' added: calls "
                   "that were good may be errors"}));
  // Two conditions are one of both.
  EXPECT_EQ(
      changes(head + "  require:\n    - self.dim() > 0: a dim\n"
                     "    - self.size(0) > 1: numbers\n"
                     "  pointwise: exp(self)\n",
              head + "  require:\n    - self.dim() > 0 and self.size(0) > "
                     "1: numbers\n  pointwise: exp(self)\n"),
      Lines{});
  EXPECT_EQ(changes(head + "  shape: self.sizes()\n  dispatch: {CPU: f_out}\n",
                    head + "  shape: '[self.numel()]'\n"
                           "  dispatch: {CPU: g_out}\n"),
            (Lines{"-shape-changed: shape changed from 'self.sizes()' to "
                   "'[self.numel()]': results may have other sizes",
                   "+kernel-changed: kernel of CPU changed from 'f_out' to "
                   "'g_out': callers see the same signature"}));
}

TEST(Diff, Derivatives) {
  const std::string head =
      "- func: f(Tensor self) -> Tensor\n  pointwise: self * 2\n";
  const std::string with = head + "  derivative: {self: auto}\n";
  EXPECT_EQ(changes(head, with),
            (Lines{"+derivative-added: derivative by 'self' added: there was "
                   "none to rely on"}));
  EXPECT_EQ(changes(with, head),
            (Lines{"-derivative-removed: derivative by 'self' removed: "
                   "gradients that were there are not"}));
  EXPECT_EQ(changes(with, head + "  derivative: {self: grad * 2}\n"),
            (Lines{"-derivative-changed: derivative by 'self' changed from "
                   "'auto' to 'grad * 2': gradients may differ"}));
}

TEST(Diff, OfFolders) {
  const std::string folder = ::testing::TempDir() + "trees/";
  fs::create_directories(folder + "a/ops");
  fs::create_directories(folder + "b/ops");
  const std::string f =
      "- func: f(Tensor self, int n=1) -> Tensor\n  dispatch: {CPU: f}\n"
      "  forms: none\n";
  std::ofstream(folder + "a/ops/x.yaml") << f;
  std::ofstream(folder + "b/ops/x.yaml")
      << "# Moved.\n"
      << f.substr(0, 29) << '2' << f.substr(30);
  std::ostringstream out, json, err;
  EXPECT_EQ(diff_schemas(folder + "a", folder + "a", false, out, err), 0);
  EXPECT_EQ(out.str(), "0 changes, 0 incompatible\n");
  out.str("");
  EXPECT_EQ(diff_schemas(folder + "a", folder + "b", false, out, err), 1);
  EXPECT_EQ(out.str(),
            "INCOMPATIBLE  f: default of 'n' changed from 1 to 2\n"
            "              calls that leave it out mean something else  (" +
                folder + "b/ops/x.yaml:2)\n1 change, 1 incompatible\n");
  EXPECT_EQ(diff_schemas(folder + "a", folder + "b", true, json, err), 1);
  EXPECT_EQ(json.str(),
            "{\n  \"compatible\": false,\n  \"changes\": [\n"
            "    {\"operator\": \"f\", \"change\": \"default-changed\", "
            "\"compatible\": false,\n"
            "     \"detail\": \"default of 'n' changed from 1 to 2\",\n"
            "     \"why\": \"calls that leave it out mean something else\",\n"
            "     \"before\": \"" +
                folder + "a/ops/x.yaml:1\", \"after\": \"" + folder +
                "b/ops/x.yaml:2\"}\n  ]\n}\n");
  EXPECT_EQ(err.str(), "");
  EXPECT_EQ(diff_schemas(folder + "a", folder + "no", false, out, err), 2);
  EXPECT_EQ(err.str(), folder + "no: error: no schema files here\n");
}

TEST(Diff, TheRepositorysOwnAreEqualToThemselves) {
  std::ostringstream out, err;
  EXPECT_EQ(diff_schemas("schemas", "schemas", false, out, err), 0);
  EXPECT_EQ(out.str() + err.str(), "0 changes, 0 incompatible\n");
}

}  // namespace
}  // namespace sy::codegen
