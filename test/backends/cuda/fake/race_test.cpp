#include <cstddef>
#include <string>

#include "test/backends/cuda/fake/emulator_fixture.h"
// Include this after all others.
#include "kernel.cuh"

// Wrong kernels that the order of blocks and threads alone does not show, each
// beside a right one. The tests vary seeds, orders of blocks and their number;
// they never vary the number of resident blocks.

namespace {

using fake_cuda::BlockOrder;
using fake_cuda::Ending;
using fake_cuda::expect_failure;
using fake_cuda::for_orders;
using fake_cuda::run_well;
using fake_cuda::Shape;

struct Params {
  LaunchHead head;
  int how;  // 0: right
  int* out;
  int* more;
};

class RaceTest : public testing::Test {
 protected:
  // out[0] is `expected` after the right one.
  void expect_right(sy_on_host::Kernel kernel, const Shape& shape, int expected,
                    int how = 0) {
    for_orders(shape, [&](const Shape& s) {
      run_well(kernel, params(how), s);
      EXPECT_EQ(out_[0], expected);
    });
  }
  void expect_race(sy_on_host::Kernel kernel, const Shape& shape, int how = 1,
                   const std::string& part = "race: it ") {
    for_orders(shape, [&](const Shape& s) {
      expect_failure(kernel, params(how), s, Ending::kFailed, part);
    });
  }

 private:
  Params params(int how) {
    out_.assign(64, 0);
    more_.assign(4096, 0);
    return {{}, how, out_.data(), more_.data()};
  }

