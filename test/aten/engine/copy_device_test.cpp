#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "aten/backend/cpu_fallback.h"
#include "aten/engine/copy.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/shape.h"
#include "aten/ops/view.h"
#include "aten/print.h"
#include "aten/scalar_tensor.h"
#include "aten/tensor_new.h"
#include "c10/device/backend.h"
#include "c10/plugin/library.h"
#include "test/aten/late_tensor.h"
#include "test/aten/tensor_values.h"
#include "test/c10/expect_error.h"

// Copies within a device, by what the device brings for them: nothing, a kernel
// of _copy_from, a kernel of copy_. Copies of tensors without memory.

namespace sy {
namespace {

using Values = std::vector<double>;

// A device whose memory the host cannot make sense of: every byte inverted.
class Inverted final : public DeviceInterface, public Allocator {
 public:
  Allocator& allocator(int) override { return *this; }
  void* allocate(size_t bytes) override {
    return bytes == 0 ? nullptr
                      : std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  }
  void deallocate(void* data, size_t) noexcept override { std::free(data); }
  void copy_from_host(void* dst, const void* src, size_t n, int) override {
    invert(dst, src, n);
  }
  void copy_to_host(void* dst, const void* src, size_t n, int) override {
    ++downloads;
    invert(dst, src, n);
  }
  void copy_on_device(void* dst, const void* src, size_t n, int) override {
    ++pieces;
    std::memmove(dst, src, n);
  }
  static void invert(void* dst, const void* src, size_t n) {
    for (size_t i = 0; i < n; ++i) {
      static_cast<uint8_t*>(dst)[i] =
          static_cast<uint8_t>(~static_cast<const uint8_t*>(src)[i]);
    }
  }
  int downloads = 0, pieces = 0;
};

Inverted& interface() {
  static auto* d = new Inverted;
  return *d;
}

Tensor empty_there(IntArrayRef size, std::optional<ScalarType> dtype,
                   std::optional<Layout>, std::optional<Device> device,
                   std::optional<bool>, std::optional<MemoryFormat>) {
  return Tensor(make_tensor(size, dtype.value_or(kFloat), *device));
}
Tensor empty_strided_there(IntArrayRef size, IntArrayRef stride,
                           std::optional<ScalarType> dtype,
                           std::optional<Layout>, std::optional<Device> device,
                           std::optional<bool>) {
  return Tensor(
      make_tensor_strided(size, stride, dtype.value_or(kFloat), *device));
}

int own_copies = 0;

Tensor own_copy_from(const Tensor& self, const Tensor& dst, bool) {
  ++own_copies;
  copy_between(dst, self);
  return dst;
}
Tensor& own_copy_(Tensor& self, const Tensor& src, bool) {
  ++own_copies;
  copy_between(self, src);
  return self;
}

void with_factories(Library& m) {
  m.impl("empty.memory_format", SY_FN(empty_there));
  m.impl("empty_strided", SY_FN(empty_strided_there));
}

SY_BACKEND(Bare, m) { m.device("bare", &interface()); }
SY_LIBRARY_IMPL(aten, Bare, m) { with_factories(m); }
SY_LIBRARY_IMPL(_, Bare, m) { m.fallback(Kernel::from_boxed(&cpu_fallback)); }

SY_BACKEND(From, m) { m.device("from", &interface()); }
SY_LIBRARY_IMPL(aten, From, m) {
  with_factories(m);
  m.impl("_copy_from", SY_FN(own_copy_from));
}
SY_LIBRARY_IMPL(_, From, m) { m.fallback(Kernel::from_boxed(&cpu_fallback)); }

SY_BACKEND(Into, m) { m.device("into", &interface()); }
SY_LIBRARY_IMPL(aten, Into, m) {
  with_factories(m);
  m.impl("copy_", SY_FN(own_copy_));
}
SY_LIBRARY_IMPL(_, Into, m) { m.fallback(Kernel::from_boxed(&cpu_fallback)); }

Tensor there(const Tensor& t, const char* name) {
  init();
  return to_device(t, Device(name));
}
Values back(const Tensor& t) { return values(to_device(t, Device(kCPU))); }

struct Ways {
  CopyCounts before = copy_counts();
  int downloads = interface().downloads, pieces = interface().pieces;
  int own = own_copies;

