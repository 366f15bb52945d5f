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

// Sorted.
constexpr std::string_view kKeywords[] = {
    "False",  "None",   "True",    "and",      "as",       "assert", "async",
    "await",  "break",  "class",   "continue", "def",      "del",    "elif",
    "else",   "except", "finally", "for",      "from",     "global", "if",
    "import", "in",     "is",      "lambda",   "nonlocal", "not",    "or",
    "pass",   "raise",  "return",  "try",      "while",    "with",   "yield",
};

bool is_word(char c) {
  return c == '_' ||
         (std::isalnum(static_cast<unsigned char>(c)) != 0 && c > 0);
}

// What modules of Python have beside their tensors and modules, sorted.
constexpr std::string_view kOfModules[] = {
    "T_destination",
    "add_module",
    "apply",
    "bfloat16",
    "buffers",
    "call_super_init",
    "children",
    "compile",
    "cpu",
    "cuda",
    "double",
    "dump_patches",
    "eval",
    "extra_repr",
    "float",
    "forward",
    "get_buffer",
    "get_extra_state",
    "get_parameter",
    "get_submodule",
    "half",
    "ipu",
    "load_state_dict",
    "modules",
    "mtia",
    "named_buffers",
    "named_children",
    "named_modules",
    "named_parameters",
    "parameters",
    "register_backward_hook",
    "register_buffer",
    "register_forward_hook",
    "register_forward_pre_hook",
    "register_full_backward_hook",
    "register_full_backward_pre_hook",
    "register_load_state_dict_post_hook",
    "register_load_state_dict_pre_hook",
    "register_module",
    "register_parameter",
    "register_state_dict_post_hook",
    "register_state_dict_pre_hook",
    "requires_grad_",
    "set_extra_state",
    "set_submodule",
    "share_memory",
    "state_dict",
    "to",
    "to_empty",
    "train",
    "training",
    "type",
    "xpu",
    "zero_grad",
};

// What the outermost module of a program has too, sorted.
constexpr std::string_view kOfPrograms[] = {
    "add_submodule",    "code",      "delete_all_unused_submodules",
    "delete_submodule", "graph",     "meta",
    "print_readable",   "recompile", "shape_env",
    "to_folder",
};

template <size_t N>
bool has(const std::string_view (&sorted)[N], std::string_view name) {
  return std::binary_search(std::begin(sorted), std::end(sorted), name);
}

}  // namespace

bool is_variable(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), is_word) &&
         std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
         !has(kKeywords, name);
}

bool is_free_in_python(std::string_view path) {
  if (has(kOfPrograms, path.substr(0, path.find('.')))) return false;
  while (!path.empty()) {
    const size_t dot = std::min(path.find('.'), path.size());
    if (has(kOfModules, path.substr(0, dot))) return false;
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return true;
}

std::string ValueNames::fresh(std::string_view wanted) {
  std::string name;
  for (const char c : wanted) {
    name += is_word(c) ? c : '_';
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