  std::vector<int> out_, more_;
};

SY_KERNEL(count, Params, 1024) {
  switch (p.how) {
    case 0: atomicAdd(p.out, 1); break;
    case 1: p.out[0] += 1; break;
    case 2:
      if (threadIdx.x == 0) p.out[0] += 1;  // blocks race
      break;
    case 3: atomicAdd_block(p.out, 1); break;
    case 4:
      atomicAdd(p.out, 1);
      p.more[first_index()] = p.out[0];
      break;
  }
}

TEST_F(RaceTest, Counters) {
  const Shape shape{{6}, {64}};
  expect_right(sy_kernel_count, shape, 6 * 64);
  for (const int how : {1, 2, 3, 4}) expect_race(sy_kernel_count, shape, how);
  // One block may use atomics of a block, and one thread none.
  expect_right(sy_kernel_count, Shape{{1}, {64}}, 64, 3);
  expect_right(sy_kernel_count, Shape{{1}, {1}}, 1, 1);
}

SY_KERNEL(histogram, Params, 256) {
  __shared__ int found[8];
  if (threadIdx.x < 8) found[threadIdx.x] = 0;
  __syncthreads();
  const unsigned k = threadIdx.x * 5 % 8;
  if (p.how == 0) {
    atomicAdd(&found[k], 1);
  } else {
    ++found[k];
  }
  __syncthreads();
  if (threadIdx.x < 8) atomicAdd(p.out + threadIdx.x, found[threadIdx.x]);
}

TEST_F(RaceTest, HistogramsInSharedMemory) {
  const Shape shape{{5}, {128}};
  expect_right(sy_kernel_histogram, shape, 5 * 16);
  expect_race(sy_kernel_histogram, shape, 1, "of the __shared__ variables");
}

// The last block adds up what the others left.
SY_KERNEL(last_block, Params, 64) {
  __shared__ int is_last;
  int* const parts = p.more + 1;
  if (threadIdx.x < 2) {
    parts[2 * blockIdx.x + threadIdx.x] = static_cast<int>(blockIdx.x);
  }
  switch (p.how) {
    case 1: break;  // no fence
    case 2: __threadfence_block(); break;
    case 3:  // only of the first thread, which has not waited for the second
      if (threadIdx.x == 0) __threadfence();
      break;
    default: __threadfence();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    is_last = atomicAdd(p.more, 1) == static_cast<int>(gridDim.x) - 1;
    if (p.how == 4) __threadfence();
  }
  __syncthreads();
  if (!is_last || threadIdx.x != 0) return;
  int sum = 0;
  for (unsigned i = 0; i < 2 * gridDim.x; ++i) {
    sum += p.how == 5 ? __ldg(parts + i) : parts[i];
  }
  p.out[0] = sum;
}

TEST_F(RaceTest, TheLastBlockNeedsFences) {
  const Shape shape{{9}, {64}};
  expect_right(sy_kernel_last_block, shape, 72);
  expect_right(sy_kernel_last_block, shape, 72, 4);
  for (const int how : {1, 2, 3}) expect_race(sy_kernel_last_block, shape, how);
  expect_race(sy_kernel_last_block, shape, 5, "it in the same launch");
}

// The second block waits for the first one's number.
SY_KERNEL(message, Params, 32) {
  if (threadIdx.x != 0) return;
  volatile int* const flag = p.more;
  if (atomicAdd(p.more + 1, 1) == 0) {
    p.out[0] = 5;
    if (p.how != 1) __threadfence();
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    if (p.how != 2) __threadfence();
    p.more[2] = p.out[0];
  }
}

TEST_F(RaceTest, FlagsNeedAFenceOnBothSides) {
  const Shape shape{{2}, {32}};
  expect_right(sy_kernel_message, shape, 5);
  expect_race(sy_kernel_message, shape, 1);
  expect_race(sy_kernel_message, shape, 2);
}

// Shuffles order nothing.
SY_KERNEL(pass, Params, 64) {
  __shared__ int s[64];
  s[threadIdx.x] = static_cast<int>(threadIdx.x);
  if (p.how == 0) __syncwarp();
  if (p.how == 1) __shfl_sync(0xffffffffu, 1, 0);
  if (p.how == 2) {
    __syncwarp(threadIdx.x % 32 < 16 ? 0xffffu : 0xffff0000u);
  }
  p.more[threadIdx.x] = s[threadIdx.x ^ 31];
  if (first_index() == 0) p.out[0] = p.more[0];
}

TEST_F(RaceTest, LanesNeedASyncwarp) {
  const Shape shape{{1}, {64}};
  expect_right(sy_kernel_pass, shape, 31);
  expect_race(sy_kernel_pass, shape, 1);
  expect_race(sy_kernel_pass, shape, 2);
}

SY_KERNEL(neighbours, Params, 256) {
  auto* const bytes = reinterpret_cast<char*>(p.more);
  bytes[first_index() * (p.how == 0 ? 1 : 0) + 1] =
      static_cast<char>(1 + threadIdx.x);
  __syncthreads();
  if (first_index() == 0) p.out[0] = bytes[1];
}

TEST_F(RaceTest, BytesBesideEachOtherAreDifferent) {
  expect_right(sy_kernel_neighbours, Shape{{4}, {256}}, 1);
  expect_race(sy_kernel_neighbours, Shape{{4}, {256}});
}

// Writes of one value may come in any order.
SY_KERNEL(mark, Params, 64) {
  p.out[0] = p.how == 0 ? 3 : static_cast<int>(threadIdx.x);
  if (p.how == 2) p.more[threadIdx.x] = p.out[0];
}

TEST_F(RaceTest, WritesOfOneValueAreNoRace) {
  expect_right(sy_kernel_mark, Shape{{3}, {64}}, 3);
  expect_race(sy_kernel_mark, Shape{{3}, {64}}, 1);
  expect_race(sy_kernel_mark, Shape{{3}, {64}}, 2);
}

template <int kBytes>
__device__ void fill_shared(const Params& p) {
  __shared__ int s[kBytes / 4];
  for (unsigned i = threadIdx.x; i < kBytes / 4; i += blockDim.x) {
    s[i] = static_cast<int>(i);
  }
  __syncthreads();
  if (first_index() == 0) p.out[0] = s[kBytes / 4 - 1];
}
SY_KERNEL(much_shared, Params, 256) { fill_shared<48 << 10>(p); }
SY_KERNEL(more_shared, Params, 256) { fill_shared<50 << 10>(p); }

TEST_F(RaceTest, KernelsHave48KOfSharedVariables) {
  expect_right(sy_kernel_much_shared, Shape{{3}, {256}}, (12 << 10) - 1);
  expect_race(sy_kernel_more_shared, Shape{{3}, {256}}, 0,
              "more than 49152 bytes of __shared__ variables");
}

// Blocks in turn, as a kernel must not assume.
SY_KERNEL(turns, Params, 32) {
  if (threadIdx.x != 0) return;
  while (atomicAdd(p.out, 0) != static_cast<int>(blockIdx.x)) {
  }
  atomicAdd(p.out, 1);
}

TEST(Resident, BlocksThatRunSeeEachOther) {
  std::vector<int> out(1);
  const Params p{{}, 0, out.data(), nullptr};
  // All four run at the same time, whichever begins.
  run_well(sy_kernel_turns, p, {{4}, {32}, 0, 3, BlockOrder::kDescending});
  EXPECT_EQ(out[0], 4);
  out[0] = 0;
  expect_failure(sy_kernel_turns, p, {{9}, {32}, 0, 3, BlockOrder::kDescending},
                 Ending::kFailed, "blocks spin for ever: 4 run");
}

TEST(Resident, ARaceNamesBothThreadsAndTheArgument) {
  std::vector<int> out(4);
  const Params p{{}, 2, out.data(), nullptr};
  expect_failure(sy_kernel_count, p, {{2}, {32}, 0, 0}, Ending::kFailed,
                 "thread (0, 0, 0): race: it reads address 0x");
  expect_failure(sy_kernel_count, p, {{2}, {32}, 0, 0}, Ending::kFailed,
                 "(byte 0 of what byte " +
                     std::to_string(offsetof(Params, out)) +
                     " of the argument points to)");
  expect_failure(sy_kernel_count, p, {{2}, {32}, 0, 0}, Ending::kFailed,
                 "thread (0, 0, 0) of block (0, 0, 0) writes it, and nothing "
                 "orders the two");
}

}  // namespace
