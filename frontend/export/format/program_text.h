#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "c10/device/device.h"
#include "c10/tensor/scalar_type.h"
#include "c10/tensor/tensor_options.h"
#include "frontend/export/format/json_tree.h"
#include "frontend/export/format/size_expression.h"

// The description of a program in an archive of torch.export.save
// (models/NAME.json), as far as running it needs it. Fields are named as in
// PyTorch's torch/_export/serde/schema.py, which says what they mean.

namespace sy::exporting {

struct GraphText;

// An argument of a node; an input or a result of a graph.
struct ArgumentText {
  enum class Kind : uint8_t {
    None,
    Name,  // of a value of the graph: a tensor or a symbolic number
    Bool,
    Int,
    Float,
    String,
    ScalarType,
    Layout,
    MemoryFormat,
    Device,
    List,
    Graph,
    Other,  // of a kind that is not supported, which `text` names
  };

  Kind kind = Kind::None;
  int64_t integer = 0;  // of Bool, Int, and the enumerations
  double real = 0;
  std::string text;
  std::vector<ArgumentText> items;
  std::shared_ptr<const GraphText> graph;

  ScalarType scalar_type() const { return static_cast<ScalarType>(integer); }
};

struct NodeText {
  struct Input {
    // "" for those of operators without a schema, and where calls with effects
    // give arguments by position.
    std::string name;
    ArgumentText value;
  };
  std::string target;  // "torch.ops.aten.add.Tensor"
  std::string name;
  std::string module;       // "encoder.layer.0", where it was written
  std::string module_type;  // "torch.nn.modules.linear.Linear"
  std::vector<Input> inputs;
  std::vector<ArgumentText> outputs;
};

struct TensorText {
  // Of complex numbers: of their parts.
  ScalarType dtype = ScalarType::Undefined;
  bool is_complex = false;
  std::string dtype_name;  // of one that is not supported
  std::vector<SizeExpression> sizes, strides;
  std::vector<int64_t> example;  // the sizes of the export's example
  SizeExpression offset;
  bool requires_grad = false;
  std::string device;
};

struct GraphText {
  std::vector<ArgumentText> inputs, outputs;
  std::vector<NodeText> nodes;
  std::map<std::string, TensorText, std::less<>> tensors;  // of the inputs
  std::set<std::string, std::less<>> complex;  // values of complex numbers
};

struct InputSpec {
  enum class Kind : uint8_t { User, Parameter, Buffer, Constant, Fixed, Other };
  Kind kind = Kind::User;
  std::string name;    // of the graph's value
  std::string target;  // of the parameter, buffer or constant
  bool persistent = true;
  ArgumentText value;  // of Fixed: what the caller must give
};

struct OutputSpec {
  enum class Kind : uint8_t {
    User,
    BufferMutation,
    ParameterMutation,
    InputMutation,
    Other,  // gradients of joint graphs
  };
  Kind kind = Kind::User;
  ArgumentText value;
  std::string target;
};

// The form of nested arguments or results, whose leaves are in order.
struct TreeSpec {
  enum class Kind : uint8_t { Leaf, None, Tuple, List, Dict };
  Kind kind = Kind::Leaf;
  std::vector<std::string> keys;  // of a dict
  std::vector<TreeSpec> children;

  size_t leaves() const;
};

struct ProgramText {
  std::string torch_version;
  GraphText graph;
  std::vector<InputSpec> inputs;
  std::vector<OutputSpec> outputs;
  TreeSpec in, out;  // `in`: a tuple of positional ones and a dict
  std::vector<std::string> argument_names;
  struct Range {
    std::optional<int64_t> min, max;
  };
  std::map<std::string, Range, std::less<>> ranges;  // of symbols
};

// Reads the description. Throws FileError for another major version of the
// schema than 8, and for whatever does not have the form of one.
ProgramText read_program_text(const io::FileView& file, uint64_t begin,
                              uint64_t end);

// A tensor of a payload configuration, by the name in the module.
struct PayloadText {
  std::string path;  // of the member with its bytes
  bool is_parameter = false;
  bool is_pickled = false;
  std::optional<TensorText> tensor;
};
std::vector<std::pair<std::string, PayloadText>> read_payloads(
    const io::FileView& file, uint64_t begin, uint64_t end);

}  // namespace sy::exporting
