#pragma once

#include <functional>
#include <string>
#include <vector>

#include "c10/dispatcher.h"
#include "c10/value.h"

// One call of a functional operator, made many times. Each says what is wrong,
// "" if nothing is.

namespace sy::tools {

// Until a thousand calls or some time are over: each gives the bytes of the
// first, and the process keeps no memory.
std::string call_often(OperatorHandle op, const std::vector<Value>& arguments);

// By several threads, with arguments of their own: each gives what it gives
// alone.
std::string call_at_once(OperatorHandle op,
                         const std::function<std::vector<Value>()>& arguments);

}  // namespace sy::tools
