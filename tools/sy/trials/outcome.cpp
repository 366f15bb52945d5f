#include "tools/sy/trials/outcome.h"

#include "c10/device/generator.h"
#include "c10/process/error.h"
#include "tools/sy/support/exception_text.h"

namespace sy::tools {

void Outcome::keep(const Value& v) {
  if (v.tag() == Value::Tag::TensorList) {
    for (const TensorBase& t : v.to_tensor_list()) keep(Value(t));
  } else if (v.is_tensor()) {
    tensors.push_back(read_tensor(v.to_tensor()));
  } else {
    plain.push_back(to_string(v));
  }
}

Outcome outcome_of(OperatorHandle op, Arguments in) {
  std::vector<Value> out(op.schema().returns().size());
  Outcome outcome;
  manual_seed(5);
  try {
    op.call_boxed(in.values.data(), in.values.size(), out.data(), out.size());
  } catch (const Error&) {
    outcome.error = current_exception_text();
  }
  for (const Value& v : out) outcome.keep(v);
  for (const NamedTensor& t : in.tensors) outcome.keep(Value(t.tensor));
  return outcome;
}

std::string difference(const Outcome& expected, const Outcome& actual,
                       Tolerance tolerance) {
  if (expected.error != actual.error) {
    return str("expected '{}', got '{}'", expected.error, actual.error);
  }
  if (expected.plain != actual.plain) return "another number";
  if (expected.tensors.size() != actual.tensors.size()) {
    return str("expected {} tensors, got {}", expected.tensors.size(),
               actual.tensors.size());
  }
  for (size_t i = 0; i < expected.tensors.size(); ++i) {
    const std::string why =
        compare_tensor(actual.tensors[i], expected.tensors[i], tolerance);
    if (!why.empty()) return why;
  }
  return "";
}

}  // namespace sy::tools
