#pragma once

namespace sy::distributed {

// Never frees memory that an engine may still use after a call has failed. A
// list of it stays, so that programs that look for leaks find none. Any thread;
// nullptr is nothing.
void keep_for_ever(const void* memory) noexcept;

}  // namespace sy::distributed
