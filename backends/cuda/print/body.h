#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "aten/program/program.h"

// Element programs as CUDA C++: the statements for one element. Printers
// (op_printer.h, reduce.h, scan.h) put them into the members of an Op, for the
// shells of device/, which loop.

namespace sy::cuda::print {

// C++ types of registers: float, double, uint8_t … ; bool registers are bool8
// (uint8_t, 0 or 1).
std::string_view type_name(program::ComputeType type);
// Elements in memory, by device/element.cuh: "float", "half16", "bfloat16",
// "bool_byte", "int64_t" …
std::string_view element_name(ScalarType dtype);

struct Body {
  std::string statements;            // lines, each indented by `indent`
  std::vector<std::string> results;  // expressions, one for each result
};

// `operands` are expressions (names, mostly) of the inputs and then of the
// uniforms, already in the compute type or bool8. `prefix` begins the names of
// temporaries. Integer divisions by 0 set the variable `divided` (an int that
// the Op declares) to 1 and give 0. Throws InternalError for a primitive
// outside its domain.
Body print_body(const program::Program& p, program::ComputeType type,
                const std::vector<std::string>& operands,
                std::string_view prefix, int indent);

// The files of functors that the program needs, as they are included:
// "functors/arithmetic.cuh". Kernels include them after "element.cuh", outside
// of any namespace.
std::vector<std::string_view> needed_files(const program::Program& p,
                                           program::ComputeType type);

// That of the special functions, which take the compiler long.
inline constexpr std::string_view kSpecialFile = "functors/special.cuh";

// Whether a step may set `divided`.
bool may_divide_by_zero(const program::Program& p, program::ComputeType type);
// Whether register i of a program is a bool before the first step: inputs and
// uniforms.
bool is_bool_operand(const program::Program& p, int i);

}  // namespace sy::cuda::print
