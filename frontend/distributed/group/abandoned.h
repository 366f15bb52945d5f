#pragma once

namespace sy::distributed {

// For memory that an engine may still use after a call has failed: it is never
// freed. A list of it stays, so that programs that look for leaks find none.
// Any thread; nullptr is nothing.
void keep_for_ever(const void* memory) noexcept;

}  // namespace sy::distributed
