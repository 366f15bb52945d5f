#include "tools/sy/prove/excuses.h"

#include <gtest/gtest.h>

#include "test/c10/expect_error.h"

namespace sy::tools {
namespace {

TEST(Excuses, AreOfOperatorsOrOfSingleTrials) {
  Excuses e({"add*", "special_*.n_scalar:starved", "mine::op:second",
             "mine::op:gradient", "mine::other"});
  EXPECT_EQ(e.of("add.Tensor"), Excused{""});
  EXPECT_EQ(e.of("mul.Tensor"), Excused{});
  EXPECT_EQ(e.of("special_t.n_scalar"), Excused{"starved"});
  EXPECT_EQ(e.of("special_t"), Excused{});
  EXPECT_EQ(e.of("mine::op"), (Excused{"gradient", "second"}));
  EXPECT_EQ(e.of("mine::other"), Excused{""});
}

TEST(Excuses, ThatExcuseNothingAreKnown) {
  Excuses e({"add", "sub:hostile", "mul"});
  e.of("mul");
  EXPECT_EQ(e.unused(), (std::vector<std::string>{"add", "sub:hostile"}));
  e.of("sub");
  EXPECT_EQ(e.unused(), std::vector<std::string>{"add"});
}

TEST(Excuses, NameATrial) {
  SY_EXPECT_ERROR(Excuses({"add:hostle"}), ValueError,
                  "--except add:hostle: no trial is named 'hostle'");
  SY_EXPECT_ERROR(Excuses({"add:"}), ValueError, "no trial is named ''");
}

}  // namespace
}  // namespace sy::tools
