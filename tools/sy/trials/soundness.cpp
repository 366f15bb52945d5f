#include "tools/sy/trials/soundness.h"

#include <set>

#include "c10/dispatch/introspect.h"
#include "c10/process/error.h"
#include "c10/schema/function_schema.h"
#include "c10/tensor/value.h"

namespace sy::tools {

namespace {

std::string plain_name(OperatorHandle op) {
  std::string name = op.schema().name().functional_name();
  if (name.ends_with('_')) name.pop_back();
  return name;
}

// The schema's argument api_name says whose error it gives.
constexpr std::string_view kGivesAnothersErrors = "_linalg_check_errors";

// "__iand__", whose functional form is "__and__".
std::string_view schema_name(OperatorHandle op) {
  std::string_view name = op.name();
  const size_t space = name.rfind("::");
  if (space != name.npos) name.remove_prefix(space + 2);
  return name.substr(0, name.find('.'));
}

bool is_composed(OperatorHandle op) {
  for (const KernelInfo& k : kernels_of(op)) {
    if (k.key.starts_with("Composite")) return true;
  }
  return false;
}

const std::set<std::string, std::less<>>& names_of_operators() {
  static const auto names = [] {
    std::set<std::string, std::less<>> out;
    for (const OperatorHandle op : Dispatcher::singleton().operators()) {
      out.insert(plain_name(op));
    }
    return out;
  }();
  return names;
}

}  // namespace

bool names_operator(std::string_view text, const FunctionSchema& schema) {
  if (text.starts_with('[') && text.find("] ") != text.npos) return true;
  return text.find(schema.name().functional_name()) != text.npos;
}

bool begins_with_operator(std::string_view text, OperatorHandle op) {
  const size_t end = text.find(']');
  if (!text.starts_with('[') || end == text.npos) return false;
  std::string_view name = text.substr(1, end - 1);
  const size_t space = name.rfind("::");
  if (space != name.npos) name.remove_prefix(space + 2);
  name = name.substr(0, name.find('.'));
  if (name == schema_name(op)) return true;
  if (name.ends_with('_')) name.remove_suffix(1);
  const std::string own = plain_name(op);
  if (name == own || own == kGivesAnothersErrors) return true;
  if (!names_of_operators().contains(name)) return false;
  // A kernel of _linalg_svd speaks to those who call linalg_svd.
  return is_composed(op) || own == str("_{}", name);
}

std::string out_of_bounds(const TensorBase& t) {
  if (!t.defined() || t.numel() == 0) return "";
  // Sizes and strides may be anything: 64 bits do not hold their products.
  __extension__ using Wide = __int128;
  constexpr Wide kFar = Wide{1} << 100;
  const auto outside = [&] {
    return str("the result {} lies outside its storage", to_string(Value(t)));
  };
  Wide first = t.storage_offset(), last = first;
  for (int64_t d = 0; d < t.dim(); ++d) {
    const Wide reach = (Wide{t.sizes()[d]} - 1) * t.strides()[d];
    (reach < 0 ? first : last) += reach;
    if (reach > kFar || reach < -kFar) return outside();
  }
  const auto bytes = static_cast<Wide>(t.storage()->nbytes());
  const auto item = static_cast<Wide>(t.itemsize());
  return first >= 0 && (last + 1) * item <= bytes ? "" : outside();
}

}  // namespace sy::tools
