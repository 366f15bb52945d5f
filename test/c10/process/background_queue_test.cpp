#include "c10/process/background_queue.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <type_traits>

#include "test/c10/with_environment.h"

// Jobs of a queue, its end, and forks around both. Varied: how jobs join, who
// waits, what ends the process, when, and what the child of a fork does. Never
// varied: jobs are numbers.

namespace sy {

namespace {

using Numbers = std::vector<int>;
using Batches = std::vector<Numbers>;
using Queue = BackgroundQueue<int>;

constexpr BackgroundOptions kGoesOn = {.name = "sy-test",
                                       .goes_on_in_child = true};
constexpr BackgroundOptions kGivesUp = {.name = "sy-test"};

void sleep_ms(int n) {
  std::this_thread::sleep_for(std::chrono::milliseconds(n));
}

// What is done; the child of a fork has a copy.
Batches batches;
std::atomic<int> begun{0};  // the first job of the last batch
std::atomic<int> held{0};   // a batch that begins with it does not end

void note(const Numbers& batch) noexcept {
  begun = batch[0];
  while (held == batch[0]) sleep_ms(1);
  const ForkSection section;
  batches.push_back(batch);
}

Queue& new_queue(const BackgroundOptions& options, Queue::Run run = &note,
                 Queue::Joins joins = nullptr) {
  batches.clear();
  begun = held = 0;
  return *new Queue(options, run, joins);
}

void let_go_until(int job) {
  held = job;
  while (begun != job) sleep_ms(1);
}

// Returns while the first job runs.
void add_held(Queue& q, const Numbers& jobs) {
  held = jobs[0];
  for (const int job : jobs) q.add(job);
  let_go_until(jobs[0]);
}

void let_go(Queue& q) {
  held = 0;
  q.finish();
}

// The status of a child that runs f, killed after 20 seconds.
template <class F>
int in_child(const F& f) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(f());
  }
  int status = -1;
  return waitpid(child, &status, 0) == child ? status : -1;
}

// Numbers that children write.
std::atomic<int>* const shared = static_cast<std::atomic<int>*>(mmap(
    nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));

// The status of a child that runs f and ends.
template <class F>
int ended_child(const F& f) {
  for (int i = 0; i < 4; ++i) shared[i] = 0;
  return in_child([&] {
    f();
    std::exit(0);
    return 1;
  });
}

bool share_a_tens_digit(const Numbers& batch, const int& job) {
  return batch.size() < 3 && batch[0] / 10 == job / 10;
}

// ---- jobs

TEST(BackgroundQueue, DoesJobsOneByOneInOrder) {
  Queue& q = new_queue(kGoesOn);
  add_held(q, {3, 1, 2});
  EXPECT_EQ(q.pending(), 3u);
  let_go(q);
  EXPECT_EQ(q.pending(), 0u);
  EXPECT_EQ(batches, (Batches{{3}, {1}, {2}}));
  q.add(4);
  q.finish();
  EXPECT_EQ(batches.back(), Numbers{4});
}

TEST(BackgroundQueue, JobsJoinThoseThatRunNext) {
  Queue& q = new_queue(kGoesOn, &note, &share_a_tens_digit);
  add_held(q, {1, 21, 31, 22, 32, 23, 33, 24});
  EXPECT_EQ(q.pending(), 8u);
  let_go(q);
  EXPECT_EQ(batches, (Batches{{1}, {21, 22, 23}, {31, 32, 33}, {24}}));
}

TEST(BackgroundQueue, FinishWaitsForTheJobThatRuns) {
  Queue& q = new_queue(kGoesOn);
  add_held(q, {1});
  std::atomic<bool> finished{false};
  std::thread waiter([&] {
    q.finish();
    finished = true;
  });
  sleep_ms(50);
  EXPECT_FALSE(finished);
  held = 0;
  waiter.join();
  EXPECT_EQ(batches, Batches{{1}});
}

TEST(BackgroundQueue, AChangeWakesThoseWhoWaitForIt) {
  Queue& q = new_queue(kGoesOn);
  int state = 0;
  std::thread other([&] {
    for (int i = 0; i < 3; ++i) {
      sleep_ms(5);
      q.change([&] { ++state; });
    }
  });
  q.wait_until([&] { return state == 3; });
  EXPECT_EQ(state, 3);
  other.join();
}

