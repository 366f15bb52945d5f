#include "frontend/export/format/program_text.h"

#include <algorithm>

namespace sy::exporting {

namespace {

using Kind = ArgumentText::Kind;

constexpr int64_t kMajorVersion = 8;
constexpr int kMaxGraphDepth = 32;
constexpr std::string_view kWithEffects = "torch.ops.higher_order.with_effects";

// The numbers of PyTorch's schema.
ScalarType scalar_type_of(int64_t number) {
  switch (number) {
    case 1: return kByte;
    case 2: return kChar;
    case 3: return kShort;
    case 4: return kInt;
    case 5: return kLong;
    case 6: return kHalf;
    case 7: return kFloat;
    case 8: return kDouble;
    case 12: return kBool;
    case 13: return kBFloat16;
    default: return ScalarType::Undefined;
  }
}

// The dtype of the parts of complex numbers; Undefined for other dtypes.
ScalarType parts_of(int64_t number) {
  switch (number) {
    case 9: return kHalf;
    case 10: return kFloat;
    case 11: return kDouble;
    default: return ScalarType::Undefined;
  }
}

std::string dtype_name(int64_t number) {
  switch (number) {
    case 9: return "complex32";
    case 10: return "complex64";
    case 11: return "complex128";
    case 28: return "uint16";
    case 29: return "float8_e4m3fn";
    case 30: return "float8_e5m2";
    case 31: return "float8_e4m3fnuz";
    case 32: return "float8_e5m2fnuz";
    case 33: return "float8_e8m0fnu";
    case 34: return "uint32";
    case 35: return "uint64";
    default: return "dtype " + std::to_string(number);
  }
}

std::string device_text(const JsonValue& v) {
  std::string out(v["type"].to_string());
  const auto index = v.find("index");
  if (index && !index->is_null()) out += ":" + std::to_string(index->to_int());
  return out;
}

SizeExpression size_of(const JsonValue& v) {
  const JsonValue only = v.only_member();
  if (only.key() == "as_int") return SizeExpression(only.to_int());
  if (only.key() == "as_expr") {
    return SizeExpression(only["expr_str"].to_string());
  }
  v.fail("expected as_int or as_expr, got '{}'", only.key());
}

int64_t example_of(const JsonValue& v) {
  const JsonValue only = v.only_member();
  if (only.key() == "as_int") return only.to_int();
  const auto hint = only.find("hint");
  if (!hint || hint->is_null()) return 1;
  const auto value = hint->find("as_int");
  return value && !value->is_null() ? value->to_int() : 1;
}

std::vector<SizeExpression> sizes_of(const JsonValue& v) {
  std::vector<SizeExpression> out;
  for (const JsonValue& size : v.items()) out.push_back(size_of(size));
  return out;
}

TensorText tensor_of(const JsonValue& v) {
  TensorText out;
  const int64_t dtype = v["dtype"].to_int();
  out.dtype = scalar_type_of(dtype);
  if (out.dtype == ScalarType::Undefined) out.dtype_name = dtype_name(dtype);
  out.sizes = sizes_of(v["sizes"]);
  for (const JsonValue& size : v["sizes"].items()) {
    out.example.push_back(example_of(size));
  }
  out.strides = sizes_of(v["strides"]);
  if (out.strides.size() != out.sizes.size()) {
    v.fail("expected as many strides as sizes, {}, got {}", out.sizes.size(),
           out.strides.size());
  }
  out.offset = size_of(v["storage_offset"]);
  out.requires_grad = v["requires_grad"].to_bool();
  out.device = device_text(v["device"]);
  return out;
}

ArgumentText with(Kind kind, std::string_view text) {
  ArgumentText out;
  out.kind = kind;
  out.text = text;
  return out;
}

ArgumentText with(Kind kind, int64_t integer) {
  ArgumentText out;
  out.kind = kind;
  out.integer = integer;
  return out;
}

class GraphReader {
 public:
  GraphText graph(const JsonValue& v) {
    if (++depth_ > kMaxGraphDepth) {
      v.fail("expected at most {} graphs in one another", kMaxGraphDepth);
    }
    GraphText out;
    for (const JsonValue& a : v["inputs"].items()) {
      out.inputs.push_back(argument(a));
    }
    const auto nodes = v["nodes"].items();
    out.nodes.reserve(nodes.size());
    for (const JsonValue& n : nodes) out.nodes.push_back(node(n));
    for (const JsonValue& a : v["outputs"].items()) {
      out.outputs.push_back(argument(a));
    }
    const JsonValue tensors = v["tensor_values"];
    for (const JsonValue& t : tensors.items()) {
      if (parts_of(t["dtype"].to_int()) != ScalarType::Undefined) {
        out.complex.emplace(t.key());
      }
    }
    for (const ArgumentText& input : out.inputs) {
      if (input.kind != Kind::Name) continue;
      if (const auto t = tensors.find(input.text)) {
        out.tensors.emplace(input.text, tensor_of(*t));
      }
    }
    --depth_;
    return out;
  }

