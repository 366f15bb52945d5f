#include "aten/engine/apart.h"

#include <gtest/gtest.h>

#include "aten/operators.h"
#include "aten/ops/all.h"
#include "aten/tensor_new.h"
#include "test/aten/tensor_values.h"
#include "test/c10/expect_error.h"

// out= arguments that share memory with an input or with each other.

namespace sy {
namespace {

Tensor counted(IntArrayRef sizes) {
  return arange(checked_numel("counted", sizes), kFloat).reshape(sizes).clone();
}

TEST(OutThatIsAnInput, IsNeverResizedByAPointwiseOperator) {
  Tensor x = counted({5});
  const Tensor y = counted({4, 5});
  SY_EXPECT_ERROR(add_out(x, x, y), ValueError,
                  "[add.Tensor] out: expected [4, 5], the sizes of the result, "
                  "as an input is never resized, got [5]");
  EXPECT_EQ(values(x), values(counted({5})));
  SY_EXPECT_ERROR(where_out(x, y.gt(3), x, y), ValueError, "never resized");
  // Nor a part of an input; the same elements in other sizes are copied.
  Tensor part = x.narrow(0, 0, 4);
  SY_EXPECT_ERROR(add_out(part, x, y), ValueError, "a part of it");
  Tensor alias = x.view({5});
  EXPECT_EQ(values(add_out(alias, x, y)), values(counted({5}) + y));
}

TEST(OutThatIsAnInput, IsWrittenInPlaceIfItFits) {
  Tensor x = counted({4, 5});
  const void* const data = x.raw_data();
  EXPECT_EQ(values(add_out(x, x, x)), values(counted({4, 5}) * 2));
  EXPECT_EQ(x.raw_data(), data);
  Tensor alias = x.view({4, 5});
  mul_out(alias, x, x);
  EXPECT_EQ(values(x), values((counted({4, 5}) * 2).square()));
}

TEST(OutThatIsAnInput, MayGrowOverAnother) {
  // Empty, and in front of the input's elements.
  Tensor all = counted({12});
  const Tensor x = all.narrow(0, 2, 6);
  Tensor out = all.narrow(0, 0, 0);
  EXPECT_EQ(values(add_out(out, x, x)),
            values(counted({12}).narrow(0, 2, 6) * 2));
}

TEST(OutThatIsAnInput, MayHaveSomeElementsInCommon) {
  Tensor all = counted({4, 5});
  const Tensor want = all.narrow(1, 0, 3) + all.narrow(1, 2, 3);
  Tensor out = all.narrow(1, 0, 3);
  add_out(out, all.narrow(1, 0, 3), all.narrow(1, 2, 3));
  EXPECT_EQ(values(out), values(want));
  all = counted({4, 5});
  all.narrow(1, 0, 3).add_(all.narrow(1, 2, 3));
  EXPECT_EQ(values(all.narrow(1, 0, 3)), values(want));
  all = counted({4, 5});
  const Tensor moved = all.narrow(1, 0, 4).clone();
  all.narrow(1, 1, 4).copy_(all.narrow(1, 0, 4));
  EXPECT_EQ(values(all.narrow(1, 1, 4)), values(moved));
}

TEST(OutThatIsAnInput, IsReadBeforeItIsReduced) {
  const Tensor want = counted({4, 5});
  for (const bool keepdim : {false, true}) {
    Tensor x = counted({4, 5});
    EXPECT_EQ(values(amax_out(x, x, {0}, keepdim)),
              values(amax(want, {0}, keepdim)));
    x = counted({4, 5});
    EXPECT_EQ(values(sum_out(x, x, {1}, keepdim)),
              values(sum(want, {1}, keepdim)));
    x = counted({4, 5});
    EXPECT_EQ(values(mean_out(x, x, {0}, keepdim)),
              values(mean(want, {0}, keepdim)));
    x = counted({4, 5});
    EXPECT_EQ(values(prod_out(x, x, 1, keepdim)),
              values(prod(want, 1, keepdim)));
    x = counted({4, 5});
    EXPECT_EQ(values(nansum_out(x, x, {0}, keepdim)),
              values(nansum(want, {0}, keepdim)));
    x = counted({4, 5}).gt(2);
    EXPECT_EQ(values(any_out(x, x, 0, keepdim)),
              values(any(want.gt(2), 0, keepdim)));
  }
  // A row of it.
  Tensor x = counted({4, 5});
  Tensor row = x.select(0, 2);
  EXPECT_EQ(values(sum_out(row, x, {0})), values(sum(want, {0})));
  EXPECT_EQ(values(x.select(0, 2)), values(sum(want, {0})));
}

TEST(OutThatIsAnInput, IsReadBeforeItIsScanned) {
  Tensor x = counted({4, 5});
  const Tensor want = cumsum(x, 1);
  EXPECT_EQ(values(cumsum_out(x, x, 1)), values(want));
  x = counted({4, 5});
  Tensor none = x.narrow(0, 0, 0);
  EXPECT_EQ(values(cumsum_out(none, x, 1)), values(want));
}

TEST(OutThatIsAnInput, IsReadBeforeAKernelWrites) {
  Tensor x = counted({4, 5});
  const Tensor other = counted({5, 3});
  const Tensor want = mm(x, other);
  EXPECT_EQ(values(mm_out(x, x, other)), values(want));
  x = counted({4, 5});
  const Tensor twice = cat({x, x}, 1);
  EXPECT_EQ(values(cat_out(x, {x, x}, 1)), values(twice));
  x = counted({4});
  const Tensor at = tensor({3, 3, 1, 0, 2}, kLong);
  const Tensor picked = index_select(x, 0, at);
  EXPECT_EQ(values(index_select_out(x, x, 0, at)), values(picked));
  // A view that is copied to what it is a view of.
  x = counted({3, 4});
  const Tensor turned = x.t().clone();
  EXPECT_EQ(values(transpose_copy_out(x, x, 0, 1)), values(turned));
  // Pieces of an input that is one of the results.
  x = counted({4});
  Tensor y = empty({0});
  const Tensor first = x.narrow(0, 0, 2).clone(),
               second = x.narrow(0, 2, 2).clone();
  split_copy_out({x, y}, x, 2);
  EXPECT_EQ(values(x), values(first));
  EXPECT_EQ(values(y), values(second));
}

TEST(SeveralOuts, HaveMemoryOfTheirOwn) {
  const Tensor x = counted({4, 5});
  Tensor a = empty({0}), b = a.view({0});
  SY_EXPECT_ERROR(aminmax_out(a, a, x), ValueError, "memory");
  SY_EXPECT_ERROR(aminmax_out(a, b, x), ValueError, "memory");
  Tensor same = counted({2});
  SY_EXPECT_ERROR(split_copy_out({same, same}, counted({4}), 2), ValueError,
                  "memory of their own");
  SY_EXPECT_ERROR(_foreach_add_out({same, same}, {same, same}, 1), ValueError,
                  "memory of their own");
}

}  // namespace
}  // namespace sy
