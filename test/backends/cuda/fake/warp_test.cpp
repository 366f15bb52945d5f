#include <bit>
#include <cstddef>
#include <cstring>

#include "test/backends/cuda/fake/emulator_fixture.h"
// Include this after all others.
#include "kernel.cuh"

namespace {

using fake_cuda::Ending;
using fake_cuda::expect_failure;
using fake_cuda::run_well;
using fake_cuda::Shape;

constexpr unsigned kAll = 0xffffffffu;

struct SumParams {
  LaunchHead head;
  int n;
  const float* in;
  double* out;
};

// Sums as kernels do: shuffles in each warp, then the warps' sums.
SY_KERNEL(block_sum, SumParams, 1024) {
  __shared__ double sums[32];
  double sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < p.n;
       i += static_cast<int>(blockDim.x)) {
    sum += p.in[i];
  }
  for (unsigned by = 16; by > 0; by /= 2) {
    sum += __shfl_down_sync(kAll, sum, by);
  }
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < blockDim.x / 32 ? sums[threadIdx.x] : 0;
    for (unsigned by = 16; by > 0; by /= 2) {
      sum += __shfl_xor_sync(kAll, sum, static_cast<int>(by));
    }
    if (threadIdx.x == 0) *p.out = sum;
  }
}

TEST(Warp, BlockSumWithShuffles) {
  std::vector<float> in(5000);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % 77);
  double expected = 0;
  for (float x : in) expected += x;
  for (const uint64_t seed : {0, 1, 2, 3, 4}) {
    for (const unsigned threads : {32u, 128u, 1024u}) {
      double sum = -1;
      run_well(sy_kernel_block_sum,
               SumParams{{}, static_cast<int>(in.size()), in.data(), &sum},
               Shape{{1}, {threads}, 0, seed});
      EXPECT_EQ(sum, expected);
    }
  }
}

struct ShuffleParams {
  LaunchHead head;
  int by, width;
  long long* out;
};

SY_KERNEL(shuffles, ShuffleParams, 32) {
  const int lane = static_cast<int>(threadIdx.x);
  long long* const out = p.out + 4 * lane;
  // All widths of values.
  out[0] = __shfl_sync(kAll, lane, p.by, p.width);
  out[1] = __shfl_up_sync(kAll, 0x100000000ll + lane,
                          static_cast<unsigned>(p.by), p.width) -
           0x100000000ll;
  out[2] = static_cast<long long>(__shfl_down_sync(
      kAll, static_cast<float>(lane), static_cast<unsigned>(p.by), p.width));
  out[3] = static_cast<long long>(
      __shfl_xor_sync(kAll, static_cast<double>(lane), p.by, p.width));
}

TEST(Warp, ShufflesReadTheLanesThatTheyShould) {
  for (const int width : {1, 2, 4, 8, 16, 32}) {
    for (int by = 0; by < 32; ++by) {
      std::vector<long long> out(4 * 32);
      run_well(sy_kernel_shuffles, ShuffleParams{{}, by, width, out.data()},
               Shape{{1}, {32}});
      for (int lane = 0; lane < 32; ++lane) {
        const int first = lane / width * width, within = lane % width;
        EXPECT_EQ(out[4 * lane], first + by % width);
        EXPECT_EQ(out[4 * lane + 1], within >= by ? lane - by : lane);
        EXPECT_EQ(out[4 * lane + 2], within + by < width ? lane + by : lane);
        const int to = lane ^ by;
        EXPECT_EQ(out[4 * lane + 3], to < first + width ? to : lane);
      }
    }
  }
}

struct VoteParams {
  LaunchHead head;
  unsigned mask;
  unsigned* out;
};

SY_KERNEL(votes, VoteParams, 64) {
  const unsigned i = threadIdx.x;
  if ((p.mask >> i % 32 & 1) == 0) return;
  unsigned* const out = p.out + 10 * i;
  out[0] = __ballot_sync(p.mask, i % 2 == 0);
  out[1] = static_cast<unsigned>(__any_sync(p.mask, i == 33));
  out[2] = static_cast<unsigned>(__all_sync(p.mask, i < 32));
  out[3] = __match_any_sync(p.mask, i % 4);
  out[4] = __reduce_add_sync(p.mask, i);
  out[5] = static_cast<unsigned>(
      __reduce_min_sync(p.mask, static_cast<int>(i) - 50));
  out[6] = __reduce_max_sync(p.mask, i - 10);
  out[7] = __reduce_or_sync(p.mask, 1u << i % 32);
  out[8] = __activemask();
  out[9] = __reduce_xor_sync(p.mask, i);
}

