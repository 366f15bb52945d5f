#pragma once

#include <string>
#include <vector>

#include "backends/cuda/compile/unit.h"

// NVRTC, NVIDIA's compiler as a library: libnvrtc.so.13 or .12, opened on the
// first use. $SWITCHYARD_NVRTC names a file that is taken instead.

namespace sy::cuda {

// The target of a compilation. Compute capability 9.0 is the architecture 90.
struct Target {
  int architecture = 0;
  // PTX, which the driver compiles for the device, and not a cubin.
  bool is_ptx = false;
  friend bool operator==(const Target&, const Target&) = default;
};
// "sm_90", or "compute_90" for PTX.
std::string to_string(const Target& t);

class Nvrtc {
 public:
  // The compiler of the process; nullptr if there is none: `why` (may be
  // nullptr) says the reason.
  static const Nvrtc* get(std::string* why);

  int major() const { return major_; }
  int minor() const { return minor_; }
  const std::string& path() const { return path_; }
  // How it was found: "the toolkit".
  const std::string& place() const { return place_; }
  // The target of the device, if the version knows it, or else PTX of the
  // newest architecture that it knows and the device has. Throws Error for
  // devices that are older than all of these.
  Target target_for(int architecture) const;
  // All that the result depends on beside the unit.
  std::string fingerprint(const Target& target) const;

  // False if it does not compile; `log` is what the compiler says then, or the
  // reason why it could not try. Thread-safe.
  bool compile(const Unit& unit, const Target& target, std::string* image,
               std::string* log) const;

  // Ends the compilations of all threads soon, where the version can do that,
  // and all that are asked for later.
  static void cancel() noexcept;

 private:
  Nvrtc() = default;
  static const Nvrtc* open(std::string* why);
  std::vector<std::string> options(const Target& target, bool minimal) const;

  struct Api;
  const Api* api_ = nullptr;
  int major_ = 0, minor_ = 0;
  std::string path_, place_;
  std::vector<int> architectures_;  // ascending
};

}  // namespace sy::cuda
