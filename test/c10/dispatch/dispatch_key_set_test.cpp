#include "c10/dispatch/dispatch_key_set.h"

#include <gtest/gtest.h>

namespace sy {
namespace {

constexpr DispatchKeySet kAutograd(DispatchKey::Autograd);

TEST(DispatchKeySet, HighestFunctionalityWins) {
  const DispatchKeySet s = DispatchKeySet::dense(kCPU) | kAutograd;
  EXPECT_EQ(s.highest_functionality(), DispatchKey::Autograd);
  EXPECT_EQ((s - kAutograd).highest_functionality(), DispatchKey::Dense);
  EXPECT_EQ(DispatchKeySet().highest_functionality(), DispatchKey::Undefined);
  EXPECT_EQ((s & DispatchKeySet::below(DispatchKey::Autograd)),
            DispatchKeySet::dense(kCPU));
  EXPECT_TRUE((s & DispatchKeySet::from(DispatchKey::Autograd))
                  .has(DispatchKey::Autograd));
}

TEST(DispatchKeySet, BackendsHaveKeysOfTheirOwn) {
  static_assert(DispatchKeySet(DispatchKey::CPU) ==
                DispatchKeySet::dense(kCPU));
  static_assert(DispatchKeySet(DispatchKey::AutogradPrivateUse1) ==
                DispatchKeySet::autograd(kPrivateUse1));
  const DispatchKeySet s = DispatchKeySet::dense(kCUDA);
  EXPECT_TRUE(s.has(DispatchKey::CUDA));
  EXPECT_FALSE(s.has(DispatchKey::AutogradCUDA));
  EXPECT_FALSE(s.has(DispatchKey::CPU));
  EXPECT_TRUE((s | kAutograd).has(DispatchKey::AutogradCUDA));
}

TEST(DispatchKeySet, KnowsWhenBackendsMix) {
  const DispatchKeySet cpu = DispatchKeySet::dense(kCPU);
  const DispatchKeySet meta = DispatchKeySet::dense(kMeta);
  EXPECT_FALSE(cpu.mixed_backends());
  EXPECT_TRUE((cpu | meta).mixed_backends());
  EXPECT_EQ((cpu | meta).highest_backend(), kMeta);
}

TEST(DispatchKeySet, PrintsTheNamesThatRegistrationsUse) {
  EXPECT_EQ(to_string(DispatchKeySet()), "DispatchKeySet()");
  EXPECT_EQ(to_string(DispatchKeySet::dense(kCPU) | kAutograd),
            "DispatchKeySet(CPU, AutogradCPU)");
  EXPECT_EQ(
      to_string(DispatchKeySet::dense(kCPU) | DispatchKeySet::dense(kMeta) |
                DispatchKeySet(DispatchKey::BackendSelect)),
      "DispatchKeySet(CPU, Meta, BackendSelect)");
  EXPECT_EQ(to_string(kAutograd), "DispatchKeySet(Autograd)");
  EXPECT_EQ(to_string(DispatchKeySet::backend(kCPU)),
            "DispatchKeySet(backend CPU)");
}

}  // namespace
}  // namespace sy
