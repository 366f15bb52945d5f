#pragma once

#include <cstdint>
#include <string>

#include "backends/pjrt/c_api.h"

namespace sy::pjrt {

// A library with a PJRT compiler. It stays loaded until the process ends, as
// its threads do. All functions may be called from any thread.
class Plugin {
 public:
  // One for each file. Throws Error that says what is wrong with the file: it
  // is not there, is no such library, or is of another version.
  static Plugin& open(const std::string& path);
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;

  // The path as it was given first.
  const std::string& path() const { return path_; }
  // "PJRT 0.81, StableHLO 1.13.3"
  std::string versions() const;
  // nullptr if the plugin has none of that type.
  const abi::Extension* extension(int32_t type) const;

  // Calls the function of these arguments. The caller owns the error.
  template <class Args>
  abi::Error* try_call(Args& args) const noexcept {
    args.head.size = sizeof(Args);
    return reinterpret_cast<abi::Error* (*)(Args*)>(
        api_->functions[Args::kFunction])(&args);
  }
  // The same; throws an error of the plugin.
  template <class Args>
  void call(Args& args) const {
    if (abi::Error* const e = try_call(args)) raise(Args::kName, take(e));
  }

  struct Failure {
    abi::ErrorCode code;
    std::string text;
  };
  // Takes the code and the text of an error, and destroys it.
  Failure take(abi::Error* error) const;
  // Throws Error, or NotImplementedError or OutOfMemoryError by the code.
  [[noreturn]] void raise(const char* what, const Failure& failure) const;
  // For destructors: an error of this is nobody's.
  void drop(abi::Error* error) const noexcept;
  void destroy(abi::Buffer* buffer) const noexcept;
  void destroy(abi::Event* event) const noexcept;

 private:
  Plugin(std::string path, const abi::Api* api);

  const std::string path_;
  const abi::Api* const api_;
};

}  // namespace sy::pjrt
