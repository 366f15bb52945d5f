#pragma once

#include <optional>
#include <string>
#include <vector>

#include "frontend/export/write/size_solver.h"
#include "frontend/export/write/trace.h"

namespace sy::exporting {

// A size of inputs that may change.
struct SizeSymbol {
  std::string name;  // as the user calls it
  int64_t min = 1, max = INT64_MAX;
};

// A module as it ran once, or several times with inputs of other sizes.
struct Recorded {
  std::vector<HeldTensor> held;
  std::vector<ArchiveValue> inputs;      // of the first run
  std::vector<std::string> input_names;  // for each input
  size_t keywords = 0;                   // how many of the last have names only
  std::vector<SizeSymbol> symbols;
  // The symbol that a dim of a tensor of the inputs is. Tensors are counted in
  // the order in which the inputs flatten.
  struct SymbolDim {
    size_t tensor, dim, symbol;
  };
  std::vector<SymbolDim> dims;
  std::vector<std::vector<int64_t>> sizes;  // of each symbol, in each run
  std::vector<Trace> runs;
};

struct ProgramJson {
  std::string text;  // models/NAME.json
  // The names of the constants of the first run.
  std::vector<std::string> constants;
  std::optional<SizeSolver::Ambiguity> ambiguity;
};

// The description of a program that computes what all runs did. Throws
// ValueError if they did not call the same, and for sizes that no formula of
// the symbols gives: it names the node and its module.
ProgramJson program_json(const Recorded& recorded);

// {"dtype": 7, "sizes": [...], ...} of a tensor as the archive has it.
std::string tensor_meta(ScalarType dtype, IntArrayRef sizes,
                        IntArrayRef strides, int64_t offset, Device device,
                        bool requires_grad);

}  // namespace sy::exporting