  void expect(int64_t by_kernel, int64_t in_pieces, int64_t by_host) const {
    const CopyCounts now = copy_counts();
    EXPECT_EQ(now.by_kernel - before.by_kernel, by_kernel);
    EXPECT_EQ(now.in_pieces - before.in_pieces, in_pieces);
    EXPECT_EQ(now.by_host - before.by_host, by_host);
    if (by_host == 0 && by_kernel == 0) {
      EXPECT_EQ(interface().downloads, downloads);
    }
  }
};

TEST(DeviceCopy, RowsAreCopiedOnTheDevice) {
  const Tensor a = there(arange(48, kFloat).view({6, 8}), "bare");
  const Tensor b = there(zeros({6, 8}), "bare");
  {
    const Ways ways;
    b.slice(1, 0, 4).copy_(a.slice(1, 4, 8));
    ways.expect(0, 1, 0);
    EXPECT_EQ(interface().pieces - ways.pieces, 6);
  }
  EXPECT_EQ(back(b.slice(1, 0, 4)),
            values(arange(48, kFloat).view({6, 8}).slice(1, 4, 8)));
  EXPECT_EQ(back(b.slice(1, 4, 8)), Values(24, 0))
      << "gaps keep what they hold";
  const Ways ways;
  b.t().copy_(a.slice(0, 0, 1).expand({6, 8}).t());
  ways.expect(0, 1, 0);
  EXPECT_EQ(back(b[5]), back(a[0]));
  // Few elements may lie apart.
  const Tensor column = there(zeros({6}), "bare");
  const Ways again;
  column.copy_(a.select(1, 3));
  again.expect(0, 1, 0);
  EXPECT_EQ(back(column), (Values{3, 11, 19, 27, 35, 43}));
}

TEST(DeviceCopy, WithoutAKernelManyPiecesAndOtherDtypesGoByTheHost) {
  const Tensor a = arange(64 * 64, kFloat).view({64, 64});
  const Tensor x = there(a, "bare"), y = there(zeros({64, 64}), "bare");
  const Ways ways;
  y.copy_(x.t());
  ways.expect(0, 0, 1);
  EXPECT_EQ(back(y), values(a.t()));
  EXPECT_EQ(back(x.to(kDouble)), values(a));
  ways.expect(0, 0, 2);
}

TEST(DeviceCopy, IsTheDevicesKernelWhereItHasOne) {
  for (const char* const name : {"from", "into"}) {
    const Tensor a = arange(12, kFloat).view({3, 4});
    const Tensor x = there(a, name), y = there(zeros({4, 3}), name);
    const Ways ways;
    y.copy_(x.t());
    EXPECT_EQ(own_copies - ways.own, 1) << name;
    EXPECT_EQ(back(y), values(a.t()));
    EXPECT_EQ(back(x.to(kInt)), values(a));
    EXPECT_EQ(own_copies - ways.own, 2) << name << ": to() asks it too";
    EXPECT_EQ(back(x.t().contiguous()), values(a.t()));
    EXPECT_EQ(own_copies - ways.own, 3) << name;
    y.copy_(zeros({4, 3}));
    EXPECT_EQ(own_copies - ways.own, 4) << name << ": from the host";
    EXPECT_EQ(back(y), Values(12, 0));
    SY_EXPECT_ERROR(y.copy_(there(zeros({5}), name)), ValueError, "broadcast");
  }
}

LateTensor late_there(const Tensor& value) {
  init();
  return LateTensor(value, Device("bare:0"));
}

TEST(WithoutMemory, CopiesItemPrintAndKernelsOfTheHostAskForElements) {
  const Tensor value = tensor({1.0, 2.0, 3.0, 4.0}, kFloat);
  const auto asked_by = [&](const char* what, const auto& f) {
    const LateTensor late = late_there(value);
    EXPECT_EQ(late.tensor.storage()->data(), nullptr);
    f(late.tensor);
    EXPECT_EQ(late.payload->runs, 1) << what;
    EXPECT_FALSE(late.tensor.storage()->is_handed_out()) << what;
  };
  asked_by("to the host",
           [&](const Tensor& t) { EXPECT_EQ(values(t.cpu()), values(value)); });
  asked_by("on the device", [&](const Tensor& t) {
    const Tensor to = there(zeros({4}), "bare");
    to.copy_(t);
    EXPECT_EQ(back(to), values(value));
  });
  asked_by("item", [&](const Tensor& t) { EXPECT_EQ(t[2].item<float>(), 3); });
  asked_by("print", [&](const Tensor& t) {
    EXPECT_NE(to_string(t).find("4"), std::string::npos);
  });
  asked_by("a kernel of the host", [&](const Tensor& t) {
    EXPECT_EQ(back(sy::add(t, t)), (Values{2, 4, 6, 8}));
  });
  asked_by("a write", [&](const Tensor& t) {
    t.slice(0, 1, 2).copy_(zeros({1}));
    EXPECT_EQ(back(t), (Values{1, 0, 3, 4}));
  });
}

TEST(WithoutMemory, ErrorsNameWhoAsked) {
  const LateTensor late = late_there(tensor({1.0, 2.0}, kFloat));
  late.payload->fails = true;
  SY_EXPECT_ERROR(sy::add(late.tensor, late.tensor), OutOfMemoryError,
                  "[aten::add.Tensor] asked for a late value, 8 bytes on "
                  "bare:0");
  SY_EXPECT_ERROR(to_string(late.tensor), OutOfMemoryError,
                  "[print] asked for");
  SY_EXPECT_ERROR(late.tensor.cpu(), OutOfMemoryError, "no room");
  late.tensor.storage()->set_payload(nullptr);
  SY_EXPECT_ERROR(late.tensor.cpu(), ValueError,
                  "expected a tensor with memory, got float32[2] on bare:0 "
                  "without any");
  SY_EXPECT_ERROR(late.tensor.data_ptr(), ValueError,
                  "[data_ptr] self: expected a tensor with memory, got "
                  "float32[2] on bare:0 without any");
}

}  // namespace
}  // namespace sy
