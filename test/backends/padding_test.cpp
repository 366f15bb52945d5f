#include "aten/ops/padding.h"

#include <gtest/gtest.h>

#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/shape.h"
#include "aten/ops/view.h"
#include "c10/process/parallel.h"
#include "test/backends/device.h"
#include "test/c10/expect_error.h"

namespace sy::families {
namespace {

using Values = std::vector<double>;

// An out= argument that has to grow, into memory that the input lies in.
TEST(Padding, OutThatGrowsIntoTheInput) {
  const Tensor room = tensor({1, 2, 3, 4, 5, 6, 7, 8, 9});
  const Tensor a = room.narrow(0, 2, 4).view({1, 4});
  Tensor out = room.narrow(0, 1, 1).view({1, 1});
  const std::vector<double> expected = values(reflection_pad1d(a, {2, 1}));
  reflection_pad1d_out(out, a, {2, 1});
  EXPECT_EQ(values(out), expected);
  EXPECT_EQ(expected, (Values{5, 4, 3, 4, 5, 6, 5}));
}

TEST(Padding, Constant) {
  const Tensor a = tensor({{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(values(constant_pad_nd(a, {1, 0}, 7)),
            (Values{7, 1, 2, 3, 7, 4, 5, 6}));
  EXPECT_EQ(values(constant_pad_nd(a, {-1, 1, 1, -1}, 0)),
            (Values{0, 0, 0, 2, 3, 0}));
  EXPECT_EQ(ints(constant_pad_nd(a, {-3, 0}, 0).sizes()),
            (std::vector<int64_t>{2, 0}));
  EXPECT_TRUE(
      constant_pad_nd(
          zeros({1, 2, 2, 2}).to(kFloat).contiguous(MemoryFormat::ChannelsLast),
          {1, 1}, 0)
          .is_contiguous(MemoryFormat::ChannelsLast));
  SY_EXPECT_ERROR(constant_pad_nd(a, {1}, 0), ValueError, "two amounts");
  SY_EXPECT_ERROR(constant_pad_nd(a, {0, 0, 0, 0, 1, 1}, 0), ValueError,
                  "at most 4");
  SY_EXPECT_ERROR(constant_pad_nd(a, {-4, 2}, 0), ValueError, "cut off");
  const int64_t big = INT64_MAX;
  SY_EXPECT_ERROR(constant_pad_nd(a, {big, big}, 0), ValueError, "pad");
  SY_EXPECT_ERROR(constant_pad_nd(a, {INT64_MIN, 1}, 0), ValueError, "pad");
}

TEST(Padding, ModesShowTheirElements) {
  const Tensor a = tensor({{1, 2, 3, 4}});
  EXPECT_EQ(values(pad(a, {2, 1}, "reflect")), (Values{3, 2, 1, 2, 3, 4, 3}));
  EXPECT_EQ(values(pad(a, {2, 1}, "replicate")), (Values{1, 1, 1, 2, 3, 4, 4}));
  EXPECT_EQ(values(pad(a, {2, 1}, "circular")), (Values{3, 4, 1, 2, 3, 4, 1}));
  EXPECT_EQ(values(pad(a, {2, -1}, "circular")), (Values{2, 3, 1, 2, 3}));
  EXPECT_EQ(values(pad(a, {-1, 2}, "reflect")), (Values{2, 3, 4, 3, 2}));
  EXPECT_EQ(values(pad(a, {-5, 4}, "replicate")), (Values{4, 4, 4}));
  EXPECT_EQ(values(pad(a, {1, 0}, "constant", 2.5)),
            (Values{2, 1, 2, 3, 4}));  // of int64
  SY_EXPECT_ERROR(pad(a, {1, 1}, "mirror"), ValueError, "mode");
  SY_EXPECT_ERROR(pad(a, {1, 1}, "reflect", 3.0), ValueError, "value");
  SY_EXPECT_ERROR(pad(a, {4, 0}, "reflect"), ValueError, "smaller");
  SY_EXPECT_ERROR(pad(a, {5, 0}, "circular"), ValueError, "at most 4");
}

// Element by element from the definition, for every number of dims.
TEST(Padding, RowsAndPlanesLieWhereTheyShould) {
  const Tensor a = arange(2 * 3 * 4 * 5, kFloat).view({2, 3, 4, 5});
  const Tensor t = a.transpose(1, 3).contiguous().transpose(1, 3);
  const int64_t pads[] = {2, 1, 3, -1, 0, 2};
  for (const bool reflect : {true, false}) {
    const Tensor out =
        reflect ? reflection_pad3d(t, pads) : replication_pad3d(t, pads);
    const auto at = [&](int64_t x, int64_t n) {
      if (x >= 0 && x < n) return x;
      if (!reflect) return x < 0 ? 0 : n - 1;
      return x < 0 ? -x : 2 * (n - 1) - x;
    };
    EXPECT_EQ(ints(out.sizes()), (std::vector<int64_t>{2, 5, 6, 8}));
    const auto got = values(out);
    size_t i = 0;
    for (int64_t p = 0; p < 2; ++p) {
      for (int64_t z = 0; z < 5; ++z) {
        for (int64_t y = 0; y < 6; ++y) {
          for (int64_t x = 0; x < 8; ++x, ++i) {
            const int64_t from =
                ((p * 3 + at(z, 3)) * 4 + at(y - 3, 4)) * 5 + at(x - 2, 5);
            ASSERT_EQ(got[i], static_cast<double>(from)) << i;
          }
        }
      }
    }
  }
}

TEST(Padding, BackwardDoesNotDependOnThreads) {
  const Tensor self = zeros({3, 5, 40, 50}, kHalf);
  const Tensor grad = arange(3 * 5 * 44 * 53, kFloat)
                          .view({3, 5, 44, 53})
                          .remainder(7)
                          .to(kHalf);
  const int before = get_num_threads();
  const Tensor a = reflection_pad2d_backward(grad, self, {1, 2, 3, 1});
  set_num_threads(1);
  const Tensor b = reflection_pad2d_backward(grad, self, {1, 2, 3, 1});
  set_num_threads(before);
  EXPECT_EQ(values(a), values(b));
  double sum = 0;
  for (const double v : values(a)) sum += v;
  double expected = 0;
  for (const double v : values(grad)) expected += v;
  EXPECT_EQ(sum, expected);
}

TEST(Padding, BadArguments) {
  const Tensor a = zeros({2, 3});
  SY_EXPECT_ERROR(reflection_pad1d(a, {1, 1, 1}), ValueError, "2 amounts");
  SY_EXPECT_ERROR(reflection_pad2d(a, {1, 1, 1, 1}), ValueError, "3 or 4");
  SY_EXPECT_ERROR(replication_pad1d(a, {-2, -1}), ValueError, "at least one");
  SY_EXPECT_ERROR(replication_pad1d(a, {INT64_MIN, INT64_MIN}), ValueError,
                  "amounts");
  SY_EXPECT_ERROR(replication_pad1d(zeros({2, 0}), {1, 1}), ValueError,
                  "empty");
  EXPECT_EQ(replication_pad1d(zeros({0, 2, 3}), {1, 1}).numel(), 0);
  SY_EXPECT_ERROR(replication_pad1d_backward(zeros({2, 4}), a, {1, 1}),
                  ValueError, "sizes");
  SY_EXPECT_ERROR(replication_pad1d_backward(zeros({2, 5}, kLong), a, {1, 1}),
                  ValueError, "floating");
}

}  // namespace
}  // namespace sy::families
