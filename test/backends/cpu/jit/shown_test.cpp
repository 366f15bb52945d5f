#include <gtest/gtest.h>
#include <sy/jit.h>
#include <sy/sy.h>

#include <string>

// The counters and texts that <sy/jit.h> shows.

namespace sy {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class Shown : public testing::Test {
 protected:
  void SetUp() override {
    // The first call of a program may be one of these.
    jit::set_mode(jit::Mode::kWait);
    jit::clear();
  }
};

TEST_F(Shown, ProgramsAndCounters) {
  const Tensor x = randn({20000});
  const jit::Counters before = jit::counters();
  for (int i = 0; i < 3; ++i) silu(x);
  const jit::Counters now = jit::counters();
  EXPECT_EQ(now.kernels, 1);
  EXPECT_EQ(now.runs - before.runs, 3);
  EXPECT_GT(now.blocked_ns, before.blocked_ns);
  EXPECT_TRUE(has(jit::counters_text(), "1 compiled programs in memory\n"))
      << jit::counters_text();
  const std::string programs = jit::programs_text();
  EXPECT_TRUE(has(programs,
                  "  float32 -> float32\n  t0 = sigmoid(i0); t0 = "
                  "mul(i0, t0); t0\n"))
      << programs;
  EXPECT_TRUE(has(programs, ": compiled, ready after ")) << programs;
  EXPECT_FALSE(has(programs, "LLVM")) << programs;
  const std::string code = jit::code_text();
  EXPECT_TRUE(has(code, "define hidden i64 @kernel(")) << code;
  EXPECT_TRUE(has(code, "vmovups")) << code;
  jit::clear();
  EXPECT_EQ(jit::programs_text(), "");
}

TEST_F(Shown, RefusalsSayWhy) {
  const Tensor x = rand({20000}) + 1;
  lgamma(x.to(kHalf));
  EXPECT_TRUE(
      has(jit::programs_text(), "interpreted: sy_lgamma_f32 is not compiled"))
      << jit::programs_text();
  EXPECT_THROW(jit::set_max_kernels(0), ValueError);
}

// LLVM must not take vectors apart: it did so with halves, on which it computed
// what processors cannot, and with bools and bytes of 16 bytes together.
TEST_F(Shown, CodeHasVectorsOnly) {
  const Tensor x = randn({20000});
  silu(x.to(kHalf));
  softplus(x);
  softplus(x.to(kDouble));
  true_divide(x.to(kByte), x.to(kByte));
  EXPECT_EQ(jit::counters().kernels, 4) << jit::programs_text();
  const std::string code = jit::code_text();
  for (const char* one : {"ucomis", "pextr", "pinsr", "kshift", "permt2q"}) {
    EXPECT_FALSE(has(code, one)) << one << "\n" << code;
  }
}

}  // namespace
}  // namespace sy
