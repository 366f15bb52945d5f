#include "frontend/distributed/group/host_communicator.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

#include "test/c10/expect_error.h"

// Messages over TCP between ranks that are threads.

namespace sy::distributed {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

bool is_done_soon(Communicator& c, void* request, size_t* received = nullptr,
                  milliseconds limit = milliseconds(10'000)) {
  const auto until = steady_clock::now() + limit;
  while (!c.test(request, received)) {
    if (steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  return true;
}

void finish(Communicator& c, const Transfer& t, size_t* received = nullptr) {
  void* const r = c.begin(t);
  if (r == nullptr) return;
  ASSERT_TRUE(is_done_soon(c, r, received)) << "it hangs";
}

// Calls f(world) on each rank.
template <class F>
void run(int size, const F& f) {
  const auto shared = HashStore::make_shared();
  std::vector<std::thread> threads;
  for (int r = 0; r < size; ++r) {
    threads.emplace_back([&, r] {
      try {
        HostCommunicator world(std::make_shared<HostMesh>(
            std::make_shared<HashStore>(shared), r, size, "127.0.0.1"));
        f(world);
        Transfer t;  // nobody ends before the others
        finish(world, t);
      } catch (const std::exception& e) {
        ADD_FAILURE() << "rank " << r << ": " << e.what();
      }
    });
  }
  for (std::thread& t : threads) t.join();
}

template <class T>
Transfer transfer(Collective what, std::vector<T>& data, int peer = 0,
                  int tag = 0) {
  Transfer t;
  t.what = what;
  t.in = t.out = data.data();
  t.dtype = sizeof(T) == 8 ? ScalarType::Long : ScalarType::Byte;
  t.count = static_cast<int64_t>(data.size());
  t.peer = peer;
  t.tag = tag;
  return t;
}

using Bytes = std::vector<char>;
using Numbers = std::vector<int64_t>;

class Worlds : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(HostCommunicator, Worlds,
                         testing::Values(1, 2, 3, 4, 5, 8, 9, 13));

TEST_P(Worlds, TheLeastOfAllNumbers) {
  run(GetParam(), [](HostCommunicator& c) {
    const int64_t n = c.size(), me = c.rank();
    for (int64_t round = 0; round < 5; ++round) {
      Numbers x{me + round, -me, 7, (me * 7 + round) % n};
      Transfer t = transfer(Collective::kAllReduce, x);
      t.op = ReduceOp::MIN;
      finish(c, t);
      EXPECT_EQ(x, (Numbers{round, 1 - n, 7, 0}));
    }
  });
}

TEST_P(Worlds, BroadcastFromEachRank) {
  run(GetParam(), [](HostCommunicator& c) {
    for (int root = 0; root < c.size(); ++root) {
      for (const size_t size : {size_t{0}, size_t{5}, size_t{300'000}}) {
        Bytes x(size, static_cast<char>(c.rank() == root ? root + 1 : 99));
        finish(c, transfer(Collective::kBroadcast, x, root));
        EXPECT_EQ(x, Bytes(size, static_cast<char>(root + 1)));
      }
    }
  });
}

TEST_P(Worlds, PartsOfAllRanks) {
  run(GetParam(), [](HostCommunicator& c) {
    const auto n = static_cast<size_t>(c.size());
    const int64_t me = c.rank();
    Numbers mine{me, me * me}, all(2 * n);
    Transfer t = transfer(Collective::kAllGather, mine);
    t.out = all.data();
    finish(c, t);
    // Rank k gets k + 1 numbers from each rank.
    Numbers gives, takes, in, out(n * size_t(me + 1));
    for (int64_t k = 0; k < c.size(); ++k) {
      EXPECT_EQ(all[size_t(2 * k)], k);
      EXPECT_EQ(all[size_t(2 * k + 1)], k * k);
      gives.push_back(k + 1);
      takes.push_back(me + 1);
      in.insert(in.end(), size_t(k + 1), 100 * me + k);
    }
    t = transfer(Collective::kAllToAll, in);
    t.out = out.data();
    t.in_counts = gives.data();
    t.out_counts = takes.data();
    finish(c, t);
    for (size_t i = 0; i < out.size(); ++i) {
      EXPECT_EQ(out[i], 100 * int64_t(i / size_t(me + 1)) + me);
    }
  });
}

TEST(HostCommunicator, MessagesArriveByTagAndInOrder) {
  run(2, [](HostCommunicator& c) {
    Bytes a(3, 'a'), b(2'000'000, 'b'), d(7, 'd'), none;
    if (c.rank() == 0) {
      // Before it is asked for.
      finish(c, transfer(Collective::kSend, a, 1, 5));
      void* const large = c.begin(transfer(Collective::kSend, b, 1, 6));
      finish(c, transfer(Collective::kSend, none, 1, 7));
      finish(c, transfer(Collective::kSend, d, 1, 5));
      EXPECT_TRUE(is_done_soon(c, large));
      return;
    }
    Bytes x(100), y(100), big(2'000'000);
    size_t n = 0;
    finish(c, transfer(Collective::kRecv, x, 0, 7), &n);
    EXPECT_EQ(n, 0u);
    finish(c, transfer(Collective::kRecv, x, 0, 5), &n);
    EXPECT_EQ(Bytes(x.begin(), x.begin() + 3), a);
    EXPECT_EQ(n, 3u);
    finish(c, transfer(Collective::kRecv, y, 0, 5), &n);
    EXPECT_EQ(n, 7u);
    finish(c, transfer(Collective::kRecv, big, 0, 6));
    EXPECT_EQ(big, b);
  });
}

TEST(HostCommunicator, GroupsDoNotHearEachOther) {
  run(3, [](HostCommunicator& c) {
    std::vector<std::unique_ptr<Communicator>> groups;
    const std::vector<std::vector<int>> ranks = {{0, 1}, {0, 2}, {0, 2}};
    for (size_t i = 0; i < ranks.size(); ++i) {
      if (c.rank() != ranks[i][0] && c.rank() != ranks[i][1]) continue;
      groups.emplace_back(c.split(ranks[i].data(), 2, 4));
      Numbers x{c.rank() + 1 + int64_t(i)};
      Transfer t = transfer(Collective::kAllReduce, x);
      t.op = ReduceOp::MIN;
      finish(*groups.back(), t);
      EXPECT_EQ(x[0], 1 + int64_t(i));
    }
    if (c.rank() == 1) return;
    // A message through one group does not come through the other.
    auto& first = *groups[groups.size() - 2];
    auto& second = *groups.back();
    Bytes a(2, 'a'), b(2, 'b'), x(2);
    if (c.rank() == 0) {
      finish(first, transfer(Collective::kSend, a, 1));
      finish(second, transfer(Collective::kSend, b, 1));
    } else {
      finish(second, transfer(Collective::kRecv, x, 0));
      EXPECT_EQ(x, b);
      finish(first, transfer(Collective::kRecv, x, 0));
      EXPECT_EQ(x, a);
    }
  });
}

TEST(HostCommunicator, AMessageThatIsTooLong) {
  run(2, [](HostCommunicator& c) {
    Bytes x(100), y(10);
    if (c.rank() == 0) {
      for (int i = 0; i < 2; ++i) {
        finish(c, transfer(Collective::kSend, x, 1, i));
      }
      return;
    }
    for (int i = 0; i < 2; ++i) {
      void* const r = c.begin(transfer(Collective::kRecv, y, 0, i));
      SY_EXPECT_ERROR(is_done_soon(c, r), Error, "expected at most 10 bytes");
    }
  });
}

TEST(HostCommunicator, WhatItDoesNot) {
  run(1, [](HostCommunicator& c) {
    Bytes x(1);
    SY_EXPECT_ERROR(c.begin(transfer(Collective::kAllReduce, x)),
                    NotImplementedError, "the minimum of int64");
    SY_EXPECT_ERROR(c.begin(transfer(Collective::kReduce, x)),
                    NotImplementedError, "no transfer of this kind");
    SY_EXPECT_ERROR(c.begin(transfer(Collective::kSend, x, 0)), ValueError,
                    "expected another rank below 1, got 0");
    EXPECT_FALSE(c.supports(Collective::kAllReduce, kFloat, ReduceOp::SUM));
  });
}

// A rank that is gone leaves its transfers undone: the store tells who it is.
TEST(HostCommunicator, WhoIsGoneSendsNothing) {
  const auto shared = HashStore::make_shared();
  const auto mesh = [&](int rank) {
    return std::make_shared<HostMesh>(std::make_shared<HashStore>(shared), rank,
                                      2, "127.0.0.1");
  };
  HostCommunicator left(mesh(0));
  Bytes x(10);
  {
    HostCommunicator gone(mesh(1));
    void* const r = gone.begin(transfer(Collective::kSend, x, 0, 1));
    void* const got = left.begin(transfer(Collective::kRecv, x, 1, 1));
    const auto until = steady_clock::now() + milliseconds(5000);
    bool sent = false, came = false;
    while (!(sent && came) && steady_clock::now() < until) {
      if (!sent) sent = gone.test(r, nullptr);
      if (!came) came = left.test(got, nullptr);
    }
    ASSERT_TRUE(sent && came);
  }
  void* const r = left.begin(transfer(Collective::kRecv, x, 1, 2));
  EXPECT_FALSE(is_done_soon(left, r, nullptr, milliseconds(50)));
  left.abandon(r);
  void* const s = left.begin(transfer(Collective::kSend, x, 1, 2));
  if (s != nullptr) left.abandon(s);
}

// Nobody hears a stranger, which connects without being a rank.
TEST(HostCommunicator, Strangers) {
  const auto shared = HashStore::make_shared();
  HashStore store(shared);
  std::vector<Socket> strangers;
  std::thread first([&] {
    HostCommunicator c(std::make_shared<HostMesh>(
        std::make_shared<HashStore>(shared), 0, 2, "127.0.0.1"));
    Bytes x(10);
    finish(c, transfer(Collective::kRecv, x, 1, 1));
    EXPECT_EQ(x, Bytes(10, 'x'));
  });
  const std::string about = store.get("host/0", milliseconds(5000));
  const int port = std::stoi(about.substr(about.rfind('\n') + 1));
  for (int i = 0; i < 40; ++i) {
    std::string why;
    Socket s = connect_to("127.0.0.1", static_cast<uint16_t>(port),
                          steady_clock::now() + milliseconds(2000), &why);
    ASSERT_TRUE(s) << why;
    const std::string noise(static_cast<size_t>(i), static_cast<char>(i));
    (void)!::send(s.fd(), noise.data(), noise.size(), MSG_NOSIGNAL);
    strangers.push_back(std::move(s));
  }
  HostCommunicator c(std::make_shared<HostMesh>(
      std::make_shared<HashStore>(shared), 1, 2, "127.0.0.1"));
  Bytes x(10, 'x');
  finish(c, transfer(Collective::kSend, x, 0, 1));
  first.join();
}

}  // namespace
}  // namespace sy::distributed
