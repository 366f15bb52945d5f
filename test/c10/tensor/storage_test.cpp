#include "c10/tensor/storage.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "c10/device/backend.h"
#include "test/c10/expect_error.h"

namespace sy {
namespace {

const Device kCpu(kCPU);

TEST(Storage, AllocatesEverySize) {
  for (const size_t bytes :
       {size_t{1}, size_t{4}, size_t{64}, size_t{65}, size_t{960}, size_t{961},
        size_t{1024}, size_t{1025}, size_t{1} << 21}) {
    const int64_t before = memory_stats().allocated;
    Storage s = StorageImpl::allocate(bytes, kCpu);
    EXPECT_EQ(s->nbytes(), bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(s->data()) % 64, 0u);
    EXPECT_TRUE(s->resizable());
    std::memset(s->data(), 1, bytes);
    EXPECT_EQ(memory_stats().allocated - before, static_cast<int64_t>(bytes));
    s.reset();
    EXPECT_EQ(memory_stats().allocated, before);
  }
  const Storage empty = StorageImpl::allocate(0, kCpu);
  EXPECT_EQ(empty->data(), nullptr);
  EXPECT_EQ(empty->nbytes(), 0u);
}

TEST(Storage, ResizeKeepsTheCommonPrefix) {
  const int64_t before = memory_stats().allocated;
  {
    Storage s = StorageImpl::allocate(0, kCpu);
    size_t filled = 0;
    for (const size_t bytes : {size_t{100}, size_t{900}, size_t{5000},
                               size_t{300}, size_t{3} << 20, size_t{8}}) {
      s->resize(bytes);
      EXPECT_EQ(s->nbytes(), bytes);
      auto* data = static_cast<unsigned char*>(s->data());
      for (size_t i = 0; i < std::min(filled, bytes); ++i) {
        ASSERT_EQ(data[i], i % 251);
      }
      for (size_t i = 0; i < bytes; ++i) {
        data[i] = static_cast<unsigned char>(i % 251);
      }
      filled = bytes;
      EXPECT_EQ(memory_stats().allocated - before, static_cast<int64_t>(bytes));
    }
    s->resize(0);
    EXPECT_EQ(s->data(), nullptr);

    Storage in_block = StorageImpl::allocate(64, kCpu);
    std::memset(in_block->data(), 7, 64);
    in_block->resize(10000);
    EXPECT_EQ(static_cast<char*>(in_block->data())[63], 7);
    EXPECT_EQ(memory_stats().allocated - before, 10000);
  }
  EXPECT_EQ(memory_stats().allocated, before);
}

TEST(Storage, FailedResizeChangesNothing) {
  Storage s = StorageImpl::allocate(64, kCpu);
  void* data = s->data();
  SY_EXPECT_ERROR(s->resize(~size_t{0} / 2), OutOfMemoryError, "asked for");
  EXPECT_EQ(s->data(), data);
  EXPECT_EQ(s->nbytes(), 64u);
}

TEST(Storage, AdoptedMemoryIsDeletedOnceAndNotResized) {
  static int deleted;
  deleted = 0;
  int value = 5;
  Storage s = StorageImpl::adopt(
      &value, sizeof value, kCpu,
      [](void* context) { deleted += *static_cast<int*>(context); }, &value);
  EXPECT_EQ(s->data(), &value);
  EXPECT_FALSE(s->resizable());
  SY_EXPECT_ERROR(s->resize(8), Error,
                  "[resize] storage: its memory was given by the caller and "
                  "cannot be resized from 4 to 8 bytes");
  Storage other = s;
  s.reset();
  EXPECT_EQ(deleted, 0);
  weak_intrusive_ptr<StorageImpl> weak(other);
  other.reset();
  EXPECT_EQ(deleted, 5) << "a weak owner does not keep the memory";
  weak = {};
  EXPECT_EQ(deleted, 5);
  StorageImpl::adopt(&value, sizeof value, kCpu, nullptr, nullptr).reset();
}

TEST(Storage, WithoutDataHasASizeAndNoMemory) {
  const int64_t before = memory_stats().allocated;
  Storage s = StorageImpl::allocate(size_t{1} << 60, Device(kMeta));
  EXPECT_EQ(s->data(), nullptr);
  EXPECT_EQ(s->nbytes(), size_t{1} << 60);
  s->resize(12);
  EXPECT_EQ(s->nbytes(), 12u);
  EXPECT_EQ(memory_stats().allocated, before);
}

TEST(Storage, VersionCountsWrites) {
  Storage s = StorageImpl::allocate(4, kCpu);
  EXPECT_EQ(s->version(), 0u);
  EXPECT_EQ(s->last_writer(), nullptr);
  const auto* writer = reinterpret_cast<const OperatorEntry*>(&s);
  s->bump_version(writer);
  EXPECT_EQ(s->version(), 1u);
  EXPECT_EQ(s->last_writer(), writer);
}

TEST(Storage, AnyThreadMayFree) {
  const int64_t before = memory_stats().allocated;
  std::vector<Storage> made(2000);
  for (size_t i = 0; i < made.size(); ++i) {
    made[i] = StorageImpl::allocate(i + 1, kCpu);
  }
  std::thread([&made] { made.clear(); }).join();
  EXPECT_EQ(memory_stats().allocated, before);
}

class FakeAllocator : public Allocator {
 public:
  void* allocate(size_t bytes) override {
    out += static_cast<int64_t>(bytes);
    return bytes == 0 ? nullptr : new char[bytes];
  }
  void deallocate(void* data, size_t bytes) noexcept override {
    out -= static_cast<int64_t>(bytes);
    delete[] static_cast<char*>(data);
  }
  int64_t out = 0;
};

class FakeDevices : public DeviceInterface {
 public:
  int device_count() const noexcept override { return 2; }
  Allocator& allocator(int index) override { return allocators[index]; }
  void copy_from_host(void*, const void*, size_t, int) override {}
  void copy_to_host(void*, const void*, size_t, int) override {}
  void copy_on_device(void* to, const void* from, size_t n, int) override {
    if (fails) throw Error("copy failed");
    std::memcpy(to, from, n);
  }
  FakeAllocator allocators[2];
  bool fails = false;
};

TEST(Storage, OtherDevicesUseTheirAllocator) {
  static FakeDevices devices;
  const DeviceType t = detail::register_backend("Npu", "npu", &devices);
  Storage s = StorageImpl::allocate(8, Device(t, 1));
  EXPECT_EQ(devices.allocators[1].out, 8);
  std::memset(s->data(), 3, 8);
  s->resize(16);
  EXPECT_EQ(static_cast<char*>(s->data())[7], 3);
  devices.fails = true;
  SY_EXPECT_ERROR(s->resize(32), Error, "copy failed");
  EXPECT_EQ(devices.allocators[1].out, 16) << "no leak";
  s.reset();
  EXPECT_EQ(devices.allocators[1].out, 0);
  SY_EXPECT_ERROR(StorageImpl::allocate(8, Device(t, 2)), ValueError,
                  "[allocate] device: expected one of 2 'npu' devices, got "
                  "'npu:2'");
  detail::unregister_backend(t);
  SY_EXPECT_ERROR(StorageImpl::allocate(8, Device(t)), ValueError,
                  "device 'npu': no library of this backend is loaded");
}

}  // namespace
}  // namespace sy
