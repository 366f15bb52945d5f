#include <optional>

#include "aten/tensor.h"
#include "c10/device/generator.h"
#include "c10/process/error.h"
#include "tools/sy/cases/compare.h"
#include "tools/sy/trials/forms.h"
#include "tools/sy/trials/trials.h"

namespace sy::tools {

namespace {

using Results = std::vector<HostTensor>;

void append(const Value& v, Results* out) {
  for_each_tensor(v,
                  [&](const TensorBase& t) { out->push_back(read_tensor(t)); });
}

// All calls draw the same random numbers.
Results call(OperatorHandle op, std::vector<Value>& args) {
  manual_seed(5);
  std::vector<Value> out(op.schema().returns().size());
  op.call_boxed(args.data(), args.size(), out.data(), out.size());
  Results results;
  for (const Value& v : out) append(v, &results);
  return results;
}

class Agreed final : public CallTrials {
 public:
  Agreed(OperatorHandle op, std::shared_ptr<const Calls> calls)
      : CallTrials(op, std::move(calls)), forms_(other_forms(op)) {}

 private:
  std::string problem(size_t i, CaseResult&) const override {
    Arguments in = arguments(i);
    Results before, after;
    for (const NamedTensor& t : in.tensors) append(Value(t.tensor), &before);
    const Results expected = call(op(), in.values);
    for (const NamedTensor& t : in.tensors) append(Value(t.tensor), &after);
    if (op().schema().is_functional()) {
      for (size_t k = 0; k < before.size(); ++k) {
        if (before[k].storage != after[k].storage) {
          return str("the call changes {}", in.tensors[k].name);
        }
      }
    }
    if (op().entry().has_flag(OperatorDef::kRandom)) {
      Arguments other = arguments(i);
      const std::string why =
          compare(call(op(), other.values), expected, 0, true);
      if (!why.empty()) return "with the same seed: " + why;
    } else if (const auto like = calls().like(i)) {
      Arguments other = arguments(like->call);
      const std::string why =
          compare(expected, call(op(), other.values), like->tolerance, false);
      if (!why.empty()) {
        return str("not as for {}: {}", calls().id(like->call), why);
      }
    }
    for (const OperatorHandle form : forms_) {
      const std::string why = by_form(form, i, expected);
      if (!why.empty()) return str("{}: {}", form.name(), why);
    }
    return "";
  }

  std::string by_form(OperatorHandle form, size_t i,
                      const Results& expected) const {
    const Arguments in = arguments(i);
    const FunctionSchema& base = op().schema();
    std::vector<Value> args;
    size_t written = 0;
    for (const Argument& a : form.schema().arguments()) {
      const int k = base.argument_index(a.name.view());
      if (a.is_write() && form.schema().is_out()) {
        if (written >= expected.size()) return "";  // a list of results
        // The tensor has other sizes than it needs.
        args.emplace_back(TensorBase(
            Tensor(make_tensor({0}, expected[written++].dtype, Device(kCPU)))));
        if (a.type.is_list()) return "";
        continue;
      }
      if (k < 0) return "";
      args.push_back(in.values[static_cast<size_t>(k)]);
      if (!a.is_write()) continue;
      if (!args.back().is_tensor() || expected.size() != 1) return "";
      const TensorBase& self = args.back().to_tensor();
      // Only what fits can be written to.
      if (self.dtype() != expected[0].dtype ||
          self.sizes() != IntArrayRef(expected[0].sizes)) {
        return "";
      }
    }
    return compare(call(form, args), expected, 0, true);
  }

  // Compares tensors of different dtypes.
  static std::string compare_numbers(const HostTensor& actual,
                                     const HostTensor& expected, Tolerance t) {
    if (actual.sizes != expected.sizes) {
      return str("expected sizes {}, got {}", IntArrayRef(expected.sizes),
                 IntArrayRef(actual.sizes));
    }
    const auto from =
        element_indices(actual.sizes, actual.strides, actual.offset);
    const auto want =
        element_indices(expected.sizes, expected.strides, expected.offset);
    for (size_t i = 0; i < want.size(); ++i) {
      const double a = element_value(actual, from[i]);
      const double e = element_value(expected, want[i]);
      if (t.accepts(a, e)) continue;
      return str("element {}: expected {}, got {}",
                 element_position(expected.sizes, static_cast<int64_t>(i)), e,
                 a);
    }
    return "";
  }

  static std::string compare(const Results& actual, const Results& expected,
                             double tolerance, bool dtypes) {
    if (actual.size() != expected.size()) {
      return str("expected {} results, got {}", expected.size(), actual.size());
    }
    for (size_t k = 0; k < actual.size(); ++k) {
      const Tolerance t{tolerance, tolerance};
      const std::string why = dtypes || actual[k].dtype == expected[k].dtype
                                  ? compare_tensor(actual[k], expected[k], t)
                                  : compare_numbers(actual[k], expected[k], t);
      if (!why.empty()) return why;
    }
    return "";
  }

  std::vector<OperatorHandle> forms_;
};

}  // namespace

std::unique_ptr<Trials> agreed_trials(OperatorHandle op,
                                      std::shared_ptr<const Calls> calls) {
  return std::make_unique<Agreed>(op, std::move(calls));
}

}  // namespace sy::tools
