#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "c10/dispatch/dispatcher.h"
#include "c10/plugin/library.h"

// The first look-ups of a process, by two threads: one registers what static
// initialisers have left, and takes its time; the other must wait for that.

namespace sy {
namespace {

std::atomic<bool> has_begun{false};

SY_LIBRARY(commit_race, m) {
  has_begun = true;
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  m.def("late(Tensor a) -> Tensor");
}

TEST(CommitRace, ALookUpWaitsForWhatIsBeingRegistered) {
  const auto find = [] {
    return Dispatcher::singleton().find("commit_race::late").has_value();
  };
  bool first = false, second = false;
  std::thread a([&] { first = find(); });
  std::thread b([&] {
    while (!has_begun) std::this_thread::yield();
    second = find();
  });
  a.join();
  b.join();
  EXPECT_TRUE(first);
  EXPECT_TRUE(second);
}

}  // namespace
}  // namespace sy
