#pragma once

#include <memory>

#include "model/model.h"
#include "runtime/loader/operator_state.h"

namespace sy::runtime {

// The state of an operator of the model, as its entry says. Throws LangError
// for a formula that does not compile. `token`: of the library that defines it.
std::unique_ptr<OperatorState> make_state(const model::Operator& op,
                                          const model::Model& model,
                                          const FindCallee& find,
                                          LibraryToken* token);

}  // namespace sy::runtime
