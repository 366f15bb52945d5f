#include "aten/engine/copy.h"
#include "test/backends/cuda/pairs.h"

namespace sy::cuda::testing {
namespace {

const std::vector<std::vector<int64_t>> kSizes = {
    {},       {0},       {1},       {7},       {3, 5},
    {64, 65}, {2, 3, 4}, {5, 1, 6}, {2, 0, 3}, {3, 40, 33}};

TEST(Copy, GoesUpAndDownUnchanged) {
  for (const ScalarType dtype : all_dtypes()) {
    for (const auto& sizes : kSizes) {
      for (const LaidOut layout : all_layouts()) {
        const Pair x = laid_out(sizes, layout, dtype);
        EXPECT_TRUE(same(x.cpu, x.cuda))
            << dtype << " " << IntArrayRef(sizes) << " " << name_of(layout);
        // A strided tensor of the host as it is.
        EXPECT_TRUE(same(x.cpu, x.cpu.to(Device(kCUDA))))
            << dtype << " " << IntArrayRef(sizes) << " " << name_of(layout);
      }
    }
  }
}

TEST(Copy, ConvertsOnTheDevice) {
  for (const ScalarType from : all_dtypes()) {
    for (const ScalarType to : all_dtypes()) {
      for (const LaidOut layout : all_layouts()) {
        const Pair x = laid_out({6, 5}, layout, from);
        EXPECT_TRUE(same(x.cpu.to(to), x.cuda.to(to)))
            << from << " to " << to << " " << name_of(layout);
      }
    }
  }
}

TEST(Copy, ConvertsOnTheWay) {
  for (const ScalarType from : all_dtypes()) {
    for (const ScalarType to : all_dtypes()) {
      for (const LaidOut layout : all_layouts()) {
        const Pair x = laid_out({4, 3}, layout, from);
        const Tensor expected = x.cpu.to(to);
        Tensor up = empty({4, 3}, TensorOptions(to).device(Device(kCUDA)));
        up.copy_(x.cpu);
        EXPECT_TRUE(same(expected, up))
            << "up, " << from << " to " << to << " " << name_of(layout);
        const Tensor down = empty({4, 3}, TensorOptions(to));
        Tensor(down).copy_(x.cuda);
        EXPECT_TRUE(same(down, up))
            << "down, " << from << " to " << to << " " << name_of(layout);
      }
    }
  }
}

TEST(Copy, FillsEveryLayoutFromEveryLayout) {
  for (const ScalarType dtype : {kBool, kHalf, kFloat, kDouble}) {
    for (const LaidOut from : all_layouts()) {
      for (const LaidOut to : all_layouts()) {
        if (to == LaidOut::kExpanded) continue;
        const Pair x = laid_out({33, 17}, from, dtype, 1);
        Pair y = laid_out({33, 17}, to, dtype, 2);
        const auto what = name_of(from) + " to " + name_of(to);
        y.cuda.copy_(x.cuda);
        y.cpu.copy_(x.cpu);
        EXPECT_TRUE(same(y.cpu, y.cuda)) << what;
        // The copy leaves what lies between the elements.
        EXPECT_TRUE(same(y.cpu.as_strided({33 * 17}, {1}, 0),
                         y.cuda.as_strided({33 * 17}, {1}, 0)))
            << what;
        y = laid_out({33, 17}, to, dtype, 3);
        y.cuda.copy_(x.cpu);
        EXPECT_TRUE(same(x.cpu, y.cuda)) << "up, " << what;
        y.cpu.copy_(x.cuda);
        EXPECT_TRUE(same(y.cpu, x.cuda)) << "down, " << what;
      }
    }
  }
}

TEST(Copy, Broadcasts) {
  const Pair x = pair(numbers({3, 1}, kFloat));
  Pair y = pair(numbers({2, 3, 4}, kFloat, 2));
  y.cpu.copy_(x.cpu);
  y.cuda.copy_(x.cuda);
  EXPECT_TRUE(same(y.cpu, y.cuda));
  y = pair(numbers({2, 3, 4}, kDouble, 2));
  y.cuda.copy_(x.cpu);
  y.cpu.copy_(x.cuda);
  EXPECT_TRUE(same(y.cpu, y.cuda));
}

TEST(Copy, TakesManyDimsThatDoNotMerge) {
  // 18 dims of 2, each second element.
  std::vector<int64_t> sizes(18, 2), strides;
  for (int64_t d = 17; d >= 0; --d) strides.push_back(int64_t{1} << d);
  std::reverse(strides.begin(), strides.begin() + 9);
  const Pair base = pair(numbers({1 << 18}, kInt));
  const Pair x = view(
      base, [&](const Tensor& t) { return t.as_strided(sizes, strides, 0); });
  EXPECT_TRUE(same(x.cpu, x.cuda));
  EXPECT_TRUE(same(x.cpu.contiguous(), x.cuda.contiguous()));
}

TEST(Copy, LeavesTheLastWhereElementsShareMemory) {
  for (const ScalarType dtype : {kFloat, kHalf}) {
    Pair x = pair(numbers({40}, kFloat));
    const Pair src = pair(numbers({3, 3}, dtype, 2));
    x.cpu.as_strided({3, 3}, {1, 1}, 2).copy_(src.cpu);
    x.cuda.as_strided({3, 3}, {1, 1}, 2).copy_(src.cuda);
    EXPECT_TRUE(same(x.cpu, x.cuda)) << dtype;
  }
}

TEST(Copy, ReadsOneElement) {
  for (const ScalarType dtype : all_dtypes()) {
    const Pair x = pair(numbers({5}, dtype));
    EXPECT_TRUE(x.cpu.select(0, 3).item().equal(x.cuda.select(0, 3).item()))
        << dtype;
  }
}

TEST(Copy, PinnedMemoryWithoutWaiting) {
  const Tensor source = numbers({300, 7}, kFloat).pin_memory(Device(kCUDA));
  Tensor there = empty({300, 7}, source.options().device(Device(kCUDA)));
  there.copy_(source, /*non_blocking=*/true);
  Tensor narrow = empty({300, 7}, there.options().dtype(kHalf));
  narrow.copy_(source, /*non_blocking=*/true);
  Tensor back = empty({300, 7}, source.options()).pin_memory(Device(kCUDA));
  back.copy_(there, /*non_blocking=*/true);
  synchronize(with_index(Device(kCUDA)));
  EXPECT_TRUE(same(source, there));
  EXPECT_TRUE(same(back, there));
  EXPECT_TRUE(same(source.to(kHalf), narrow));
}

TEST(Copy, BetweenDevices) {
  if (device_count("cuda") < 2) GTEST_SKIP() << "one device";
  const Device other(kCUDA, 1);
  for (const LaidOut layout : all_layouts()) {
    const Pair x = laid_out({9, 5}, layout, kFloat);
    const Tensor there = x.cuda.to(other);
    EXPECT_EQ(there.device(), other);
    EXPECT_TRUE(same(x.cpu, there)) << name_of(layout);
    const Tensor half = x.cuda.to(other, kHalf);
    EXPECT_TRUE(same(x.cpu.to(kHalf), half)) << name_of(layout);
    Tensor strided = empty({9, 10}, there.options()).slice(1, 0, 10, 2);
    strided.copy_(x.cuda);
    EXPECT_TRUE(same(x.cpu, strided)) << name_of(layout);
  }
}

TEST(Factory, FillsEveryLayout) {
  for (const ScalarType dtype : all_dtypes()) {
    for (const LaidOut layout : all_layouts()) {
      if (layout == LaidOut::kExpanded) continue;
      for (const int value : {0, 1, 3}) {
        Pair x = laid_out({5, 6}, layout, dtype);
        x.cpu.fill_(value);
        x.cuda.fill_(value);
        EXPECT_TRUE(same(x.cpu, x.cuda))
            << dtype << " " << name_of(layout) << " " << value;
      }
    }
  }
  Tensor x = empty({3}, TensorOptions(kByte).device(Device(kCUDA)));
  EXPECT_THROW(x.fill_(300), ValueError);
}

TEST(Factory, CountsFromStartToEnd) {
  const TensorOptions cuda = TensorOptions().device(Device(kCUDA));
  for (const ScalarType dtype : all_dtypes()) {
    if (dtype == kBool) continue;
    const auto both = [&](Scalar a, Scalar b, Scalar s) {
      EXPECT_TRUE(same(arange(a, b, s, TensorOptions(dtype)),
                       arange(a, b, s, cuda.dtype(dtype))))
          << dtype << " " << to_string(a) << " " << to_string(b);
    };
    both(0, 100, 1);
    both(5, 5, 2);
    both(90, 3, -7);
    both(0.5, 20.25, 0.375);
  }
  EXPECT_TRUE(same(
      arange(int64_t{1} << 60, (int64_t{1} << 60) + 3, TensorOptions(kLong)),
      arange(int64_t{1} << 60, (int64_t{1} << 60) + 3, cuda.dtype(kLong))));
  EXPECT_THROW(arange(0, 5, 0, cuda), ValueError);
}

TEST(Factory, LaysTensorsAsAsked) {
  const TensorOptions cuda = TensorOptions(kFloat).device(Device(kCUDA));
  const Tensor t = empty({2, 3, 4, 5}, cuda, MemoryFormat::ChannelsLast);
  EXPECT_TRUE(t.is_contiguous(MemoryFormat::ChannelsLast));
  const Tensor s = empty_strided({2, 3}, {1, 2}, cuda);
  EXPECT_EQ(s.stride(0), 1);
  EXPECT_EQ(s.stride(1), 2);
}

}  // namespace
}  // namespace sy::cuda::testing
