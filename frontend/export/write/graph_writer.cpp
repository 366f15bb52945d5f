#include "frontend/export/write/graph_writer.h"

#include <algorithm>

#include "c10/dispatch/default_argument.h"
#include "frontend/export/write/enumerations.h"
#include "frontend/export/write/same_runs.h"

namespace sy::exporting {

namespace {

// Whether an argument has its default, and need not be written.
bool is_default(const TracedArgument& a, const Argument& argument) {
  if (a.kind != TracedArgument::Kind::Constant) return false;
  if (!argument.default_value) return false;
  return same_value(a.constant,
                    default_value(argument.default_value, argument.type));
}

std::string plain(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c == ',' || c == ';' || c == '[' || c == ']' || c == '(' || c == ')') {
      c = '_';
    }
  }
  return out;
}

}  // namespace

GraphWriter::GraphWriter(const Recorded& recorded)
    : recorded_(recorded),
      trace_(recorded.runs[0]),
      solver_(recorded.sizes),
      names_(trace_.values.size()) {}

const std::string& GraphWriter::name(int32_t value, std::string_view wanted) {
  return names_[size_t(value)] = taken_.fresh(wanted);
}

void GraphWriter::refuse(IntArrayRef values, std::string_view why) const {
  fail(ErrorKind::Value, "[export_program] {}: {}: {}", place_,
       by_size(recorded_, values), why);
}

std::vector<const Value*> GraphWriter::of_runs(size_t node,
                                               size_t argument) const {
  std::vector<const Value*> out;
  for (const Trace& t : recorded_.runs) {
    out.push_back(&t.nodes[node].arguments[argument].constant);
  }
  return out;
}

// ---- numbers

GraphWriter::Number GraphWriter::number(const Numbers& values) {
  const auto term = solver_.find(values);
  if (!term) refuse(values, "no formula of the sizes gives these numbers");
  return number_node(*term);
}

GraphWriter::Number GraphWriter::number_node(int term) {
  const SizeSolver::Term t = solver_.term(term);
  using Kind = SizeSolver::Kind;
  if (t.kind == Kind::Constant) return {t.number, {}};
  const auto at = int_names_.find(term);
  if (at != int_names_.end()) return {0, at->second};
  std::string made;
  if (t.kind == Kind::Symbol) {
    made = symbol_node(size_t(t.number));
  } else {
    const char* const base = t.kind == Kind::Add   ? "add"
                             : t.kind == Kind::Mul ? "mul"
                                                   : "floordiv";
    std::vector<std::pair<std::string, std::string>> inputs;
    const char* argument = "a";
    for (const int side : {t.left, t.right}) {
      const Number n = number_node(side);
      JsonWriter w;
      if (n.name.empty()) {
        w.only("as_int", n.number);
      } else {
        w.begin_object().key("as_sym_int").only("as_name", n.name).end_object();
      }
      inputs.emplace_back(argument, w.str());
      argument = "b";
    }
    made = taken_.fresh(base);
    sym_node(str("_operator.{}", base), made, inputs, "as_sym_int");
  }
  int_names_.emplace(term, made);
  return {0, made};
}

std::string GraphWriter::symbol_node(size_t symbol) {
  const auto dim = std::find_if(
      recorded_.dims.begin(), recorded_.dims.end(),
      [&](const Recorded::SymbolDim& d) { return d.symbol == symbol; });
  const std::string made = taken_.fresh("sym_size_int");
  JsonWriter self, at;
  self.begin_object().key("as_tensor");
  self.only("name", name_of(int32_t(recorded_.held.size() + dim->tensor)));
  self.end_object();
  at.only("as_int", static_cast<int64_t>(dim->dim));
  sym_node("torch.ops.aten.sym_size.int", made,
           {{"self", self.str()}, {"dim", at.str()}}, "as_sym_int");
  return made;
}

