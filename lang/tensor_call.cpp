#include <algorithm>
#include <utility>

#include "lang/format.h"
#include "lang/tensor_value.h"

namespace sy::lang::detail {
namespace {

bool is_int(Type t) { return t == TypeKind::kInt || t == TypeKind::kSymInt; }
bool is_float(Type t) {
  return t == TypeKind::kFloat || t == TypeKind::kSymFloat;
}
bool is_bool(Type t) { return t == TypeKind::kBool || t == TypeKind::kSymBool; }

// Type equality where int and SymInt are one.
bool same(Type a, Type b) {
  if (a == b || (is_int(a) && is_int(b)) || (is_float(a) && is_float(b)) ||
      (is_bool(a) && is_bool(b))) {
    return true;
  }
  if (a.is_list() && b.is_list()) return same(a.element(), b.element());
  if (a.is_optional() && b.is_optional()) {
    return same(a.element(), b.element());
  }
  return false;
}

// "IntArrayRef" for int[], and so on.
std::string list_type(Type element) {
  if (is_int(element)) return "IntArrayRef";
  if (element == TypeKind::kTensor) return "TensorList";
  if (is_float(element)) return "ArrayRef<double>";
  if (is_bool(element)) return "ArrayRef<bool>";
  if (element == TypeKind::kScalar) return "ArrayRef<Scalar>";
  return "ArrayRef<std::optional<Tensor>>";
}

std::optional<Conversion> convert_list(const Value& v, Type to) {
  std::string text = list_type(to.element()) + "({";
  int cost = 1;
  PlanNode plan{PlanKind::kList};
  plan.type = to.element();
  for (std::size_t i = 0; i < v.items.size(); ++i) {
    const auto item = convert(v.items[i], to.element());
    if (!item) return std::nullopt;
    text += (i ? ", " : "") + item->text;
    cost += item->cost;
    plan.children.push_back(item->plan);
  }
  text = v.items.empty() ? list_type(to.element()) + "()" : text + "})";
  return Conversion{text, cost, make_plan(std::move(plan))};
}

std::optional<Conversion> convert_number(const Value& v, Type to) {
  const Type from = v.types[0];
  if (to == TypeKind::kScalar && (is_int(from) || is_float(from))) {
    return Conversion{v.cpp.text, 1, v.plan};
  }
  if (to == TypeKind::kScalar && is_bool(from)) {
    return Conversion{v.cpp.text, 2, v.plan};
  }
  if (is_float(to) && is_int(from)) {
    return Conversion{v.cpp.text, 1, plan_double(v.plan)};
  }
  if (is_float(to) && from == TypeKind::kScalar) {
    return Conversion{v.cpp.in(Cpp::kPrimary) + ".to_double()", 2,
                      plan_double(v.plan)};
  }
  // One dim counts as a list where a list of them is expected.
  if (to.is_list() && is_int(to.element()) && is_int(from)) {
    PlanNode list{PlanKind::kList, {}, {v.plan}};
    list.type = to.element();
    return Conversion{fmt::format("IntArrayRef({{{}}})", v.cpp.text), 3,
                      make_plan(std::move(list))};
  }
  return std::nullopt;
}

constexpr std::size_t kOptionParts = 4;

// One overload with the arguments put to their parameters.
class Binding {
 public:
  Binding(const FunctionSchema& schema,
          const std::vector<CallArgument>& arguments)
      : schema_(schema),
        given_(schema.arguments().size()),
        plans_(schema.arguments().size()),
        group_(options_index(schema)) {
    for (const CallArgument& a : arguments) {
      if (!bind(a)) return;
    }
    for (std::size_t i = 0; i < given_.size(); ++i) {
      if (!given_[i] && !(options_ && in_group(i)) &&
          !schema.arguments()[i].default_value) {
        error_ =
            fmt::format("argument '{}' is missing", schema.arguments()[i].name);
        return;
      }
    }
  }

  bool ok() const { return error_.empty(); }
  const std::string& error() const { return error_; }
  int cost() const { return cost_; }

  Plan plan() const {
    PlanNode node{PlanKind::kOperator, {}, plans_};
    node.schema = &schema_;
    return make_plan(std::move(node));
  }

  std::string text() const {
    std::size_t last = given_.size();
    while (last > 0 && !given_[last - 1] && !(options_ && in_group(last - 1))) {
      --last;
    }
    std::string out;
    for (std::size_t i = 0; i < last; ++i) {
      if (in_group(i) && static_cast<int>(i) != group_) continue;
      if (!out.empty()) out += ", ";
      out += in_group(i) ? options_text() : argument_text(i);
    }
    return out;
  }

