#pragma once

#include <map>
#include <string>
#include <vector>

#include "c10/schema/function_schema.h"
#include "frontend/export/write/json_writer.h"
#include "frontend/export/write/names.h"
#include "frontend/export/write/program_json.h"

namespace sy::exporting {

// Whether they are the same constants. Values that graphs do not have, such as
// generators, are not.
bool same_value(const Value& a, const Value& b);

// Writes nodes and values: graph_arguments.cpp what is no tensor. Numbers that
// depend on sizes become nodes of their own, before the one that reads them.
class GraphWriter {
 public:
  explicit GraphWriter(const Recorded& recorded);

  // Gives a value a name. All values that are no results get theirs first.
  const std::string& name(int32_t value, std::string_view wanted);
  const std::string& name_of(int32_t value) const {
    return names_[size_t(value)];
  }
  std::string other_name(std::string_view wanted) {
    return taken_.fresh(wanted);
  }

  void add_nodes();
  // {"as_tensor": {"name": ...}}, or a number; of leaf `i` of the results.
  std::string output(size_t i);

  const std::vector<std::string>& nodes() const { return nodes_; }
  // The members of "tensor_values", "sym_int_values" and "sym_float_values".
  void write_values(JsonWriter& out);
  const SizeSolver& sizes() const { return solver_; }

 private:
  using Numbers = std::vector<int64_t>;
  // A number, or the name of a value.
  struct Number {
    int64_t number = 0;
    std::string name;
  };

  void add_node(size_t i);
  void write_argument(JsonWriter& out, size_t node, size_t argument, Type type);
  void write_constant(JsonWriter& out, const std::vector<const Value*>& runs,
                      Type type);
  void write_ints(JsonWriter& out, const std::vector<const Value*>& runs,
                  Type type);
  void write_scalars(JsonWriter& out, const Value& v);
  void write_double(JsonWriter& out, const std::vector<const Value*>& runs);
  void write_results(JsonWriter& out, const TracedNode& node);
  void write_tensor(JsonWriter& out, int32_t value);
  void write_size(JsonWriter& out, int term) const;
  std::vector<int> strides_of(int32_t value, const std::vector<int>& sizes);

  Number number(const Numbers& values);
  Number number_node(int term);
  std::string symbol_node(size_t symbol);
  std::string float_node(const char* target, int term);
  void sym_node(const std::string& target, const std::string& name,
                const std::vector<std::pair<std::string, std::string>>& inputs,
                const char* result);
  std::string metadata() const;
  std::vector<const Value*> of_runs(size_t node, size_t argument) const;
  [[noreturn]] void refuse(IntArrayRef values, std::string_view why) const;

  const Recorded& recorded_;
  const Trace& trace_;
  SizeSolver solver_;
  ValueNames taken_;
  std::vector<std::string> names_;
  std::vector<std::string> nodes_;
  std::map<int, std::string> int_names_;             // of terms that are values
  std::map<std::string, std::string> float_values_;  // name -> formula
  std::vector<std::string> missing_;  // results that nothing made
  size_t stack_ = 0;
  std::string place_;  // of the node, for messages
};

}  // namespace sy::exporting
