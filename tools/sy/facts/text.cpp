#include "tools/sy/facts/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include "aten/print.h"
#include "aten/tensor.h"
#include "lang/word_arguments.h"

namespace sy::tools {

namespace {

using lang::NumberWord;
using lang::Word;
using lang::WordType;

constexpr size_t kWidth = 80;

std::string joined(const std::vector<std::string>& items) {
  std::string out;
  for (const std::string& i : items) out += (out.empty() ? "" : ", ") + i;
  return out;
}

std::string number(const NumberWord& n) {
  return n.is_int ? std::to_string(n.i) : cpp_number(n.d);
}

template <class F>
std::string list(const char* type, const Word& w, const F& item) {
  std::vector<std::string> items;
  for (const NumberWord& n : w.numbers) items.push_back(item(n));
  if (items.empty()) return str("{}()", *type == 0 ? "sy::IntArrayRef" : type);
  const std::string braced = str("{{{}}}", joined(items));
  return *type == 0 ? braced : str("{}({})", type, braced);
}

std::string truth(bool v) { return v ? "true" : "false"; }

std::string format_text(std::string_view word) {
  return str("sy::MemoryFormat::{}", word == "preserve_format" ? "Preserve"
                                     : word == "channels_last" ? "ChannelsLast"
                                     : word == "channels_last_3d"
                                         ? "ChannelsLast3d"
                                         : "Contiguous");
}

std::string reduction_text(int64_t v) {
  return v == 0   ? "sy::Reduction::None"
         : v == 1 ? "sy::Reduction::Mean"
                  : "sy::Reduction::Sum";
}

// The index of the first of the four arguments that C++ takes as TensorOptions;
// -1 if they are not there.
int options_at(const FunctionSchema& s) {
  constexpr std::array<std::string_view, 4> kNames = {"dtype", "layout",
                                                      "device", "pin_memory"};
  for (size_t i = 0; i + 4 <= s.arguments().size(); ++i) {
    bool all = true;
    for (size_t k = 0; k < 4; ++k) {
      const Argument& a = s.arguments()[i + k];
      all = all && a.kwarg_only && a.type.is_optional() &&
            a.name.view() == kNames[k];
    }
    if (all) return static_cast<int>(i);
  }
  return -1;
}

std::string options_text(const FactsArgument* four) {
  constexpr std::string_view kSetters[] = {"dtype", "layout", "device",
                                           "pinned_memory"};
  std::string out, alone;
  for (size_t k = 0; k < 4; ++k) {
    const std::string& text = four[k].text;
    if (text.empty() || text == "std::nullopt") continue;
    alone = out.empty() && k == 0 ? text : "";
    out += str(".{}({})", kSetters[k], text);
  }
  if (!alone.empty()) return alone;  // a dtype is options by itself
  return out.empty() ? "" : "sy::TensorOptions()" + out;
}

bool is_among(std::string_view name,
              std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Whether there is a method of Tensor, and no function in its place: what
// writes its self, mostly, and what is known without the dispatcher.
bool is_method(const FunctionSchema& s) {
  const std::string_view name = s.name().name.view();
  if (s.self_index() != 0 || s.name().ns.view() != "aten") return false;
  if (!s.is_inplace()) {
    return is_among(name, {"dim", "numel", "storage_offset", "is_contiguous"});
  }
  return !is_among(
      name, {"_foreach_copy_", "_index_put_impl_", "alpha_dropout_", "dropout_",
             "embedding_renorm_", "feature_alpha_dropout_", "feature_dropout_",
             "rrelu_with_noise_", "set_"});
}

// Elements that are not set have no known values: their sizes are shown.
bool has_any_values(const FunctionSchema& s) {
  const std::string_view name = s.name().name.view();
  return name.starts_with("empty") || name.starts_with("new_empty");
}

std::string text_of(const Value& v, const Type& type) {
  switch (v.tag()) {
    case Value::Tag::None:
      return type == TypeKind::kTensor ? to_string(Tensor()) : "None";
    case Value::Tag::Tensor: return to_string(Tensor(v.to_tensor()));
    case Value::Tag::Bool: return truth(v.to_bool());
    case Value::Tag::Int: return std::to_string(v.to_int());
    case Value::Tag::ScalarType: return str("{}", v.to_scalar_type());
    default: break;
  }
  if (v.tag() == Value::Tag::Double && type != TypeKind::kScalar) {
    std::ostringstream out;
    out << v.to_double();
    return out.str();
  }
  if (v.tag() != Value::Tag::TensorList) return to_string(v);
  std::string out;
  for (const TensorBase& t : v.to_tensor_list()) {
    out += (out.empty() ? "" : "\n") + to_string(Tensor(t));
  }
  return out;
}

}  // namespace

std::string cpp_number(double v) {
  if (std::isnan(v)) return "NAN";
  if (std::isinf(v)) return v > 0 ? "INFINITY" : "-INFINITY";
  const std::string out = fmt::format("{}", v);
  return out.find_first_of(".e") == out.npos ? out + ".0" : out;
}

std::string cpp_literal(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string cpp_elements(IntArrayRef sizes, const std::vector<std::string>& v) {
  if (sizes.empty()) return v[0];
  std::vector<std::string> items = v;
  for (size_t d = sizes.size(); d-- > 0;) {
    const auto n = static_cast<size_t>(sizes[d]);
    std::vector<std::string> outer;
    for (size_t i = 0; i < items.size(); i += n) {
      outer.push_back(str("{{{}}}", joined({items.begin() + long(i),
                                            items.begin() + long(i + n)})));
    }
    items = std::move(outer);
  }
  return items[0];
}

std::string cpp_dtype(std::string_view name) {
  const auto dtype = parse_scalar_type(name);
  if (!dtype) return "";
  std::string out = str("{}", *dtype);
  if (out == "uint8") return "sy::kUInt8";
  if (out == "bfloat16") return "sy::kBFloat16";
  out[0] = static_cast<char>(out[0] - 'a' + 'A');
  return "sy::k" + out;
}

std::string cpp_word(const Argument& a, const Word& w) {
  if (w.is_none) return "std::nullopt";
  const auto real = [](const NumberWord& n) { return cpp_number(n.d); };
  const auto bit = [](const NumberWord& n) { return truth(n.i != 0); };
  switch (lang::word_type(a.type)) {
    case WordType::kInt:
      return a.name.view() == "reduction" ? reduction_text(w.numbers[0].i)
                                          : number(w.numbers[0]);
    case WordType::kFloat: return real(w.numbers[0]);
    case WordType::kBool: return bit(w.numbers[0]);
    case WordType::kScalar:
      return w.is_bool ? bit(w.numbers[0]) : number(w.numbers[0]);
    case WordType::kInts:
      // `1` for {1}, where no overload takes it for something else.
      if (a.name.view() == "dim" && a.type.without_optional().size() == 1 &&
          w.numbers.size() == 1) {
        return number(w.numbers[0]);
      }
      return list("", w, number);
    case WordType::kFloats: return list("sy::ArrayRef<double>", w, real);
    case WordType::kBools: return list("sy::ArrayRef<bool>", w, bit);
    case WordType::kScalars: return list("sy::ArrayRef<sy::Scalar>", w, number);
    case WordType::kText: return cpp_literal(w.text);
    case WordType::kDtype: return cpp_dtype(w.text);
    case WordType::kDevice: return w.text == "meta" ? "sy::kMeta" : "sy::kCPU";
    case WordType::kLayout: return "sy::kStrided";
    case WordType::kFormat: return format_text(w.text);
    default: return "{}";
  }
}

std::string cpp_default(const Argument& a) {
  const DefaultValue d = a.default_value;
  if (!d || d.is_none()) return "std::nullopt";
  if (d.is(DefaultValue::Kind::kString)) return cpp_literal(d.as_string());
  const Type t = a.type.without_optional();
  std::string word;
  if (!t.is_list()) {
    word = d.str();
  } else if (d.is(DefaultValue::Kind::kList)) {
    for (const DefaultValue& item : d.items()) {
      word += (word.empty() ? "" : ",") + std::string(item.str());
    }
    if (word.empty()) word = "[]";
  } else {
    // One number stands for every element of a list of fixed size.
    for (int i = 0; i < std::max(1, t.size()); ++i) {
      word += (i == 0 ? "" : ",") + std::string(d.str());
    }
  }
  if (word == "Mean") return reduction_text(1);
  const lang::WordArgument argument{a.name.view(), lang::word_type(a.type)};
  return cpp_word(a, *lang::parse_words({&argument, 1}, word)[0]);
}

std::string cpp_variable(const Argument& a) {
  const std::string name(a.name.view());
  return is_among(name, {"default", "double", "float", "int"}) ? name + "_"
                                                               : name;
}

std::vector<std::string> cpp_declaration(const std::string& head,
                                         const std::string& value) {
  std::vector<std::string> lines = {head + " = "};
  std::string rest = value + ";";
  std::vector<size_t> open;  // columns behind the brackets that are open
  while (lines.back().size() + rest.size() > kWidth) {
    // The line breaks behind the last comma that fits, of the least depth.
    const size_t column = lines.back().size();
    std::vector<size_t> here = open, best_open;
    size_t best = rest.npos, least = 99;
    for (size_t i = 0; i < rest.size() && column + i < kWidth; ++i) {
      if (rest[i] == '{' || rest[i] == '(') here.push_back(column + i + 1);
      if (rest[i] == '}' || rest[i] == ')') here.pop_back();
      if (rest[i] != ',' || here.size() > least) continue;
      least = here.size();
      best = i;
      best_open = here;
    }
    if (best == rest.npos || best_open.empty()) break;
    lines.back() += rest.substr(0, best + 1);
    rest.erase(0, best + 2);
    open = std::move(best_open);
    lines.emplace_back(open.back(), ' ');
  }
  lines.back() += rest;
  return lines;
}

std::string call_text(OperatorHandle op, const FactsCall& call) {
  const FunctionSchema& s = op.schema();
  const bool method = is_method(s);
  const int options = options_at(s);
  std::vector<std::string> given;
  size_t last = 0;
  for (size_t i = method ? 1 : 0; i < call.arguments.size(); ++i) {
    std::string text = call.arguments[i].text;
    if (static_cast<int>(i) == options) {
      text = options_text(&call.arguments[i]);
      i += 3;
      given.push_back(text.empty() ? "sy::TensorOptions()" : text);
    } else {
      const std::string standard =
          s.arguments()[i].default_value ? cpp_default(s.arguments()[i]) : "";
      given.push_back(text.empty() ? standard : text);
      if (text == standard) text.clear();
    }
    if (!text.empty()) last = given.size();
  }
  given.resize(last);
  const std::string_view ns = s.name().ns.view();
  const std::string name(s.name().name.view());
  const std::string object = ns == "aten" ? "sy::" : str("{}::", ns);
  return str("{}{}({}){}", method ? call.arguments[0].text + "." : object, name,
             joined(given), has_any_values(s) ? ".sizes()" : "");
}

std::string call_words(OperatorHandle op, const std::string& words) {
  const FunctionSchema& s = op.schema();
  const auto given = lang::parse_words(lang::word_arguments(s), words);
  std::vector<std::string> parts;
  for (size_t k = 0; k < given.size(); ++k) {
    const Argument& a = s.arguments()[k];
    const WordType type = lang::word_type(a.type);
    const bool tensors =
        type == WordType::kTensor || type == WordType::kTensors;
    if ((!given[k] && (!tensors || a.default_value)) ||
        (given[k] && given[k]->is_none)) {
      continue;
    }
    if (tensors) {
      parts.emplace_back(a.name.view());
      continue;
    }
    std::string text = given[k]->text;
    if (a.type.without_optional().is_list()) {
      for (size_t at = 0; (at = text.find(',', at)) != text.npos; at += 2) {
        text.replace(at, 1, ", ");
      }
      if (text != "[]") text = str("[{}]", text);
    } else if (type == WordType::kText) {
      text = str("'{}'", text);
    }
    parts.push_back(str("{}={}", a.name.view(), text));
  }
  return str("{}({})", s.name().name.view(), joined(parts));
}

std::string printed(const FunctionSchema& schema,
                    const std::vector<Value>& results) {
  if (has_any_values(schema)) {
    return to_string(IntArrayRef(results[0].to_tensor().sizes()));
  }
  std::string out;
  for (size_t i = 0; i < results.size(); ++i) {
    out += (i == 0 ? "" : "\n") + text_of(results[i], schema.returns()[i].type);
  }
  return out;
}

}  // namespace sy::tools
