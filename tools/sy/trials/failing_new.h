#pragma once

#include <cstdint>

namespace sy::tools {

// Does for operator new what fail_allocation() (c10/memory/allocator.h) does:
// the nth call from now on, in any thread and library of the process, throws
// std::bad_alloc; 0 ends that. Returns how many calls were left until the
// failure that an earlier call asked for; 0 if it has come or there was none.
int64_t fail_new(int64_t nth) noexcept;

}  // namespace sy::tools
