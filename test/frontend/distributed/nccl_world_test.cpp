#include <gtest/gtest.h>
#include <sy/sy.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "aten/backend/cpu_fallback.h"
#include "aten/tensor_new.h"
#include "c10/device/stream.h"
#include "c10/plugin/library.h"
#include "test/frontend/distributed/nccl_ranks.h"
#include "test/frontend/distributed/ranks.h"

// A world whose engine is NCCL's, on fake_nccl.cpp: "cuda" is memory of the
// host that counts what is copied to the host.

namespace sy::distributed {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Work is done at once, unless it is held.
class FakeStreams final : public StreamInterface {
 public:
  uint64_t create_stream(int) override { return 1; }
  void destroy_stream(int, uint64_t) noexcept override {}
  uint64_t current_stream(int) const noexcept override { return 0; }
  void set_current_stream(int, uint64_t) noexcept override {}
  bool is_stream_done(int, uint64_t) const override { return !held; }
  void synchronize_stream(int, uint64_t) override {}
  uint64_t record_event(int, uint64_t) override { return ++events; }
  void destroy_event(int, uint64_t) noexcept override {}
  bool is_event_done(int, uint64_t) const override { return !held; }
  void synchronize_event(int, uint64_t) override {}
  void wait_event(int, uint64_t, uint64_t) override {}
  std::atomic<bool> held{false};
  std::atomic<uint64_t> events{0};
};

class FakeCuda final : public DeviceInterface, public Allocator {
 public:
  Allocator& allocator(int) override { return *this; }
  void* allocate(size_t bytes) override {
    return bytes == 0 ? nullptr
                      : std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  }
  void deallocate(void* data, size_t) noexcept override { std::free(data); }
  void copy_from_host(void* to, const void* from, size_t n, int) override {
    std::memmove(to, from, n);
  }
  void copy_on_device(void* to, const void* from, size_t n, int) override {
    std::memmove(to, from, n);
  }
  StreamInterface* streams() noexcept override { return &work; }
  int device_count() const noexcept override { return 2; }
  void copy_to_host(void* to, const void* from, size_t n, int) override {
    ++copies;
    std::memmove(to, from, n);
  }
  std::atomic<int64_t> copies{0};
  FakeStreams work;
};

FakeCuda& cuda() {
  static auto* d = new FakeCuda;
  return *d;
}

Tensor empty_cuda(IntArrayRef size, std::optional<ScalarType> dtype,
                  std::optional<Layout>, std::optional<Device> device,
                  std::optional<bool>, std::optional<MemoryFormat>) {
  return Tensor(make_tensor(size, dtype.value_or(kFloat), *device));
}
Tensor empty_strided_cuda(IntArrayRef size, IntArrayRef stride,
                          std::optional<ScalarType> dtype,
                          std::optional<Layout>, std::optional<Device> device,
                          std::optional<bool>) {
  return Tensor(
      make_tensor_strided(size, stride, dtype.value_or(kFloat), *device));
}

SY_BACKEND(CUDA, m) { m.device("cuda", &cuda()); }
SY_LIBRARY_IMPL(aten, CUDA, m) {
  m.impl("empty.memory_format", SY_FN(empty_cuda));
  m.impl("empty_strided", SY_FN(empty_strided_cuda));
}
SY_LIBRARY_IMPL(_, CUDA, m) { m.fallback(Kernel::from_boxed(&cpu_fallback)); }

// The fake machine has two devices.
Device device_of(int rank) { return Device(kCUDA, rank % 2); }
Tensor there(int rank, std::vector<int64_t> sizes, double value,
             ScalarType dtype = kFloat) {
  return sy::full(sizes, value, TensorOptions(dtype)).to(device_of(rank));
}
bool all_are(const Tensor& t, double value) {
  return t.to(Device(kCPU)).to(kDouble).eq(value).all().item<bool>();
}

class World : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Nccl, World, testing::Values(2, 3));

