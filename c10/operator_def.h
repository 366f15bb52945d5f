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
};

}  // namespace sy
