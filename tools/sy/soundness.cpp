#include "tools/sy/soundness.h"

#include "c10/error.h"
#include "c10/schema/function_schema.h"
#include "c10/value.h"

namespace sy::tools {

bool names_operator(std::string_view text, const FunctionSchema& schema) {
  if (text.starts_with('[') && text.find("] ") != text.npos) return true;
  return text.find(schema.name().functional_name()) != text.npos;
}

std::string out_of_bounds(const TensorBase& t) {
  if (!t.defined() || t.numel() == 0) return "";
  int64_t first = t.storage_offset(), last = first;
  for (int64_t d = 0; d < t.dim(); ++d) {
    const int64_t reach = (t.sizes()[d] - 1) * t.strides()[d];
    (reach < 0 ? first : last) += reach;
  }
  const auto bytes = static_cast<int64_t>(t.storage()->nbytes());
  const auto item = static_cast<int64_t>(t.itemsize());
  if (first >= 0 && (last + 1) * item <= bytes) return "";
  return str("the result {} lies outside its storage", to_string(Value(t)));
}

}  // namespace sy::tools
