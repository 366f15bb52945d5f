#include "model/functional_form.h"

#include <algorithm>

#include "model/form_plan.h"

namespace sy::model {

std::int8_t place_of(const Argument& a, const FunctionSchema& form) {
  const int i = form.argument_index(a.name.view());
  if (i >= 0) return static_cast<std::int8_t>(i);
  if (a.name == "dtype") return FormPlaces::kDtype;
  if (a.name == "device") return FormPlaces::kDevice;
  return FormPlaces::kDefault;
}

std::optional<FunctionalPlaces> functional_places(const Operator& op,
                                                  const Overload& form) {
  if (!op.is_functional() || &form == &op.base) return std::nullopt;
  FunctionalPlaces out;
  for (const Argument& a : op.base.schema.arguments()) {
    out.args.push_back(place_of(a, form.schema));
  }
  for (const int i : written_tensors(form.schema)) {
    out.written.push_back(static_cast<std::int8_t>(i));
  }
  return out;
}

bool stores_as_laid_out(const Operator& op) {
  const bool dense = op.kind() == lang::OperatorKind::kComposite &&
                     op.has_tag("pointwise") && !op.has_tag("copied_out");
  return dense || result_layout(op).by_columns;
}

Effects effects_of(const Operator& op, const Overload& o) {
  const auto shares = [](const auto& x) {
    return x.alias && !x.alias.is_write();
  };
  const auto arguments = o.schema.arguments();
  const auto returns = o.schema.returns();
  const bool named = o.schema.is_inplace() || o.schema.is_out();
  const bool view = !returns.empty() && shares(returns[0]);
  Effects e;
  e.writes = !named && (o.schema.is_mutable() || !op.entry->writes.empty());
  e.aliases =
      !view && (std::any_of(arguments.begin(), arguments.end(), shares) ||
                std::any_of(returns.begin(), returns.end(), shares));
  e.geometry = o.schema.is_mutable() && op.has_tag("inplace_view");
  return e;
}

}  // namespace sy::model
