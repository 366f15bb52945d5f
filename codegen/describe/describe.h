#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "codegen/model_names.h"
#include "lang/ast.h"
#include "model/model.h"

// Operators as data: all that a reference of them says, without its words.

namespace sy::codegen {

// `sygen describe`: these families of the model, and the names of all others,
// which those may call.
//   {"version": 1,
//    "families": [{"name": "activation", "namespace": "aten",
//                  "path": "schemas/ops/activation.yaml",
//                  "comment": "Functions of neurons. …",
//                  "operators": [{"name": "celu", …}]}],
//    "others": [{"name": "add.Tensor", …}]}
// describe.cpp has the members of an operator one below the other. Nothing that
// an operator does not have is missing: it is null, "" or empty.
nlohmann::json describe(const Model& model, std::span<const Family> families);

// The flow of elements from a small input to the result, as read by the site:
//   {"call": "sum(self, dim=[1])", "scan": false,
//    "inputs": [{"name": "self", "sizes": [2, 3], "texts": ["3", …],
//                "note": "", "shape": "", "plain": false}],
//    "outputs": […], "from": [[0, 1, 2], …]}
// Null if the operator does not say what goes where. `sy
// facts` tells the flows of views and of kernels.
nlohmann::json describe_flow(const Operator& op);

// The calls of a composite:
//   {"boxes": [{"role": "call", "label": "mul", "words": ["·", "2"],
//               "page": "mul"}],
//    "edges": [[0, 1, false]]}
// Roles are argument, call, choice and result. An edge goes from one box to a
// later one; the third item says whether it is the other branch of a choice.
// Null without calls.
nlohmann::json describe_calls(const Model& model, const Operator& op);

// "add", "mine.bump": operators that differ in their overloads or forms only
// have one page.
std::string page_name(const Operator& op);

// An expression that is too long for one line, each `let` and each branch of an
// `if` on its own.
std::string laid_out(const lang::Expr& e, std::size_t indent = 0);

}  // namespace sy::codegen