// The number as a double, or 1 by it.
std::string GraphWriter::float_node(const char* target, int term) {
  const bool inverse = std::string_view(target) == "_operator.truediv";
  const Number n = number_node(term);
  JsonWriter one, x;
  one.only("as_int", int64_t{1});
  x.begin_object().key("as_sym_int").only("as_name", n.name).end_object();
  std::vector<std::pair<std::string, std::string>> inputs;
  if (inverse) inputs.emplace_back("a", one.str());
  inputs.emplace_back(inverse ? "b" : "a", x.str());
  const std::string made = taken_.fresh(inverse ? "truediv" : "sym_float");
  sym_node(target, made, inputs, "as_sym_float");
  float_values_[made] =
      inverse ? str("IntTrueDiv(Integer(1), {})", solver_.text(term))
              : str("ToFloat({})", solver_.text(term));
  return made;
}

void GraphWriter::sym_node(
    const std::string& target, const std::string& name,
    const std::vector<std::pair<std::string, std::string>>& inputs,
    const char* result) {
  JsonWriter w;
  w.begin_object().key("target").text(target).key("inputs").begin_array();
  for (const auto& [argument, value] : inputs) {
    w.begin_object().key("name").text(argument).key("arg").json(value);
    w.key("kind").integer(1).end_object();
  }
  w.end_array().key("outputs").begin_array();
  w.begin_object().key(result).only("as_name", name).end_object();
  w.end_array().key("metadata").json(metadata());
  w.key("is_hop_single_tensor_return").null().key("name").text(name);
  nodes_.push_back(w.end_object().str());
}

// ---- nodes

void GraphWriter::add_nodes() {
  for (size_t i = 0; i < trace_.nodes.size(); ++i) add_node(i);
}

std::string GraphWriter::metadata() const {
  const ModuleStack& stack = trace_.stacks[stack_];
  std::string text;
  for (const auto& [path, type] : stack) {
    std::string key = path;
    std::replace(key.begin(), key.end(), '.', '_');
    text += text.empty() ? "" : ";";
    text += str("L__self__{},{},{}", plain(key), plain(path), plain(type));
  }
  JsonWriter w;
  w.begin_object();
  if (!text.empty()) w.key("nn_module_stack").text(text);
  return w.end_object().str();
}

void GraphWriter::add_node(size_t i) {
  const TracedNode& node = trace_.nodes[i];
  const auto arguments = node.op->schema().arguments();
  stack_ = node.stack;
  place_ = place_of(node.op->name(), trace_.stacks[stack_]);
  size_t positional = arguments.size();
  while (positional > 0 && (arguments[positional - 1].kwarg_only ||
                            is_default(node.arguments[positional - 1],
                                       arguments[positional - 1]))) {
    --positional;
  }
  JsonWriter inputs;
  inputs.begin_array();
  for (size_t a = 0; a < arguments.size(); ++a) {
    const bool keyword = arguments[a].kwarg_only;
    if (!keyword && a >= positional) continue;
    if (keyword && is_default(node.arguments[a], arguments[a])) continue;
    inputs.begin_object().key("name").text(arguments[a].name.view());
    inputs.key("arg");
    write_argument(inputs, i, a, arguments[a].type);
    inputs.key("kind").integer(keyword ? 2 : 1).end_object();
  }
  inputs.end_array();
  JsonWriter w;
  w.begin_object().key("target").text(target_of(node.op->name()));
  w.key("inputs").json(inputs.str()).key("outputs");
  write_results(w, node);
  w.key("metadata").json(metadata());
  w.key("is_hop_single_tensor_return").null();
  const bool single = node.results.size() == 1 && !node.results[0].is_list &&
                      node.results[0].values[0] != kNoValue;
  w.key("name").text(single ? name_of(node.results[0].values[0])
                            : taken_.fresh(base_name(node.op->name())));
  nodes_.push_back(w.end_object().str());
}

void GraphWriter::write_results(JsonWriter& out, const TracedNode& node) {
  const bool single = node.results.size() == 1 && !node.results[0].is_list;
  const auto named = [&](int32_t value) {
    return name(value, single ? base_name(node.op->name()) : "getitem");
  };
  out.begin_array();
  for (const TracedResult& r : node.results) {
    out.begin_object();
    if (r.is_list) {
      out.key("as_tensors").begin_array();
      for (const int32_t v : r.values) out.only("name", named(v));
      out.end_array();
    } else if (r.values[0] == kNoValue) {
      out.key("as_none").boolean(true);
    } else {
      out.key("as_tensor").only("name", named(r.values[0]));
    }
    out.end_object();
  }
  out.end_array();
}

