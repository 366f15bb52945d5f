#pragma once

#include <string>
#include <vector>

#include "c10/dispatch/dispatcher.h"

// The dispatcher's knowledge of an operator, as text for tools and messages.
// Results are snapshots: they do not show later registrations. Thread-safe.

namespace sy {

// One kernel as it was registered.
struct KernelInfo {
  std::string key;    // "CPU", "AutogradNpu", "CompositeImplicitAutograd"
  std::string owner;  // the library that registered it
  std::string file;
  int line = 0;
  bool boxed_only = false;     // has no typed form
  bool fallthrough = false;    // the key is skipped
  bool checks_itself = false;  // checks the operator's contract itself
};

// The target of a call with one run-time key.
struct DispatchInfo {
  enum class Route : uint8_t {
    Missing,      // a call throws NotImplementedError
    Own,          // registered for exactly this key
    Alias,        // registered for a composite or alias key, kernel.key
    Fallback,     // the key's kernel for operators without one
    Fallthrough,  // skipped
  };
  std::string key;  // "CPU", "AutogradCPU", "BackendSelect"
  Route route = Route::Missing;
  KernelInfo kernel;  // empty if Missing
};

// The operator's own kernels, in the order of registration. Fallbacks are not
// among them.
SY_API std::vector<KernelInfo> kernels_of(OperatorHandle op);
// One entry for each run-time key, highest priority first. A key with kernels
// per backend has one entry for each backend that is present.
SY_API std::vector<DispatchInfo> dispatch_of(OperatorHandle op);
// The library that defined the operator.
SY_API std::string owner_of(OperatorHandle op);

}  // namespace sy
