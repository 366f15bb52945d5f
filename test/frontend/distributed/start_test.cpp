#include <gtest/gtest.h>
#include <signal.h>
#include <sy/distributed.h>
#include <sy/sy.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "test/frontend/distributed/rank_process.h"

// How processes become ranks: by the environment of torchrun or of mpirun, and
// what they say if that is wrong. The engine is NCCL's on fake_nccl.cpp, which
// moves nothing between processes: tensors are the host's.

namespace sy::distributed {
namespace {

namespace fs = std::filesystem;

std::string number(int n) { return std::to_string(n); }

// A port that nobody listens at, nor at the next one.
uint16_t free_port() {
  for (;;) {
    const TcpStoreServer one;
    try {
      const TcpStoreServer next("127.0.0.1", uint16_t(one.port() + 1));
      return one.port();
    } catch (const Error&) {
    }
  }
}

Variables torchrun(int rank, int size, uint16_t port) {
  return {{"RANK", number(rank)},
          {"WORLD_SIZE", number(size)},
          {"LOCAL_RANK", number(rank)},
          {"LOCAL_WORLD_SIZE", number(size)},
          {"MASTER_ADDR", "127.0.0.1"},
          {"MASTER_PORT", number(port)},
          {"SWITCHYARD_DISTRIBUTED_ENGINE", "nccl"},
          {"SWITCHYARD_DISTRIBUTED_TIMEOUT", "10"},
          {"FAKE_NCCL_PROCESSES", "1"}};
}

Variables with(Variables v, const Variables& more) {
  for (const auto& [name, value] : more) v[name] = value;
  return v;
}

std::vector<Process> torchrun_ranks(const std::string& name, int size,
                                    const Variables& more = {}) {
  const uint16_t port = free_port();
  std::vector<Process> ranks;
  for (int r = 0; r < size; ++r) {
    ranks.emplace_back(name, with(torchrun(r, size, port), more));
  }
  return ranks;
}

void expect_fine(std::vector<Process>& ranks) {
  for (Process& p : ranks) {
    EXPECT_EQ(p.wait(), 0) << p.said();
    EXPECT_NE(p.said().find("[  PASSED  ] 1 test"), std::string::npos);
  }
}

void expect_error(Process& p, const std::string& text) {
  EXPECT_EQ(p.wait(), 1);
  EXPECT_NE(p.said().find(text), std::string::npos) << p.said();
}

// ---- what ranks do

TEST(StartRank, DISABLED_Short) {
  init();
  const int n = get_world_size(), rank = get_rank();
  EXPECT_EQ(get_local_rank(), rank);
  Tensor x = sy::full({3}, rank + 1.0), large = sy::full({200'000}, 1.0);
  world()->allreduce(x);
  world()->allreduce(large);
  EXPECT_TRUE(x.eq(n * (n + 1) / 2).all().item<bool>());
  EXPECT_TRUE(large.eq(n).all().item<bool>());
  if (const auto pair = new_group({0, n - 1})) {
    pair->allreduce(x);
    EXPECT_TRUE(x.eq(n * (n + 1)).all().item<bool>());
  }
}

TEST(StartRank, DISABLED_Twice) {
  for (int i = 0; i < 2; ++i) {
    init();
    Tensor x = sy::ones({3});
    world()->allreduce(x);
    EXPECT_TRUE(x.eq(get_world_size()).all().item<bool>());
    destroy_process_group();
  }
}

TEST(StartRank, DISABLED_OneIsKilled) {
  init();
  Tensor x = sy::ones({3});
  world()->allreduce(x);
  if (get_rank() == 1) kill(getpid(), SIGKILL);
  const auto begun = std::chrono::steady_clock::now();
  try {
    world()->allreduce(x);
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    EXPECT_NE(e.message().find("rank 1 is gone"), std::string::npos)
        << e.message();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(5));
}

TEST(StartRank, DISABLED_OneStopsComing) {
  init();
  if (get_rank() == 1) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2500));
    return;
  }
  Tensor x = sy::ones({3});
  try {
    world()->allreduce(x);
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    EXPECT_NE(e.message().find("rank 1: has called no collective yet"),
              std::string::npos)
        << e.message();
  }
}

TEST(StartRank, DISABLED_Forks) {
  init();
  Tensor x = sy::ones({3});
  world()->allreduce(x);
  // A call under way when the process forks, on another thread.
  Tensor large = sy::ones({1'000'000});
  const Work work = world()->allreduce(large, ReduceOp::SUM, kAsync);
  const pid_t child = fork();
  if (child == 0) {
    int wrong = 0;
    const auto refused = [&](const auto& f) {
      try {
        f();
        ++wrong;
      } catch (const Error& e) {
        wrong += e.message().find("fork") == std::string::npos;
      }
    };
    Tensor y = sy::ones({3});
    refused([&] { world()->allreduce(y); });
    refused([&] { world()->barrier(); });
    refused([&] { world()->allreduce(y, ReduceOp::SUM, kAsync); });
    refused([&] { store().set("a", "b"); });
    refused([&] { new_group({0}); });
    refused([&] { group_of("world"); });
    refused([&] { work.wait(); });
    refused([&] { Context again{InitOptions()}; });
    std::exit(wrong);  // with what runs at exit
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  work.wait();
  world()->allreduce(x);
  const int n = get_world_size();
  EXPECT_TRUE(x.eq(n * n).all().item<bool>());
  EXPECT_TRUE(large.eq(n).all().item<bool>());
}

TEST(StartRank, DISABLED_ForksBefore) {
  const pid_t child = fork();
  if (child == 0) {
    init();
    Tensor x = sy::ones({3});
    world()->allreduce(x);
    std::exit(x.eq(get_world_size()).all().item<bool>() ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// ---- tests

TEST(Start, ByTheEnvironmentOfTorchrun) {
  auto ranks = torchrun_ranks("Short", 3);
  expect_fine(ranks);
}

// For the timeline of all ranks: init() begins the trace, and measures how far
// this machine's clock is from that of the store.
TEST(Start, ATraceSaysWhichClockItHas) {
  const uint16_t port = free_port();
  const auto path = [](int rank) {
    return fs::path(::testing::TempDir()) /
           ("start_trace" + number(getpid()) + "_" + number(rank));
  };
  std::vector<Process> ranks;
  for (int r = 0; r < 2; ++r) {
    ranks.emplace_back(
        "Short", with(torchrun(r, 2, port),
                      {{"SWITCHYARD_TRACE", "chrome:" + path(r).string()}}));
  }
  expect_fine(ranks);
  for (int r = 0; r < 2; ++r) {
    std::ifstream in(path(r));
    std::ostringstream all;
    all << in.rdbuf();
    const std::string text = all.str(), key = "\"clock_offset_ns\": ";
    EXPECT_NE(text.find("\"name\": \"group world\""), text.npos);
    const size_t at = text.find(key);
    ASSERT_NE(at, text.npos);
    // The same machine.
    EXPECT_LT(std::abs(std::atoll(text.c_str() + at + key.size())),
              100'000'000);
    fs::remove(path(r));
  }
}

TEST(Start, AWorldOfManyRanks) {
  auto ranks = torchrun_ranks("Short", 10);  // too many to tell each other all
  expect_fine(ranks);
}

TEST(Start, AgainAfterItsEnd) {
  const TcpStoreServer store;
  auto ranks = torchrun_ranks(
      "Twice", 2, {{"SWITCHYARD_STORE", "127.0.0.1:" + number(store.port())}});
  expect_fine(ranks);
}

TEST(Start, BesideTheStoreOfTorchrunsAgent) {
  const uint16_t port = free_port();
  const TcpStoreServer agent("127.0.0.1", port);
  std::vector<Process> ranks;
  for (int r = 0; r < 2; ++r) {
    ranks.emplace_back(
        "Short",
        with(torchrun(r, 2, port), {{"TORCHELASTIC_USE_AGENT_STORE", "True"}}));
  }
  expect_fine(ranks);
}

TEST(Start, WithASecretOfTheUser) {
  const std::string path = ::testing::TempDir() + "start_secret";
  std::ofstream(path) << "a secret of this test\n";
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  const Variables secret{{"SWITCHYARD_STORE_SECRET_FILE", path}};
  auto ranks = torchrun_ranks("Short", 2, secret);
  expect_fine(ranks);
  const uint16_t port = free_port();
  Process serves("Short", with(torchrun(0, 2, port), secret));
  Process stranger("Short", torchrun(1, 2, port));
  expect_error(stranger,
               "wants the secret of its job, which "
               "SWITCHYARD_STORE_SECRET_FILE names");
  expect_error(serves, "these of 2 ranks did not call init");
}

TEST(Start, ByTheEnvironmentOfMpirun) {
  const TcpStoreServer store;
  std::vector<Process> ranks;
  for (int r = 0; r < 2; ++r) {
    ranks.emplace_back(
        "Short",
        Variables{{"OMPI_COMM_WORLD_RANK", number(r)},
                  {"OMPI_COMM_WORLD_SIZE", "2"},
                  {"OMPI_COMM_WORLD_LOCAL_RANK", number(r)},
                  {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                  {"SWITCHYARD_STORE", "127.0.0.1:" + number(store.port())},
                  {"SWITCHYARD_DISTRIBUTED_ENGINE", "nccl"},
                  {"FAKE_NCCL_PROCESSES", "1"}});
  }
  expect_fine(ranks);
}

TEST(Start, WhereRanksMeetMustBeSaid) {
  Process p("Short", {{"OMPI_COMM_WORLD_RANK", "0"},
                      {"OMPI_COMM_WORLD_SIZE", "2"},
                      {"SWITCHYARD_DISTRIBUTED_ENGINE", "nccl"}});
  expect_error(p, "expected to know where the ranks meet: SWITCHYARD_STORE");
}

TEST(Start, TorchrunWithoutAnEngine) {
  Process p("Short", with(torchrun(0, 2, 1000),
                          {{"SWITCHYARD_DISTRIBUTED_ENGINE", ""}}));
  expect_error(p, "start the program by `sy launch -n 2 PROGRAM`");
}

TEST(Start, NumbersThatCannotBe) {
  const auto said = [](const char* rank, const char* size) {
    return Process("Short", with(torchrun(0, 2, 1000),
                                 {{"RANK", rank}, {"WORLD_SIZE", size}}));
  };
  Process high = said("2", "2"), none = said("", "2"), word = said("0", "two");
  expect_error(high, "[init] RANK: expected 0 to 1 (WORLD_SIZE is 2), got '2'");
  expect_error(none, "[init] RANK: expected 0 to 1 (WORLD_SIZE is 2), got ''");
  expect_error(word, "[init] WORLD_SIZE: expected a number of ranks");
}

TEST(Start, TimeoutsThatAreNone) {
  for (const char* const text : {"inf", "nan", "1e300", "0", "-1", "soon"}) {
    Process p("Short", with(torchrun(0, 2, 1000),
                            {{"SWITCHYARD_DISTRIBUTED_TIMEOUT", text}}));
    expect_error(p,
                 "[init] SWITCHYARD_DISTRIBUTED_TIMEOUT: expected seconds, "
                 "got '" +
                     std::string(text) + "'");
  }
}

TEST(Start, AnAddressAtWhichNobodyIs) {
  const uint16_t port = free_port();
  Process p("Short", with(torchrun(1, 2, port),
                          {{"SWITCHYARD_DISTRIBUTED_TIMEOUT", "0.5"}}));
  expect_error(p, "127.0.0.1:" + number(port));
}

TEST(Start, ARankThatIsNeverStarted) {
  const uint16_t port = free_port();
  Process p("Short", with(torchrun(0, 2, port),
                          {{"SWITCHYARD_DISTRIBUTED_TIMEOUT", "0.5"}}));
  expect_error(p, "these of 2 ranks did not call init within 500 ms: 1");
}

TEST(Start, WorldsOfDifferentSizes) {
  const uint16_t port = free_port();
  Process first("Short", torchrun(0, 2, port));
  Process second("Short", torchrun(1, 3, port));
  const int a = first.wait(), b = second.wait();
  EXPECT_EQ(a, 1);
  EXPECT_EQ(b, 1);
  EXPECT_NE(second.said().find("rank 0 is in a world of 2, this rank (1) in "
                               "one of 3: two programs use one store"),
            std::string::npos)
      << second.said();
}

TEST(Start, TwoProgramsOnOnePort) {
  const uint16_t port = free_port();
  Process first("Short", torchrun(0, 2, port));
  Process late("Short", torchrun(1, 2, port));
  EXPECT_EQ(first.wait(), 0) << first.said();
  EXPECT_EQ(late.wait(), 0) << late.said();
  // Another one, while some program listens there.
  const TcpStoreServer other("127.0.0.1", port);
  Process second("Short", torchrun(0, 2, port));
  expect_error(second, "cannot listen on 127.0.0.1:" + number(port) +
                           ": Address already in use (another program");
}

TEST(Start, TwoRanksOfOneNumber) {
  const TcpStoreServer store;
  const auto rank = [&](int r) {
    return Process(
        "Short",
        with(torchrun(r, 2, 1000),
             {{"SWITCHYARD_STORE", "127.0.0.1:" + number(store.port())}}));
  };
  Process one = rank(1);
  while (store.find("begun/1").empty()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  Process same = rank(1);
  expect_error(same, "rank 1");
  Process other = rank(0);
  EXPECT_EQ(one.wait(), 0) << one.said();
  EXPECT_EQ(other.wait(), 0) << other.said();
}

TEST(Start, WithoutNccl) {
  auto ranks =
      torchrun_ranks("Short", 2, {{"SWITCHYARD_NCCL", "/no/libnccl.so.2"}});
  for (Process& p : ranks) expect_error(p, "/no/libnccl.so.2");
}

TEST(Start, ARankThatIsKilled) {
  auto ranks = torchrun_ranks("OneIsKilled", 3);
  EXPECT_EQ(ranks[0].wait(), 0) << ranks[0].said();
  EXPECT_EQ(ranks[1].wait(), 128 + SIGKILL);
  EXPECT_EQ(ranks[2].wait(), 0) << ranks[2].said();
}

TEST(Start, ARankThatDoesNotCome) {
  auto ranks = torchrun_ranks("OneStopsComing", 2,
                              {{"SWITCHYARD_DISTRIBUTED_TIMEOUT", "1"}});
  expect_fine(ranks);
}

TEST(Start, AProcessMayForkBeforeItIsARank) {
  auto ranks = torchrun_ranks("ForksBefore", 2);
  expect_fine(ranks);
}

TEST(Start, AForkedChildIsNoRank) {
  auto ranks = torchrun_ranks("Forks", 2);
  expect_fine(ranks);
}

}  // namespace
}  // namespace sy::distributed
