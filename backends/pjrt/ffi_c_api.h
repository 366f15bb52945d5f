#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/pjrt/c_api.h"

// The part of XLA FFI, the binary interface of functions that compiled programs
// call, that kernels need. Only facts are from there (xla/ffi/api/c_api.h at
// version 0.2, xla/pjrt/c/pjrt_c_api_ffi_extension.h), as in c_api.h.

namespace sy::pjrt::abi::ffi {

struct Error;

// The version of the structs here. A plugin takes older ones, not newer ones.
inline constexpr int32_t kMajor = 0;
inline constexpr int32_t kMinor = 2;

struct Text {
  const char* data;
  size_t length;
};

enum DataType : int32_t { kInt64 = 5 };
enum AttributeType : int32_t { kScalar = 3 };
enum ArgumentType : int32_t { kBuffer = 1 };

struct Scalar {
  DataType type;
  const void* value;
};
struct Buffer {
  Head head;
  int32_t type;
  void* data;
  int64_t rank;
  int64_t* sizes;
};
struct Buffers {
  Head head;
  int64_t count;
  ArgumentType* types;
  void** values;
};
struct Attributes {
  Head head;
  int64_t count;
  AttributeType* types;
  Text** names;
  void** values;
};

struct CreateError {
  Head head;
  const char* text = nullptr;
  ErrorCode code = kInternal;
};
struct Api {
  Head head;
  Version version;
  void* internal;
  Error* (*create_error)(CreateError*);
};

// A call of a handler.
struct Frame {
  Head head;
  const Api* api;
  void* context;
  int32_t stage;
  Buffers inputs;
  Buffers outputs;
  Attributes attributes;
  void* future;
};
using Handler = Error*(Frame*);

// The extension in which the handler says its version; a call with it does
// nothing else.
inline constexpr int32_t kMetadataExtension = 1;
struct Metadata {
  size_t size;
  Version version;
  uint32_t traits;
};
struct MetadataExtension {
  Extension base;
  Metadata* metadata;
};

// The extension of a plugin's Api.
struct RegisterHandler {
  static constexpr const char* kName = "register handler";
  size_t size = 0;
  const char* name = nullptr;
  size_t name_length = 0;
  Handler* handler = nullptr;
  const char* platform = nullptr;
  size_t platform_length = 0;
  uint32_t traits = 0;
};
struct FfiExtension {
  Extension base;
  Function register_type;
  Function add_user_data;
  pjrt::abi::Error* (*register_handler)(RegisterHandler*);
};

static_assert(sizeof(Buffer) == 48 && sizeof(Buffers) == 40);
static_assert(sizeof(Attributes) == 48 && offsetof(Frame, inputs) == 40);
static_assert(offsetof(Frame, attributes) == 120 && sizeof(Frame) == 176);
static_assert(offsetof(Api, create_error) == 48);
static_assert(offsetof(Metadata, version) == 8 &&
              offsetof(Metadata, traits) == 32);
static_assert(offsetof(FfiExtension, register_handler) == 40 &&
              sizeof(RegisterHandler) == 56);

}  // namespace sy::pjrt::abi::ffi
