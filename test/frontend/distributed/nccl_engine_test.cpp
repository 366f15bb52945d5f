#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "c10/device/device.h"
#include "frontend/distributed/nccl/engine.h"
#include "test/c10/expect_error.h"
#include "test/frontend/distributed/engine_checks.h"

// The engine on the libraries of fake_nccl.cpp, which SWITCHYARD_NCCL and
// SWITCHYARD_CUDART name: memory is the host's, ranks are threads.

namespace sy::distributed {
namespace {

// Set in its scope.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    setenv(name, value, 1);
  }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

// Keys that all ranks see.
struct Keys {
  std::mutex mutex;
  std::map<std::string, std::string> values;
  bool over = false;  // waiting is

  Rendezvous rendezvous() {
    Rendezvous r;
    r.context = this;
    r.set = [](void* self, const char* key, const void* data, size_t n) {
      Keys& k = *static_cast<Keys*>(self);
      const std::lock_guard lock(k.mutex);
      k.values[key].assign(static_cast<const char*>(data), n);
    };
    r.find = [](void* self, const char* key, void* data, size_t n) {
      Keys& k = *static_cast<Keys*>(self);
      const std::lock_guard lock(k.mutex);
      SY_CHECK(!k.over, Error, "[test] the others do not come");
      const auto found = k.values.find(key);
      if (found == k.values.end()) return false;
      EXPECT_EQ(found->second.size(), n);
      std::memcpy(data, found->second.data(), n);
      return true;
    };
    return r;
  }
};

// Calls f(rank, world) in a thread for each rank.
template <class F>
void run(int size, F&& f) {
  Keys keys;
  std::vector<std::unique_ptr<nccl::NcclEngine>> engines;
  std::vector<std::thread> threads;
  for (int r = 0; r < size; ++r) {
    engines.push_back(std::make_unique<nccl::NcclEngine>());
    threads.emplace_back([&, r, &engine = *engines.back()] {
      try {
        engine.set_rendezvous(keys.rendezvous());
        const std::unique_ptr<Communicator> world(engine.connect(r, size));
        f(r, *world);
        engine.shutdown(true);
      } catch (const std::exception& e) {
        ADD_FAILURE() << "rank " << r << ": " << e.what();
      }
    });
  }
  for (std::thread& t : threads) t.join();
}

Transfer message(Collective what, int peer, int tag, std::vector<char>& data) {
  Transfer t;
  t.what = what;
  t.in = t.out = data.data();
  t.count = static_cast<int64_t>(data.size());
  t.peer = peer;
  t.tag = tag;
  return t;
}

class EveryWorld : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Nccl, EveryWorld, ::testing::Values(1, 2, 3));

TEST_P(EveryWorld, PassesTheChecksOfEngines) {
  std::mutex mutex;
  run(GetParam(), [&](int, Communicator& world) {
    auto failures = check_engine(world, true);
    const auto large = check_large(world, 1'000'000);
    failures.insert(failures.end(), large.begin(), large.end());
    const std::lock_guard lock(mutex);
    for (const std::string& f : failures) ADD_FAILURE() << f;
  });
}

TEST(Nccl, SaysWhatItIs) {
  nccl::NcclEngine engine;
  EXPECT_STREQ(engine.name(), "nccl");
  EXPECT_STREQ(engine.version(), "NCCL 2.18.5");
  EXPECT_EQ(engine.device_type(), static_cast<int>(kCUDA));
  int rank = -1, size = -1;
  {
    const Variable r("RANK", "3"), n("WORLD_SIZE", "4");
    EXPECT_TRUE(engine.launched(&rank, &size));
    EXPECT_EQ(rank, 3);
    EXPECT_EQ(size, 4);
  }
  {
    const Variable r("RANK", "4"), n("WORLD_SIZE", "4");
    EXPECT_FALSE(engine.launched(&rank, &size));
  }
  SY_EXPECT_ERROR(engine.connect(0, 1), Error,
                  "expected set_rendezvous() before it");
}

TEST(Nccl, SupportsWhatNcclReduces) {
  run(1, [](int, Communicator& c) {
    const auto reduces = [&](ScalarType t, ReduceOp op) {
      return c.supports(Collective::kAllReduce, t, op);
    };
    EXPECT_TRUE(reduces(kHalf, ReduceOp::SUM));
    EXPECT_TRUE(reduces(kBFloat16, ReduceOp::PRODUCT));
    EXPECT_TRUE(reduces(kLong, ReduceOp::MAX));
    EXPECT_FALSE(reduces(kFloat, ReduceOp::MAX));
    EXPECT_FALSE(reduces(kShort, ReduceOp::SUM));
    EXPECT_FALSE(reduces(kBool, ReduceOp::SUM));
    EXPECT_FALSE(reduces(kInt, ReduceOp::BOR));
    EXPECT_TRUE(c.supports(Collective::kScatter, kBool, ReduceOp::SUM));
    EXPECT_FALSE(c.supports(Collective::kBarrier, kByte, ReduceOp::SUM));
    SY_EXPECT_ERROR(c.begin(Transfer()), NotImplementedError,
                    "[nccl] barrier: NCCL has none");
  });
}

// Each would wait for the other for ever in one stream.
TEST(Nccl, MessagesDoNotWaitForEachOther) {
  run(2, [](int rank, Communicator& c) {
    const int other = 1 - rank;
    std::vector<char> in(5000, 'a'), out(5000), late(5000);
    void* const never_first =
        c.begin(message(Collective::kRecv, other, 7, late));
    void* const recv = c.begin(message(Collective::kRecv, other, 1, out));
    for (int i = 0; i < 100; ++i) {
      EXPECT_FALSE(c.test(never_first, nullptr));
    }
    finish(c, message(Collective::kSend, other, 1, in));
    EXPECT_EQ(finish(c, recv), 5000u);
    EXPECT_EQ(out, in);
    finish(c, message(Collective::kSend, other, 7, in));
    finish(c, never_first);
    EXPECT_EQ(late, in);
  });
}

TEST(Nccl, BeginDoesNotWaitAndAbandonedTransfersEndWithIt) {
  run(2, [](int rank, Communicator& c) {
    if (rank != 0) return;
    std::vector<char> data(5000);
    Transfer t = message(Collective::kAllReduce, 0, 0, data);
    void* const request = c.begin(t);
    EXPECT_FALSE(c.test(request, nullptr));
    c.abandon(request);
  });
}

TEST(Nccl, TellsWhatNcclReports) {
  run(1, [](int, Communicator& c) {
    const Variable fail("FAKE_NCCL_FAIL", "1");
    std::vector<char> data(10);
    void* const r = c.begin(message(Collective::kAllReduce, 0, 0, data));
    for (int i = 0; i < 2; ++i) {
      SY_EXPECT_ERROR(c.test(r, nullptr), Error,
                      "[nccl] all_reduce: remote process exited or there was a "
                      "network error: told to fail");
    }
    c.abandon(r);
    SY_EXPECT_ERROR(c.begin(message(Collective::kAllReduce, 0, 0, data)), Error,
                    "[nccl] all_reduce: remote process");
  });
}

TEST(Nccl, WaitsOnlyAsLongAsTheOthersMayCome) {
  Keys keys;
  keys.over = true;
  nccl::NcclEngine engine;
  engine.set_rendezvous(keys.rendezvous());
  const int both[] = {0, 1};
  for (const int rank : both) {
    const std::unique_ptr<Communicator> world(engine.connect(rank, 2));
    SY_EXPECT_ERROR(world->split(both, 2, 1), Error, "the others do not come");
  }
}

}  // namespace
}  // namespace sy::distributed
