#include "aten/backend/pending.h"

#include <gtest/gtest.h>

#include <atomic>
#include <sstream>
#include <thread>

#include "aten/dlpack.h"
#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/foreach_arithmetic.h"
#include "aten/ops/ranges.h"
#include "aten/ops/reduction.h"
#include "aten/ops/shape.h"
#include "aten/ops/view.h"
#include "aten/ops/view_inplace.h"
#include "aten/print.h"
#include "autograd/api.h"
#include "test/aten/tensor_values.h"
#include "test/c10/expect_error.h"

namespace sy {
namespace {

using Values = std::vector<double>;

// Gives 0, 1, 2 … when someone waits.
class Maker final : public StoragePayload {
 public:
  explicit Maker(Tensor value)
      : StoragePayload(value.device().type()), value_(std::move(value)) {}
  ~Maker() override {
    if (gone != nullptr) *gone = true;
  }
  void materialize(StorageImpl& s) override {
    ++waits;
    if (fails) throw ValueError("[maker] the sender is gone");
    if (s.nbytes() != 0) s.take_memory(value_.storage());
  }
  const char* describe() const noexcept override { return "a result"; }

  std::atomic<int> waits{0};
  std::atomic<bool> fails{false};
  bool* gone = nullptr;

 private:
  Tensor value_;
};

struct Late {
  explicit Late(std::vector<int64_t> sizes = {2, 3},
                ScalarType dtype = kFloat) {
    int64_t n = 1;
    for (const int64_t s : sizes) n *= s;
    maker = make_intrusive<Maker>(arange(n, TensorOptions(dtype)));
    tensor = pending_tensor(sizes, dtype, Device(kCPU), maker);
  }
  int waits() const { return maker->waits; }
  intrusive_ptr<Maker> maker;
  Tensor tensor;
};

TEST(Pending, MetadataDoesNotWait) {
  const Late p({2, 3}, kInt);
  EXPECT_TRUE(is_pending(p.tensor));
  EXPECT_EQ(ints(p.tensor.sizes()), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(ints(p.tensor.strides()), (std::vector<int64_t>{3, 1}));
  EXPECT_EQ(p.tensor.scalar_type(), kInt);
  EXPECT_EQ(p.tensor.device(), Device(kCPU));
  EXPECT_TRUE(p.tensor.is_contiguous());
  EXPECT_EQ(p.tensor.nbytes(), 24u);
  EXPECT_EQ(p.tensor.numel(), 6);
  EXPECT_EQ(p.waits(), 0);
}

TEST(Pending, TheFirstOperatorWaits) {
  const Late p;
  EXPECT_EQ(values(p.tensor + 1), (Values{1, 2, 3, 4, 5, 6}));
  EXPECT_FALSE(is_pending(p.tensor));
  EXPECT_EQ(p.waits(), 1);
  EXPECT_EQ(values(p.tensor * 2), (Values{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(p.waits(), 1);
}

TEST(Pending, EveryPlaceOfAnArgumentWaits) {
  const Tensor one = ones({2, 3});
  {
    const Late p;
    EXPECT_EQ(values(one + p.tensor)[5], 6);
  }
  {
    const Late p, q;
    const std::vector<Tensor> list{p.tensor, one, q.tensor};
    EXPECT_EQ(values(cat(list)).size(), 18u);
    EXPECT_EQ(p.waits() + q.waits(), 2);
  }
  {
    const Late p, q;
    EXPECT_EQ(values((p.tensor + q.tensor).sum()), Values{30});
  }
  {
    Late p;
    const std::vector<Tensor> list{p.tensor};
    _foreach_add_(list, 1);
    EXPECT_EQ(values(p.tensor)[0], 1);
  }
}

TEST(Pending, ViewsWaitAndShareTheMemory) {
  const Late p;
  const Tensor row = p.tensor.select(0, 1);
  EXPECT_EQ(p.waits(), 1);
  EXPECT_FALSE(is_pending(row));
  p.tensor.add_(1);
  EXPECT_EQ(values(row), (Values{4, 5, 6}));
}

TEST(Pending, AliasesThatNoOperatorMadeAreReadWithoutWaitingAgain) {
  const Late p;
  const Tensor alias(p.tensor.impl()->alias());
  EXPECT_TRUE(is_pending(alias));
  EXPECT_EQ(values(p.tensor.sum()), Values{15});
  EXPECT_TRUE(is_pending(alias));
  EXPECT_EQ(values(alias + 0), (Values{0, 1, 2, 3, 4, 5}));
  EXPECT_FALSE(is_pending(alias));
  EXPECT_EQ(p.waits(), 1);
}

TEST(Pending, WritesWaitToo) {
  Late p;
  p.tensor.mul_(2);
  EXPECT_EQ(values(p.tensor), (Values{0, 2, 4, 6, 8, 10}));
  Late q;
  q.tensor.copy_(ones({2, 3}));
  EXPECT_EQ(values(q.tensor), Values(6, 1.0));
  Late r;
  add_out(r.tensor, ones({2, 3}), ones({2, 3}));
  EXPECT_EQ(values(r.tensor), Values(6, 2.0));
  EXPECT_EQ(p.waits() + q.waits() + r.waits(), 3);
}

TEST(Pending, ItCanBeResized) {
  Late p(std::vector<int64_t>{2});
  p.tensor.resize_({4});
  EXPECT_EQ(p.tensor.numel(), 4);
  EXPECT_EQ(values(p.tensor.narrow(0, 0, 2)), (Values{0, 1}));
}

TEST(Pending, PointersPrintingAndDlpackWait) {
  const Late p;
  EXPECT_EQ(p.tensor.data_ptr<float>()[4], 4);
  EXPECT_EQ(p.waits(), 1);
  // No operator has seen it, so the key is still there.
  EXPECT_EQ(values(p.tensor + 1)[0], 1);
  EXPECT_EQ(p.waits(), 1);

  const Late q(std::vector<int64_t>{2});
  std::ostringstream out;
  out << q.tensor;
  EXPECT_NE(out.str().find("1"), std::string::npos) << out.str();
  EXPECT_EQ(q.waits(), 1);

  const Late r(std::vector<int64_t>{2});
  dlpack::Managed* const m = to_dlpack(r.tensor);
  EXPECT_EQ(static_cast<const float*>(m->tensor.data)[1], 1);
  m->deleter(m);
  EXPECT_EQ(r.waits(), 1);

  const Late s(std::vector<int64_t>{1}, kLong);
  EXPECT_EQ(s.tensor.item<int64_t>(), 0);
}

TEST(Pending, EveryDtype) {
  for (const ScalarType t :
       {kByte, kChar, kShort, kInt, kLong, kHalf, kFloat, kDouble, kBFloat16}) {
    const Late p(std::vector<int64_t>{3}, t);
    EXPECT_EQ(values(p.tensor.to(kDouble)), (Values{0, 1, 2})) << t;
  }
}

TEST(Pending, WithoutElementsOnlyOperatorsWait) {
  const Late p({0, 3});
  EXPECT_TRUE(is_pending(p.tensor));
  EXPECT_EQ(p.tensor.data_ptr(), nullptr);
  EXPECT_EQ(p.waits(), 0);
  p.maker->fails = true;
  SY_EXPECT_ERROR(p.tensor + 1, ValueError, "the sender is gone");
  p.maker->fails = false;
  EXPECT_EQ((p.tensor + 1).numel(), 0);
  EXPECT_EQ(p.waits(), 2);
  EXPECT_FALSE(is_pending(p.tensor));
}

TEST(Pending, WrongSizesAreRefused) {
  const auto maker = make_intrusive<Maker>(ones({1}));
  SY_EXPECT_ERROR(pending_tensor({-1}, kFloat, Device(kCPU), maker), ValueError,
                  "pending_tensor");
  SY_EXPECT_ERROR(pending_tensor({int64_t{1} << 40, int64_t{1} << 40}, kFloat,
                                 Device(kCPU), maker),
                  ValueError, "pending_tensor");
}

TEST(Pending, ItsErrorReachesEveryUseUntilItWorks) {
  const Late p;
  p.maker->fails = true;
  SY_EXPECT_ERROR(p.tensor + 1, ValueError, "the sender is gone");
  EXPECT_TRUE(is_pending(p.tensor));
  SY_EXPECT_ERROR(p.tensor.data_ptr(), ValueError, "the sender is gone");
  SY_EXPECT_ERROR(p.tensor.sum(), ValueError, "the sender is gone");
  p.maker->fails = false;
  EXPECT_EQ(values(p.tensor.sum()), Values{15});
}

TEST(Pending, NothingWaitsForOneThatIsDropped) {
  bool gone = false;
  int waits;
  {
    Late p;
    p.maker->gone = &gone;
    const intrusive_ptr<Maker> maker = std::move(p.maker);
    p.tensor = Tensor();
    EXPECT_FALSE(gone);
    waits = maker->waits;
  }
  EXPECT_TRUE(gone);
  EXPECT_EQ(waits, 0);
}

TEST(Pending, WaitPendingIsForAnyTensor) {
  wait_pending(Tensor());
  wait_pending(ones({2}));
  const Late p;
  wait_pending(p.tensor);
  EXPECT_FALSE(is_pending(p.tensor));
  EXPECT_EQ(p.waits(), 1);
  EXPECT_FALSE(is_pending(Tensor()));
}

TEST(Pending, ALeafCanBePending) {
  Late p;
  p.tensor.requires_grad_();
  EXPECT_EQ(p.waits(), 0);
  const Tensor y = (p.tensor * p.tensor).sum();
  EXPECT_EQ(p.waits(), 1);
  y.backward();
  EXPECT_EQ(values(p.tensor.grad()), (Values{0, 2, 4, 6, 8, 10}));
}

TEST(Pending, AGradientCanBePending) {
  const Tensor x = ones({2, 3}).requires_grad_();
  const Late p, q;
  (x + 0).backward(p.tensor);
  (x + 0).backward(q.tensor);
  EXPECT_EQ(values(x.grad()), (Values{0, 2, 4, 6, 8, 10}));
  const Late r;
  Tensor z = ones({2, 3});
  z.mutable_grad() = r.tensor;
  EXPECT_EQ(r.waits(), 0);
  EXPECT_EQ(values(z.grad() + 0)[5], 5);
}

TEST(Pending, DetachKeepsItPending) {
  const Late p;
  const Tensor d = p.tensor.detach();
  EXPECT_EQ(values(d + 0), (Values{0, 1, 2, 3, 4, 5}));
  EXPECT_TRUE(d.is_alias_of(p.tensor));
  EXPECT_EQ(p.waits(), 1);
}

TEST(Pending, ManyThreadsMayUseIt) {
  for (int round = 0; round < 50; ++round) {
    const Late p;
    std::vector<std::thread> threads;
    std::atomic<int> right{0};
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        if (values((p.tensor + 1).sum()) == Values{21}) ++right;
      });
    }
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(right, 4);
  }
}

}  // namespace
}  // namespace sy
