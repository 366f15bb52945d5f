#pragma once

#include <string>

namespace fake_cuda {

// Watches a launch: one that takes longer than FAKE_CUDA_PATIENCE seconds is
// named on stderr, once, since nothing else would say what hangs.
class Patience {
 public:
  explicit Patience(const std::string& kernel);
  ~Patience();
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;
};

}  // namespace fake_cuda
