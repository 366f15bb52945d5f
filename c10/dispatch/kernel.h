#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "c10/dispatch/dispatch_key_set.h"
#include "c10/macros.h"

// The type-erased form of a kernel, and the description of its C++ signature
// that is compared with the operator's schema when it is registered.

namespace sy {

class OperatorEntry;
class Value;
struct Kernel;

// The C++ types of parameters and results, which schema types map to.
enum class ArgCode : uint8_t {
  Void,
  Tensor,         // const Tensor&, or Tensor as a result
  TensorRef,      // Tensor&: a written argument, or the result that is one
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

// The type as the author of a kernel writes it: "const Tensor&", "int64_t".
SY_API const char* cpp_type_name(ArgCode c, bool is_result);

// Describes one C++ function type; static data.
struct CppSignature {
  const ArgCode* args;
  const ArgCode* results;
  uint8_t num_args;
  uint8_t num_results;
  bool takes_keys;  // first parameter is a DispatchKeySet
  // Gives the address of an unboxed kernel that runs another one under a
  // detail::DeviceCall (c10/device/device_guard.h). That other one is the
  // `context` of the Kernel that it is called with. nullptr: there is none.
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
// their registration; a call in flight (CallScope) delays its end.
struct Kernel {
  enum Flag : uint8_t {
    kFallthrough = 1,   // this key is skipped
    kChecksItself = 2,  // checks the operator's contract itself
    kFallback = 4,  // a key's kernel for operators without one; set at commit
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
  // Makes a kernel that serves any operator, such as a fallback of a backend.
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
