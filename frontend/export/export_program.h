#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "frontend/io/torch_value.h"
#include "frontend/nn/module.h"
#include "frontend/nn/module_holder.h"

// Models for Python:
//
//   sy::export_program(net, {x}, "net.pt2",
//                      sy::ExportOptions().dynamic(0, 0, "batch", 1, 64));
//
//   net = torch.export.load("net.pt2").module()
//
// docs/models.md is for users.

namespace sy {

// A dim of an input whose size may change, within a range that the example is
// in. `input` counts the tensors of the arguments in order, lists and dicts
// taken apart; a negative dim counts from the last. Dims of one name have one
// size, and the ranges of all of them hold. The module must run at each size in
// the range: it is called at the least, and at the most if the inputs have no
// more than a million elements then.
struct DynamicDim {
  size_t input;
  int64_t dim;
  std::string name;
  int64_t min = 1, max = INT64_MAX;
};

struct SY_API ExportOptions {
  std::vector<DynamicDim> dynamic_dims;
  // The names of the arguments in Python, each once, as many as there are:
  // "args_0", "args_1", ... if this is empty. The last `keywords` of them are
  // given by name alone.
  std::vector<std::string> argument_names;
  size_t keywords = 0;
  // Namespaces of operators that Python has too, with the same schemas, once it
  // has loaded their library. Other operators that are not PyTorch's are
  // refused, unless they are made of such: then those stand in the program.
  std::vector<std::string> namespaces;
  // The name in the file, as load_program() takes it: no slashes.
  std::string model = "model";

  ExportOptions& dynamic(size_t input, int64_t dim, std::string name,
                         int64_t min = 1, int64_t max = INT64_MAX) {
    dynamic_dims.push_back({input, dim, std::move(name), min, max});
    return *this;
  }
  ExportOptions& arguments(std::vector<std::string> names, size_t by_name = 0) {
    argument_names = std::move(names);
    keywords = by_name;
    return *this;
  }
};

namespace exporting {

using ModuleCall =
    std::function<ArchiveValue(const std::vector<ArchiveValue>& inputs)>;

SY_API void export_module(const nn::Module& module, const ModuleCall& call,
                          const std::vector<ArchiveValue>& inputs,
                          const std::string& path,
                          const ExportOptions& options);
[[noreturn]] SY_API SY_COLD void wrong_number_of_inputs(size_t got);

template <class T>
struct Convert {
  static ArchiveValue to(const T& v) { return ArchiveValue(v); }
  static T from(const ArchiveValue& v) {
    if constexpr (std::is_same_v<T, bool>) {
      return v.to_bool();
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(v.to_int());
    } else if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(v.to_double());
    } else if constexpr (std::is_same_v<T, ArchiveValue>) {
      return v;
    } else if constexpr (std::is_base_of_v<Tensor, T>) {
      return v.is_none() ? T() : T(v.to_tensor());
    } else {
      return T(v.to_string());
    }
  }
};

template <class T>
struct Convert<std::optional<T>> {
  static ArchiveValue to(const std::optional<T>& v) {
    return v ? Convert<T>::to(*v) : ArchiveValue();
  }
  static std::optional<T> from(const ArchiveValue& v) {
    if (v.is_none()) return std::nullopt;
    return Convert<T>::from(v);
  }
};

template <class List>
ArchiveValue list_of(const List& list) {
  std::vector<ArchiveValue> items;
  for (const auto& item : list) {
    items.push_back(Convert<std::decay_t<decltype(item)>>::to(item));
  }
  return ArchiveValue::list(std::move(items));
}

template <class T>
struct Convert<std::vector<T>> {
  static ArchiveValue to(const std::vector<T>& list) { return list_of(list); }
  static std::vector<T> from(const ArchiveValue& v) {
    std::vector<T> out;
    for (const ArchiveValue& item : v.items()) {
      out.push_back(Convert<T>::from(item));
    }
    return out;
  }
};

template <class T, size_t N>
struct Convert<std::array<T, N>> {
  static ArchiveValue to(const std::array<T, N>& list) { return list_of(list); }
  static std::array<T, N> from(const ArchiveValue& v) {
    std::array<T, N> out;
    for (size_t i = 0; i < N; ++i) out[i] = Convert<T>::from(v.items()[i]);
    return out;
  }
};

template <class T>
struct Convert<std::map<std::string, T>> {
  static ArchiveValue to(const std::map<std::string, T>& v) {
    std::vector<ArchiveEntry> entries;
    for (const auto& [key, item] : v) {
      entries.push_back({ArchiveValue(key), Convert<T>::to(item)});
    }
    return ArchiveValue::dict(std::move(entries));
  }
  static std::map<std::string, T> from(const ArchiveValue& v) {
    std::map<std::string, T> out;
    for (const ArchiveEntry& e : v.entries()) {
      out.emplace(e.key.to_string(), Convert<T>::from(e.value));
    }
    return out;
  }
};

template <class... T>
struct Convert<std::tuple<T...>> {
  static ArchiveValue to(const std::tuple<T...>& v) {
    return std::apply(
        [](const T&... item) {
          return ArchiveValue::tuple({Convert<T>::to(item)...});
        },
        v);
  }
  static std::tuple<T...> from(const ArchiveValue& v) {
    return from(v.items(), std::index_sequence_for<T...>());
  }
  template <size_t... I>
  static std::tuple<T...> from(
      [[maybe_unused]] const std::vector<ArchiveValue>& items,
      std::index_sequence<I...>) {
    return std::tuple<T...>(Convert<T>::from(items[I])...);
  }
};

template <class A, class B>
struct Convert<std::pair<A, B>> {
  static ArchiveValue to(const std::pair<A, B>& v) {
    return ArchiveValue::tuple(
        {Convert<A>::to(v.first), Convert<B>::to(v.second)});
  }
  static std::pair<A, B> from(const ArchiveValue& v) {
    return {Convert<A>::from(v.items()[0]), Convert<B>::from(v.items()[1])};
  }
};

template <class M, class... A>
ArchiveValue call_with(const nn::ModuleHolder<M>& module, const A&... inputs) {
  auto result = module(inputs...);
  return Convert<std::decay_t<decltype(result)>>::to(result);
}

constexpr size_t kMostTensors = 8;

// Calls the module with so many tensors, if it can be called so.
template <size_t N, class M>
ArchiveValue call_with_tensors(const nn::ModuleHolder<M>& module,
                               const std::vector<ArchiveValue>& inputs) {
  if constexpr (N > kMostTensors) {
    wrong_number_of_inputs(inputs.size());
  } else {
    if (inputs.size() > N) return call_with_tensors<N + 1>(module, inputs);
    const auto call = [&]<size_t... I>(std::index_sequence<I...>)
                          ->ArchiveValue {
      if constexpr (requires(M & m, const Tensor& t) {
                      m.forward(((void)I, t)...);
                    }) {
        return call_with(module, inputs[I].to_tensor()...);
      } else {
        wrong_number_of_inputs(inputs.size());
      }
    };
    return call(std::make_index_sequence<N>());
  }
}

}  // namespace exporting

