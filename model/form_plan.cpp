#include "model/form_plan.h"

#include <algorithm>

#include "model/functional_form.h"

namespace sy::model {

namespace {

using lang::OperatorKind;

// A tensor, an optional one, or a list of either.
bool holds_tensors(const Type& t) {
  if (t == TypeKind::kTensor) return true;
  if (t.is_optional()) return t.element() == TypeKind::kTensor;
  return t.is_list() && t.element().without_optional() == TypeKind::kTensor;
}

bool is_differentiable(const Operator& op) {
  const auto& items = op.entry->derivative;
  return is_recorded_by_parts(op) ||
         std::any_of(
             items.begin(), items.end(), [](const lang::DerivativeItem& d) {
               return d.kind != lang::DerivativeItem::Kind::kNonDifferentiable;
             });
}

}  // namespace

FormKernel kernel_of(const Operator& op, const Overload& form) {
  if (op.entry->is_foreach) return FormKernel::kForeach;
  if (&form != &op.base) {
    return is_recorded_by_parts(op) && form.schema.is_inplace()
               ? FormKernel::kRecordedStore
               : FormKernel::kStore;
  }
  switch (op.kind()) {
    case OperatorKind::kComposite: return FormKernel::kComposite;
    case OperatorKind::kView: return FormKernel::kView;
    default: return FormKernel::kNone;
  }
}

bool is_implicit(FormKernel kernel, const Overload& form) {
  return kernel == FormKernel::kComposite ||
         kernel == FormKernel::kRecordedStore ||
         (kernel == FormKernel::kForeach && !form.schema.is_out());
}

bool is_recorded_by_parts(const Operator& op) {
  return op.kind() == OperatorKind::kComposite || op.has_kernel(kImplicit);
}

FormGradient gradient_of(const Operator& op, const Overload& form,
                         const DerivativePlan& plan) {
  const bool is_out = form.schema.is_out() && &form != &op.base;
  if (is_recorded_by_parts(op)) {
    return is_out ? FormGradient::kReject : FormGradient::kNone;
  }
  if (plan.non_differentiable) {
    const bool overwrites = form.schema.is_inplace() && &form != &op.base;
    return overwrites ? FormGradient::kOverwrite : FormGradient::kFallthrough;
  }
  if (plan.empty()) return FormGradient::kNone;
  if (is_out) return FormGradient::kReject;
  const bool writes = &form != &op.base || !op.is_functional();
  return writes && op.has_tag("inplace_view") ? FormGradient::kRecordView
                                              : FormGradient::kRecord;
}

uint16_t flags_of(const Operator& op, const Overload& form, ExactOut* exact) {
  uint16_t flags = 0;
  const auto set = [&](bool is_so, OperatorFlags::Flag flag) {
    if (is_so) flags |= flag;
  };
  const auto returns = form.schema.returns();
  const Effects effects = effects_of(op, form);
  set(!op.entry->device_check, OperatorFlags::kNoDeviceCheck);
  set(!op.entry->device_guard, OperatorFlags::kNoDeviceGuard);
  set(!returns.empty() && returns[0].alias && !returns[0].alias.is_write(),
      OperatorFlags::kView);
  set(form.schema.is_inplace(), OperatorFlags::kInplace);
  set(form.schema.is_out(), OperatorFlags::kOut);
  set(op.has_tag("nondeterministic_seeded"), OperatorFlags::kRandom);
  set(is_differentiable(op) && !form.schema.is_out(),
      OperatorFlags::kDifferentiable);
  set(exact->of(op), OperatorFlags::kExactOut);
  set(effects.writes, OperatorFlags::kWrites);
  set(effects.aliases, OperatorFlags::kAliases);
  set(effects.geometry, OperatorFlags::kGeometry);
  return flags;
}

bool has_contract(const Operator& op) {
  if (is_program(op.kind())) return op.has_requirements();
  if (op.kind() != OperatorKind::kDispatch) return false;
  return op.has_requirements() || !op.contract.shape.empty() ||
         (op.entry->device_check && op.tensor_arguments().size() > 1);
}

bool contract_applies(const Operator& op, const Overload& form) {
  const auto args = op.base.schema.arguments();
  return std::all_of(args.begin(), args.end(), [&](const Argument& a) {
    return form.schema.argument_index(a.name.view()) >= 0;
  });
}

bool has_guard(const Operator& op, const Overload& form) {
  if (is_program(op.kind())) return true;
  if (op.kind() != OperatorKind::kDispatch || op.has_kernel(kImplicit)) {
    return false;
  }
  return has_contract(op) || form.schema.is_mutable();
}

bool has_sizes_kernel(const Operator& op) {
  return op.is_structured() &&
         (op.has_backend_kernel() || op.entry->dispatch.empty());
}

ResultLayout result_layout(const Operator& op) {
  ResultLayout layout;
  layout.by_columns = op.has_tag("column_major");
  const auto& arguments = op.base.schema.arguments();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view name = arguments[i].name.view();
    if ((name == "self" && op.has_tag("format_of_self")) ||
        (name == "grad_output" && op.has_tag("format_of_grad_output"))) {
      layout.like = static_cast<int>(i);
    }
  }
  return layout;
}

InputsApart inputs_apart(const Operator& op, const Overload& form) {
  if (!form.schema.is_mutable()) return InputsApart::kNone;
  if (op.kind() == OperatorKind::kPointwise) {
    return InputsApart::kCopiedIfNeeded;
  }
  return form.schema.is_out() ? InputsApart::kCopied : InputsApart::kNone;
}

bool are_outs_apart(const Overload& form) {
  const auto arguments = form.schema.arguments();
  const std::vector<int> written = written_tensors(form.schema);
  return form.schema.is_out() && written.size() > 1 &&
         std::all_of(written.begin(), written.end(), [&](int i) {
           return arguments[static_cast<std::size_t>(i)].type ==
                  TypeKind::kTensor;
         });
}

std::vector<int> read_tensors(const FunctionSchema& form) {
  std::vector<int> out;
  const auto arguments = form.arguments();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Argument& a = arguments[i];
    if (is_target(form, a) || a.is_write() || !holds_tensors(a.type)) continue;
    out.push_back(static_cast<int>(i));
  }
  return out;
}

}  // namespace sy::model
