#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "c10/process/error.h"
#include "frontend/distributed/process_group.h"

// Errors of the group's methods and of names, as those of an operator.

namespace sy::distributed {

// "[group_of] text" as "[op] text".
std::string renamed(const char* op, const Error& e);

// Refused arguments of `f` are those of the operator.
template <class F>
auto named(const char* op, const F& f) {
  try {
    return f();
  } catch (const ValueError& e) {
    throw ValueError(renamed(op, e));
  } catch (const TypeError& e) {
    throw TypeError(renamed(op, e));
  }
}

// group_of, for a call of that operator.
std::shared_ptr<ProcessGroup> group_for(const char* op, std::string_view name);

}  // namespace sy::distributed
