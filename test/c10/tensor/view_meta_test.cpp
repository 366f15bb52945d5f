#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "c10/tensor/tensor_impl.h"

namespace sy {
namespace {

using Impl = intrusive_ptr<TensorImpl>;

Impl tensor() { return make_tensor({2}, kFloat, Device(kCPU)); }

Impl view_of(const Impl& parent) {
  const int64_t arg = 1;
  Impl v = parent->alias();
  v->set_view_meta(
      ViewMeta::make(parent, nullptr, &arg, 1, ViewCreation::Default));
  return v;
}

TEST(ViewMeta, KeepsItsArguments) {
  for (const int n : {0, 1, 9, 10, 200}) {
    std::vector<int64_t> args(static_cast<size_t>(n));
    std::iota(args.begin(), args.end(), -3);
    const auto* op = reinterpret_cast<const OperatorEntry*>(&args);
    const auto m =
        ViewMeta::make(tensor(), op, args.data(), n, ViewCreation::NoGrad);
    ASSERT_EQ(m->num_args(), n);
    EXPECT_TRUE(std::equal(args.begin(), args.end(), m->args()));
    EXPECT_EQ(m->op(), op);
    EXPECT_EQ(m->creation(), ViewCreation::NoGrad);
    EXPECT_EQ(m->output(), 0);
  }
}

TEST(ViewMeta, RootIsTheEndOfTheChain) {
  const Impl base = tensor();
  EXPECT_EQ(base->view_root(), base.get());
  const Impl v = view_of(view_of(base));
  EXPECT_EQ(v->view_root(), base.get());
  EXPECT_EQ(v->view_meta()->parent()->view_root(), base.get());
}

TEST(ViewMeta, LongChainsAreFreedWithoutRecursion) {
  const int64_t before = memory_stats().allocated;
  Impl x = tensor();
  for (int i = 0; i < 300000; ++i) x = view_of(x);
  x.reset();
  EXPECT_EQ(memory_stats().allocated, before);
}

TEST(ViewMeta, AParentWithOtherOwnersKeepsItsChain) {
  const Impl base = tensor();
  Impl middle = view_of(base);
  Impl leaf = view_of(middle);
  leaf.reset();
  ASSERT_TRUE(middle->view_meta());
  EXPECT_EQ(middle->view_root(), base.get());

  leaf = view_of(middle);
  const weak_intrusive_ptr<TensorImpl> weak(middle);
  middle.reset();
  EXPECT_TRUE(weak.lock()->view_meta());
  leaf.reset();
  EXPECT_TRUE(weak.expired());
  EXPECT_EQ(base.use_count(), 1u);
}

}  // namespace
}  // namespace sy