  ArgumentText argument(const JsonValue& v) {
    const JsonValue only = v.only_member();
    const std::string_view key = only.key();
    if (key.ends_with("_lists") || key == "as_nested_tensors") {
      return list(only, [&](const JsonValue& each) {
        return list(each, [&](const JsonValue& e) { return item(e, key); });
      });
    }
    if (only.kind() == JsonValue::Kind::Array) {
      return list(only, [&](const JsonValue& e) { return item(e, key); });
    }
    return item(only, key);
  }

 private:
  template <class F>
  static ArgumentText list(const JsonValue& v, const F& item) {
    ArgumentText out;
    out.kind = Kind::List;
    const auto items = v.items();
    out.items.reserve(items.size());
    for (const JsonValue& each : items) out.items.push_back(item(each));
    return out;
  }

  // A value of the kind that `key` names: "as_int", or "as_ints" for one of a
  // list.
  ArgumentText item(const JsonValue& v, std::string_view key) {
    if (key.starts_with("as_")) key.remove_prefix(3);
    if (key.ends_with("_lists")) key.remove_suffix(6);
    if (key.starts_with("nested_")) key.remove_prefix(7);
    if (key.ends_with('s')) key.remove_suffix(1);
    if (key == "none") return {};
    if (key == "tensor") return with(Kind::Name, v["name"].to_string());
    if (key == "name") return with(Kind::Name, v.to_string());
    if (key == "sym_int" || key == "sym_float" || key == "sym_bool" ||
        key == "optional_tensor") {
      return argument(v);
    }
    if (key == "int") return with(Kind::Int, v.to_int());
    if (key == "bool") return with(Kind::Bool, int64_t{v.to_bool()});
    if (key == "string") return with(Kind::String, v.to_string());
    if (key == "device") return with(Kind::Device, device_text(v));
    if (key == "float") {
      ArgumentText out;
      out.kind = Kind::Float;
      out.real = v.to_double();
      return out;
    }
    if (key == "graph") {
      ArgumentText out;
      out.kind = Kind::Graph;
      out.text = v["name"].to_string();
      out.graph = std::make_shared<const GraphText>(graph(v["graph"]));
      return out;
    }
    if (key == "scalar_type") return scalar_type(v);
    if (key == "layout") return layout(v);
    if (key == "memory_format") return memory_format(v);
    return with(Kind::Other, key);
  }

  static ArgumentText scalar_type(const JsonValue& v) {
    const ScalarType t = scalar_type_of(v.to_int());
    if (t != ScalarType::Undefined) {
      return with(Kind::ScalarType, static_cast<int64_t>(t));
    }
    ArgumentText out = with(Kind::Other, dtype_name(v.to_int()));
    out.integer = static_cast<int64_t>(parts_of(v.to_int()));
    return out;
  }
  static ArgumentText layout(const JsonValue& v) {
    if (v.to_int() != 7) return with(Kind::Other, "sparse layout");
    return with(Kind::Layout, static_cast<int64_t>(Layout::Strided));
  }
  static ArgumentText memory_format(const JsonValue& v) {
    MemoryFormat format = MemoryFormat::Contiguous;
    switch (v.to_int()) {
      case 1: break;
      case 2: format = MemoryFormat::ChannelsLast; break;
      case 3: format = MemoryFormat::ChannelsLast3d; break;
      case 4: format = MemoryFormat::Preserve; break;
      default: v.fail("expected a memory format, got {}", v.to_int());
    }
    return with(Kind::MemoryFormat, static_cast<int64_t>(format));
  }

