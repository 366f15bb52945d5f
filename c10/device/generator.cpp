#include "c10/device/generator.h"

#include <sys/random.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

#include "c10/device/backend.h"
#include "c10/device/device_guard.h"
#include "c10/dispatch/capture.h"
#include "c10/process/error.h"
#include "c10/process/fork.h"

namespace sy {
namespace {

// One for all generators: it is held for a few instructions once a draw.
constinit ForkMutex mutex;

// Draws that are recorded have not happened yet.
void tell(const char* what) { tell_capture({CaptureNote::kActsNow, what}); }

uint64_t random_seed() {
  uint64_t seed = 0;
  if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != sizeof seed) {
    seed = static_cast<uint64_t>(
        std::chrono::steady_clock::now().time_since_epoch().count());
  }
  return seed & 0x1fffffffffffff;  // a number that a double holds exactly
}

struct Defaults {
  static constexpr int kIndices = 128;
  bool seeded = false;
  uint64_t seed = 0;
  Generator* of_backend[kMaxBackends] = {};  // kIndices each
};

// Leaked: draws may happen during static destruction.
Defaults& defaults() {
  static auto* d = new Defaults;
  return *d;
}

}  // namespace

uint64_t GeneratorImpl::seed() const {
  tell("the state of a generator is read");
  const std::lock_guard lock(mutex);
  return seed_;
}

void GeneratorImpl::set_seed(uint64_t seed) {
  tell("a generator is seeded");
  const std::lock_guard lock(mutex);
  seed_ = seed;
  offset_ = 0;
}

uint64_t GeneratorImpl::offset() const {
  tell("the state of a generator is read");
  const std::lock_guard lock(mutex);
  return offset_;
}

void GeneratorImpl::set_offset(uint64_t counters) {
  tell("the state of a generator is set");
  const std::lock_guard lock(mutex);
  offset_ = counters;
}

GeneratorImpl::Range GeneratorImpl::reserve(uint64_t counters) {
  const std::lock_guard lock(mutex);
  return {seed_, std::exchange(offset_, offset_ + counters)};
}

Generator make_generator(uint64_t seed, Device device) {
  return make_intrusive<GeneratorImpl>(device, seed);
}

const Generator& default_generator(Device device) {
  const int number = number_of(device.type());
  SY_CHECK(number < backend_count(), Value,
           "[default_generator] device: no backend has the number {}", number);
  const int index = with_index(device).index();
  Defaults& d = defaults();
  const std::lock_guard lock(mutex);
  Generator*& row = d.of_backend[number];
  if (row == nullptr) row = new Generator[Defaults::kIndices];
  Generator& g = row[std::max(index, 0)];
  if (!g) {
    g = make_generator(d.seeded ? d.seed : random_seed(), with_index(device));
  }
  return g;
}

void manual_seed(uint64_t seed) {
  Defaults& d = defaults();
  std::vector<Generator> all;
  {
    const std::lock_guard lock(mutex);
    d.seeded = true;
    d.seed = seed;
    for (Generator* row : d.of_backend) {
      if (row == nullptr) continue;
      for (int i = 0; i < Defaults::kIndices; ++i) {
        if (row[i]) all.push_back(row[i]);
      }
    }
  }
  for (const Generator& g : all) g->set_seed(seed);
}

}  // namespace sy
