#include <sy/sy.h>

#include <cstring>
#include <random>
#include <vector>

#include "backends/cuda/compile/jit.h"
#include "backends/cuda/driver/api.h"
#include "backends/cuda/runtime/context.h"
#include "test/backends/cuda/runtime_fixture.h"

// Pointwise operators on dense views that begin anywhere in a line of 16 bytes:
// elements before the first aligned place go one by one, the others in packs,
// if all operands are aligned there. Memory ends where the page after it
// faults.

namespace sy::cuda {
namespace {

using namespace testing;

constexpr int64_t kElements = 8192;
constexpr size_t kPage = 4096;

void free_device_memory(void* data) {
  use_device(0);
  driver::api().free(reinterpret_cast<driver::DevicePointer>(data));
}

// Random elements, on the CPU and in pages of their own on the device.
struct Twins {
  Tensor cpu, cuda;

  Twins(int64_t n, ScalarType dtype, unsigned seed) {
    const size_t bytes = static_cast<size_t>(n) * element_size(dtype);
    EXPECT_EQ(bytes % kPage, 0u);
    cpu = Tensor(make_tensor({n}, dtype, Device(kCPU)));
    std::mt19937 random(seed);
    for (int64_t i = 0; i < n; ++i) {
      const auto v = static_cast<int>(random() % 15) - 7;
      put(i, dtype == kBool ? v & 1 : v);
    }
    use_device(0);
    driver::DevicePointer p = 0;
    driver::check(driver::api().allocate(&p, bytes), "cuMemAlloc");
    auto* const data = reinterpret_cast<void*>(p);
    cuda = Tensor(TensorImpl::make(
        StorageImpl::adopt(data, bytes, cuda_device(0), free_device_memory,
                           data),
        dtype, cuda_device(0), DispatchKeySet::dense(kCUDA), {n}, {1}, 0));
    cuda.copy_(cpu);
  }
  void put(int64_t i, int v) {
    const size_t item = cpu.itemsize();
    auto* const at =
        static_cast<char*>(cpu.raw_data()) + static_cast<size_t>(i) * item;
    const auto as = [&](auto x) { std::memcpy(at, &x, sizeof x); };
    switch (cpu.dtype()) {
      case kFloat: as(static_cast<float>(v)); break;
      case kDouble: as(static_cast<double>(v)); break;
      case kBFloat16: as(BFloat16(static_cast<float>(v))); break;
      case kShort: as(static_cast<int16_t>(v)); break;
      default: as(static_cast<int8_t>(v)); break;
    }
  }
  // All of it, with what is outside of views.
  bool same() const { return cuda.cpu().equal(cpu); }
};

class Alignment : public ::testing::Test {
 protected:
  void SetUp() override { set_jit_mode(JitMode::kWait); }

  template <class F>
  static int64_t blocks_of(F&& call) {
    const int64_t before = counters().blocks;
    call();
    sy::synchronize(cuda_device(0));
    return counters().blocks - before;
  }
  static Tensor from(const Tensor& t, int64_t first) {
    return t.slice(0, first, first + kElements);
  }
};

// Both operands at every place: the results are right, nothing outside of them
// changes, and packs are used where the two share their place.
TEST_F(Alignment, OfTwoOperandsOfEverySize) {
  for (const ScalarType dtype : {kChar, kShort, kBFloat16, kFloat, kDouble}) {
    const auto places = static_cast<int64_t>(16 / element_size(dtype));
    const int64_t n = kElements + static_cast<int64_t>(kPage);
    Twins x(n, dtype, 1), y(n, dtype, 2);
    const auto add = [&](int64_t i, int64_t j) {
      return blocks_of([&] { from(x.cuda, i).add_(from(y.cuda, j)); });
    };
    from(x.cpu, 0).add_(from(y.cpu, 0));
    const int64_t aligned = add(0, 0);
    // Few places of the two elements of 16 bits: they take the same way.
    const int64_t step = dtype == kBFloat16 ? 3 : 1;
    for (int64_t i = 0; i < places; i += step) {
      for (int64_t j = 0; j < places; j += step) {
        from(x.cpu, i).add_(from(y.cpu, j));
        const int64_t blocks = add(i, j);
        const bool peeled = i == j && i != 0;
        EXPECT_EQ(blocks, peeled ? aligned + 1 : aligned)
            << dtype << " " << i << " " << j;
      }
    }
    EXPECT_TRUE(x.same()) << dtype;
  }
}

// Memory up to the last byte of a page, of any number of elements.
TEST_F(Alignment, OfOneOperandToTheEndOfItsMemory) {
  for (const ScalarType dtype : {kChar, kShort, kFloat, kDouble}) {
    const auto places = static_cast<int64_t>(16 / element_size(dtype));
    Twins x(kElements, dtype, 1);
    for (int64_t i = 0; i < places; ++i) {
      x.cpu.slice(0, i).neg_();
      x.cuda.slice(0, i).neg_();
      // And from the first byte on.
      x.cpu.slice(0, 0, kElements - i).neg_();
      x.cuda.slice(0, 0, kElements - i).neg_();
    }
    for (const int64_t few : {1, 2, 15, 16, 17, 63, 300}) {
      x.cpu.slice(0, kElements - few).neg_();
      x.cuda.slice(0, kElements - few).neg_();
    }
    EXPECT_TRUE(x.same()) << dtype;
  }
}

// A pack of four floats goes with one of four bools: places are counted in
// elements.
TEST_F(Alignment, OfResultsOfAnotherSize) {
  const int64_t n = kElements + static_cast<int64_t>(kPage);
  const Twins x(n, kFloat, 1);
  const Twins out(n, kBool, 2);
  const auto run = [&](int64_t i, int64_t j) {
    return blocks_of([&] {
      Tensor result = from(out.cuda, j);
      lt_out(result, from(x.cuda, i), 1);
    });
  };
  const int64_t aligned = run(0, 0);
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t j = 0; j < 8; ++j) {
      Tensor expected = from(out.cpu, j);
      lt_out(expected, from(x.cpu, i), 1);
      const bool peeled = i == j % 4 && i != 0;
      EXPECT_EQ(run(i, j), peeled ? aligned + 1 : aligned) << i << " " << j;
    }
  }
  EXPECT_TRUE(out.same());
}

// The same number for all elements lies anywhere.
TEST_F(Alignment, OfInputsWithOneElement) {
  const int64_t n = kElements + static_cast<int64_t>(kPage);
  Twins x(n, kFloat, 1), y(n, kFloat, 2);
  for (int64_t i = 0; i < 4; ++i) {
    const auto one = [&](const Tensor& t) { return t.slice(0, i, i + 1); };
    from(x.cpu, 3).mul_(one(y.cpu));
    from(x.cuda, 3).mul_(one(y.cuda));
  }
  EXPECT_TRUE(x.same());
}

}  // namespace
}  // namespace sy::cuda
