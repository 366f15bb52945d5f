#include "aten/backend/node.h"
#include "aten/backend/write_plan.h"
#include "backends/lazy/record.h"
#include "c10/dispatch/dispatcher.h"
#include "c10/dispatch/introspect.h"
#include "c10/plugin/library.h"

// The operators that the device has kernels for, and which kernels.

namespace sy::lazy {

namespace {

enum class Way : uint8_t {
  kNone,
  kRecord,
  kEmpty,
  kWriting,
  kInPlace,
  kDraw,
  kAtOnce
};

bool is_recordable(const OperatorEntry& op) {
  constexpr uint16_t kNot = OperatorDef::kAliases | OperatorDef::kInplace |
                            OperatorDef::kOut | OperatorDef::kView |
                            OperatorDef::kGeometry;
  const bool in_place_alone = op.has_flag(OperatorDef::kWrites) &&
                              (op.info() == nullptr || *op.info()->writes == 0);
  return op.has_own_kernel(kCPU) && (op.flags() & kNot) == 0 && !in_place_alone;
}

// normal_, uniform_ and the like. random_ keeps nothing of self either.
bool is_draw(const OperatorEntry& op) {
  return op.has_flag(OperatorDef::kRandom) &&
         op.has_flag(OperatorDef::kInplace) && op.has_own_kernel(kCPU) &&
         !op.has_flag(OperatorDef::kGeometry);
}

bool is_pointwise_in_place(const OperatorEntry& op) {
  if (!op.has_flag(OperatorDef::kInplace)) return false;
  const WritePlan& plan = write_plan(op);
  if (plan.kind != WritePlan::kFunctional || plan.written.size() != 1 ||
      plan.stored.size() != 1 || plan.stored[0] != plan.written[0]) {
    return false;
  }
  const NodeDesc* const desc = node_desc(*plan.functional);
  return desc != nullptr && desc->pointwise != nullptr && desc->n_inputs > 0 &&
         op.has_own_kernel(kCPU) && plan.functional->has_own_kernel(kCPU);
}

Way way_of(const OperatorEntry& op) {
  if (is_draw(op)) return Way::kDraw;
  if (is_pointwise_in_place(op)) return Way::kInPlace;
  if (!is_recordable(op)) return Way::kNone;
  if (op.has_flag(OperatorDef::kWrites)) return Way::kWriting;
  if (op.has_flag(OperatorDef::kRandom)) return Way::kAtOnce;
  const std::string_view name = op.name();
  return name == "aten::empty.memory_format" || name == "aten::empty_strided"
             ? Way::kEmpty
             : Way::kRecord;
}

BoxedFunction kernel_of(Way way) {
  switch (way) {
    case Way::kRecord: return &record;
    case Way::kEmpty: return &record_empty;
    case Way::kWriting: return &record_writing;
    case Way::kInPlace: return &record_in_place;
    case Way::kDraw: return &draw;
    case Way::kAtOnce: return &at_once;
    case Way::kNone: break;
  }
  return &fallback;
}

// Operators that have come since this library was loaded, or are not in aten.
void record_any(const Kernel& kernel, const OperatorEntry& op,
                DispatchKeySet keys, Value* args, size_t num_args,
                Value* results, size_t num_results) {
  kernel_of(way_of(op))(kernel, op, keys, args, num_args, results, num_results);
}

SY_LIBRARY_IMPL(aten, Lazy, m) {
  m.impl("_copy_from", SY_FN(copy_from));
  m.impl("fill_.Scalar", SY_FN(fill));
  constexpr std::string_view kOwn = "aten::";
  for (const OperatorHandle op : Dispatcher::singleton().operators()) {
    const std::string_view name = op.name();
    const Way way = way_of(op.entry());
    if (!name.starts_with(kOwn) || way == Way::kNone ||
        name == "aten::_copy_from" || name == "aten::fill_.Scalar") {
      continue;
    }
    m.impl(name.substr(kOwn.size()), Kernel::from_boxed(kernel_of(way)));
  }
}
SY_LIBRARY_IMPL(sy_dist, Lazy, m) {
  for (const OperatorHandle op : Dispatcher::singleton().operators()) {
    if (!is_collective(op)) continue;
    m.impl(op.name().substr(std::string_view("sy_dist::").size()),
           Kernel::from_boxed(&record_collective));
  }
}
SY_LIBRARY_IMPL(_, Lazy, m) { m.fallback(Kernel::from_boxed(&record_any)); }

const DispatchInfo* row(const std::vector<DispatchInfo>& rows,
                        std::string_view key) {
  for (const DispatchInfo& r : rows) {
    if (r.key == key) return &r;
  }
  return nullptr;
}

std::string text_of(const OperatorEntry& op, Way way,
                    const std::vector<DispatchInfo>& rows) {
  const NodeDesc* const desc = node_desc(op);
  const DispatchInfo* const meta = row(rows, "Meta");
  switch (way) {
    case Way::kNone:
    case Way::kInPlace: break;
    case Way::kEmpty: return "recorded: memory is taken when it is written";
    case Way::kDraw: return "runs at once: numbers come in the order of calls";
    case Way::kAtOnce:
      return "runs at once, with its inputs: numbers come in the order of "
             "calls";
    case Way::kWriting:
      return "recorded as a call of its kernel; its output has a new value "
             "after it";
    case Way::kRecord:
      if (desc != nullptr && desc->pointwise != nullptr) {
        return "recorded as its program: it joins regions of calls that walk "
               "the same dims";
      }
      if (desc != nullptr && desc->reduce != nullptr) {
        return "recorded as its program: it joins regions of calls that walk "
               "the dims of its operand";
      }
      return meta == nullptr || meta->route == DispatchInfo::Route::Missing
                 ? "runs at once: the shape of its results depends on data"
                 : "recorded as a call of its kernel, inside the graph";
  }
  const DispatchInfo* const lazy = row(rows, "Lazy");
  const bool alias =
      lazy != nullptr && lazy->route == DispatchInfo::Route::Alias;
  if (op.has_flag(OperatorDef::kView)) {
    return "nothing is recorded: readers of the result read a part of the "
           "value";
  }
  const WritePlan& plan = write_plan(op);
  if (plan.kind == WritePlan::kFunctional) {
    return str("recorded as {}; its output has a new value after it",
               plan.functional->name());
  }
  if (alias) return "recorded as the operators that it is composed of";
  if (lazy != nullptr && lazy->route == DispatchInfo::Route::Own) {
    return "recorded as a new value of the tensor that it writes";
  }
  return plan.kind == WritePlan::kGeometry
             ? "nothing is recorded: only metadata changes"
             : "runs at once, on copies of what it writes";
}

}  // namespace

std::string how_recorded(OperatorHandle op) {
  if (is_collective(op)) {
    return "runs at once, with its inputs: all processes make such calls in "
           "one order";
  }
  return text_of(op.entry(), way_of(op.entry()), dispatch_of(op));
}

}  // namespace sy::lazy
