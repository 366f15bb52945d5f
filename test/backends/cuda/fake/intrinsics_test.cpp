#include <cfloat>
#include <climits>
#include <cmath>
#include <cstddef>

#include "test/backends/cuda/fake/emulator_fixture.h"
// Include this after all others.
#include "kernel.cuh"

namespace {

using fake_cuda::run_well;
using fake_cuda::Shape;

TEST(Intrinsics, BitsOfIntegers) {
  EXPECT_EQ(__popc(0xf0f0u), 8);
  EXPECT_EQ(__popcll(~0ull), 64);
  EXPECT_EQ(__ffs(0), 0);
  EXPECT_EQ(__ffs(0x10), 5);
  EXPECT_EQ(__ffsll(1ll << 40), 41);
  EXPECT_EQ(__clz(0), 32);
  EXPECT_EQ(__clz(1), 31);
  EXPECT_EQ(__clz(-1), 0);
  EXPECT_EQ(__clzll(0), 64);
  EXPECT_EQ(__clzll(1ll << 40), 23);
  EXPECT_EQ(__brev(1), 0x80000000u);
  EXPECT_EQ(__brev(0x12345678u), 0x1e6a2c48u);
  EXPECT_EQ(__brevll(2), 1ull << 62);
  EXPECT_EQ(__byte_perm(0x33221100, 0x77665544, 0x7250), 0x77225500u);
  EXPECT_EQ(__byte_perm(0x80, 0, 0x1118), 0x000000ffu);
  EXPECT_EQ(__funnelshift_l(0x80000000u, 1, 1), 3u);
  EXPECT_EQ(__funnelshift_r(0x80000000u, 1, 31), 3u);
}

TEST(Intrinsics, HighHalvesOfProducts) {
  EXPECT_EQ(__umulhi(~0u, ~0u), ~0u - 1);
  EXPECT_EQ(__mulhi(-1, 1), -1);
  EXPECT_EQ(__umul64hi(~0ull, ~0ull), ~0ull - 1);
  EXPECT_EQ(__mul64hi(-1, 1), -1);
  EXPECT_EQ(__umul64hi(1ull << 40, 1ull << 40), 1ull << 16);
}

TEST(Intrinsics, BitsOfFloats) {
  EXPECT_EQ(__float_as_int(-0.f), INT_MIN);
  EXPECT_EQ(__uint_as_float(0x3f800000u), 1.f);
  EXPECT_EQ(__double_as_longlong(1.), 0x3ff0000000000000ll);
  EXPECT_EQ(__hiloint2double(0x40080000, 0), 3.);
  EXPECT_EQ(__double2hiint(3.), 0x40080000);
}

TEST(Intrinsics, FloatsToIntegersAreClamped) {
  EXPECT_EQ(__float2int_rz(-1.5f), -1);
  EXPECT_EQ(__float2int_rn(2.5f), 2);
  EXPECT_EQ(__float2int_rd(-1.5f), -2);
  EXPECT_EQ(__float2int_ru(1.5f), 2);
  EXPECT_EQ(__float2int_rz(1e20f), INT_MAX);
  EXPECT_EQ(__float2int_rz(-1e20f), INT_MIN);
  EXPECT_EQ(__float2int_rz(NAN), 0);
  EXPECT_EQ(__float2uint_rz(-5.f), 0u);
  EXPECT_EQ(__double2ll_rz(1e30), LLONG_MAX);
  EXPECT_EQ(__double2ll_rz(NAN), LLONG_MIN);
  EXPECT_EQ(__double2ull_rn(18446744073709551615.), ULLONG_MAX);
}

TEST(Intrinsics, OneRoundingOrTwo) {
  const float a = 1 + FLT_EPSILON;
  EXPECT_EQ(__fmaf_rn(a, a, -1), 2 * FLT_EPSILON + FLT_EPSILON * FLT_EPSILON);
  EXPECT_EQ(__fadd_rn(__fmul_rn(a, a), -1.f), 2 * FLT_EPSILON);
  EXPECT_EQ(__fma_rn(3., 4., 5.), 17.);
}

TEST(Intrinsics, MinAndMaxTakeTheNumber) {
  EXPECT_EQ(min(NAN, 1.f), 1.f);
  EXPECT_EQ(max(1., NAN), 1.);
  EXPECT_EQ(max(3, 4), 4);
  EXPECT_EQ(min(-1, 1u), 1u);
  EXPECT_EQ(max(-1ll, 1ll), 1);
}

TEST(Intrinsics, VectorsAreAligned) {
  EXPECT_EQ(alignof(float4), 16u);
  EXPECT_EQ(alignof(uint2), 8u);
  EXPECT_EQ(sizeof(uchar3), 3u);
  EXPECT_EQ(alignof(ulonglong2), 16u);
  const int4 v = make_int4(1, 2, 3, 4);
  EXPECT_EQ(v.w, 4);
}

// __ldg belongs into a kernel: it asks whether the launch has written there.
struct ConstantParams {
  LaunchHead head;
  const int4* from;
  int* out;
};

SY_KERNEL(constants, ConstantParams, 32) {
  p.out[threadIdx.x] = __ldg(p.from + threadIdx.x).y;
}

TEST(Intrinsics, ConstantsAreReadWhole) {
  const std::vector<int4> from = {make_int4(1, 2, 3, 4), make_int4(5, 6, 7, 8)};
  std::vector<int> out(2);
  run_well(sy_kernel_constants, ConstantParams{{}, from.data(), out.data()},
           Shape{{1}, {2}});
  EXPECT_EQ(out, (std::vector<int>{2, 6}));
}

struct AtomicParams {
  LaunchHead head;
  int* ints;
  unsigned* unsigneds;
  unsigned long long* longs;
};

SY_KERNEL(atomics, AtomicParams, 256) {
  __shared__ unsigned long long local;
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const int v = static_cast<int>(i);
  if (threadIdx.x == 0) local = 0;
  __syncthreads();
  atomicAdd(&local, 1ull);
  atomicAdd(p.ints, v);
  atomicMin(p.ints + 1, 100 - v);
  atomicMax(p.ints + 2, v - 100);
  atomicSub(p.ints + 3, 1);
  atomicOr(p.unsigneds, 1u << i % 32);
  atomicAnd(p.unsigneds + 1, ~(1u << i % 16));
  atomicXor(p.unsigneds + 2, i);
  atomicInc(p.unsigneds + 3, 99);
  atomicMax(p.longs, static_cast<unsigned long long>(i) << 33);
  // A lock-free sum of doubles' bits, as kernels write one.
  unsigned long long seen =
                         *const_cast<volatile unsigned long long*>(p.longs + 1),
                     expected;
  do {
    expected = seen;
    seen = atomicCAS(p.longs + 1, expected, expected + 2);
  } while (seen != expected);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd_system(p.longs + 2, local);
  atomicExch(p.unsigneds + 4, 7u);
}

TEST(Intrinsics, Atomics) {
  std::vector<int> ints(4);
  std::vector<unsigned> unsigneds = {0, ~0u, 0, 0, 0};
  std::vector<unsigned long long> longs(3);
  run_well(sy_kernel_atomics,
           AtomicParams{{}, ints.data(), unsigneds.data(), longs.data()},
           Shape{{4}, {250}});
  EXPECT_EQ(ints, (std::vector<int>{999 * 500, 100 - 999, 899, -1000}));
  unsigned x = 0;
  for (unsigned i = 0; i < 1000; ++i) x ^= i;
  EXPECT_EQ(unsigneds, (std::vector<unsigned>{~0u, 0xffff0000u, x, 0, 7}));
  EXPECT_EQ(longs, (std::vector<unsigned long long>{999ull << 33, 2000, 1000}));
}

struct HeadParams {
  LaunchHead head;
  ErrorSlot* slot;
};

SY_KERNEL(reports, HeadParams, 64) {
  LaunchHead head = p.head;
  head.errors = p.slot;
  report(head, Fault::kIndex, 2, static_cast<int>(threadIdx.x), 64);
}

TEST(Intrinsics, TheFirstReportStays) {
  ErrorSlot slot{};
  run_well(sy_kernel_reports, HeadParams{{}, &slot}, Shape{{2}, {64}});
  EXPECT_EQ(slot.code, 1);
  EXPECT_EQ(slot.argument, 2);
  EXPECT_EQ(slot.ticket, 41u);
  EXPECT_EQ(slot.bound, 64);
  EXPECT_LT(slot.value, 64);
}

}  // namespace
