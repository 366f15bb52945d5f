#include "runtime/loader/checks.h"

#include "c10/dispatcher.h"
#include "codegen/programs.h"
#include "runtime/loader/descriptors.h"

namespace sy::runtime {
namespace {

void check_defined_before(const codegen::Operator& op,
                          lang::Diagnostics& diagnostics) {
  for (const codegen::Overload* o : op.overloads()) {
    const std::string name = op.ns + "::" + o->name;
    const auto known = Dispatcher::singleton().find(name);
    if (!known || !known->entry().defined()) continue;
    const OperatorInfo* info = known->entry().info();
    diagnostics.error(
        op.entry->func.start(),
        (o->derived ? "its form '" : "the operator '") + name +
            "' is defined already" +
            (info == nullptr ? "" : ", at " + std::string(info->source)));
  }
}

void check_limits(const codegen::Operator& op, lang::Diagnostics& diagnostics) {
  const auto check = [&](const lang::Program& program) {
    const std::string problem = beyond_limits(program);
    if (!problem.empty()) {
      diagnostics.error(op.entry->func.start(), problem);
    }
  };
  if (op.kind() == lang::OperatorKind::kPointwise) {
    check(codegen::pointwise_program(op));
  } else if (op.kind() == lang::OperatorKind::kReduce) {
    constexpr size_t kMaxAccumulators = 8;
    if (op.entry->reduce->accumulators.size() > kMaxAccumulators) {
      diagnostics.error(op.entry->func.start(),
                        "a reduction has at most 8 accumulators");
      return;
    }
    const codegen::ReduceParts parts = codegen::reduce_parts(op);
    check(parts.map);
  }
}

// The forms of engines' operators have all their arguments.
void check_forms(const codegen::Operator& op, lang::Diagnostics& diagnostics) {
  const bool engine = op.kind() == lang::OperatorKind::kPointwise ||
                      op.kind() == lang::OperatorKind::kReduce;
  for (const codegen::Overload* o : op.overloads()) {
    if (!engine || !o->derived) continue;
    for (const Argument& a : op.base.schema.arguments()) {
      if (o->schema.argument_index(a.name.view()) >= 0) continue;
      diagnostics.error(op.entry->func.start(),
                        "the form '" + o->name + "' has no argument '" +
                            std::string(a.name.view()) + "'");
    }
  }
}

}  // namespace

void check_loadable(const codegen::Model& model,
                    lang::Diagnostics& diagnostics) {
  for (const codegen::Family& family : model.families()) {
    for (const codegen::Operator& op : family.operators) {
      for (const lang::DispatchItem& d : op.entry->dispatch) {
        diagnostics.error(d.key.start(),
                          "a C++ function cannot be loaded at run time; a "
                          "library registers kernels, without 'dispatch:'");
      }
      const bool several = op.kind() == lang::OperatorKind::kReduce &&
                           op.base.schema.returns().size() > 1;
      if (op.kind() == lang::OperatorKind::kScan || op.entry->is_foreach ||
          several) {
        diagnostics.error(op.entry->func.start(),
                          several ? "a 'reduce:' with several results cannot "
                                    "be loaded at run time"
                                  : "'scan:' and 'foreach:' cannot be loaded "
                                    "at run time");
      }
      check_defined_before(op, diagnostics);
      check_forms(op, diagnostics);
      check_limits(op, diagnostics);
    }
  }
}

}  // namespace sy::runtime
