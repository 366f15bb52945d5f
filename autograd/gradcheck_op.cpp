#include <vector>

#include "autograd/gradcheck.h"
#include "autograd/meta.h"
#include "autograd/runtime_ops.h"
#include "c10/device/generator.h"
#include "c10/schema/function_schema.h"

namespace sy::autograd {

namespace {

// The place of a checked tensor: an argument, or an element of a list.
struct TensorPosition {
  size_t argument;
  int element;  // -1: the argument itself
};

Tensor tensor_at(const Value* args, const TensorPosition& p) {
  return Tensor(
      p.element < 0
          ? args[p.argument].to_tensor()
          : args[p.argument].to_tensor_list()[static_cast<size_t>(p.element)]);
}

void put_tensor(std::vector<Value>& args, const TensorPosition& p,
                const Tensor& t) {
  Value& v = args[p.argument];
  if (p.element < 0) {
    v = Value(TensorBase(t));
    return;
  }
  const auto old = v.to_tensor_list();
  std::vector<TensorBase> list(old.begin(), old.end());
  list[static_cast<size_t>(p.element)] = t;
  v = v.tag() == Value::Tag::OptionalTensorList
          ? Value::optional_tensor_list(list.data(), list.size())
          : Value::tensor_list(list.data(), list.size());
}

// Lets every call draw what the first one does.
class SameDraws {
 public:
  SameDraws()
      : generator_(default_generator()),
        seed_(generator_->seed()),
        offset_(generator_->offset()) {}
  void again() const {
    generator_->set_seed(seed_);
    generator_->set_offset(offset_);
  }

 private:
  Generator generator_;
  uint64_t seed_, offset_;
};

}  // namespace

GradcheckResult gradcheck_op(OperatorHandle op, const Value* args,
                             size_t num_args, const GradcheckOptions& options) {
  const FunctionSchema& schema = op.schema();
  SY_CHECK(num_args == schema.arguments().size(), Value,
           "[gradcheck_op] {}: expected {} arguments, got {}", op.name(),
           schema.arguments().size(), num_args);
  std::vector<TensorPosition> places;
  std::vector<Tensor> inputs;
  const auto add = [&](const TensorPosition& p) {
    const Tensor t = tensor_at(args, p);
    if (!t.defined() || !requires_grad(t)) return;
    places.push_back(p);
    inputs.push_back(t);
  };
  for (size_t i = 0; i < num_args; ++i) {
    if (args[i].is_tensor()) {
      add({i, -1});
    } else if (args[i].tag() == Value::Tag::TensorList ||
               args[i].tag() == Value::Tag::OptionalTensorList) {
      const int n = static_cast<int>(args[i].to_tensor_list().size());
      for (int k = 0; k < n; ++k) add({i, k});
    }
  }
  const SameDraws draws;
  const auto f = [&](TensorList xs) {
    draws.again();
    std::vector<Value> call(args, args + num_args);
    for (size_t i = 0; i < places.size(); ++i) {
      put_tensor(call, places[i], xs[i]);
    }
    for (size_t i = 0; i < num_args; ++i) {
      if (schema.arguments()[i].is_write() && call[i].is_tensor()) {
        call[i] = Value(TensorBase(rt::clone(Tensor(call[i].to_tensor()))));
      }
    }
    std::vector<Value> results(schema.returns().size());
    op.call_boxed(call.data(), call.size(), results.data(), results.size());
    std::vector<Tensor> out;
    for (const Value& v : results) {
      if (v.is_tensor()) {
        out.emplace_back(v.to_tensor());
      } else if (v.tag() == Value::Tag::TensorList) {
        for (const TensorBase& t : v.to_tensor_list()) out.emplace_back(t);
      }
    }
    return out;
  };
  return gradcheck(f, inputs, options);
}

}  // namespace sy::autograd
