#include <cstring>
#include <string>

#include "test/backends/cuda/fake/driver/entries.h"
#include "test/backends/cuda/fake/driver/memory.h"

// Initialisation, devices, primary contexts.

namespace fake_cuda {

State& state() {
  static State* const s = [] {
    auto* made = new State;
    made->contexts.resize(static_cast<size_t>(settings().devices));
    return made;
  }();
  return *s;
}

ContextState*& current_context() {
  static thread_local ContextState* current = nullptr;
  return current;
}

Result usable_context(ContextState** context) {
  if (!state().initialized) return kNotInitialized;
  ContextState* c = current_context();
  if (c == nullptr) return kInvalidContext;
  const int failed = c->failed;
  if (failed != 0) return static_cast<Result>(failed);
  *context = c;
  return kSuccess;
}

Result find_stream(Stream handle, std::shared_ptr<StreamState>* stream) {
  if (handle == nullptr) {
    ContextState* c;
    const Result r = usable_context(&c);
    if (r == kSuccess) *stream = c->null_stream;
    return r;
  }
  *stream = state().streams.find(handle);
  return *stream == nullptr ? kInvalidHandle : kSuccess;
}

namespace {

bool is_device(Device d) { return d >= 0 && d < settings().devices; }

Result check_device(Device d) {
  if (!state().initialized) return kNotInitialized;
  return is_device(d) ? kSuccess : kInvalidDevice;
}

struct Named {
  Result code;
  const char *name, *text;
};
constexpr Named kNames[] = {
    {kSuccess, "CUDA_SUCCESS", "no error"},
    {kInvalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {kNotInitialized, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {kDeinitialized, "CUDA_ERROR_DEINITIALIZED", "driver shutting down"},
    {kNoDevice, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {kInvalidDevice, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {kInvalidImage, "CUDA_ERROR_INVALID_IMAGE",
     "device kernel image is invalid"},
    {kInvalidContext, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {kNoBinaryForGpu, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {kInvalidPtx, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {kUnsupportedPtxVersion, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the provided PTX was compiled with an unsupported toolchain."},
    {kInvalidHandle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {kNotFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {kNotReady, "CUDA_ERROR_NOT_READY", "device not ready"},
    {kIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "an illegal memory access was encountered"},
    {kLaunchOutOfResources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "too many resources requested for launch"},
    {kPeerAccessAlreadyEnabled, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED",
     "peer access is already enabled"},
    {kMisalignedAddress, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {kLaunchFailed, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {kNotSupported, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {kUnknown, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

const Named* named(int code) {
  for (const Named& n : kNames) {
    if (n.code == code) return &n;
  }
  return nullptr;
}

}  // namespace

namespace entry {

Result init(unsigned flags) {
  if (flags != 0) return kInvalidValue;
  if (settings().devices == 0) return kNoDevice;
  state().initialized = true;
  return kSuccess;
}

Result driver_version(int* version) {
  if (version == nullptr) return kInvalidValue;
  *version = settings().version;
  return kSuccess;
}

Result error_name(int code, const char** text) {
  const Named* n = named(code);
  *text = n == nullptr ? nullptr : n->name;
  return n == nullptr ? kInvalidValue : kSuccess;
}

Result error_string(int code, const char** text) {
  const Named* n = named(code);
  *text = n == nullptr ? nullptr : n->text;
  return n == nullptr ? kInvalidValue : kSuccess;
}

Result device_count(int* count) {
  if (!state().initialized) return kNotInitialized;
  *count = settings().devices;
  return kSuccess;
}

Result device_get(Device* device, int index) {
  const Result r = check_device(index);
  if (r == kSuccess) *device = index;
  return r;
}

Result device_name(char* text, int bytes, Device device) {
  const Result r = check_device(device);
  if (r != kSuccess) return r;
  if (bytes <= 0) return kInvalidValue;
  std::strncpy(text, settings().name.c_str(), static_cast<size_t>(bytes));
  text[bytes - 1] = 0;
  return kSuccess;
}

Result device_memory(size_t* bytes, Device device) {
  const Result r = check_device(device);
  if (r == kSuccess) *bytes = settings().memory;
  return r;
}

Result device_attribute(int* value, int attribute, Device device) {
  const Result r = check_device(device);
  if (r != kSuccess) return r;
  const bool large = settings().major >= 9;
  switch (attribute) {
    case driver::kMaxThreadsPerBlock: *value = 1024; break;
    case 2:  // block dimensions
    case 3: *value = 1024; break;
    case 4: *value = 64; break;
    case 5: *value = 0x7fffffff; break;  // grid dimensions
    case 6:
    case 7: *value = 65535; break;
    case driver::kMaxSharedPerBlock: *value = 48 << 10; break;
    case driver::kWarpSize: *value = 32; break;
    case 12: *value = 65536; break;  // registers of a block
    case driver::kClockRate: *value = 1'000'000; break;
    case driver::kMultiprocessors: *value = settings().multiprocessors; break;
    case 31: *value = 1; break;          // concurrent kernels
    case 36: *value = 1'000'000; break;  // memory clock
    case 37: *value = 5120; break;       // memory bus
    case 38: *value = 4 << 20; break;    // second-level cache
    case 39: *value = 2048; break;       // threads of a multiprocessor
    case 41: *value = 1; break;          // unified addresses
    case driver::kComputeMajor: *value = settings().major; break;
    case driver::kComputeMinor: *value = settings().minor; break;
    case 81: *value = (large ? 228 : 164) << 10; break;  // shared, in all
    case driver::kMaxSharedOptin: *value = (large ? 227 : 163) << 10; break;
    case driver::kVirtualMemory: *value = 1; break;
    default: return kInvalidValue;
  }
  return kSuccess;
}

Result can_access_peer(int* can, Device device, Device peer) {
  if (!state().initialized) return kNotInitialized;
  if (!is_device(device) || !is_device(peer)) return kInvalidDevice;
  *can = device != peer;
  return kSuccess;
}

Result primary_retain(Context* context, Device device) {
  const Result r = check_device(device);
  if (r != kSuccess) return r;
  if (context == nullptr) return kInvalidValue;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  auto& c = s.contexts[static_cast<size_t>(device)];
  if (c == nullptr) {
    c = std::make_shared<ContextState>();
    c->device = device;
    c->null_stream = std::make_shared<StreamState>(c.get(), false, 0);
    s.living_contexts.add(c);
  }
  *context = reinterpret_cast<Context>(c.get());
  return kSuccess;
}

Result context_set(Context context) {
  if (!state().initialized) return kNotInitialized;
  auto* c = reinterpret_cast<ContextState*>(context);
  if (c != nullptr && state().living_contexts.find(c) == nullptr) {
    return kInvalidContext;
  }
  ContextState*& current = current_context();
  if (current != c) ++counters().context_switches;
  current = c;
  return kSuccess;
}

Result context_synchronize() {
  ContextState* c;
  Result r = usable_context(&c);
  if (r != kSuccess) return r;
  ++counters().waits;
  wait_for_context(*c);
  return static_cast<Result>(c->failed.load());
}

Result enable_peer(Context peer, unsigned flags) {
  ContextState* c;
  const Result r = usable_context(&c);
  if (r != kSuccess) return r;
  const auto other = state().living_contexts.find(peer);
  if (other == nullptr) return kInvalidContext;
  if (flags != 0 || other.get() == c) return kInvalidValue;
  const unsigned bit = 1u << (other->device & 31);
  if ((c->peers.fetch_or(bit) & bit) != 0) return kPeerAccessAlreadyEnabled;
  return kSuccess;
}

Result priority_range(int* least, int* greatest) {
  ContextState* c;
  const Result r = usable_context(&c);
  if (r != kSuccess) return r;
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return kSuccess;
}

}  // namespace entry
}  // namespace fake_cuda
