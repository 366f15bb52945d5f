#include "backends/cpu/lapack/threads.h"

#include <omp.h>
#include <pthread.h>

#include <atomic>
#include <shared_mutex>

namespace sy::cpu {

namespace {

// OpenBLAS takes the calling thread's OpenMP setting, and rebuilds what all
// threads share when it changes. So nobody else is in it while one call uses
// several threads.
std::shared_mutex& gate() {
  static auto* mutex = new std::shared_mutex;  // leaked: used until the end
  return *mutex;
}

// libgomp's threads do not survive a fork, nor does a thread that held the
// gate.
std::atomic<bool> forked{false};
const int fork_handler =
    pthread_atfork(nullptr, nullptr, [] { forked = true; });

}  // namespace

// Returns the setting before, negated if several threads are used.
int enter_lapack(int threads) {
  const int before = omp_get_max_threads();
  if (forked) {
    omp_set_num_threads(1);
    return before;
  }
  const bool several = threads > 1 && omp_in_parallel() == 0;
  if (several) {
    gate().lock();
  } else {
    gate().lock_shared();
  }
  omp_set_num_threads(several ? threads : 1);
  return several ? -before : before;
}

void leave_lapack(int entered) {
  omp_set_num_threads(entered < 0 ? -entered : entered);
  if (forked) return;
  if (entered < 0) {
    gate().unlock();
  } else {
    gate().unlock_shared();
  }
}

}  // namespace sy::cpu
