#include "test/backends/cuda/fake/driver/patience.h"

#include <chrono>
#include <cstdio>
#include <list>
#include <mutex>
#include <thread>

#include "test/backends/cuda/fake/driver/settings.h"

namespace fake_cuda {
namespace {

using Clock = std::chrono::steady_clock;

struct Running {
  const Patience* launch;
  std::string kernel;
  Clock::time_point since;
  bool named = false;
};

struct Watch {
  std::mutex mutex;
  std::list<Running> running;
  bool started = false;
};
Watch& watch() {
  static Watch* const w = new Watch;
  return *w;
}

void watch_launches() {
  Watch& w = watch();
  const auto limit = std::chrono::seconds(settings().patience);
  for (;;) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    const std::lock_guard lock(w.mutex);
    const Clock::time_point now = Clock::now();
    for (Running& r : w.running) {
      if (r.named || now - r.since < limit) continue;
      r.named = true;
      std::fprintf(stderr, "fake_cuda: kernel '%s' has run for %d s\n",
                   r.kernel.c_str(), settings().patience);
    }
  }
}

}  // namespace

Patience::Patience(const std::string& kernel) {
  if (settings().patience == 0) return;
  Watch& w = watch();
  const std::lock_guard lock(w.mutex);
  if (!w.started) {
    w.started = true;
    std::thread(watch_launches).detach();
  }
  w.running.push_back({this, kernel, Clock::now()});
}

Patience::~Patience() {
  if (settings().patience == 0) return;
  Watch& w = watch();
  const std::lock_guard lock(w.mutex);
  w.running.remove_if([&](const Running& r) { return r.launch == this; });
}

}  // namespace fake_cuda
