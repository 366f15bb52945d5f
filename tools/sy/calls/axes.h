#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tools/sy/calls/calls.h"

namespace sy::tools {

// The axis along which a call was changed: "rank" of "axis rank: 5 dims"; ""
// for the id of a call that no axis made.
std::string_view axis_of(std::string_view id);
// All axes that there are.
const std::vector<std::string>& axes();

// The calls of `calls`, then changes of its first one along the axes: rank,
// size, broadcast, strides, offset, sharing, magnitude, special values,
// scalars; last, two that say how often it is made: repetition and threads.
// Each is made in the first dtype and, with layouts that take turns, in another
// that takes turns, or with `every_dtype` in all others. Not all succeed.
std::unique_ptr<Calls> calls_by_axes(OperatorHandle op,
                                     std::shared_ptr<const Calls> calls,
                                     std::vector<ScalarType> dtypes,
                                     bool every_dtype);

}  // namespace sy::tools