TEST(BackgroundQueue, ItsThreadHasANameAndAPriority) {
  static char name[16];
  static int niceness, prepared;
  Queue& q =
      new_queue({.name = "sy-named",
                 .niceness = 19,
                 .prepare = []() noexcept { ++prepared; }},
                [](const Numbers&) noexcept {
                  pthread_getname_np(pthread_self(), name, sizeof name);
                  niceness = getpriority(
                      PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)));
                });
  EXPECT_EQ(prepared, 0) << "the first job starts the thread";
  q.add(1);
  q.add(2);
  q.finish();
  EXPECT_STREQ(name, "sy-named");
  EXPECT_EQ(niceness, 19);
  EXPECT_EQ(prepared, 1);
}

TEST(BackgroundQueue, AnExceptionOfAJobEndsTheProcess) {
  static_assert(!std::is_convertible_v<void (*)(const Numbers&), Queue::Run>);
  const int status = in_child([] {
    std::set_terminate([] { _exit(7); });
    Queue& q = new_queue(
        kGoesOn, [](const Numbers& batch) noexcept { begun = batch.at(1); });
    q.add(1);
    q.finish();
    return 0;
  });
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

// ---- the end of a process

// What a child shares: the last job that began, and that ended; whether they
// were cancelled; whether one was at work when what it uses was taken down.
enum { kBegan, kEnded, kCancelled, kTakenDown };

constexpr BackgroundOptions kEnds = {
    .name = "sy-test", .cancel = []() noexcept { shared[kCancelled] = 1; }};

void run_until_cancelled(const Numbers& batch) noexcept {
  shared[kBegan] = batch[0];
  while (shared[kCancelled] == 0) sleep_ms(1);
  sleep_ms(20);
  shared[kEnded] = batch[0];
}

void begin(Queue& q, const Numbers& jobs, int until) {
  for (const int job : jobs) q.add(job);
  while (shared[kBegan] != until) sleep_ms(1);
}

TEST(BackgroundQueueEnd, WaitsForTheJobThatRunsAndBeginsNone) {
  EXPECT_EQ(ended_child([] {
              begin(new_queue(kEnds, &run_until_cancelled), {1, 2, 3}, 1);
            }),
            0);
  EXPECT_EQ(shared[kBegan], 1);
  EXPECT_EQ(shared[kEnded], 1);
}

TEST(BackgroundQueueEnd, NobodyWaitsForAClosedQueue) {
  static Queue* queue;
  EXPECT_EQ(ended_child([] {
              queue = &new_queue(kEnds, &run_until_cancelled);
              std::atexit([] {
                if (!queue->is_closed() || queue->pending() != 1) _exit(1);
                queue->add(3);
                queue->finish();
                queue->wait_until([] { return false; });
                if (queue->pending() != 1) _exit(2);
              });
              begin(*queue, {1, 2}, 1);
            }),
            0);
}

// Registers what a library does when it is loaded, or first used.
void use_library() noexcept {
  std::atexit([] {
    if (shared[kBegan] != shared[kEnded]) shared[kTakenDown] = 1;
  });
}

TEST(BackgroundQueueEnd, IsBeforeThatOfWhatPrepareLoads) {
  EXPECT_EQ(ended_child([] {
              BackgroundOptions options = kEnds;
              options.prepare = &use_library;
              begin(new_queue(options, &run_until_cancelled), {1}, 1);
            }),
            0);
  EXPECT_EQ(shared[kTakenDown], 0);
}

TEST(BackgroundQueueEnd, IsBeforeThatOfWhatTheFirstJobUses) {
  EXPECT_EQ(ended_child([] {
              Queue& q = new_queue(kEnds, [](const Numbers& batch) noexcept {
                if (batch[0] == 1) return use_library();
                run_until_cancelled(batch);
              });
              begin(q, {1, 2}, 2);
            }),
            0);
  EXPECT_EQ(shared[kTakenDown], 0);
}

// In a process that has no other queue.
TEST(BackgroundQueueEnd, WaitsForPrepare) {
  if (!with_environment("BACKGROUND_QUEUE_TEST", "prepare")) return;
  static std::atomic<bool> prepared{false};
  std::atexit([] {
    if (!prepared) _exit(1);
  });
  new_queue({.name = "sy-test",
             .prepare =
                 []() noexcept {
                   sleep_ms(50);
                   prepared = true;
                 }})
      .add(1);
  std::exit(0);
}

TEST(BackgroundQueueEnd, MayBeCausedByAJob) {
  EXPECT_EQ(ended_child([] {
              Queue& q = new_queue(
                  kGoesOn, [](const Numbers&) noexcept { std::exit(0); });
              q.add(1);
              sleep_ms(60'000);
            }),
            0);
}

// ---- forks

TEST(BackgroundQueueFork, AChildDoesAgainWhatRanThenWhatWaits) {
  Queue& q = new_queue(kGoesOn, &note, &share_a_tens_digit);
  add_held(q, {1, 11, 12, 13, 21});
  let_go_until(11);
  EXPECT_EQ(in_child([&] {
              if (q.pending() != 4) return 1;
              let_go(q);
              if (batches != Batches{{1}, {11, 12, 13}, {21}}) return 2;
              q.add(31);
              q.finish();
              return batches.size() == 4 ? 0 : 3;
            }),
            0);
  let_go(q);
  EXPECT_EQ(batches, (Batches{{1}, {11, 12, 13}, {21}}));
}

TEST(BackgroundQueueFork, AChildStartsThreadsForJobsOfItsOwn) {
  Queue& unused = new_queue(kGoesOn);
  Queue& other = new_queue(kGoesOn);
  Queue& q = new_queue(kGoesOn);
  const auto do_one = [](Queue& queue, int job) {
    queue.add(job);
    queue.finish();
  };
  do_one(other, 1);
  do_one(q, 2);
  EXPECT_EQ(in_child([&] {
              do_one(unused, 3);
              do_one(other, 4);
              do_one(q, 5);
              return in_child([&] {
                do_one(q, 6);
                return batches == Batches{{1}, {2}, {3}, {4}, {5}, {6}} ? 0 : 1;
              });
            }),
            0);
}

// Its thread waits or wakes, and others wait for it, at any moment of this.
TEST(BackgroundQueueFork, AChildFindsTheQueueInOrder) {
  Queue& q = new_queue(kGoesOn);
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) {
      q.add(1);
      q.finish();
    }
  });
  int failed = 0;
  for (int i = 0; i < 50; ++i) {
    failed += in_child([&] {
                q.add(2);
                q.finish();
                return batches.back() == Numbers{2} ? 0 : 1;
              }) != 0;
  }
  EXPECT_EQ(failed, 0);
  stop = true;
  busy.join();
}

