#include "frontend/export/write/names.h"

#include <algorithm>
#include <cctype>

namespace sy::exporting {

namespace {

// Names that mean something else in the code that Python makes of a graph,
// sorted.
constexpr std::string_view kMeant[] = {
    "False",    "None",      "True",    "abs",      "all",    "and",
    "any",      "as",        "assert",  "async",    "await",  "bool",
    "break",    "class",     "complex", "continue", "def",    "del",
    "device",   "dict",      "divmod",  "elif",     "else",   "eval",
    "except",   "exec",      "filter",  "finally",  "float",  "for",
    "from",     "fx_pytree", "getattr", "global",   "hash",   "id",
    "if",       "import",    "in",      "inf",      "int",    "is",
    "lambda",   "len",       "list",    "map",      "math",   "max",
    "min",      "nan",       "next",    "nonlocal", "not",    "object",
    "operator", "or",        "output",  "pass",     "pow",    "print",
    "pytree",   "raise",     "range",   "repr",     "return", "round",
    "self",     "set",       "slice",   "sorted",   "str",    "sum",
    "super",    "torch",     "try",     "tuple",    "type",   "vars",
    "while",    "with",      "yield",   "zip",
};

}  // namespace

std::string ValueNames::fresh(std::string_view wanted) {
  std::string name;
  for (const char c : wanted) {
    const auto u = static_cast<unsigned char>(c);
    name += std::isalnum(u) != 0 && u < 128 ? c : '_';
  }
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) {
    name.insert(0, "_");
  }
  const bool meant =
      std::find(std::begin(kMeant), std::end(kMeant), name) != std::end(kMeant);
  std::string out = name;
  int& next = next_[name];
  if (meant && next == 0) next = 1;
  if (next > 0) out = name + "_" + std::to_string(next);
  while (!taken_.insert(out).second) {
    out = name + "_" + std::to_string(++next);
  }
  ++next;
  return out;
}

std::string base_name(std::string_view op) {
  op.remove_prefix(op.find("::") + 2);
  op = op.substr(0, op.find('.'));
  if (op.starts_with("__")) op.remove_prefix(2);
  if (op.ends_with("__")) op.remove_suffix(2);
  return std::string(op);
}

std::string target_of(std::string_view op) {
  std::string out(op);
  out.replace(out.find("::"), 2, ".");
  const bool has_overload = op.find('.', op.find("::")) != op.npos;
  return "torch.ops." + out + (has_overload ? "" : ".default");
}

}  // namespace sy::exporting
