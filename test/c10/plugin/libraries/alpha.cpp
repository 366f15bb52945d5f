#include "c10/plugin/library.h"

// A well-behaved library: an operator, its kernel, and one for the program's
// own operator.

namespace {
sy::TensorBase noop(const sy::TensorBase& a) { return a; }
int64_t answer(const sy::TensorBase&) { return 42; }
}  // namespace

SY_LIBRARY(alpha, m) { m.def("noop(Tensor a) -> Tensor"); }
SY_LIBRARY_IMPL(alpha, CPU, m) { m.impl("noop", SY_FN(noop)); }
SY_LIBRARY_IMPL(host, CPU, m) { m.impl("answer", SY_FN(answer)); }
