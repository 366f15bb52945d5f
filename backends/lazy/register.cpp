#include "backends/lazy/record.h"
#include "c10/dispatcher.h"
#include "c10/plugin/library.h"

// Which operators the device has kernels for.

namespace sy::lazy {

namespace {

// normal_, uniform_ and the like. random_ keeps nothing of self either.
bool is_draw(const OperatorEntry& op) {
  return op.has_flag(OperatorDef::kRandom) &&
         op.has_flag(OperatorDef::kInplace) && op.has_own_kernel(kCPU) &&
         !op.has_flag(OperatorDef::kGeometry);
}

bool is_recordable(const OperatorEntry& op) {
  constexpr uint16_t kNot = OperatorDef::kAliases | OperatorDef::kInplace |
                            OperatorDef::kOut | OperatorDef::kView |
                            OperatorDef::kGeometry;
  const bool in_place_alone = op.has_flag(OperatorDef::kWrites) &&
                              (op.info() == nullptr || *op.info()->writes == 0);
  return op.has_own_kernel(kCPU) && (op.flags() & kNot) == 0 && !in_place_alone;
}

SY_LIBRARY_IMPL(aten, Lazy, m) {
  m.impl("_copy_from", SY_FN(copy_from));
  m.impl("fill_.Scalar", SY_FN(fill));
  constexpr std::string_view kOwn = "aten::";
  for (const OperatorHandle op : Dispatcher::singleton().operators()) {
    const std::string_view name = op.name();
    if (!name.starts_with(kOwn) ||
        !(is_recordable(op.entry()) || is_draw(op.entry()))) {
      continue;
    }
    if (name == "aten::_copy_from" || name == "aten::fill_.Scalar") continue;
    const bool random = op.entry().has_flag(OperatorDef::kRandom);
    const bool memory =
        name == "aten::empty.memory_format" || name == "aten::empty_strided";
    const bool draws = is_draw(op.entry());
    const bool writes = op.entry().has_flag(OperatorDef::kWrites);
    m.impl(name.substr(kOwn.size()),
           Kernel::from_boxed(draws    ? &draw
                              : writes ? &record_writing
                              : random ? &at_once
                              : memory ? &record_empty
                                       : &record));
  }
}
SY_LIBRARY_IMPL(_, Lazy, m) { m.fallback(Kernel::from_boxed(&fallback)); }

}  // namespace

}  // namespace sy::lazy
