#include "tools/sy/words.h"

#include <charconv>
#include <string>

#include "aten/tensor.h"
#include "c10/schema/function_schema.h"

namespace sy::tools {

namespace {

std::vector<std::string_view> split(std::string_view text, char by) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = text.find(by);
    if (end != 0) parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return parts;
}

double number(std::string_view word) {
  double v = 0;
  const auto r = std::from_chars(word.data(), word.data() + word.size(), v);
  SY_CHECK(r.ec == std::errc() && r.ptr == word.data() + word.size(), Value,
           "expected a number, got '", word, "'");
  return v;
}

// Different numbers between 0 and 1, the same for every call's arguments.
uint32_t seed = 1;
double next_number() {
  seed = seed * 1664525u + 1013904223u;
  return static_cast<double>(seed >> 8) / (1 << 24);
}

void put(const Tensor& t, int64_t i, double v) {
  switch (t.scalar_type()) {
    case kDouble: t.data_ptr<double>()[i] = v; break;
    case kLong: t.data_ptr<int64_t>()[i] = static_cast<int64_t>(v); break;
    default: t.data_ptr<bool>()[i] = v >= 0.5; break;
  }
}

// The part of `word` after `mark`, which is taken off; empty if there is none.
std::string_view take_after(std::string_view& word, char mark) {
  const size_t at = word.find(mark);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = word.substr(at + 1);
  word = word.substr(0, at);
  return rest;
}

Tensor tensor(std::string_view word) {
  const std::string_view values = take_after(word, '=');
  const std::string_view kind = take_after(word, ':');
  const bool constant = !word.empty() && word.back() == '!';
  if (constant) word.remove_suffix(1);
  const std::string_view factor = take_after(word, '*');
  const std::string_view shift = take_after(word, '+');
  std::vector<int64_t> sizes;
  if (word != "s") {
    for (const auto n : split(word, 'x')) {
      sizes.push_back(static_cast<int64_t>(number(n)));
    }
  }
  const ScalarType dtype = kind.empty() ? kDouble : kind == "b" ? kBool : kLong;
  const Tensor t(make_tensor(sizes, dtype, Device(kCPU)));
  const auto given = split(values, ',');
  SY_CHECK(given.empty() || static_cast<int64_t>(given.size()) == t.numel(),
           Value, "expected ", t.numel(), " numbers, got ", given.size());
  for (int64_t i = 0; i < t.numel(); ++i) {
    double v = next_number();
    if (!given.empty()) {
      v = number(given[static_cast<size_t>(i)]);
    } else if (dtype == kLong) {
      v *= number(kind.substr(1));
    } else if (dtype == kDouble) {
      v = 0.3 + 0.6 * v;
      if (!factor.empty()) v *= number(factor);
      if (!shift.empty()) v += number(shift);
    }
    put(t, i, v);
  }
  if (dtype == kDouble && !constant) t.requires_grad_();
  return t;
}

Value tensor_list(std::string_view word, bool optional) {
  SY_CHECK(word.size() >= 2 && word.front() == '{' && word.back() == '}', Value,
           "expected a list of tensors, got '", word, "'");
  std::vector<TensorBase> list;
  for (const auto w : split(word.substr(1, word.size() - 2), ';')) {
    list.push_back(w == "None" ? Tensor() : tensor(w));
  }
  return optional ? Value::optional_tensor_list(list.data(), list.size())
                  : Value::tensor_list(list.data(), list.size());
}

Value int_list(std::string_view word) {
  std::vector<int64_t> list;
  if (word != "[]") {
    for (const auto w : split(word, ',')) {
      list.push_back(static_cast<int64_t>(number(w)));
    }
  }
  return Value(IntArrayRef(list));
}

Value bool_list(std::string_view word) {
  bool list[8] = {};
  size_t n = 0;
  for (const auto w : split(word, ',')) {
    SY_CHECK(n < std::size(list), Value, "expected at most 8 truth values");
    list[n++] = w == "True" || w == "1";
  }
  return Value(ArrayRef<bool>(list, n));
}

Value parse(const Argument& a, std::string_view word) {
  if (word == "None") return Value();
  const Type t = a.type.without_optional();
  if (t == TypeKind::kTensor) return Value(tensor(word));
  if (t.is_list() && t.is_tensor_like()) {
    return tensor_list(word, t.element().is_optional());
  }
  if (t.is_list() && t.element() == TypeKind::kBool) return bool_list(word);
  if (t.is_list()) return int_list(word);
  if (t == TypeKind::kStr) return Value(word);
  if (word == "True" || word == "False") return Value(word == "True");
  if (t == TypeKind::kScalarType) {
    const auto dtype = parse_scalar_type(word);
    SY_CHECK(dtype, Value, "expected a dtype, got ", word);
    return Value(*dtype);
  }
  if (t == TypeKind::kDevice) return Value(Device(word));
  if (word == "Mean") return Value(1);
  const double v = number(word);
  const bool whole = word.find_first_of(".e") == std::string_view::npos;
  const bool is_int = t == TypeKind::kInt || t == TypeKind::kSymInt;
  return is_int || (whole && t == TypeKind::kScalar)
             ? Value(static_cast<int64_t>(v))
             : Value(v);
}

Value default_of(const Argument& a) {
  const DefaultValue d = a.default_value;
  switch (d.kind()) {
    case DefaultValue::Kind::kNone: return Value();
    case DefaultValue::Kind::kBool: return Value(d.as_bool());
    case DefaultValue::Kind::kInt:
      return a.type == TypeKind::kFloat ? Value(d.as_double())
                                        : Value(d.as_int());
    case DefaultValue::Kind::kDouble: return Value(d.as_double());
    case DefaultValue::Kind::kString: return Value(d.as_string());
    case DefaultValue::Kind::kIdentifier:
      if (a.type == TypeKind::kMemoryFormat) {
        return Value(d.as_string() == "preserve_format"
                         ? MemoryFormat::Preserve
                         : MemoryFormat::Contiguous);
      }
      return parse(a, d.as_string());
    case DefaultValue::Kind::kList: {
      std::vector<int64_t> list;
      for (const DefaultValue& i : d.items()) list.push_back(i.as_int());
      return Value(IntArrayRef(list));
    }
  }
  return Value();
}

bool is_list_of(Type t, TypeKind element) {
  return t.is_list() && t.element() == element;
}

bool has_obvious_value(const Argument& a) {
  return a.type == TypeKind::kTensor || a.type == TypeKind::kScalar ||
         a.type.is_optional() || is_list_of(a.type, TypeKind::kTensor) ||
         is_list_of(a.type, TypeKind::kScalar);
}

Value obvious_value(const Argument& a, std::string_view tensors) {
  if (a.type == TypeKind::kTensor) return Value(tensor(tensors));
  if (a.type == TypeKind::kScalar) return Value(0.7);
  if (is_list_of(a.type, TypeKind::kTensor))
    return tensor_list("{2x3;3}", false);
  if (is_list_of(a.type, TypeKind::kScalar)) {
    const Scalar numbers[] = {Scalar(0.7), Scalar(2)};
    return Value(ArrayRef<Scalar>(numbers));
  }
  SY_CHECK(a.type.is_optional(), Value, "expected a word for ", a.name.view());
  return Value();
}

}  // namespace

bool signature_suffices(OperatorHandle op) {
  for (const Argument& a : op.schema().arguments()) {
    if (!a.default_value && !has_obvious_value(a)) return false;
  }
  return true;
}

std::vector<Value> parse_arguments(OperatorHandle op, std::string_view text,
                                   std::string_view tensors) {
  seed = 1;
  std::vector<Value> args;
  const auto words = split(text, ' ');
  for (const Argument& a : op.schema().arguments()) {
    try {
      if (args.size() < words.size()) {
        args.push_back(parse(a, words[args.size()]));
      } else {
        args.push_back(a.default_value ? default_of(a)
                                       : obvious_value(a, tensors));
      }
    } catch (Error& e) {
      e.add_context(str(op.name(), ", argument ", a.name.view()));
      throw;
    }
  }
  SY_CHECK(words.size() <= args.size(), Value, op.name(), ": expected at most ",
           args.size(), " words, got '", text, "'");
  return args;
}

}  // namespace sy::tools
