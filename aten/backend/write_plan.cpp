#include "aten/backend/write_plan.h"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "c10/dispatch/default_argument.h"
#include "c10/schema/function_schema.h"

namespace sy {

namespace {

using Places = std::vector<int8_t>;

// Whether a form that writes puts its result in `a`; the other written
// arguments of an out= form are changed besides.
bool is_target(const FunctionSchema& s, const Argument& a) {
  return s.is_out() ? a.is_out() : a.is_write();
}

bool names(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    const size_t end = std::min(list.find(','), list.size());
    if (list.substr(0, end) == name) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

Places written_arguments(const OperatorEntry& op) {
  const FunctionSchema& s = op.schema();
  const char* const silent = op.info() == nullptr ? "" : op.info()->writes;
  Places out;
  for (size_t i = 0; i < s.arguments().size(); ++i) {
    const Argument& a = s.arguments()[i];
    if (a.is_write() || names(silent, a.name.view())) {
      out.push_back(static_cast<int8_t>(i));
    }
  }
  return out;
}

Places target_arguments(const FunctionSchema& s) {
  Places out;
  for (size_t i = 0; i < s.arguments().size(); ++i) {
    if (is_target(s, s.arguments()[i])) out.push_back(static_cast<int8_t>(i));
  }
  return out;
}

int8_t place_of(const FunctionSchema& f, size_t at,
                const FunctionSchema& form) {
  const Argument& a = f.arguments()[at];
  const int i = form.argument_index(a.name.view());
  if (i >= 0) return static_cast<int8_t>(i);
  // The functional operator may call `input` what is `self` in place.
  if (at == 0 && form.self_index() == 0 && a.type == TypeKind::kTensor) {
    return 0;
  }
  if (a.name == "dtype") return FunctionalForm::kDtype;
  if (a.name == "device") return FunctionalForm::kDevice;
  return FunctionalForm::kDefault;
}

// Whether a call of the form says all that one of `f` asks for, and nothing
// that it would not look at.
bool fits(const FunctionSchema& f, const FunctionSchema& form) {
  if (!f.is_functional()) return false;
  std::vector<bool> used(form.arguments().size());
  for (size_t i = 0; i < f.arguments().size(); ++i) {
    const Argument& a = f.arguments()[i];
    const int8_t p = place_of(f, i, form);
    if (p >= 0) used[size_t(p)] = true;
    if (p == FunctionalForm::kDefault && !a.default_value) return false;
    if (p >= 0 && form.arguments()[size_t(p)].type.without_optional() !=
                      a.type.without_optional()) {
      return false;
    }
  }
  for (size_t i = 0; i < used.size(); ++i) {
    if (!used[i] && !(form.is_out() && form.arguments()[i].is_out())) {
      return false;
    }
  }
  const Places targets = target_arguments(form);
  if (f.returns().size() != targets.size()) return false;
  for (size_t i = 0; i < targets.size(); ++i) {
    const Type t = form.arguments()[size_t(targets[i])].type;
    if (f.returns()[i].type != t.without_optional()) return false;
    // A view is nobody's new value.
    if (f.returns()[i].alias) return false;
  }
  return true;
}

// Overload names that PyTorch gives the functional operator of a form.
bool may_be_named(std::string_view functional, std::string_view form,
                  bool is_out) {
  if (!is_out) return functional == form;
  if (form == "out") return true;
  if (form.ends_with("_out")) form.remove_suffix(4);
  return functional == form;
}

// Finds it by the names and the signatures, for forms that stand by themselves.
const OperatorEntry* find_functional(const OperatorEntry& op) {
  const FunctionSchema& form = op.schema();
  const std::string_view full = op.name();
  const size_t colons = full.find("::");
  const std::string base =
      std::string(full.substr(0, colons + 2)) +
      (form.is_inplace() ? form.name().functional_name()
                         : std::string(form.name().name.view()));
  const OperatorEntry* found = nullptr;
  for (const OperatorHandle h : Dispatcher::singleton().operators()) {
    const std::string_view name = h.name();
    if (!name.starts_with(base)) continue;
    const std::string_view rest = name.substr(base.size());
    if (!rest.empty() && rest[0] != '.') continue;
    const std::string_view overload = rest.substr(rest.empty() ? 0 : 1);
    if (!may_be_named(overload, form.name().overload.view(), form.is_out())) {
      continue;
    }
    if (&h.entry() == &op || !fits(h.schema(), form)) continue;
    if (found == nullptr || overload.empty()) found = &h.entry();
  }
  return found;
}

void call_functional(const OperatorEntry& op, Places args, Places stored,
                     WritePlan* plan) {
  plan->kind = WritePlan::kFunctional;
  plan->functional = &op;
  plan->args = std::move(args);
  plan->stored = std::move(stored);
  const auto arguments = op.schema().arguments();
  plan->defaults.resize(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (plan->args[i] == FunctionalForm::kDefault) {
      plan->defaults[i] =
          default_value(arguments[i].default_value, arguments[i].type);
    }
  }
}

Places returned_arguments(const FunctionSchema& s) {
  Places out;
  for (size_t i = 0; i < s.returns().size(); ++i) {
    const bool write = s.returns()[i].alias.is_write();
    out.push_back(static_cast<int8_t>(write ? s.aliased_argument(i) : -1));
  }
  return out;
}

OperatorExtra* make_plan(const OperatorEntry& op) {
  auto plan = std::make_unique<WritePlan>();
  if (!op.has_flag(OperatorDef::kWrites)) return plan.release();
  const FunctionSchema& form = op.schema();
  plan->written = written_arguments(op);
  plan->returned = returned_arguments(form);
  plan->kind = WritePlan::kOnCopies;
  if (op.has_flag(OperatorDef::kGeometry)) {
    plan->kind = WritePlan::kGeometry;
    return plan.release();
  }
  // An argument that is changed besides is nobody's result.
  const Places targets = target_arguments(form);
  if (plan->written != targets) return plan.release();
  if (const FunctionalForm* f = op.functional()) {
    const auto found = Dispatcher::singleton().find(f->op);
    if (found && !found->entry().has_flag(OperatorDef::kWrites)) {
      call_functional(found->entry(), Places(f->args, f->args + f->num_args),
                      Places(f->written, f->written + f->num_written),
                      plan.get());
    }
  } else if (const OperatorEntry* found = find_functional(op)) {
    Places args;
    for (size_t i = 0; i < found->schema().arguments().size(); ++i) {
      args.push_back(place_of(found->schema(), i, form));
    }
    call_functional(*found, std::move(args), targets, plan.get());
  }
  return plan.release();
}

// The first tensor of an argument that is written.
const TensorBase& first_written(const WritePlan& plan, const Value* args) {
  const Value& v = args[plan.written[0]];
  if (v.is_tensor()) return v.to_tensor();
  static const TensorBase none;
  if (v.is_none()) return none;
  const ArrayRef<TensorBase> list = v.to_tensor_list();
  return list.empty() ? none : list[0];
}

}  // namespace

const WritePlan& write_plan(const OperatorEntry& op) {
  return static_cast<const WritePlan&>(op.extra(&make_plan));
}

std::vector<Value> functional_arguments(const WritePlan& plan,
                                        const Value* args) {
  std::vector<Value> out;
  out.reserve(plan.args.size());
  for (size_t i = 0; i < plan.args.size(); ++i) {
    switch (const int8_t p = plan.args[i]) {
      case FunctionalForm::kDefault: out.push_back(plan.defaults[i]); break;
      case FunctionalForm::kDtype: {
        const TensorBase& t = first_written(plan, args);
        out.push_back(t.defined() ? Value(t.scalar_type()) : Value());
        break;
      }
      case FunctionalForm::kDevice: {
        const TensorBase& t = first_written(plan, args);
        out.push_back(t.defined() ? Value(t.device()) : Value());
        break;
      }
      default: out.push_back(args[p]);
    }
  }
  return out;
}

}  // namespace sy
