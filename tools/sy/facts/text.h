#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "c10/dispatch/dispatcher.h"
#include "c10/schema/function_schema.h"
#include "c10/tensor/value.h"
#include "lang/words.h"

// A call as a user of the library writes it in C++, beside its values.

namespace sy::tools {

struct FactsArgument {
  std::string text;  // a variable or a literal; "": the default is taken
  Value value;
};
struct FactsCall {
  std::vector<std::string> lines;        // that make the variables
  std::vector<FactsArgument> arguments;  // in the schema's order
};

// "0.5", "2.0", "NAN"
std::string cpp_number(double v);
// "abc", with quotes.
std::string cpp_literal(std::string_view text);
// "{{1.0, 2.0}, {3.0, 4.0}}"; "1.0" without dims.
std::string cpp_elements(IntArrayRef sizes, const std::vector<std::string>& v);
// "sy::kFloat64" for "float64" or "double".
std::string cpp_dtype(std::string_view name);
// The C++ text of an argument that is no tensor.
std::string cpp_word(const Argument& a, const lang::Word& w);
// The C++ text of the argument's default, where something behind it is given.
std::string cpp_default(const Argument& a);
// The argument's name as that of a variable.
std::string cpp_variable(const Argument& a);
// `TYPE NAME = VALUE;` in lines of at most 80 characters, if it can be.
std::vector<std::string> cpp_declaration(const std::string& head,
                                         const std::string& value);

// "sy::softplus(self, 2)": arguments at the end that have their default are
// left out.
std::string call_text(OperatorHandle op, const FactsCall& call);

// "gather(self, dim=1, index)": the call of an example's words
// (calls/words.h), as pictures name it.
std::string call_words(OperatorHandle op, const std::string& words);

// The output of `std::cout << result`, of each result in lines of its own;
// bools as words.
std::string printed(const FunctionSchema& schema,
                    const std::vector<Value>& results);

}  // namespace sy::tools
