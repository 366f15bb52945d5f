#include "tools/sy/cases/arguments.h"

#include <algorithm>

#include "aten/from_blob.h"
#include "aten/operators.h"
#include "c10/process/error.h"
#include "tools/sy/cases/values.h"

namespace sy::tools {

namespace {

// The VALUE of each argument in the case; nullptr where it gives none.
std::vector<const Json*> given(const FunctionSchema& schema, const Case& c) {
  SY_CHECK(c.args.size() <= schema.num_positional(), Value,
           "expected at most {} positional arguments, got {}",
           schema.num_positional(), c.args.size());
  std::vector<const Json*> out(schema.arguments().size(), nullptr);
  for (size_t i = 0; i < c.args.size(); ++i) out[i] = &c.args[i];
  for (const auto& [name, v] : c.kwargs.items()) {
    const int i = schema.argument_index(name);
    SY_CHECK(i >= 0, Value, "no argument is named {}", name);
    SY_CHECK(out[i] == nullptr, Value, "argument {} is given twice", name);
    out[i] = &v;
  }
  return out;
}

bool takes_tensors(const FunctionSchema& schema) {
  for (const Argument& a : schema.arguments()) {
    if (a.type.is_tensor_like()) return true;
  }
  return false;
}

}  // namespace

int64_t Arguments::most_elements() const {
  int64_t most = 1;
  for (const NamedTensor& t : tensors) {
    if (t.tensor.defined()) most = std::max(most, t.tensor.numel());
  }
  return most;
}

const NamedTensor* Arguments::find(const std::string& name) const {
  for (const NamedTensor& t : tensors) {
    if (t.name == name) return &t;
  }
  return nullptr;
}

void change_tensors(const FunctionSchema& schema, const TensorChange& change,
                    Arguments& in) {
  in.tensors.clear();
  const auto changed = [&](const TensorBase& t) -> TensorBase {
    return t.defined() ? change(Tensor(t).detach()) : t;
  };
  for (size_t k = 0; k < in.values.size(); ++k) {
    Value& v = in.values[k];
    const std::string name(schema.arguments()[k].name.view());
    if (v.is_tensor()) {
      v = Value(changed(v.to_tensor()));
      in.tensors.push_back({name, v.to_tensor()});
      continue;
    }
    const bool optional = v.tag() == Value::Tag::OptionalTensorList;
    if (!optional && v.tag() != Value::Tag::TensorList) continue;
    std::vector<TensorBase> list;
    for (const TensorBase& t : v.to_tensor_list()) {
      list.push_back(changed(t));
      if (!t.defined()) continue;
      in.tensors.push_back({str("{}.{}", name, list.size() - 1), list.back()});
    }
    v = optional ? Value::optional_tensor_list(list.data(), list.size())
                 : Value::tensor_list(list.data(), list.size());
  }
}

Tensor moved_a_little(const Tensor& t) {
  if (!is_floating_type(t.scalar_type())) return t;
  const double by = t.scalar_type() == kDouble ? 1e-12 : 1e-6;
  std::vector<double> steps(static_cast<size_t>(t.numel()));
  for (size_t i = 0; i < steps.size(); ++i) {
    steps[i] = by * (static_cast<double>(i * 7 % 11) / 5 - 1);
  }
  const Tensor step = sy::from_blob(steps.data(), t.sizes(), kDouble);
  const Tensor wide = t.to(kDouble);
  return wide + step * wide.abs() + step;
}

std::vector<Value> call_with(OperatorHandle op, std::vector<Value> args) {
  std::vector<Value> results(op.schema().returns().size());
  op.call_boxed(args.data(), args.size(), results.data(), results.size());
  return results;
}

Arguments bind_arguments(const FunctionSchema& schema, const Case& c,
                         const Safetensors& storages, Device device) {
  const std::vector<const Json*> stated = given(schema, c);
  CaseMemory memory(storages, device);
  Arguments out;
  const ValueContext context{
      [&](const Json& v, const std::string& name) {
        const TensorSpec spec = parse_tensor(v, storages, name);
        out.tensors.push_back({name, memory.tensor(spec)});
        return out.tensors.back().tensor;
      },
      device};
  const bool factory = !takes_tensors(schema);
  for (size_t i = 0; i < stated.size(); ++i) {
    const Argument& a = schema.arguments()[i];
    Json v = stated[i] != nullptr ? *stated[i] : default_of(a);
    if (factory && v.is_null() && !device.is_cpu() &&
        a.type.without_optional() == TypeKind::kDevice) {
      v = {{"device", device.str()}};
    }
    out.values.push_back(
        value_of(v, a.type, std::string(a.name.view()), context));
  }
  return out;
}

}  // namespace sy::tools
