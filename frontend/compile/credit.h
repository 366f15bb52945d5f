#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace sy::compiling {

// Whether it pays to capture calls that look at elements: a capture costs what
// many calls do, and code that sees another number each time will not be
// replayed. Replays earn what captures cost. Without credit, calls are spared
// for a while, four times as long after each capture that brought nothing.
class Credit {
 public:
  // Whether this call is spared.
  bool spares() {
    if (left_ == 0) return false;
    --left_;
    return true;
  }
  void hit() {
    credit_ = std::min(credit_ + 1, kMost);
    span_ = std::max<int64_t>(span_ / 2, 1);
  }
  void miss() {
    credit_ = std::max<int64_t>(credit_ - kCapture, 0);
    if (credit_ >= kCapture) return;
    left_ = span_;
    span_ = std::min(4 * span_, kLongest);
  }

 private:
  static constexpr int64_t kCapture = 8, kMost = 32 * kCapture;
  static constexpr int64_t kLongest = 1024;
  int64_t credit_ = kMost, left_ = 0, span_ = 4;
};

// How spared calls run: the code as it is, or in pieces that are fused. The
// faster one, which is measured from time to time.
class Pace {
 public:
  bool in_pieces() {
    constexpr int64_t kSpan = 256;
    const int64_t n = calls_++ % kSpan;
    if (n == 0) pieces_ = plain_ = std::numeric_limits<double>::max();
    return n < kTrials ? n % 2 == 0 : pieces_ < plain_;
  }
  void note(bool pieces, double seconds) {
    double& least = pieces ? pieces_ : plain_;
    least = std::min(least, seconds);
  }

 private:
  static constexpr int64_t kTrials = 4;
  int64_t calls_ = 0;
  double pieces_ = 0, plain_ = 0;
};

}  // namespace sy::compiling
