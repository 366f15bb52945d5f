#include "backends/lazy/executor.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <exception>
#include <memory>
#include <new>
#include <thread>

#include "backends/lazy/inner_stream.h"
#include "backends/lazy/run.h"
#include "c10/process/fork.h"

namespace sy::lazy {

namespace {

constexpr size_t kQueued = 2;  // graphs that wait behind the one that runs
// A graph that runs shorter than this is not worth waking a thread.
constexpr int64_t kShort = 50'000;  // nanoseconds

bool is_short(const Plan& p) {
  return p.all.runs > 0 && p.all.ns / p.all.runs < kShort;
}

struct Job {
  Job(RecordedGraph graph, intrusive_ptr<Plan> p)
      : plan(std::move(p)), run(std::move(graph), *plan) {}
  intrusive_ptr<Plan> plan;
  Run run;
  bool awaited = false, done = false;
  std::exception_ptr error;
};

// Guarded by graph_mutex(). Leaked: the thread may outlive everything.
struct Executor {
  std::deque<std::shared_ptr<Job>> queue;
  bool busy = false;  // a graph runs, on whichever thread
  bool started = false, stopped = false;
  std::exception_ptr left;  // of a graph that nobody waited for
  // The thread waits for work, everybody else for a change: a short graph that
  // its own thread has run wakes nobody.
  std::condition_variable_any work, changed;
};
Executor& executor() {
  static auto* e = new Executor;
  return *e;
}

// The lock is held on entry and on return.
void run_job(Job& job, GraphLock& lock) {
  Executor& e = executor();
  const ForkSection section;  // a fork waits for it
  e.busy = true;
  lock.unlock();
  try {
    const InnerStream stream;
    job.run.run();
  } catch (...) {
    job.error = std::current_exception();
  }
  lock.lock();
  job.run.finish();
  // The others counted on what this one did not do. A thread that waits for one
  // of them runs it anew.
  while (job.error && !e.queue.empty()) {
    e.queue.front()->run.finish();
    e.queue.front()->done = true;
    e.queue.pop_front();
  }
  forget_finished();
  job.done = true;
  if (job.error && !job.awaited) e.left = job.error;
  e.busy = false;
  if (!e.queue.empty()) e.work.notify_one();
  e.changed.notify_all();
}

void work() {
  GraphLock lock(graph_mutex());
  Executor& e = executor();
  for (;;) {
    e.work.wait(lock,
                [&] { return e.stopped || (!e.busy && !e.queue.empty()); });
    if (e.stopped) return;
    const std::shared_ptr<Job> job = std::move(e.queue.front());
    e.queue.pop_front();
    run_job(*job, lock);
  }
}

// Counts the time that a thread does not go on. The lock is held at both ends.
class Blocked {
 public:
  ~Blocked() {
    counters().blocked_ns +=
        std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin_)
            .count();
  }

 private:
  const std::chrono::steady_clock::time_point begin_ =
      std::chrono::steady_clock::now();
};

bool is_idle(const Executor& e) { return !e.busy && e.queue.empty(); }

// A process that ends waits for what runs.
void start() {
  Executor& e = executor();
  if (e.started) return;
  e.started = true;
  static const bool once = [] {
    std::atexit([] {
      GraphLock lock(graph_mutex());
      Executor& x = executor();
      x.changed.wait(lock, [&] { return is_idle(x); });
      x.stopped = true;
      x.work.notify_all();
    });
    return true;
  }();
  static_cast<void>(once);
  std::thread(work).detach();
}

// The child of a fork starts a thread of its own. Nothing runs there: a thread
// that runs a graph is within a section. The threads that awaited something are
// gone.
const int fork_handler = pthread_atfork(nullptr, nullptr, [] {
  if (!forked_at_rest()) return;
  Executor& e = executor();
  new (&e.work) std::condition_variable_any;
  new (&e.changed) std::condition_variable_any;
  if (std::exchange(e.started, false) && !e.queue.empty()) start();
});

}  // namespace

void execute(RecordedGraph graph, intrusive_ptr<Plan> plan, bool wait,
             GraphLock& lock) {
  Executor& e = executor();
  const auto job = std::make_shared<Job>(std::move(graph), std::move(plan));
  job->awaited = wait;
  const Blocked blocked;
  if ((wait || is_short(*job->plan)) && is_idle(e)) {
    run_job(*job, lock);
  } else {
    start();
    e.queue.push_back(job);
    e.work.notify_one();
    e.changed.wait(
        lock, [&] { return wait ? job->done : e.queue.size() <= kQueued; });
  }
  if (wait && job->error) std::rethrow_exception(job->error);
}

void wait_for(const LazyNode& node, GraphLock& lock) {
  if (node.state != LazyNode::kRunning) return;
  const Blocked blocked;
  executor().changed.wait(lock,
                          [&] { return node.state != LazyNode::kRunning; });
}

void wait_for_all(GraphLock& lock) {
  Executor& e = executor();
  const Blocked blocked;
  e.changed.wait(lock, [&] { return is_idle(e); });
  throw_left_error();
}

void throw_left_error() {
  Executor& e = executor();
  if (e.left) std::rethrow_exception(std::exchange(e.left, nullptr));
}

}  // namespace sy::lazy