 private:
  template <class... Args>
  bool fail(fmt::format_string<const Args&...> format, const Args&... args) {
    error_ = fmt::format(format, args...);
    return false;
  }

  bool bind(const CallArgument& a) {
    if (a.value.kind == Value::Kind::kOptions) return bind_options(a);
    int index;
    if (a.keyword.empty()) {
      index = next_++;
      if (index >= static_cast<int>(schema_.num_positional())) {
        return fail("too many positional arguments");
      }
    } else {
      index = schema_.argument_index(a.keyword);
      if (index < 0) return fail("no argument '{}'", a.keyword);
    }
    const auto i = static_cast<std::size_t>(index);
    const Argument& parameter = schema_.arguments()[i];
    if (given_[i]) {
      return fail("argument '{}' is given twice", parameter.name);
    }
    const auto converted = convert(a.value, parameter.type);
    if (!converted) {
      return fail("argument '{}' is {}, got {}", parameter.name,
                  parameter.type.str(), describe(a.value));
    }
    given_[i] = converted->text;
    plans_[i] = converted->plan;
    if (a.value.is(TypeKind::kScalarType)) plain_dtype_ = index;
    // A plain number would rather become the bool of another overload.
    if (parameter.type.is_optional() &&
        parameter.type.element() == TypeKind::kScalar && a.value.is_number() &&
        !a.value.is(TypeKind::kScalar)) {
      given_[i] = fmt::format("Scalar({})", converted->text);
    }
    cost_ += converted->cost;
    return true;
  }

  // dtype, layout, device and pin_memory at once; any of them may be given by
  // its name besides, and counts.
  bool bind_options(const CallArgument& a) {
    if (group_ < 0) return fail("it takes no options");
    if (options_) return fail("the options are given twice");
    options_ = a.value.cpp.text;
    for (std::size_t i = 0; i < given_.size(); ++i) {
      if (!in_group(i) || given_[i]) continue;
      plans_[i] = plan_of(PlanKind::kOptions, {a.value.plan},
                          std::string(schema_.arguments()[i].name.view()));
    }
    return true;
  }

  bool in_group(std::size_t i) const {
    const auto first = static_cast<std::size_t>(group_);
    return group_ >= 0 && i >= first && i < first + kOptionParts;
  }

  std::string argument_text(std::size_t i) const {
    const Argument& a = schema_.arguments()[i];
    return given_[i] ? *given_[i] : cpp_default(a.default_value, a.type);
  }

  // The four of the group as one TensorOptions.
  std::string options_text() const {
    constexpr std::string_view kSetters[kOptionParts] = {
        "dtype", "layout", "device", "pinned_memory"};
    const auto first = static_cast<std::size_t>(group_);
    std::string setters;
    for (std::size_t k = 0; k < kOptionParts; ++k) {
      const DefaultValue standard =
          schema_.arguments()[first + k].default_value;
      const bool is_set =
          given_[first + k] || (!options_ && standard && !standard.is_none());
      if (!is_set) continue;
      append(setters, ".{}({})", kSetters[k], argument_text(first + k));
    }
    const bool only_dtype =
        setters == fmt::format(".dtype({})", argument_text(first)) &&
        (!given_[first] || plain_dtype_ == group_);
    if (!options_ && only_dtype) return argument_text(first);
    return options_.value_or("TensorOptions()") + setters;
  }

