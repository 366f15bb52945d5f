#include "lang/view_extent.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lang/parser.h"

namespace sy::lang {

namespace {

// A capital letter stands for any expression, everywhere the same.
struct Form {
  const char* sizes;
  const char* strides;
  const char* offset;  // "": that of self
};

// Arguments that the functions of geometry.h throw for, such as a dim that is
// not there or a step of 0, make no view. Dims go away at an index that exists,
// or if they have one alone: a tensor without elements does not become one with
// some.
constexpr Form kForms[] = {
    {"self.sizes()", "self.strides()", ""},
    {"swapped(self.sizes(), A, B)", "swapped(self.strides(), A, B)", ""},
    {"reversed(self.sizes())", "reversed(self.strides())", ""},
    {"permuted(self.sizes(), A)", "permuted(self.strides(), A)", ""},
    {"inserted(self.sizes(), A, 1)", "inserted(self.strides(), A, B)", ""},
    {"without(self.sizes(), A)", "without(self.strides(), A)",
     "self.storage_offset() + wrap_index(B, self.size(A)) * self.stride(A)"},
    {"with(self.sizes(), A, slice_size(self.size(A), B, C, D))",
     "with(self.strides(), A, self.stride(A) * min(D, max(self.size(A), 1)))",
     "self.storage_offset() + slice_start(self.size(A), B) * self.stride(A)"},
    {"[self.size(d) for d in range(self.dim()) if self.size(d) != 1]",
     "[self.stride(d) for d in range(self.dim()) if self.size(d) != 1]", ""},
    {"[self.size(d) for d in range(self.dim()) if A or self.size(d) != 1]",
     "[self.stride(d) for d in range(self.dim()) if A or self.size(d) != 1]",
     ""},
    {"let dims = B in "
     "[self.size(d) for d in range(self.dim()) if A or self.size(d) != 1]",
     "let dims = B in "
     "[self.stride(d) for d in range(self.dim()) if A or self.size(d) != 1]",
     ""},
    {"expand_sizes(self.sizes(), A)",
     "expand_strides(self.sizes(), self.strides(), A)", ""},
    {"diagonal_sizes(self.sizes(), A, B, C)",
     "diagonal_strides(self.strides(), B, C)",
     "self.storage_offset() + diagonal_offset(self.strides(), A, B, C)"},
    {"unfold_sizes(self.sizes(), A, B, C)",
     "unfold_strides(self.strides(), A, C)", ""},
    {"infer_size(A, self.numel())",
     "view_strides(self.sizes(), self.strides(), infer_size(A, self.numel()))",
     ""},
};

struct Parsed {
  Expr sizes, strides, offset;
};

const std::vector<Parsed>& forms() {
  static const auto* const all = [] {
    auto* out = new std::vector<Parsed>;
    for (const Form& f : kForms) {
      const bool own = *f.offset == '\0';
      out->push_back({parse(f.sizes), parse(f.strides),
                      parse(own ? "self.storage_offset()" : f.offset)});
    }
    return out;
  }();
  return *all;
}

using Bindings = std::map<std::string, Expr>;

bool matches(const Expr& form, const Expr& e, Bindings& bound) {
  const bool any = form->kind == ExprKind::kName && form->name.size() == 1 &&
                   form->name[0] >= 'A' && form->name[0] <= 'D';
  if (any) {
    const auto [at, added] = bound.emplace(form->name, e);
    return added || equal(at->second, e);
  }
  if (form->kind != e->kind || form->op != e->op || form->name != e->name ||
      !(form->number == e->number) ||
      form->children.size() != e->children.size()) {
    return false;
  }
  for (const std::string& keyword : e->keywords) {
    if (!keyword.empty()) return false;
  }
  for (std::size_t i = 0; i < e->children.size(); ++i) {
    if (!matches(form->children[i], e->children[i], bound)) return false;
  }
  return true;
}

}  // namespace

bool stays_within(const ViewBody& view) {
  if (!view.strides) return false;  // self may have fewer elements in memory
  static const Expr own = parse("self.storage_offset()");
  const Expr& offset = view.offset ? view.offset->expr : own;
  for (const Parsed& form : forms()) {
    Bindings bound;
    if (matches(form.sizes, view.sizes.expr, bound) &&
        matches(form.strides, view.strides->expr, bound) &&
        matches(form.offset, offset, bound)) {
      return true;
    }
  }
  return false;
}

}  // namespace sy::lang
