#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "c10/macros.h"

// The functions of the CUDA driver, libcuda.so.1, that we use: our own
// declarations of its stable C interface, so that a build needs no toolkit. The
// library is opened on the first use, never linked. The fake driver of the
// tests (test/backends/cuda/fake) implements the same list.

namespace sy::cuda::driver {

using Device = int;
using Context = struct CUctx_st*;
using Stream = struct CUstream_st*;
using Event = struct CUevent_st*;
using Module = struct CUmod_st*;
using Function = struct CUfunc_st*;
using DevicePointer = unsigned long long;
using MemoryHandle = unsigned long long;

// CUresult.
enum Result : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kDeinitialized = 4,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kNoBinaryForGpu = 209,
  kInvalidPtx = 218,
  kUnsupportedPtxVersion = 222,
  kInvalidHandle = 400,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchOutOfResources = 701,
  kPeerAccessAlreadyEnabled = 704,
  kMisalignedAddress = 716,
  kLaunchFailed = 719,
  kNotSupported = 801,
  kUnknown = 999,
};

// CUdevice_attribute.
enum Attribute : int {
  kMaxThreadsPerBlock = 1,
  kMaxSharedPerBlock = 8,
  kWarpSize = 10,
  kClockRate = 13,
  kMultiprocessors = 16,
  kComputeMajor = 75,
  kComputeMinor = 76,
  kMaxSharedOptin = 97,
  kVirtualMemory = 102,
};
// CUfunction_attribute.
inline constexpr int kMaxDynamicShared = 8;

inline constexpr unsigned kNonBlocking = 1;  // streams
inline constexpr unsigned kEventWithoutTime = 2;
inline constexpr unsigned kHostPortable = 1;  // pinned memory
inline constexpr unsigned kHostMapped = 2;    // and addresses of the device

// CUmemLocation, CUmemAllocationProp, CUmemAccessDesc.
struct Location {
  int type = 1;  // a device
  int id = 0;
};
struct AllocationProperties {
  int type = 1;  // pinned to the device
  int handle_types = 0;
  Location location;
  void* windows = nullptr;
  struct Flags {
    unsigned char compression = 0, rdma = 0;
    unsigned short usage = 0;
    unsigned char reserved[4] = {};
  } flags;
};
struct Access {
  Location location;
  int flags = 3;  // read and write
};

