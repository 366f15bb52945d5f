#include <algorithm>
#include <cstddef>
#include <numeric>
#include <set>
#include <thread>

#include "test/backends/cuda/fake/emulator_fixture.h"
// Include this after all others.
#include "kernel.cuh"

namespace {

using fake_cuda::Ending;
using fake_cuda::expect_failure;
using fake_cuda::for_orders;
using fake_cuda::run_well;
using fake_cuda::Shape;

struct IntsParams {
  LaunchHead head;
  int n;
  int* out;
};

SY_KERNEL(places, IntsParams, 1024) {
  const unsigned block =
      (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned thread =
      (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  p.out[block * threads + thread] += static_cast<int>(1 + thread % 32);
}

TEST(Block, EachThreadRunsOnceAtItsPlace) {
  for_orders({{2, 3, 4}, {5, 6, 7}}, [](const Shape& shape) {
    std::vector<int> out(2 * 3 * 4 * 5 * 6 * 7);
    run_well(sy_kernel_places, IntsParams{{}, 0, out.data()}, shape);
    for (size_t i = 0; i < out.size(); ++i) {
      ASSERT_EQ(out[i], static_cast<int>(1 + i % 210 % 32)) << i;
    }
  });
}

SY_KERNEL(order, IntsParams, 1024) {
  p.out[atomicAdd(p.out + p.n, 1)] = static_cast<int>(threadIdx.x);
}

TEST(Block, SeedsShuffleThreads) {
  constexpr int kThreads = 64;
  std::set<std::vector<int>> seen;
  for (const uint64_t seed : {0, 1, 2, 3}) {
    std::vector<int> out(kThreads + 1);
    run_well(sy_kernel_order, IntsParams{{}, kThreads, out.data()},
             Shape{{1}, {kThreads}, 0, seed});
    out.pop_back();
    EXPECT_EQ(std::is_sorted(out.begin(), out.end()), seed == 0);
    seen.insert(out);
    std::sort(out.begin(), out.end());
    for (int i = 0; i < kThreads; ++i) EXPECT_EQ(out[i], i);
  }
  EXPECT_EQ(seen.size(), 4u);
}

template <bool with_barrier>
__device__ void reverse(const IntsParams& p) {
  __shared__ int s[256];
  s[threadIdx.x] = static_cast<int>(threadIdx.x) + p.n;
  if (with_barrier) __syncthreads();
  p.out[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
SY_KERNEL(reverse_well, IntsParams, 256) { reverse<true>(p); }
SY_KERNEL(reverse_badly, IntsParams, 256) { reverse<false>(p); }

int wrong_after(sy_on_host::Kernel kernel, uint64_t seed) {
  std::vector<int> out(256, -1);
  run_well(kernel, IntsParams{{}, 0, out.data()}, Shape{{1}, {256}, 0, seed});
  int wrong = 0;
  for (int i = 0; i < 256; ++i) wrong += out[i] != 255 - i;
  return wrong;
}

TEST(Block, AMissingBarrierIsARace) {
  std::vector<int> out(256);
  for (const uint64_t seed : {0, 1, 2, 3}) {
    EXPECT_EQ(wrong_after(sy_kernel_reverse_well, seed), 0);
    expect_failure(sy_kernel_reverse_badly, IntsParams{{}, 256, out.data()},
                   Shape{{1}, {256}, 0, seed}, Ending::kFailed, "race: it ");
  }
}

// The order of threads is another one if accesses are not checked.
TEST(Block, AMissingBarrierChangesTheResult) {
  std::vector<int> out(256, -1);
  fake_cuda::Grid grid =
      fake_cuda::grid_of(sy_kernel_reverse_badly, Shape{{1}, {256}, 0, 1});
  unsigned long long started = 0;
  // The variable holds what the kernel has left before.
  IntsParams p{{}, 1000, out.data()};
  p.head.started = &started;
  grid.params = &p;
  grid.most_checked = 0;
  ASSERT_EQ(fake_cuda::run_grid(grid).ending, Ending::kDone);
  int wrong = 0;
  for (int i = 0; i < 256; ++i) wrong += out[i] != 1255 - i;
  EXPECT_GT(wrong, 64);
}

template <bool with_second_barrier>
__device__ void rotate(const IntsParams& p) {
  __shared__ int s[64];
  int v = static_cast<int>(threadIdx.x);
  for (int i = 0; i < p.n; ++i) {
    s[threadIdx.x] = v;
    __syncthreads();
    v = s[(threadIdx.x + 1) % 64];
    if (with_second_barrier) __syncthreads();
  }
  p.out[threadIdx.x] = v;
}
SY_KERNEL(rotate_well, IntsParams, 64) { rotate<true>(p); }
SY_KERNEL(rotate_badly, IntsParams, 64) { rotate<false>(p); }

TEST(Block, AMissingBarrierBeforeWritingAgainIsARace) {
  std::vector<int> out(64);
  const auto wrong = [&] {
    int n = 0;
    for (int i = 0; i < 64; ++i) n += out[i] != (i + 5) % 64;
    return n;
  };
  for (const uint64_t seed : {0, 1, 2, 3}) {
    run_well(sy_kernel_rotate_well, IntsParams{{}, 5, out.data()},
             Shape{{1}, {64}, 0, seed});
    EXPECT_EQ(wrong(), 0) << seed;
  }
  for (const uint64_t seed : {0, 1, 2, 3}) {
    expect_failure(sy_kernel_rotate_badly, IntsParams{{}, 5, out.data()},
                   Shape{{1}, {64}, 0, seed}, Ending::kFailed, "race: it ");
  }
}

SY_KERNEL(some_leave, IntsParams, 1024) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (static_cast<int>(threadIdx.x) >= p.n) return;
  atomicAdd(&count, 1);
  __syncthreads();
  p.out[128 * blockIdx.x + threadIdx.x] = count;
}

TEST(Block, ThreadsThatEndedHoldNoBarrierUp) {
  for (const int stay : {1, 31, 32, 33, 100}) {
    std::vector<int> out(2 * 128);
    run_well(sy_kernel_some_leave, IntsParams{{}, stay, out.data()},
             Shape{{2}, {128}});
    for (int i = 0; i < stay; ++i) {
      EXPECT_EQ(out[i], stay);
      EXPECT_EQ(out[128 + i], stay);
    }
  }
}

SY_KERNEL(barriers_with_results, IntsParams, 1024) {
  const int i = static_cast<int>(threadIdx.x);
  int* const out = p.out + 4 * i;
  out[0] = __syncthreads_count(i % 3 == 0);
  out[1] = __syncthreads_and(i < p.n);
  out[2] = __syncthreads_or(i == p.n);
  out[3] = __syncthreads_and(i < p.n - 1);
}

TEST(Block, BarriersCombinePredicates) {
  std::vector<int> out(4 * 70);
  run_well(sy_kernel_barriers_with_results, IntsParams{{}, 70, out.data()},
           Shape{{1}, {70}});
  for (int i = 0; i < 70; ++i) {
    EXPECT_EQ(out[4 * i], 24);
    EXPECT_EQ(out[4 * i + 1], 1);
    EXPECT_EQ(out[4 * i + 2], 0);
    EXPECT_EQ(out[4 * i + 3], 0);
  }
}

SY_KERNEL(dynamic, IntsParams, 1024) {
  int* const s = reinterpret_cast<int*>(dynamic_shared());
  atomicOr(p.out + 2 * blockIdx.x, s[threadIdx.x] == 0);
  atomicOr(p.out + 2 * blockIdx.x, reinterpret_cast<uintptr_t>(s) % 16 != 0);
  __syncthreads();
  s[threadIdx.x] = static_cast<int>(blockIdx.x);
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 0; i < p.n; ++i) p.out[2 * blockIdx.x + 1] += s[i];
  }
}

TEST(Block, DynamicSharedMemoryIsJunkAtFirstAndTheBlocksOwn) {
  std::vector<int> out(10);
  run_well(sy_kernel_dynamic, IntsParams{{}, 96, out.data()},
           Shape{{5}, {96}, 96 * sizeof(int)});
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(out[2 * i], 0);
    EXPECT_EQ(out[2 * i + 1], 96 * i);
  }
}

SY_KERNEL(divergent, IntsParams, 1024) {
  if (static_cast<int>(threadIdx.x) < p.n) {
    __syncthreads();
  } else {
    __syncwarp();
    __syncthreads();
  }
  p.out[threadIdx.x] = 1;
}

TEST(Block, ThreadsThatWaitForEverAreReported) {
  std::vector<int> out(64);
  // Whole warps go each way: fine.
  run_well(sy_kernel_divergent, IntsParams{{}, 32, out.data()},
           Shape{{1}, {64}});
  EXPECT_EQ(std::accumulate(out.begin(), out.end(), 0), 64);
  expect_failure(sy_kernel_divergent, IntsParams{{}, 40, out.data()},
                 Shape{{1}, {64}}, Ending::kFailed,
                 "threads wait for each other for ever: 40 of 64 at "
                 "__syncthreads; lanes 0xffffff00 of warp 1 at __syncwarp with "
                 "the mask 0xffffffff");
  // The next launch is as good as new.
  EXPECT_EQ(wrong_after(sy_kernel_reverse_well, 1), 0);
}

SY_KERNEL(two_forms, IntsParams, 1024) {
  if (threadIdx.x % 2 == 0) {
    __syncthreads();
  } else {
    p.out[threadIdx.x] = __syncthreads_or(1);
  }
}

TEST(Block, DifferentFormsOfABarrierDoNotMeet) {
  std::vector<int> out(64);
  expect_failure(sy_kernel_two_forms, IntsParams{{}, 0, out.data()},
                 Shape{{1}, {64}}, Ending::kFailed,
                 "waits at another form of __syncthreads");
}

// Mistakes that a sanitizer would report first.
__attribute__((no_sanitize("undefined"))) void go_wrong(int how, int* out) {
  switch (how) {
    case 0: *reinterpret_cast<volatile int*>(64) = 1; break;
    case 1: __trap();
    case 2: out[1] = 1000 / *static_cast<volatile int*>(out); break;
  }
}

SY_KERNEL(fault, IntsParams, 1024) {
  __syncthreads();
  if (blockIdx.x == 1 && threadIdx.x == 9) go_wrong(p.n, p.out);
  __syncthreads();
}

TEST(Block, FaultsEndTheLaunchAndNameTheThread) {
  const Shape shape{{3}, {64}};
  expect_failure(sy_kernel_fault, IntsParams{{}, 0, nullptr}, shape,
                 Ending::kIllegalAddress,
                 "block (1, 0, 0), thread (9, 0, 0): access to address 0x40");
  expect_failure(sy_kernel_fault, IntsParams{{}, 1, nullptr}, shape,
                 Ending::kFailed, "thread (9, 0, 0): __trap()");
  std::vector<int> zeros(2);
  expect_failure(sy_kernel_fault, IntsParams{{}, 2, zeros.data()}, shape,
                 Ending::kFailed, "thread (9, 0, 0)");
  EXPECT_EQ(wrong_after(sy_kernel_reverse_well, 1), 0);
}

SY_KERNEL(spin, IntsParams, 1024) {
  // The threads before wait for those after, and blocks for the block before.
  if (threadIdx.x + 1 < blockDim.x) {
    while (atomicAdd(p.out + threadIdx.x + 1, 0) <=
           static_cast<int>(blockIdx.x)) {
    }
  }
  __threadfence();
  atomicAdd(p.out + threadIdx.x, 1);
}

TEST(Block, ThreadsThatSpinLetOthersRun) {
  for (const uint64_t seed : {0, 1, 2}) {
    std::vector<int> out(100);
    run_well(sy_kernel_spin, IntsParams{{}, 0, out.data()},
             Shape{{3}, {100}, 0, seed});
    EXPECT_EQ(out, std::vector<int>(100, 3));
  }
}

TEST(Block, LaunchesRunAtTheSameTime) {
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < 50; ++i) {
        wrong[t] += wrong_after(sy_kernel_reverse_well, i);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, std::vector<int>(4));
}

}  // namespace
