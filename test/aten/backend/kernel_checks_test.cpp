#include "aten/backend/kernel_checks.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <thread>

#include "aten/ops/all.h"
#include "aten/tensor_new.h"
#include "c10/dispatch/trace.h"
#include "c10/plugin/library.h"
#include "test/c10/expect_error.h"

// Kernels of a plugin that break what their operator promises.

namespace sy {
namespace {

class HostMemory final : public DeviceInterface {
 public:
  Allocator& allocator(int) override { return cpu_allocator(); }
  void copy_from_host(void* d, const void* s, size_t n, int) override {
    std::memcpy(d, s, n);
  }
  void copy_to_host(void* d, const void* s, size_t n, int) override {
    std::memcpy(d, s, n);
  }
  void copy_on_device(void* d, const void* s, size_t n, int) override {
    std::memcpy(d, s, n);
  }
};

HostMemory memory;
bool broken = false;

Tensor make(IntArrayRef sizes, ScalarType dtype = kFloat,
            Device device = Device("liar")) {
  return Tensor(make_tensor(sizes, dtype, device));
}

Tensor relu(const Tensor& a) {  // a wrong shape
  return broken ? make({7}) : make(a.sizes());
}
Tensor neg(const Tensor& a) {  // a wrong dtype
  return make(a.sizes(), broken ? kDouble : kFloat);
}
Tensor exp(const Tensor& a) {  // a wrong device
  return make(a.sizes(), kFloat, broken ? Device(kCPU) : a.device());
}
Tensor mm(const Tensor& a, const Tensor& b) {  // writes an input
  if (broken) *static_cast<char*>(b.data_ptr()) ^= 1;
  return make({a.sizes()[0], b.sizes()[1]});
}
Tensor& zero_(Tensor& a) {  // writes what it may
  std::memset(a.data_ptr(), 0, a.numel() * sizeof(float));
  return a;
}
// Writes what its signature, PyTorch's, does not say.
Tensor copy_from(const Tensor& self, const Tensor& dst, bool) {
  std::memcpy(dst.data_ptr(), self.data_ptr(), dst.numel() * sizeof(float));
  return dst;
}
std::tuple<Tensor, Tensor> sort(const Tensor& a, int64_t, bool) {
  return {make(a.sizes()), make(a.sizes(), broken ? kInt : kLong)};
}

Tensor abs(const Tensor& a) {  // memory of an argument
  return broken ? a : make(a.sizes());
}
Tensor t(const Tensor& a) {  // a view that is none, or has other strides
  if (broken) return make({a.sizes()[1], a.sizes()[0]});
  return Tensor(a.impl()->alias({a.sizes()[1], a.sizes()[0]},
                                {a.strides()[1], a.strides()[0]}, 0));
}
Tensor& mm_into(const Tensor&, const Tensor&, Tensor& out) {  // another tensor
  static Tensor other;
  return broken ? other = make(out.sizes()) : out;
}
Tensor& exp_into(const Tensor&, Tensor& out) {  // other strides
  if (broken) out.impl()->set_sizes_and_strides(out.sizes(), {1, 2}, 0);
  return out;
}
Tensor& neg_into(const Tensor&, Tensor& out) {  // other memory
  if (broken) out.impl()->set_storage(make(out.sizes()).storage());
  return out;
}
Tensor strided(IntArrayRef sizes, IntArrayRef, std::optional<ScalarType>,
               std::optional<Layout>, std::optional<Device>,
               std::optional<bool>) {  // the strides that it likes
  return make(sizes);
}

SY_BACKEND(Liar, m) { m.device("liar", &memory); }
SY_LIBRARY_IMPL(aten, Liar, m) {
  m.impl("relu", SY_FN(relu));
  m.impl("neg", SY_FN(neg));
  m.impl("exp", SY_FN(exp));
  m.impl("mm", SY_FN(mm));
  m.impl("zero_", SY_FN(zero_));
  m.impl("_copy_from", SY_FN(copy_from));
  m.impl("sort", SY_FN(sort));
  m.impl("abs", SY_FN(abs));
  m.impl("t", SY_FN(t));
  m.impl("mm.out", SY_FN(mm_into));
  m.impl("exp.out", SY_FN(exp_into));
  m.impl("neg.out", SY_FN(neg_into));
  m.impl("empty_strided", SY_FN(strided));
}

struct KernelChecksTest : testing::Test {
  ~KernelChecksTest() override { broken = false; }
  Tensor a = (init(), make({2, 2}));
};

TEST_F(KernelChecksTest, ACopyWritesItsTarget) {
  const Tensor b = make({2, 2});
  std::memset(a.data_ptr(), 0, 16);
  std::memset(b.data_ptr(), 1, 16);
  const KernelChecks checks;
  a.copy_(b);
  EXPECT_EQ(std::memcmp(a.data_ptr(), b.data_ptr(), 16), 0);
}

TEST_F(KernelChecksTest, EveryBrokenPromiseIsNamed) {
  broken = true;
  const KernelChecks checks;
  SY_EXPECT_ERROR(a.relu(), Error,
                  "result: expected float32[2, 2], got float32[7]");
  SY_EXPECT_ERROR(a.relu(), Error, "[aten::relu] Liar kernel of ");
  SY_EXPECT_ERROR(a.relu(), Error, "kernel_checks_test.cpp:");
  SY_EXPECT_ERROR(a.neg(), Error,
                  "result: expected float32[2, 2], got float64[2, 2]");
  SY_EXPECT_ERROR(a.exp(), Error, "result: expected on liar:0, got on cpu");
  SY_EXPECT_ERROR(sy::mm(a, make({2, 2})), Error,
                  "argument mat2: expected to be left as it was, got other "
                  "contents");
  SY_EXPECT_ERROR(sy::sort(a), Error,
                  "result 1: expected int64[2, 2], got int32[2, 2]");
}

TEST_F(KernelChecksTest, MemoryAndStridesArePromisedToo) {
  broken = true;
  const KernelChecks checks;
  Tensor out = make({2, 2});
  SY_EXPECT_ERROR(a.abs(), Error,
                  "result: expected memory of its own, got that of self");
  SY_EXPECT_ERROR(a.t(), Error, "result: expected strides [1, 2] for ");
  SY_EXPECT_ERROR(make({1, 3}).t(), Error,
                  "result: expected a view of self, got memory of its own");
  SY_EXPECT_ERROR(mm_out(out, a, a), Error,
                  "result: expected out itself, got another tensor");
  Tensor left = make({2, 4}).narrow(1, 0, 2);
  SY_EXPECT_ERROR(exp_out(left, a), Error,
                  "argument out: expected to stay in its memory, got strides "
                  "[1, 2] from element 0 on");
  exp_out(out, a);  // dense before and after
  SY_EXPECT_ERROR(neg_out(out, a), Error,
                  "argument out: expected to stay in its memory, got other");
  SY_EXPECT_ERROR(empty_strided({2, 2}, {1, 2}, a.device()), Error,
                  "result: expected strides [1, 2] for float32[2, 2], got "
                  "[2, 1]");
  EXPECT_EQ(empty_strided({2, 1}, {1, 7}, a.device()).strides(),
            (IntArrayRef{1, 1}))
      << "of one index";
}

TEST_F(KernelChecksTest, KeptPromisesPass) {
  const KernelChecks checks;
  EXPECT_EQ(a.relu().sizes(), a.sizes());
  EXPECT_EQ(a.neg().dtype(), kFloat);
  EXPECT_EQ(a.exp().device(), a.device());
  EXPECT_EQ(sy::mm(a, a).sizes(), a.sizes());
  EXPECT_TRUE(a.zero_().is_same(a));
  EXPECT_FALSE(a.abs().is_alias_of(a));
  EXPECT_TRUE(a.t().is_alias_of(a));
  Tensor out = make({2, 2});
  EXPECT_TRUE(mm_out(out, a, a).is_same(out));
  EXPECT_TRUE(exp_out(out, a).is_same(out));
}

// A device without a number is the current one of its backend.
TEST_F(KernelChecksTest, ADeviceNeedsNoNumber) {
  const KernelChecks checks;
  const Tensor t = empty_strided({2, 1}, {1, 7}, Device(a.device().type()));
  EXPECT_EQ(t.device(), a.device());
}

TEST_F(KernelChecksTest, OtherOperatorsRunAsBefore) {
  const KernelChecks checks;
  const Tensor x = ones({2, 3});
  EXPECT_EQ(add(x, x).sum().item<float>(), 12);
  EXPECT_EQ(x.nonzero().sizes()[0], 6);  // results that depend on data
  Tensor out = empty({0});
  add_out(out, x, x);
  EXPECT_EQ(out.sizes(), x.sizes());
  Tensor self = ones({3});
  self.add_(self);
  EXPECT_EQ(self.sum().item<float>(), 6);
  Tensor mean = zeros({3}), var = ones({3});
  sy::native_batch_norm(ones({4, 3}), {}, {}, mean, var, true, 0.1, 1e-5);
  manual_seed(3);
  const Tensor drawn = rand({4});
  manual_seed(3);
  EXPECT_TRUE(drawn.equal(rand({4}))) << "no number is drawn twice";
}

TEST_F(KernelChecksTest, EndsWithItsObjectAndIsOneAtATime) {
  broken = true;
  {
    const KernelChecks checks;
    SY_EXPECT_ERROR(KernelChecks(), ValueError, "checked already");
    std::thread([&] { EXPECT_THROW(a.relu(), Error); }).join();
  }
  EXPECT_EQ(a.relu().sizes()[0], 7);
  const KernelChecks again;
  EXPECT_THROW(a.relu(), Error);
}

TEST_F(KernelChecksTest, GoesTogetherWithATrace) {
  broken = true;
  ::testing::internal::CaptureStderr();
  {
    const KernelChecks checks;
    const Trace trace("dispatch");
    EXPECT_THROW(a.relu(), Error);
  }
  const std::string out = ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(out.starts_with("aten::relu [Liar] (float32[2, 2] on liar:0"))
      << out;
  EXPECT_NE(out.find(" threw  "), out.npos) << out;
  EXPECT_EQ(a.relu().sizes()[0], 7);
}

using KernelChecksDeathTest = KernelChecksTest;

TEST_F(KernelChecksDeathTest, EnvironmentChecksAWholeProcess) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto call = [&] {
    broken = true;
    try {
      a.relu();
    } catch (const Error&) {
      std::exit(3);
    }
    std::exit(4);
  };
  ::setenv("SWITCHYARD_CHECK", "kernels", 1);
  EXPECT_EXIT(call(), ::testing::ExitedWithCode(3), "");
  ::setenv("SWITCHYARD_CHECK", "everything", 1);
  EXPECT_EXIT(
      call(), ::testing::ExitedWithCode(4),
      "SWITCHYARD_CHECK: expected kernels, capture or sync, got 'everything'");
  ::unsetenv("SWITCHYARD_CHECK");
  EXPECT_EXIT(call(), ::testing::ExitedWithCode(4), "");
}

}  // namespace
}  // namespace sy
