#include "aten/backend/cpu_fallback.h"

#include <cstdlib>
#include <cstring>
#include <memory>

#include <gtest/gtest.h>

#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/math.h"
#include "aten/ops/reduction.h"
#include "aten/ops/shape.h"
#include "aten/ops/view.h"
#include "aten/tensor_new.h"
#include "c10/device/backend.h"
#include "c10/plugin/library.h"
#include "test/aten/tensor_values.h"
#include "test/c10/expect_error.h"

namespace sy {
namespace {

using Values = std::vector<double>;

// A device whose memory the host cannot make sense of: every byte inverted.
class Hidden final : public DeviceInterface {
 public:
  class Memory final : public Allocator {
   public:
    void* allocate(size_t bytes) override {
      return bytes == 0 ? nullptr
                        : std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    }
    void deallocate(void* data, size_t) noexcept override { std::free(data); }
  };
  Allocator& allocator(int) override { return memory_; }
  void copy_from_host(void* dst, const void* src, size_t n, int) override {
    invert(dst, src, n);
  }
  void copy_to_host(void* dst, const void* src, size_t n, int) override {
    invert(dst, src, n);
  }
  void copy_on_device(void* dst, const void* src, size_t n, int) override {
    std::memmove(dst, src, n);
  }

 private:
  static void invert(void* dst, const void* src, size_t n) {
    for (size_t i = 0; i < n; ++i) {
      static_cast<uint8_t*>(dst)[i] =
          static_cast<uint8_t>(~static_cast<const uint8_t*>(src)[i]);
    }
  }
  Memory memory_;
};

Hidden& hidden() {
  static auto* d = new Hidden;
  return *d;
}

Tensor empty_hidden(IntArrayRef size, std::optional<ScalarType> dtype,
                    std::optional<Layout>, std::optional<Device> device,
                    std::optional<bool>, std::optional<MemoryFormat>) {
  return Tensor(make_tensor(size, dtype.value_or(kFloat), *device));
}
Tensor empty_strided_hidden(IntArrayRef size, IntArrayRef stride,
                            std::optional<ScalarType> dtype,
                            std::optional<Layout>, std::optional<Device> device,
                            std::optional<bool>) {
  return Tensor(
      make_tensor_strided(size, stride, dtype.value_or(kFloat), *device));
}

SY_BACKEND(Hidden, m) { m.device("hidden", &hidden()); }
SY_LIBRARY_IMPL(aten, Hidden, m) {
  m.impl("empty.memory_format", SY_FN(empty_hidden));
  m.impl("empty_strided", SY_FN(empty_strided_hidden));
}
SY_LIBRARY_IMPL(_, Hidden, m) { m.fallback(Kernel::from_boxed(&cpu_fallback)); }

Device device() {
  init();
  return Device("hidden");
}
Tensor there(const Tensor& t) { return to_device(t, device()); }
Values back(const Tensor& t) { return values(to_device(t, Device(kCPU))); }

int64_t calls_of(std::string_view op) {
  for (const FallbackCount& c : fallback_counts()) {
    if (c.op == op) return c.calls;
  }
  return 0;
}

TEST(CpuFallback, ComputesAndCounts) {
  reset_fallback_counts();
  const Tensor a = there(tensor({1.0, 2.0})), b = there(tensor({10.0, 20.0}));
  const Tensor c = a + b;
  EXPECT_EQ(c.device().type(), device().type());
  EXPECT_EQ(back(c), (Values{11, 22}));
  EXPECT_EQ(back(a + b + 1), (Values{12, 23}));
  EXPECT_EQ(calls_of("aten::add.Tensor"), 2);
  EXPECT_EQ(back(sum(a)), (Values{3}));
}

TEST(CpuFallback, WritesBack) {
  const Tensor base = there(tensor({1.0, 2.0, 3.0, 4.0, 5.0, 6.0}));
  Tensor odd = base.slice(0, 1, 6, 2);
  const uint32_t before = base._version();
  Tensor& same = odd.mul_(10);
  EXPECT_TRUE(same.is_same(odd));
  EXPECT_EQ(back(base), (Values{1, 20, 3, 40, 5, 60}));
  EXPECT_EQ(base._version(), before + 1);
  reset_fallback_counts();
  odd.fill_(7);
  EXPECT_EQ(calls_of("aten::fill_.Scalar"), 1);
  EXPECT_EQ(back(base), (Values{1, 7, 3, 7, 5, 7}));
  EXPECT_EQ(base._version(), before + 2);
}

// The signature of _copy_from does not say that it writes dst.
TEST(CpuFallback, WritesBackWhatSignaturesDoNotName) {
  const Tensor here = tensor({1.0, 2.0, 3.0});
  const Tensor base = there(tensor({9.0, 9.0, 9.0, 9.0, 9.0, 9.0}));
  _copy_from(here, base.slice(0, 0, 6, 2));
  EXPECT_EQ(back(base), (Values{1, 9, 2, 9, 3, 9}));
  _copy_from(there(here + 3), base.slice(0, 3, 6));
  EXPECT_EQ(back(base), (Values{1, 9, 2, 4, 5, 6}));
  Tensor home = zeros({3}, kDouble);
  _copy_from(base.slice(0, 3, 6), home);
  EXPECT_EQ(values(home), (Values{4, 5, 6}));
}

// Straight to the fallback: in-place forms that another kernel serves come
// there no other way.
void add_in_place(const Tensor& self, const Tensor& other, Value* result) {
  const OperatorHandle op =
      Dispatcher::singleton().find_or_throw("aten::add_.Tensor");
  Value args[] = {Value(TensorBase(self)), Value(TensorBase(other)), Value(1)};
  cpu_fallback(Kernel(), op.entry(), self.key_set(), args, 3, result, 1);
}

TEST(CpuFallback, ArgumentsThatShareAStorageStillDo) {
  const Tensor base = there(tensor({1.0, 2.0, 3.0, 4.0}));
  const Tensor low = base.slice(0, 0, 2);
  Value result;
  add_in_place(low, base.slice(0, 2, 4), &result);
  EXPECT_EQ(back(base), (Values{4, 6, 3, 4}));
  EXPECT_EQ(result.tensor_impl(), low.impl());
  SY_EXPECT_ERROR(
      add_in_place(base.slice(0, 0, 3), base.slice(0, 1, 4), &result),
      ValueError, "a part of it");
}

TEST(CpuFallback, ResultsThatAreViewsAreAliases) {
  const OperatorHandle op =
      Dispatcher::singleton().find_or_throw("aten::select.int");
  const Tensor base = there(arange(12, kFloat).view({3, 4}));
  const Tensor part = base.slice(1, 1, 4);
  Value args[] = {Value(TensorBase(part)), Value(0), Value(2)};
  Value result;
  cpu_fallback(Kernel(), op.entry(), part.key_set(), args, 3, &result, 1);
  const Tensor row{TensorBase(result.to_tensor())};
  EXPECT_TRUE(row.is_alias_of(base));
  EXPECT_EQ(row.storage_offset(), 9);
  EXPECT_EQ(back(row), (Values{9, 10, 11}));
}

TEST(CpuFallback, OutIsResized) {
  Tensor out = there(tensor({0.0}));
  add_out(out, there(tensor({1.0, 2.0})), there(tensor({3.0, 4.0})));
  EXPECT_EQ(ints(out.sizes()), (std::vector<int64_t>{2}));
  EXPECT_EQ(back(out), (Values{4, 6}));
}

TEST(CpuFallback, ListsAndEmptyTensors) {
  const Tensor a = there(ones({2, 2})), none = there(ones({0, 2}));
  const Tensor c = cat({a, none, a}, 0);
  EXPECT_EQ(c.device().type(), device().type());
  EXPECT_EQ(back(c), Values(8, 1));
}

TEST(CpuFallback, NumbersOfTheHostGoAlong) {
  const Tensor a = there(tensor({1.0, 2.0}));
  EXPECT_EQ(back(a * tensor(3.0)), (Values{3, 6}));
  SY_EXPECT_ERROR(a + tensor({1.0, 2.0}), ValueError, "device");
}

TEST(CpuFallback, ErrorsOfTheOperatorComeThrough) {
  const Tensor a = there(ones({2})), b = there(ones({3}));
  SY_EXPECT_ERROR(a + b, ValueError, "[add.Tensor] other");
}

}  // namespace
}  // namespace sy
