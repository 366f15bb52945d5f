#include "c10/tensor/tensor_impl.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "c10/device/backend.h"
#include "test/c10/expect_error.h"

namespace sy {
namespace {

using Impl = intrusive_ptr<TensorImpl>;
const Device kCpu(kCPU);
constexpr int64_t kHuge = int64_t{1} << 62;

Impl make(std::vector<int64_t> sizes, ScalarType t = kFloat, Device d = kCpu) {
  return make_tensor(sizes, t, d);
}
Impl strided(std::vector<int64_t> sizes, std::vector<int64_t> strides) {
  return make_tensor_strided(sizes, strides, kFloat, kCpu);
}

TEST(TensorImpl, MakesContiguousTensorsOfAnyRank) {
  for (size_t dim = 0; dim <= 64; ++dim) {
    std::vector<int64_t> sizes(dim, 1);
    for (size_t d = 0; d < dim && d < 4; ++d) {
      sizes[d * dim / std::min<size_t>(dim, 4)] = 2 + int64_t(d);
    }
    const Impl t = make(sizes);
    EXPECT_EQ(t->sizes(), IntArrayRef(sizes));
    EXPECT_EQ(t->dim(), int64_t(dim));
    std::vector<int64_t> strides(dim);
    contiguous_strides(sizes, strides.data());
    EXPECT_EQ(t->strides(), IntArrayRef(strides));
    EXPECT_TRUE(t->is_contiguous());
    int64_t n = 1;
    for (const int64_t s : sizes) n *= s;
    EXPECT_EQ(t->numel(), n);
    EXPECT_EQ(t->storage()->nbytes(), size_t(n) * 4);
    EXPECT_EQ(t->key_set(), DispatchKeySet::dense(kCPU));
  }
}

TEST(TensorImpl, StridesOfEmptyTensorsAreThoseOfSizeOne) {
  const Impl t = make({2, 0, 3});
  EXPECT_EQ(t->numel(), 0);
  EXPECT_EQ(t->strides(), IntArrayRef({3, 3, 1}));
  EXPECT_EQ(t->data(), nullptr);
  EXPECT_TRUE(t->is_contiguous());
}

TEST(CheckedNumel, RefusesNegativeSizes) {
  SY_EXPECT_ERROR(make({2, -1}), ValueError,
                  "[empty] size: expected non-negative, got -1 in [2, -1]");
  SY_EXPECT_ERROR(make({0, -1}), ValueError, "got -1 in [0, -1]");
}

TEST(CheckedNumel, RefusesOverflow) {
  SY_EXPECT_ERROR(make({kHuge, 2}), ValueError,
                  "[empty] size: the tensor would have more than 2^63-1 "
                  "elements: [4611686018427387904, 2]");
  SY_EXPECT_ERROR(make({kHuge}), ValueError,
                  "the tensor would have more than 2^63-1 bytes");
  EXPECT_EQ(checked_numel("op", IntArrayRef({kHuge})), kHuge);
  SY_EXPECT_ERROR(checked_numel("op", IntArrayRef({kHuge}), 2), ValueError,
                  "[op] size");
}

TEST(CheckedNumel, AZeroMakesAnyProductZero) {
  EXPECT_EQ(checked_numel("op", IntArrayRef({kHuge, kHuge, 0}), 8), 0);
  EXPECT_EQ(checked_numel("op", IntArrayRef({0, kHuge, kHuge}), 8), 0);
  EXPECT_EQ(make({kHuge, kHuge, 0})->numel(), 0);
}

TEST(CheckedNumel, RefusesTooManyDims) {
  SY_EXPECT_ERROR(make(std::vector<int64_t>(65, 1)), ValueError,
                  "[empty] size: expected at most 64 dims, got 65");
}

TEST(MakeTensor, MoreThanTheMachineHasIsAnError) {
  SY_EXPECT_ERROR(make({int64_t{1} << 50}), OutOfMemoryError,
                  "asked for 4503599627370496 bytes");
  EXPECT_EQ(make({int64_t{1} << 50}, kFloat, Device(kMeta))->data(), nullptr);
}

TEST(MakeTensor, RefusesWhatIsNoDtypeOrDevice) {
  SY_EXPECT_ERROR(make({1}, ScalarType::Undefined), TypeError,
                  "[empty] dtype: expected a dtype, got undefined");
  SY_EXPECT_ERROR(make({1}, static_cast<ScalarType>(200)), TypeError,
                  "[empty] dtype");
  SY_EXPECT_ERROR(make({1}, kFloat, Device(device_type_of(200))), ValueError,
                  "no backend has the number 200");
  SY_EXPECT_ERROR(make({1}, kFloat, Device(kCPU, 1)), ValueError,
                  "[empty] device: there is one 'cpu' device, got 'cpu:1'");
  SY_EXPECT_ERROR(make_tensor_strided({1}, {1}, kFloat, Device(kCPU, 1)),
                  ValueError, "[empty_strided] device: there is one 'cpu'");
}

TEST(MakeTensor, CpuAndMetaDevicesHaveNoIndex) {
  EXPECT_EQ(make({1}, kFloat, Device(kCPU, 0))->device(), kCpu);
  EXPECT_EQ(make({1}, kFloat, Device(kMeta, 0))->device(), Device(kMeta));
}

TEST(MakeTensor, StridedReachesItsLastElement) {
  const Impl t = strided({2, 3}, {1, 2});
  EXPECT_EQ(t->storage()->nbytes(), 6u * 4);
  EXPECT_FALSE(t->is_contiguous());
  EXPECT_EQ(strided({2, 3}, {10, 1})->storage()->nbytes(), 13u * 4);
  EXPECT_EQ(strided({4}, {0})->storage()->nbytes(), 4u);
  EXPECT_EQ(strided({0, 4}, {kHuge, kHuge})->storage()->nbytes(), 0u);
  SY_EXPECT_ERROR(strided({2}, {-1}), ValueError,
                  "[empty_strided] stride: expected non-negative, got -1 in "
                  "[-1]");
  SY_EXPECT_ERROR(strided({2}, {1, 1}), ValueError,
                  "[empty_strided] stride: expected 1 strides, one for each "
                  "size, got 2");
  SY_EXPECT_ERROR(strided({3, 2}, {kHuge, 1}), ValueError,
                  "more than 2^63-1 bytes: size [3, 2]");
}

TEST(TensorImpl, KnowsItsLayout) {
  const struct {
    std::vector<int64_t> sizes, strides;
    bool contiguous, dense;
  } cases[] = {
      {{2, 3}, {3, 1}, true, true},
      {{2, 3}, {1, 2}, false, true},
      {{2, 3}, {4, 1}, false, false},
      {{1, 3}, {99, 1}, true, true},
      {{3, 1}, {1, 77}, true, true},
      {{2, 3}, {0, 1}, false, false},
      {{2, 0}, {7, 9}, true, true},
      {{1}, {5}, true, true},
      {{2}, {2}, false, false},
      {{}, {}, true, true},
      {{2, 3, 4}, {1, 8, 2}, false, true},
      {{2, 2, 2, 2, 2, 2}, {1, 2, 4, 8, 16, 32}, false, true},
      {{2, 2, 2, 2, 2, 2}, {1, 2, 4, 8, 16, 33}, false, false},
  };
  for (const auto& c : cases) {
    const Impl t = strided(c.sizes, c.strides);
    const std::string name =
        to_string(IntArrayRef(c.sizes)) + to_string(IntArrayRef(c.strides));
    EXPECT_EQ(t->is_contiguous(), c.contiguous) << name;
    EXPECT_EQ(t->is_non_overlapping_and_dense(), c.dense) << name;
    EXPECT_EQ(t->strides(), IntArrayRef(c.strides));
  }
}

TEST(TensorImpl, KnowsChannelsLast) {
  constexpr auto kLast = MemoryFormat::ChannelsLast;
  constexpr auto kLast3d = MemoryFormat::ChannelsLast3d;
  const Impl t = strided({2, 3, 4, 5}, {60, 1, 15, 3});
  EXPECT_TRUE(t->is_contiguous(kLast));
  EXPECT_FALSE(t->is_contiguous());
  EXPECT_FALSE(t->is_contiguous(kLast3d));
  EXPECT_TRUE(t->is_non_overlapping_and_dense());
  EXPECT_FALSE(make({2, 3, 4, 5})->is_contiguous(kLast));
  EXPECT_TRUE(make({2, 1, 4, 5})->is_contiguous(kLast)) << "one channel";
  EXPECT_TRUE(make({2, 3, 1, 1})->is_contiguous(kLast)) << "one pixel";
  EXPECT_TRUE(
      strided({2, 3, 4, 5, 6}, {360, 1, 90, 18, 3})->is_contiguous(kLast3d));
  EXPECT_FALSE(make({3, 4, 5})->is_contiguous(kLast));
  EXPECT_TRUE(make({3, 4})->is_contiguous(MemoryFormat::Contiguous));
}

TEST(TensorImpl, AliasSharesStorageOnly) {
  Impl t = make({4, 6});
  t->add_keys(DispatchKey::Autograd);
  t->set_wrapped_number(true);
  t->set_inference(true);
  const Impl a = t->alias({2, 3}, {6, 2}, 7);
  EXPECT_EQ(a->storage(), t->storage());
  EXPECT_EQ(a->data(), static_cast<char*>(t->data()) + 28);
  EXPECT_EQ(a->storage_offset(), 7);
  EXPECT_EQ(a->numel(), 6);
  EXPECT_FALSE(a->is_contiguous());
  EXPECT_FALSE(a->key_set().has(DispatchKey::Autograd));
  EXPECT_FALSE(a->is_wrapped_number());
  EXPECT_TRUE(a->is_inference());
  t->set_inference(false);
  t->bump_version(nullptr);
  EXPECT_EQ(a->version(), 1u);
}

TEST(TensorImpl, AnAliasKnowsItsLayout) {
  const Impl t = make({4, 6});
  const auto alias = [&](IntArrayRef sizes, IntArrayRef strides) {
    const Impl a = t->alias(sizes, strides, 1);
    EXPECT_EQ(a->sizes(), sizes);
    EXPECT_EQ(a->strides(), strides);
    EXPECT_EQ(a->storage_offset(), 1);
    return a;
  };
  EXPECT_TRUE(alias({2, 3}, {3, 1})->is_contiguous());
  EXPECT_FALSE(alias({2, 3}, {1, 2})->is_contiguous());
  EXPECT_TRUE(alias({1, 2, 1, 3}, {9, 3, 7, 1})->is_contiguous());
  EXPECT_FALSE(alias({2, 3}, {0, 1})->is_contiguous());
  EXPECT_TRUE(alias({}, {})->is_contiguous());
  EXPECT_EQ(alias({}, {})->numel(), 1);
  EXPECT_TRUE(alias({2, 0, 3}, {1, 5, 7})->is_contiguous()) << "no elements";
  EXPECT_EQ(alias({2, 0, 3}, {1, 5, 7})->numel(), 0);
  EXPECT_EQ(alias({2, 1, 1, 3, 1}, {3, 3, 3, 1, 1})->numel(), 6);
  EXPECT_TRUE(alias({2, 1, 1, 1, 1, 3}, {3, 3, 3, 3, 3, 1})->is_contiguous());
  EXPECT_FALSE(alias({2, 1, 1, 1, 1, 3}, {1, 1, 1, 1, 1, 2})->is_contiguous());
  SY_EXPECT_ERROR(t->alias({2, 3}, {1}, 0), InternalError,
                  "2 sizes, 1 strides");
}

TEST(TensorImpl, SizesMayComeFromTheTensorItself) {
  Impl t = make({2, 3, 4, 5, 6, 7});
  t->set_sizes_and_strides(t->sizes().slice(1, 5), t->strides().slice(1, 5), 3);
  EXPECT_EQ(t->sizes(), IntArrayRef({3, 4, 5, 6, 7}));
  EXPECT_EQ(t->strides(), IntArrayRef({840, 210, 42, 7, 1}));
  t->set_sizes_and_strides(t->sizes().slice(2, 3), t->strides().slice(2, 3), 0);
  EXPECT_EQ(t->sizes(), IntArrayRef({5, 6, 7}));
  EXPECT_EQ(t->strides(), IntArrayRef({42, 7, 1}));
  t->set_sizes_contiguous(t->sizes().slice(1, 2));
  EXPECT_EQ(t->sizes(), IntArrayRef({6, 7}));
  EXPECT_EQ(t->strides(), IntArrayRef({7, 1}));
  t->set_sizes_contiguous({1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(t->numel(), 5040);
  t->set_sizes_contiguous(t->sizes());
  t->set_sizes_contiguous({});
  EXPECT_EQ(t->numel(), 1);
  EXPECT_EQ(t->dim(), 0);
}

TEST(TensorImpl, SizesAndStridesMustMatch) {
  Impl t = make({2});
  SY_EXPECT_ERROR(t->set_sizes_and_strides({2}, {1, 1}, 0), InternalError,
                  "1 sizes, 2 strides");
}

TEST(TensorImpl, ResizeGrowsTheStorageAndKeepsElements) {
  Impl t = make({2, 2});
  static_cast<float*>(t->data())[3] = 9;
  t->resize({40, 40});
  EXPECT_EQ(t->sizes(), IntArrayRef({40, 40}));
  EXPECT_EQ(static_cast<float*>(t->data())[3], 9);
  EXPECT_EQ(t->storage()->nbytes(), 6400u);
  t->resize({3});
  EXPECT_EQ(t->storage()->nbytes(), 6400u) << "never shrinks";
  t->resize({kHuge, 0});
  EXPECT_EQ(t->numel(), 0);
}

TEST(TensorImpl, ResizeToItsOwnSizesKeepsStrides) {
  Impl t = strided({2, 3}, {1, 2});
  t->resize({2, 3});
  EXPECT_EQ(t->strides(), IntArrayRef({1, 2}));
}

TEST(TensorImpl, ResizeCountsTheOffset) {
  const Impl base = make({10});
  const Impl tail = base->alias({2}, {1}, 8);
  tail->resize({5});
  EXPECT_EQ(base->storage()->nbytes(), 13u * 4);
  SY_EXPECT_ERROR(tail->resize({kHuge / 2 - 5}), ValueError,
                  "[resize_] size: the tensor would end more than 2^63-1 "
                  "bytes into its storage");
}

TEST(TensorImpl, FailedResizeChangesNothing) {
  Impl t = make({2, 3});
  SY_EXPECT_ERROR(t->resize({-1}), ValueError,
                  "[resize_] size: expected non-negative, got -1 in [-1]");
  SY_EXPECT_ERROR(t->resize({int64_t{1} << 50}), OutOfMemoryError, "asked");
  int value = 0;
  Impl fixed =
      TensorImpl::make(StorageImpl::adopt(&value, 4, kCpu, nullptr, nullptr),
                       kInt, kCpu, DispatchKeySet::dense(kCPU), {1});
  SY_EXPECT_ERROR(fixed->resize({2}), Error, "cannot be resized from 4 to 8");
  EXPECT_EQ(t->sizes(), IntArrayRef({2, 3}));
  EXPECT_EQ(fixed->sizes(), IntArrayRef({1}));
}

TEST(TensorImpl, ShallowCopyTakesAllButAutograd) {
  Impl a = make({2, 3});
  a->add_keys(DispatchKey::Autograd);
  Impl b = make({2, 2, 2, 2, 2, 2, 2}, kLong, Device(kMeta));
  b->add_keys(DispatchKey::Batched);
  a->shallow_copy_from(*b);
  EXPECT_EQ(a->sizes(), b->sizes());
  EXPECT_EQ(a->strides(), b->strides());
  EXPECT_EQ(a->storage(), b->storage());
  EXPECT_EQ(a->dtype(), kLong);
  EXPECT_TRUE(a->device().is_meta());
  EXPECT_TRUE(a->key_set().has(DispatchKey::Autograd));
  EXPECT_TRUE(a->key_set().has(DispatchKey::Batched));
  EXPECT_FALSE(a->key_set().has_backend(kCPU));
  a->shallow_copy_from(*a);
  EXPECT_EQ(a->numel(), 128);
}

int metas = 0;
struct CountedMeta : AutogradMeta {
  CountedMeta() { ++metas; }
  ~CountedMeta() override { --metas; }
};
struct CountedBackendMeta : BackendMeta {
  CountedBackendMeta() { ++metas; }
  ~CountedBackendMeta() override { --metas; }
};

TEST(TensorImpl, FreesWhatItOwns) {
  const int64_t before = memory_stats().allocated;
  Impl t = make({2, 2, 2, 2, 2, 2, 2});
  t->set_autograd_meta(new CountedMeta);
  t->set_autograd_meta(new CountedMeta);
  EXPECT_EQ(metas, 1);
  t->set_backend_meta(
      intrusive_ptr<BackendMeta>::reclaim(new CountedBackendMeta));
  weak_intrusive_ptr<TensorImpl> weak(t);
  t.reset();
  EXPECT_EQ(metas, 0) << "a weak owner keeps the shell only";
  EXPECT_EQ(memory_stats().allocated, before);
  EXPECT_FALSE(weak.lock());
}

TEST(TensorImpl, OtherBackendsGetAnIndex) {
  struct Devices : DeviceInterface {
    Allocator& allocator(int) override { return cpu_allocator(); }
    void copy_from_host(void*, const void*, size_t, int) override {}
    void copy_to_host(void*, const void*, size_t, int) override {}
    void copy_on_device(void*, const void*, size_t, int) override {}
  };
  static Devices devices;
  const DeviceType n = detail::register_backend("Npu", "npu", &devices);
  const Impl t = make({2}, kFloat, Device(n));
  EXPECT_EQ(t->device(), Device(n, 0));
  EXPECT_EQ(t->key_set(), DispatchKeySet::dense(n));
}

TEST(TensorImpl, MayBeFreedByAnyThread) {
  const int64_t before = memory_stats().allocated;
  std::vector<Impl> made;
  for (int i = 0; i < 3000; ++i) made.push_back(make({i % 7 + 1, 30}));
  std::thread([&made] { made.clear(); }).join();
  EXPECT_EQ(memory_stats().allocated, before);
}

}  // namespace
}  // namespace sy
