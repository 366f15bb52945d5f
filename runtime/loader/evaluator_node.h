#pragma once

#include <variant>
#include <vector>

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
struct PlanProgram::Node {
  using Function = double (*)(double);

  lang::PlanKind kind = lang::PlanKind::kNone;
  lang::Op op = lang::Op::kAdd;
  Metadata metadata = Metadata::kDim;
  bool is_local = false;  // of kName: of a let, not of the caller
  uint32_t index = 0;     // of a name, a local, a result
  uint32_t results = 1;   // values that it gives
  // A constant; the type of a list's elements; what kOperator, kFunction and
  // kIndexFunction call.
  std::variant<Value, Type, Callee, Function, IndexCall> data;
  std::vector<Node> children;

  const Value& constant() const { return *std::get_if<Value>(&data); }
  Type type() const { return *std::get_if<Type>(&data); }
};

}  // namespace sy::runtime
