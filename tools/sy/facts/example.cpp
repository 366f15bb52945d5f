#include "tools/sy/facts/example.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "aten/tensor.h"
#include "c10/device/generator.h"
#include "c10/process/error.h"
#include "lang/word_arguments.h"
#include "tools/sy/calls/calls.h"
#include "tools/sy/calls/words.h"
#include "tools/sy/facts/tensors.h"

namespace sy::tools {

namespace {

using lang::TensorWord;
using lang::Word;
using lang::WordType;

constexpr long kLines = 12;      // of output that is short
constexpr double kPlain = 1000;  // numbers that are short

constexpr Look kLooks[] = {Look::kWhole,   Look::kCounted,  Look::kMixed,
                           Look::kNonzero, Look::kPositive, Look::kUnit,
                           Look::kZeros,   Look::kSpecial};

Word obvious(const Argument& a) {
  const lang::WordArgument argument{a.name.view(), lang::word_type(a.type)};
  return *lang::parse_words({&argument, 1}, lang::obvious_word(a))[0];
}

class Maker {
 public:
  Maker(OperatorHandle op, const std::string& words)
      : op_(op),
        words_(lang::parse_words(lang::word_arguments(op.schema()), words)),
        values_(parse_arguments(op, words)) {
    for (size_t i = 0; i < words_.size(); ++i) {
      const Argument& a = op.schema().arguments()[i];
      if (!words_[i] && !a.default_value) words_[i] = obvious(a);
    }
  }

  FactsCall make(Look look) const {
    FactsTensors tensors(look);
    FactsCall out;
    if (op_.entry().has_flag(OperatorDef::kRandom)) {
      out.lines.emplace_back("sy::manual_seed(0);");
      manual_seed(0);
    }
    for (size_t i = 0; i < words_.size(); ++i) {
      out.arguments.push_back({"", values_[i]});
      if (!words_[i]) continue;
      const Argument& a = op_.schema().arguments()[i];
      const WordType type = lang::word_type(a.type);
      if (words_[i]->is_none ||
          (type != WordType::kTensor && type != WordType::kTensors)) {
        out.arguments.back().text = cpp_word(a, *words_[i]);
      } else if (type == WordType::kTensor) {
        const TensorArgument t = tensors.make(words_[i]->tensors[0]);
        declare(a, "sy::Tensor", t.text, out);
        out.arguments.back().value = Value(t.value);
      } else {
        declare_list(a, *words_[i], tensors, out);
      }
    }
    return out;
  }

  // Whether there are tensors whose numbers the look decides.
  bool has_choice() const {
    return std::any_of(words_.begin(), words_.end(), [](const auto& w) {
      return w && std::any_of(w->tensors.begin(), w->tensors.end(),
                              [](const TensorWord& t) {
                                return t.defined && t.values.empty() &&
                                       t.kind == TensorWord::kFloat;
                              });
    });
  }
  bool has_large() const {
    bool found = false;
    for (const auto& w : words_) {
      if (!w) continue;
      for (const TensorWord& t : w->tensors) {
        found |= is_large(t);
      }
    }
    return found;
  }

 private:
  static void declare(const Argument& a, const std::string& type,
                      const std::string& value, FactsCall& out) {
    const std::string name = cpp_variable(a);
    for (std::string& l : cpp_declaration(str("{} {}", type, name), value)) {
      out.lines.push_back(std::move(l));
    }
    out.arguments.back().text = name;
  }

  static void declare_list(const Argument& a, const Word& w,
                           FactsTensors& tensors, FactsCall& out) {
    const bool optional = a.type.without_optional().element().is_optional();
    std::vector<TensorBase> values;
    std::string texts;
    for (const TensorWord& word : w.tensors) {
      const TensorArgument t = tensors.make(word);
      texts += (texts.empty() ? "" : ", ") +
               (optional && !word.defined ? "std::nullopt" : t.text);
      values.push_back(t.value);
    }
    declare(a,
            optional ? "std::vector<std::optional<sy::Tensor>>"
                     : "std::vector<sy::Tensor>",
            str("{{{}}}", texts), out);
    out.arguments.back().value =
        optional ? Value::optional_tensor_list(values.data(), values.size())
                 : Value::tensor_list(values.data(), values.size());
  }

