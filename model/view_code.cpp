#include "model/view_code.h"

#include <utility>

#include "lang/view_extent.h"

namespace sy::model {
namespace {

lang::IndexCode code(const Operator& op, const lang::Expr& e,
                     const lang::IndexEnv& env, lang::IndexType type) {
  lang::Diagnostics diagnostics;
  auto code = lang::compile_index(e, env, type, op.base.name, diagnostics);
  if (!code) throw lang::LangError(diagnostics);
  return std::move(*code);
}

}  // namespace

ViewCode view_code(const Operator& op, const std::string& sizes) {
  const lang::ViewBody& view = *op.entry->view;
  const lang::Expr& whole = view.sizes.expr;
  auto env = lang::IndexEnv::of(op.base.schema);
  ViewCode out{code(op, whole, env, lang::IndexType::kList),
               {},
               {},
               lang::stays_within(view)};
  if (view.offset) {
    out.offset = code(op, view.offset->expr, env, lang::IndexType::kInt);
  }
  if (view.strides) {
    lang::Expr e = view.strides->expr;
    if (whole->kind == lang::ExprKind::kCall) {
      env.names.push_back({kSizes, lang::IndexType::kList, false, sizes, true});
      e = lang::replace(e, whole, lang::make_name(kSizes, whole->at));
    }
    out.strides = code(op, e, env, lang::IndexType::kList);
  }
  return out;
}

}  // namespace sy::model