TEST_P(World, MovesTheMemoryOfItsDevices) {
  const int n = GetParam();
  const double sum = n * (n + 1) / 2;
  NcclRanks(n).run([&](int rank) {
    const auto g = world();
    EXPECT_STREQ(g->engine(), "nccl");
    for (const int64_t size : {int64_t{1}, int64_t{7}, int64_t{300'000}}) {
      Tensor x = there(rank, {size}, rank + 1), mean = x.clone();
      Tensor from1 = x.clone(), at0 = x.clone();
      Tensor halves = there(rank, {size}, rank + 1, kBFloat16);
      Tensor bools = there(rank, {size}, rank == 1, kBool);
      Tensor all = there(rank, {n * size}, 0), part = there(rank, {size}, 0);
      const Tensor parts = there(rank, {n * size}, rank + 1);
      Tensor crossed = there(rank, {n * size}, 0);
      std::vector<Tensor> list, gathered, ones;
      for (int r = 0; r < n; ++r) {
        list.push_back(there(rank, {size}, 0));
        if (rank == 0) gathered.push_back(list.back().clone());
        if (rank == 1) ones.push_back(there(rank, {size}, r));
      }
      Tensor got = there(rank, {size}, -1), scattered = got.clone();
      g->barrier();
      const int64_t before = cuda().copies;
      g->allreduce(x);
      g->reduce(at0, 0);
      g->allreduce(halves);
      g->broadcast(from1, 1);
      g->broadcast(bools, 1);
      g->allgather_into_tensor(all, part.is_cuda() ? from1 : part);
      g->reduce_scatter_tensor(part, parts);
      g->alltoall_base(crossed, parts);
      if (rank == 0) g->send(parts, 1);
      if (rank == 1) g->recv(crossed, 0);
      g->barrier();
      EXPECT_EQ(cuda().copies, before) << "something went through the host";
      g->barrier();
      g->allgather(list, parts.narrow(0, 0, size));
      g->gather(gathered, parts.narrow(0, 0, size), 0);
      g->scatter(scattered, ones, 1);
      g->allreduce(mean, ReduceOp::AVG);
      EXPECT_TRUE(all_are(x, sum));
      EXPECT_TRUE(all_are(mean, sum / n));
      EXPECT_TRUE(all_are(halves, sum));
      EXPECT_TRUE(all_are(from1, 2));
      EXPECT_TRUE(all_are(bools, 1));
      EXPECT_TRUE(all_are(all, 2));
      EXPECT_TRUE(all_are(part, sum));
      if (rank == 0) {
        EXPECT_TRUE(all_are(at0, sum));
      }
      if (rank == 1) {
        EXPECT_TRUE(all_are(crossed, 1));
      }
      for (int r = 0; r < n; ++r) {
        EXPECT_TRUE(all_are(list[size_t(r)], r + 1));
        if (rank == 0) {
          EXPECT_TRUE(all_are(gathered[size_t(r)], r + 1));
        }
        if (rank != 1) {
          EXPECT_TRUE(all_are(crossed.narrow(0, r * size, size), r + 1));
        }
      }
      EXPECT_TRUE(all_are(scattered, rank));
    }
  });
}

TEST_P(World, MovesTheMemoryOfTheHost) {
  const int n = GetParam();
  const double sum = n * (n + 1) / 2;
  NcclRanks(n).run([&](int rank) {
    const auto g = world();
    for (const int64_t size : {int64_t{1}, int64_t{7}, int64_t{300'000}}) {
      Tensor x = sy::full({size}, rank + 1.0);
      g->allreduce(x);
      EXPECT_TRUE(all_are(x, sum));
      x.fill_(rank);
      g->broadcast(x, 1);
      EXPECT_TRUE(all_are(x, 1));
      Tensor all = sy::empty({n * size}), part = sy::empty({size});
      g->allgather_into_tensor(all, x + rank);
      EXPECT_TRUE(all_are(all.narrow(0, (n - 1) * size, size), n));
      g->reduce_scatter_tensor(part, all);
      EXPECT_TRUE(all_are(part, n * (rank + 1)));
      Tensor crossed = sy::empty({n * size});
      g->alltoall_base(crossed, sy::full({n * size}, rank + 1.0));
      EXPECT_TRUE(all_are(crossed.narrow(0, 0, size), 1));
      if (rank == 0) g->send(all, 1, 3);
      if (rank == 1) {
        g->recv(crossed, 0, 3);
        EXPECT_TRUE(all_are(crossed - all, 0));
      }
    }
  });
}

// Reductions that NCCL does not have, or does in another way than ours.
TEST_P(World, ReducesTheRestThroughTheHost) {
  const int n = GetParam();
  NcclRanks(n).run([&](int rank) {
    const auto g = world();
    Tensor most = there(rank, {5000}, rank, kFloat);
    g->allreduce(most, ReduceOp::MAX);
    EXPECT_TRUE(all_are(most, n - 1));
    Tensor any = there(rank, {3}, rank == 1, kBool);
    g->allreduce(any, ReduceOp::MAX);
    EXPECT_TRUE(all_are(any, 1));
    g->set_deterministic(true);
    Tensor x = there(rank, {3}, rank + 1);
    const int64_t before = cuda().copies;
    g->allreduce(x);
    EXPECT_GT(cuda().copies, before);
    EXPECT_TRUE(all_are(x, n * (n + 1) / 2));
  });
}

TEST(NcclWorld, TensorsThatAreNotContiguous) {
  NcclRanks(2).run([](int rank) {
    Tensor x = there(rank, {4, 6}, rank + 1);
    Tensor column = x.narrow(1, 2, 1);
    world()->allreduce(column, ReduceOp::AVG);
    EXPECT_TRUE(all_are(column, 1.5));
    EXPECT_TRUE(all_are(x.narrow(1, 3, 3), rank + 1));
  });
}

TEST(NcclWorld, CallsThatAreWaitedForLater) {
  NcclRanks(2).run([](int rank) {
    Tensor a = there(rank, {100'000}, 1), b = there(rank, {10}, 2);
    Tensor host = sy::full({20'000}, 3.0);
    const Work first = world()->allreduce(a, ReduceOp::SUM, kAsync);
    const Work second = world()->allreduce(host, ReduceOp::SUM, kAsync);
    const Work third = world()->allreduce(b, ReduceOp::SUM, kAsync);
    third.wait();
    second.wait();
    first.wait();
    EXPECT_TRUE(all_are(a, 2));
    EXPECT_TRUE(all_are(b, 4));
    EXPECT_TRUE(all_are(host, 6));
  });
}

// A call does not send what the device has yet to write.
TEST(NcclWorld, WaitsForTheDevice) {
  NcclRanks(2).run([](int rank) {
    Tensor x = there(rank, {1000}, 1), y = there(rank, {10}, rank);
    world()->barrier();
    if (rank == 0) cuda().work.held = true;
    world()->barrier();
    const Work sum = world()->allreduce(x, ReduceOp::SUM, kAsync);
    const Work message = rank == 0 ? world()->send(y, 1, 0, kAsync)
                                   : world()->recv(y, 0, 0, kAsync);
    std::this_thread::sleep_for(milliseconds(60));
    EXPECT_FALSE(sum.is_completed());
    EXPECT_FALSE(message.is_completed());
    // Calls of the group would wait behind the first.
    store().set(rank == 0 ? "seen/0" : "seen/1", "");
    store().wait({"seen/0", "seen/1"}, milliseconds(5000));
    cuda().work.held = false;
    sum.wait();
    message.wait();
    EXPECT_TRUE(all_are(x, 2));
    EXPECT_TRUE(all_are(y, 0));
  });
}

TEST(NcclWorld, Subgroups) {
  NcclRanks(3).run([](int rank) {
    const auto outer = new_group({0, 2}, "outer");
    const auto inner = new_group({1, 2}, "inner");
    const auto again = new_group({0, 2});
    for (int i = 0; i < 3; ++i) {
      for (const auto& g : {outer, inner, again}) {
        if (g == nullptr) continue;
        Tensor x = there(rank, {1000}, rank), y = sy::full({9000}, 1.0);
        g->allreduce(x);
        g->allreduce(y);
        EXPECT_TRUE(all_are(x, g == inner ? 3 : 2));
        EXPECT_TRUE(all_are(y, 2));
      }
    }
  });
}

TEST(NcclWorld, AllRanksLearnThatTheyDisagree) {
  NcclRanks(2).run([](int rank) {
    Tensor x = rank == 0 ? there(0, {4}, 1) : sy::ones({4});
    std::string text = error_of([&] { world()->allreduce(x); });
    EXPECT_NE(text.find("the ranks disagree"), text.npos) << text;
    EXPECT_NE(text.find("rank 0: all_reduce(float32[4], sum) of cuda memory"),
              text.npos)
        << text;
    EXPECT_NE(text.find("rank 1: all_reduce(float32[4], sum)"), text.npos)
        << text;
    // The next call is alike.
    world()->barrier();
  });
}

TEST(NcclWorld, SizesThatDiffer) {
  NcclRanks(2).run([](int rank) {
    Tensor x = there(rank, {4 + rank}, 1);
    const std::string text = error_of([&] { world()->allreduce(x); });
    EXPECT_NE(text.find("float32[4]"), text.npos) << text;
    EXPECT_NE(text.find("float32[5]"), text.npos) << text;
  });
}

TEST(NcclWorld, ATensorOnTheWrongDevice) {
  NcclRanks(2).run([](int) {
    Tensor x = there(0, {4}, 1);  // rank 1's are on cuda:1
    const std::string text = error_of([&] { world()->allreduce(x); });
    EXPECT_NE(text.find("expected a tensor on cuda:1, the device of this rank, "
                        "got one on cuda:0"),
              text.npos)
        << text;
    world()->barrier();
  });
}

TEST(NcclWorld, ARankThatDoesNotCome) {
  NcclRanks(2, milliseconds(400)).run([](int rank) {
    if (rank == 1) {
      std::this_thread::sleep_for(milliseconds(900));
      return;
    }
    Tensor x = there(rank, {4}, 1);
    const std::string text = error_of([&] { world()->allreduce(x); });
    EXPECT_NE(text.find("not all ranks came within 0.4 s"), text.npos) << text;
    EXPECT_NE(text.find("rank 1: "), text.npos) << text;
  });
}

// It is gone after the ranks have agreed on a call: NCCL's part never ends.
TEST(NcclWorld, ARankThatDies) {
  NcclRanks ranks(2, milliseconds(20'000));
  const auto begun = steady_clock::now();
  std::string text;
  try {
    ranks.run([&](int rank) {
      Tensor x = there(rank, {4}, 1);
      world()->allreduce(x);
      if (rank == 1) throw std::runtime_error("a bug");
      text = error_of([&] { world()->allreduce(x); });
    });
  } catch (const std::runtime_error&) {
  }
  EXPECT_NE(text.find("rank 1 is gone"), text.npos) << text;
  EXPECT_LT(steady_clock::now() - begun, milliseconds(5000));
}

TEST(NcclWorld, ARankThatCannotConnectEndsTheWait) {
  NcclRanks ranks(2, milliseconds(20'000));
  setenv("FAKE_NCCL_NO_INIT", "1", 1);
  const auto begun = steady_clock::now();
  const std::string text = error_of([&] { ranks.run([](int) {}); });
  unsetenv("FAKE_NCCL_NO_INIT");
  EXPECT_NE(text.find("[nccl] the ranks of group world do not connect, since "
                      "one cannot: rank 1: [nccl] connect: "),
            text.npos)
      << text;
  EXPECT_LT(steady_clock::now() - begun, milliseconds(5000));
}

TEST(NcclWorld, WhatNcclReportsReachesTheProgram) {
  const auto begun = steady_clock::now();
  NcclRanks(2).run([](int rank) {
    Tensor x = there(rank, {4}, 1);
    world()->allreduce(x);
    if (rank == 0) setenv("FAKE_NCCL_FAIL", "1", 1);
    world()->barrier();
    for (int i = 0; i < 2; ++i) {  // and for ever
      const std::string text = error_of([&] { world()->allreduce(x); });
      EXPECT_NE(text.find("[nccl] all_reduce: remote process exited"),
                text.npos)
          << text;
    }
  });
  unsetenv("FAKE_NCCL_FAIL");
  EXPECT_LT(steady_clock::now() - begun, milliseconds(4000));
}

TEST(NcclWorld, BeginsAgainAfterItsEnd) {
  NcclRanks ranks(2);
  for (int i = 0; i < 2; ++i) {
    ranks.run([](int rank) {
      Tensor x = there(rank, {4}, 1);
      world()->allreduce(x);
      EXPECT_TRUE(all_are(x, 2));
    });
  }
}

}  // namespace
}  // namespace sy::distributed