// X(member, symbol, arguments); all return a Result.
#define SY_CUDA_DRIVER_FUNCTIONS(X)                                           \
  X(init, "cuInit", (unsigned))                                               \
  X(driver_version, "cuDriverGetVersion", (int*))                             \
  X(error_name, "cuGetErrorName", (int, const char**))                        \
  X(error_string, "cuGetErrorString", (int, const char**))                    \
  X(device_count, "cuDeviceGetCount", (int*))                                 \
  X(device_get, "cuDeviceGet", (Device*, int))                                \
  X(device_name, "cuDeviceGetName", (char*, int, Device))                     \
  X(device_memory, "cuDeviceTotalMem_v2", (size_t*, Device))                  \
  X(device_attribute, "cuDeviceGetAttribute", (int*, int, Device))            \
  X(can_access_peer, "cuDeviceCanAccessPeer", (int*, Device, Device))         \
  X(primary_retain, "cuDevicePrimaryCtxRetain", (Context*, Device))           \
  X(context_set, "cuCtxSetCurrent", (Context))                                \
  X(context_synchronize, "cuCtxSynchronize", ())                              \
  X(enable_peer, "cuCtxEnablePeerAccess", (Context, unsigned))                \
  X(priority_range, "cuCtxGetStreamPriorityRange", (int*, int*))              \
  X(stream_create, "cuStreamCreateWithPriority", (Stream*, unsigned, int))    \
  X(stream_destroy, "cuStreamDestroy_v2", (Stream))                           \
  X(stream_priority, "cuStreamGetPriority", (Stream, int*))                   \
  X(stream_context, "cuStreamGetCtx", (Stream, Context*))                     \
  X(stream_query, "cuStreamQuery", (Stream))                                  \
  X(stream_synchronize, "cuStreamSynchronize", (Stream))                      \
  X(stream_wait, "cuStreamWaitEvent", (Stream, Event, unsigned))              \
  X(event_create, "cuEventCreate", (Event*, unsigned))                        \
  X(event_destroy, "cuEventDestroy_v2", (Event))                              \
  X(event_record, "cuEventRecord", (Event, Stream))                           \
  X(event_query, "cuEventQuery", (Event))                                     \
  X(event_synchronize, "cuEventSynchronize", (Event))                         \
  X(event_elapsed, "cuEventElapsedTime", (float*, Event, Event))              \
  X(module_load, "cuModuleLoadData", (Module*, const void*))                  \
  X(module_unload, "cuModuleUnload", (Module))                                \
  X(module_function, "cuModuleGetFunction", (Function*, Module, const char*)) \
  X(function_attribute, "cuFuncGetAttribute", (int*, int, Function))          \
  X(function_set, "cuFuncSetAttribute", (Function, int, int))                 \
  X(launch, "cuLaunchKernel",                                                 \
    (Function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,            \
     unsigned by, unsigned bz, unsigned shared, Stream, void** params,        \
     void** extra))                                                           \
  X(allocate, "cuMemAlloc_v2", (DevicePointer*, size_t))                      \
  X(free, "cuMemFree_v2", (DevicePointer))                                    \
  X(memory_info, "cuMemGetInfo_v2", (size_t * free, size_t * total))          \
  X(host_allocate, "cuMemHostAlloc", (void**, size_t, unsigned))              \
  X(host_free, "cuMemFreeHost", (void*))                                      \
  X(host_pointer, "cuMemHostGetDevicePointer_v2",                             \
    (DevicePointer*, void*, unsigned))                                        \
  X(copy_from_host, "cuMemcpyHtoDAsync_v2",                                   \
    (DevicePointer, const void*, size_t, Stream))                             \
  X(copy_to_host, "cuMemcpyDtoHAsync_v2",                                     \
    (void*, DevicePointer, size_t, Stream))                                   \
  X(copy_on_device, "cuMemcpyDtoDAsync_v2",                                   \
    (DevicePointer, DevicePointer, size_t, Stream))                           \
  X(copy_across, "cuMemcpyPeerAsync",                                         \
    (DevicePointer, Context, DevicePointer, Context, size_t, Stream))         \
  X(fill, "cuMemsetD8Async", (DevicePointer, unsigned char, size_t, Stream))  \
  X(granularity, "cuMemGetAllocationGranularity",                             \
    (size_t*, const AllocationProperties*, int))                              \
  X(reserve, "cuMemAddressReserve",                                           \
    (DevicePointer*, size_t, size_t alignment, DevicePointer,                 \
     unsigned long long))                                                     \
  X(release_addresses, "cuMemAddressFree", (DevicePointer, size_t))           \
  X(create, "cuMemCreate",                                                    \
    (MemoryHandle*, size_t, const AllocationProperties*, unsigned long long)) \
  X(release, "cuMemRelease", (MemoryHandle))                                  \
  X(map, "cuMemMap",                                                          \
    (DevicePointer, size_t, size_t, MemoryHandle, unsigned long long))        \
  X(unmap, "cuMemUnmap", (DevicePointer, size_t))                             \
  X(set_access, "cuMemSetAccess",                                             \
    (DevicePointer, size_t, const Access*, size_t))

struct Api {
#define SY_MEMBER(member, symbol, arguments) Result(*member) arguments;
  SY_CUDA_DRIVER_FUNCTIONS(SY_MEMBER)
#undef SY_MEMBER
};

// The library: opened, with cuInit called, once in the process. Throws Error
// that says why it cannot be used, the same for each call. The file is
// libcuda.so.1, or the one that SWITCHYARD_CUDA_DRIVER names.
const Api& api();
// nullptr where api() would throw; `why` (may be nullptr) gets the reason.
const Api* try_api(const char** why) noexcept;

// The library: its file, the place where that was (driver/library.h), and the
// newest CUDA that it knows, 13000 for 13.0. "" and 0 if there is none.
struct DriverInfo {
  const char* path = "";
  const char* place = "";
  int version = 0;
};
DriverInfo driver_info() noexcept;
// Whether NVIDIA's libraries can use it. The CUDA runtime inside them asks the
// driver for its functions by a table that drivers of others do not have.
bool serves_libraries() noexcept;

// Throws for anything but kSuccess: OutOfMemoryError for kOutOfMemory, Error
// for all else: "[cuda] <what>: CUDA_ERROR_…: <text of the driver>". The error
// of a fault names the launch that is to blame (runtime/errors.h).
void check(Result r, const char* what);
// "CUDA_ERROR_OUT_OF_MEMORY, out of memory".
std::string result_text(Result r);

// Whether a kernel broke the context: every later call for the device answers
// the same. 700, 719 and their like.
bool is_fault(Result r) noexcept;
// Sets the function that check() calls for a fault, and that throws. The
// runtime sets it once.
void set_fault_handler(void (*handler)(Result)) noexcept;

}  // namespace sy::cuda::driver