  NodeText node(const JsonValue& v) {
    NodeText out;
    out.target = v["target"].to_string();
    for (const JsonValue& input : v["inputs"].items()) {
      out.inputs.push_back(
          {std::string(input["name"].to_string()), argument(input["arg"])});
    }
    for (const JsonValue& output : v["outputs"].items()) {
      out.outputs.push_back(argument(output));
    }
    if (out.target == kWithEffects) leave_token(v, &out);
    if (const auto name = v.find("name"); name && !name->is_null()) {
      out.name = name->to_string();
    } else if (!out.outputs.empty()) {
      out.name = out.outputs[0].text;
    }
    if (const auto metadata = v.find("metadata")) {
      if (const auto stack = metadata->find("nn_module_stack")) {
        module(stack->to_string(), &out);
      }
    }
    return out;
  }

  // with_effects(token, operator, arguments...) gives a token and what the
  // operator gives. Tokens tell compilers the order of the calls, which is the
  // order of the nodes here.
  static void leave_token(const JsonValue& v, NodeText* out) {
    const auto inputs = v["inputs"].items();
    if (inputs.size() < 2 || out->outputs.empty()) {
      v.fail("expected a token, an operator, and a token as the result");
    }
    out->target = inputs[1]["arg"]["as_operator"].to_string();
    out->inputs.erase(out->inputs.begin(), out->inputs.begin() + 2);
    out->outputs.erase(out->outputs.begin());
    if (out->outputs.size() == 1 && out->outputs[0].kind == Kind::None) {
      out->outputs.clear();
    }
  }

  // The last of "key,path,type;key,path,type". A comma in brackets is part of
  // a key.
  static void module(std::string_view stack, NodeText* out) {
    const std::string_view last = stack.substr(stack.rfind(';') + 1);
    const size_t type = last.rfind(',');
    if (type == std::string_view::npos) return;
    const std::string_view before = last.substr(0, type);
    const size_t path = before.rfind(',');
    if (path == std::string_view::npos) return;
    if (last.substr(type + 1).starts_with("_empty_nn_module")) return;
    out->module = before.substr(path + 1);
    out->module_type = last.substr(type + 1);
  }

  int depth_ = 0;
};

InputSpec input_spec(const JsonValue& v, GraphReader& reader) {
  const JsonValue only = v.only_member();
  const std::string_view key = only.key();
  InputSpec out;
  if (key == "user_input") {
    out.value = reader.argument(only["arg"]);
    out.name = out.value.text;
    if (out.value.kind != Kind::Name) out.kind = InputSpec::Kind::Fixed;
    return out;
  }
  if (key == "constant_input") {
    out.kind = InputSpec::Kind::Fixed;
    out.name = only["name"].to_string();
    out.value = reader.argument(only["value"]);
    return out;
  }
  if (const auto arg = only.find("arg")) {
    if (const auto name = arg->find("name")) out.name = name->to_string();
  }
  if (key == "parameter") {
    out.kind = InputSpec::Kind::Parameter;
    out.target = only["parameter_name"].to_string();
  } else if (key == "buffer") {
    out.kind = InputSpec::Kind::Buffer;
    out.target = only["buffer_name"].to_string();
    out.persistent = only["persistent"].to_bool();
  } else if (key == "tensor_constant") {
    out.kind = InputSpec::Kind::Constant;
    out.target = only["tensor_constant_name"].to_string();
  } else {
    out.kind = InputSpec::Kind::Other;
    out.target = key;
  }
  return out;
}

OutputSpec output_spec(const JsonValue& v, GraphReader& reader) {
  const JsonValue only = v.only_member();
  const std::string_view key = only.key();
  OutputSpec out;
  if (key == "user_output") {
    out.value = reader.argument(only["arg"]);
    return out;
  }
  if (const auto arg = only.find("arg"); arg && arg->find("name")) {
    out.value = with(Kind::Name, (*arg)["name"].to_string());
  }
  if (key == "loss_output") return out;
  if (key == "buffer_mutation") {
    out.kind = OutputSpec::Kind::BufferMutation;
    out.target = only["buffer_name"].to_string();
  } else if (key == "parameter_mutation") {
    out.kind = OutputSpec::Kind::ParameterMutation;
    out.target = only["parameter_name"].to_string();
  } else if (key == "user_input_mutation") {
    out.kind = OutputSpec::Kind::InputMutation;
    out.target = only["user_input_name"].to_string();
  } else {
    out.kind = OutputSpec::Kind::Other;
    out.target = key;
  }
  return out;
}

// ---- nested arguments and results

// The text of a JSON value that is a string of another.
class InnerJson {
 public:
  InnerJson(const io::FileView& file, std::string_view text)
      : tree_(io::FileView{file.op, file.path,
                           reinterpret_cast<const uint8_t*>(text.data()),
                           text.size()},
              0, text.size()) {}
  JsonValue root() const { return tree_.root(); }

