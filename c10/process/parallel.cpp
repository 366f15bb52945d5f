#include "c10/process/parallel.h"

#include <pthread.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "c10/dispatch/thread_state.h"
#include "c10/process/environment.h"
#include "c10/process/error.h"

// OpenMP where it is compiled in, else a pool of std::thread (ThreadSanitizer
// does not understand libgomp).
#if defined(_OPENMP)
#include <omp.h>
#define SY_THREAD_POOL 0
#else
#include <condition_variable>
#include <system_error>
#define SY_THREAD_POOL 1
#endif

namespace sy {

// Functions of c10/process/fork.cpp. A thread that works for one within a
// ForkSection, which waits for it, is a guest there: no fork keeps it from
// entering others.
namespace detail {
bool is_in_fork_section() noexcept;
void begin_as_guest() noexcept;
void end_as_guest() noexcept;
}  // namespace detail

namespace {

constinit thread_local int thread_number = -1;  // -1: in no parallel_for

// Whether this process has threads, or may have.
bool has_threads() noexcept {
  struct stat s {};
  return stat("/proc/self/task", &s) != 0 || s.st_nlink != 3;  // ".", "..", one
}

// Neither libgomp nor the pool survives a fork: the threads that they wait for
// are gone, whoever started them. So a child of a process that had threads is
// told to use one everywhere: oneDNN, LAPACK and the program itself open
// regions of their own.
std::atomic<bool> threads_lost{false};
std::atomic<bool> had_threads{false};
[[maybe_unused]] const int fork_handler = pthread_atfork(
    [] { had_threads = has_threads(); }, nullptr,
    [] {
      thread_number = -1;
      if (!had_threads) return;
      threads_lost = true;
#if !SY_THREAD_POOL
      omp_set_num_threads(1);
      omp_set_max_active_levels(0);  // whatever number a region asks for
#endif
    });

// Beyond this libgomp may end the process for want of threads.
constexpr int kMaxThreads = 1024;

int threads_at_start() {
  for (const char* name : {"SWITCHYARD_NUM_THREADS", "OMP_NUM_THREADS"}) {
    const char* text = environment(name);
    const int n = text == nullptr ? 0 : std::atoi(text);
    if (n > 0) return std::min(n, kMaxThreads);
  }
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1,
                    kMaxThreads);
}

std::atomic<int>& num_threads() {
  static std::atomic<int> n{threads_at_start()};
  return n;
}

// One call of parallel_for: threads take the ranges in turn.
struct Job {
  int64_t begin, end, chunk;
  detail::RangeFunction function;
  const void* context;
  const bool interpreted = thread_state.interpreted;
  const bool in_section = detail::is_in_fork_section();
  std::atomic<int64_t> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr error{};
  std::mutex error_mutex{};

  void run(int thread) noexcept {
    if (in_section) detail::begin_as_guest();
    const int before = std::exchange(thread_number, thread);
    const bool was = std::exchange(thread_state.interpreted, interpreted);
    while (!failed.load(std::memory_order_relaxed)) {
      const int64_t at = next.fetch_add(1, std::memory_order_relaxed);
      if (at > (end - begin - 1) / chunk) break;
      const int64_t b = begin + at * chunk;
      try {
        function(context, b, end - b <= chunk ? end : b + chunk);
      } catch (...) {
        const std::lock_guard lock(error_mutex);
        if (!error) error = std::current_exception();
        failed = true;
      }
    }
    thread_number = before;
    thread_state.interpreted = was;
    if (in_section) detail::end_as_guest();
  }
};

#if SY_THREAD_POOL

// Leaked: its threads wait in it until the process ends.
class ThreadPool {
 public:
  // False if another thread uses the pool.
  bool run(Job& job, int threads) {
    const std::unique_lock in_use(use_, std::try_to_lock);
    if (!in_use.owns_lock()) return false;
    {
      const std::lock_guard lock(mutex_);
      start(threads - 1);
      job_ = &job;
      helpers_ = std::min(workers_, threads - 1);
      pending_ = helpers_;
      ++generation_;
    }
    wake_.notify_all();
    job.run(0);
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return pending_ == 0; });
    return true;
  }

 private:
  // Starts threads up to that number; fewer if the system gives no more.
  void start(int workers) {
    try {
      while (workers_ < workers) {
        std::thread(&ThreadPool::work, this, workers_ + 1).detach();
        ++workers_;
      }
    } catch (const std::system_error&) {
    }
  }

  void work(int number) {
    uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock,
                 [&] { return generation_ != seen && number <= helpers_; });
      seen = generation_;
      Job* job = job_;
      lock.unlock();
      job->run(number);
      lock.lock();
      if (--pending_ == 0) done_.notify_one();
    }
  }

  std::mutex use_, mutex_;
  std::condition_variable wake_, done_;
  int workers_ = 0;
  Job* job_ = nullptr;
  int helpers_ = 0;
  int pending_ = 0;
  uint64_t generation_ = 0;
};

void run_on_threads(Job& job, int threads) {
  static auto* pool = new ThreadPool;
  if (!pool->run(job, threads)) job.run(0);
}

#else

void run_on_threads(Job& job, int threads) {
#pragma omp parallel num_threads(threads)
  job.run(omp_get_thread_num());
}

#endif

bool nested() {
#if !SY_THREAD_POOL
  if (omp_in_parallel() != 0) return true;
#endif
  return thread_number >= 0;
}

}  // namespace

constinit std::atomic<int64_t> detail::most_grain{INT64_MAX};

void detail::limit_grain(int64_t most) noexcept {
  most_grain.store(most > 0 ? most : INT64_MAX, std::memory_order_relaxed);
}

int get_num_threads() noexcept {
  if (threads_lost.load(std::memory_order_relaxed)) return 1;
  return num_threads().load(std::memory_order_relaxed);
}

void set_num_threads(int n) {
  SY_CHECK(n >= 1 && n <= kMaxThreads, Value,
           "[set_num_threads] n: expected 1 to {}, got {}", kMaxThreads, n);
  num_threads().store(n, std::memory_order_relaxed);
}

int get_thread_num() noexcept { return std::max(thread_number, 0); }

bool in_parallel_region() noexcept { return nested(); }

namespace detail {

void parallel_run(int64_t begin, int64_t end, int64_t grain, RangeFunction f,
                  const void* context) {
  const int64_t n = end - begin;
  grain = std::max<int64_t>(grain, 1);
  const int64_t threads =
      std::min<int64_t>(get_num_threads(), (n - 1) / grain + 1);
  if (threads <= 1 || nested()) {
    f(context, begin, end);
    return;
  }
  Job job{begin, end, (n - 1) / threads + 1, f, context};
  run_on_threads(job, static_cast<int>(threads));
  if (job.error) std::rethrow_exception(job.error);
}

}  // namespace detail
}  // namespace sy