  OperatorHandle op_;
  std::vector<std::optional<Word>> words_;
  std::vector<Value> values_;
};

std::vector<Tensor> tensors_of(const std::vector<Value>& values) {
  std::vector<Tensor> out;
  for (const Value& v : values) {
    for_each_tensor(v, [&](const TensorBase& t) {
      if (t.defined()) out.push_back(Tensor(t));
    });
  }
  return out;
}

std::vector<Value> values_of(const FactsCall& call) {
  std::vector<Value> out;
  for (const FactsArgument& a : call.arguments) out.push_back(a.value);
  return out;
}

// Properties of the results that a reader can see.
struct Sight {
  bool finite = true;
  bool varied = false;  // not all numbers are the same, or there is only one
  bool moved = true;    // not just an argument again
  bool plain = true;    // quarters below kPlain
  bool chosen = true;   // only elements of arguments, several of them
};

Sight look_at(const std::vector<Value>& results, const FactsCall& call) {
  Sight out;
  std::set<double> given, got;
  const std::vector<Tensor> arguments = tensors_of(values_of(call));
  for (const Tensor& a : arguments) {
    for (const double v : elements_of(a)) given.insert(v);
  }
  size_t n = 0;
  bool first = true;
  for (const Tensor& t : tensors_of(results)) {
    const std::vector<double> v = elements_of(t);
    out.chosen &= t.dtype() == kLong;
    n += v.size();
    for (const double e : v) {
      got.insert(e);
      out.finite &= std::isfinite(e);
      out.plain &= std::abs(e) < kPlain && std::floor(e * 4) == e * 4;
      out.chosen &= given.contains(e);
    }
    if (!first) continue;
    first = false;
    for (const Tensor& a : arguments) {
      if (a.sizes() == t.sizes() && a.numel() > 1 && elements_of(a) == v) {
        out.moved = false;
      }
    }
  }
  out.varied = n <= 1 || got.size() > 1;
  out.chosen &= got.size() > 1;
  return out;
}

int faults_of(Look look, const Sight& s, OperatorHandle op,
              const std::string& output) {
  const OperatorInfo* const info = op.entry().info();
  const bool computes = info != nullptr && info->kind != OperatorInfo::kView &&
                        info->kind != OperatorInfo::kDispatch &&
                        info->kind != OperatorInfo::kComposite;
  if (look == Look::kWhole && (computes || !s.chosen)) return 100;
  if (look == Look::kCounted && !s.plain) return 100;
  const bool scientific =
      output.find("e-") != output.npos || output.find("e+") != output.npos;
  return (s.finite ? 0 : 20) + (scientific ? 1 : 0) + (s.varied ? 0 : 5) +
         (s.moved ? 0 : 4) +
         (std::count(output.begin(), output.end(), '\n') < kLines ? 0 : 2);
}

}  // namespace

std::vector<Value> call_operator(OperatorHandle op, const FactsCall& call) {
  return call_with(op, values_of(call));
}

std::optional<FactsExample> example_of(OperatorHandle op,
                                       const std::string& words) {
  const Maker maker(op, words);
  std::optional<FactsExample> best;
  for (const Look look : kLooks) {
    if (look == Look::kCounted && !maker.has_large()) continue;
    if (!maker.has_choice() && look != Look::kMixed) continue;
    FactsExample e;
    try {
      e.call = maker.make(look);
      const std::vector<Value> results = call_operator(op, e.call);
      e.output = printed(op.schema(), results);
      e.faults = faults_of(look, look_at(results, e.call), op, e.output);
    } catch (const InternalError&) {
      throw;
    } catch (const Error&) {
      continue;  // the operator does not take the values
    }
    e.text = call_text(op, e.call);
    if (!best || e.faults < best->faults) best = std::move(e);
    if (best->faults == 0) break;
  }
  return best;
}

}  // namespace sy::tools
