#include "frontend/export/write/program_json.h"

#include <set>

#include "frontend/export/write/enumerations.h"
#include "frontend/export/write/graph_writer.h"
#include "frontend/export/write/same_runs.h"

namespace sy::exporting {

namespace {

// The version of PyTorch's schema whose fields these are, and of its operators.
constexpr int64_t kMajor = 8, kMinor = 8;
constexpr int64_t kOpset = 10;
constexpr std::string_view kTorch = "2.6.0";

// ---- nesting, as Python's pytree writes it

void write_tree(JsonWriter& out, const ArchiveValue& v) {
  using Kind = ArchiveValue::Kind;
  const auto node = [&](const char* type, const std::string& context) {
    out.begin_object().key("type").text(type).key("context").text(context);
    out.key("children_spec").begin_array();
  };
  switch (v.kind()) {
    case Kind::List:
    case Kind::Tuple:
      node(v.kind() == Kind::List ? "builtins.list" : "builtins.tuple", "null");
      for (const ArchiveValue& item : v.items()) write_tree(out, item);
      break;
    case Kind::Dict: {
      JsonWriter keys;
      keys.begin_array();
      for (const ArchiveEntry& e : v.entries()) {
        e.key.kind() == Kind::Int ? keys.integer(e.key.to_int())
                                  : keys.text(e.key.to_string());
      }
      node("builtins.dict", keys.end_array().str());
      for (const ArchiveEntry& e : v.entries()) write_tree(out, e.value);
      break;
    }
    default:
      out.begin_object().key("type").null().key("context").null();
      out.key("children_spec").begin_array();
  }
  out.end_array().end_object();
}

std::string tree(const ArchiveValue& v) {
  JsonWriter out;
  out.begin_array().integer(1);
  write_tree(out, v);
  return out.end_array().str();
}

// The arguments as Python has them: a tuple, and a dict.
ArchiveValue arguments_of(const Recorded& r) {
  const size_t positional = r.inputs.size() - r.keywords;
  std::vector<ArchiveValue> first(r.inputs.begin(),
                                  r.inputs.begin() + long(positional));
  std::vector<ArchiveEntry> named;
  for (size_t i = positional; i < r.inputs.size(); ++i) {
    named.push_back({ArchiveValue(r.input_names[i]), r.inputs[i]});
  }
  return ArchiveValue::tuple({ArchiveValue::tuple(std::move(first)),
                              ArchiveValue::dict(std::move(named))});
}

// Calls f(path, leaf): "x", "state_0_q".
template <class F>
void named_leaves(const std::string& path, const ArchiveValue& v, const F& f) {
  using Kind = ArchiveValue::Kind;
  if (v.kind() == Kind::List || v.kind() == Kind::Tuple) {
    size_t i = 0;
    for (const ArchiveValue& item : v.items()) {
      named_leaves(str("{}_{}", path, i++), item, f);
    }
  } else if (v.kind() == Kind::Dict) {
    for (const ArchiveEntry& e : v.entries()) {
      const std::string key = e.key.kind() == Kind::Int
                                  ? std::to_string(e.key.to_int())
                                  : e.key.to_string();
      named_leaves(path + "_" + key, e.value, f);
    }
  } else {
    f(path, v);
  }
}

void write_leaf(JsonWriter& out, const ArchiveValue& v) {
  using Kind = ArchiveValue::Kind;
  out.begin_object();
  switch (v.kind()) {
    case Kind::Bool: out.key("as_bool").boolean(v.to_bool()); break;
    case Kind::Int: out.key("as_int").integer(v.to_int()); break;
    case Kind::Float: out.key("as_float").real(v.to_double()); break;
    case Kind::String: out.key("as_string").text(v.to_string()); break;
    default: out.key("as_none").boolean(true);
  }
  out.end_object();
}

// The parts of a description, in the order in which values get their names.
class ProgramWriter {
 public:
  explicit ProgramWriter(const Recorded& r) : r_(r), graph_(r) {}

  ProgramJson write() {
    add_held();
    ProgramJson out;
    add_constants(&out);
    add_user_inputs();
    graph_.add_nodes();
    add_outputs();
    JsonWriter w;
    w.begin_object().key("graph_module").begin_object();
    write_graph(w);
    w.key("signature").begin_object();
    w.key("input_specs").json(specs_.end_array().str());
    w.key("output_specs").json(output_specs_.end_array().str()).end_object();
    write_calls(w);
    w.key("metadata").begin_object().end_object();
    w.key("treespec_namedtuple_fields").begin_object().end_object();
    w.end_object();
    write_rest(w);
    out.text = w.end_object().str();
    out.ambiguity = ambiguity();
    return out;
  }

 private:
  void add_input(const std::string& name) {
    inputs_.begin_object().key("as_tensor").only("name", name).end_object();
  }

  void add_held() {
    inputs_.begin_array();
    specs_.begin_array();
    for (size_t i = 0; i < r_.held.size(); ++i) {
      const HeldTensor& h = r_.held[i];
      const std::string name = graph_.name(
          static_cast<int32_t>(i), (h.is_parameter ? "p_" : "b_") + h.name);
      add_input(name);
      specs_.begin_object().key(h.is_parameter ? "parameter" : "buffer");
      specs_.begin_object().key("arg").only("name", name);
      specs_.key(h.is_parameter ? "parameter_name" : "buffer_name");
      specs_.text(h.name);
      if (!h.is_parameter) specs_.key("persistent").boolean(h.persistent);
      specs_.end_object().end_object();
    }
  }

