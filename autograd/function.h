#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <unordered_map>
#include <utility>
#include <vector>

#include "aten/tensor.h"
#include "autograd/node.h"
#include "autograd/saved_tensor.h"
#include "c10/tensor/value.h"

extern "C" void* __dso_handle;  // one per shared object

// Operations whose gradient is defined by the user:
//
//   struct Cube : sy::autograd::Function<Cube> {
//     static Tensor forward(AutogradContext* ctx, const Tensor& x) {
//       ctx->save_for_backward({x});
//       return x * x * x;
//     }
//     static variable_list backward(AutogradContext* ctx, variable_list grads)
//     {
//       const Tensor x = ctx->get_saved_variables()[0];
//       return {grads[0] * x * x * 3};
//     }
//   };
//   Tensor y = Cube::apply(x);

namespace sy::autograd {

using Variable = Tensor;
using variable_list = std::vector<Tensor>;

class FunctionNode;

namespace detail {
class FunctionCall;
}

// Carries data from forward to backward. Lives as long as the graph's node.
class SY_API AutogradContext {
 public:
  // For anything but tensors. Tensors that backward needs go to
  // save_for_backward, which notices writes to them.
  std::unordered_map<std::string, Value> saved_data;

  // Call this in forward, once, with inputs and outputs. Backward treats other
  // tensors as constants.
  void save_for_backward(variable_list tensors);
  // Call this in backward. Throws Error if one of the tensors was written
  // since, or if an earlier backward has freed them.
  variable_list get_saved_variables() const;
  // Names the inputs that forward wrote to and returns.
  void mark_dirty(const variable_list& inputs);
  // Names the outputs that have no gradient.
  void mark_non_differentiable(const variable_list& outputs);
  // Whether backward gets zeros (the default) or undefined tensors for outputs
  // that no gradient flows to.
  void set_materialize_grads(bool value) { materialize_ = value; }
  // Whether the gradient of tensor argument i is wanted. Each element of a list
  // counts as one argument.
  bool needs_input_grad(size_t i) const;

 private:
  friend class FunctionNode;
  friend class detail::FunctionCall;
  explicit AutogradContext(FunctionNode* node) : node_(node) {}

  FunctionNode* node_;
  variable_list to_save_, dirty_, non_differentiable_;
  bool materialize_ = true;
};

namespace detail {

struct FunctionType {
  const std::type_info& type;
  variable_list (*backward)(AutogradContext* ctx, variable_list grads);
  bool once_differentiable;
  const void* dso;
};

// One call of Function::apply.
class SY_API FunctionCall {
 public:
  explicit FunctionCall(const FunctionType& type);
  ~FunctionCall();
  FunctionCall(const FunctionCall&) = delete;
  FunctionCall& operator=(const FunctionCall&) = delete;

  // Adds an argument of forward. Call it for each, in order.
  template <class A>
  void add(const A& a) {
    if constexpr (std::is_convertible_v<const A&, const Tensor&>) {
      add_tensor(a);
    } else if constexpr (std::is_same_v<A, std::optional<Tensor>>) {
      add_tensor(a.has_value() ? *a : Tensor());
    } else if constexpr (std::is_convertible_v<const A&, TensorList>) {
      for (const Tensor& t : TensorList(a)) add_tensor(t);
    } else {
      is_tensor_.push_back(false);
    }
  }
  AutogradContext* start();
  void finish(Tensor* outputs, size_t n);

 private:
  void add_tensor(const Tensor& t) {
    is_tensor_.push_back(true);
    inputs_.push_back(t);
  }
  [[noreturn]] SY_COLD void reject(std::string_view what) const;
  int find_input(const Tensor& t) const;
  void check_marks(const Tensor* outputs, size_t n) const;
  void set_output(Tensor& out, bool non_differentiable, bool single);
  void write_history(Tensor& out, bool single);
  void save(const Tensor* outputs, size_t n);

  const FunctionType& type_;
  std::vector<bool> is_tensor_;
  variable_list inputs_;
  std::vector<uint32_t> versions_;
  intrusive_ptr<FunctionNode> node_;
  bool recorded_ = false;
};

inline void finish(FunctionCall& call, Tensor& output) {
  call.finish(&output, 1);
}
inline void finish(FunctionCall& call, variable_list& outputs) {
  call.finish(outputs.data(), outputs.size());
}

template <class T>
const FunctionType& function_type() {
  static const FunctionType type = {
      typeid(T),
      [](AutogradContext* ctx, variable_list grads) -> variable_list {
        return T::backward(ctx, std::move(grads));
      },
      [] {
        if constexpr (requires { T::once_differentiable; }) {
          return static_cast<bool>(T::once_differentiable);
        }
        return false;
      }(),
      &__dso_handle};
  return type;
}

}  // namespace detail

// Derive T from it, with static members forward and backward as above. forward
// takes tensors as Tensor, std::optional<Tensor>, TensorList or variable_list,
// and returns a Tensor or a variable_list. It runs without recording. backward
// returns one gradient for each argument of forward (for each element of a
// list). The gradient is undefined for zero, and for an argument that is not a
// tensor. backward is recorded under create_graph, unless T says
//   static constexpr bool once_differentiable = true;
// A second derivative is an error then.
template <class T>
class Function {
 public:
  // Throws what forward throws; ValueError if the context names tensors that do
  // not fit (mark_dirty and others).
  template <class X = T, class... A>
  static auto apply(A&&... args) {
    detail::FunctionCall call(detail::function_type<X>());
    (call.add(args), ...);
    AutogradContext* const ctx = call.start();
    auto outputs = [&] {
      const NoGradGuard guard;
      return X::forward(ctx, std::forward<A>(args)...);
    }();
    detail::finish(call, outputs);
    return outputs;
  }
};

}  // namespace sy::autograd
