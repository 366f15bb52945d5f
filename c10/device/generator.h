#pragma once

#include <cstdint>

#include "c10/device/device.h"
#include "c10/tensor/intrusive_ptr.h"

namespace sy {

// The state of one stream of random numbers: a Philox4x32-10 counter
// (c10/device/philox.h describes the stream). A draw first reserves its
// counters, so results do not depend on the number of threads that compute
// them. Thread-safe.
class SY_API GeneratorImpl final : public RefCounted {
 public:
  explicit GeneratorImpl(Device device, uint64_t seed = 5489)
      : device_(device), seed_(seed) {}
  Device device() const { return device_; }
  uint64_t seed() const;
  // Also moves to the start of the stream.
  void set_seed(uint64_t seed);
  // How many 128-bit counters are used so far. Setting it moves within the
  // stream.
  uint64_t offset() const;
  void set_offset(uint64_t counters);
  struct Range {
    uint64_t seed, offset;
  };
  // Reserves `counters` counters. Returns the seed and the first of them.
  Range reserve(uint64_t counters);

 private:
  Device device_;
  uint64_t seed_;
  uint64_t offset_ = 0;
};

using Generator = intrusive_ptr<GeneratorImpl>;

SY_API Generator make_generator(uint64_t seed, Device device = Device(kCPU));
// The generator that operators use if they are given none. Its seed is random
// until manual_seed(). Thread-safe. Throws ValueError if there is no such
// backend.
SY_API const Generator& default_generator(Device device = Device(kCPU));
// Seeds the default generators of all devices, also those used later.
SY_API void manual_seed(uint64_t seed);

}  // namespace sy
