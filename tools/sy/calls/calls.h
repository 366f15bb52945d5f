#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aten/tensor.h"
#include "c10/dispatch/dispatcher.h"
#include "tools/sy/cases/arguments.h"
#include "tools/sy/cases/case_file.h"

namespace sy::tools {

// Calls of one operator on the CPU, to be made over and over. The same each
// time.
class Calls {
 public:
  virtual ~Calls() = default;
  virtual size_t size() const = 0;
  virtual std::string id(size_t i) const = 0;
  // Fresh ones. Throws Error.
  virtual Arguments arguments(size_t i) const = 0;
  // Another call with the same values, whose results are the same but for
  // rounding: `tolerance` is relative to 1 or to the result, if that is larger.
  struct Likeness {
    size_t call;
    double tolerance;
  };
  virtual std::optional<Likeness> like(size_t) const { return std::nullopt; }
};

// The recorded cases that succeed with known values; `failing`: if none does,
// the first of the others. `file` outlives them.
std::unique_ptr<Calls> recorded_calls(OperatorHandle op, const CaseFile& file,
                                      bool failing = false);

// The calls of `calls` that have tensors of other dtypes, with all in this one:
// not all succeed.
std::unique_ptr<Calls> recast_calls(OperatorHandle op,
                                    std::shared_ptr<const Calls> calls,
                                    ScalarType dtype);

// Whether the results are factors of matrices or made by them. Factors of
// infinities, of equal rows, or where none were found, are not determined; nor
// are signs, but for small matrices, where they are those of LAPACK.
bool gives_factors(OperatorHandle op);

// Calls made from the signature alone that tell kernels apart: tensors of
// several sizes, of each dtype and of two together, with other strides, that
// broadcast, with ties, NaN and infinities; other arguments one at a time. Only
// those that succeed. Throws Error if there are none.
std::unique_ptr<Calls> varied_calls(OperatorHandle op,
                                    const std::vector<ScalarType>& dtypes);

// The same elements in every second place of twice as much memory, dims in
// reverse order.
Tensor spread(const Tensor& t);
// The first and the last dim exchanged in memory.
Tensor turned(const Tensor& t);
// The same elements in the midst of more memory, which is NaN or 77, `before`
// elements from its beginning.
Tensor within(const Tensor& t, int64_t before);

// Calls with larger tensors cost more than they tell.
inline constexpr int64_t kMostElements = 20000;
// Element i of a tensor, from a number that is uniform in [0, 1).
using Element = std::function<double(int64_t i, double unit)>;
// A tensor on the CPU; whole numbers are 7 times as much, cut off. Throws
// ValueError beyond kMostElements.
Tensor filled(IntArrayRef sizes, ScalarType dtype, uint32_t seed,
              const Element& element);

// The elements of a CPU tensor, in row-major order; none if it is undefined.
std::vector<double> elements_of(const Tensor& t);

// Calls made from the signature and from `words` (see words.h): in float64, in
// every other dtype, with other strides, of no elements. Only those that
// succeed. Throws Error if the first does not. Tensors that the words leave
// out have the size `tensors`, if it is not empty.
std::unique_ptr<Calls> made_calls(OperatorHandle op, std::string_view words,
                                  std::string_view tensors = {});

}  // namespace sy::tools
