#include "c10/dispatch/default_argument.h"

#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace sy {

namespace {

Value list_default(DefaultValue v, Type element) {
  const auto items = v.is(DefaultValue::Kind::kList)
                         ? v.items()
                         : std::span<const DefaultValue>(&v, 1);
  switch (element.kind()) {
    case TypeKind::kFloat:
    case TypeKind::kSymFloat: {
      std::vector<double> list;
      for (const DefaultValue& x : items) list.push_back(x.as_double());
      return ArrayRef<double>(list);
    }
    case TypeKind::kInt:
    case TypeKind::kSymInt: {
      std::vector<int64_t> list;
      for (const DefaultValue& x : items) list.push_back(x.as_int());
      return IntArrayRef(list);
    }
    case TypeKind::kTensor: return Value::tensor_list({});
    case TypeKind::kBool: {
      std::unique_ptr<bool[]> list(new bool[items.size()]);
      for (size_t i = 0; i < items.size(); ++i) list[i] = items[i].as_bool();
      return ArrayRef<bool>(list.get(), items.size());
    }
    default: return ArrayRef<Scalar>();
  }
}

Value identifier(std::string_view word) {
  if (word == "contiguous_format") return MemoryFormat::Contiguous;
  if (word == "preserve_format") return MemoryFormat::Preserve;
  if (word == "channels_last") return MemoryFormat::ChannelsLast;
  if (word == "Mean") return 1;
  if (word == "Sum") return 2;
  if (word == "long") return kLong;
  if (word == "strided") return kStrided;
  if (const auto t = parse_scalar_type(word)) return *t;
  return {};
}

}  // namespace

Value default_value(DefaultValue v, Type type) {
  if (!v || v.is_none()) return {};
  const Type t = type.without_optional();
  if (t.is_list()) return list_default(v, t.element());
  const bool is_float = t == TypeKind::kFloat || t == TypeKind::kSymFloat;
  switch (v.kind()) {
    case DefaultValue::Kind::kBool: return v.as_bool();
    case DefaultValue::Kind::kInt:
      return is_float ? Value(v.as_double()) : Value(v.as_int());
    case DefaultValue::Kind::kDouble: return v.as_double();
    case DefaultValue::Kind::kString: return v.as_string();
    case DefaultValue::Kind::kIdentifier: return identifier(v.as_string());
    default: return {};
  }
}

}  // namespace sy