 private:
  JsonTree tree_;
};

// Classes that Python's pytree knows by other names: results of transformers
// are ordered dicts of their fields.
TreeSpec::Kind tree_kind(const JsonValue& type) {
  if (type.is_null()) return TreeSpec::Kind::Leaf;
  const std::string_view name = type.to_string();
  if (name == "builtins.NoneType") return TreeSpec::Kind::None;
  if (name == "builtins.tuple" || name == "torch.Size" ||
      name.ends_with("namedtuple")) {
    return TreeSpec::Kind::Tuple;
  }
  if (name == "builtins.list" || name.ends_with("deque")) {
    return TreeSpec::Kind::List;
  }
  return TreeSpec::Kind::Dict;
}

class TreeReader {
 public:
  TreeReader(const io::FileView& file, const JsonValue& names)
      : file_(file), names_(names) {}

  TreeSpec read(const JsonValue& text) {
    const InnerJson json(file_, text.to_string());
    const auto items = json.root().items();
    if (items.size() != 2 || items[0].to_int() != 1) {
      text.fail("expected a tree of protocol 1");
    }
    return tree(items[1]);
  }

 private:
  TreeSpec tree(const JsonValue& v) {
    TreeSpec out;
    out.kind = tree_kind(v["type"]);
    for (const JsonValue& child : v["children_spec"].items()) {
      out.children.push_back(tree(child));
    }
    if (out.kind == TreeSpec::Kind::Dict) keys(v, &out);
    return out;
  }

  // The context of a dict is a list of keys, in a string. Other classes have
  // contexts of their own; the first list of as many strings has the keys.
  void keys(const JsonValue& v, TreeSpec* out) {
    const JsonValue context = v["context"];
    if (context.kind() == JsonValue::Kind::String) {
      const std::string_view text = context.to_string();
      if (text.starts_with('[') || text.starts_with('{') ||
          text.starts_with('"')) {
        const InnerJson json(file_, text);
        find_keys(json.root(), out);
      }
    } else {
      find_keys(context, out);
    }
    if (out->keys.size() == out->children.size()) return;
    out->keys.clear();
    if (names_.kind() == JsonValue::Kind::Object) {
      if (const auto fields = names_.find(v["type"].to_string())) {
        for (const JsonValue& f : (*fields)["field_names"].items()) {
          out->keys.emplace_back(f.to_string());
        }
      }
    }
    if (out->keys.size() != out->children.size()) {
      // Nothing names them: they are items.
      out->keys.clear();
      out->kind = TreeSpec::Kind::Tuple;
    }
  }

  static bool find_keys(const JsonValue& v, TreeSpec* out) {
    if (v.kind() == JsonValue::Kind::Object) {
      const auto members = v.items();
      return std::any_of(members.begin(), members.end(),
                         [&](const auto& m) { return find_keys(m, out); });
    }
    if (v.kind() != JsonValue::Kind::Array) return false;
    const auto items = v.items();
    std::vector<std::string> keys;
    for (const JsonValue& item : items) {
      if (item.kind() == JsonValue::Kind::String) {
        keys.emplace_back(item.to_string());
      } else if (item.kind() == JsonValue::Kind::Int) {
        keys.push_back(std::to_string(item.to_int()));
      }
    }
    if (keys.size() == out->children.size()) {
      out->keys = std::move(keys);
      return true;
    }
    return std::any_of(items.begin(), items.end(),
                       [&](const auto& m) { return find_keys(m, out); });
  }