// Calls all that must not wait.
int use_closed(Queue& q, size_t pending) {
  if (!q.is_closed()) return 1;
  held = 0;
  q.add(9);
  q.finish();
  q.wait_until([] { return false; });
  q.change([] {});
  sleep_ms(50);
  return batches.empty() && q.pending() == pending ? 0 : 2;
}

TEST(BackgroundQueueFork, AChildGivesUp) {
  Queue& q = new_queue(kGivesUp);
  add_held(q, {1, 2});
  EXPECT_EQ(in_child([&] { return use_closed(q, 2); }), 0);
  EXPECT_EQ(ended_child([] {}), 0) << "no thread to wait for";
  let_go(q);
  EXPECT_EQ(batches, (Batches{{1}, {2}}));
}

TEST(BackgroundQueueFork, AChildThatIsNotAtRestGivesUp) {
  Queue& q = new_queue(kGoesOn);
  add_held(q, {1, 2});
  std::atomic<bool> locked{false}, stop{false};
  std::thread holder([&] {
    q.change([&] {
      locked = true;
      while (!stop) sleep_ms(1);
    });
  });
  while (!locked) sleep_ms(1);
  {
    const QuickFork quick;
    EXPECT_EQ(in_child([&] { return use_closed(q, 2); }), 0);
  }
  stop = true;
  holder.join();
  let_go(q);
}

}  // namespace

}  // namespace sy
