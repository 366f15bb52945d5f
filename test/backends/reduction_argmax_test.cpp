#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "aten/engine/copy.h"
#include "aten/engine/view.h"
#include "aten/tensor_new.h"
#include "backends/cpu/reduction_kernels_gen.h"
#include "test/c10/expect_error.h"

namespace sy {
namespace {

Tensor places(IntArrayRef sizes) {
  return Tensor(make_tensor(sizes, kLong, Device(kCPU)));
}

std::vector<int64_t> values(const Tensor& t) {
  const Tensor d = contiguous_cpu(t);
  const auto* p = static_cast<const int64_t*>(d.data_ptr());
  return {p, p + d.numel()};
}

int64_t argmax_of(const Tensor& t) {
  const Tensor out = places(IntArrayRef());
  cpu::argmax_out(t, std::nullopt, false, out);
  return values(out)[0];
}

int64_t argmin_of(const Tensor& t) {
  const Tensor out = places(IntArrayRef());
  cpu::argmin_out(t, std::nullopt, false, out);
  return values(out)[0];
}

using Places = std::vector<int64_t>;

TEST(Argmax, TheFirstOfEquals) {
  EXPECT_EQ(argmax_of(tensor({1, 3, 2, 3})), 1);
  EXPECT_EQ(argmin_of(tensor({2, 1, 1, 3})), 1);
  EXPECT_EQ(argmax_of(tensor({-0.0, 0.0})), 0);
  EXPECT_EQ(argmax_of(tensor({false, true, true})), 1);
  EXPECT_EQ(argmin_of(tensor({true, false, false})), 1);
  EXPECT_EQ(argmax_of(tensor(5)), 0);
}

TEST(Argmax, NanIsBestOfAll) {
  for (const ScalarType dtype : {kHalf, kBFloat16, kFloat, kDouble}) {
    const Tensor t = tensor({1.0, (double)NAN, INFINITY, (double)NAN}, dtype);
    EXPECT_EQ(argmax_of(t), 1) << dtype_name(dtype);
    EXPECT_EQ(argmin_of(t), 1) << dtype_name(dtype);
  }
}

TEST(Argmax, LongRows) {
  for (const int64_t n : {15, 16, 17, 1023, 1024, 1025, 5000}) {
    for (const int64_t at : {int64_t{0}, n / 2, n - 2, n - 1}) {
      std::vector<float> row(static_cast<size_t>(n), 1.0f);
      row[static_cast<size_t>(at)] = 2;
      row.back() = 2;
      EXPECT_EQ(argmax_of(tensor(row)), at) << n;
      row[static_cast<size_t>(at)] = NAN;
      EXPECT_EQ(argmin_of(tensor(row)), at) << n;
    }
  }
}

TEST(Argmax, AlongDims) {
  const Tensor t = tensor({{1, 5, 3}, {4, 2, 6}});
  Tensor out = places({3});
  cpu::argmax_out(t, 0, false, out);
  EXPECT_EQ(values(out), (Places{1, 0, 1}));
  out = places({2, 1});
  cpu::argmin_out(t, -1, true, out);
  EXPECT_EQ(values(out), (Places{0, 1}));
  const Tensor turned = alias_without_view(t, {3, 2}, {1, 3}, 0);
  out = places({2});
  cpu::argmax_out(turned, 0, false, out);
  EXPECT_EQ(values(out), (Places{1, 2}));
}

TEST(Argmax, NothingToChooseFrom) {
  const auto empty = [](IntArrayRef sizes) {
    return Tensor(make_tensor(sizes, kFloat, Device(kCPU)));
  };
  SY_EXPECT_ERROR(argmax_of(empty({0})), IndexError, "[argmax] self");
  SY_EXPECT_ERROR(cpu::argmin_out(empty({2, 0}), 1, false, places({2})),
                  IndexError, "[argmin]");
  cpu::argmax_out(empty({0, 2}), 1, false, places({0}));  // does nothing
}

}  // namespace
}  // namespace sy
