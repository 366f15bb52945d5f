#include "backends/cuda/engine/pointwise_kernels.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "backends/cuda/engine/interpret.h"
#include "backends/cuda/runtime/context.h"
#include "test/c10/with_environment.h"

// The table of kernels: which calls share one.

namespace sy::cuda {
namespace {

using lang::Prim;
using print::IndexClass;
using print::PointwiseKernel;

// Programs that differ in one register.
struct Made {
  program::Step step;
  program::Result result{2, false};
  program::Program program;
  ScalarType dtypes[3] = {kFloat, kFloat, kFloat};

  explicit Made(Prim op, int a = 0, int b = 1)
      : step{op, 2, static_cast<uint8_t>(a), static_cast<uint8_t>(b)} {
    program.steps = &step;
    program.results = &result;
    program.n_steps = 1;
    program.n_registers = 3;
    program.n_inputs = 2;
  }
  PointwiseKernel kernel() const {
    PointwiseKernel k;
    k.program = &program;
    k.dtypes = dtypes;
    return k;
  }
};

TEST(PointwiseKernels, equal_programs_share_one_wherever_they_stand) {
  const Made one(Prim::hypot), other(Prim::hypot);
  const PointwiseKernel k = one.kernel();
  EXPECT_EQ(find_pointwise_entry(k, 0), nullptr);
  const PointwiseEntry& made = pointwise_entry(k, 0, "hypot");
  EXPECT_EQ(&pointwise_entry(other.kernel(), 0, "another"), &made);
  EXPECT_EQ(find_pointwise_entry(other.kernel(), 0), &made);
  EXPECT_EQ(made.label(), "hypot of float32");
  // The program may go.
  const PointwiseEntry* kept;
  {
    const Made gone(Prim::copysign);
    kept = &pointwise_entry(gone.kernel(), 0, "copysign");
  }
  EXPECT_NE(kept->text("k").find("f32::copysign(i0, i1)"), std::string::npos);
}

TEST(PointwiseKernels, everything_that_is_printed_tells_them_apart) {
  std::set<const PointwiseEntry*> all;
  const auto add = [&](const PointwiseKernel& k, int device = 0) {
    const PointwiseEntry* const e = &pointwise_entry(k, device, "op");
    EXPECT_TRUE(all.insert(e).second);
    EXPECT_EQ(&pointwise_entry(k, device, "op"), e);
  };
  const Made base(Prim::atan2);
  add(base.kernel());
  add(base.kernel(), 1);
  add(Made(Prim::atan2, 1, 0).kernel());
  Made bools(Prim::atan2);
  bools.program.bool_inputs = 1;
  add(bools.kernel());
  Made result(Prim::atan2);
  result.result.reg = 0;
  add(result.kernel());
  Made half(Prim::atan2);
  half.dtypes[1] = kHalf;
  add(half.kernel());
  PointwiseKernel k = base.kernel();
  k.type = program::ComputeType::f64;
  add(k);
  for (const uint64_t bit : {1, 2}) {
    k = base.kernel();
    k.single = bit;
    add(k);
    k = base.kernel();
    k.immediate = bit;
    add(k);
    k = base.kernel();
    k.index = IndexClass::kTransposed;
    k.transposed = bit;
    add(k);
  }
  for (const int rank : {1, 2, 3, 5}) {
    k = base.kernel();
    k.index = IndexClass::kStrided;
    k.rank = static_cast<uint8_t>(rank);
    add(k);
    k.packs = true;
    add(k);
  }
  k = base.kernel();
  k.index = IndexClass::kWide;
  add(k);
}

// The table grows while others read it.
TEST(PointwiseKernels, threads_find_what_others_add) {
  constexpr int kThreads = 4, kEach = 3000;
  std::vector<const PointwiseEntry*> found[kThreads];
  std::vector<std::thread> threads;
  for (auto& mine : found) {
    threads.emplace_back([&mine] {
      for (int i = 0; i < kEach; ++i) {
        Made made(Prim::xlogy);
        made.program.bool_uniforms = static_cast<uint64_t>(i);
        mine.push_back(&pointwise_entry(made.kernel(), 0, "xlogy"));
      }
    });
  }
  for (std::thread& t : threads) t.join();
  for (const auto& mine : found) EXPECT_EQ(mine, found[0]);
  EXPECT_EQ(
      std::set<const PointwiseEntry*>(found[0].begin(), found[0].end()).size(),
      static_cast<size_t>(kEach));
}

// An interpreter that the disk has is loaded once, whoever looks first.
TEST(CudaInterpreter, AKeptOneRunsOnADeviceThatWasAskedForItBefore) {
  if (!with_environment("FAKE_CUDA_DEVICES", "2")) return;
  if (device_count() < 2) GTEST_SKIP() << "this takes two devices";
  const auto type = program::ComputeType::i16;
  EXPECT_NE(interpreter(0, type, false).handle, nullptr);
  EXPECT_TRUE(has_interpreter(1, type, false));
  EXPECT_NE(interpreter(1, type, false).handle, nullptr);
}

}  // namespace
}  // namespace sy::cuda
