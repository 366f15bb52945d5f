#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/io/named_tensors.h"

// The parts that the samplers share: random numbers that depend on the seed and
// the epoch alone, and states as named numbers.

namespace sy::distributed::detail {

// Numbers of the Philox stream whose key is the seed and whose counter's upper
// half is the epoch + 1. The library's generators have 0 there, so that they
// never draw the same numbers.
class EpochStream {
 public:
  EpochStream(uint64_t seed, int64_t epoch)
      : seed_(seed), epoch_(static_cast<uint64_t>(epoch) + 1) {}
  uint64_t next();
  // Uniform in [0, n). n > 0.
  uint64_t below(uint64_t n);
  // Uniform in [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  template <class T>
  void shuffle(T* first, uint64_t n) {
    for (uint64_t i = n; i > 1; --i) std::swap(first[i - 1], first[below(i)]);
  }

 private:
  uint64_t seed_, epoch_;
  uint64_t block_ = 0, spare_ = 0;
  bool has_spare_ = false;
};

void add_number(NamedTensors* state, const char* name, int64_t value);
// The number of that name. Throws ValueError "[op] state: ..." if there is
// none, or something else.
int64_t number_of(const char* op, const NamedTensors& state,
                  std::string_view name);

// Fills in the world's for what was not given, and begins it with init() if the
// program has not. Throws ValueError for a rank that is none of num_replicas.
void fill_ranks(const char* op, int* num_replicas, int* rank);

}  // namespace sy::distributed::detail
