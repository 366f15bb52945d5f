#include "tools/sy/soundness.h"

#include <gtest/gtest.h>

namespace sy::tools {
namespace {

bool names(const char* text, const char* op) {
  return begins_with_operator(text, Dispatcher::singleton().find_or_throw(op));
}

TEST(Soundness, AnErrorBeginsWithItsOperator) {
  EXPECT_TRUE(names("[argsort] dim: expected 0, got 7", "aten::argsort"));
  EXPECT_TRUE(names("[convolution] input: no", "aten::convolution"));
  EXPECT_TRUE(names("[aten::add.Tensor] has no kernel", "aten::add_.Tensor"));
  EXPECT_TRUE(names("[__iand__.Scalar] self: no", "aten::__iand__.Scalar"));
  for (const char* text :
       {"[anything] dim: no", "[mm] self: no", "convolution: no",
        "[convolution", "input of [convolution]: no"}) {
    EXPECT_FALSE(names(text, "aten::convolution")) << text;
  }
}

TEST(Soundness, OrWithTheOneThatItIsComposedOf) {
  EXPECT_TRUE(names("[mul.Tensor] other: no", "aten::outer"));
  EXPECT_FALSE(names("[anything] other: no", "aten::outer"));
}

TEST(Soundness, OrWithTheOneThatItServes) {
  EXPECT_TRUE(names("[linalg_svd] A: no", "aten::_linalg_svd"));
  EXPECT_FALSE(names("[linalg_eigh] A: no", "aten::_linalg_svd"));
  EXPECT_FALSE(names("[_linalg_svd] A: no", "aten::_linalg_eigh"));
  EXPECT_TRUE(names("[linalg.lu] no", "aten::_linalg_check_errors"));
}

}  // namespace
}  // namespace sy::tools
