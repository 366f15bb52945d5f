#include "c10/schema/nearest.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace sy {
namespace {

constexpr std::string_view kNames[] = {
    "softmax", "softplus", "log_softmax", "sum", "add", "relu", "Relu6"};

TEST(Nearest, FindsAMisspeltName) {
  EXPECT_EQ(nearest_name("sofmax", kNames), "softmax");
  EXPECT_EQ(nearest_name("sotfmax", kNames), "softmax");
  EXPECT_EQ(nearest_name("softpluss", kNames), "softplus");
  EXPECT_EQ(nearest_name("logsoftmax", kNames), "log_softmax");
  EXPECT_EQ(nearest_name("sun", kNames), "sum");
  EXPECT_EQ(nearest_name("relu6", kNames), "Relu6");
  EXPECT_EQ(nearest_name("RELU", kNames), "relu");
}

TEST(Nearest, StaysSilentWhenNothingIsNear) {
  EXPECT_EQ(nearest_name("convolution", kNames), "");
  EXPECT_EQ(nearest_name("xyz", kNames), "");
  EXPECT_EQ(nearest_name("", kNames), "");
  EXPECT_EQ(nearest_name("a", kNames), "");
  EXPECT_EQ(nearest_name("relu", {}), "");
  EXPECT_EQ(nearest_name(std::string(1000, 's'), kNames), "");
}

TEST(Nearest, PrefersFewerEditsThenTheFirst) {
  constexpr std::string_view kClose[] = {"dims", "dime", "dim_", "dim"};
  EXPECT_EQ(nearest_name("dimm", kClose), "dims");
  EXPECT_EQ(nearest_name("dim", kClose), "dim");
}

TEST(Nearest, AsksAQuestion) {
  NearestName nearest("kepdim");
  EXPECT_EQ(nearest.question(), "");
  nearest.consider("dim");
  nearest.consider("keepdim");
  EXPECT_EQ(nearest.best(), "keepdim");
  EXPECT_EQ(nearest.question(), "; did you mean 'keepdim'?");
}

}  // namespace
}  // namespace sy
