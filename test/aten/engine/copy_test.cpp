#include "aten/engine/copy.h"

#include <gtest/gtest.h>

#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/shape.h"
#include "aten/ops/view.h"
#include "aten/tensor_new.h"
#include "c10/process/parallel.h"
#include "test/aten/tensor_values.h"
#include "test/c10/expect_error.h"

namespace sy {
namespace {

using Values = std::vector<double>;

TEST(Copy, ConvertsBetweenAllDtypes) {
  const Tensor numbers = tensor({0.0, 1.0, 2.0, 100.0}, kDouble);
  for (int a = 0; a < kNumScalarTypes; ++a) {
    for (int b = 0; b < kNumScalarTypes; ++b) {
      const auto from = static_cast<ScalarType>(a);
      const auto to = static_cast<ScalarType>(b);
      const Tensor t = numbers.to(from).to(to);
      EXPECT_EQ(t.dtype(), to);
      const Values want = from == kBool || to == kBool ? Values{0, 1, 1, 1}
                                                       : Values{0, 1, 2, 100};
      EXPECT_EQ(values(t), want)
          << dtype_name(from) << " to " << dtype_name(to);
    }
  }
}

TEST(Copy, AnyLayoutToAnyLayout) {
  for (const int threads : {1, 2}) {
    set_num_threads(threads);
    for (const int64_t n : {3, 64, 130, 300}) {
      const Tensor a = arange(n * (n + 2), kInt).view({n, n + 2});
      const Tensor layouts[] = {
          zeros({n, n + 2}, kInt), zeros({n + 2, n}, kInt).t(),
          zeros({n, 2 * n + 4}, kInt).slice(1, 0, 2 * n + 4, 2),
          zeros({n, n + 2}, kFloat), zeros({n + 2, n}, kDouble).t()};
      for (Tensor from : layouts) {
        from.copy_(a);
        for (Tensor to : layouts) {
          if (to.is_alias_of(from)) continue;
          to.fill_(0);
          to.copy_(from);
          EXPECT_EQ(values(to), values(a)) << n;
        }
      }
    }
  }
  set_num_threads(1);
}

// Rows side by side and far apart, whole pieces and parts of them.
TEST(Copy, ElementsOfAllSizesTransposed) {
  for (const auto& [rows, columns] :
       {std::pair<size_t, size_t>{70, 90}, {700, 150}, {1025, 66}}) {
    const auto n = static_cast<int64_t>(rows * columns);
    for (const ScalarType t : {kByte, kShort, kFloat, kDouble}) {
      const Tensor a = arange(n, kLong).to(t).view(
          {static_cast<int64_t>(rows), static_cast<int64_t>(columns)});
      const Values x = values(a), y = values(a.t().contiguous());
      for (size_t r = 0; r < rows; ++r) {
        for (size_t c = 0; c < columns; ++c) {
          ASSERT_EQ(y[c * rows + r], x[r * columns + c]);
        }
      }
    }
  }
}

TEST(Copy, Broadcasts) {
  Tensor a = zeros({2, 3});
  a.copy_(tensor({1.0, 2.0, 3.0}));
  EXPECT_EQ(values(a), (Values{1, 2, 3, 1, 2, 3}));
  a.copy_(tensor(7));
  EXPECT_EQ(values(a), Values(6, 7));
  SY_EXPECT_ERROR(a.copy_(zeros({2})), ValueError, "[copy_] ");
  SY_EXPECT_ERROR(a.copy_(zeros({1, 2, 3})), ValueError,
                  "expected sizes that broadcast to [2, 3], got [1, 2, 3]");
}

// Rows of one element, and rows of a few, each over and over.
TEST(Copy, RepeatsWithinRows) {
  for (const ScalarType t : {kByte, kShort, kFloat, kDouble}) {
    const Tensor a = arange(100, kLong).to(t);
    for (const int64_t times : {1, 2, 3, 7, 8, 9, 40}) {
      const Tensor right = a.unsqueeze(1).expand({100, times}).contiguous();
      const Tensor middle =
          a.view({50, 1, 2}).expand({50, times, 2}).contiguous();
      const Values x = values(right), y = values(middle);
      const auto n = static_cast<size_t>(times);
      for (size_t i = 0; i < x.size(); ++i) {
        ASSERT_EQ(x[i], static_cast<double>(i / n));
        ASSERT_EQ(y[i], static_cast<double>(i / (2 * n) * 2 + i % 2));
      }
    }
  }
}

TEST(Copy, OverlapIsAnError) {
  const Tensor a = arange(6, kFloat);
  Tensor low = a.slice(0, 0, 4);
  SY_EXPECT_ERROR(low.copy_(a.slice(0, 2, 6)), ValueError, "[copy_] src");
  Tensor spread = zeros({1}).expand({3});
  SY_EXPECT_ERROR(spread.copy_(zeros({3})), ValueError, "of their own");
  Tensor self = a;
  EXPECT_TRUE(self.copy_(a).is_same(a));
}

TEST(Copy, ToGivesSelfWhereNothingChanges) {
  const Tensor a = ones({2, 3});
  EXPECT_TRUE(a.to(kFloat).is_same(a));
  EXPECT_FALSE(a.to(kFloat, false, true).is_same(a));
  EXPECT_EQ(a.to(kLong).dtype(), kLong);
  const Tensor t = a.t();
  EXPECT_EQ(ints(t.to(kDouble).strides()), (std::vector<int64_t>{1, 3}));
  EXPECT_TRUE(a.to(Device(kMeta), kFloat).is_meta());
  SY_EXPECT_ERROR(a.to(Device(kMeta), kFloat).to(Device(kCPU), kFloat),
                  NotImplementedError, "with data");
}

TEST(Copy, MemoryFormats) {
  const Tensor a = ones({2, 3, 4, 5});
  const Tensor b = a.contiguous(MemoryFormat::ChannelsLast);
  EXPECT_EQ(ints(b.strides()), (std::vector<int64_t>{60, 1, 15, 3}));
  EXPECT_TRUE(b.is_contiguous(MemoryFormat::ChannelsLast));
  EXPECT_EQ(ints(b.clone().strides()), ints(b.strides()));
  SY_EXPECT_ERROR(ones({2}).contiguous(MemoryFormat::ChannelsLast), ValueError,
                  "expected 4 dims");
}

TEST(Copy, Item) {
  EXPECT_EQ(tensor(3).item().to_long(), 3);
  EXPECT_EQ(tensor({{2.5}}).item<double>(), 2.5);
  EXPECT_TRUE(tensor(true).item().is_boolean());
  SY_EXPECT_ERROR(ones({2}).item(), ValueError,
                  "[item] self: expected a tensor of one element");
}

TEST(Copy, Equal) {
  EXPECT_TRUE(equal(ones({2, 3}), ones({3, 2}).t()));
  EXPECT_FALSE(equal(ones({2}), zeros({2})));
  EXPECT_FALSE(equal(ones({2}), ones({2, 1})));
  EXPECT_TRUE(equal(ones({2}), ones({2}, kLong)));
  EXPECT_FALSE(equal(full({2}, 1.5), ones({2}, kLong)));
  EXPECT_FALSE(equal(ones({2}), ones({3}, kLong)));
}

}  // namespace
}  // namespace sy
