#pragma once

#include <array>
#include <bit>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "c10/process/error.h"
#include "frontend/compile/function.h"

// A callable whose calls are captured once as a graph of fused loops and
// kernels, and then replayed without its code. docs/compile.md explains it.
//
//   auto step = sy::compile([&](const Tensor& x, const Tensor& y) {
//     const Tensor loss = model.loss(x, y);
//     loss.backward();
//     optimizer.step();
//     return loss.detach();
//   });
//   for (...) loss = step(x, y);
//
// A call is replayed if everything is as in a capture: sizes, strides, dtypes,
// devices and requires_grad of tensors, which of them share memory, other
// arguments, the modes of the thread, and of tensors that the code reaches
// without being given them the same, and whether they have a .grad; modules and
// optimizers that it uses. Otherwise it is captured again, as another variant.
//
// A replay repeats what the code computes with tensors: results, writes, .grad,
// random numbers, gradients of results. It does not repeat prints, changes of
// the code's own numbers and pointers, and choices by these: the code does all
// else only while it is captured. So some calls, at doubling distances, are
// recorded again and compared: code that has changed unseen runs at each call
// from then on.
//
// Code that looks at elements by a call (item, nonzero, equal) is replayed
// where it has seen the same before. Code that takes a pointer to elements, or
// whose new tensors live on beyond what it returns, is not replayed: it runs at
// each call, and its pieces run fused. explain() says where. With `fullgraph`
// each is an error.

namespace sy {

namespace compiling {

template <class T>
inline constexpr bool never = false;

inline void add_word(Arguments* to, uint64_t w) { to->words.push_back(w); }
SY_API void add_text(Arguments* to, std::string_view text);

// Its address stands for the types of the arguments: 0, 0.0 and false give
// other results.
template <class... A>
inline constexpr char types = 0;

template <class A>
void add(Arguments* to, const A& a) {
  if constexpr (std::is_convertible_v<const A&, const Tensor&>) {
    to->tensors.push_back(a);
  } else if constexpr (std::is_same_v<A, std::optional<Tensor>>) {
    to->tensors.push_back(a.value_or(Tensor()));
  } else if constexpr (std::is_convertible_v<const A&, TensorList>) {
    const TensorList list(a);
    add_word(to, list.size());
    for (const Tensor& t : list) to->tensors.push_back(t);
  } else if constexpr (std::is_integral_v<A> || std::is_enum_v<A>) {
    add_word(to, static_cast<uint64_t>(a));
  } else if constexpr (std::is_floating_point_v<A>) {
    add_word(to, std::bit_cast<uint64_t>(static_cast<double>(a)));
  } else if constexpr (std::is_same_v<A, Scalar>) {
    add_word(to, static_cast<uint64_t>(a.type()));
    add_word(to, a.is_floating_point()
                     ? std::bit_cast<uint64_t>(a.template to<double>())
                     : static_cast<uint64_t>(a.template to<int64_t>()));
  } else if constexpr (std::is_same_v<A, Device>) {
    add_word(to, std::hash<Device>()(a));
  } else if constexpr (std::is_convertible_v<const A&, std::string_view>) {
    add_text(to, a);
  } else if constexpr (std::is_convertible_v<const A&, IntArrayRef>) {
    const IntArrayRef list(a);
    add_word(to, list.size());
    for (const int64_t n : list) add_word(to, static_cast<uint64_t>(n));
  } else {
    static_assert(never<A>,
                  "sy::compile: an argument must be a tensor, a list of "
                  "tensors, a number, an enum, text, a Device or a list of "
                  "integers; capture others by reference");
  }
}

inline void flatten(const Tensor& t, Outputs* to) { to->tensors.push_back(t); }
inline void flatten(const std::vector<Tensor>& list, Outputs* to) {
  to->lengths.push_back(static_cast<int64_t>(list.size()));
  for (const Tensor& t : list) to->tensors.push_back(t);
}
template <size_t N>
void flatten(const std::array<Tensor, N>& list, Outputs* to) {
  for (const Tensor& t : list) to->tensors.push_back(t);
}
template <class... T>
void flatten(const std::tuple<T...>& all, Outputs* to) {
  std::apply([&](const T&... t) { (flatten(t, to), ...); }, all);
}
template <class A, class B>
void flatten(const std::pair<A, B>& both, Outputs* to) {
  flatten(both.first, to);
  flatten(both.second, to);
}

class Reader {
 public:
  explicit Reader(Outputs* from) : from_(*from) {}
  void read(Tensor* t) { *t = std::move(from_.tensors[tensor_++]); }
  void read(std::vector<Tensor>* list) {
    list->resize(static_cast<size_t>(from_.lengths[length_++]));
    for (Tensor& t : *list) read(&t);
  }
  template <size_t N>
  void read(std::array<Tensor, N>* list) {
    for (Tensor& t : *list) read(&t);
  }
  template <class... T>
  void read(std::tuple<T...>* all) {
    std::apply([&](T&... t) { (read(&t), ...); }, *all);
  }
  template <class A, class B>
  void read(std::pair<A, B>* both) {
    read(&both->first);
    read(&both->second);
  }

