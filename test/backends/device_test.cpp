#include "test/backends/device.h"

#include <gtest/gtest.h>

#include "aten/operators.h"
#include "aten/ops/factory.h"
#include "aten/ops/random.h"
#include "aten/ops/ranges.h"
#include "aten/ops/view.h"

namespace sy::families {
namespace {

TEST(Device, TensorsAreMadeOnIt) {
  for (const Tensor& t :
       {empty({2}), ones({2}, kLong), full({2}, 3), arange(2), randn({2}),
        tensor({1, 2}), tensor({1.0, 2.0}, kDouble)}) {
    EXPECT_EQ(t.device(), test_device());
  }
}

TEST(Device, AnotherDeviceMayBeNamed) {
  EXPECT_TRUE(ones({2}, kCPU).device().is_cpu());
  EXPECT_TRUE(tensor({1}, kCPU).device().is_cpu());
  EXPECT_TRUE(zeros_like(ones({2}, kCPU)).device().is_cpu());
  EXPECT_EQ(empty({2}, kMeta).device().type(), kMeta);
}

TEST(Device, ElementsAreComparedOnTheCpu) {
  EXPECT_EQ(values(tensor({{1, 2}, {3, 4}}).t()),
            (std::vector<double>{1, 3, 2, 4}));
}

TEST(Device, GeneratorsAreItsOwn) {
  EXPECT_EQ(values(rand({3}, generator(4))), values(rand({3}, generator(4))));
}

}  // namespace
}  // namespace sy::families
