#include "tools/sy/cases/case_runner.h"

#include "c10/device/stream.h"
#include "c10/process/error.h"
#include "c10/tensor/storage_payload.h"
#include "tools/sy/cases/compare.h"
#include "tools/sy/cases/effects.h"
#include "tools/sy/cases/gradient.h"
#include "tools/sy/support/exception_text.h"

namespace sy::tools {

namespace {

// The results of one call against those that the case states.
class Results {
 public:
  Results(const Case& c, const Arguments& arguments, const Before& before,
          const Safetensors& storages, Device device, CaseResult& result)
      : arguments_(arguments),
        before_(before),
        storages_(storages),
        device_(device),
        tolerance_{c.rtol, c.atol},
        result_(result) {}

  std::string compare(const Value& actual, const Json& expected,
                      const std::string& name) {
    std::string why;
    if (is_tensor(expected)) {
      why = actual.is_tensor()
                ? compare_tensor_result(actual.to_tensor(), expected, name)
                : str("expected a tensor, got {}", to_string(actual));
    } else if (actual.tag() == Value::Tag::TensorList) {
      return compare_list(actual.to_tensor_list(), expected, name);
    } else {
      why = compare_plain(actual, expected, tolerance_);
      if (!expected.is_null()) result_.non_empty = true;
    }
    return why.empty() ? "" : str("{}: {}", name, why);
  }

 private:
  std::string compare_list(ArrayRef<TensorBase> actual, const Json& expected,
                           const std::string& name) {
    if (!expected.is_array() || expected.size() != actual.size()) {
      return str("{}: expected {}, got a list of {} tensors", name,
                 expected.is_array() ? str("{} tensors", expected.size())
                                     : dump(expected),
                 actual.size());
    }
    for (size_t i = 0; i < actual.size(); ++i) {
      const std::string why =
          compare(Value(actual[i]), expected[i], str("{}[{}]", name, i));
      if (!why.empty()) return why;
    }
    return "";
  }

  std::string compare_tensor_result(const TensorBase& actual,
                                    const Json& expected,
                                    const std::string& name) {
    const TensorSpec spec = parse_tensor(expected, storages_, name);
    if (actual.device().type() != device_.type()) {
      return str("device: expected {}, got {}", device_, actual.device());
    }
    const HostTensor got = read_tensor(actual);
    const HostTensor want = read_tensor(spec, storages_);
    std::string why = compare_tensor(got, want, tolerance_);
    if (why.empty()) why = compare_alias(actual, spec.alias);
    if (!why.empty()) return why;
    if (want.numel() != 0) result_.non_empty = true;
    why = compare_geometry(got, want);
    if (!spec.alias.empty()) return why;
    if (!why.empty()) result_.note = str("{}: {}", name, why);
    return "";
  }

  std::string compare_alias(const TensorBase& actual,
                            const std::string& alias) {
    if (alias.empty()) {
      return before_.has_storage(actual.storage())
                 ? "expected fresh memory, got that of an argument"
                 : "";
    }
    const NamedTensor* argument = arguments_.find(alias);
    SY_CHECK(argument != nullptr, Value, "alias: no tensor argument {}", alias);
    return actual.is_alias_of(argument->tensor)
               ? ""
               : str("expected memory of {}, got other memory", alias);
  }

  const Arguments& arguments_;
  const Before& before_;
  const Safetensors& storages_;
  Device device_;
  Tolerance tolerance_;
  CaseResult& result_;
};

void compute_elements(const Value& v) {
  for_each_tensor(v, [](const TensorBase& t) {
    if (t.storage() && t.storage()->payload() != nullptr) {
      materialize(*t.storage(), "sy conform");
    }
  });
}

}  // namespace

CaseResult CaseRunner::run(const Case& c) const {
  CaseResult result;
  try {
    if (c.fails) {
      result.why = must_throw(c);
    } else {
      compare(c, result);
    }
  } catch (...) {
    result.why = current_exception_text();
  }
  if (!result.why.empty()) result.non_empty = false;
  return result;
}

std::string CaseRunner::must_throw(const Case& c) const {
  Arguments in =
      bind_arguments(op_.schema(), c, file_.storages, options_.device);
  std::vector<Value> out(op_.schema().returns().size());
  try {
    op_.call_boxed(in.values.data(), in.values.size(), out.data(), out.size());
    // A device that computes later looks at the elements only then, and one
    // that works later says what its kernels found when it is waited for.
    for (const Value& v : out) compute_elements(v);
    for (const Value& v : in.values) compute_elements(v);
    if (options_.device.type() > kMeta) synchronize(options_.device);
  } catch (const NotImplementedError&) {
    return "expected an error, got " + current_exception_text();
  } catch (const InternalError&) {
    return "expected an error, got " + current_exception_text();
  } catch (const Error&) {
    return "";
  } catch (...) {
    return "expected an sy::Error, got " + current_exception_text();
  }
  return "expected an error, got a result";
}

void CaseRunner::compare(const Case& c, CaseResult& result) const {
  const FunctionSchema& schema = op_.schema();
  SY_CHECK(c.returns.size() == schema.returns().size(), Value,
           "expected {} results, the schema has {}", c.returns.size(),
           schema.returns().size());
  Arguments in = bind_arguments(schema, c, file_.storages, options_.device);
  const bool gradients = options_.gradients && !c.grad.is_null();
  if (gradients) require_gradients(c.grad, in);
  const Before before(in);
  std::vector<Value> out(c.returns.size());
  op_.call_boxed(in.values.data(), in.values.size(), out.data(), out.size());

  // An operator that gives and writes nothing has shown what it can once it
  // accepts elements.
  for (const NamedTensor& t : in.tensors) {
    const bool checks_only = schema.returns().empty() && c.mutated.empty();
    if (checks_only && t.tensor.numel() != 0) result.non_empty = true;
  }

  Results results(c, in, before, file_.storages, options_.device, result);
  for (size_t i = 0; i < out.size() && result.why.empty(); ++i) {
    result.why = results.compare(out[i], c.returns[i], str("returns[{}]", i));
  }
  const Tolerance tolerance{c.rtol, c.atol};
  if (result.why.empty()) {
    result.why = before.compare(c.mutated, file_.storages, tolerance);
  }
  for (const Json& written : c.mutated) {
    const TensorSpec spec = parse_tensor(written, file_.storages, "mutated");
    if (read_tensor(spec, file_.storages).numel() != 0) result.non_empty = true;
  }
  if (result.why.empty() && gradients) {
    result.why = compare_gradients(c.grad, in, out, file_.storages, tolerance,
                                   options_.device);
    const bool other = !result.why.empty() && !options_.device.is_cpu();
    if (other && !gradient_is_determined(c)) result.why.clear();
  }
}

// Whether the CPU's gradient is the recorded one for arguments that are almost
// those of the case, too. The gradient of equal singular values is not.
bool CaseRunner::gradient_is_determined(const Case& c) const {
  Arguments in = bind_arguments(op_.schema(), c, file_.storages, Device(kCPU));
  change_tensors(op_.schema(), moved_a_little, in);
  require_gradients(c.grad, in);
  std::vector<Value> out(c.returns.size());
  op_.call_boxed(in.values.data(), in.values.size(), out.data(), out.size());
  return compare_gradients(c.grad, in, out, file_.storages, {c.rtol, c.atol},
                           Device(kCPU))
      .empty();
}

}  // namespace sy::tools
