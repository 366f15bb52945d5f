#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "c10/dispatch/dispatcher.h"
#include "c10/tensor/value.h"
#include "frontend/export/format/program_text.h"
#include "frontend/export/native_function.h"

// A graph made ready to run: operators are found, arguments have the types of
// their schemas, and values are slots of a call. It is immutable.

namespace sy::exporting {

// A slot of the call, or a constant.
struct Source {
  static constexpr int32_t kConstant = -1;
  int32_t slot = kConstant;
  Value constant;
};

// A list whose items are not all constants.
struct ListPlan {
  enum class Kind : uint8_t {
    Tensors,
    OptionalTensors,
    Ints,
    Doubles,
    Bools,
    Scalars,
  };
  Kind kind = Kind::Tensors;
  std::vector<Source> items;
};

// A result: a slot, or a list of slots. One that nobody reads has no slot.
struct ResultPlan {
  static constexpr int32_t kUnused = -1;
  int32_t slot = kUnused;
  std::vector<int32_t> items;
  bool is_list = false;
};

struct GraphPlan;

struct StepPlan {
  enum class Kind : uint8_t {
    Operator,
    Function,  // a NativeFunction
    Branch,    // cond: of two graphs by the first operand
    Loop,      // while_loop
    Map,
    Scan,
    Inline,  // a graph with gradients on or off
  };
  struct Slot {
    uint16_t argument;
    int32_t slot;
  };
  struct List {
    uint16_t argument;
    ListPlan list;
  };

  Kind kind = Kind::Operator;
  const OperatorEntry* op = nullptr;
  // The operator that writes its first argument, which ends here; nullptr if
  // there is none, or its result may have another dtype. The call decides.
  const OperatorEntry* in_place = nullptr;
  NativeFunction function = nullptr;
  // All arguments; the call fills in those of `slots` and `lists`, and the
  // program's device for those of `devices`.
  std::vector<Value> arguments;
  std::vector<Slot> slots;
  std::vector<List> lists;
  std::vector<uint16_t> devices;
  std::vector<ResultPlan> results;
  std::vector<int32_t> ends;  // slots that nobody reads after the step
  // Of graphs: all operands, of which the first `changing` ones are carried by
  // a loop, or taken apart by a map; Scan carries `carried` ones before them.
  std::vector<GraphPlan> graphs;
  std::vector<Source> operands;
  size_t carried = 0, changing = 0;
  bool gradients = true;  // of Inline
  std::string name, module;
};

struct GraphPlan {
  int32_t slots = 0;
  std::vector<int32_t> inputs;  // their slots
  std::vector<StepPlan> steps;
  std::vector<Source> outputs;
};

// Makes the graph ready. `home` is the device that the file's tensors were on:
// constants that name it follow the program. Throws FileError, which lists all
// operators that there are not and all arguments that do not fit.
GraphPlan plan_graph(const io::FileView& file, const GraphText& graph,
                     const std::string& home);

}  // namespace sy::exporting
