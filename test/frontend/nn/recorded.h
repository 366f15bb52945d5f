#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "frontend/nn/module.h"

// The results of PyTorch's modules and functions, recorded by record_*.py
// beside this file, against ours.

namespace sy::test {

// One case: how to make the module of that name, and how to call it. `run`
// gives all results, in PyTorch's order.
struct NnCase {
  using Run = std::function<std::vector<Tensor>(nn::Module* module,
                                                const std::vector<Tensor>& in)>;
  std::function<std::shared_ptr<nn::Module>()> make;  // empty: a function
  Run run;
};

// A module called with the case's one input, or its first N.
template <class Holder>
NnCase module_case(Holder (*make)()) {
  return {[make] { return make().ptr(); },
          [](nn::Module* m, const std::vector<Tensor>& in) {
            auto* const impl = m->as<Holder>();
            if constexpr (requires { impl->forward(in[0], in[1], in[2]); }) {
              if (in.size() == 3) {
                return std::vector<Tensor>{impl->forward(in[0], in[1], in[2])};
              }
            }
            if constexpr (requires { impl->forward(in[0], in[1]); }) {
              if (in.size() == 2) {
                return std::vector<Tensor>{impl->forward(in[0], in[1])};
              }
            }
            if constexpr (requires { impl->forward(in[0]); }) {
              return std::vector<Tensor>{impl->forward(in[0])};
            } else {
              return std::vector<Tensor>{};
            }
          }};
}
// A function of the inputs with one result.
template <class F>
NnCase function_case(F f) {
  return {nullptr, [f](nn::Module*, const std::vector<Tensor>& in) {
            return std::vector<Tensor>{f(in)};
          }};
}

using NnCases = std::map<std::string, NnCase>;

// Checks all cases of a file of records, `test/frontend/nn/recorded/NAME`:
// each result, each gradient of an input and of a parameter, and each buffer
// after the call, to a relative `tolerance`. A record without a case, and a
// case without a record, fail. The file has, for each case, tensors of the
// names
//   CASE/param/PATH, CASE/buffer/PATH     the state dict before the call
//   CASE/in/N, CASE/out/N                 inputs and results
//   CASE/cotangent/N                      what results are multiplied with
//   CASE/grad_in/N, CASE/grad/PATH        gradients of the sum of these
//   CASE/after/PATH                       buffers after the call
// An input requires a gradient if it has one. A case whose name has the word
// "eval" is called in that mode.
void check_recorded(const std::string& file, const NnCases& cases,
                    double tolerance = 1e-5);

}  // namespace sy::test
