#include "c10/tensor/tensor_options.h"

#include <gtest/gtest.h>

namespace sy {
namespace {

TEST(TensorOptions, OpenFieldsTakeTheDefaults) {
  const TensorOptions none;
  EXPECT_EQ(none.dtype(), kFloat);
  EXPECT_EQ(none.device(), Device(kCPU));
  EXPECT_FALSE(none.requires_grad());
  EXPECT_FALSE(none.dtype_opt().has_value());
  set_default_dtype(kDouble);
  EXPECT_EQ(none.dtype(), kDouble);
  set_default_dtype(kFloat);
}

TEST(TensorOptions, SettersReturnAChangedCopy) {
  const TensorOptions a = dtype(kLong);
  const TensorOptions b =
      a.device(kMeta).requires_grad(true).memory_format(MemoryFormat::Preserve);
  EXPECT_EQ(a.device(), Device(kCPU));
  EXPECT_EQ(b.dtype(), kLong);
  EXPECT_EQ(b.device(), Device(kMeta));
  EXPECT_EQ(b.requires_grad_opt(), true);
  EXPECT_EQ(b.memory_format_opt(), MemoryFormat::Preserve);
  EXPECT_FALSE(b.dtype(std::nullopt).dtype_opt().has_value());
}

TEST(MemoryFormat, Prints) {
  EXPECT_EQ(to_string(MemoryFormat::Contiguous), "contiguous");
  EXPECT_EQ(to_string(MemoryFormat::Preserve), "preserve");
  EXPECT_EQ(to_string(MemoryFormat::ChannelsLast), "channels_last");
  EXPECT_EQ(to_string(MemoryFormat::ChannelsLast3d), "channels_last_3d");
}

}  // namespace
}  // namespace sy
