#include <vector>

#include "autograd/generated_support.h"
#include "c10/schema/function_schema.h"

// Operators without an Autograd kernel of their own.

namespace sy::autograd {

namespace {

class NotDifferentiable final : public NodeOfMany {
 public:
  void apply(GradFrame&) override {
    fail(ErrorKind::NotImplemented, "{}{} has no derivative",
         backward_prefix(*this), name());
  }
};

// Records fresh results, or the written arguments.
void record(const OperatorEntry& op, intrusive_ptr<Node> node, Value* results,
            size_t num_results) {
  const bool in_place = op.schema().is_mutable();
  for (size_t i = 0; i < num_results; ++i) {
    for_each_tensor(results[i], [&](const TensorBase& t) {
      Tensor handle{TensorBase(t)};
      if (in_place) {
        rebase_history(handle, node);
      } else {
        set_history(handle, node);
      }
    });
  }
}

void fallback(const Kernel&, const OperatorEntry& op, DispatchKeySet keys,
              Value* args, size_t num_args, Value* results,
              size_t num_results) {
  const OperatorHandle handle(&op);
  const DispatchKeySet below = below_autograd(keys);
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < num_args; ++i) {
    for_each_tensor(args[i],
                    [&](const TensorBase& t) { tensors.emplace_back(t); });
  }
  if (!any_requires_grad(TensorList(tensors))) {
    return handle.redispatch_boxed(below, args, num_args, results, num_results);
  }
  const FunctionSchema& schema = op.schema();
  if (schema.is_out()) reject_out(op);
  for (size_t i = 0; i < num_args; ++i) {
    if (!schema.arguments()[i].is_write()) continue;
    for_each_tensor(args[i], [&](const TensorBase& t) {
      check_inplace(op, Tensor(TensorBase(t)));
    });
  }
  auto node = make_node<NotDifferentiable>(op, TensorList(tensors));
  {
    const AutoDispatchBelowAutograd guard;
    handle.redispatch_boxed(below, args, num_args, results, num_results);
  }
  record(op, node, results, num_results);
}

}  // namespace

SY_LIBRARY_IMPL(_, Autograd, m) { m.fallback(Kernel::from_boxed(&fallback)); }

}  // namespace sy::autograd
