#include "aten/engine/view.h"

#include <gtest/gtest.h>

#include "aten/ops/factory.h"
#include "aten/ops/view.h"
#include "c10/dispatch/thread_state.h"
#include "test/aten/tensor_values.h"
#include "test/c10/expect_error.h"

namespace sy {
namespace {

using List = std::vector<int64_t>;

TEST(View, StridesOfNewSizes) {
  Dims out;
  ASSERT_TRUE(view_strides({2, 3, 4}, {12, 4, 1}, {6, 4}, &out));
  EXPECT_EQ(ints(out), (List{4, 1}));
  ASSERT_TRUE(view_strides({2, 3, 4}, {24, 8, 2}, {6, 2, 2}, &out));
  EXPECT_EQ(ints(out), (List{8, 4, 2}));
  ASSERT_TRUE(view_strides({4, 6}, {1, 4}, {2, 2, 3, 2}, &out));
  EXPECT_EQ(ints(out), (List{2, 1, 8, 4}));
  ASSERT_TRUE(view_strides({3}, {0}, {3, 1}, &out));
  EXPECT_EQ(out[0], 0);
  ASSERT_TRUE(view_strides({}, {}, {1, 1}, &out));
  ASSERT_TRUE(view_strides({0, 3}, {3, 1}, {5, 0}, &out));
  EXPECT_FALSE(view_strides({4, 6}, {1, 4}, {24}, &out));
  EXPECT_FALSE(view_strides({2, 3}, {6, 1}, {6}, &out));
}

TEST(View, InfersOneSize) {
  EXPECT_EQ(ints(infer_size("f", {2, -1}, 6)), (List{2, 3}));
  EXPECT_EQ(ints(infer_size("f", {-1}, 0)), (List{0}));
  SY_EXPECT_ERROR(infer_size("f", {-1, -1}, 6), ValueError, "at most one -1");
  SY_EXPECT_ERROR(infer_size("f", {4, -1}, 6), ValueError,
                  "[f] size: expected 6 elements, got [4, -1]");
  SY_EXPECT_ERROR(infer_size("f", {0, -1}, 0), ValueError, "size of 0");
  SY_EXPECT_ERROR(infer_size("f", {-2}, 6), ValueError, "at least 0, or -1");
  SY_EXPECT_ERROR(infer_size("f", {int64_t{1} << 62, 4}, 0), ValueError,
                  "expected 0 elements");
}

TEST(View, RemembersHowItWasMade) {
  const Tensor a = ones({2, 3});
  const Tensor v = a.transpose(0, 1);
  ASSERT_TRUE(v.is_view());
  EXPECT_EQ(v.impl()->view_meta()->parent().get(), a.impl());
  EXPECT_EQ(v.impl()->view_root(), a.impl());
  EXPECT_EQ(v.impl()->view_meta()->num_args(), 2);
  EXPECT_TRUE(v.key_set().has(DispatchKey::Autograd));
  EXPECT_TRUE(v.is_alias_of(a));
  const Tensor w = v.select(0, 1);
  EXPECT_EQ(w.impl()->view_root(), a.impl());
  EXPECT_EQ(w.storage_offset(), 1);
}

TEST(View, WithoutGradientsStaysOutOfAutograd) {
  const Tensor a = ones({2, 3});
  {
    const NoGradGuard guard;
    const Tensor v = a.t();
    EXPECT_TRUE(v.is_view());
    EXPECT_FALSE(v.key_set().has(DispatchKey::Autograd));
    EXPECT_EQ(v.impl()->view_meta()->creation(), ViewCreation::NoGrad);
  }
  const Tensor whole = ones({2, 3}, kLong);
  EXPECT_FALSE(whole.t().key_set().has(DispatchKey::Autograd));
}

TEST(View, Expand) {
  const Tensor a = ones({3, 1});
  const Tensor b = a.expand({2, -1, 4});
  EXPECT_EQ(ints(b.sizes()), (List{2, 3, 4}));
  EXPECT_EQ(ints(b.strides()), (List{0, 1, 0}));
  SY_EXPECT_ERROR(a.expand({4, 4}), ValueError,
                  "[expand] size: expected sizes that [3, 1] can be expanded "
                  "to, got [4, 4]");
  SY_EXPECT_ERROR(a.expand({3}), ValueError, "[expand] size");
}

TEST(View, Broadcast) {
  EXPECT_EQ(ints(broadcast_sizes("f", {3, 1}, {2, 1, 4})), (List{2, 3, 4}));
  EXPECT_EQ(ints(broadcast_sizes("f", {0}, {1})), (List{0}));
  SY_EXPECT_ERROR(broadcast_sizes("f", {3}, {4}), ValueError,
                  "got [3] and [4]");
}

}  // namespace
}  // namespace sy