TEST(Warp, VotesAndReductions) {
  for (const unsigned mask : {kAll, 0x0000ffffu, 0x0f0f0f0fu, 2u}) {
    std::vector<unsigned> out(10 * 64);
    run_well(sy_kernel_votes, VoteParams{{}, mask, out.data()},
             Shape{{1}, {64}});
    for (unsigned i = 0; i < 64; ++i) {
      if ((mask >> i % 32 & 1) == 0) continue;
      unsigned add = 0, x = 0, most = 0;
      int least = 100;
      for (unsigned j = i / 32 * 32; j < i / 32 * 32 + 32; ++j) {
        if ((mask >> j % 32 & 1) == 0) continue;
        add += j;
        x ^= j;
        most = std::max(most, j - 10);
        least = std::min(least, static_cast<int>(j) - 50);
      }
      const unsigned* const got = &out[10 * i];
      EXPECT_EQ(got[0], mask & 0x55555555u);
      EXPECT_EQ(got[1], i >= 32 && (mask & 2) != 0);
      EXPECT_EQ(got[2], i < 32);
      EXPECT_EQ(got[3], mask & 0x11111111u << i % 4);
      EXPECT_EQ(got[4], add);
      EXPECT_EQ(static_cast<int>(got[5]), least);
      EXPECT_EQ(got[6], most);
      EXPECT_EQ(got[7], mask);
      EXPECT_EQ(got[8], 1u << i % 32);
      EXPECT_EQ(got[9], x);
    }
  }
}

SY_KERNEL(stage, VoteParams, 32) {
  __shared__ unsigned s[32];
  s[threadIdx.x] = threadIdx.x + 1;
  if (p.mask != 0) __syncwarp();
  p.out[threadIdx.x] = s[threadIdx.x ^ 1];
}

TEST(Warp, AMissingSyncwarpIsARace) {
  std::vector<unsigned> out(32);
  run_well(sy_kernel_stage, VoteParams{{}, 1, out.data()}, Shape{{1}, {32}});
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(out[i], (i ^ 1) + 1);
  expect_failure(sy_kernel_stage, VoteParams{{}, 0, out.data()},
                 Shape{{1}, {32}}, Ending::kFailed,
                 "of the __shared__ variables");
}

// Lanes of a warp that ended are not waited for, and their values are junk.
SY_KERNEL(lanes_leave, VoteParams, 64) {
  if (threadIdx.x % 32 >= 20) return;
  p.out[threadIdx.x] =
      __shfl_sync(kAll, threadIdx.x, threadIdx.x % 2 == 0 ? 3 : 25);
}

TEST(Warp, LanesThatEndedAreNotWaitedFor) {
  std::vector<unsigned> out(64);
  run_well(sy_kernel_lanes_leave, VoteParams{{}, 0, out.data()},
           Shape{{1}, {64}});
  for (unsigned i = 0; i < 64; ++i) {
    if (i % 32 >= 20) continue;
    if (i % 2 == 0) {
      EXPECT_EQ(out[i], i / 32 * 32 + 3);
    } else {
      EXPECT_EQ(out[i], 0xdeadbeefu);
    }
  }
}

// A block whose last warp is not whole.
TEST(Warp, LanesThatDoNotExistAreNotWaitedFor) {
  std::vector<unsigned> out(64);
  run_well(sy_kernel_lanes_leave, VoteParams{{}, 0, out.data()},
           Shape{{1}, {37}});
  EXPECT_EQ(out[36], 35u);
}

SY_KERNEL(split, VoteParams, 32) {
  const unsigned mine = threadIdx.x < 8 ? 0x000000ffu : 0xffffff00u;
  for (unsigned i = 0; i < 3; ++i) {
    p.out[threadIdx.x] += __reduce_add_sync(mine, threadIdx.x);
  }
  p.out[threadIdx.x] += __ballot_sync(kAll, 1) == kAll;
}

TEST(Warp, PartsOfAWarpGoOnAlone) {
  std::vector<unsigned> out(32);
  run_well(sy_kernel_split, VoteParams{{}, 0, out.data()}, Shape{{1}, {32}});
  for (unsigned i = 0; i < 32; ++i) {
    EXPECT_EQ(out[i], (i < 8 ? 28u : 468u) * 3 + 1);
  }
}

SY_KERNEL(wrong_mask, VoteParams, 32) { p.out[0] = __ballot_sync(p.mask, 1); }

TEST(Warp, AMaskWithoutTheLaneIsReported) {
  unsigned out;
  expect_failure(sy_kernel_wrong_mask, VoteParams{{}, 0xffff, &out},
                 Shape{{1}, {32}}, Ending::kFailed, "mask");
}

SY_KERNEL(half, VoteParams, 32) {
  if (threadIdx.x < 16) p.out[0] = __shfl_sync(kAll, 1u, 0);
  __syncthreads();
}

TEST(Warp, LanesThatStayAwayAreReported) {
  unsigned out;
  expect_failure(sy_kernel_half, VoteParams{{}, 0, &out}, Shape{{1}, {32}},
                 Ending::kFailed,
                 "16 of 32 at __syncthreads; lanes 0xffff of warp 0 at "
                 "__shfl_*_sync with the mask 0xffffffff");
}

}  // namespace
