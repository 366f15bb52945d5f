#include "tools/sy/cases/values.h"

#include <limits>

#include "c10/process/error.h"
#include "tools/sy/cases/compare.h"
#include "tools/sy/cases/tensors.h"

namespace sy::tools {

namespace {

[[noreturn]] void misfit(const std::string& name, Type type, const Json& v) {
  fail(ErrorKind::Value, "{}: expected {}, got {}", name, type.str(), dump(v));
}

// The text of an object with the one field `key`.
std::optional<std::string> named(const Json& v, const char* key) {
  if (!v.is_object() || v.size() != 1 || !v.contains(key)) return std::nullopt;
  if (!v[key].is_string()) return std::nullopt;
  return v[key].get<std::string>();
}

std::optional<MemoryFormat> memory_format_of(const Json& v) {
  static constexpr const char* kNames[] = {"contiguous", "preserve",
                                           "channels_last", "channels_last_3d"};
  const auto name = named(v, "memory_format");
  for (int i = 0; i < 4; ++i) {
    if (name ? *name == kNames[i] : v == i) return static_cast<MemoryFormat>(i);
  }
  return std::nullopt;
}

std::optional<ScalarType> scalar_type_of(const Json& v) {
  if (const auto name = named(v, "dtype")) return parse_scalar_type(*name);
  return dtype_of_number(v);
}

// PyTorch takes a tensor of one element for a number.
std::optional<Json> number_in(const TensorBase& t) {
  if (!is_floating_type(t.dtype()) || t.numel() != 1) return std::nullopt;
  const HostTensor h = read_tensor(t);
  return Json{{"float", element_value(h, h.offset)}};
}

std::optional<Scalar> scalar_of(const Json& v) {
  if (v.is_boolean()) return Scalar(v.get<bool>());
  if (v.is_number_integer()) return Scalar(v.get<int64_t>());
  if (const auto f = float_of(v)) return Scalar(*f);
  return std::nullopt;
}

Value base_value(const Json& v, Type type, const std::string& name,
                 const ValueContext& context) {
  if (is_tensor(v) && type != TypeKind::kTensor) {
    const auto number = number_in(context.tensor(v, name));
    if (!number) misfit(name, type, v);
    return base_value(*number, type, name, context);
  }
  switch (type.kind()) {
    case TypeKind::kTensor:
      if (v.is_null()) return Value();
      if (is_tensor(v)) return Value(context.tensor(v, name));
      break;
    case TypeKind::kScalar:
      if (const auto s = scalar_of(v)) return Value(*s);
      break;
    case TypeKind::kInt:
    case TypeKind::kSymInt:
      if (v.is_number_integer()) return Value(v.get<int64_t>());
      break;
    case TypeKind::kFloat:
    case TypeKind::kSymFloat:
      if (const auto f = float_of(v)) return Value(*f);
      if (v.is_number_integer()) return Value(v.get<double>());
      break;
    case TypeKind::kBool:
    case TypeKind::kSymBool:
      if (v.is_boolean()) return Value(v.get<bool>());
      break;
    case TypeKind::kStr:
      if (v.is_string())
        return Value(std::string_view(v.get_ref<const std::string&>()));
      break;
    case TypeKind::kScalarType:
      if (const auto t = scalar_type_of(v)) return Value(*t);
      break;
    case TypeKind::kLayout:
      if (named(v, "layout") == "strided") return Value(kStrided);
      break;
    case TypeKind::kDevice:
      // Cases record a device both ways.
      if (named(v, "device") || v.is_string()) return Value(context.device);
      break;
    case TypeKind::kMemoryFormat:
      if (const auto f = memory_format_of(v)) return Value(*f);
      break;
    default: break;
  }
  misfit(name, type, v);
}

std::string element_name(const std::string& name, size_t i) {
  return str("{}.{}", name, i);
}

// The elements of a list VALUE; a single number fills a list of fixed size.
std::vector<Json> items(const Json& v, Type type, const std::string& name) {
  if (v.is_array()) return v.get<std::vector<Json>>();
  const bool number = v.is_number() || v.is_boolean() || float_of(v);
  if (!number || type.size() == 0) misfit(name, type, v);
  return std::vector<Json>(static_cast<size_t>(type.size()), v);
}

template <class T, class F>
Value list_of(const std::vector<Json>& list, const F& element) {
  auto out = std::make_unique<T[]>(list.size());
  for (size_t i = 0; i < list.size(); ++i) out[i] = element(i);
  return Value(ArrayRef<T>(out.get(), list.size()));
}

Value list_value(const Json& v, Type type, const std::string& name,
                 const ValueContext& context) {
  const std::vector<Json> list = items(v, type, name);
  const Type element = type.element();
  const auto boxed = [&](size_t i) {
    return value_of(list[i], element, element_name(name, i), context);
  };
  if (type.is_tensor_like()) {
    std::vector<TensorBase> tensors;
    for (size_t i = 0; i < list.size(); ++i) {
      tensors.push_back(boxed(i).to_tensor());
    }
    return element.is_optional()
               ? Value::optional_tensor_list(tensors.data(), tensors.size())
               : Value::tensor_list(tensors.data(), tensors.size());
  }
  switch (element.kind()) {
    case TypeKind::kInt:
    case TypeKind::kSymInt:
      return list_of<int64_t>(list,
                              [&](size_t i) { return boxed(i).to_int(); });
    case TypeKind::kFloat:
      return list_of<double>(list,
                             [&](size_t i) { return boxed(i).to_double(); });
    case TypeKind::kBool:
      return list_of<bool>(list, [&](size_t i) { return boxed(i).to_bool(); });
    case TypeKind::kScalar:
      return list_of<Scalar>(list,
                             [&](size_t i) { return boxed(i).to_scalar(); });
    case TypeKind::kStr: {
      std::vector<std::string> texts;
      for (const Json& e : list) {
        if (!e.is_string()) misfit(name, type, v);
        texts.push_back(e);
      }
      const std::vector<std::string_view> views(texts.begin(), texts.end());
      return Value::string_list(views.data(), views.size());
    }
    default: misfit(name, type, v);
  }
}

Json identifier_default(std::string_view text, Type type) {
  if (type == TypeKind::kMemoryFormat) {
    return {{"memory_format", text.substr(0, text.rfind("_format"))}};
  }
  if (type == TypeKind::kScalarType) return {{"dtype", text}};
  if (type == TypeKind::kLayout) return {{"layout", text}};
  if (type == TypeKind::kDevice) return {{"device", text}};
  if (type == TypeKind::kInt) {  // how losses are reduced
    if (text == "None") return 0;
    if (text == "Mean") return 1;
    if (text == "Sum") return 2;
  }
  return {{"identifier", text}};  // fits no type
}

Json default_json(DefaultValue d, Type type) {
  switch (d.kind()) {
    case DefaultValue::Kind::kNone: return nullptr;
    case DefaultValue::Kind::kBool: return d.as_bool();
    case DefaultValue::Kind::kInt: return d.as_int();
    case DefaultValue::Kind::kString: return d.as_string();
    case DefaultValue::Kind::kDouble: {
      const double v = d.as_double();
      if (v != v) return {{"float", "nan"}};
      if (v - v != 0) return {{"float", v < 0 ? "-inf" : "inf"}};
      return {{"float", v}};
    }
    case DefaultValue::Kind::kIdentifier:
      return identifier_default(d.as_string(), type);
    case DefaultValue::Kind::kList: {
      Json list = Json::array();
      for (DefaultValue e : d.items()) {
        list.push_back(default_json(e, type.is_list() ? type.element() : type));
      }
      return list;
    }
  }
  return nullptr;
}

}  // namespace

std::optional<double> float_of(const Json& v) {
  if (v.is_number_float()) return v.get<double>();
  if (!v.is_object() || v.size() != 1 || !v.contains("float")) {
    return std::nullopt;
  }
  const Json& f = v["float"];
  if (f.is_number()) return f.get<double>();
  if (f == "inf") return std::numeric_limits<double>::infinity();
  if (f == "-inf") return -std::numeric_limits<double>::infinity();
  if (f == "nan") return std::numeric_limits<double>::quiet_NaN();
  return std::nullopt;
}

std::optional<ScalarType> dtype_of_number(const Json& v) {
  static constexpr std::pair<int, ScalarType> kNumbers[] = {
      {0, kByte}, {1, kChar},  {2, kShort},  {3, kInt},   {4, kLong},
      {5, kHalf}, {6, kFloat}, {7, kDouble}, {11, kBool}, {15, kBFloat16}};
  for (const auto& [number, dtype] : kNumbers) {
    if (v.is_number_integer() && v == number) return dtype;
  }
  return std::nullopt;
}

Value value_of(const Json& v, Type type, const std::string& name,
               const ValueContext& context) {
  if (type.is_optional()) {
    return v.is_null() ? Value() : value_of(v, type.element(), name, context);
  }
  return type.is_list() ? list_value(v, type, name, context)
                        : base_value(v, type, name, context);
}

Json default_of(const Argument& argument) {
  SY_CHECK(argument.default_value, Value,
           "argument {} is not given and has no default", argument.name.view());
  return default_json(argument.default_value, argument.type.without_optional());
}

std::vector<Value> elements_of(const Value& list) {
  std::vector<Value> out;
  switch (list.tag()) {
    case Value::Tag::IntList:
      for (int64_t v : list.to_int_list()) out.emplace_back(v);
      break;
    case Value::Tag::DoubleList:
      for (double v : list.to_double_list()) out.emplace_back(v);
      break;
    case Value::Tag::BoolList:
      for (bool v : list.to_bool_list()) out.emplace_back(v);
      break;
    case Value::Tag::ScalarList:
      for (const Scalar& v : list.to_scalar_list()) out.emplace_back(v);
      break;
    default: fail(ErrorKind::Type, "expected a list, got {}", to_string(list));
  }
  return out;
}

}  // namespace sy::tools
