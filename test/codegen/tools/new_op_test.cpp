#include "codegen/tools/new_op.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "codegen/commands.h"
#include "codegen/tools/commands.h"

namespace sy::codegen {
namespace {

struct Result {
  int status;
  std::string out, err;
};

Result run(const std::string& signature, const std::string& kind = "",
           const std::string& family = "") {
  std::ostringstream out, err;
  const int status = new_op({signature, kind, family}, out, err);
  return {status, out.str(), err.str()};
}

std::string read(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

TEST(NewOp, ChoosesTheKindBySignature) {
  EXPECT_EQ(run("f(Tensor self, Scalar a=1) -> Tensor").out,
            "- func: f(Tensor self, Scalar a=1) -> Tensor\n"
            "  doc: DESCRIPTION\n"
            "  variants: function, method\n"
            "  pointwise: EXPRESSION\n"
            "  derivative:\n"
            "    self: auto\n");
  EXPECT_EQ(run("f(Tensor x, int[] size) -> (Tensor, Tensor)").out,
            "- func: f(Tensor x, int[] size) -> (Tensor, Tensor)\n"
            "  doc: DESCRIPTION\n"
            "  shape:\n"
            "    - EXPRESSION\n"
            "    - EXPRESSION\n"
            "  dispatch: {CPU: f_out}\n"
            "  derivative:\n"
            "    x: EXPRESSION\n");
  EXPECT_EQ(run("f(int n) -> Tensor", "dispatch").out,
            "- func: f(int n) -> Tensor\n"
            "  doc: DESCRIPTION\n"
            "  shape: EXPRESSION\n"
            "  dtype: DTYPE\n"
            "  dispatch: {CPU: f_out}\n");
}

TEST(NewOp, KnowsScansAndLists) {
  EXPECT_EQ(run("f(Tensor self, int dim) -> Tensor", "scan").out,
            "- func: f(Tensor self, int dim) -> Tensor\n"
            "  doc: DESCRIPTION\n"
            "  variants: function, method\n"
            "  scan: {combine: EXPRESSION}\n"
            "  derivative:\n"
            "    self: EXPRESSION\n");
  EXPECT_EQ(run("f(Tensor[] self, Tensor[] other) -> Tensor[]").out,
            "- func: f(Tensor[] self, Tensor[] other) -> Tensor[]\n"
            "  doc: DESCRIPTION\n"
            "  foreach: EXPRESSION\n");
  EXPECT_EQ(run("f(Tensor self) -> Tensor", "scan").err,
            "sygen: error: 'scan' goes along an argument 'int dim'\n");
  EXPECT_EQ(run("f(Tensor self) -> Tensor", "foreach").err,
            "sygen: error: 'foreach' takes 'Tensor[] self' first and gives "
            "'Tensor[]'\n");
  EXPECT_EQ(run("f(Tensor self) -> Tensor", "scann").err,
            "sygen: error: unknown kind 'scann' (did you mean 'scan'?); the "
            "kinds are pointwise reduce scan composite foreach view "
            "dispatch\n");
}

TEST(NewOp, NamesTheBackendOfTheKernel) {
  NewOpOptions options{.signature = "f(Tensor x, int[] size) -> Tensor",
                       .kind = "dispatch",
                       .family = "",
                       .key = "Meta"};
  std::ostringstream out, err;
  EXPECT_EQ(new_op(options, out, err), 0) << err.str();
  EXPECT_NE(out.str().find("  dispatch: {Meta: f_out}\n"), std::string::npos);
  options.key = "Mta";
  EXPECT_EQ(new_op(options, out, err), 1);
  EXPECT_EQ(err.str(),
            "sygen: error: unknown dispatch key 'Mta' (did you mean "
            "'Meta'?)\n");
}

// An entry of each kind: formatted, and good once the words are filled in.
TEST(NewOp, PassesCheckWhenFilledIn) {
  const std::string path = ::testing::TempDir() + "new.yaml";
  std::filesystem::remove(path);
  for (const auto& [signature, kind] :
       {std::pair{"f(Tensor self, Scalar a=1) -> Tensor", "pointwise"},
        {"g(Tensor self, int[1]? dim, bool keepdim=False) -> Tensor", "reduce"},
        {"h(Tensor self, Tensor other) -> Tensor", "composite"},
        {"v(Tensor(a) self, int dim) -> Tensor(a)", "view"},
        {"d.o(Tensor self, Tensor other) -> Tensor", "dispatch"}}) {
    EXPECT_EQ(run(signature, kind, path).err, "");
  }
  std::ostringstream out, err;
  EXPECT_EQ(format_files({path}, true, out, err), 0) << out.str();
  // It says so until then.
  EXPECT_EQ(check_files({path}, {"test/codegen/testdata/sample.yaml"}, err), 1);
  EXPECT_NE(err.str().find("error: unknown name 'EXPRESSION'"),
            std::string::npos);
  std::string text = read(path);
  for (const char* value :
       {"self * a", "self", "grad.mul(self)", "self.mul(other)",
        "with(self.sizes(), dim, 1)", "with(self.strides(), dim, 1)",
        "self.sizes()", "grad.mul(other)", "grad.mul(self)"}) {
    const std::size_t at = text.find("EXPRESSION");
    ASSERT_NE(at, std::string::npos);
    text.replace(at, 10, value);
  }
  EXPECT_EQ(text.find("EXPRESSION"), std::string::npos);
  std::ofstream(path) << text;
  std::ostringstream errors;
  check_files({path}, {"test/codegen/testdata/sample.yaml"}, errors);
  EXPECT_EQ(errors.str(), "");
}

TEST(NewOp, Refuses) {
  EXPECT_EQ(run("f(Tensor self -> Tensor").err,
            "signature:1:15: error: expected ',' or ')' after argument 'self', "
            "got '->'\n  f(Tensor self -> Tensor\n                ^\n");
  EXPECT_EQ(run("f(Tensor self) -> Tensor", "pointwize").err,
            "sygen: error: unknown kind 'pointwize' (did you mean "
            "'pointwise'?); the kinds are pointwise reduce scan composite "
            "foreach view "
            "dispatch\n");
  EXPECT_EQ(run("f(Tensor self) -> Tensor", "view").err,
            "sygen: error: a view returns an alias: 'Tensor(a) self' and '-> "
            "Tensor(a)'\n");
  EXPECT_EQ(run("f(Tensor x) -> Tensor", "reduce").err,
            "sygen: error: 'reduce' needs a Tensor argument 'self'\n");
  const std::string path = ::testing::TempDir() + "has.yaml";
  std::ofstream(path) << "- func: f(Tensor self) -> Tensor\n"
                         "  pointwise: -self\n";
  const Result twice = run("f(Tensor self, int n) -> Tensor", "", path);
  EXPECT_EQ(twice.status, 1);
  EXPECT_EQ(twice.err, path +
                           ":1:9: error: operator 'f' is here already\n"
                           "  - func: f(Tensor self) -> Tensor\n"
                           "          ^\n");
  EXPECT_EQ(read(path).find("int n"), std::string::npos);
}

}  // namespace
}  // namespace sy::codegen
