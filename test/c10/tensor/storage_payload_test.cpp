#include "c10/tensor/storage_payload.h"

#include <gtest/gtest.h>

#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "c10/memory/allocator.h"
#include "c10/tensor/tensor_base.h"
#include "test/c10/expect_error.h"

namespace sy {
namespace {

const Device kCpu(kCPU);

// Elements that are all one byte, once somebody asks.
class Later : public StoragePayload {
 public:
  explicit Later(char byte) : StoragePayload(kCPU), byte_(byte) { ++alive; }
  ~Later() override { --alive; }

  void materialize(StorageImpl& s) override {
    const std::lock_guard lock(mutex_);
    if (s.data_acquire() != nullptr) return;
    ++runs;
    Storage made = StorageImpl::allocate(s.nbytes(), s.device());
    std::memset(made->data(), byte_, made->nbytes());
    EXPECT_TRUE(s.take_memory(std::move(made)));
  }
  const char* describe() const noexcept override { return "later bytes"; }

  int runs = 0;
  static inline int alive = 0;

 private:
  std::mutex mutex_;
  char byte_;
};

class Fails : public StoragePayload {
 public:
  Fails() : StoragePayload(kCPU) {}
  void materialize(StorageImpl&) override {
    if (throws) throw IndexError("[gather] index: 7 is outside");
  }
  const char* describe() const noexcept override { return "a failing value"; }
  bool throws = true;
};

struct Recorded {
  explicit Recorded(char byte, int64_t bytes = 16)
      : payload(make_intrusive<Later>(byte)) {
    Storage s = StorageImpl::without_data(static_cast<size_t>(bytes), kCpu);
    s->set_payload(payload);
    const int64_t sizes[] = {bytes};
    tensor = TensorBase(TensorImpl::make(std::move(s), kChar, kCpu,
                                         DispatchKeySet::dense(kCPU), sizes));
  }
  TensorBase view(int64_t from, int64_t n) const {
    const int64_t sizes[] = {n}, strides[] = {1};
    return TensorBase(tensor.impl()->alias(sizes, strides, from));
  }
  intrusive_ptr<Later> payload;
  TensorBase tensor;
};

TEST(StoragePayload, GivesMemoryToTheFirstWhoReads) {
  const Recorded r(7);
  EXPECT_EQ(r.tensor.raw_data(), nullptr);
  EXPECT_EQ(r.payload->runs, 0);
  const auto* const data = r.tensor.const_data_ptr<int8_t>();
  ASSERT_NE(data, nullptr);
  EXPECT_EQ(data[15], 7);
  EXPECT_EQ(r.tensor.data_ptr(), data);
  EXPECT_EQ(r.tensor.raw_data(), data);
  EXPECT_EQ((r.tensor.accessor<int8_t, 1>()[3]), 7);
  EXPECT_EQ(r.payload->runs, 1);
}

TEST(StoragePayload, IsOneForABaseAndItsViews) {
  const Recorded r(5);
  const TensorBase view = r.view(4, 8);
  EXPECT_EQ(view.storage()->payload(), r.payload.get());
  EXPECT_EQ(*view.const_data_ptr<int8_t>(), 5);
  EXPECT_EQ(static_cast<const char*>(view.raw_data()),
            static_cast<const char*>(r.tensor.raw_data()) + 4);
  EXPECT_EQ(r.payload->runs, 1);
}

TEST(StoragePayload, IsRunOnceForAllThreads) {
  for (int round = 0; round < 20; ++round) {
    const Recorded r(3, 4096);
    std::vector<const void*> seen(8);
    std::vector<std::thread> threads;
    for (auto& at : seen) {
      threads.emplace_back([&] { at = r.tensor.const_data_ptr(); });
    }
    for (std::thread& t : threads) t.join();
    for (const void* at : seen) EXPECT_EQ(at, r.tensor.raw_data());
    EXPECT_EQ(r.payload->runs, 1);
  }
}

// A payload that lets all threads compute.
class Careless : public StoragePayload {
 public:
  Careless() : StoragePayload(kCPU) {}
  void materialize(StorageImpl& s) override {
    taken += s.take_memory(StorageImpl::allocate(s.nbytes(), kCpu)) ? 1 : 0;
  }
  std::atomic<int> taken{0};
};

TEST(StoragePayload, OfMemoryThatSeveralThreadsGiveOneIsTaken) {
  const int64_t before = memory_stats().allocated;
  {
    const auto payload = make_intrusive<Careless>();
    const Storage s = StorageImpl::without_data(5000, kCpu);
    s->set_payload(payload);
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] { materialize(*s, "test"); });
    }
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(payload->taken, 1);
    EXPECT_EQ(memory_stats().allocated - before, 5000);
  }
  EXPECT_EQ(memory_stats().allocated, before);
}

