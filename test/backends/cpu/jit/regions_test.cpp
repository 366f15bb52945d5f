#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "aten/operators.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/view.h"
#include "backends/cpu/jit/kernels.h"
#include "backends/cpu/jit/store.h"
#include "c10/process/parallel.h"
#include "test/backends/cpu/region/trace.h"

// Regions that reduce give the same bits, whether their stages are compiled or
// interpreted.

namespace sy {
namespace {

Tensor numbers(IntArrayRef sizes, ScalarType dtype) {
  static std::mt19937 random(11);
  Tensor t(make_tensor(sizes, kFloat, Device(kCPU)));
  std::uniform_real_distribution<float> draw(-3, 3);
  auto* const p = static_cast<float*>(t.data_ptr());
  for (int64_t i = 0; i < t.numel(); ++i) p[i] = draw(random);
  return t.to(dtype);
}

Scalar one() { return Scalar(int64_t{1}); }

void add_softmax(RegionTrace& t, const Traced& x, std::vector<int64_t> dims) {
  const Traced m = t.reduce("amax", x, dims);
  const Traced e = t.call("exp", {t.call("sub.Tensor", {x, m}, {one()})});
  t.output(t.call("div.Tensor", {e, t.reduce("sum.dim_IntList", e, dims)}));
}

void add_norm(RegionTrace& t, const Traced& x, std::vector<int64_t> dims) {
  const Traced mean = t.reduce("mean.dim", x, dims);
  const Traced d = t.call("sub.Tensor", {x, mean}, {one()});
  const Traced var = t.reduce("mean.dim", t.call("square", {d}), dims);
  const Traced r = t.call(
      "rsqrt", {t.call("add.Scalar", {var}, {Scalar(1e-5), Scalar(1.0)})});
  t.output(t.call("mul.Tensor", {d, r}));
  t.output(r);
}

void add_loss(RegionTrace& t, const Traced& x, std::vector<int64_t> dims) {
  const Traced m = t.reduce("amax", x, dims);
  const Traced d = t.call("sub.Tensor", {x, m}, {one()});
  const Traced s =
      t.call("log", {t.reduce("sum.dim_IntList", t.call("exp", {d}), dims)});
  const Traced p = t.call("sub.Tensor", {d, s}, {one()});
  t.output(t.reduce("sum.dim_IntList", t.call("mul.Tensor", {x, p}), dims));
}

std::vector<std::vector<char>> bytes_of(RegionTrace& t, cpu::jit::Mode mode) {
  cpu::jit::set_mode(mode);
  std::vector<std::vector<char>> out;
  for (const Tensor& r : t.run()) {
    const auto* const at = static_cast<const char*>(r.const_data_ptr());
    out.emplace_back(at, at + r.nbytes());
  }
  return out;
}

class Regions : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cpu::jit::why_no_compiler(), "");
    cpu::jit::set_store("");
  }
  void TearDown() override {
    set_num_threads(1);
    cpu::jit::set_mode(cpu::jit::Mode::kBackground);
  }

  static void expect_same(RegionTrace& t, const std::string& what) {
    const auto want = bytes_of(t, cpu::jit::Mode::kOff);
    const int64_t before = cpu::jit::counters().runs;
    bytes_of(t, cpu::jit::Mode::kWait);
    for (const int threads : {1, 3}) {
      set_num_threads(threads);
      ASSERT_TRUE(bytes_of(t, cpu::jit::Mode::kWait) == want) << what;
    }
    EXPECT_GT(cpu::jit::counters().runs, before) << what;
  }
};

using Add = void (*)(RegionTrace&, const Traced&, std::vector<int64_t>);

TEST_F(Regions, OfRowsAndColumns) {
  const std::vector<std::vector<int64_t>> all = {
      {300, 64}, {70, 1000}, {40, 1001}, {130, 4099}, {2, 300000}};
  for (const Add add : {&add_softmax, &add_norm, &add_loss}) {
    for (const ScalarType dtype : {kFloat, kDouble, kBFloat16, kHalf}) {
      for (const auto& sizes : all) {
        for (const int64_t dim : {int64_t{1}, int64_t{0}}) {
          RegionTrace t(sizes);
          add(t, t.input(numbers(sizes, dtype)), {dim});
          expect_same(t,
                      str("{} of {}, dim {}", dtype, IntArrayRef(sizes), dim));
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// A result in the memory of an input, and a vector that all rows read.
TEST_F(Regions, InPlaceWithAVector) {
  const std::vector<int64_t> sizes = {90, 700};
  RegionTrace t(sizes);
  const Traced x = t.input(numbers(sizes, kFloat));
  const Traced w = t.input(numbers({700}, kFloat));
  const Traced sum = t.reduce("sum.dim_IntList", x, {1});
  const Traced y = t.call("mul.Tensor", {x, w});
  t.output(t.call("tanh", {t.call("sub.Tensor", {y, sum}, {one()})}));
  expect_same(t, "tanh(x * w - sum)");
}

// Rows with gaps between their elements are interpreted.
TEST_F(Regions, OtherStrides) {
  const std::vector<int64_t> sizes = {90, 700};
  RegionTrace t(sizes);
  const Traced x = t.input(numbers({90, 1400}, kFloat).slice(1, 0, 1400, 2));
  add_softmax(t, x, {1});
  expect_same(t, "softmax of every other element");
}

}  // namespace
}  // namespace sy