std::string GraphWriter::output(size_t i) {
  const TracedArgument& a = trace_.outputs[i];
  place_ = str("result {}", i);
  stack_ = 0;
  JsonWriter w;
  w.begin_object();
  if (a.kind == TracedArgument::Kind::Tensor) {
    w.key("as_tensor").only("name", name_of(a.values[0]));
  } else {
    std::vector<const Value*> runs;
    for (const Trace& t : recorded_.runs) {
      runs.push_back(&t.outputs[i].constant);
    }
    write_constant(w, runs, TypeKind::kScalar);
  }
  return w.end_object().str();
}

// ---- values

void GraphWriter::write_size(JsonWriter& out, int term) const {
  const SizeSolver::Term& t = solver_.term(term);
  if (t.kind == SizeSolver::Kind::Constant) {
    out.only("as_int", t.number);
    return;
  }
  out.begin_object().key("as_expr").begin_object();
  out.key("expr_str").text(solver_.text(term));
  out.key("hint").only("as_int", t.values[0]).end_object().end_object();
}

// Formulas of the strides: what was seen, or else those of a row-major tensor.
std::vector<int> GraphWriter::strides_of(int32_t value,
                                         const std::vector<int>& sizes) {
  const size_t n = sizes.size();
  std::vector<int> out(n);
  Numbers row_major(recorded_.runs.size(), 1);
  for (size_t d = n; d-- > 0;) {
    Numbers seen;
    for (const Trace& t : recorded_.runs) {
      seen.push_back(t.values[size_t(value)].strides[d]);
    }
    auto term = solver_.find(seen);
    if (!term) term = solver_.find(row_major);
    if (!term) refuse(seen, "no formula of the sizes gives these strides");
    out[d] = *term;
    for (size_t r = 0; r < row_major.size(); ++r) {
      row_major[r] *= std::max<int64_t>(
          recorded_.runs[r].values[size_t(value)].sizes[d], 1);
    }
  }
  return out;
}

void GraphWriter::write_tensor(JsonWriter& out, int32_t value) {
  const TracedValue& v = trace_.values[size_t(value)];
  place_ = str("'{}'", name_of(value));
  std::vector<int> sizes;
  for (size_t d = 0; d < v.sizes.size(); ++d) {
    Numbers seen;
    for (const Trace& t : recorded_.runs) {
      seen.push_back(t.values[size_t(value)].sizes[d]);
    }
    const auto term = solver_.find(seen);
    if (!term) refuse(seen, str("no formula of the sizes gives dim {}", d));
    sizes.push_back(*term);
  }
  const std::vector<int> strides = strides_of(value, sizes);
  Numbers offsets;
  for (const Trace& t : recorded_.runs) {
    offsets.push_back(t.values[size_t(value)].offset);
  }
  const auto offset = solver_.find(offsets);
  out.begin_object().key("dtype").integer(number_of(v.dtype));
  out.key("sizes").begin_array();
  for (const int s : sizes) write_size(out, s);
  out.end_array().key("requires_grad").boolean(v.requires_grad);
  write_device(out.key("device"), v.device);
  out.key("strides").begin_array();
  for (const int s : strides) write_size(out, s);
  out.end_array().key("storage_offset");
  if (offset) {
    write_size(out, *offset);
  } else {
    out.only("as_int", v.offset);
  }
  out.key("layout").integer(kStridedLayout).end_object();
}

void GraphWriter::write_values(JsonWriter& out) {
  out.key("tensor_values").begin_object();
  for (size_t i = 0; i < names_.size(); ++i) {
    if (names_[i].empty()) continue;
    out.key(names_[i]);
    write_tensor(out, static_cast<int32_t>(i));
  }
  out.end_object().key("sym_int_values").begin_object();
  for (const auto& [term, name] : int_names_) {
    out.key(name);
    write_size(out, term);
  }
  out.end_object().key("sym_bool_values").begin_object().end_object();
  out.key("sym_float_values").begin_object();
  for (const auto& [name, formula] : float_values_) {
    out.key(name).begin_object().key("as_expr").begin_object();
    out.key("expr_str").text(formula).key("hint").null();
    out.end_object().end_object();
  }
  out.end_object().key("custom_obj_values").begin_object().end_object();
  out.key("is_single_tensor_return").boolean(false);
}

}  // namespace sy::exporting
