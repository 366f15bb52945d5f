#include "c10/memory/pinned_memory.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "aten/backend/cpu_fallback.h"
#include "aten/operators.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/view.h"
#include "aten/tensor_new.h"
#include "c10/device/stream.h"
#include "c10/plugin/library.h"
#include "test/aten/tensor_values.h"
#include "test/c10/expect_error.h"
#include "test/conformance/host_device.h"

namespace sy {
namespace {

using Values = std::vector<double>;

// A device that pins memory. Its copies are done when the test says so.
class Pinning final : public HostDevice {
 public:
  class Memory final : public Allocator {
   public:
    void* allocate(size_t n) override {
      held += static_cast<int64_t>(n);
      return n == 0 ? nullptr : std::aligned_alloc(64, (n + 63) / 64 * 64);
    }
    void deallocate(void* p, size_t n) noexcept override {
      held -= static_cast<int64_t>(n);
      std::free(p);
    }
    int64_t held = 0;
  };

  Allocator* pinned_allocator() noexcept override { return &memory; }
  bool begin_copy(const Storage& dst, size_t dst_first, const Storage& src,
                  size_t src_first, size_t bytes, int) override {
    begun.push_back([=] {
      std::memcpy(static_cast<char*>(dst->data()) + dst_first,
                  static_cast<const char*>(src->data()) + src_first, bytes);
    });
    return true;
  }
  void synchronize(int) override { finish(); }
  void finish() {
    for (const auto& copy : begun) copy();
    begun.clear();
  }

  Memory memory;
  std::vector<std::function<void()>> begun;
};

// Another that pins, by the ways of the host only, and one that does not.
class Other final : public HostDevice {
 public:
  Allocator* pinned_allocator() noexcept override { return &memory; }
  Pinning::Memory memory;
};

Pinning pinning;
Other other;
HostDevice plain;

SY_BACKEND(Plain, m) { m.device("plain", &plain); }
SY_BACKEND(Pins, m) { m.device("pins", &pinning); }
SY_BACKEND(Other, m) { m.device("other", &other); }
SY_LIBRARY_IMPL(_, Plain, m) { m.fallback(Kernel::from_boxed(&cpu_fallback)); }
SY_LIBRARY_IMPL(_, Pins, m) { m.fallback(Kernel::from_boxed(&cpu_fallback)); }
SY_LIBRARY_IMPL(_, Other, m) { m.fallback(Kernel::from_boxed(&cpu_fallback)); }

const TensorOptions kPinned = TensorOptions().pinned_memory(true);

class PinnedMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    init();
    pins = Device("pins");
    ASSERT_EQ(pinning.memory.held, 0);
  }
  void TearDown() override { EXPECT_EQ(pinning.memory.held, 0); }
  Device pins;
};

TEST_F(PinnedMemory, FactoriesTakeIt) {
  for (const Tensor& t :
       {sy::empty({2, 3}, kPinned), zeros({2, 3}, kPinned),
        full({2, 3}, 7, kPinned), rand({2, 3}, kPinned),
        empty_strided({2, 3}, {1, 2}, kPinned),
        empty_like(ones({2, 3}), kPinned), tensor({1.0, 2.0}, kPinned)}) {
    EXPECT_TRUE(t.is_cpu());
    EXPECT_TRUE(t.is_pinned());
    EXPECT_EQ(t.storage()->allocator(), &pinning.memory);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(t.data_ptr()) % 64, 0u);
  }
  const Tensor t = arange(0, 6, kPinned).view({2, 3});
  EXPECT_EQ(pinning.memory.held, int64_t{6 * 8});
  EXPECT_TRUE(t.t().is_pinned());
  EXPECT_EQ(values(t + t), (Values{0, 2, 4, 6, 8, 10}));
  EXPECT_FALSE((t + t).is_pinned());
  EXPECT_FALSE(sy::empty_like(t).is_pinned());
  EXPECT_EQ(
      sy::empty({1, 2, 3, 4}, kPinned, MemoryFormat::ChannelsLast).strides(),
      (IntArrayRef{24, 1, 8, 2}));
  EXPECT_TRUE(sy::empty({0}, kPinned).is_pinned());
}

TEST_F(PinnedMemory, TensorsMoveThere) {
  const Tensor t = arange(0, 6).view({2, 3}).t();
  EXPECT_FALSE(t.is_pinned());
  const Tensor p = t.pin_memory();
  EXPECT_TRUE(p.is_pinned());
  EXPECT_EQ(p.strides(), t.strides());
  EXPECT_EQ(values(p), values(t));
  EXPECT_TRUE(p.pin_memory().is_same(p));
  EXPECT_EQ(values(ones({2}).expand({3, 2}).pin_memory()), Values(6, 1.0));
  const Tensor moved = t.to(kPinned);
  EXPECT_TRUE(moved.is_pinned());
  EXPECT_EQ(values(moved), values(t));
  EXPECT_TRUE(moved.to(kPinned).is_same(moved));
  EXPECT_TRUE(p.to(kDouble, false, true).is_cpu());
  EXPECT_FALSE(p.to(kDouble).is_pinned());
}

TEST_F(PinnedMemory, OfOneDeviceIsNotThatOfAnother) {
  const Tensor t = ones({4});
  const Tensor a = t.pin_memory(), b = t.pin_memory(Device("other"));
  EXPECT_TRUE(a.is_pinned(pins));
  EXPECT_FALSE(a.is_pinned(Device("other")));
  EXPECT_TRUE(b.is_pinned());
  EXPECT_FALSE(b.is_pinned(pins));
  EXPECT_TRUE(b.is_pinned(Device("other:0")));
  EXPECT_FALSE(b.is_pinned(Device(kCPU)));
  EXPECT_FALSE(b.pin_memory(pins).is_same(b));
}