TEST(StoragePayload, ErrorsNameWhatWasAsked) {
  const Recorded r(1);
  const auto fails = make_intrusive<Fails>();
  r.tensor.storage()->set_payload(fails);
  SY_EXPECT_ERROR(r.tensor.data_ptr(), IndexError,
                  "[data_ptr] asked for a failing value, 16 bytes on cpu");
  SY_EXPECT_ERROR(materialize(*r.tensor.storage(), "save"), IndexError,
                  "[gather] index: 7 is outside");
  fails->throws = false;
  SY_EXPECT_ERROR(r.tensor.data_ptr(), Error,
                  "[data_ptr] expected memory from a failing value for 16 "
                  "bytes on cpu, got none");
  r.tensor.storage()->set_payload(nullptr);
  SY_EXPECT_ERROR(r.tensor.data_ptr(), ValueError,
                  "[data_ptr] self: expected a tensor with memory, got "
                  "int8[16] on cpu without any");
  SY_EXPECT_ERROR(materialize(*r.tensor.storage(), "save"), ValueError,
                  "[save] expected a storage with memory, got 16 bytes on cpu "
                  "without any");
  // Asked again with another payload it answers.
  r.tensor.storage()->set_payload(r.payload);
  EXPECT_EQ(*r.tensor.const_data_ptr<int8_t>(), 1);
}

TEST(StoragePayload, WithoutElementsThereIsNothingToAskFor) {
  const Recorded r(1);
  EXPECT_EQ(r.view(3, 0).data_ptr(), nullptr);
  EXPECT_EQ(r.payload->runs, 0);
  const int64_t sizes[] = {2};
  const TensorBase meta(make_tensor(sizes, kFloat, Device(kMeta)));
  EXPECT_EQ(meta.data_ptr(), nullptr);
}

TEST(StoragePayload, GoesWithTheLastOwner) {
  EXPECT_EQ(Later::alive, 0);
  for (const size_t bytes : {size_t{8}, size_t{5000}}) {
    const int64_t before = memory_stats().allocated;
    Storage s = StorageImpl::allocate(bytes, kCpu);
    s->set_payload(make_intrusive<Later>(1));
    s->set_payload(make_intrusive<Later>(2));
    EXPECT_EQ(Later::alive, 1);
    EXPECT_TRUE(s->resizable());
    const weak_intrusive_ptr<StorageImpl> weak(s);
    s.reset();
    EXPECT_EQ(Later::alive, 0);
    EXPECT_TRUE(weak.expired());
    Storage other = StorageImpl::allocate(bytes, kCpu);
    other->set_payload(make_intrusive<Later>(1));
    other.reset();
    EXPECT_EQ(Later::alive, 0);
    Storage resized = StorageImpl::allocate(bytes, kCpu);
    std::memset(resized->data(), 9, bytes);
    resized->set_payload(make_intrusive<Later>(1));
    resized->resize(20000);
    EXPECT_EQ(static_cast<char*>(resized->data())[bytes - 1], 9);
    // AddressSanitizer has each block for itself.
#ifdef __SANITIZE_ADDRESS__
    const int64_t kept = 0;
#else
    const int64_t kept = bytes == 8 ? 8 : 0;
#endif
    EXPECT_EQ(memory_stats().allocated - before, 20000 + kept)
        << "a weak owner keeps what lies in the storage's own block";
  }
  EXPECT_EQ(Later::alive, 0);
}

TEST(StoragePayload, IsAskedBeforeAResize) {
  const Recorded r(8);
  r.tensor.storage()->resize(100);
  EXPECT_EQ(r.payload->runs, 1);
  EXPECT_EQ(static_cast<const char*>(r.tensor.raw_data())[15], 8);
  EXPECT_EQ(r.tensor.storage()->nbytes(), 100u);
}

