#include <gtest/gtest.h>

#include <exception>

#include "c10/dispatch/dispatcher.h"
#include "c10/process/error.h"
#include "tools/sy/inspect/inspect.h"
#include "tools/sy/support/json.h"

// `sy ops` and `sy explain`.

namespace sy::tools {
namespace {

template <class F>
std::string said(F&& f) {
  ::testing::internal::CaptureStdout();
  f();
  return ::testing::internal::GetCapturedStdout();
}

TEST(Explain, EveryOperatorSaysWhereEachCallGoesAndWhy) {
  size_t tables = 0;
  for (const OperatorHandle op : Dispatcher::singleton().operators()) {
    const std::string name(op.name());
    const Json all =
        parse_json(said([&] { explain_operator(name, true); }), name);
    ASSERT_EQ(all.size(), 1u);
    for (const auto& [key, way] : all[0]["table"].items()) {
      ++tables;
      EXPECT_FALSE(way["why"].get<std::string>().empty());
      if (way["route"] == "missing") continue;
      EXPECT_FALSE(way["kernel"]["file"].get<std::string>().empty()) << name;
      EXPECT_GT(way["kernel"]["line"], 0) << name << " " << key;
    }
  }
  EXPECT_GT(tables, 10000u);
}

TEST(Explain, KindsAndKernelsAreNamed) {
  const Json all =
      parse_json(said([] { explain_operator("cumsum", true); }), "cumsum");
  EXPECT_EQ(all[0]["kind"], "scan");
  const std::string text = said([] { explain_operator("add.Tensor", false); });
  EXPECT_NE(text.find("pointwise operator of schemas/ops/arithmetic.yaml:"),
            text.npos)
      << text;
  EXPECT_NE(text.find("  CPU                         own: CPU (schemas/gen/"
                      "backends/cpu/arithmetic_gen.cpp:"),
            text.npos)
      << text;
  EXPECT_NE(text.find("no kernel for the key; Autograd stands for all"),
            text.npos)
      << text;
}

TEST(Explain, WritesAreNamed) {
  const auto text = [](const char* op) {
    return said([&] { explain_operator(op, false); });
  };
  EXPECT_NE(text("add_.Tensor")
                .find("writes self; without a write: aten::add.Tensor\n"),
            std::string::npos)
      << text("add_.Tensor");
  EXPECT_NE(text("native_batch_norm")
                .find("writes running_mean, running_var; without a write: "
                      "itself, on copies\n"),
            std::string::npos);
  EXPECT_EQ(text("add.Tensor").find("writes"), std::string::npos);
}

TEST(Explain, ImplementationsAreListedInOrder) {
  const std::string text = said([] { explain_operator("mm.out", false); });
  const size_t head = text.find(
      "implementations of the product of matrices on CPU, in the order they "
      "are asked\n");
  ASSERT_NE(head, text.npos) << text;
  const size_t onednn = text.find("\n  oneDNN  ", head);
  const size_t gemm = text.find("\n  gemm  ", head);
  EXPECT_LT(onednn, gemm) << text;
  EXPECT_LT(gemm, text.find("\n  loops  ", head)) << text;
  const size_t doubles = text.find(
      "implementations of the product of float64 matrices on CPU, in the order "
      "they are asked\n");
  ASSERT_NE(doubles, text.npos) << text;
  const size_t blas = text.find("\n  OpenBLAS  ", doubles);
  EXPECT_LT(blas, text.find("\n  gemm  ", doubles)) << text;
  const Json json =
      parse_json(said([] { explain_operator("convolution", true); }), "json");
  EXPECT_EQ(json[0]["implementations"].size(), 3u);
  EXPECT_EQ(parse_json(said([] { explain_operator("relu", true); }),
                       "json")[0]["implementations"],
            Json::array());
}

TEST(Ops, AreFoundByPatternAndByWords) {
  const auto list = [](const OperatorQuery& q) {
    std::exception_ptr thrown;
    const std::string text = said([&] {
      try {
        list_operators(q, false);
      } catch (const Error&) {
        thrown = std::current_exception();
      }
    });
    if (thrown) std::rethrow_exception(thrown);
    return text;
  };
  EXPECT_TRUE(list({"relu6", {}}).starts_with("aten::relu6(Tensor self)"));
  const std::string found = list({"", {"CHOLESKY", "inverse"}});
  EXPECT_TRUE(found.starts_with("aten::cholesky_inverse(")) << found;
  EXPECT_NE(found.find("\n    The inverse of the matrix"), found.npos) << found;
  try {
    list({"rellu", {}});
    ADD_FAILURE() << "rellu fits";
  } catch (const NotImplementedError& e) {
    EXPECT_EQ(e.message(), "no operator fits rellu; did you mean 'relu'?");
  }
  EXPECT_THROW(list({"", {"xyzzy"}}), NotImplementedError);
  EXPECT_NE(said([] { print_operator_names(); }).find("\nrelu6\n"),
            std::string::npos);
}

}  // namespace
}  // namespace sy::tools
