#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "c10/macros.h"

// Notes of modules to the captures of the code that calls them.

namespace sy::nn {

class Module;

namespace detail {

// How often a module was put into the place of another one in this process, or
// registered. The owner of a graph of code that calls modules looks at it.
SY_API extern std::atomic<uint32_t> module_changes;
inline void note_module_change() noexcept {
  module_changes.fetch_add(1, std::memory_order_relaxed);
}

// Tells the capture that its code calls the module, or asks for its mode. The
// module is the object of these bytes.
SY_API SY_COLD void tell_read(const Module& m, const void* object,
                              size_t bytes);

}  // namespace detail
}  // namespace sy::nn
