#include <gtest/gtest.h>
#include <sy/jit.h>
#include <sy/sy.h>

#include <string>

// A compiler that dies takes nobody along who has put it into a process of its
// own.

namespace sy {
namespace {

TEST(ACompilerThatDies, IsCountedAndLeftOut) {
  jit::set_mode(jit::Mode::kProcess);
  const Tensor x = randn({1 << 20});
  const Tensor want = softplus(x);
  for (int i = 0; i < 40; ++i) {
    EXPECT_TRUE(equal(softplus(x), want));  // four steps
    silu(x);                                // two
  }
  jit::finish();
  EXPECT_TRUE(equal(softplus(x), want));
  const jit::Counters c = jit::counters();
  EXPECT_EQ(c.failed, 1) << jit::programs_text();
  EXPECT_EQ(c.refused, 1) << jit::programs_text();
  EXPECT_EQ(c.kernels, 0);
  const std::string text = jit::programs_text();
  EXPECT_NE(text.find("interpreted: the compiler's process ended: Aborted"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("interpreted: it is too short"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace sy