TEST_F(PinnedMemory, OnlyTheHostHasSome) {
  const Tensor there = ones({4}).to(pins);
  EXPECT_FALSE(there.is_pinned());
  SY_EXPECT_ERROR(there.pin_memory(), ValueError,
                  "[pin_memory] self: expected a tensor on cpu, got "
                  "float32[4] on pins:0: only memory of the host is pinned");
  SY_EXPECT_ERROR(sy::empty({2}, kPinned.device(pins)), ValueError,
                  "[empty.memory_format] pin_memory: expected False for a "
                  "tensor on 'pins', got True");
  SY_EXPECT_ERROR(zeros({2}, kPinned.device(pins)), ValueError, "pin_memory");
  SY_EXPECT_ERROR(ones({2}).to(kPinned.device(pins)), ValueError,
                  "[empty_strided] pin_memory");
  SY_EXPECT_ERROR(ones({2}).pin_memory(Device("plain")), ValueError,
                  "[pin_memory] device: expected one that pins memory, got "
                  "'plain'");
  SY_EXPECT_ERROR(ones({2}).pin_memory(Device(kCPU)), ValueError, "'cpu'");
  const Tensor meta = sy::empty({2}, kPinned.device(kMeta));
  EXPECT_FALSE(meta.is_pinned());
  SY_EXPECT_ERROR(meta.pin_memory(), ValueError, "on meta");
}

TEST_F(PinnedMemory, SizesAreChecked) {
  SY_EXPECT_ERROR(sy::empty({-1}, kPinned), ValueError, "-1");
  SY_EXPECT_ERROR(sy::empty({int64_t{1} << 62, 4}, kPinned), ValueError,
                  "2^63-1");
  SY_EXPECT_ERROR(empty_strided({2}, {-1}, kPinned), ValueError, "stride");
  fail_allocation(1);
  SY_EXPECT_ERROR(sy::empty({4}, kPinned), OutOfMemoryError, "16 bytes");
  EXPECT_EQ(fail_allocation(0), 0);
  const std::vector<int64_t> many(72, 1);
  SY_EXPECT_ERROR(sy::empty(many, kPinned), ValueError,
                  "[empty] size: expected at most 64 dims, got 72");
}

TEST_F(PinnedMemory, GrowsInPlace) {
  Tensor t = arange(0, 4, kPinned);
  t.resize_({1000});
  EXPECT_TRUE(t.is_pinned());
  EXPECT_EQ(pinning.memory.held, int64_t{8000});
  EXPECT_EQ(values(t.narrow(0, 0, 4)), (Values{0, 1, 2, 3}));
}

TEST_F(PinnedMemory, CopiesThatNeedNotWaitDoNot) {
  const Tensor here = tensor({1.0, 2.0, 3.0}, kPinned);
  const Tensor there = zeros({5}, pins);
  there.narrow(0, 1, 3).copy_(here, /*non_blocking=*/true);
  ASSERT_EQ(pinning.begun.size(), 1u);
  pinning.finish();
  EXPECT_EQ(values(there.cpu()), (Values{0, 1, 2, 3, 0}));

  const Tensor back = there.to(Device(kCPU), kFloat, /*non_blocking=*/true);
  EXPECT_TRUE(back.is_pinned(pins));
  ASSERT_EQ(pinning.begun.size(), 1u);
  synchronize(pins);
  EXPECT_EQ(values(back), (Values{0, 1, 2, 3, 0}));
}

TEST_F(PinnedMemory, CopiesThatMustWaitDo) {
  const Tensor there = zeros({3}, pins);
  const Tensor here = tensor({1.0, 2.0, 3.0});
  there.copy_(here, true);
  EXPECT_EQ(values(there.cpu()), (Values{1, 2, 3}));
  there.copy_(here.mul(2).pin_memory(Device("other")), true);
  EXPECT_EQ(values(there.cpu()), (Values{2, 4, 6}));
  there.copy_(here.pin_memory(), false);
  EXPECT_EQ(values(there.cpu()), (Values{1, 2, 3}));
  there.copy_(here.to(kDouble).mul(3).pin_memory(), true);
  EXPECT_EQ(values(there.cpu()), (Values{3, 6, 9}));
  EXPECT_FALSE(there.to(Device(kCPU), kDouble, true).is_pinned());
  const Tensor strided = zeros({3, 2}, pins);
  strided.select(1, 0).copy_(here.pin_memory(), true);
  EXPECT_EQ(values(strided.cpu()), (Values{1, 0, 2, 0, 3, 0}));
  zeros({0}, pins).copy_(sy::empty({0}, kPinned), true);
  EXPECT_TRUE(pinning.begun.empty());
  EXPECT_EQ(values(there.to(Device("other")).to(Device(kCPU), kFloat, true)),
            (Values{3, 6, 9}));
}

// The host lets go of what a copy still needs.
TEST_F(PinnedMemory, CopiesHoldTheirMemory) {
  const Tensor there = zeros({3}, pins);
  there.copy_(tensor({1.0, 2.0, 3.0}, kPinned), true);
  EXPECT_EQ(pinning.memory.held, int64_t{3 * 4});
  pinning.finish();
  EXPECT_EQ(pinning.memory.held, 0);
  EXPECT_EQ(values(there.cpu()), (Values{1, 2, 3}));
}

}  // namespace
}  // namespace sy