 private:
  Outputs& from_;
  size_t tensor_ = 0, length_ = 0;
};

}  // namespace compiling

// Copies share what was captured. Calls may come from several threads if those
// of the callable may; the callable itself must not use other threads.
template <class F>
class Compiled {
 public:
  Compiled(F f, CompileOptions options)
      : f_(std::move(f)),
        function_(std::make_shared<compiling::Function>(std::move(options))) {}

  // Throws what the callable throws, and ValueError with `fullgraph` if it
  // cannot be replayed.
  template <class... A>
  auto operator()(A&&... args) {
    using R = std::decay_t<std::invoke_result_t<F&, A...>>;
    compiling::Arguments in;
    in.closure = std::addressof(f_);
    in.closure_bytes = sizeof(F);
    compiling::add_word(&in, reinterpret_cast<uintptr_t>(
                                 &compiling::types<std::decay_t<A>...>));
    (compiling::add<std::decay_t<A>>(&in, args), ...);
    compiling::Outputs out;
    if constexpr (std::is_void_v<R>) {
      auto body = [&](compiling::Outputs*) { f_(std::forward<A>(args)...); };
      run(in, body, &out);
    } else {
      std::optional<R> own;
      in.result = std::addressof(own);
      in.result_bytes = sizeof own;
      auto body = [&](compiling::Outputs* to) {
        own.emplace(f_(std::forward<A>(args)...));
        compiling::flatten(*own, to);
      };
      if (!run(in, body, &out)) return *std::move(own);
      R result;
      compiling::Reader(&out).read(&result);
      return result;
    }
  }

  CompileCounters counters() const { return function_->counters(); }
  // A text for people: what was captured and why, what ended a piece and where,
  // and the steps of the graph that ran last, with their time.
  std::string explain() const { return function_->explain(); }
  // The calls of the graph that ran last, a line each.
  std::string graph_text() const { return function_->graph_text(); }
  // Forgets all graphs.
  void reset() { function_->reset(); }

 private:
  template <class B>
  bool run(const compiling::Arguments& in, B& body, compiling::Outputs* out) {
    return function_->call(
        in,
        [](void* context, compiling::Outputs* to) {
          (*static_cast<B*>(context))(to);
        },
        &body, out);
  }

  F f_;
  std::shared_ptr<compiling::Function> function_;
};

// `f` takes and returns tensors, and lists and tuples of them; it may also take
// numbers, text and the like, whose every new value is a new variant. Captures
// happen on tensors of the CPU and of devices that compute; calls on the lazy
// device, which records anyway, are passed on. The first call loads the library
// "lazy"; throws what load_library throws.
template <class F>
Compiled<std::decay_t<F>> compile(F&& f, CompileOptions options = {}) {
  return {std::forward<F>(f), std::move(options)};
}

}  // namespace sy
