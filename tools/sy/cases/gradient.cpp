#include "tools/sy/cases/gradient.h"

#include "autograd/api.h"
#include "c10/process/error.h"

namespace sy::tools {

namespace {

Tensor argument(const Arguments& arguments, const std::string& name) {
  const NamedTensor* t = arguments.find(name);
  SY_CHECK(t != nullptr, Value, "grad: no tensor argument {}", name);
  return Tensor(t->tensor);
}

// Results that the sum of the case goes over, and their factors.
struct Outputs {
  std::vector<Tensor> tensors, cotangents;
};

class Collector {
 public:
  Collector(const Safetensors& storages, Device device)
      : storages_(storages), device_(device) {}

  void add(const Value& result, const Json& cotangent) {
    if (cotangent.is_null()) return;
    if (!cotangent.is_array()) {
      SY_CHECK(result.is_tensor(), Value,
               "grad: a cotangent for what is no tensor");
      return add_tensor(result.to_tensor(), cotangent);
    }
    const ArrayRef<TensorBase> list = result.to_tensor_list();
    SY_CHECK(list.size() == cotangent.size(), Value,
             "grad: expected {} cotangents, got {}", list.size(),
             cotangent.size());
    for (size_t i = 0; i < list.size(); ++i) add(Value(list[i]), cotangent[i]);
  }
  Outputs take() { return std::move(out_); }

 private:
  void add_tensor(const TensorBase& result, const Json& cotangent) {
    const Tensor t(result);
    if (!t.requires_grad()) return;  // does not depend on the inputs
    const TensorSpec spec = parse_tensor(cotangent, storages_, "cotangent");
    CaseMemory memory(storages_, device_);  // shares with no other tensor
    out_.tensors.push_back(t);
    out_.cotangents.emplace_back(memory.tensor(spec));
  }

  const Safetensors& storages_;
  Device device_;
  Outputs out_;
};

std::string compare_gradient(const Tensor& actual, const Json& expected,
                             const Safetensors& storages, Tolerance tolerance) {
  if (expected.is_null()) {
    return actual.defined() ? "expected none, got " + describe(actual) : "";
  }
  const TensorSpec spec = parse_tensor(expected, storages, "gradient");
  if (!actual.defined()) return "expected a gradient, got none";
  return compare_tensor(read_tensor(actual), read_tensor(spec, storages),
                        tolerance);
}

}  // namespace

void require_gradients(const Json& grad, const Arguments& arguments) {
  for (const auto& [name, unused] : grad["inputs"].items()) {
    argument(arguments, name).requires_grad_();
  }
}

std::string compare_gradients(const Json& grad, const Arguments& arguments,
                              const std::vector<Value>& results,
                              const Safetensors& storages, Tolerance tolerance,
                              Device device) {
  const Json& cotangents = grad["cotangents"];
  SY_CHECK(cotangents.size() == results.size(), Value,
           "grad: expected {} cotangents, got {}", results.size(),
           cotangents.size());
  Collector collector(storages, device);
  for (size_t i = 0; i < results.size(); ++i) {
    collector.add(results[i], cotangents[i]);
  }
  const Outputs outputs = collector.take();
  std::vector<Tensor> inputs;
  for (const auto& [name, unused] : grad["inputs"].items()) {
    inputs.push_back(argument(arguments, name));
  }
  std::vector<Tensor> gradients(inputs.size());
  if (!outputs.tensors.empty() && !inputs.empty()) {
    gradients = autograd::grad(outputs.tensors, inputs, outputs.cotangents,
                               /*retain_graph=*/false, /*create_graph=*/false,
                               /*allow_unused=*/true);
  }
  size_t i = 0;
  for (const auto& [name, expected] : grad["inputs"].items()) {
    const std::string why =
        compare_gradient(gradients[i++], expected, storages, tolerance);
    if (!why.empty()) return str("grad {}: {}", name, why);
  }
  return "";
}

}  // namespace sy::tools
