#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "aten/backend/cpu_fallback.h"
#include "aten/backend/pending.h"
#include "aten/engine/copy.h"
#include "aten/operators.h"
#include "aten/ops/factory.h"
#include "aten/ops/reduction.h"
#include "aten/ops/view.h"
#include "aten/tensor_new.h"
#include "autograd/api.h"
#include "c10/device/backend.h"
#include "c10/plugin/library.h"
#include "frontend/distributed/operators/collectives.h"
#include "test/aten/tensor_values.h"
#include "test/frontend/distributed/ranks.h"

// Tensors of a device that no engine serves go through the host.

namespace sy::distributed {
namespace {

using Values = std::vector<double>;

// A device whose memory the host cannot make sense of: every byte inverted.
class Inverted final : public DeviceInterface, public Allocator {
 public:
  Allocator& allocator(int) override { return *this; }
  void copy_from_host(void* dst, const void* src, size_t n, int) override {
    invert(dst, src, n);
  }
  void copy_to_host(void* dst, const void* src, size_t n, int) override {
    invert(dst, src, n);
  }
  void copy_on_device(void* dst, const void* src, size_t n, int) override {
    std::memmove(dst, src, n);
  }
  void* allocate(size_t bytes) override {
    return bytes == 0 ? nullptr
                      : std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  }
  void deallocate(void* data, size_t) noexcept override { std::free(data); }

 private:
  static void invert(void* dst, const void* src, size_t n) {
    for (size_t i = 0; i < n; ++i) {
      static_cast<uint8_t*>(dst)[i] =
          static_cast<uint8_t>(~static_cast<const uint8_t*>(src)[i]);
    }
  }
};

Inverted& inverted() {
  static auto* d = new Inverted;
  return *d;
}

Tensor empty_inverted(IntArrayRef size, std::optional<ScalarType> dtype,
                      std::optional<Layout>, std::optional<Device> device,
                      std::optional<bool>, std::optional<MemoryFormat>) {
  return Tensor(make_tensor(size, dtype.value_or(kFloat), *device));
}
Tensor empty_strided_inverted(IntArrayRef size, IntArrayRef stride,
                              std::optional<ScalarType> dtype,
                              std::optional<Layout>,
                              std::optional<Device> device,
                              std::optional<bool>) {
  return Tensor(
      make_tensor_strided(size, stride, dtype.value_or(kFloat), *device));
}

SY_BACKEND(Inverted, m) { m.device("inverted", &inverted()); }
SY_LIBRARY_IMPL(aten, Inverted, m) {
  m.impl("empty.memory_format", SY_FN(empty_inverted));
  m.impl("empty_strided", SY_FN(empty_strided_inverted));
}
SY_LIBRARY_IMPL(_, Inverted, m) {
  m.fallback(Kernel::from_boxed(&cpu_fallback));
}

Device device() {
  static const Device d = [] {
    sy::init();
    return Device("inverted");
  }();
  return d;
}
Tensor there(int64_t n, double value) {
  return to_device(full({n}, value, TensorOptions(kFloat)), device());
}
Values back(const Tensor& t) {
  EXPECT_EQ(t.device().type(), device().type());
  return values(to_device(t.detach() + 0, Device(kCPU)));
}

TEST(CollectivesOfADevice, GoThroughTheHost) {
  Ranks(2).run([](int rank) {
    const Tensor x = there(4, rank + 1);
    EXPECT_EQ(back(sy_dist::all_reduce(x)), Values(4, 3.0));
    EXPECT_EQ(back(sy_dist::broadcast(x, 1)), Values(4, 2.0));
    EXPECT_EQ(back(sy_dist::reduce(x, 0)), Values(4, rank == 0 ? 3.0 : 2.0));
    EXPECT_EQ(back(sy_dist::all_gather_into_tensor(x)),
              (Values{1, 1, 1, 1, 2, 2, 2, 2}));
    EXPECT_EQ(back(sy_dist::all_gather(x)[1]), Values(4, 2.0));
    EXPECT_EQ(back(sy_dist::reduce_scatter_tensor(x)), Values(2, 3.0));
    EXPECT_EQ(back(sy_dist::all_to_all_single(x)), (Values{1, 1, 2, 2}));
    EXPECT_EQ(back(sy_dist::scatter(x.narrow(0, 0, rank == 0 ? 4 : 2), 0)),
              Values(2, 1.0));
    EXPECT_EQ(back(sy_dist::gather(x, 0)[1]).size(), rank == 0 ? 4u : 0u);
    EXPECT_EQ(back(x), Values(4, rank + 1.0));
  });
}

TEST(CollectivesOfADevice, InPlaceAndBetweenTwo) {
  Ranks(2).run([](int rank) {
    Tensor x = there(4, rank + 1);
    Tensor half = x.narrow(0, 2, 2);
    sy_dist::all_reduce_(half);
    EXPECT_EQ(back(x), (Values{rank + 1.0, rank + 1.0, 3, 3}));
    Tensor out = there(8, 0);
    sy_dist::all_gather_into_tensor_out(out, x);
    EXPECT_EQ(back(out), (Values{1, 1, 3, 3, 2, 2, 3, 3}));
    if (rank == 0) {
      sy_dist::send(x, 1);
      sy_dist::recv_(x, 1);
      EXPECT_EQ(back(x), Values(4, 7.0));
    } else {
      EXPECT_EQ(back(sy_dist::recv(x, 0)), (Values{1, 1, 3, 3}));
      sy_dist::send(there(4, 7), 0);
    }
  });
}

TEST(CollectivesOfADevice, ResultsArePending) {
  Ranks(2).run([](int rank) {
    if (rank == 1) sy_dist::recv(empty({1}), 0).sum();
    const Tensor y = sy_dist::all_reduce(there(2, rank));
    if (rank == 0) {
      EXPECT_TRUE(is_pending(y));
      sy_dist::send(empty({1}), 1);
    }
    EXPECT_EQ(back(y), Values(2, 1.0));
  });
}

TEST(CollectivesOfADevice, Gradients) {
  Ranks(2).run([](int rank) {
    const Tensor x = there(2, rank + 1).requires_grad_();
    (sy_dist::all_reduce(x * x) * (rank + 1)).sum().backward();
    EXPECT_EQ(back(x.grad()), Values(2, 6.0 * (rank + 1)));
  });
}

}  // namespace
}  // namespace sy::distributed
