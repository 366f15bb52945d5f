#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "aten/tensor.h"
#include "c10/dispatch/dispatcher.h"
#include "c10/tensor/value.h"
#include "frontend/io/torch_value.h"

// What a module called in one run, as it called it: operators of the outermost
// level, with views and writes as they are. So does torch.export.export.

namespace sy::exporting {

// A parameter or buffer of the module that is exported.
struct HeldTensor {
  std::string name;  // "encoder.layer.0.weight"
  bool is_parameter = false;
  bool persistent = true;
  Tensor tensor;
};

// A tensor of a run. Values are numbered: those of the parameters and buffers
// first, then the inputs, then constants and results in their order.
struct TracedValue {
  ScalarType dtype = ScalarType::Undefined;
  Device device = Device(kCPU);
  std::vector<int64_t> sizes, strides;
  int64_t offset = 0;
  bool requires_grad = false;  // of parameters, buffers and inputs
};

constexpr int32_t kNoValue = -1;

struct TracedArgument {
  enum class Kind : uint8_t { Constant, Tensor, Tensors };
  Kind kind = Kind::Constant;
  Value constant;
  std::vector<int32_t> values;  // one of Tensor; kNoValue is None
};

struct TracedResult {
  bool is_list = false;
  std::vector<int32_t> values;  // kNoValue: an undefined tensor
};

// The modules that were running, from the outermost: path and type.
using ModuleStack = std::vector<std::pair<std::string, std::string>>;

struct TracedNode {
  const OperatorEntry* op = nullptr;
  std::vector<TracedArgument> arguments;
  std::vector<TracedResult> results;
  size_t stack = 0;  // in Trace::stacks
};

struct TracedConstant {
  int32_t value = kNoValue;
  // As it was when it was first used. Of one that the run itself made, a copy.
  Tensor tensor;
  bool fresh = false;
};

struct Trace {
  std::vector<TracedValue> values;
  std::vector<TracedNode> nodes;
  std::vector<TracedConstant> constants;
  std::vector<ModuleStack> stacks;
  ArchiveValue result;
  std::vector<TracedArgument> outputs;  // the leaves of `result`
  // What cannot be exported, a line each, with the module.
  std::vector<std::string> problems;
};

// "aten::add.Tensor in 'encoder.0' (Linear)"
std::string place_of(std::string_view what, const ModuleStack& stack);

// Calls f for each leaf, in the order in which Python flattens values.
template <class F>
void for_each_leaf(const ArchiveValue& v, const F& f) {
  switch (v.kind()) {
    case ArchiveValue::Kind::List:
    case ArchiveValue::Kind::Tuple:
      for (const ArchiveValue& item : v.items()) for_each_leaf(item, f);
      return;
    case ArchiveValue::Kind::Dict:
      for (const ArchiveEntry& e : v.entries()) for_each_leaf(e.value, f);
      return;
    default: f(v);
  }
}

}  // namespace sy::exporting
