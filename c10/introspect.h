#pragma once

#include <string>
#include <vector>

#include "c10/dispatcher.h"

// What the dispatcher knows of an operator, as text for tools and messages.
// Snapshots: kernels registered later do not show. Thread-safe.

namespace sy {

// One kernel as it was registered.
struct KernelInfo {
  std::string key;    // "CPU", "AutogradNpu", "CompositeImplicitAutograd"
  std::string owner;  // the library that registered it
  std::string file;
  int line = 0;
  bool boxed_only = false;     // has no typed form
  bool fallthrough = false;    // says that the key is skipped
  bool checks_itself = false;  // checks the operator's contract itself
};

// Where a call with one run-time key goes.
struct DispatchInfo {
  enum class Route : uint8_t {
    Missing,      // a call throws NotImplementedError
    Own,          // registered for the very key
    Alias,        // by a composite or an alias key: see kernel.key
    Fallback,     // the key's kernel for operators without one
    Fallthrough,  // skipped
  };
  std::string key;  // "CPU", "AutogradCPU", "BackendSelect"
  Route route = Route::Missing;
  KernelInfo kernel;  // empty if Missing
};

// In the order of registration. The operator's own; fallbacks are not among
// them.
SY_API std::vector<KernelInfo> kernels_of(OperatorHandle op);
// One entry per run-time key, highest priority first, and within a key one per
// backend present.
SY_API std::vector<DispatchInfo> dispatch_of(OperatorHandle op);
// The library that defined the operator.
SY_API std::string owner_of(OperatorHandle op);

}  // namespace sy
