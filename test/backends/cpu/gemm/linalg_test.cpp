#include "aten/ops/linalg.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cmath>
#include <limits>
#include <string>

#include "aten/from_blob.h"
#include "aten/operators.h"
#include "aten/ops/factory.h"
#include "aten/ops/view.h"
#include "backends/cpu/support/cpu_features.h"
#include "backends/cpu/tiles/kernels.h"
#include "c10/dispatch/trace.h"

// Products by which code of the CPU computes them.

namespace sy {
namespace {

TEST(Matmul, ATraceTellsWhoComputesIt) {
  const auto traced = [](const Tensor& a) {
    ::testing::internal::CaptureStderr();
    {
      const Trace trace("dispatch");
      mm(a, a);
    }
    return ::testing::internal::GetCapturedStderr();
  };
  const std::string large = traced(ones({256, 256}));
  EXPECT_NE(large.find("| product of matrices by oneDNN; not oneDNN with a "
                       "packed weight: 256 rows"),
            large.npos)
      << large;
  ::testing::internal::CaptureStderr();
  {
    const Trace trace("dispatch");
    mm(ones({1, 2048}), ones({2048, 2048}).t());
    mv(ones({2048, 2048}), ones({2048}));
  }
  const std::string vector = ::testing::internal::GetCapturedStderr();
  const std::string_view by = "by gemm; not oneDNN: rows by a vector\n";
  EXPECT_NE(vector.find(by), vector.rfind(by)) << vector;
  const std::string small = traced(ones({4, 4}));
  EXPECT_NE(small.find("| product of matrices by gemm; not oneDNN: 64 "
                       "multiplications, fewer than "),
            small.npos)
      << small;
  const std::string pairs = traced(ones({256, 256}, kBFloat16));
  EXPECT_NE(pairs.find(cpu::has_bf16_products() && !cpu::has_bf16_tiles()
                           ? "by gemm of pairs; not oneDNN: no AMX_BF16"
                           : "by oneDNN"),
            pairs.npos)
      << pairs;
  const std::string whole = traced(ones({2, 2}, kLong));
  EXPECT_NE(whole.find("by loops; not oneDNN: dtype int64\n"), whole.npos)
      << whole;
}

TEST(Matmul, InfinitiesOfHalfOnEveryMachine) {
  const double inf = std::numeric_limits<double>::infinity();
  Tensor rows = ones({3, 37}, kHalf);
  rows[0].fill_(inf);
  rows[1].fill_(std::numeric_limits<double>::quiet_NaN());
  const Tensor vector = ones({37}, kHalf);
  const cpu::tiles::Isa before = cpu::tiles::active_isa();
  for (const auto isa : {cpu::tiles::Isa::sse4, cpu::tiles::Isa::avx2,
                         cpu::tiles::Isa::avx512}) {
    if (!cpu::tiles::set_isa(isa)) continue;
    const Tensor got = linear(vector, rows);
    EXPECT_EQ(got[0].item<double>(), inf) << static_cast<int>(isa);
    EXPECT_TRUE(std::isnan(got[1].item<double>())) << static_cast<int>(isa);
    EXPECT_EQ(got[2].item<double>(), 37) << static_cast<int>(isa);
  }
  cpu::tiles::set_isa(before);
}

// Nobody may read the memory that lies behind the weight.
TEST(Matmul, ReadsNothingBehindAWeightOfHalf) {
  constexpr size_t kPage = 4096;
  void* const pages = mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  char* const end = static_cast<char*>(pages) + kPage;
  ASSERT_EQ(mprotect(end, kPage, PROT_NONE), 0);
  const cpu::tiles::Isa before = cpu::tiles::active_isa();
  for (const auto isa : {cpu::tiles::Isa::sse4, cpu::tiles::Isa::avx2,
                         cpu::tiles::Isa::avx512}) {
    if (!cpu::tiles::set_isa(isa)) continue;
    for (const int64_t depth : {1, 5, 11, 19}) {
      const Tensor weight = from_blob(end - depth * 2, {1, depth}, kHalf);
      weight.fill_(1);
      EXPECT_EQ(linear(ones({depth}, kHalf), weight).item<double>(), depth);
    }
  }
  cpu::tiles::set_isa(before);
  munmap(pages, 2 * kPage);
}

}  // namespace
}  // namespace sy