  const FunctionSchema& schema_;
  // The C++ of each parameter that has a value.
  std::vector<std::optional<std::string>> given_;
  std::vector<Plan> plans_;
  // The first position of the four that C++ takes as one TensorOptions, or -1,
  // and the C++ of one that was given for all of them.
  const int group_;
  std::optional<std::string> options_;
  int plain_dtype_ = -1;  // the parameter that is given a ScalarType
  int next_ = 0;
  int cost_ = 0;
  std::string error_;
};

}  // namespace

bool Value::is(TypeKind k) const {
  return kind == Kind::kTyped && same(types[0], Type(k));
}
bool Value::is_tensor() const {
  return kind == Kind::kTyped &&
         types[0].without_optional() == TypeKind::kTensor;
}
bool Value::is_number() const {
  return kind == Kind::kTyped &&
         (is_int(types[0]) || is_float(types[0]) || is_bool(types[0]) ||
          types[0] == TypeKind::kScalar);
}

std::string describe(const Value& v) {
  switch (v.kind) {
    case Value::Kind::kTyped: return std::string(v.types[0].str());
    case Value::Kind::kNone: return "None";
    case Value::Kind::kOptions: return "TensorOptions";
    case Value::Kind::kList: {
      std::string out = "[";
      for (std::size_t i = 0; i < v.items.size(); ++i) {
        out += (i ? ", " : "") + describe(v.items[i]);
      }
      return out + "]";
    }
    case Value::Kind::kTuple: break;
  }
  std::string out = "(";
  for (std::size_t i = 0; i < v.types.size(); ++i) {
    out += (i ? ", " : "") + std::string(v.types[i].str());
  }
  return out + ")";
}

std::optional<Conversion> convert(const Value& v, Type to) {
  switch (v.kind) {
    case Value::Kind::kNone:
      if (!to.is_optional()) return std::nullopt;
      return Conversion{"std::nullopt", 0, v.plan};
    case Value::Kind::kList:
      if (to.is_optional()) return convert(v, to.element());
      if (!to.is_list()) return std::nullopt;
      return convert_list(v, to);
    case Value::Kind::kTuple:
    case Value::Kind::kOptions: return std::nullopt;
    case Value::Kind::kTyped: break;
  }
  const Type from = v.types[0];
  if (same(from, to)) return Conversion{v.cpp.text, 0, v.plan};
  if (to.is_optional()) {
    auto inner = convert(v, to.element());
    if (inner) ++inner->cost;
    if (inner && v.optional_plan) {
      inner->text = v.optional_cpp;
      inner->plan = v.optional_plan;
    }
    // A plain number would be taken for a bool by another overload.
    if (inner && to.element() == TypeKind::kScalar &&
        from != TypeKind::kScalar) {
      inner->text = fmt::format("Scalar({})", inner->text);
    }
    return inner;
  }
  if (from.is_optional()) {
    // The author has asked `x == None` before.
    Value present =
        Value::of(from.element(),
                  {fmt::format("(*{})", v.cpp.in(Cpp::kPrimary))}, v.plan);
    auto inner = convert(present, to);
    if (inner) ++inner->cost;
    return inner;
  }
  return convert_number(v, to);
}

std::string cpp_default(DefaultValue value, Type type) {
  switch (value.kind()) {
    case DefaultValue::Kind::kNone: return "std::nullopt";
    case DefaultValue::Kind::kBool: return value.as_bool() ? "true" : "false";
    case DefaultValue::Kind::kInt:
      if (type.without_optional().is_list()) {
        return fmt::format("IntArrayRef({{{}}})", cpp_int(value.as_int()));
      }
      return is_float(type) ? cpp_double(value.as_double())
                            : cpp_int(value.as_int());
    case DefaultValue::Kind::kDouble: return cpp_double(value.as_double());
    case DefaultValue::Kind::kString: return cpp_string(value.as_string());
    case DefaultValue::Kind::kList: {
      const Type list = type.without_optional();
      if (!list.is_list()) return "{}";
      std::string out = list_type(list.element()) + "({";
      for (std::size_t i = 0; i < value.items().size(); ++i) {
        out += (i ? ", " : "") + cpp_default(value.items()[i], list.element());
      }
      return value.items().empty() ? list_type(list.element()) + "()"
                                   : out + "})";
    }
    case DefaultValue::Kind::kIdentifier: break;
  }
  const std::string_view word = value.as_string();
  if (word == "contiguous_format") return "MemoryFormat::Contiguous";
  if (word == "preserve_format") return "MemoryFormat::Preserve";
  if (word == "Mean") return "1";
  if (word == "Sum") return "2";
  if (word == "long") return "kLong";
  if (word == "strided") return "kStrided";
  return cpp_dtype(word).empty() ? std::string(word) : cpp_dtype(word);
}

Resolution resolve(std::string_view name,
                   std::span<const FunctionSchema* const> overloads,
                   const std::vector<CallArgument>& arguments) {
  Resolution best;
  int best_cost = 0;
  std::string only_error;
  for (const FunctionSchema* s : overloads) {
    const Binding binding(*s, arguments);
    if (!binding.ok()) {
      only_error = binding.error();
      continue;
    }
    if (best.resolved && binding.cost() >= best_cost) continue;
    best.resolved = Resolved{s, binding.text(), binding.plan()};
    best_cost = binding.cost();
  }
  if (best.resolved) return best;
  if (overloads.size() == 1) {
    best.error = fmt::format("'{}': {}; it is {}", name, only_error,
                             to_string(*overloads[0]));
    return best;
  }
  best.error = fmt::format("no overload of '{}' takes (", name);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (i) best.error += ", ";
    if (!arguments[i].keyword.empty()) best.error += arguments[i].keyword + '=';
    best.error += describe(arguments[i].value);
  }
  best.error += "); there are ";
  for (std::size_t i = 0; i < overloads.size(); ++i) {
    best.error += (i ? " and " : "") + to_string(*overloads[i]);
  }
  return best;
}

}  // namespace sy::lang::detail
