#pragma once

#include <memory>
#include <string>
#include <vector>

#include "aten/backend/capture.h"
#include "frontend/compile/variant.h"
#include "frontend/compile/watch.h"

namespace sy::compiling {

// The outcome of a capture.
struct Captured {
  // nullptr if the call cannot be replayed.
  std::shared_ptr<Variant> variant;
  std::vector<Sighted> sighted;
  std::vector<capture::Break> breaks;
  // The result of the body itself counts; else `out` has been filled.
  bool own_result = false;
};

// Runs the body, once, and records it; if `looks`, a step ends where the body
// looks at elements. `watch` gets what the body tells that it reads. Throws
// what the body throws, when all that it has computed until then is done.
Captured capture_call(capture::Engine& engine, Device device,
                      std::string_view backend, bool looks,
                      const Arguments& arguments, Body body, void* context,
                      Outputs* out, Watch* watch);

}  // namespace sy::compiling
