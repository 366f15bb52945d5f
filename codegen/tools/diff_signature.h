#pragma once

#include <functional>
#include <string>

#include "c10/schema/function_schema.h"

namespace sy::codegen {

// Tells `report(what, compatible, detail, why)` of each difference.
using SignatureReport =
    std::function<void(std::string, bool, std::string, std::string)>;
void compare_signatures(const FunctionSchema& before,
                        const FunctionSchema& after,
                        const SignatureReport& report);

}  // namespace sy::codegen