TEST(Storage, KnowsWhetherAPointerThatMayWriteWasHandedOut) {
  const int64_t sizes[] = {4};
  const TensorBase t(make_tensor(sizes, kFloat, kCpu));
  const auto handed_out = [&] { return t.storage()->is_handed_out(); };
  t.raw_data();
  t.const_data_ptr();
  t.const_data_ptr<float>();
  EXPECT_FALSE(handed_out());
  t.data_ptr<float>();
  EXPECT_TRUE(handed_out());
  const TensorBase u(make_tensor(sizes, kFloat, kCpu));
  u.accessor<float, 1>();
  EXPECT_TRUE(u.storage()->is_handed_out());

  const Storage taker = StorageImpl::without_data(16, kCpu);
  EXPECT_TRUE(taker->take_memory(t.storage()));
  EXPECT_TRUE(taker->is_handed_out());
}

TEST(Storage, TakesMemoryOfAnotherOnce) {
  const int64_t before = memory_stats().allocated;
  {
    Storage s = StorageImpl::without_data(100, kCpu);
    SY_EXPECT_ERROR(s->take_memory(StorageImpl::without_data(100, kCpu)),
                    ValueError, "[take_memory] from: expected a storage with");
    SY_EXPECT_ERROR(s->take_memory(StorageImpl::allocate(99, kCpu)), ValueError,
                    "expected at least 100 bytes on cpu, got 99 bytes on cpu");
    Storage from = StorageImpl::allocate(128, kCpu);
    void* const data = from->data();
    EXPECT_TRUE(s->take_memory(std::move(from)));
    EXPECT_EQ(s->data(), data);
    EXPECT_EQ(s->nbytes(), 100u);
    EXPECT_TRUE(s->resizable());
    EXPECT_FALSE(s->is_pinned());
    EXPECT_FALSE(s->take_memory(StorageImpl::allocate(128, kCpu)));
    std::memset(data, 4, 100);
    s->resize(3000);
    EXPECT_EQ(static_cast<char*>(s->data())[99], 4);
    EXPECT_EQ(memory_stats().allocated - before, 3000);
  }
  EXPECT_EQ(memory_stats().allocated, before);

  static int value;
  const Storage adopted =
      StorageImpl::adopt(&value, sizeof value, kCpu, nullptr, nullptr);
  const Storage over = StorageImpl::without_data(4, kCpu);
  EXPECT_TRUE(over->take_memory(adopted));
  EXPECT_FALSE(over->resizable());
}

TEST(Storage, GivesItsMemoryAway) {
  static int deleted;
  deleted = 0;
  const int64_t before = memory_stats().allocated;
  static char caller[64];
  const auto adopted = [] {
    return StorageImpl::adopt(
        caller, sizeof caller, kCpu, [](void*) { ++deleted; }, nullptr);
  };
  const auto lent = [] {
    Storage s = StorageImpl::without_data(64, kCpu);
    s->take_memory(StorageImpl::allocate(64, kCpu));
    return s;
  };
  for (const Storage& s :
       {StorageImpl::allocate(64, kCpu), StorageImpl::allocate(5000, kCpu),
        adopted(), lent()}) {
    const size_t bytes = s->nbytes();
    std::memset(s->data(), 6, bytes);
    Storage given = s->give_memory();
    EXPECT_EQ(s->data(), nullptr);
    EXPECT_EQ(s->nbytes(), bytes);
    ASSERT_EQ(given->nbytes(), bytes);
    EXPECT_EQ(static_cast<char*>(given->data())[bytes - 1], 6);
    EXPECT_FALSE(s->give_memory());
    // And back.
    EXPECT_TRUE(s->take_memory(std::move(given)));
    EXPECT_EQ(static_cast<char*>(s->data())[bytes - 1], 6);
  }
  EXPECT_EQ(deleted, 1);
  EXPECT_EQ(memory_stats().allocated, before);

  const Storage out = StorageImpl::allocate(8, kCpu);
  out->mutable_data("test");
  SY_EXPECT_ERROR(out->give_memory(), Error,
                  "[give_memory] storage: expected memory that nobody writes "
                  "to but kernels, got 8 bytes on cpu whose address was handed "
                  "out by data_ptr()");
}

}  // namespace
}  // namespace sy