// Writes what module(inputs...) computes as a program of torch.export, which
// Python and load_program() load. The module is called in its mode: once, or
// several times with inputs of other sizes if some are dynamic, whose elements
// are the example's, repeated or dropped. Its parameters and buffers are as
// they were afterwards, and so are the inputs. Hooks run. Several threads may
// export at once, but not one module.
//
// Inputs are tensors, numbers, strings, optionals, lists, tuples and
// ArchiveValues of them. Those that are no tensors are fixed. Results are of
// the same types, but no strings. Parameters and buffers have the names of
// state_dict(), those that stand twice both. The file appears whole or not at
// all.
//
// Throws ValueError, which lists all of it with the modules, for what a program
// cannot say: operators that PyTorch does not have, code that looks at elements
// (item), sizes that depend on elements, writes to tensors that are not the
// module's. Throws it also for calls that depend on sizes, arguments that no
// formula of the sizes gives, names that modules of Python cannot have, and
// lazy modules that were never called. Throws what the module throws, and
// FileError.
template <class M, class... A>
void export_program(const nn::ModuleHolder<M>& module,
                    const std::tuple<A...>& inputs, const std::string& path,
                    const ExportOptions& options = {}) {
  using Inputs = std::tuple<A...>;
  const ArchiveValue example = exporting::Convert<Inputs>::to(inputs);
  exporting::export_module(
      *module.get(),
      [&](const std::vector<ArchiveValue>& values) {
        const Inputs typed = exporting::Convert<Inputs>::from(
            values, std::index_sequence_for<A...>());
        return std::apply(
            [&](const A&... each) {
              return exporting::call_with(module, each...);
            },
            typed);
      },
      example.items(), path, options);
}

// The same with tensors alone, at most 8.
template <class M>
void export_program(const nn::ModuleHolder<M>& module,
                    const std::vector<Tensor>& inputs, const std::string& path,
                    const ExportOptions& options = {}) {
  const ArchiveValue example = exporting::list_of(inputs);
  exporting::export_module(
      *module.get(),
      [&](const std::vector<ArchiveValue>& values) {
        return exporting::call_with_tensors<1>(module, values);
      },
      example.items(), path, options);
}

}  // namespace sy
