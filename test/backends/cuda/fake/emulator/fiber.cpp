#include "test/backends/cuda/fake/emulator/fiber.h"

#include <cstdint>

#ifdef SY_FAKE_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

asm(R"(
  .text
  .p2align 4
  .globl sy_fiber_switch
  .hidden sy_fiber_switch
  .type sy_fiber_switch, @function
sy_fiber_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  .globl sy_fiber_resume
  .hidden sy_fiber_resume
sy_fiber_resume:
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  popq %rcx
  jmp *%rcx
  .size sy_fiber_switch, .-sy_fiber_switch
)");

namespace fake_cuda {

void* first_frame(char* top, void (*entry)()) {
  auto* frame = reinterpret_cast<uintptr_t*>(reinterpret_cast<uintptr_t>(top) &
                                             ~uintptr_t{63});
  // The stack is as after a call: 8 bytes off a multiple of 16, with nowhere to
  // return to.
  *--frame = 0;
  *--frame = reinterpret_cast<uintptr_t>(entry);
  for (int i = 0; i < 6; ++i) *--frame = 0;
  return frame;
}

#ifdef SY_FAKE_ASAN
void before_switch(void** keep, const void* bottom, size_t bytes) {
  __sanitizer_start_switch_fiber(keep, bottom, bytes);
}
void after_switch(void* kept, const void** bottom, size_t* bytes) {
  __sanitizer_finish_switch_fiber(kept, bottom, bytes);
}
void clean_stack(char* bottom, size_t bytes) {
  __asan_unpoison_memory_region(bottom, bytes);
}
#else
void before_switch(void**, const void*, size_t) {}
void after_switch(void*, const void**, size_t*) {}
void clean_stack(char*, size_t) {}
#endif

}  // namespace fake_cuda
