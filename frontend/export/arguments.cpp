#include "frontend/export/arguments.h"

#include <algorithm>
#include <memory>

#include "aten/scalar_tensor.h"
#include "c10/process/error.h"
#include "frontend/io/format/file_view.h"

namespace sy::exporting {

namespace {

using Kind = ArgumentText::Kind;

[[noreturn]] void wrong(std::string_view expected, const ArgumentText& text) {
  if (text.kind == Kind::Other) {
    fail(ErrorKind::Type, "{} is not supported", text.text);
  }
  fail(ErrorKind::Type, "expected {}, got {}", expected, kind_name(text.kind));
}

int32_t slot_of(const ArgumentText& text, Slots& slots) {
  const int32_t slot = slots.find(text.text);
  SY_CHECK(slot != Source::kConstant, Value,
           "expected a value that an input or a node before gives, got {}",
           io::in_quotes(text.text));
  return slot;
}

Value enumeration(const ArgumentText& text, TypeKind type) {
  switch (type) {
    case TypeKind::kScalarType:
      if (text.kind == Kind::ScalarType) return text.scalar_type();
      break;
    case TypeKind::kLayout:
      if (text.kind == Kind::Layout) return static_cast<Layout>(text.integer);
      break;
    case TypeKind::kMemoryFormat:
      if (text.kind == Kind::MemoryFormat) {
        return static_cast<MemoryFormat>(text.integer);
      }
      break;
    case TypeKind::kDevice:
      if (text.kind == Kind::Device) return Device(text.text);
      break;
    case TypeKind::kStr:
      if (text.kind == Kind::String) return std::string_view(text.text);
      break;
    default: break;
  }
  wrong(Type(type).str(), text);
}

Value tensor_of(const Scalar& number) {
  return Value(TensorBase(wrapped_scalar_tensor(number)));
}

// A constant of a type that is neither a list nor optional.
Value constant_of(const ArgumentText& text, Type type) {
  switch (type.kind()) {
    case TypeKind::kInt:
    case TypeKind::kSymInt:
      if (text.kind == Kind::Int || text.kind == Kind::Bool ||
          text.kind == Kind::ScalarType) {
        return text.integer;
      }
      break;
    case TypeKind::kFloat:
    case TypeKind::kSymFloat:
      if (text.kind == Kind::Float) return text.real;
      if (text.kind == Kind::Int) return static_cast<double>(text.integer);
      break;
    case TypeKind::kBool:
    case TypeKind::kSymBool:
      if (text.kind == Kind::Bool) return text.integer != 0;
      break;
    case TypeKind::kScalar:
      if (text.kind == Kind::Float) return text.real;
      if (text.kind == Kind::Int) return text.integer;
      if (text.kind == Kind::Bool) return text.integer != 0;
      break;
    case TypeKind::kTensor:
      // A number where a tensor is wanted takes no part in the dtype.
      if (text.kind == Kind::Float) return tensor_of(text.real);
      if (text.kind == Kind::Int) return tensor_of(text.integer);
      if (text.kind == Kind::Bool) return tensor_of(text.integer != 0);
      break;
    default: return enumeration(text, type.kind());
  }
  wrong(type.str(), text);
}

Source source_of(const ArgumentText& text, Type type, Slots& slots) {
  if (text.kind == Kind::None) return {};
  if (text.kind == Kind::Name) return {slot_of(text, slots), {}};
  return {Source::kConstant, constant_of(text, type.without_optional())};
}

std::optional<ListPlan::Kind> list_kind(Type element) {
  switch (element.kind()) {
    case TypeKind::kTensor: return ListPlan::Kind::Tensors;
    case TypeKind::kOptional:
      if (element.element() == TypeKind::kTensor) {
        return ListPlan::Kind::OptionalTensors;
      }
      return {};
    case TypeKind::kInt:
    case TypeKind::kSymInt: return ListPlan::Kind::Ints;
    case TypeKind::kFloat:
    case TypeKind::kSymFloat: return ListPlan::Kind::Doubles;
    case TypeKind::kBool:
    case TypeKind::kSymBool: return ListPlan::Kind::Bools;
    case TypeKind::kScalar: return ListPlan::Kind::Scalars;
    default: return {};
  }
}

Value strings(const ArgumentText& text) {
  std::vector<std::string_view> list;
  for (const ArgumentText& item : text.items) {
    if (item.kind != Kind::String) wrong("str", item);
    list.push_back(item.text);
  }
  return Value::string_list(list.data(), list.size());
}

ListPlan list_of(const ArgumentText& text, Type type, Slots& slots) {
  const auto kind = list_kind(type.element());
  if (!kind) wrong(type.str(), text);
  ListPlan list{*kind, {}};
  if (text.kind != Kind::List) {
    // One number for a list of them.
    list.items.push_back(source_of(text, type.element(), slots));
    return list;
  }
  for (const ArgumentText& item : text.items) {
    list.items.push_back(source_of(item, type.element(), slots));
  }
  return list;
}

}  // namespace

Value make_list(ListPlan::Kind kind, const Value* items, size_t n) {
  switch (kind) {
    case ListPlan::Kind::Tensors:
    case ListPlan::Kind::OptionalTensors: {
      std::vector<TensorBase> list;
      list.reserve(n);
      for (size_t i = 0; i < n; ++i) list.push_back(items[i].to_tensor());
      return kind == ListPlan::Kind::Tensors
                 ? Value::tensor_list(list.data(), n)
                 : Value::optional_tensor_list(list.data(), n);
    }
    case ListPlan::Kind::Ints: {
      std::vector<int64_t> list;
      list.reserve(n);
      for (size_t i = 0; i < n; ++i) list.push_back(items[i].to_int());
      return IntArrayRef(list);
    }
    case ListPlan::Kind::Doubles: {
      std::vector<double> list;
      for (size_t i = 0; i < n; ++i) list.push_back(items[i].to_double());
      return ArrayRef<double>(list);
    }
    case ListPlan::Kind::Bools: {
      const auto list = std::make_unique<bool[]>(n);
      for (size_t i = 0; i < n; ++i) list[i] = items[i].to_bool();
      return ArrayRef<bool>(list.get(), n);
    }
    case ListPlan::Kind::Scalars: {
      std::vector<Scalar> list;
      for (size_t i = 0; i < n; ++i) list.push_back(items[i].to_scalar());
      return ArrayRef<Scalar>(list);
    }
  }
  return {};
}

ArgumentPlan plan_argument(const ArgumentText& text, Type type, Slots& slots) {
  const Type t = type.without_optional();
  if (!t.is_list() || text.kind == Kind::None || text.kind == Kind::Name) {
    return {source_of(text, t, slots), {}};
  }
  if (t.element() == TypeKind::kStr) {
    return {{Source::kConstant, strings(text)}, {}};
  }
  ListPlan list = list_of(text, t, slots);
  const bool fixed =
      std::all_of(list.items.begin(), list.items.end(),
                  [](const Source& s) { return s.slot == Source::kConstant; });
  if (!fixed) return {{}, std::move(list)};
  std::vector<Value> items;
  for (const Source& s : list.items) items.push_back(s.constant);
  return {{Source::kConstant, make_list(list.kind, items.data(), items.size())},
          {}};
}

Source plan_source(const ArgumentText& text, Slots& slots) {
  switch (text.kind) {
    case Kind::None: return {};
    case Kind::Name: return {slot_of(text, slots), {}};
    case Kind::Bool: return {Source::kConstant, text.integer != 0};
    case Kind::Int: return {Source::kConstant, text.integer};
    case Kind::Float: return {Source::kConstant, text.real};
    case Kind::String: return {Source::kConstant, std::string_view(text.text)};
    default: wrong("a tensor or a number", text);
  }
}

const char* kind_name(Kind kind) {
  switch (kind) {
    case Kind::None: return "None";
    case Kind::Name: return "a value";
    case Kind::Bool: return "a bool";
    case Kind::Int: return "an int";
    case Kind::Float: return "a float";
    case Kind::String: return "a string";
    case Kind::ScalarType: return "a dtype";
    case Kind::Layout: return "a layout";
    case Kind::MemoryFormat: return "a memory format";
    case Kind::Device: return "a device";
    case Kind::List: return "a list";
    case Kind::Graph: return "a graph";
    case Kind::Other: return "another kind";
  }
  return "";
}

}  // namespace sy::exporting
