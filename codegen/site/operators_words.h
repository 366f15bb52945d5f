#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codegen/model_names.h"
#include "model/model.h"

// Private to the operator pages: signatures in words.

namespace sy::codegen::site {

// "pointwise", "composite", "kernel": the name of the kind on a page.
std::string_view kind_name(const Operator& op);
// The meaning of such a name, one sentence.
std::string_view kind_meaning(std::string_view kind);

// "2 ints, or one for all"
std::string type_words(Type type);
// The default as C++ or as a word: "none", "1e-05"; "" if there is none.
std::string default_words(const Argument& a);
// The facts about an argument: sentences with `code`, or nothing.
std::vector<std::string> argument_words(const Operator& op, const Argument& a);
// "2 tensors: `values`, `indices`"
std::string result_words(const FunctionSchema& schema);
// Requirements that are about several arguments, or none, as "`condition`:
// message"; the others stand in argument_words().
std::vector<std::string> joint_requirements(const Operator& op);
// The comment that the text of a schema file begins with.
std::string head_comment(std::string_view text);
// "One. Two." as "One." and "Two.", the second empty if there is no more.
std::pair<std::string, std::string> first_sentence(const std::string& text);
// The lines of an operator's entry, from `- func:` on.
std::string entry_lines(std::string_view text, const Operator& op);

}  // namespace sy::codegen::site
