#pragma once

#include <memory>
#include <string>
#include <vector>

#include "aten/backend/capture.h"
#include "frontend/compile/variant.h"
#include "frontend/compile/watch.h"

namespace sy::compiling {

// What became of a capture.
struct Captured {
  // nullptr if the call cannot be replayed.
  std::shared_ptr<Variant> variant;
  std::vector<Sighted> sighted;
  std::vector<capture::Break> breaks;
  // The result of the body itself counts; else `out` has been filled.
  bool own_result = false;
};

// Runs the body, once, and records it; where it looks at elements, as a step
// if `looks`. What it tells that it reads goes to `watch`. Throws what the body
// throws, when what it has computed until then is done.
Captured capture_call(capture::Engine& engine, Device device,
                      std::string_view backend, bool looks,
                      const Arguments& arguments, Body body, void* context,
                      Outputs* out, Watch* watch);

}  // namespace sy::compiling
