#include "aten/backend/engine_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "aten/ops/all.h"
#include "aten/tensor_new.h"
#include "c10/dispatch/introspect.h"
#include "test/conformance/host_device.h"

// A backend with one engine, which counts its calls.

namespace sy {
namespace {

HostDevice memory;

int runs = 0, writes = 0;

Tensor run(const PointwiseOp&, const PointwiseArgs& args) {
  ++runs;
  const TensorBase& in = *args.inputs[0];
  return Tensor(make_tensor(in.sizes(), in.dtype(), in.device()));
}
void write(const PointwiseOp&, const PointwiseArgs&, const OperatorEntry&,
           Tensor&) {
  ++writes;
}
constexpr PointwiseEngine kPointwise{&run, nullptr, &write, &write};
constexpr BackendEngines kEngines{&kPointwise};
constexpr const char* kListed[] = {"neg"};

SY_BACKEND(Counting, m) { m.device("counting", &memory); }
SY_LIBRARY_IMPL(aten, Counting, m) {
  register_engine_kernels(m, kEngines, kListed);
}

bool has_kernel(const char* op) {
  const auto all = kernels_of(Dispatcher::singleton().find_or_throw(op));
  return std::any_of(all.begin(), all.end(),
                     [](const KernelInfo& k) { return k.key == "Counting"; });
}

TEST(EngineKernels, FindTheEnginesOfTheirBackend) {
  init();
  Tensor x(make_tensor({2}, kFloat, Device("counting")));
  Tensor out(make_tensor({2}, kFloat, Device("counting")));
  sy::abs(x);
  EXPECT_EQ(runs, 1);
  sy::abs_(x);
  sy::abs_out(out, x);
  EXPECT_EQ(writes, 2);
}

TEST(EngineKernels, AreLeftOutWhereTheBackendHasItsOwn) {
  init();
  EXPECT_TRUE(has_kernel("aten::neg.out"));
  EXPECT_FALSE(has_kernel("aten::neg"));
}

TEST(EngineKernels, AreLeftOutWithoutTheEngine) {
  init();
  EXPECT_FALSE(has_kernel("aten::sum.dim_IntList"));
  EXPECT_FALSE(has_kernel("aten::cumsum"));
}

}  // namespace
}  // namespace sy
