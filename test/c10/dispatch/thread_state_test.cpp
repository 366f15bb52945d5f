#include "c10/dispatch/thread_state.h"

#include <gtest/gtest.h>

#include "c10/plugin/library.h"
#include "c10/tensor/scalar.h"

// There is room for what is not built yet: transforms, autocast, and numbers
// of 16 bytes.

namespace sy {
namespace {

static_assert(sizeof(ThreadModes::autocast_devices) * 8 >= kMaxBackends);
static_assert(sizeof(ThreadModes::autocast_dtypes) >= kMaxBackends);
static_assert(kNumScalarTypes < 255, "1 + ScalarType is a byte");
static_assert(alignof(ThreadState) == 64, "what a call reads is in one line");
static_assert(sizeof(CallsInFlight) + offsetof(ThreadModes, transforms) +
                  sizeof(void*) <=
              64);
static_assert(sizeof(Scalar) >= 2 * sizeof(double) + sizeof(Scalar::Tag));

constexpr DispatchKey kLayers[] = {
    DispatchKey::TransformBack, DispatchKey::Autograd, DispatchKey::Autocast,
    DispatchKey::Batched, DispatchKey::TransformFront};

thread_local std::string path;

TensorBase at_the_end(const TensorBase& a) {
  path += " CPU";
  return a;
}

// Names its key and goes on below it.
template <int i>
TensorBase layer(DispatchKeySet keys, const TensorBase& a) {
  path += str(" {}", i);
  return Dispatcher::singleton()
      .find_or_throw("layers::f")
      .typed<TensorBase(const TensorBase&)>()
      .redispatch(keys & DispatchKeySet::below(kLayers[i]), a);
}

SY_LIBRARY(layers, m) { m.def("f(Tensor a) -> Tensor"); }
SY_LIBRARY_IMPL(layers, CPU, m) { m.impl("f", SY_FN(at_the_end)); }
SY_LIBRARY_IMPL(layers, TransformBack, m) { m.impl("f", SY_FN(layer<0>)); }
SY_LIBRARY_IMPL(layers, Autocast, m) { m.impl("f", SY_FN(layer<2>)); }
SY_LIBRARY_IMPL(layers, Batched, m) { m.impl("f", SY_FN(layer<3>)); }
SY_LIBRARY_IMPL(layers, TransformFront, m) { m.impl("f", SY_FN(layer<4>)); }

std::string path_with(DispatchKeySet keys) {
  const int64_t sizes[] = {1};
  const TensorBase t(make_tensor(sizes, kFloat, Device(kCPU)));
  path.clear();
  const IncludeDispatchKeyGuard on(keys);
  Dispatcher::singleton()
      .find_or_throw("layers::f")
      .typed<TensorBase(const TensorBase&)>()
      .call(t);
  return path;
}

TEST(ThreadState, LayersTakeACallInTheirOrder) {
  EXPECT_EQ(path_with({}), " CPU");
  DispatchKeySet all;
  for (const DispatchKey k : kLayers) all = all | DispatchKeySet(k);
  EXPECT_EQ(path_with(all), " 4 3 2 0 CPU");
  EXPECT_EQ(path_with(DispatchKeySet(DispatchKey::TransformBack)), " 0 CPU");
}

TEST(ThreadState, HasTheModesOfAGuardInItsScope) {
  ThreadModes& modes = thread_state;
  const ThreadModes before = modes;
  modes.inference = true;
  modes.autocast_devices = 3;
  {
    const PlainModes plain;
    EXPECT_EQ(modes.excluded, DispatchKeySet(DispatchKey::Autograd).bits());
    EXPECT_TRUE(modes.grad_disabled);
    EXPECT_FALSE(modes.inference);
    {
      const ThreadModesGuard none;
      EXPECT_EQ(modes.excluded, 0u);
      EXPECT_FALSE(modes.grad_disabled);
    }
    EXPECT_TRUE(modes.grad_disabled);
    EXPECT_EQ(modes.autocast_devices, 0u);
  }
  EXPECT_TRUE(modes.inference);
  EXPECT_EQ(modes.autocast_devices, 3u);
  modes = before;
}

TEST(ThreadState, IsZeroAtTheStartOfAThread) {
  const ThreadModes& modes = thread_state;
  EXPECT_EQ(modes.transforms, nullptr);
  EXPECT_EQ(modes.autocast_devices, 0u);
  for (const uint8_t dtype : modes.autocast_dtypes) EXPECT_EQ(dtype, 0);
}

}  // namespace
}  // namespace sy
