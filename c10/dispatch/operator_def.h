#pragma once

#include <cstdint>

#include "c10/dispatch/kernel.h"
#include "c10/schema/definition.h"

namespace sy {

struct NodeDesc;

// The facts that generated code has about an operator beyond its schema: static
// data, for tools and messages.
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
  // The element program (aten/program/op_desc.h); nullptr if there is none.
  const NodeDesc* node = nullptr;
  // Arguments that are written although the signature does not mark them:
  // "running_mean,running_var".
  const char* writes = "";
};

// For a form that writes (in-place, out=): the functional operator that
// computes the same, and which arguments of the two correspond. Static data
// beside the form's definition.
struct FunctionalForm {
  // The source of an argument of `op` that the form does not have.
  static constexpr FormPlaces::Place kDefault = FormPlaces::kDefault,
                                     kDtype = FormPlaces::kDtype,
                                     kDevice = FormPlaces::kDevice;

  const char* op = nullptr;  // "aten::add.Tensor"
  // Argument i of `op` is the form's argument args[i], or comes from a Place.
  const int8_t* args = nullptr;
  // Result i of `op` goes into the form's argument written[i].
  const int8_t* written = nullptr;
  uint8_t num_args = 0;
  uint8_t num_written = 0;
};

// The definition of one overload. Generated code keeps these in static tables;
// Library::def makes one from text.
struct OperatorDef : OperatorFlags {
  // "add.Tensor(Tensor self, ...) -> Tensor"; the namespace is the library's.
  const char* schema = nullptr;
  // The C++ signature; nullptr if only the schema is known.
  const CppSignature* signature = nullptr;
  // R (*)(const Kernel* k, DispatchKeySet, Args...): checks the contract, then
  // calls the kernel in the `context` of k. nullptr: there is no contract.
  void* guard = nullptr;
  BoxedFunction guard_boxed = nullptr;
  uint64_t tensor_args = 0;  // bit i: argument i is or holds tensors
  uint16_t flags = 0;
  const OperatorInfo* info = nullptr;
  // For an in-place or out= form that was derived from a functional signature;
  // else nullptr.
  const FunctionalForm* functional = nullptr;
};

}  // namespace sy
