#include "tools/sy/calls/words.h"

#include <algorithm>
#include <string>

#include "aten/tensor.h"
#include "c10/schema/function_schema.h"
#include "lang/word_arguments.h"

namespace sy::tools {

namespace {

using lang::TensorWord;
using lang::Word;
using lang::WordType;

// Different numbers between 0 and 1, the same for every call's arguments.
class Numbers {
 public:
  double next() {
    state_ = state_ * 1664525u + 1013904223u;
    return static_cast<double>(state_ >> 8) / (1 << 24);
  }

 private:
  uint32_t state_ = 1;
};

void put(const Tensor& t, int64_t i, double v) {
  switch (t.scalar_type()) {
    case kDouble: t.data_ptr<double>()[i] = v; break;
    case kLong: t.data_ptr<int64_t>()[i] = static_cast<int64_t>(v); break;
    case kInt: t.data_ptr<int32_t>()[i] = static_cast<int32_t>(v); break;
    case kChar: t.data_ptr<int8_t>()[i] = static_cast<int8_t>(v); break;
    default: t.data_ptr<bool>()[i] = v >= 0.5; break;
  }
}

Tensor tensor(const TensorWord& w, Numbers& numbers) {
  if (!w.defined) return Tensor();
  const ScalarType dtype = w.kind == TensorWord::kFloat   ? kDouble
                           : w.kind == TensorWord::kInt   ? kLong
                           : w.kind == TensorWord::kInt32 ? kInt
                           : w.kind == TensorWord::kInt8  ? kChar
                                                          : kBool;
  const Tensor t(make_tensor(w.sizes, dtype, Device(kCPU)));
  for (int64_t i = 0; i < t.numel(); ++i) {
    double v = numbers.next();
    if (!w.values.empty()) {
      v = w.values[static_cast<size_t>(i)];
    } else if (dtype == kLong || dtype == kInt || dtype == kChar) {
      v *= w.below;
    } else if (dtype == kDouble) {
      v = (0.3 + 0.6 * v) * w.factor + w.shift;
    }
    put(t, i, v);
  }
  if (dtype == kDouble && !w.constant) t.requires_grad_();
  return t;
}

Value tensor_list(const Word& w, bool optional, Numbers& numbers) {
  std::vector<TensorBase> list;
  for (const TensorWord& t : w.tensors) list.push_back(tensor(t, numbers));
  return optional ? Value::optional_tensor_list(list.data(), list.size())
                  : Value::tensor_list(list.data(), list.size());
}

Value int_list(const Word& w) {
  std::vector<int64_t> list;
  for (const auto& n : w.numbers) list.push_back(n.i);
  return Value(IntArrayRef(list));
}

Value float_list(const Word& w) {
  std::vector<double> list;
  for (const auto& n : w.numbers) list.push_back(n.d);
  return Value(ArrayRef<double>(list));
}

Value bool_list(const Word& w) {
  bool list[8] = {};
  const size_t n = w.numbers.size();
  SY_CHECK(n <= std::size(list), Value, "expected at most 8 truth values");
  for (size_t i = 0; i < n; ++i) list[i] = w.numbers[i].i != 0;
  return Value(ArrayRef<bool>(list, n));
}

Scalar scalar(const lang::NumberWord& n) {
  return n.is_int ? Scalar(n.i) : Scalar(n.d);
}

Value scalar_list(const Word& w) {
  std::vector<Scalar> list;
  for (const auto& n : w.numbers) list.push_back(scalar(n));
  return Value(ArrayRef<Scalar>(list));
}

MemoryFormat format(std::string_view word) {
  if (word == "preserve_format") return MemoryFormat::Preserve;
  if (word == "channels_last") return MemoryFormat::ChannelsLast;
  if (word == "channels_last_3d") return MemoryFormat::ChannelsLast3d;
  return MemoryFormat::Contiguous;
}

Value value_of(const Argument& a, const Word& w, Numbers& numbers) {
  if (w.is_none) return Value();
  const Type t = a.type.without_optional();
  switch (lang::word_type(a.type)) {
    case WordType::kTensor: return Value(tensor(w.tensors[0], numbers));
    case WordType::kTensors:
      return tensor_list(w, t.element().is_optional(), numbers);
    case WordType::kInt: return Value(w.numbers[0].i);
    case WordType::kFloat: return Value(w.numbers[0].d);
    case WordType::kBool: return Value(w.numbers[0].i != 0);
    case WordType::kScalar:
      if (w.is_bool) return Value(w.numbers[0].i != 0);
      return w.numbers[0].is_int ? Value(w.numbers[0].i)
                                 : Value(w.numbers[0].d);
    case WordType::kInts: return int_list(w);
    case WordType::kFloats: return float_list(w);
    case WordType::kBools: return bool_list(w);
    case WordType::kScalars: return scalar_list(w);
    case WordType::kText: return Value(std::string_view(w.text));
    case WordType::kDtype: return Value(*parse_scalar_type(w.text));
    case WordType::kDevice: return Value(Device(w.text));
    case WordType::kLayout: return Value(kStrided);
    case WordType::kFormat: return Value(format(w.text));
    case WordType::kOther: break;
  }
  return Value();
}

Value from_text(const Argument& a, std::string_view text, Numbers& numbers) {
  const lang::WordArgument argument{a.name.view(), lang::word_type(a.type)};
  return value_of(a, *lang::parse_words({&argument, 1}, text)[0], numbers);
}

// One number may stand for every element of a list of fixed size.
Value default_list(Type list, DefaultValue d) {
  Word w;
  const auto add = [&](DefaultValue v) {
    lang::NumberWord& n = w.numbers.emplace_back();
    n.is_int = !v.is(DefaultValue::Kind::kDouble);
    n.i = v.is(DefaultValue::Kind::kBool) ? v.as_bool()
          : n.is_int                      ? v.as_int()
                                          : 0;
    n.d = n.is_int ? static_cast<double>(n.i) : v.as_double();
  };
  if (d.is(DefaultValue::Kind::kList)) {
    for (const DefaultValue& item : d.items()) add(item);
  } else {
    for (int i = 0; i < std::max(1, list.size()); ++i) add(d);
  }
  switch (lang::word_type(list)) {
    case WordType::kFloats: return float_list(w);
    case WordType::kBools: return bool_list(w);
    case WordType::kScalars: return scalar_list(w);
    default: return int_list(w);
  }
}

Value default_of(const Argument& a, Numbers& numbers) {
  const DefaultValue d = a.default_value;
  const Type t = a.type.without_optional();
  if (t.is_list() && !d.is_none()) return default_list(t, d);
  switch (d.kind()) {
    case DefaultValue::Kind::kNone: return Value();
    case DefaultValue::Kind::kBool: return Value(d.as_bool());
    case DefaultValue::Kind::kInt:
      return a.type == TypeKind::kFloat ? Value(d.as_double())
                                        : Value(d.as_int());
    case DefaultValue::Kind::kDouble: return Value(d.as_double());
    case DefaultValue::Kind::kString: return Value(d.as_string());
    case DefaultValue::Kind::kIdentifier:
      return from_text(a, d.as_string(), numbers);
    case DefaultValue::Kind::kList: break;
  }
  return Value();
}

}  // namespace

bool signature_suffices(OperatorHandle op) {
  for (const Argument& a : op.schema().arguments()) {
    if (!a.default_value && lang::obvious_word(a) == nullptr) return false;
  }
  return true;
}

std::vector<Value> parse_arguments(OperatorHandle op, std::string_view text,
                                   std::string_view tensors) {
  Numbers numbers;
  std::vector<Value> out;
  try {
    const auto words =
        lang::parse_words(lang::word_arguments(op.schema()), text);
    for (size_t i = 0; i < words.size(); ++i) {
      const Argument& a = op.schema().arguments()[i];
      if (words[i]) {
        out.push_back(value_of(a, *words[i], numbers));
      } else if (a.default_value) {
        out.push_back(default_of(a, numbers));
      } else {
        const char* obvious = lang::obvious_word(a);
        SY_CHECK(obvious != nullptr, Value,
                 "{}: expected a word for argument '{}'", op.name(),
                 a.name.view());
        const bool named = !tensors.empty() && a.type == TypeKind::kTensor;
        out.push_back(from_text(a, named ? tensors : obvious, numbers));
      }
    }
  } catch (const lang::WordError& e) {
    SY_CHECK(false, Value, "{}: {}, in '{}'", op.name(), e.message, text);
  }
  return out;
}

}  // namespace sy::tools
