#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "c10/tensor/array_ref.h"
#include "c10/tensor/scalar_type.h"

// Writes StableHLO text, a line for each operation. The text is what the
// specification of StableHLO (openxla.org/stablehlo/spec) calls its pretty
// form. XLA reads it and fuses what it can, so nothing here tries to be short.

namespace sy::pjrt {

using Sizes = std::vector<int64_t>;

// A tensor of the text. Its elements have no order in memory.
struct Ssa {
  std::string name;  // "%12"
  ScalarType dtype = ScalarType::Undefined;
  Sizes sizes;
};

// nullptr if XLA has no such dtype.
const char* element_name(ScalarType dtype) noexcept;
std::string type_name(ScalarType dtype, const Sizes& sizes);
inline std::string type_of(const Ssa& s) { return type_name(s.dtype, s.sizes); }
int64_t numel_of(const Sizes& sizes);
// Adds to a list that commas part.
inline void append(std::string* list, std::string_view item) {
  if (!list->empty()) *list += ", ";
  *list += item;
}

// Operands of one operation have the sizes that StableHLO wants for it: equal
// ones, unless a function says otherwise.
class Builder {
 public:
  // Returns the text that was written so far.
  std::string take() { return std::move(text_); }
  std::string fresh();
  void line(std::string_view text);

  Ssa unary(std::string_view op, const Ssa& x);  // "stablehlo.tanh"
  Ssa binary(std::string_view op, const Ssa& x, const Ssa& y);
  // chlo: "chlo.erf"; legalized by XLA.
  Ssa chlo(std::string_view op, const Ssa& x);
  Ssa chlo(std::string_view op, const Ssa& x, const Ssa& y);
  Ssa compare(std::string_view direction, const Ssa& x, const Ssa& y);
  Ssa select(const Ssa& where, const Ssa& x, const Ssa& y);
  Ssa is_finite(const Ssa& x);
  // Converts to bool as x != 0, and to an integer as our kernels do.
  Ssa convert(const Ssa& x, ScalarType dtype);
  Ssa bitcast(const Ssa& x, ScalarType dtype);

  // All elements are `value`, or the one with these bits.
  Ssa number(ScalarType dtype, const Sizes& sizes, int64_t value);
  Ssa number(ScalarType dtype, const Sizes& sizes, double value);
  Ssa like(const Ssa& x, double value);
  Ssa iota(const Sizes& sizes, int64_t dim);  // int64

  Ssa reshape(const Ssa& x, Sizes sizes);
  // Dim d of the result is dim order[d] of x.
  Ssa transpose(const Ssa& x, const std::vector<int64_t>& order);
  // dims[d]: the dim of the result that dim d of x is.
  Ssa broadcast(const Ssa& x, const Sizes& sizes,
                const std::vector<int64_t>& dims);
  // Aligned at the last dim.
  Ssa broadcast(const Ssa& x, const Sizes& sizes);
  Ssa slice(const Ssa& x, const Sizes& start, const Sizes& limit,
            const Sizes& step);
  Ssa concatenate(const std::vector<Ssa>& parts, int64_t dim);
  // The same elements. XLA computes them before it writes anything of them.
  Ssa barrier(const Ssa& x);

 private:
  Ssa made(std::string_view what, ScalarType dtype, Sizes sizes,
           std::string_view types);
  Ssa converted(const Ssa& x, ScalarType dtype);
  Ssa truncated(const Ssa& x, ScalarType dtype);
  std::string text_;
  int next_ = 0;
};

}  // namespace sy::pjrt
