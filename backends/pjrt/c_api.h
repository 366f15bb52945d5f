#pragma once

#include <cstddef>
#include <cstdint>

// The part of PJRT, the binary interface of compilers that are plugins, that
// the client uses. Only facts are from there (xla/pjrt/c/pjrt_c_api.h at
// version 0.81): numbers, and where a field lies. The interface only appends: a
// newer plugin reads these structs by their size.

namespace sy::pjrt::abi {

// Types that only a plugin knows the inside of.
struct Error;
struct Event;
struct Client;
struct Device;
struct Memory;
struct Program;
struct Executable;
struct Loaded;
struct Buffer;
struct Layout;
struct Context;

struct Extension {
  size_t size;
  int32_t type;
  Extension* next;
};
inline constexpr int32_t kFfiExtension = 5;

// The beginning of the arguments of all functions.
struct Head {
  size_t size = 0;  // of all the arguments
  Extension* extensions = nullptr;
};

struct Version {
  Head head;
  int32_t major = 0;
  int32_t minor = 0;
};

// The functions that a plugin gives, by number. Each is called with one struct,
// whose kFunction is the number.
using Function = void (*)();
inline constexpr size_t kFunctions = 92;
struct Api {
  Head head;
  Version version;
  Function functions[kFunctions];
};
using GetApi = const Api* (*)();

enum ErrorCode : int32_t {
  kResourceExhausted = 8,
  kUnimplemented = 12,
  kInternal = 13
};

enum BufferType : int32_t {
  kNoType = 0,
  kPred = 1,
  kS8 = 2,
  kS16 = 3,
  kS32 = 4,
  kS64 = 5,
  kU8 = 6,
  kF16 = 10,
  kF32 = 11,
  kF64 = 12,
  kBF16 = 13
};

enum HostSemantics : int32_t {
  kCopyDuringCall = 0,  // reads the memory during the call
  kSharedReadOnly = 2,  // reads the memory as long as the buffer lives
  kSharedWritable = 3   // the same; a donated buffer's is written
};

// ---- errors. Both functions return nothing.

struct ErrorDestroy {
  static constexpr size_t kFunction = 0;
  Head head;
  Error* error = nullptr;
};
struct ErrorMessage {
  static constexpr size_t kFunction = 1;
  Head head;
  const Error* error = nullptr;
  const char* text = nullptr;  // out; lives as long as the error
  size_t length = 0;           // out
};

// ---- All others return an Error*, nullptr if all went well.

struct ErrorGetCode {
  static constexpr size_t kFunction = 2;
  static constexpr const char* kName = "error code";
  Head head;
  const Error* error = nullptr;
  ErrorCode code = kInternal;  // out
};

struct PluginInitialize {
  static constexpr size_t kFunction = 3;
  static constexpr const char* kName = "initialize";
  Head head;
};

enum ValueType : int32_t { kNumber = 1, kNumbers = 2, kFlag = 4 };
struct NamedValue {
  Head head;
  const char* name = nullptr;
  size_t name_length = 0;
  ValueType type = kNumber;
  union {
    int64_t number = 0;
    const int64_t* numbers;
    bool flag;
  };
  size_t count = 1;  // of numbers
};

struct PluginAttributes {
  static constexpr size_t kFunction = 4;
  static constexpr const char* kName = "attributes";
  Head head;
  const NamedValue* values = nullptr;  // out
  size_t count = 0;                    // out
};

struct EventDestroy {
  static constexpr size_t kFunction = 5;
  static constexpr const char* kName = "destroy event";
  Head head;
  Event* event = nullptr;
};
struct EventAwait {
  static constexpr size_t kFunction = 8;
  static constexpr const char* kName = "run";
  Head head;
  Event* event = nullptr;
};

struct ClientCreate {
  static constexpr size_t kFunction = 10;
  static constexpr const char* kName = "create client";
  Head head;
  const NamedValue* options = nullptr;
  size_t num_options = 0;
  void* get = nullptr;  // of a store that processes share; as all that follow
  void* get_user = nullptr;
  void* put = nullptr;
  void* put_user = nullptr;
  Client* client = nullptr;  // out
  void* try_get = nullptr;
  void* try_get_user = nullptr;
};
struct ClientPlatformName {
  static constexpr size_t kFunction = 12;
  static constexpr const char* kName = "platform name";
  Head head;
  Client* client = nullptr;
  const char* text = nullptr;  // out
  size_t length = 0;           // out
};
struct ClientDevices {  // the devices that this process can use
  static constexpr size_t kFunction = 16;
  static constexpr const char* kName = "devices";
  Head head;
  Client* client = nullptr;
  Device* const* devices = nullptr;  // out
  size_t count = 0;                  // out
};

struct ProgramText {
  Head head;
  const char* code = nullptr;
  size_t code_length = 0;
  const char* format = nullptr;
  size_t format_length = 0;
};
struct ClientCompile {
  static constexpr size_t kFunction = 20;
  static constexpr const char* kName = "compile";
  Head head;
  Client* client = nullptr;
  const ProgramText* program = nullptr;
  const char* options = nullptr;
  size_t options_length = 0;
  Loaded* loaded = nullptr;  // out
};

struct BufferFromHost {
  static constexpr size_t kFunction = 22;
  static constexpr const char* kName = "input";
  Head head;
  Client* client = nullptr;
  const void* data = nullptr;
  BufferType type = kNoType;
  const int64_t* sizes = nullptr;
  size_t rank = 0;
  const int64_t* strides = nullptr;  // in bytes; none for row-major
  size_t num_strides = 0;
  HostSemantics semantics = kCopyDuringCall;
  Device* device = nullptr;
  Memory* memory = nullptr;
  Layout* layout = nullptr;
  Event* done = nullptr;     // out: the memory is not needed any more
  Buffer* buffer = nullptr;  // out
};

struct ExecutableDestroy {
  static constexpr size_t kFunction = 40;
  static constexpr const char* kName = "destroy executable";
  Head head;
  Executable* executable = nullptr;
};
struct LoadedDestroy {
  static constexpr size_t kFunction = 50;
  static constexpr const char* kName = "destroy executable";
  Head head;
  Loaded* loaded = nullptr;
};
struct LoadedGetExecutable {
  static constexpr size_t kFunction = 51;
  static constexpr const char* kName = "executable";
  Head head;
  Loaded* loaded = nullptr;
  Executable* executable = nullptr;  // out
};

struct ExecuteOptions {
  Head head;
  void* send = nullptr;
  void* receive = nullptr;
  size_t num_send = 0;
  size_t num_receive = 0;
  int32_t launch = 0;
  const int64_t* not_donated = nullptr;
  size_t num_not_donated = 0;
  Context* context = nullptr;
  const char* location = nullptr;
  size_t num_tasks = 0;
  int32_t* tasks = nullptr;
  int64_t* incarnations = nullptr;
};
// Lists have one element for each device, which is a list again.
struct LoadedExecute {
  static constexpr size_t kFunction = 55;
  static constexpr const char* kName = "run";
  Head head;
  Loaded* loaded = nullptr;
  ExecuteOptions* options = nullptr;
  Buffer* const* const* inputs = nullptr;
  size_t num_devices = 0;
  size_t num_inputs = 0;
  Buffer** const* outputs = nullptr;  // out, the inner lists
  Event** complete = nullptr;         // out
  Device* device = nullptr;
};

struct BufferDestroy {
  static constexpr size_t kFunction = 58;
  static constexpr const char* kName = "destroy buffer";
  Head head;
  Buffer* buffer = nullptr;
};
struct BufferPointer {
  static constexpr size_t kFunction = 73;
  static constexpr const char* kName = "memory of an output";
  Head head;
  Buffer* buffer = nullptr;
  uintptr_t pointer = 0;  // out
};

// The outputs live as long as the executable.
struct ExecutableOutputTypes {
  static constexpr size_t kFunction = 90;
  static constexpr const char* kName = "types of outputs";
  Head head;
  Executable* executable = nullptr;
  const BufferType* types = nullptr;  // out
  size_t count = 0;                   // out
};
struct ExecutableOutputSizes {
  static constexpr size_t kFunction = 91;
  static constexpr const char* kName = "sizes of outputs";
  Head head;
  Executable* executable = nullptr;
  size_t count = 0;                // out
  const int64_t* sizes = nullptr;  // out: of all outputs
  const size_t* ranks = nullptr;   // out
};

static_assert(sizeof(Extension) == 24 && offsetof(Extension, next) == 16);
static_assert(sizeof(Version) == 24 && sizeof(NamedValue) == 56);
static_assert(offsetof(Api, functions) == 40);
static_assert(sizeof(PluginAttributes) == 32 && sizeof(EventAwait) == 24);
static_assert(sizeof(ClientCreate) == 88 && sizeof(ClientDevices) == 40);
static_assert(sizeof(ProgramText) == 48 && sizeof(ClientCompile) == 56);
static_assert(sizeof(BufferFromHost) == 120 &&
              offsetof(BufferFromHost, semantics) == 72 &&
              offsetof(BufferFromHost, buffer) == 112);
static_assert(sizeof(ExecuteOptions) == 112 && sizeof(LoadedExecute) == 80);
static_assert(sizeof(BufferPointer) == 32);
static_assert(sizeof(ExecutableOutputTypes) == 40 &&
              sizeof(ExecutableOutputSizes) == 48);

}  // namespace sy::pjrt::abi
