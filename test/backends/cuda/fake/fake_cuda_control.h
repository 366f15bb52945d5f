#pragma once

#include <stdint.h>

// The requests of tests to the fake driver beside CUDA's own functions: tests
// look these up in the library that SWITCHYARD_CUDA_DRIVER names. Each has an
// environment variable that sets it from the start; README.md lists them.

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

// The nth launch from now (1: the next) returns `code` and does not run. 0 for
// none, as below.
void fake_cuda_fail_launch(int64_t nth, int code);
// The nth launch from now ends as a fault: its context answers `code` from then
// on, whatever it is asked.
void fake_cuda_fault_launch(int64_t nth, int code);
// The nth cuMemCreate, cuMemAlloc, cuMemHostAlloc from now finds no memory.
void fake_cuda_fail_create(int64_t nth);
void fake_cuda_fail_allocate(int64_t nth);
void fake_cuda_fail_host_allocate(int64_t nth);

// Each task of a stream sleeps first.
void fake_cuda_slow(unsigned microseconds);
// While it is paused no stream begins a task; calls that wait, wait. Calls with
// 1 and 0 are counted.
void fake_cuda_pause(int paused);

// How threads and blocks are ordered; 0 for ascending threads.
void fake_cuda_seed(uint64_t seed);
// 0 ascending, 1 descending, 2 shuffled.
void fake_cuda_block_order(int order);

// Contexts that have failed are as new, but for what they had been given.
void fake_cuda_heal(void);
// The last fault: "kernel 'x', block …". "" if there was none. Valid until the
// next fault.
const char* fake_cuda_last_fault(void);

// The last image that was refused: "cubin for sm_90", "PTX for sm_90". "" if
// none was. Valid until the next one.
const char* fake_cuda_refused_image(void);

// Puts a call into a stream, a CUstream: it runs in the order of the stream's
// other tasks and may touch memory of the device. Returns a CUresult. For
// doubles of libraries that start kernels of their own.
int fake_cuda_call(void* stream, void (*work)(void*), void* argument);

struct fake_cuda_counters {
  // Counts since the process began.
  int64_t launches, blocks;
  int64_t copies_to_device, copies_to_host, copies_on_device, fills;
  int64_t bytes_copied;
  int64_t allocations, creations, host_allocations, mappings;
  int64_t context_switches;  // cuCtxSetCurrent that changed it
  int64_t waits;             // of the host, for a stream, event or context
  int64_t refused_images;
  // Objects that live now.
  int64_t contexts, streams, events, modules;
  int64_t device_bytes;  // of all devices
  int64_t host_bytes;    // pinned
};
void fake_cuda_count(struct fake_cuda_counters* counters);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
