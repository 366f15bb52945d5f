#include "c10/process/fork.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <thread>
#include <vector>

#include "c10/dispatch/dispatcher.h"
#include "c10/plugin/library.h"
#include "c10/process/parallel.h"

// Locks and sections around forks, with other threads in them. Varied: which
// lock, how long it is held, in which order, by whom, who forks. Never varied:
// nothing keeps a fork waiting for more than some milliseconds.

namespace sy {

namespace {

// The status of a child that runs f, killed after 20 seconds.
template <class F>
int in_child(const F& f) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(f());
  }
  int status = -1;
  if (waitpid(child, &status, 0) != child) return -1;
  return status;
}

// Runs f on another thread, over and over, while it lives.
class Busy {
 public:
  template <class F>
  explicit Busy(F f)
      : thread_([this, f] {
          while (!stop_) {
            f();
            ++rounds_;
          }
        }) {
    while (rounds_ == 0) std::this_thread::yield();
  }
  ~Busy() {
    stop_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::atomic<int> rounds_{0};
  std::thread thread_;
};

constinit ForkMutex global;

void hold_for(std::chrono::microseconds t) { std::this_thread::sleep_for(t); }

TEST(ForkMutex, IsFreeInAChildAndWhatItGuardsIsWhole) {
  ForkMutex own;
  RecursiveForkMutex recursive;
  int a = 0, b = 0;
  const auto write = [&] {
    const std::lock_guard first(recursive), again(recursive);
    const std::lock_guard second(own), third(global);
    ++a;
    hold_for(std::chrono::microseconds(300));
    ++b;
  };
  const Busy busy(write);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(in_child([&] {
                const std::lock_guard first(global), second(own);
                const std::lock_guard third(recursive), again(recursive);
                return a == b ? 0 : 1;
              }),
              0);
  }
}

TEST(ForkMutex, LocksNeedNoOrder) {
  ForkMutex a, b;
  const Busy one([&] { const std::scoped_lock lock(a, b); });
  const Busy other([&] { const std::scoped_lock lock(b, a); });
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(in_child([&] {
                const std::scoped_lock lock(a, b);
                return 0;
              }),
              0);
  }
}

TEST(ForkMutex, OfTheForkingThreadStaysItsOwn) {
  ForkMutex own;
  RecursiveForkMutex recursive;
  const std::lock_guard lock(own);
  std::unique_lock again(recursive);
  EXPECT_EQ(in_child([&] {
              recursive.lock();
              recursive.unlock();
              again.unlock();
              std::thread([&] {
                if (own.try_lock()) _exit(3);
                if (!recursive.try_lock()) _exit(4);
              }).join();
              return 0;
            }),
            0);
  EXPECT_TRUE(recursive.try_lock());
  recursive.unlock();
}

TEST(ForkMutex, MayEndWhileOthersFork) {
  const Busy busy([] {
    std::vector<ForkMutex> locks(5);
    for (ForkMutex& m : locks) m.lock();
    for (ForkMutex& m : locks) m.unlock();
  });
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(in_child([] {
                ForkMutex m;
                const std::lock_guard lock(m);
                return 0;
              }),
              0);
  }
}

TEST(ForkMutex, IsNotWaitedForByAQuickFork) {
  ForkMutex m;
  std::atomic<bool> locked{false}, done{false};
  std::thread holder([&] {
    const std::lock_guard lock(m);
    locked = true;
    while (!done) hold_for(std::chrono::milliseconds(1));
  });
  while (!locked) std::this_thread::yield();
  {
    const QuickFork quick;
    EXPECT_EQ(in_child([&] {
                ForkMutex other;
                const std::lock_guard lock(other);
                return forked_at_rest() || m.try_lock() ? 1 : 0;
              }),
              0);
  }
  EXPECT_FALSE(m.try_lock());
  done = true;
  holder.join();
  EXPECT_TRUE(m.try_lock());
  m.unlock();
}

TEST(ForkSection, IsWaitedFor) {
  int a = 0, b = 0;
  const Busy busy([&] {
    const ForkSection outer, inner;
    ++a;
    hold_for(std::chrono::microseconds(300));
    ++b;
  });
  const ForkSection own;
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(in_child([&] { return a == b ? 0 : 1; }), 0);
  }
}

// It holds a lock while it awaits a thread that needs another one: the fork has
// to let that one in.
TEST(ForkSection, MayWaitForThreadsThatEnterOne) {
  int a = 0, b = 0;
  const Busy busy([&] {
    const ForkSection section;
    ++a;
    std::thread([&] {
      const std::lock_guard lock(global);
      hold_for(std::chrono::microseconds(100));
    }).join();
    ++b;
  });
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(in_child([&] {
                const std::lock_guard lock(global);
                return a == b && forked_at_rest() ? 0 : 1;
              }),
              0);
  }
}

TEST(ForkSection, SeveralThreadsForkAtOnce) {
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10; ++i) {
        const int status = in_child([] {
          const std::lock_guard lock(global);
          return 0;
        });
        if (status != 0) ++failed;
        const std::lock_guard lock(global);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(failed, 0);
}

// Threads that wait in a condition hold nothing.
TEST(ForkSection, WhoWaitsInAConditionIsInNone) {
  ForkMutex m;
  std::condition_variable_any changed;
  bool done = false;
  std::thread waiter([&] {
    std::unique_lock lock(m);
    changed.wait(lock, [&] { return done; });
  });
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(in_child([&] { return forked_at_rest() ? 0 : 1; }), 0);
  }
  {
    const std::lock_guard lock(m);
    done = true;
  }
  changed.notify_all();
  waiter.join();
}

TEST(ForkedChild, HasOneThreadIfItsParentHadSeveral) {
  EXPECT_EQ(in_child([] {
              set_num_threads(3);
              return get_num_threads() == 3 ? 0 : 1;  // it had none
            }),
            0);
  const Busy busy([] { hold_for(std::chrono::milliseconds(1)); });
  EXPECT_EQ(in_child([] {
              set_num_threads(3);
              if (get_num_threads() != 1) return 1;
              // A child of the child.
              return in_child([] { return get_num_threads() == 1 ? 0 : 1; });
            }),
            0);
}

// Look-ups while another thread commits what is linked to the program.
TEST(FirstLookUp, FindsWhatAnotherThreadIsCommitting) {
  std::atomic<int> missing{0};
  for (int i = 0; i < 30; ++i) {
    EXPECT_EQ(in_child([&] {
                std::vector<std::thread> threads;
                for (int t = 0; t < 4; ++t) {
                  threads.emplace_back([&] {
                    if (!Dispatcher::singleton().find("fork_test::one")) {
                      ++missing;
                    }
                  });
                }
                for (std::thread& t : threads) t.join();
                return missing.load();
              }),
              0);
  }
}

}  // namespace

SY_LIBRARY(fork_test, m) {
  m.def("one(Tensor a) -> Tensor");
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

}  // namespace sy
