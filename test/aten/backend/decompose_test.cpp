#include "aten/backend/decompose.h"

#include <gtest/gtest.h>

#include <cmath>

#include "aten/backend/cpu_fallback.h"
#include "aten/backend/primitive_calls.h"
#include "aten/operators.h"
#include "aten/ops/activation.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/math.h"
#include "aten/ops/reduction.h"
#include "aten/ops/statistics.h"
#include "aten/tensor_new.h"
#include "backends/cpu/tiles/kernels.h"
#include "c10/dispatch/introspect.h"
#include "c10/plugin/library.h"
#include "lang/primitive_operators.h"
#include "test/aten/tensor_values.h"
#include "test/conformance/host_device.h"

namespace sy {
namespace {

using lang::Prim;

// The operators that others are made of.
std::vector<std::string_view> primitive_operators() {
  std::vector<std::string_view> names;
  for (int p = 0; p < static_cast<int>(Prim::kCount); ++p) {
    const std::string_view name = lang::operator_of(static_cast<Prim>(p));
    if (!name.empty()) names.push_back(name);
  }
  for (const auto& o : lang::kReductionOperators) names.push_back(o.name);
  return names;
}

// Its own kernels stand for those of a device: they compute on the CPU.
HostDevice leaves_device, half_device;

SY_BACKEND(Leaves, m) { m.device("leaves", &leaves_device); }
SY_LIBRARY_IMPL(aten, Leaves, m) {
  const auto on_cpu = Kernel::from_boxed(&cpu_fallback);
  for (const char* op :
       {"empty.memory_format", "empty_strided", "fill_.Scalar"}) {
    m.impl(op, on_cpu);
  }
  for (const std::string_view name : primitive_operators()) {
    m.impl(name, on_cpu);
  }
}

// One that leaves to the CPU what it has no kernel for.
SY_BACKEND(Partial, m) { m.device("partial", &half_device); }
SY_LIBRARY_IMPL(_, Partial, m) {
  m.fallback(Kernel::from_boxed(&cpu_fallback));
}

std::vector<std::string> fallbacks() {
  std::vector<std::string> out;
  for (const FallbackCount& f : fallback_counts()) out.push_back(f.op);
  return out;
}

// Elements of each kind, special ones among them.
Tensor sample(ScalarType dtype, int shift, bool zeros) {
  std::vector<double> v = {0, 1, 2, 3, 5, 7, 1, 0, 4, 2, 6, 3};
  if (dtype == kFloat || dtype == kDouble) {
    v = {0.5, -0.25, 2, -3, 1e-3, -0.0, INFINITY, -INFINITY, NAN, 0.75, -7, 20};
  } else if (dtype != kByte && dtype != kBool) {
    v = {0, -1, 2, -3, 5, 7, -8, 0, 4, -2, 6, 3};
  }
  const auto n = static_cast<int64_t>(v.size());
  Tensor out = sy::empty({n}, TensorOptions().dtype(kDouble));
  for (int64_t i = 0; i < n; ++i) {
    const double x = v[static_cast<size_t>((i * (2 * shift + 1) + shift) % n)];
    static_cast<double*>(out.data_ptr())[i] = x == 0 && !zeros ? 1 : x;
  }
  return out.to(dtype);
}

bool divides(Prim p) {
  return p == Prim::trunc_div || p == Prim::floor_div || p == Prim::fmod ||
         p == Prim::remainder;
}

bool takes_bools(lang::PrimType t, int operand) {
  return t == lang::PrimType::B_B || t == lang::PrimType::BB_B ||
         t == lang::PrimType::B_T ||
         (t == lang::PrimType::BTT_T && operand == 0);
}

bool gives_bools(lang::PrimType t) {
  return t == lang::PrimType::T_B || t == lang::PrimType::TT_B ||
         t == lang::PrimType::B_B || t == lang::PrimType::BB_B;
}

void expect_same(const Tensor& got, const Tensor& want,
                 const std::string& what) {
  const std::vector<double> a = values(got), b = values(want);
  ASSERT_EQ(a.size(), b.size()) << what;
  const double tolerance = want.scalar_type() == kDouble  ? 1e-11
                           : want.scalar_type() == kFloat ? 1e-5
                                                          : 0;
  for (size_t i = 0; i < b.size(); ++i) {
    if (std::isnan(b[i]) && std::isnan(a[i])) continue;
    if (a[i] == b[i]) continue;
    EXPECT_LE(std::abs(a[i] - b[i]), tolerance * std::abs(b[i]) + tolerance)
        << what << ", element " << i << ": " << a[i] << ", not " << b[i];
  }
}

TEST(PrimitiveCalls, AgreeWithTheTileKernels) {
  for (int p = 0; p < static_cast<int>(Prim::kCount); ++p) {
    const auto prim = static_cast<Prim>(p);
    const lang::PrimInfo& info = lang::kPrims[p];
    if (!lang::has_operators(prim)) continue;
    for (const ScalarType dtype :
         {kFloat, kDouble, kByte, kChar, kInt, kLong, kBool}) {
      const cpu::tiles::PrimFn fn =
          cpu::tiles::prim_fn(prim, program::compute_type_of(dtype));
      if (fn == nullptr || (dtype == kBool && prim == Prim::pow)) continue;
      Tensor operands[3];
      const void* data[3] = {};
      const int n = lang::arity(info.type);
      for (int k = 0; k < n; ++k) {
        const bool zeros = k == 0 || !divides(prim) || is_floating_type(dtype);
        operands[k] = takes_bools(info.type, k) ? sample(kBool, k, true)
                                                : sample(dtype, k, zeros);
        data[k] = operands[k].data_ptr();
      }
      const ScalarType out = gives_bools(info.type) ? kBool : dtype;
      const Tensor want = sy::empty({12}, TensorOptions().dtype(out));
      fn(want.data_ptr(), data[0], data[1], data[2], 0, 12);
      const std::string what = str("{} of {}", info.name, dtype);
      try {
        const Tensor got =
            PrimitiveCalls(dtype, Device(kCPU))
                .run(prim, operands[0], operands[1], operands[2]);
        EXPECT_EQ(got.scalar_type(), out) << what;
        expect_same(got, want, what);
      } catch (const Error& e) {
        // Integers of an operator that takes floats only, and the like.
        EXPECT_FALSE(is_floating_type(dtype)) << what << ": " << e.what();
      }
    }
  }
}

TEST(PrimitiveOperators, AreMadeOfNothingElse) {
  for (const std::string_view name : primitive_operators()) {
    const auto op = Dispatcher::singleton().find(name);
    ASSERT_TRUE(op.has_value()) << name;
    for (const KernelInfo& k : kernels_of(*op)) {
      EXPECT_FALSE(k.key.starts_with("Composite")) << name;
    }
  }
}

TEST(Decompose, NeedsThePrimitiveOperatorsOnly) {
  const Tensor x = sy::tensor({-2.0, -0.5, 0.0, 1.5, 30.0}, kFloat);
  const Tensor there = to_device(x, Device("leaves:0"));
  expect_same(sy::softplus(there).cpu(), sy::softplus(x), "softplus");
  expect_same(sy::gelu(there, "tanh").cpu(), sy::gelu(x, "tanh"), "gelu");
  expect_same(sy::mean(there).cpu(), sy::mean(x), "mean");
  expect_same(sy::any(there).cpu(), sy::any(x), "any");
  const Tensor narrow = x.to(kBFloat16);
  expect_same(sy::silu(to_device(narrow, Device("leaves:0"))).cpu(),
              sy::silu(narrow), "silu of bfloat16, rounded once");
}

TEST(Decompose, GivesNoElementsOfNone) {
  const Tensor x = zeros({3, 0, 0}), there = to_device(x, Device("leaves:0"));
  const auto [low, high] = sy::aminmax(there, 1);
  EXPECT_EQ(low.sizes(), IntArrayRef({3, 0}));
  EXPECT_EQ(high.sizes(), IntArrayRef({3, 0}));
  EXPECT_EQ(sy::amax(there, {1}).sizes(), IntArrayRef({3, 0}));
  EXPECT_EQ(sy::sum(there, {0}, true).sizes(), IntArrayRef({1, 0, 0}));
  expect_same(sy::sum(there, {1, 2}).cpu(), sy::sum(x, {1, 2}), "sum");
  EXPECT_THROW(sy::amax(there, {1, 2}), ValueError);
}

TEST(Decompose, LeavesAWholeCallToTheFallback) {
  const Tensor x = sy::tensor({-2.0, 0.5, 3.0}, kFloat);
  const Tensor there = to_device(x, Device("partial:0"));
  reset_fallback_counts();
  const Tensor y = sy::gelu(there);
  EXPECT_EQ(fallbacks(), std::vector<std::string>{"aten::gelu"});
  EXPECT_EQ(y.device(), there.device());
  expect_same(y.cpu(), sy::gelu(x), "gelu");
  // One that is made of others that are made of others, and a function.
  reset_fallback_counts();
  expect_same(sy::tanh(there).cpu(), sy::tanh(x), "tanh");
  expect_same(sy::_softmax(there, 0, false).cpu(), sy::_softmax(x, 0, false),
              "softmax");
  EXPECT_EQ(fallbacks(),
            (std::vector<std::string>{"aten::_softmax", "aten::tanh"}));
}

TEST(OperatorEntry, TellsAFallbackFromAKernel) {
  const OperatorEntry& exp =
      Dispatcher::singleton().find_or_throw("exp").entry();
  const DeviceType leaves = Device("leaves").type();
  const DeviceType partial = Device("partial").type();
  EXPECT_TRUE(exp.has_kernel(DispatchKey::Dense, leaves));
  EXPECT_FALSE(exp.has_kernel(DispatchKey::Dense, partial));
}

}  // namespace
}  // namespace sy
