#include "aten/dlpack.h"

#include <gtest/gtest.h>

#include <limits>

#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/view.h"
#include "aten/tensor_new.h"
#include "test/aten/late_tensor.h"
#include "test/aten/tensor_values.h"
#include "test/c10/expect_error.h"

namespace sy {
namespace {

using Values = std::vector<double>;
using List = std::vector<int64_t>;

constexpr ScalarType kAll[] = {kByte, kChar,  kShort,  kInt,  kLong,
                               kHalf, kFloat, kDouble, kBool, kBFloat16};

template <class M>
M* exported(const Tensor& t) {
  if constexpr (std::is_same_v<M, dlpack::Managed>) {
    return to_dlpack(t);
  } else {
    return to_dlpack_versioned(t);
  }
}

template <class M>
class Dlpack : public testing::Test {};
using Kinds = testing::Types<dlpack::Managed, dlpack::ManagedVersioned>;
TYPED_TEST_SUITE(Dlpack, Kinds);

TYPED_TEST(Dlpack, RoundTripsShareMemory) {
  for (const ScalarType dtype : kAll) {
    const Tensor t = arange(6).reshape({2, 3}).to(dtype).t();
    const Tensor u = from_dlpack(exported<TypeParam>(t));
    EXPECT_EQ(u.scalar_type(), dtype);
    EXPECT_EQ(u.data_ptr(), t.data_ptr());
    EXPECT_EQ(ints(u.sizes()), (List{3, 2}));
    EXPECT_EQ(ints(u.strides()), (List{1, 3}));
    EXPECT_EQ(values(u), values(t));
  }
}

TYPED_TEST(Dlpack, ViewsScalarsAndEmptyTensors) {
  const Tensor t = arange(12).reshape({3, 4});
  EXPECT_EQ(values(from_dlpack(exported<TypeParam>(t.slice(1, 1, 4, 2)))),
            (Values{1, 3, 5, 7, 9, 11}));
  EXPECT_EQ(values(from_dlpack(exported<TypeParam>(tensor(7.0)))), Values{7});
  EXPECT_EQ(
      ints(from_dlpack(exported<TypeParam>(zeros({0, 3}, kFloat))).sizes()),
      (List{0, 3}));
}

TYPED_TEST(Dlpack, TensorsWithoutMemoryGetSome) {
  const LateTensor late(tensor({1.0, 2.0, 3.0}, kDouble), Device(kCPU));
  const Tensor u = from_dlpack(exported<TypeParam>(late.tensor));
  EXPECT_EQ(values(u), (Values{1, 2, 3}));
  EXPECT_EQ(u.data_ptr(), late.tensor.data_ptr());
  EXPECT_EQ(late.payload->runs, 1);
  EXPECT_TRUE(late.tensor.storage()->is_handed_out());
}

TYPED_TEST(Dlpack, MemoryLivesUntilTheDeleterIsCalled) {
  Tensor t = arange(4);
  const TensorBase weak = t;
  TypeParam* const m = exported<TypeParam>(t);
  EXPECT_GT(t.storage()->use_count(), 1u);
  Tensor u = from_dlpack(m);
  const int64_t* const memory = t.template data_ptr<int64_t>();
  t = Tensor();
  EXPECT_EQ(memory[3], 3);
  EXPECT_EQ(weak.storage()->use_count(), 2u);
  u = Tensor();
  EXPECT_EQ(weak.storage()->use_count(), 1u);
  TypeParam* const unused = exported<TypeParam>(arange(3));
  unused->deleter(unused);
}

// Memory of another library's.
template <class M>
struct Foreign {
  alignas(8) float data[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  int64_t shape[2] = {2, 2};
  int64_t strides[2] = {3, 1};
  int deleted = 0;
  M managed{};

  Foreign() {
    managed.tensor = {data,  {dlpack::kDeviceCpu, 0},
                      2,     {dlpack::kFloat, 32, 1},
                      shape, strides,
                      4};
    managed.context = this;
    managed.deleter = [](M* m) {
      ++static_cast<Foreign*>(m->context)->deleted;
    };
    if constexpr (requires { managed.version; }) {
      managed.version = dlpack::kVersion;
    }
  }
};

TYPED_TEST(Dlpack, OffsetStridesAndDeleterOfOthers) {
  Foreign<TypeParam> f;
  {
    const Tensor t = from_dlpack(&f.managed);
    EXPECT_EQ(values(t), (Values{1, 2, 4, 5}));
    EXPECT_EQ(t.data_ptr(), f.data + 1);
    const Tensor view = t.select(0, 1);
    EXPECT_EQ(f.deleted, 0);
  }
  EXPECT_EQ(f.deleted, 1);
  f.managed.tensor.strides = nullptr;
  f.managed.deleter = nullptr;
  EXPECT_EQ(values(from_dlpack(&f.managed)), (Values{1, 2, 3, 4}));
}

TYPED_TEST(Dlpack, BadInputStaysTheCallers) {
  const auto rejects = [](auto change, const char* text, bool type = false) {
    Foreign<TypeParam> f;
    change(f);
    if (type) {
      SY_EXPECT_ERROR(from_dlpack(&f.managed), TypeError, text);
    } else {
      SY_EXPECT_ERROR(from_dlpack(&f.managed), ValueError, text);
    }
    EXPECT_EQ(f.deleted, 0) << text;
  };
  rejects([](auto& f) { f.managed.tensor.device.type = 2; },
          "[from_dlpack] device: expected cpu (1), got 2");
  rejects([](auto& f) { f.managed.tensor.dtype.lanes = 4; },
          "[from_dlpack] dtype", true);
  rejects(
      [](auto& f) {
        f.managed.tensor.dtype = {5, 64, 1};
      },
      "got code 5 of 64 bits", true);
  rejects([](auto& f) { f.managed.tensor.ndim = -1; },
          "[from_dlpack] ndim: expected 0 to 64, got -1");
  rejects([](auto& f) { f.managed.tensor.ndim = 1 << 30; }, "ndim");
  rejects([](auto& f) { f.managed.tensor.shape = nullptr; }, "shape");
  rejects([](auto& f) { f.shape[0] = -2; }, "sizes of at least 0");
  rejects([](auto& f) { f.managed.tensor.data = nullptr; }, "data");
  rejects([](auto& f) { f.managed.tensor.byte_offset = 2; }, "data");
  rejects([](auto& f) { f.strides[0] = -3; }, "strides");
  rejects(
      [](auto& f) {
        f.shape[0] = f.shape[1] = int64_t{1} << 40;
        f.strides[0] = std::numeric_limits<int64_t>::max();
      },
      "from_blob");
  SY_EXPECT_ERROR(from_dlpack(static_cast<TypeParam*>(nullptr)), ValueError,
                  "got a null pointer");
  SY_EXPECT_ERROR(exported<TypeParam>(Tensor()), ValueError, "undefined");
  SY_EXPECT_ERROR(
      exported<TypeParam>(empty({2}, TensorOptions().device(kMeta))),
      ValueError, "expected a tensor on cpu");
}

TEST(DlpackVersioned, VersionAndReadOnlyMemory) {
  Foreign<dlpack::ManagedVersioned> f;
  f.managed.flags = dlpack::kReadOnly;
  const Tensor t = from_dlpack(&f.managed);
  EXPECT_EQ(f.deleted, 1);
  t.fill_(9);
  EXPECT_EQ(f.data[1], 1);
  f.managed.version.major = 2;
  SY_EXPECT_ERROR(from_dlpack(&f.managed), ValueError,
                  "[from_dlpack] version: expected 1.x, got 2.0");
}

}  // namespace
}  // namespace sy
