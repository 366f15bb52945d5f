#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "c10/dispatch_key_set.h"
#include "c10/macros.h"

// The type-erased form of a kernel, and the description of its C++ signature
// that is compared with the operator's schema when it is registered.

namespace sy {

class OperatorEntry;
class Value;
struct Kernel;

// How one C++ parameter or result is typed: what a schema type maps to.
enum class ArgCode : uint8_t {
  Void,
  Tensor,         // const Tensor&, or Tensor as a result
  TensorRef,      // Tensor&: an argument that is written, or that same result
  OptTensor,      // const std::optional<Tensor>&
  TensorList,     // ArrayRef<Tensor>, or std::vector<Tensor> as a result
  OptTensorList,  // ArrayRef<std::optional<Tensor>>
  Int,
  OptInt,
  IntList,
  OptIntList,
  Double,
  OptDouble,
  DoubleList,
  OptDoubleList,
  Bool,
  OptBool,
  BoolList,
  Scalar,
  OptScalar,
  ScalarList,
  String,
  OptString,
  StringList,
  ScalarType,
  OptScalarType,
  Device,
  OptDevice,
  Layout,
  OptLayout,
  MemoryFormat,
  OptMemoryFormat,
  OptGenerator,
};

// "const Tensor&", "int64_t" ...: what a kernel's author writes.
SY_API const char* cpp_type_name(ArgCode c, bool is_result);

// Of one C++ function type; static data.
struct CppSignature {
  const ArgCode* args;
  const ArgCode* results;
  uint8_t num_args;
  uint8_t num_results;
  bool takes_keys;  // first parameter is a DispatchKeySet
  // The address of the unboxed kernel that calls the kernel in its own
  // kernel's `context` under a detail::DeviceCall (c10/device_guard.h).
  // nullptr: there is none.
  void* (*device_entry)() = nullptr;
};

SY_API bool same_signature(const CppSignature& a, const CppSignature& b);
// "(const Tensor&, const Scalar&) -> Tensor"
SY_API std::string to_string(const CppSignature& s);

// A boxed kernel reads `args` (borrowed, in the schema's order, all present)
// and assigns every element of `results`.
using BoxedFunction = void (*)(const Kernel& kernel, const OperatorEntry& op,
                               DispatchKeySet keys, Value* args,
                               size_t num_args, Value* results,
                               size_t num_results);

// One registered function. `unboxed` has type
//   R (*)(const Kernel*, DispatchKeySet, Args...)
// and is nullptr for kernels that exist boxed only. Kernels live as long as
// their registration; a call in flight holds them alive (CallScope).
struct Kernel {
  enum Flag : uint8_t {
    kFallthrough = 1,   // this key is skipped
    kChecksItself = 2,  // checks the operator's contract itself
    kFallback = 4,  // of a key, for operators without one; set by the commit
  };

  void* unboxed = nullptr;
  BoxedFunction boxed = nullptr;
  void* context = nullptr;                  // for boxed kernels with state
  const CppSignature* signature = nullptr;  // of unboxed
  const OperatorEntry* op = nullptr;        // set at registration
  uint8_t flags = 0;

  bool is_fallthrough() const { return (flags & kFallthrough) != 0; }
  bool is_fallback() const { return (flags & kFallback) != 0; }
  bool valid() const { return unboxed || boxed || is_fallthrough(); }

  static Kernel fallthrough() {
    Kernel k;
    k.flags = kFallthrough;
    return k;
  }
  // A kernel for any operator, as backend fallbacks are.
  static Kernel from_boxed(BoxedFunction f, void* context = nullptr) {
    Kernel k;
    k.boxed = f;
    k.context = context;
    return k;
  }
  Kernel checks_itself() const {
    Kernel k = *this;
    k.flags |= kChecksItself;
    return k;
  }
};

}  // namespace sy
