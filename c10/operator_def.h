#pragma once

#include <cstdint>

#include "c10/kernel.h"

namespace sy {

struct NodeDesc;

// What generated code knows of an operator beyond its schema: static data, for
// tools and messages.
struct OperatorInfo {
  enum Kind : uint8_t {
    kDispatch,
    kPointwise,
    kReduce,
    kComposite,
    kView,
    kScan,
  };
  Kind kind = kDispatch;
  const char* doc = "";
  const char* source = "";  // "schemas/ops/activation.yaml:12"
  // aten/program/op_desc.h; nullptr if the operator is no tile program.
  const NodeDesc* node = nullptr;
  // Arguments that are written and not marked so in the signature:
  // "running_mean,running_var".
  const char* writes = "";
};

// The operator that computes what a writing form (in-place, out=) puts into the
// arguments that it writes: static data beside the form's definition.
struct FunctionalForm {
  // Of an argument of the functional operator that the form does not have.
  enum Place : int8_t {
    kDefault = -1,  // its default in the schema
    kDtype = -2,    // the dtype of what is written first
    kDevice = -3,   // the device of what is written first
  };

  const char* op = nullptr;  // "aten::add.Tensor"
  // Argument i of `op` is the form's args[i], or a Place.
  const int8_t* args = nullptr;
  // Result i of `op` goes into the form's argument written[i].
  const int8_t* written = nullptr;
  uint8_t num_args = 0;
  uint8_t num_written = 0;
};

// The definition of one overload. Generated code keeps these in static tables;
// Library::def makes one of a text.
struct OperatorDef {
  enum Flag : uint16_t {
    kNoDeviceCheck = 1,  // arguments may lie on any mix of devices
    kView = 2,           // results share memory with an argument
    kInplace = 4,
    kOut = 8,
    kRandom = 16,
    kDifferentiable = 32,
    kExactOut = 64,        // out= takes no other dtype than the result's
    kNoDeviceGuard = 128,  // kernels run with the current device as it is
    // An argument, also one whose signature does not say it; goes with kInplace
    // and kOut by itself.
    kWrites = 256,
    kAliases = 512,    // results share memory with an argument; with kView
    kGeometry = 1024,  // writes sizes, strides or storage and no element
  };

  // "add.Tensor(Tensor self, ...) -> Tensor"; the namespace is the library's.
  const char* schema = nullptr;
  // Of the typed functions; nullptr if only the schema is known.
  const CppSignature* signature = nullptr;
  // R (*)(const Kernel*, DispatchKeySet, Args...): checks the contract, then
  // calls the kernel in its own kernel's `context`. nullptr: no contract.
  void* guard = nullptr;
  BoxedFunction guard_boxed = nullptr;
  uint64_t tensor_args = 0;  // bit i: argument i is or holds tensors
  uint16_t flags = 0;
  const OperatorInfo* info = nullptr;
  // Of an in-place or out= form that was derived from a functional signature.
  const FunctionalForm* functional = nullptr;
};

}  // namespace sy
