#include "frontend/distributed/reduce_op.h"

#include <iterator>
#include <string>

#include "c10/process/error.h"

namespace sy::distributed {

namespace {

constexpr const char* kNames[] = {"sum", "avg",  "product", "min",
                                  "max", "band", "bor",     "bxor"};

}  // namespace

const char* name_of(ReduceOp op) noexcept {
  const auto i = static_cast<size_t>(op);
  return i < std::size(kNames) ? kNames[i] : "unknown";
}

ReduceOp reduce_op_of(std::string_view name) {
  std::string names;
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (name == kNames[i]) return static_cast<ReduceOp>(i);
    if (i > 0) names += ", ";
    names += kNames[i];
  }
  fail(ErrorKind::Value, "[reduce_op] op: expected one of {}, got '{}'", names,
       name);
}

}  // namespace sy::distributed
