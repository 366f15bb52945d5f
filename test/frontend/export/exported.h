#pragma once

#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "frontend/export/export_program.h"

// Modules that are written as programs, and read again.

namespace sy::test {

// The file NAME.pt2 in the folder of $SWITCHYARD_EXPORTED, where
// check_exported.py looks for it, or in one for this process alone.
std::string exported_path(const std::string& name);

using ModuleCall = exporting::ModuleCall;

// The program in the file of that name gives what the call of the module gives
// for each of the examples: results and how they nest, gradients of parameters,
// buffers and inputs that are written. The module is as it was afterwards. With
// $SWITCHYARD_EXPORTED, what it gives is written to NAME.safetensors.
void expect_same(const std::string& name, nn::Module& module,
                 const ModuleCall& call,
                 const std::vector<std::vector<ArchiveValue>>& examples);

// Exports the module for the first example, and runs the program with all.
template <class M, class... A>
void check_exported(const std::string& name, const M& module,
                    const std::vector<std::tuple<A...>>& examples,
                    const ExportOptions& options = {}) {
  using Inputs = std::tuple<A...>;
  using Convert = exporting::Convert<Inputs>;
  export_program(module, examples.at(0), exported_path(name), options);
  std::vector<std::vector<ArchiveValue>> all;
  for (const Inputs& example : examples) {
    all.push_back(Convert::to(example).items());
  }
  expect_same(
      name, *module.get(),
      [&](const std::vector<ArchiveValue>& values) {
        return std::apply(
            [&](const A&... each) {
              return exporting::call_with(module, each...);
            },
            Convert::from(values, std::index_sequence_for<A...>()));
      },
      all);
}

}  // namespace sy::test
