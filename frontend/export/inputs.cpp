#include "frontend/export/inputs.h"

#include <algorithm>
#include <limits>

#include "aten/tensor.h"
#include "c10/process/error.h"
#include "c10/schema/nearest.h"

namespace sy::exporting {

namespace {

using Kind = ArgumentText::Kind;
using ValueKind = ArchiveValue::Kind;

// The minimum of a size that is no constant: 0 and 1 are right as well.
constexpr int64_t kNoConstant = 2;

std::string text_of(const ArgumentText& v) {
  switch (v.kind) {
    case Kind::None: return "None";
    case Kind::Bool: return v.integer != 0 ? "True" : "False";
    case Kind::Int: return std::to_string(v.integer);
    case Kind::Float: return str("{}", v.real);
    case Kind::String: return "'" + v.text + "'";
    default: return "a constant";
  }
}

bool is_equal(const ArgumentText& fixed, const ArchiveValue& v) {
  switch (fixed.kind) {
    case Kind::None: return v.is_none();
    case Kind::Bool:
      return v.kind() == ValueKind::Bool && v.to_bool() == (fixed.integer != 0);
    case Kind::Int:
      return v.kind() == ValueKind::Int && v.to_int() == fixed.integer;
    case Kind::Float:
      return (v.kind() == ValueKind::Float || v.kind() == ValueKind::Int) &&
             v.to_double() == fixed.real;
    case Kind::String:
      return v.kind() == ValueKind::String && v.to_string() == fixed.text;
    default: return false;
  }
}

std::string text_of(const ArchiveValue& v) {
  if (v.is_tensor()) return to_string(Value(TensorBase(v.to_tensor())));
  switch (v.kind()) {
    case ValueKind::Bool: return v.to_bool() ? "True" : "False";
    case ValueKind::Int: return std::to_string(v.to_int());
    case ValueKind::Float: return str("{}", v.to_double());
    case ValueKind::String: return "'" + v.to_string() + "'";
    default: return sy::kind_name(v.kind());
  }
}

std::string range_text(const std::string& symbol,
                       const ProgramText::Range& range) {
  const bool low = range.min && *range.min > kNoConstant;
  if (low && range.max) {
    return str("{} from {} to {}", symbol, *range.min, *range.max);
  }
  if (low) return str("{} at least {}", symbol, *range.min);
  return range.max ? str("{} at most {}", symbol, *range.max) : "";
}

}  // namespace

Inputs::Inputs(std::string file, const ProgramText& program)
    : file_(std::move(file)), ranges_(program.ranges) {
  const bool is_call = program.in.children.size() == 2 &&
                       program.in.children[1].keys.size() ==
                           program.in.children[1].children.size();
  SY_CHECK(is_call, Value,
           "[{}] in_spec: expected a tuple of arguments and a dict", file_);
  std::vector<std::pair<std::string, const TreeSpec*>> all;
  for (const TreeSpec& tree : program.in.children[0].children) {
    const size_t i = all.size();
    all.emplace_back(i < program.argument_names.size()
                         ? program.argument_names[i]
                         : str("args[{}]", i),
                     &tree);
  }
  const TreeSpec& named = program.in.children[1];
  for (size_t i = 0; i < named.children.size(); ++i) {
    all.emplace_back(named.keys[i], &named.children[i]);
  }
  for (const auto& [name, tree] : all) {
    const size_t first = leaves_.size();
    name_leaves(*tree, name);
    arguments_.push_back({name, *tree, first, leaves_.size() - first});
  }
  size_t at = 0;
  for (const InputSpec& spec : program.inputs) {
    if (spec.kind != InputSpec::Kind::User &&
        spec.kind != InputSpec::Kind::Fixed) {
      continue;
    }
    SY_CHECK(at < leaves_.size(), Value,
             "[{}] input_specs: expected {} inputs of the user, got more",
             file_, leaves_.size());
    Leaf& leaf = leaves_[at++];
    leaf.is_fixed = spec.kind == InputSpec::Kind::Fixed;
    leaf.value = spec.value;
    const auto tensor = program.graph.tensors.find(spec.name);
    leaf.is_tensor = !leaf.is_fixed && tensor != program.graph.tensors.end();
    if (leaf.is_tensor) leaf.tensor = tensor->second;
  }
  SY_CHECK(at == leaves_.size(), Value,
           "[{}] input_specs: expected {} inputs of the user, got {}", file_,
           leaves_.size(), at);
}

void Inputs::name_leaves(const TreeSpec& tree, const std::string& path) {
  if (tree.kind == TreeSpec::Kind::Leaf) {
    Leaf leaf;
    leaf.path = path;
    leaves_.push_back(std::move(leaf));
    return;
  }
  for (size_t i = 0; i < tree.children.size(); ++i) {
    name_leaves(tree.children[i], tree.kind == TreeSpec::Kind::Dict
                                      ? path + "." + tree.keys[i]
                                      : str("{}[{}]", path, i));
  }
}

std::vector<Value> Inputs::flatten(const std::vector<ArchiveValue>& positional,
                                   const Named& named) const {
  SY_CHECK(positional.size() <= arguments_.size(), Value,
           "[{}] expected at most {} arguments, got {}", file_,
           arguments_.size(), positional.size());
  std::vector<const ArchiveValue*> given(arguments_.size());
  for (size_t i = 0; i < positional.size(); ++i) given[i] = &positional[i];
  for (const auto& [name, value] : named) {
    const auto at =
        std::find_if(arguments_.begin(), arguments_.end(),
                     [&n = name](const Argument& a) { return a.name == n; });
    if (at == arguments_.end()) {
      NearestName nearest(name);
      for (const Argument& a : arguments_) nearest.consider(a.name);
      fail(ErrorKind::Value, "[{}] no argument '{}'{}", file_, name,
           nearest.question());
    }
    const auto i = static_cast<size_t>(at - arguments_.begin());
    SY_CHECK(given[i] == nullptr, Value, "[{}] {}: expected it once, got two",
             file_, name);
    given[i] = &value;
  }
  std::vector<const ArchiveValue*> leaves;
  leaves.reserve(leaves_.size());
  for (size_t i = 0; i < arguments_.size(); ++i) {
    if (given[i] != nullptr) {
      take(arguments_[i], *given[i], &leaves);
    } else {
      missing(arguments_[i]);
      leaves.insert(leaves.end(), arguments_[i].count, nullptr);
    }
  }
  return convert(leaves);
}

std::vector<Value> Inputs::of_leaves(
    const std::vector<ArchiveValue>& values) const {
  std::vector<const ArchiveValue*> leaves;
  size_t at = 0;
  for (const Leaf& leaf : leaves_) {
    const bool given = !leaf.is_fixed && at < values.size();
    SY_CHECK(given || leaf.is_fixed, Value,
             "[{}] {}: expected {}, got {} inputs", file_, leaf.path,
             text(leaf), values.size());
    leaves.push_back(given ? &values[at++] : nullptr);
  }
  SY_CHECK(at == values.size(), Value, "[{}] expected {} inputs, got {}", file_,
           at, values.size());
  return convert(leaves);
}

std::vector<Value> Inputs::convert(
    const std::vector<const ArchiveValue*>& leaves) const {
  Symbols symbols;
  std::vector<Value> out(leaves_.size());
  for (size_t i = 0; i < leaves_.size(); ++i) {
    if (leaves[i] == nullptr) continue;
    out[i] = convert(leaves_[i], *leaves[i]);
    if (leaves_[i].is_tensor) {
      check_tensor(leaves_[i], out[i].to_tensor(), &symbols);
    }
  }
  for (size_t i = 0; i < leaves_.size(); ++i) {
    if (leaves_[i].is_tensor) {
      check_formulas(leaves_[i], out[i].to_tensor(), symbols);
    }
  }
  return out;
}

void Inputs::take(const Argument& a, const ArchiveValue& v,
                  std::vector<const ArchiveValue*>* leaves) const {
  take(a.tree, v, a.name, leaves);
}

void Inputs::take(const TreeSpec& tree, const ArchiveValue& v,
                  const std::string& path,
                  std::vector<const ArchiveValue*>* leaves) const {
  const size_t n = tree.children.size();
  switch (tree.kind) {
    case TreeSpec::Kind::Leaf: leaves->push_back(&v); return;
    case TreeSpec::Kind::None:
      SY_CHECK(v.is_none(), Value, "[{}] {}: expected None, got {}", file_,
               path, text_of(v));
      return;
    case TreeSpec::Kind::Dict:
      SY_CHECK(v.is_dict(), Value, "[{}] {}: expected a dict, got {}", file_,
               path, text_of(v));
      SY_CHECK(v.entries().size() == n, Value,
               "[{}] {}: expected a dict of {} entries, got {}", file_, path, n,
               v.entries().size());
      for (size_t i = 0; i < n; ++i) {
        const ArchiveValue* const item = v.find(tree.keys[i]);
        SY_CHECK(item != nullptr, Value, "[{}] {}: expected an entry '{}'",
                 file_, path, tree.keys[i]);
        take(tree.children[i], *item, path + "." + tree.keys[i], leaves);
      }
      return;
    case TreeSpec::Kind::Tuple:
    case TreeSpec::Kind::List: break;
  }
  const bool is_list =
      v.kind() == ValueKind::List || v.kind() == ValueKind::Tuple;
  SY_CHECK(is_list, Value, "[{}] {}: expected a list, got {}", file_, path,
           text_of(v));
  SY_CHECK(v.items().size() == n, Value,
           "[{}] {}: expected a list of {}, got one of {}", file_, path, n,
           v.items().size());
  for (size_t i = 0; i < n; ++i) {
    take(tree.children[i], v.items()[i], str("{}[{}]", path, i), leaves);
  }
}

void Inputs::missing(const Argument& a) const {
  for (size_t i = a.first; i < a.first + a.count; ++i) {
    SY_CHECK(leaves_[i].is_fixed, Value, "[{}] {}: expected {}, got nothing",
             file_, leaves_[i].path, text(leaves_[i]));
  }
}

void Inputs::refuse(const Leaf& leaf, const std::string& what) const {
  fail(ErrorKind::Value, "[{}] {}: expected {}, got {}", file_, leaf.path,
       text(leaf), what);
}

Value Inputs::convert(const Leaf& leaf, const ArchiveValue& v) const {
  if (leaf.is_fixed) {
    if (!is_equal(leaf.value, v)) refuse(leaf, text_of(v));
    return {};
  }
  if (leaf.is_tensor) {
    if (!v.is_tensor()) refuse(leaf, text_of(v));
    return Value(TensorBase(v.to_tensor()));
  }
  switch (v.kind()) {
    case ValueKind::Bool: return v.to_bool();
    case ValueKind::Int: return v.to_int();
    case ValueKind::Float: return v.to_double();
    default: refuse(leaf, text_of(v));
  }
}

// Sizes that are numbers or symbols: a symbol has the value that it has first.
void Inputs::check_tensor(const Leaf& leaf, const TensorBase& t,
                          Symbols* symbols) const {
  const TensorText& expected = leaf.tensor;
  const auto refuse_it = [&](const std::string& more) {
    refuse(leaf, to_string(Value::borrowed(t)) + more);
  };
  if (t.scalar_type() != expected.dtype ||
      t.sizes().size() != expected.sizes.size()) {
    refuse_it("");
  }
  for (size_t d = 0; d < expected.sizes.size(); ++d) {
    const int64_t size = t.sizes()[d];
    if (const auto fixed = expected.sizes[d].constant()) {
      if (*fixed != size) refuse_it(str(": dim {}", d));
      continue;
    }
    const std::string* const symbol = expected.sizes[d].symbol();
    if (symbol == nullptr) continue;
    const auto [at, added] = symbols->emplace(*symbol, size);
    if (at->second != size) {
      refuse_it(str(": dim {}, where {} is {}", d, *symbol, at->second));
    }
    const auto r = ranges_.find(*symbol);
    if (!added || r == ranges_.end()) continue;
    const bool low =
        r->second.min && *r->second.min > kNoConstant && size < *r->second.min;
    if (low || (r->second.max && size > *r->second.max)) {
      refuse_it(str(": dim {}", d));
    }
  }
}

void Inputs::check_formulas(const Leaf& leaf, const TensorBase& t,
                            const Symbols& symbols) const {
  if (!t.defined()) return;
  for (size_t d = 0; d < leaf.tensor.sizes.size(); ++d) {
    const SizeExpression& size = leaf.tensor.sizes[d];
    if (size.constant() || size.symbol() != nullptr) continue;
    const auto value =
        size.value([&](const std::string& name) -> std::optional<int64_t> {
          const auto found = symbols.find(name);
          if (found == symbols.end()) return {};
          return found->second;
        });
    if (value && *value != t.sizes()[d]) {
      refuse(leaf, str("{}: dim {}, where {} is {}",
                       to_string(Value::borrowed(t)), d, size.text(), *value));
    }
  }
}

std::string Inputs::text(const Leaf& leaf) const {
  if (leaf.is_fixed) return text_of(leaf.value);
  if (!leaf.is_tensor) return "a number";
  std::string sizes, ranges;
  std::vector<std::string> told;
  for (const SizeExpression& s : leaf.tensor.sizes) {
    sizes += (sizes.empty() ? "" : ", ") + s.text();
    const std::string* const symbol = s.symbol();
    if (symbol == nullptr ||
        std::count(told.begin(), told.end(), *symbol) != 0) {
      continue;
    }
    told.push_back(*symbol);
    const auto r = ranges_.find(*symbol);
    if (r == ranges_.end()) continue;
    const std::string range = range_text(*symbol, r->second);
    if (!range.empty()) ranges += ", " + range;
  }
  const std::string dtype = leaf.tensor.dtype == ScalarType::Undefined
                                ? leaf.tensor.dtype_name
                                : std::string(to_string(leaf.tensor.dtype));
  return str("{}[{}]{}", dtype, sizes, ranges);
}

std::vector<std::string> Inputs::describe() const {
  std::vector<std::string> out;
  for (const Leaf& leaf : leaves_) out.push_back(leaf.path + ": " + text(leaf));
  return out;
}

ProgramText::Range Inputs::range(const std::string& symbol) const {
  const auto found = ranges_.find(symbol);
  return found == ranges_.end() ? ProgramText::Range() : found->second;
}

namespace {

ArchiveValue leaf_value(const Value& v) {
  if (v.is_tensor()) {
    return ArchiveValue(static_cast<const Tensor&>(v.to_tensor()));
  }
  switch (v.tag()) {
    case Value::Tag::Bool: return v.to_bool();
    case Value::Tag::Int: return v.to_int();
    case Value::Tag::Double: return v.to_double();
    case Value::Tag::String: return std::string(v.to_string_view());
    default: return {};
  }
}

ArchiveValue unflatten(const TreeSpec& tree, const std::vector<Value>& leaves,
                       size_t* at) {
  if (tree.kind == TreeSpec::Kind::Leaf) return leaf_value(leaves[(*at)++]);
  if (tree.kind == TreeSpec::Kind::None) return {};
  std::vector<ArchiveValue> items;
  for (const TreeSpec& child : tree.children) {
    items.push_back(unflatten(child, leaves, at));
  }
  if (tree.kind == TreeSpec::Kind::List) {
    return ArchiveValue::list(std::move(items));
  }
  if (tree.kind == TreeSpec::Kind::Tuple) {
    return ArchiveValue::tuple(std::move(items));
  }
  std::vector<ArchiveEntry> entries;
  for (size_t i = 0; i < items.size(); ++i) {
    entries.push_back({ArchiveValue(tree.keys[i]), std::move(items[i])});
  }
  return ArchiveValue::dict(std::move(entries));
}

}  // namespace

ArchiveValue unflatten(const TreeSpec& tree, const std::vector<Value>& leaves) {
  size_t at = 0;
  return unflatten(tree, leaves, &at);
}

}  // namespace sy::exporting