  void add_constants(ProgramJson* out) {
    std::set<std::string> taken;
    for (const HeldTensor& h : r_.held) taken.insert(h.name);
    size_t number = 0;
    for (const TracedConstant& c : r_.runs[0].constants) {
      std::string target;
      do {
        target = str("lifted_tensor_{}", number++);
      } while (taken.contains(target));
      const std::string name = graph_.name(c.value, "c_" + target);
      add_input(name);
      specs_.begin_object().key("tensor_constant").begin_object();
      specs_.key("arg").only("name", name);
      specs_.key("tensor_constant_name").text(target);
      specs_.end_object().end_object();
      out->constants.push_back(target);
    }
  }

  void add_user_inputs() {
    auto next = static_cast<int32_t>(r_.held.size());
    for (size_t i = 0; i < r_.inputs.size(); ++i) {
      named_leaves(r_.input_names[i], r_.inputs[i],
                   [&](const std::string& path, const ArchiveValue& leaf) {
                     if (leaf.is_tensor()) {
                       add_tensor_input(graph_.name(next++, path));
                     } else {
                       add_fixed_input(graph_.other_name(path), leaf);
                     }
                   });
    }
  }

  void add_tensor_input(const std::string& name) {
    add_input(name);
    specs_.begin_object().key("user_input").begin_object().key("arg");
    specs_.begin_object().key("as_tensor").only("name", name);
    specs_.end_object().end_object().end_object();
  }

  void add_fixed_input(const std::string& name, const ArchiveValue& leaf) {
    write_leaf(inputs_, leaf);
    specs_.begin_object().key("constant_input").begin_object();
    specs_.key("name").text(name).key("value");
    write_leaf(specs_, leaf);
    specs_.end_object().end_object();
  }

  void add_outputs() {
    outputs_.begin_array();
    output_specs_.begin_array();
    for (size_t i = 0; i < r_.runs[0].outputs.size(); ++i) {
      const std::string value = graph_.output(i);
      outputs_.json(value);
      output_specs_.begin_object().key("user_output").begin_object();
      output_specs_.key("arg").json(value).end_object().end_object();
    }
  }

  void write_graph(JsonWriter& w) {
    w.key("graph").begin_object();
    w.key("inputs").json(inputs_.end_array().str());
    w.key("outputs").json(outputs_.end_array().str());
    w.key("nodes").begin_array();
    for (const std::string& node : graph_.nodes()) w.json(node);
    w.end_array();
    graph_.write_values(w);
    w.end_object();
  }

  void write_calls(JsonWriter& w) const {
    w.key("module_call_graph").begin_array();
    w.begin_object().key("fqn").text("").key("signature").begin_object();
    w.key("inputs").begin_array().end_array();
    w.key("outputs").begin_array().end_array();
    w.key("in_spec").text(tree(arguments_of(r_)));
    w.key("out_spec").text(tree(r_.runs[0].result));
    w.key("forward_arg_names").begin_array();
    for (const std::string& name : r_.input_names) w.text(name);
    w.end_array().end_object().end_object();
    std::set<std::string> told = {""};
    for (const ModuleStack& stack : r_.runs[0].stacks) {
      for (const auto& [path, type] : stack) {
        if (!told.insert(path).second) continue;
        w.begin_object().key("fqn").text(path).key("signature").null();
        w.end_object();
      }
    }
    w.end_array();
  }

  void write_rest(JsonWriter& w) const {
    w.key("opset_version").only("aten", kOpset);
    w.key("range_constraints").begin_object();
    for (size_t s = 0; s < r_.symbols.size(); ++s) {
      const SizeSymbol& symbol = r_.symbols[s];
      w.key(str("s{}", s)).begin_object();
      w.key("min_val").integer(symbol.min).key("max_val");
      symbol.max == INT64_MAX ? w.null() : w.integer(symbol.max);
      w.end_object();
    }
    w.end_object().key("schema_version").begin_object();
    w.key("major").integer(kMajor).key("minor").integer(kMinor).end_object();
    w.key("verifiers").begin_array().text("TRAINING").end_array();
    w.key("torch_version").text(kTorch);
    w.key("guards_code").begin_array().end_array();
  }

  std::optional<SizeSolver::Ambiguity> ambiguity() const {
    std::vector<int64_t> min, max;
    for (const SizeSymbol& s : r_.symbols) {
      min.push_back(s.min);
      max.push_back(s.max);
    }
    return graph_.sizes().ambiguity(min, max);
  }

  const Recorded& r_;
  GraphWriter graph_;
  JsonWriter inputs_, specs_, outputs_, output_specs_;
};

}  // namespace

ProgramJson program_json(const Recorded& recorded) {
  check_same_calls(recorded);
  return ProgramWriter(recorded).write();
}

std::string tensor_meta(ScalarType dtype, IntArrayRef sizes,
                        IntArrayRef strides, int64_t offset, Device device,
                        bool requires_grad) {
  JsonWriter w;
  w.begin_object().key("dtype").integer(number_of(dtype));
  const auto list = [&](const char* key, IntArrayRef numbers) {
    w.key(key).begin_array();
    for (const int64_t n : numbers) w.only("as_int", n);
    w.end_array();
  };
  list("sizes", sizes);
  w.key("requires_grad").boolean(requires_grad);
  write_device(w.key("device"), device);
  list("strides", strides);
  w.key("storage_offset").only("as_int", offset);
  return w.key("layout").integer(kStridedLayout).end_object().str();
}

}  // namespace sy::exporting
