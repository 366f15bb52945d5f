#include <algorithm>

#include "codegen/emit/describe.h"
#include "codegen/model_names.h"
#include "codegen/text.h"
#include "lang/cpp_text.h"
#include "lang/tensor.h"
#include "lang/word_arguments.h"
#include "model/cpp_types.h"

namespace sy::codegen {
namespace {

using lang::NumberWord;
using lang::TensorWord;
using lang::Word;
using lang::WordType;

std::string braced(const std::vector<std::string>& items) {
  return fmt::format("{{{}}}", join(items, ", "));
}

std::string number(const NumberWord& n) {
  return n.is_int ? lang::cpp_int(n.i) : lang::cpp_double(n.d);
}
std::string real(const NumberWord& n) { return lang::cpp_double(n.d); }
std::string truth(const NumberWord& n) { return n.i != 0 ? "true" : "false"; }

template <class F>
std::string list(const char* type, const Word& w, F&& item) {
  if (w.numbers.empty()) return fmt::format("{}()", type);
  std::vector<std::string> items;
  for (const NumberWord& n : w.numbers) items.push_back(item(n));
  return fmt::format("{}({})", type, braced(items));
}

std::string dtype(const TensorWord& w) {
  return w.kind == TensorWord::kInt32  ? ", sy::kInt32"
         : w.kind == TensorWord::kInt8 ? ", sy::kInt8"
                                       : "";
}

std::string values(const TensorWord& w, const std::string& sizes) {
  std::vector<std::string> items;
  for (const double v : w.values) {
    items.push_back(w.kind == TensorWord::kFloat ? lang::cpp_double(v)
                    : w.kind == TensorWord::kBool
                        ? std::string(v >= 0.5 ? "true" : "false")
                        : lang::cpp_int(static_cast<long long>(v)));
  }
  const bool flat = w.sizes.size() == 1;
  std::string out = "sy::tensor(";
  out += w.sizes.empty() ? items[0] : braced(items);
  out += dtype(w);
  out += ")";
  return flat || w.sizes.empty() ? out : fmt::format("{}.view({})", out, sizes);
}

std::string tensor(const TensorWord& w) {
  if (!w.defined) return "std::nullopt";
  std::vector<std::string> dims;
  for (const std::int64_t n : w.sizes) dims.push_back(std::to_string(n));
  const std::string sizes = dims.empty() ? "sy::IntArrayRef()" : braced(dims);
  if (!w.values.empty()) return values(w, sizes);
  if (w.kind != TensorWord::kFloat && w.kind != TensorWord::kBool) {
    const auto below = std::max(1.0, w.below);
    return fmt::format("sy::randint({}, {}{})",
                       lang::cpp_int(static_cast<long long>(below)), sizes,
                       dtype(w));
  }
  std::string out = fmt::format("sy::rand({})", sizes);
  if (w.kind == TensorWord::kBool) return out + ".gt(0.5)";
  if (w.factor != 1) append(out, ".mul({})", lang::cpp_double(w.factor));
  if (w.shift != 0) append(out, ".add({})", lang::cpp_double(w.shift));
  return out;
}

std::string tensors(const Argument& a, const Word& w) {
  const bool optional = a.type.without_optional().element().is_optional();
  const std::string type =
      optional ? "sy::ArrayRef<std::optional<sy::Tensor>>" : "sy::TensorList";
  if (w.tensors.empty()) return type + "()";
  std::vector<std::string> items;
  for (const TensorWord& t : w.tensors) {
    items.push_back(t.defined || optional ? tensor(t) : "sy::Tensor()");
  }
  return fmt::format("{}({})", type, braced(items));
}

std::string dtype(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kOther[] = {
      {"long", "int64"},
      {"int", "int32"},
      {"float", "float32"},
      {"double", "float64"},
      {"half", "float16"}};
  for (const auto& [from, to] : kOther) {
    if (name == from) name = to;
  }
  return "sy::" + lang::cpp_dtype(name);
}

std::string format(std::string_view name) {
  const std::string_view kind = name == "preserve_format"    ? "Preserve"
                                : name == "channels_last"    ? "ChannelsLast"
                                : name == "channels_last_3d" ? "ChannelsLast3d"
                                                             : "Contiguous";
  return fmt::format("sy::MemoryFormat::{}", kind);
}

// The C++ of a word for a parameter of the argument's type.
std::string text(const Argument& a, const Word& w) {
  if (w.is_none) return "std::nullopt";
  switch (lang::word_type(a.type)) {
    case WordType::kTensor: return tensor(w.tensors[0]);
    case WordType::kTensors: return tensors(a, w);
    case WordType::kInt: return number(w.numbers[0]);
    case WordType::kFloat: return real(w.numbers[0]);
    case WordType::kBool: return truth(w.numbers[0]);
    case WordType::kScalar:
      return fmt::format("sy::Scalar({})", w.is_bool ? truth(w.numbers[0])
                                                     : number(w.numbers[0]));
    case WordType::kInts: return list("sy::IntArrayRef", w, number);
    case WordType::kFloats: return list("sy::ArrayRef<double>", w, real);
    case WordType::kBools: return list("sy::ArrayRef<bool>", w, truth);
    case WordType::kScalars: return list("sy::ArrayRef<sy::Scalar>", w, number);
    case WordType::kText: return lang::cpp_string(w.text);
    case WordType::kDtype: return dtype(w.text);
    case WordType::kDevice: return w.text == "meta" ? "sy::kMeta" : "sy::kCPU";
    case WordType::kLayout: return "sy::kStrided";
    case WordType::kFormat: return format(w.text);
    case WordType::kOther: break;
  }
  return "{}";
}

Word parsed(const Argument& a, std::string_view word) {
  const lang::WordArgument argument{a.name.view(), lang::word_type(a.type)};
  return *lang::parse_words({&argument, 1}, word)[0];
}

// The default of the parameter, for a call that gives a later one.
std::string standard_text(const FunctionSchema& s, std::string_view name) {
  for (const Argument& a : s.arguments()) {
    if (parameter_name(a) != name) continue;
    const DefaultValue d = a.default_value;
    if (d.is(DefaultValue::Kind::kString)) {
      return lang::cpp_string(d.as_string());
    }
    const Type t = a.type.without_optional();
    std::string word;
    if (!t.is_list() || d.is_none()) {
      word = d.str();
    } else if (!d.is(DefaultValue::Kind::kList)) {
      for (int i = 0; i < std::max(1, t.size()); ++i) {
        word += (i ? "," : "") + std::string(d.str());
      }
    } else {
      for (const DefaultValue& item : d.items()) {
        word += (word.empty() ? "" : ",") + std::string(item.str());
      }
      if (word.empty()) word = "[]";
    }
    return text(a, parsed(a, word));
  }
  return "{}";
}

// The four arguments that C++ takes as one, from `first` on.
std::string options(const FunctionSchema& s, std::size_t first,
                    const std::vector<std::optional<Word>>& words) {
  constexpr std::string_view kSetters[] = {"dtype", "layout", "device",
                                           "pinned_memory"};
  std::string out;
  for (std::size_t k = 0; k < std::size(kSetters); ++k) {
    if (!words[first + k] || words[first + k]->is_none) continue;
    append(out, ".{}({})", kSetters[k],
           text(s.arguments()[first + k], *words[first + k]));
  }
  return out.empty() ? "" : "sy::TensorOptions()" + out;
}

}  // namespace

bool has_example(const Operator& op) {
  if (op.entry->example) return true;
  if (!op.is_functional()) return false;
  const auto args = op.base.schema.arguments();
  return std::all_of(args.begin(), args.end(), [](const Argument& a) {
    return a.default_value || lang::obvious_word(a) != nullptr;
  });
}

std::string example_words(const Operator& op) {
  return op.entry->example ? op.entry->example->str() : "";
}

std::optional<ApiCall> example_call(const Operator& op) {
  if (!has_example(op)) return std::nullopt;
  const auto calls = api_calls(op);
  const auto base =
      std::find_if(calls.begin(), calls.end(), [&](const ApiCall& c) {
        return c.id == op.base.id || c.id == op.base.id + "_method";
      });
  if (base == calls.end()) return std::nullopt;
  const FunctionSchema& s = op.base.schema;
  // Arguments that are written are variables, not expressions.
  const auto args = s.arguments();
  if (std::any_of(args.begin(), args.end(),
                  [](const Argument& a) { return a.is_write(); })) {
    return std::nullopt;
  }
  const auto words =
      lang::parse_words(lang::word_arguments(s), example_words(op));
  const ApiSignature api = api_signature(s, base->is_method);
  const int group = lang::options_index(s);

  // The value by the parameter's name; "" if nothing is said of it.
  const auto value = [&](const std::string& name) -> std::string {
    if (name == api.options) {
      return options(s, static_cast<std::size_t>(group), words);
    }
    for (std::size_t i = 0; i < words.size(); ++i) {
      const Argument& a = s.arguments()[i];
      if (parameter_name(a) != name) continue;
      if (words[i]) return text(a, *words[i]);
      if (a.default_value) return "";
      return text(a, parsed(a, lang::obvious_word(a)));
    }
    return "";
  };
  std::vector<std::string> given;
  std::size_t last = 0;
  for (const ApiParameter& p : api.parameters) {
    given.push_back(value(p.name));
    if (!given.back().empty()) {
      last = given.size();
    } else {
      given.back() = p.name == api.options ? "sy::TensorOptions()"
                                           : standard_text(s, p.name);
    }
  }
  given.resize(last);
  ApiCall out = *base;
  out.id = op.base.id + "_example";
  const std::string head = base->call.substr(0, base->call.find('('));
  std::string call = head;
  if (base->is_method) {
    const int self = s.self_index();
    const Argument& a = s.arguments()[static_cast<std::size_t>(self)];
    const auto& word = words[static_cast<std::size_t>(self)];
    call = (word ? text(a, *word) : text(a, parsed(a, lang::obvious_word(a)))) +
           head.substr(head.find('.'));
  }
  out.call = fmt::format("{}({})", call, join(given, ", "));
  out.parameters.clear();
  return out;
}

}  // namespace sy::codegen
