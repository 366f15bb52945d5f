#pragma once

#include <functional>
#include <string>
#include <vector>

#include "c10/dispatch/dispatcher.h"
#include "c10/tensor/value.h"

// One call of a functional operator, made many times. Each says what is wrong,
// "" if nothing is.

namespace sy::tools {

// More than a thousand calls, or until some time is over: each gives the bytes
// of the first, and neither the process nor the device keeps memory.
std::string call_often(OperatorHandle op, const std::vector<Value>& arguments);

// Several threads make the call, with the arguments of their number: each gives
// what it gives alone.
std::string call_at_once(
    OperatorHandle op,
    const std::function<std::vector<Value>(int thread)>& arguments);

}  // namespace sy::tools
