#pragma once

#include <cstdint>
#include <vector>

#include "c10/array_ref.h"
#include "c10/macros.h"

namespace sy::capture {

// How what depends on a size goes on. Two captures that differ in it alone had
// the sizes n1 and n2; a call has n. A number that was v1 and v2 may be
//   the same, a multiple of n, of n squared, or of n plus a small number,
// or for fractions also c / n. Other numbers have no rule: next() is false.
struct SizeRule {
  int64_t n1 = 0, n2 = 0, n = 0;

  SY_API bool next(int64_t v1, int64_t v2, int64_t* v) const;
  SY_API bool next(double v1, double v2, double* v) const;
  SY_API bool next(float v1, float v2, float* v) const;
  SY_API bool next(IntArrayRef v1, IntArrayRef v2,
                   std::vector<int64_t>* v) const;
};

}  // namespace sy::capture