  const io::FileView& file_;
  JsonValue names_;
};

// Complex numbers in the file are real and imaginary parts in turns: a tensor
// of one more dim.
void take_parts(const JsonValue& v, TensorText* t) {
  const ScalarType parts = parts_of(v["dtype"].to_int());
  if (parts == ScalarType::Undefined) return;
  t->dtype = parts;
  t->is_complex = true;
  const auto twice = [&](SizeExpression* e) {
    const auto n = e->constant();
    if (!n || *n < 0 || *n > INT64_MAX / 2) v.fail("expected numbers as sizes");
    *e = SizeExpression(2 * *n);
  };
  for (SizeExpression& stride : t->strides) twice(&stride);
  twice(&t->offset);
  t->sizes.emplace_back(int64_t{2});
  t->strides.emplace_back(int64_t{1});
}

template <class Spec>
void drop_tokens(std::vector<Spec>* specs, std::vector<ArgumentText>* values) {
  for (size_t i = std::min(specs->size(), values->size()); i-- > 0;) {
    const Spec& spec = (*specs)[i];
    if (spec.kind != Spec::Kind::Other || spec.target != "token") continue;
    specs->erase(specs->begin() + static_cast<std::ptrdiff_t>(i));
    values->erase(values->begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void read_ranges(const JsonValue& v, ProgramText* out) {
  for (const JsonValue& range : v.items()) {
    const auto bound = [&](const char* name) -> std::optional<int64_t> {
      const auto found = range.find(name);
      if (!found || found->kind() != JsonValue::Kind::Int) return {};
      return found->to_int();
    };
    // A key is a symbol, or a formula that nothing has to be told of.
    const SizeExpression key(range.key());
    if (key.symbol() != nullptr) {
      out->ranges[*key.symbol()] = {bound("min_val"), bound("max_val")};
    }
  }
}

void read_call(const io::FileView& file, const JsonValue& module,
               ProgramText* out) {
  for (const JsonValue& entry : module["module_call_graph"].items()) {
    const auto signature = entry.find("signature");
    if (!entry["fqn"].to_string().empty() || !signature ||
        signature->is_null()) {
      continue;
    }
    const auto names = module.find("treespec_namedtuple_fields");
    TreeReader trees(file, names ? *names : *signature);
    out->in = trees.read((*signature)["in_spec"]);
    out->out = trees.read((*signature)["out_spec"]);
    const auto arguments = signature->find("forward_arg_names");
    if (arguments && !arguments->is_null()) {
      for (const JsonValue& name : arguments->items()) {
        out->argument_names.emplace_back(name.to_string());
      }
    }
    return;
  }
  module.fail("module_call_graph: expected the signature of the module ''");
}

}  // namespace

size_t TreeSpec::leaves() const {
  if (kind == Kind::Leaf) return 1;
  size_t n = 0;
  for (const TreeSpec& child : children) n += child.leaves();
  return n;
}

ProgramText read_program_text(const io::FileView& file, uint64_t begin,
                              uint64_t end) {
  const JsonTree tree(file, begin, end);
  const JsonValue root = tree.root();
  const JsonValue version = root["schema_version"];
  const int64_t major = version["major"].to_int();
  if (major != kMajorVersion) {
    file.fail(
        "schema_version: expected {}.x, got {}.{}: export the model again "
        "with PyTorch 2.6 or newer",
        kMajorVersion, major, version["minor"].to_int());
  }
  ProgramText out;
  if (const auto torch = root.find("torch_version")) {
    out.torch_version = torch->to_string();
  }
  const JsonValue module = root["graph_module"];
  GraphReader reader;
  out.graph = reader.graph(module["graph"]);
  const JsonValue signature = module["signature"];
  for (const JsonValue& spec : signature["input_specs"].items()) {
    out.inputs.push_back(input_spec(spec, reader));
  }
  for (const JsonValue& spec : signature["output_specs"].items()) {
    out.outputs.push_back(output_spec(spec, reader));
  }
  drop_tokens(&out.inputs, &out.graph.inputs);
  drop_tokens(&out.outputs, &out.graph.outputs);
  read_ranges(root["range_constraints"], &out);
  read_call(file, module, &out);
  return out;
}

std::vector<std::pair<std::string, PayloadText>> read_payloads(
    const io::FileView& file, uint64_t begin, uint64_t end) {
  const JsonTree tree(file, begin, end);
  std::vector<std::pair<std::string, PayloadText>> out;
  for (const JsonValue& v : tree.root()["config"].items()) {
    PayloadText payload;
    payload.path = v["path_name"].to_string();
    payload.is_parameter = v["is_param"].to_bool();
    payload.is_pickled = v["use_pickle"].to_bool();
    const auto tensor = v.find("tensor_meta");
    if (tensor && !tensor->is_null()) {
      payload.tensor = tensor_of(*tensor);
      take_parts(*tensor, &*payload.tensor);
    }
    out.emplace_back(v.key(), std::move(payload));
  }
  return out;
}

}  // namespace sy::exporting
