#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <optional>
#include <thread>

#include "backends/cuda/runtime/context.h"
#include "backends/cuda/runtime/copy.h"
#include "backends/cuda/runtime/device_state.h"
#include "test/backends/cuda/runtime_fixture.h"
#include "test/c10/expect_error.h"
#include "test/c10/with_environment.h"

// Devices, contexts, streams, events and copies.

namespace sy::cuda {
namespace {

using namespace testing;

StreamInterface& streams_of_cuda() {
  return *sy::device_interface(kCUDA).streams();
}

std::vector<char> pattern(size_t bytes, unsigned seed = 1) {
  std::vector<char> out(bytes);
  for (size_t i = 0; i < bytes; ++i) {
    seed = seed * 1664525 + 1013904223;
    out[i] = static_cast<char>(seed >> 24);
  }
  return out;
}

Storage device_bytes(size_t bytes, int index = 0) {
  return StorageImpl::allocate(bytes, cuda_device(index));
}

std::vector<char> bytes_of(const Storage& s, int index = 0) {
  std::vector<char> out(s->nbytes());
  copy_to_host(index, out.data(), s->data(), out.size());
  return out;
}

TEST(Devices, AreCountedAndDescribed) {
  EXPECT_EQ(sy::device_count("cuda"), 1);
  EXPECT_STREQ(why_no_devices(), "");
  const DeviceProperties p = sy::device_properties(cuda_device(0));
  EXPECT_STREQ(p.name, "Fake CUDA device");
  EXPECT_GT(p.total_memory, 0);
  EXPECT_EQ(p.compute_units, limits(0).multiprocessors);
  EXPECT_EQ(p.version[0], limits(0).compute_major);
  const MemoryInfo m = sy::memory_info(cuda_device(0));
  EXPECT_GT(m.free, 0);
  EXPECT_LE(m.free, m.total);
  SY_EXPECT_ERROR(context(1), ValueError, "expected an index in [0, 0], got 1");
}

TEST(Devices, LookingAtThemMakesNoContext) {
  if (!with_environment("FAKE_CUDA_DEVICES", "3")) return;
  EXPECT_EQ(sy::device_count("cuda"), 3);
  sy::memory_stats(cuda_device(1));
  EXPECT_EQ(counters().contexts, 0);
  use_device(2);
  EXPECT_EQ(counters().contexts, 1);
}

TEST(Devices, TheContextIsSetWhenItChanges) {
  if (!with_environment("FAKE_CUDA_DEVICES", "2")) return;
  const Tensor x = made(1, 0), y = made(1, 1);
  step(x, 0, 1);
  step(y, 0, 1);
  step(x, 0, 1);
  const int64_t before = counters().context_switches;
  for (int i = 0; i < 10; ++i) step(x, 1, 1);
  EXPECT_EQ(counters().context_switches, before);
  step(y, 1, 1);
  EXPECT_EQ(counters().context_switches, before + 1);
  EXPECT_EQ(read(x), std::vector<int64_t>{11});
  EXPECT_EQ(read(y), std::vector<int64_t>{2});
}

TEST(Devices, WithoutADriverThereAreNone) {
  if (!with_environment("SWITCHYARD_CUDA_DRIVER", "/nowhere/libcuda.so.1")) {
    return;
  }
  EXPECT_EQ(sy::device_count("cuda"), 0);
  EXPECT_NE(std::string(why_no_devices()).find("/nowhere/libcuda.so.1"),
            std::string::npos);
  SY_EXPECT_ERROR(use_device(0), Error, "[cuda] there is no driver");
  constexpr const char* kText =
      "device: there is no 'cuda' device in this machine: [cuda] there is no "
      "driver: /nowhere/libcuda.so.1: ";
  SY_EXPECT_ERROR(made(1), ValueError, kText);
  SY_EXPECT_ERROR(Stream::make(Device(kCUDA)), ValueError, kText);
  SY_EXPECT_ERROR(set_current_device("cuda:0"), ValueError, kText);
  EXPECT_EQ(sy::device_interface(kCUDA).pinned_allocator(), nullptr);
}

TEST(Streams, NumbersAreNotUsedTwice) {
  uint64_t first = 0;
  {
    const Stream s = Stream::make(cuda_device(0));
    first = s.id();
    EXPECT_NE(first, 0u);
  }
  const Stream s = Stream::make(cuda_device(0));
  EXPECT_NE(s.id(), first);
  EXPECT_EQ(completed_ticket(first), ~uint64_t{0});
  EXPECT_EQ(last_ticket(first), 0u);
  SY_EXPECT_ERROR(streams_of_cuda().synchronize_stream(0, first), ValueError,
                  "[cuda:0] there is no stream");
}

// A thread that frees memory may look at a stream while others destroy it and
// make the next one, which has its place.
TEST(Streams, WhatIsKnownOfADestroyedOneSaysNothingOfTheNext) {
  const Tensor x = made(1);
  StreamTable& table = device_state(0).streams;
  StreamState* place = nullptr;
  uint64_t last = 0;
  {
    const Stream s = Stream::make(cuda_device(0));
    const StreamGuard guard(s);
    for (int i = 0; i < 3; ++i) step(x, 0, 1);
    s.synchronize();
    place = table.find(s.id());
    last = last_ticket(s.id());
  }
  const Stream s = Stream::make(cuda_device(0));
  ASSERT_EQ(table.find(s.id()), place);
  Paused paused;
  const StreamGuard guard(s);
  step(x, 0, 2);
  place->note_done(last);
  EXPECT_LT(completed_ticket(s.id()), last_ticket(s.id()));
  paused.go_on();
  s.synchronize();
}

TEST(Streams, ManyAreMadeAndDestroyed) {
  const int64_t before = counters().streams;
  for (int i = 0; i < 300; ++i) Stream::make(cuda_device(0));
  EXPECT_EQ(counters().streams, before);
  std::vector<Stream> all;
  for (int i = 0; i < 200; ++i) all.push_back(Stream::make(cuda_device(0)));
  const Tensor x = made(200);
  for (int i = 0; i < 200; ++i) {
    const StreamGuard guard(all[static_cast<size_t>(i)]);
    StepParams p{{}, 1, static_cast<long long*>(x.raw_data()) + i, 0, i};
    launch(0, kernel_of_test(0, "step"), {{1}, {1}}, p, {&x});
  }
  std::vector<int64_t> expected(200);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(read(x), expected);
}

TEST(Streams, WorkOfADestroyedStreamIsStillDone) {
  const Tensor x = made(1);
  uint64_t id = 0, before = 0;
  Paused paused;
  {
    const Stream s = Stream::make(cuda_device(0));
    id = s.id();
    before = last_ticket(id);
    const StreamGuard guard(s);
    step(x, 0, 8);
  }
  EXPECT_EQ(completed_ticket(id), before);
  EXPECT_EQ(last_ticket(id), before + 1);
  paused.go_on();
  EXPECT_EQ(read(x), std::vector<int64_t>{8});
  while (completed_ticket(id) <= before) std::this_thread::yield();
}

TEST(Streams, EachThreadHasItsOwnCurrentOne) {
  const Stream s = Stream::make(cuda_device(0));
  const StreamGuard guard(s);
  EXPECT_EQ(Stream::current(cuda_device(0)), s);
  EXPECT_EQ(current_stream(0), static_cast<driver::Stream>(s.native_handle()));
  std::thread([] {
    EXPECT_EQ(Stream::current(cuda_device(0)).id(), 0u);
    EXPECT_EQ(current_stream_number(0), 0u);
  }).join();
}

TEST(Streams, OfManyThreadsAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 30; ++i) {
        const Stream a = Stream::make(cuda_device(0)),
                     b = Stream::make(cuda_device(0));
        const Tensor x = made(64);
        {
          const StreamGuard guard(a);
          step(x, 0, t);
        }
        b.wait(a.record());
        const StreamGuard guard(b);
        step(x, 10, i);
        right += read(x) == std::vector<int64_t>(64, 10 * t + i);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(right, 120);
}

TEST(Streams, PrioritiesAreThoseOfTheDriver) {
  const PriorityRange range = sy::stream_priorities(cuda_device(0));
  EXPECT_GE(range.least, 0);
  EXPECT_LT(range.most, 0);
  EXPECT_EQ(Stream::make(cuda_device(0), -100).priority(), range.most);
  EXPECT_EQ(Stream::make(cuda_device(0)).priority(), 0);
}

TEST(Streams, ThoseOfOtherCodeAreAdopted) {
  use_device(0);
  driver::Stream native = nullptr;
  driver::check(driver::api().stream_create(&native, driver::kNonBlocking, -1),
                "cuStreamCreateWithPriority");
  const Tensor x = made(1);
  {
    const Stream s = Stream::from_native(cuda_device(0), native);
    EXPECT_EQ(s.native_handle(), native);
    EXPECT_EQ(s.priority(), -1);
    const StreamGuard guard(s);
    const uint64_t before = last_ticket(s.id());
    step(x, 0, 3);
    EXPECT_EQ(last_ticket(s.id()), before + 1);
  }
  EXPECT_EQ(read(x), std::vector<int64_t>{3});
  // It is there still.
  EXPECT_EQ(driver::api().stream_synchronize(native), driver::kSuccess);
  driver::check(driver::api().stream_destroy(native), "cuStreamDestroy");
}

TEST(Streams, OfAnotherDeviceAreNotAdopted) {
  if (!with_environment("FAKE_CUDA_DEVICES", "2")) return;
  const Stream s = Stream::make(cuda_device(1));
  SY_EXPECT_ERROR(Stream::from_native(cuda_device(0), s.native_handle()),
                  ValueError, "expected a stream of cuda:0");
}

TEST(Events, OrderTwoStreams) {
  const Stream a = Stream::make(cuda_device(0)),
               b = Stream::make(cuda_device(0));
  const Tensor x = made(16);
  step(x, 0, 0);
  sy::synchronize(cuda_device(0));
  std::optional<Gate> gate;
  {
    const StreamGuard guard(a);
    gate.emplace();
    step(x, 0, 5);
  }
  const Event e = a.record();
  b.wait(e);
  {
    const StreamGuard guard(b);
    step(x, 2, 1);
  }
  EXPECT_FALSE(e.is_done());
  EXPECT_FALSE(b.is_done());
  gate->open();
  b.synchronize();
  EXPECT_TRUE(e.is_done());
  EXPECT_EQ(read(x), std::vector<int64_t>(16, 11));
}

TEST(Events, OfAnotherDeviceAreWaitedFor) {
  if (!with_environment("FAKE_CUDA_DEVICES", "2")) return;
  std::optional<Gate> gate(std::in_place, 0);
  const Event e = Stream::current(cuda_device(0)).record();
  const Stream there = Stream::current(cuda_device(1));
  there.wait(e);
  EXPECT_FALSE(there.is_done());
  gate->open();
  there.synchronize();
  EXPECT_TRUE(e.is_done());
}

TEST(Events, NoteTimes) {
  const Stream s = Stream::current(cuda_device(0));
  const Event first = s.record(EventTime::kNoted);
  fake().slow(2000);
  const Tensor x = made(1);
  step(x, 0, 1);
  const Event second = s.record(EventTime::kNoted);
  second.synchronize();
  fake().slow(0);
  EXPECT_GE(first.elapsed(second), 2.0);
  EXPECT_NE(first.native_handle(), nullptr);
}

TEST(Events, AreUsedAgain) {
  const Stream s = Stream::current(cuda_device(0));
  for (int i = 0; i < 4; ++i) s.record().synchronize();
  const int64_t before = counters().events;
  for (int i = 0; i < 100; ++i) s.record().synchronize();
  EXPECT_EQ(counters().events, before);
}

TEST(Events, HaveTickets) {
  const Stream s = Stream::make(cuda_device(0));
  const uint64_t before = last_ticket(s.id());
  const Event e = s.record();
  EXPECT_EQ(last_ticket(s.id()), before + 1);
  e.synchronize();
  while (completed_ticket(s.id()) <= before) std::this_thread::yield();
}

TEST(Copies, OfAllSizesGoThereAndBack) {
  constexpr size_t kMiB = size_t{1} << 20;
  for (const size_t bytes :
       {size_t{1}, size_t{3}, size_t{4096}, kMiB / 8, kMiB / 8 + 1, kMiB / 4,
        kMiB / 4 + 7, 2 * kMiB, 2 * kMiB + 1, 4 * kMiB, 21 * kMiB + 5}) {
    const std::vector<char> sent = pattern(bytes);
    const Storage there = device_bytes(bytes);
    copy_from_host(0, there->data(), sent.data(), bytes);
    EXPECT_TRUE(bytes_of(there) == sent) << bytes;
  }
  copy_from_host(0, nullptr, nullptr, 0);
  copy_to_host(0, nullptr, nullptr, 0);
}

TEST(Copies, TheHostsMemoryMayChangeAfterwards) {
  std::vector<char> sent = pattern(100'000);
  const std::vector<char> before = sent;
  const Storage there = device_bytes(sent.size());
  {
    const Gate gate;
    copy_from_host(0, there->data(), sent.data(), sent.size());
    std::fill(sent.begin(), sent.end(), 0);
  }
  EXPECT_TRUE(bytes_of(there) == before);
}

TEST(Copies, ManySmallOnesUseLittlePinnedMemory) {
  const Storage there = device_bytes(8 * 100'000);
  int64_t value = -1;
  copy_from_host(0, there->data(), &value, 8);
  const int64_t before = counters().host_allocations;
  for (int64_t i = 0; i < 100'000; ++i) {
    copy_from_host(0, static_cast<char*>(there->data()) + 8 * i, &i, 8);
  }
  EXPECT_EQ(counters().host_allocations, before);
  std::vector<int64_t> got(100'000);
  copy_to_host(0, got.data(), there->data(), 8 * got.size());
  for (int64_t i = 0; i < 100'000; ++i) {
    ASSERT_EQ(got[static_cast<size_t>(i)], i);
  }
}

TEST(Copies, ToTheHostWaitForAllStreams) {
  const Stream s = Stream::make(cuda_device(0));
  const Tensor x = made(64);
  step(x, 0, 0);
  sy::synchronize(cuda_device(0));
  fake().slow(20'000);
  {
    const StreamGuard guard(s);
    step(x, 0, 9);
  }
  EXPECT_EQ(read(x), std::vector<int64_t>(64, 9));
  fake().slow(0);
}

TEST(Copies, ThatWaitLetOthersPass) {
  if (!with_environment("SWITCHYARD_TEST_OWN_PROCESS", "1")) return;
  const Tensor x = made(4);
  step(x, 0, 1);
  const Storage there = device_bytes(8);
  Gate gate;
  const int64_t before = counters().waits;
  std::thread waiting([&] { EXPECT_EQ(read(x), std::vector<int64_t>(4, 1)); });
  while (counters().waits == before) std::this_thread::yield();
  const int64_t value = 7;
  copy_from_host(0, there->data(), &value, 8);
  gate.open();
  waiting.join();
  int64_t got = 0;
  copy_to_host(0, &got, there->data(), 8);
  EXPECT_EQ(got, 7);
}

// Opens a gate after some seconds: a call that waits for it by mistake ends,
// and the test tells.
class Rescue {
 public:
  explicit Rescue(Gate& gate)
      : thread_([this, &gate] {
          for (int i = 0; i < 100 && !over_; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
          }
          if (over_) return;
          was_needed_ = true;
          gate.open();
        }) {}
  ~Rescue() {
    over_ = true;
    thread_.join();
  }
  bool was_needed() const { return was_needed_; }

 private:
  std::atomic<bool> over_{false}, was_needed_{false};
  std::thread thread_;
};

Tensor numbers_of_host(int64_t n, int64_t first) {
  const Tensor t(make_tensor({n}, kLong, Device(kCPU)));
  auto* const p = static_cast<int64_t*>(t.raw_data());
  std::iota(p, p + n, first);
  return t;
}
bool has_numbers(const Tensor& t, int64_t first) {
  std::vector<int64_t> expected(static_cast<size_t>(t.numel()));
  std::iota(expected.begin(), expected.end(), first);
  return read(t) == expected;
}

TEST(Copies, FromPageableMemoryWaitForNoOtherStream) {
  if (!with_environment("SWITCHYARD_TEST_OWN_PROCESS", "1")) return;
  const Stream busy = Stream::make(cuda_device(0)),
               side = Stream::make(cuda_device(0));
  const Tensor host = numbers_of_host(1 << 20, 5);
  std::optional<Gate> gate;
  {
    const StreamGuard guard(busy);
    gate.emplace();
  }
  Tensor x;
  const Rescue rescue(*gate);
  {
    const StreamGuard guard(side);
    x = host.to(cuda_device(0));
    side.synchronize();
  }
  EXPECT_FALSE(rescue.was_needed());
  gate->open();
  EXPECT_TRUE(has_numbers(x, 5));
}

// The ring is full of copies that another stream has not done yet.
TEST(Copies, FromPageableMemoryWaitForNoCopyOfAnotherStream) {
  if (!with_environment("SWITCHYARD_TEST_OWN_PROCESS", "1")) return;
  const Stream busy = Stream::make(cuda_device(0)),
               side = Stream::make(cuda_device(0));
  const Tensor first = numbers_of_host(7 << 18, 1),  // 14 MiB
      second = numbers_of_host(5 << 18, 2);
  std::optional<Gate> gate;
  Tensor x, y;
  {
    const StreamGuard guard(busy);
    gate.emplace();
  }
  const Rescue rescue(*gate);
  {
    const StreamGuard guard(busy);
    x = first.to(cuda_device(0));
  }
  {
    const StreamGuard guard(side);
    y = second.to(cuda_device(0));
    side.synchronize();
  }
  EXPECT_FALSE(rescue.was_needed());
  EXPECT_FALSE(busy.is_done());
  gate->open();
  EXPECT_TRUE(has_numbers(x, 1));
  EXPECT_TRUE(has_numbers(y, 2));
}

TEST(Copies, FromPageableMemoryOfManyThreads) {
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const Stream own = Stream::make(cuda_device(0));
      const StreamGuard guard(own);
      for (int i = 0; i < 12; ++i) {
        const int64_t n = i % 3 == 0 ? 100 : i % 3 == 1 ? 20'000 : 300'000;
        const Tensor x = numbers_of_host(n, 1000 * t + i).to(cuda_device(0));
        right += has_numbers(x, 1000 * t + i);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(right, 48);
}

// Memory that was freed is not used by another stream before the copy is done.
TEST(Copies, FromPageableMemoryUseTheirTensor) {
  if (!with_environment("SWITCHYARD_TEST_OWN_PROCESS", "1")) return;
  const Tensor host = numbers_of_host(64, 1);
  std::optional<Tensor> x = made(64);
  const void* const place = x->raw_data();
  const Stream side = Stream::make(cuda_device(0));
  {
    Paused paused;
    {
      const StreamGuard guard(side);
      upload_bytes(*x, host.raw_data(), host.nbytes());
    }
    x.reset();
    EXPECT_NE(made(64).raw_data(), place);
  }
  side.synchronize();
}

TEST(Copies, OnTheDeviceMayOverlap) {
  const std::vector<char> sent = pattern(5000);
  const Storage there = device_bytes(5000);
  copy_from_host(0, there->data(), sent.data(), 5000);
  auto* const at = static_cast<char*>(there->data());
  copy_on_device(0, at + 7, at, 4000);
  std::vector<char> expected = sent;
  std::copy(sent.begin(), sent.begin() + 4000, expected.begin() + 7);
  EXPECT_TRUE(bytes_of(there) == expected);
  copy_on_device(0, at + 1, at + 1000, 3000);
  std::vector<char> moved = expected;
  std::copy(expected.begin() + 1000, expected.begin() + 4000,
            moved.begin() + 1);
  EXPECT_TRUE(bytes_of(there) == moved);
}

TEST(Copies, AcrossDevicesWaitForBoth) {
  if (!with_environment("FAKE_CUDA_DEVICES", "2")) return;
  const Tensor x = made(1000, 0), y = made(1000, 1);
  fake().slow(3000);
  step(x, 0, 4);
  step(y, 0, 7);
  copy_across(y.raw_data(), 1, x.raw_data(), 0, x.nbytes());
  step(x, 0, 5);
  step(y, 10, 1);
  EXPECT_EQ(read(y), std::vector<int64_t>(1000, 41));
  fake().slow(0);
  EXPECT_EQ(read(x), std::vector<int64_t>(1000, 5));
}

// A kernel of device 1 that writes to memory of device 0.
void step_from_1(const Tensor& x) {
  StepParams p{{}, x.numel(), static_cast<long long*>(x.raw_data()), 2, 1};
  launch(1, kernel_of_test(1, "step"), shape_for(x.numel()), p, {});
  sy::synchronize(cuda_device(1));
}

// Memory that was mapped before, and what is mapped later.
TEST(Copies, AcrossDevicesLetThemReachEachOther) {
  if (!with_environment("FAKE_CUDA_DEVICES", "2")) return;
  const Tensor x = made(1000, 0), y = made(1000, 1);
  step(x, 0, 4);
  copy_across(y.raw_data(), 1, x.raw_data(), 0, x.nbytes());
  sy::synchronize(cuda_device(0));
  step_from_1(x);
  EXPECT_EQ(read(x), std::vector<int64_t>(1000, 9));
  const Tensor later = made(8 << 20, 0);
  step(later, 0, 5);
  sy::synchronize(cuda_device(0));
  step_from_1(later);
  EXPECT_EQ(read(later), std::vector<int64_t>(8 << 20, 11));
}

TEST(Copies, DevicesThatMayNotReachEachOtherFault) {
  if (!with_environment("FAKE_CUDA_DEVICES", "2")) return;
  const Tensor x = made(1000, 0);
  step(x, 0, 4);
  sy::synchronize(cuda_device(0));
  SY_EXPECT_ERROR(step_from_1(x), Error, "CUDA_ERROR_ILLEGAL_ADDRESS");
}

TEST(Copies, FromPinnedMemoryDoNotWait) {
  const std::vector<char> sent = pattern(4096);
  const Storage there = device_bytes(4096),
                back = StorageImpl::allocate_pinned(4096, kCUDA);
  const int64_t pinned =
      device_interface(kCUDA).pinned_allocator()->stats().allocated;
  {
    const Gate gate;
    {
      const Storage here = StorageImpl::allocate_pinned(4096, kCUDA);
      std::copy(sent.begin(), sent.end(), static_cast<char*>(here->data()));
      EXPECT_TRUE(begin_copy(0, there, 0, here, 0, 4096));
    }
    // The next pinned storage is other memory: the first is still read.
    const Storage other = StorageImpl::allocate_pinned(4096, kCUDA);
    std::fill_n(static_cast<char*>(other->data()), 4096, 0);
    EXPECT_TRUE(begin_copy(0, back, 100, there, 200, 1000));
    EXPECT_FALSE(Stream::current(cuda_device(0)).is_done());
  }
  sy::synchronize(cuda_device(0));
  EXPECT_TRUE(std::equal(sent.begin() + 200, sent.begin() + 1200,
                         static_cast<char*>(back->data()) + 100));
  EXPECT_EQ(device_interface(kCUDA).pinned_allocator()->stats().allocated,
            pinned);
  EXPECT_FALSE(begin_copy(0, there, 0,
                          StorageImpl::allocate(4096, Device(kCPU)), 0, 4096));
}

// A stream that only copies, and is never idle.
TEST(Copies, AreKnownToBeDoneWhileOthersFollow) {
  const Stream s = Stream::make(cuda_device(0));
  const StreamGuard guard(s);
  const Storage here = StorageImpl::allocate_pinned(64, kCUDA),
                there = device_bytes(64);
  fake().slow(500);
  const uint64_t before = last_ticket(s.id());
  uint64_t seen = before;
  for (int i = 0; i < 200; ++i) {
    begin_copy(0, there, 0, here, 0, 64);
    if (!s.is_done()) seen = std::max(seen, completed_ticket(s.id()));
    std::this_thread::sleep_for(std::chrono::microseconds(300));
  }
  fake().slow(0);
  EXPECT_GT(seen, before + 20);
  s.synchronize();
  EXPECT_EQ(completed_ticket(s.id()), before + 200);
}

TEST(Copies, AndFillsOfKernelsUseTheirTensors) {
  const Tensor x = made(8), y = made(8);
  fill_bytes(x, x.raw_data(), 1, x.nbytes());
  copy_bytes(y, y.raw_data(), x, x.raw_data(), 32);
  fill_bytes(y, static_cast<char*>(y.raw_data()) + 32, 0, 32);
  const int64_t ones = 0x0101010101010101;
  EXPECT_EQ(read(y),
            (std::vector<int64_t>{ones, ones, ones, ones, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace sy::cuda
