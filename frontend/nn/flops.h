#pragma once

#include <cstdint>

namespace sy::nn::detail {

// Counts the floating point operations of this thread's calls as long as it
// lives: those of summary.h. Counters may be nested; the innermost counts.
class FlopCounter {
 public:
  FlopCounter();
  ~FlopCounter();
  FlopCounter(const FlopCounter&) = delete;
  FlopCounter& operator=(const FlopCounter&) = delete;
  int64_t count() const { return count_; }

 private:
  friend struct FlopWatch;
  FlopCounter* outer_;
  int64_t count_ = 0;
};

}  // namespace sy::nn::detail
