#pragma once

#include <climits>
#include <cstddef>

// The parts of NCCL and of the CUDA runtime that are used: our own declarations
// of their stable C interfaces, so that neither is needed to build. Both are
// opened when the engine connects.

namespace sy::distributed::nccl {

struct UniqueId {
  char bytes[128];
};
using Comm = struct ncclComm*;
using Stream = struct CUstream_st*;
using Event = struct CUevent_st*;

// The config of NCCL 2.14, which later versions take too.
struct Config {
  size_t size = sizeof(Config);
  unsigned magic = 0xcafebeef;
  unsigned version = 21400;
  int blocking = 0;
};

inline constexpr int kSuccess = 0;  // of both libraries
inline constexpr int kInProgress = 7;
inline constexpr int kCudaNotReady = 600;
inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kEventWithoutTime = 2;
inline constexpr int kDeviceToDevice = 3;

enum Type : int {
  kInt8 = 0,
  kUint8 = 1,
  kInt32 = 2,
  kInt64 = 4,
  kFloat16 = 6,
  kFloat32 = 7,
  kFloat64 = 8,
  kBfloat16 = 9
};
enum Op : int { kSum = 0, kProd = 1, kMax = 2, kMin = 3 };

// The functions; each X(member, symbol, result, arguments).
#define SY_NCCL_FUNCTIONS(X)                                                   \
  X(get_version, "ncclGetVersion", int, (int*))                                \
  X(get_unique_id, "ncclGetUniqueId", int, (UniqueId*))                        \
  X(comm_init, "ncclCommInitRankConfig", int,                                  \
    (Comm*, int size, UniqueId, int rank, Config*))                            \
  X(comm_abort, "ncclCommAbort", int, (Comm))                                  \
  X(async_error, "ncclCommGetAsyncError", int, (Comm, int*))                   \
  X(error_string, "ncclGetErrorString", const char*, (int))                    \
  X(last_error, "ncclGetLastError", const char*, (Comm))                       \
  X(group_start, "ncclGroupStart", int, ())                                    \
  X(group_end, "ncclGroupEnd", int, ())                                        \
  X(all_reduce, "ncclAllReduce", int,                                          \
    (const void*, void*, size_t, int type, int op, Comm, Stream))              \
  X(broadcast, "ncclBroadcast", int,                                           \
    (const void*, void*, size_t, int type, int root, Comm, Stream))            \
  X(reduce, "ncclReduce", int,                                                 \
    (const void*, void*, size_t, int type, int op, int root, Comm, Stream))    \
  X(all_gather, "ncclAllGather", int,                                          \
    (const void*, void*, size_t, int type, Comm, Stream))                      \
  X(reduce_scatter, "ncclReduceScatter", int,                                  \
    (const void*, void*, size_t, int type, int op, Comm, Stream))              \
  X(send, "ncclSend", int, (const void*, size_t, int type, int, Comm, Stream)) \
  X(recv, "ncclRecv", int, (void*, size_t, int type, int, Comm, Stream))

#define SY_CUDA_FUNCTIONS(X)                                              \
  X(device_count, "cudaGetDeviceCount", int, (int*))                      \
  X(set_device, "cudaSetDevice", int, (int))                              \
  X(stream_create, "cudaStreamCreateWithFlags", int, (Stream*, unsigned)) \
  X(event_create, "cudaEventCreateWithFlags", int, (Event*, unsigned))    \
  X(event_destroy, "cudaEventDestroy", int, (Event))                      \
  X(event_record, "cudaEventRecord", int, (Event, Stream))                \
  X(event_query, "cudaEventQuery", int, (Event))                          \
  X(copy, "cudaMemcpyAsync", int,                                         \
    (void*, const void*, size_t, int kind, Stream))                       \
  X(cuda_error_string, "cudaGetErrorString", const char*, (int))

struct Api {
#define SY_MEMBER(member, symbol, result, arguments) result(*member) arguments;
  SY_NCCL_FUNCTIONS(SY_MEMBER)
  SY_CUDA_FUNCTIONS(SY_MEMBER)
#undef SY_MEMBER

  // Throw Error with the library's text for what is neither success nor, of
  // NCCL, in progress. `comm` may be nullptr.
  void check(int code, const char* what, Comm comm = nullptr) const;
  void check_cuda(int code, const char* what) const;
};

// Opens libnccl.so.2 and the CUDA runtime, or what SWITCHYARD_NCCL and
// SWITCHYARD_CUDART name. Throws Error, which says what is missing.
const Api& api();

}  // namespace sy::distributed::nccl
