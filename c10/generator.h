#pragma once

#include <cstdint>

#include "c10/device.h"
#include "c10/intrusive_ptr.h"

namespace sy {

// State of one stream of random numbers: a Philox4x32-10 counter (the stream
// is laid out as c10/philox.h says). Any draw first reserves its counters, so
// that results do not depend on the number of threads that fill them in. Safe
// from several threads.
class SY_API GeneratorImpl final : public RefCounted {
 public:
  explicit GeneratorImpl(Device device, uint64_t seed = 5489)
      : device_(device), seed_(seed) {}
  Device device() const { return device_; }
  uint64_t seed() const;
  void set_seed(uint64_t seed);
  // Number of 128-bit counters used so far; set to move in the stream.
  uint64_t offset() const;
  void set_offset(uint64_t counters);
  struct Range {
    uint64_t seed, offset;
  };
  // Reserves `counters` counters and says where they begin.
  Range reserve(uint64_t counters);

 private:
  Device device_;
  uint64_t seed_;
  uint64_t offset_ = 0;
};

using Generator = intrusive_ptr<GeneratorImpl>;

SY_API Generator make_generator(uint64_t seed, Device device = Device(kCPU));
// The one that operators use when given none; seeded at random until
// manual_seed. Thread-safe. Throws ValueError if there is no such device.
SY_API const Generator& default_generator(Device device = Device(kCPU));
// Seeds the default generators of all devices, those not yet used included.
SY_API void manual_seed(uint64_t seed);

}  // namespace sy
