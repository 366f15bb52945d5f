#include "codegen/torch/formula.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace sy::codegen::torch {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

// Parts of a value that can be kept without it.
struct Part {
  std::string_view text;  // follows the value, or `NAME(` before it
  std::string_view suffix;
};
constexpr Part kMembers[] = {{".sym_sizes()", "_sym_sizes"},
                             {"->sym_sizes()", "_sym_sizes_opt"},
                             {".sym_blocksize()", "_self_sym_blocksize_opt"},
                             {".options()", "_options"},
                             {".numel()", "_numel"},
                             {".sym_numel()", "_sym_numel"},
                             {".scalar_type()", "_scalar_type"},
                             {".dim()", "_dim"},
                             {".sym_strides()", "_sym_strides"},
                             {".layout()", "_layout"},
                             {".is_conj()", "_conjugate"}};
constexpr Part kFunctions[] = {{"zeros_like(", "_info"},
                               {"to_args_sizes(", "_args_sizes"},
                               {"to_args_sizes_symint(", "_args_sizes_symint"},
                               {"to_args_scalartypes(", "_args_scalartypes"},
                               {"TensorGeometry(", "_geometry"}};

// The index in `.sym_size(-1)`, spelt as part of a name.
std::string size_suffix(std::string_view after) {
  constexpr std::string_view kCall = ".sym_size(";
  if (!after.starts_with(kCall)) return {};
  const std::size_t end = after.find(')');
  if (end == std::string_view::npos) return {};
  std::string_view index = after.substr(kCall.size(), end - kCall.size());
  std::string out = "_sym_argsize_";
  if (index.starts_with('-')) {
    out += "minus_";
    index.remove_prefix(1);
  }
  if (index.empty() || !std::all_of(index.begin(), index.end(), is_word)) {
    return {};
  }
  return out += index;
}

// The part of a value that the formula uses at `w`; "" for all of it.
std::string part_at(std::string_view formula, const Word& w) {
  const std::string_view after = formula.substr(w.offset + w.text.size());
  for (const Part& p : kMembers) {
    if (after.starts_with(p.text)) return std::string(p.suffix);
  }
  if (std::string size = size_suffix(after); !size.empty()) return size;
  if (!after.starts_with(')')) return {};
  const std::string_view before = formula.substr(0, w.offset);
  for (const Part& p : kFunctions) {
    if (!before.ends_with(p.text)) continue;
    const std::size_t start = before.size() - p.text.size();
    if (start == 0 || !is_word(before[start - 1])) return std::string(p.suffix);
  }
  return {};
}

}  // namespace

std::vector<Word> words_of(std::string_view s) {
  std::vector<Word> out;
  for (std::size_t i = 0; i < s.size();) {
    const char c = s[i];
    if (c == '"' || c == '\'') {
      for (++i; i < s.size() && s[i] != c; ++i) {
        if (s[i] == '\\') ++i;
      }
      ++i;
    } else if (s.substr(i).starts_with("/*")) {
      i = std::min(s.find("*/", i + 2), s.size() - 2) + 2;
    } else if (std::isdigit(static_cast<unsigned char>(c))) {
      while (i < s.size() && (is_word(s[i]) || s[i] == '.')) ++i;
    } else if (is_word(c)) {
      const std::size_t begin = i;
      while (i < s.size() && is_word(s[i])) ++i;
      const std::string_view before = s.substr(0, begin);
      const std::string_view after = s.substr(i);
      out.push_back({s.substr(begin, i - begin), begin,
                     before.ends_with('.') || before.ends_with("->"),
                     before.ends_with("::") || after.starts_with("::"),
                     after.starts_with('(')});
    } else {
      ++i;
    }
  }
  return out;
}

FormulaUses uses_of(std::string_view formula,
                    std::span<const std::string> names,
                    std::span<const std::string> returns) {
  FormulaUses uses;
  const std::vector<Word> words = words_of(formula);
  for (const Word& w : words) {
    if (w.is_member || w.is_scoped) continue;
    if (w.text == "grad") uses.grad = true;
    if (w.text == "grads") {
      ++uses.grads;
      const std::size_t open = w.offset + w.text.size();
      std::size_t index = 0;
      const char* const first = formula.data() + open + 1;
      const char* const last = formula.data() + formula.size();
      if (open + 1 < formula.size() && formula[open] == '[') {
        const auto [end, error] = std::from_chars(first, last, index);
        if (error == std::errc() && end != last && *end == ']') {
          uses.grad_indices.push_back(index);
        }
      }
    }
    for (const std::string& r : returns) {
      if (w.text.starts_with("grad_") && w.text.substr(5) == r) {
        uses.named_grads.push_back(r);
      }
    }
  }
  for (const std::string& name : names) {
    for (const Word& w : words) {
      if (w.text != name || w.is_member || w.is_scoped) continue;
      SavedUse use{name, name + part_at(formula, w)};
      if (std::find(uses.saved.begin(), uses.saved.end(), use) ==
          uses.saved.end()) {
        uses.saved.push_back(std::move(use));
      }
    }
  }
  return uses;
}

}  // namespace sy::codegen::torch
