#pragma once

#include "runtime/loader/evaluator.h"
#include "runtime/loader/index_calls.h"

// Private to the evaluator.

namespace sy::runtime {

enum class Metadata : uint8_t {
  kDefined,
  kDevice,
  kDim,
  kDtype,
  kIsContiguous,
  kIsFloatingPoint,
  kLayout,
  kNumel,
  kPinned,
  kSize,
  kSizes,
  kStorageOffset,
  kStride,
  kStrides,
};

// A lang::PlanNode with its names and operators looked up.
struct TensorProgram::Node {
  lang::PlanKind kind;
  lang::Op op = lang::Op::kAdd;
  Metadata metadata = Metadata::kDim;
  bool is_local = false;  // of kName: of a let, not of the caller
  size_t index = 0;       // of a name, a local, a result
  size_t results = 1;     // values that it gives
  Type type = TypeKind::kTensor;
  Value constant;
  std::vector<std::unique_ptr<Node>> children;
  std::optional<Callee> callee;
  double (*function)(double) = nullptr;
  std::span<const IndexFunction> functions;  // of kIndexFunction
};

}  // namespace sy::runtime
