#include "runtime/loader/checks.h"

#include <algorithm>
#include <vector>

#include "c10/dispatch/dispatcher.h"
#include "model/programs.h"
#include "runtime/loader/descriptors.h"

namespace sy::runtime {
namespace {

void check_defined_before(const model::Operator& op,
                          lang::Diagnostics& diagnostics) {
  for (const model::Overload* o : op.overloads()) {
    const std::string name = op.ns + "::" + o->name;
    const auto known = Dispatcher::singleton().find(name);
    if (!known || !known->entry().defined()) continue;
    const OperatorInfo* info = known->entry().info();
    diagnostics.error(op.entry->func.start(), "{} '{}' is defined already{}{}",
                      o->derived ? "its form" : "the operator", name,
                      info == nullptr ? "" : ", at ",
                      info == nullptr ? "" : info->source);
  }
}

void check_limits(const model::Operator& op, lang::Diagnostics& diagnostics) {
  const auto check = [&](const lang::Program& program, bool operands) {
    const std::string problem = beyond_limits(program, operands);
    if (!problem.empty()) {
      diagnostics.error(op.entry->func.start(), problem);
    }
  };
  if (op.kind() == lang::OperatorKind::kPointwise) {
    check(model::pointwise_program(op), true);
  } else if (op.kind() == lang::OperatorKind::kScan) {
    check(model::scan_parts(op).combine, false);
  } else if (op.kind() == lang::OperatorKind::kReduce) {
    constexpr size_t kMaxAccumulators = 8;
    if (op.entry->reduce->accumulators.size() > kMaxAccumulators) {
      diagnostics.error(op.entry->func.start(),
                        "a reduction has at most 8 accumulators");
      return;
    }
    const model::ReduceParts parts = model::reduce_parts(op);
    check(parts.map, false);
    check(parts.combine, false);
    if (parts.finish) check(*parts.finish, false);
    if (parts.scalars.size() > PointwiseData::kMaxScalars) {
      diagnostics.error(op.entry->func.start(),
                        "a reduction has at most 32 scalars");
    }
  }
}

// Forms are computed from the arguments of the operator.
void check_forms(const model::Operator& op, lang::Diagnostics& diagnostics) {
  const FunctionSchema& s = op.base.schema;
  const lang::Location at = op.entry->func.start();
  const size_t returns = s.returns().size();
  for (const model::Overload* o : op.overloads()) {
    if (!o->derived) continue;
    // An out= form keeps nothing for a gradient.
    const bool kept = o->schema.is_inplace() && !op.entry->derivative.empty();
    const bool all = is_program(op.kind()) || op.entry->is_foreach || kept;
    for (const Argument& a : s.arguments()) {
      if (o->schema.argument_index(a.name.view()) >= 0) continue;
      if (!all && !a.type.is_tensor_like()) continue;
      diagnostics.error(at, "the form '{}' has no argument '{}'", o->name,
                        a.name.view());
    }
    const size_t written = model::written_tensors(o->schema).size();
    if (written != returns) {
      diagnostics.error(at, "the form '{}' writes {} arguments, of {} results",
                        o->name, written, returns);
    }
  }
}

}  // namespace

void check_loadable(const model::Model& model, lang::Diagnostics& diagnostics) {
  for (const model::Family& family : model.families()) {
    for (const model::Operator& op : family.operators) {
      for (const lang::DispatchItem& d : op.entry->dispatch) {
        diagnostics.error(d.key.start(),
                          "a C++ function cannot be loaded at run time; a "
                          "library registers kernels, without 'dispatch:'");
      }
      check_defined_before(op, diagnostics);
      check_forms(op, diagnostics);
      check_limits(op, diagnostics);
    }
  }
}

}  // namespace sy::runtime
