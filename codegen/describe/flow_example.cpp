#include "codegen/describe/flow.h"

#include <algorithm>
#include <stdexcept>

#include "codegen/emit/describe.h"
#include "lang/format.h"
#include "lang/word_arguments.h"

namespace sy::codegen {
namespace {

using Value = FlowExample::Value;
using lang::NumberWord;
using lang::Word;
using lang::WordType;

std::string text(const NumberWord& n) {
  return lang::to_string(n.is_int ? lang::Number::of(n.i)
                                  : lang::Number::of(n.d));
}

Value value(const NumberWord& n) {
  if (n.is_int) return n.i;
  return n.d;
}

// Nothing if no expression can use it.
std::optional<Value> value(WordType type, const Word& w) {
  if (w.is_none) return Value{};
  switch (type) {
    case WordType::kTensor:
      return FlowTensor{w.tensors[0].sizes,
                        w.tensors[0].kind == lang::TensorWord::kBool};
    case WordType::kInt:
    case WordType::kFloat: return value(w.numbers[0]);
    case WordType::kBool: return w.numbers[0].i != 0;
    case WordType::kScalar:
      if (w.is_bool) return w.numbers[0].i != 0;
      return value(w.numbers[0]);
    case WordType::kInts: {
      std::vector<std::int64_t> out;
      for (const NumberWord& n : w.numbers) out.push_back(n.i);
      return out;
    }
    case WordType::kText: return w.text;
    default: return std::nullopt;
  }
}

std::string text(WordType type, const Word& w) {
  if (w.is_none) return "None";
  if (type == WordType::kBool || w.is_bool) {
    return w.numbers[0].i != 0 ? "True" : "False";
  }
  if (type == WordType::kText) return "'" + w.text + "'";
  std::vector<std::string> items;
  for (const NumberWord& n : w.numbers) items.push_back(text(n));
  const bool list = type == WordType::kInts || type == WordType::kFloats ||
                    type == WordType::kBools || type == WordType::kScalars;
  const std::string all = lang::join(items, ", ");
  return list ? "[" + all + "]" : items.empty() ? w.text : all;
}

// A default as a word; "" if there is none for it.
std::string default_word(const Argument& a) {
  const DefaultValue& d = a.default_value;
  if (d.is_none()) return "None";
  const bool list = a.type.without_optional().is_list();
  if (!list) return std::string(d.str());
  if (d.is(DefaultValue::Kind::kList)) {
    std::vector<std::string> items;
    for (const DefaultValue& item : d.items()) {
      items.push_back(std::string(item.str()));
    }
    return items.empty() ? "[]" : lang::join(items, ",");
  }
  std::string out;
  for (int k = 0; k < std::max(1, a.type.without_optional().size()); ++k) {
    out += (k ? "," : "") + std::string(d.str());
  }
  return out;
}

std::optional<Word> parsed(const lang::WordArgument& a,
                           const std::string& word) {
  try {
    return lang::parse_words({&a, 1}, word)[0];
  } catch (const lang::WordError&) {
    return std::nullopt;
  }
}

}  // namespace

std::vector<std::int64_t> contiguous_strides(
    const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> out(sizes.size());
  std::int64_t stride = 1;
  for (std::size_t d = sizes.size(); d-- > 0;) {
    out[d] = stride;
    stride *= std::max<std::int64_t>(sizes[d], 1);
  }
  return out;
}

std::string sizes_text(const std::vector<std::int64_t>& sizes) {
  std::vector<std::string> items;
  for (const auto n : sizes) items.push_back(std::to_string(n));
  return "[" + lang::join(items, ", ") + "]";
}

std::int64_t count_of(const std::vector<std::int64_t>& sizes) {
  std::int64_t n = 1;
  for (const auto s : sizes) n *= s;
  return n;
}

std::optional<FlowExample> example_of(const Operator& op) {
  if (!has_example(op)) return std::nullopt;
  const FunctionSchema& s = op.base.schema;
  const auto arguments = lang::word_arguments(s);
  std::vector<std::optional<Word>> words;
  try {
    words = lang::parse_words(arguments, example_words(op));
  } catch (const lang::WordError&) {
    return std::nullopt;
  }
  FlowExample out;
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    const Argument& a = s.arguments()[k];
    std::optional<Word> word = words[k];
    const bool given = word.has_value();
    const std::string name(a.name.view());
    if (!given && !a.default_value && arguments[k].type == WordType::kTensor &&
        !a.type.is_optional()) {
      // Rows and columns are told apart more easily than those of 2x3.
      word = parsed(arguments[k], "3x4");
    } else if (!given) {
      const char* obvious = a.default_value ? nullptr : lang::obvious_word(a);
      word = parsed(arguments[k], a.default_value ? default_word(a)
                                  : obvious       ? obvious
                                                  : "None");
    }
    if (!word) continue;
    const auto v = value(arguments[k].type, *word);
    if (!v) continue;
    if (std::holds_alternative<FlowTensor>(*v)) {
      out.tensors.push_back(name);
    } else if (given && !word->is_none) {
      out.texts[name] = text(arguments[k].type, *word);
    }
    out.values[name] = *v;
  }
  return out;
}

std::string call_text(const Operator& op, const FlowExample& example) {
  std::vector<std::string> parts;
  for (const Argument& a : op.base.schema.arguments()) {
    const std::string name(a.name.view());
    const auto given = example.texts.find(name);
    if (given != example.texts.end()) {
      parts.push_back(name + "=" + given->second);
    } else if (std::find(example.tensors.begin(), example.tensors.end(),
                         name) != example.tensors.end()) {
      parts.push_back(name);
    }
  }
  return fmt::format("{}({})", op.base.schema.name().name.view(),
                     lang::join(parts, ", "));
}

}  // namespace sy::codegen
