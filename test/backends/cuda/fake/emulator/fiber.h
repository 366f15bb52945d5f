#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define SY_FAKE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SY_FAKE_ASAN 1
#endif
#endif

// Switching between stacks, on x86-64.

extern "C" {
// Keeps what a call keeps on the running stack, writes the stack's pointer to
// `*from` and goes on where `to` was left.
void sy_fiber_switch(void** from, void* to);
// The second half: with the stack's pointer set to where a stack was left,
// goes on there. Never called: an address to jump to.
void sy_fiber_resume();
}

namespace fake_cuda {

// The frame that sy_fiber_switch goes on with first: `entry`, without
// arguments, at the top of a stack; it must not return.
void* first_frame(char* top, void (*entry)());

// Notes for AddressSanitizer around each switch; nothing without it.
// `keep` keeps what belongs to the stack that is left, nullptr ends it.
void before_switch(void** keep, const void* bottom, size_t bytes);
void after_switch(void* kept, const void** bottom, size_t* bytes);
// A stack that was left for ever is used afresh.
void clean_stack(char* bottom, size_t bytes);

}  // namespace fake_cuda
