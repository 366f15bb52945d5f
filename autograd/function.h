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
#include "c10/value.h"

extern "C" void* __dso_handle;  // one per shared object

// Operations with a gradient of the user's own:
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

// What forward leaves for backward. Lives as long as the graph's node.
class SY_API AutogradContext {
 public:
  // Anything but tensors that backward saves: those go to save_for_backward,
  // where writes to them are noticed.
  std::unordered_map<std::string, Value> saved_data;

  // In forward, once: inputs and outputs (others are constants to backward).
  void save_for_backward(variable_list tensors);
  // In backward. Throws Error if one was written since, or if an earlier
  // backward has freed them.
  variable_list get_saved_variables() const;
  // Inputs that forward wrote to and returns.
  void mark_dirty(const variable_list& inputs);
  // Outputs without a gradient.
  void mark_non_differentiable(const variable_list& outputs);
  // Whether backward gets zeros for outputs that nothing flows to (the
  // default), or undefined tensors.
  void set_materialize_grads(bool value) { materialize_ = value; }
  // Whether a gradient of tensor argument i is wanted, lists counted by their
  // elements.
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

  // Each argument of forward, in order.
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
// returns a Tensor or a variable_list; its tensors may come as Tensor,
// std::optional<Tensor>, TensorList or variable_list. It runs without
// recording. backward returns one gradient for each argument of forward (each
// element of a list): undefined for zero, and for what is no tensor. It is
// recorded under create_graph, unless T says
//   static constexpr bool once_differentiable = true;
// then a second derivative is an error.
template <class T>
class Function {
 public:
  // Throws what forward throws; ValueError for marks that do not fit.
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
