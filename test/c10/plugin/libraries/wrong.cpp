#include "c10/plugin/library.h"

// Four mistakes at once: a namespace that the program owns, an operator that
// does not exist, a kernel of the wrong type, and one that there is already.

namespace {
sy::TensorBase f(const sy::TensorBase& a, double) { return a; }
int64_t taken(const sy::TensorBase&) { return 0; }
}  // namespace

SY_LIBRARY(host, m) {}
SY_LIBRARY_IMPL(host, CPU, m) {
  m.impl("answr", SY_FN(f));
  m.impl("answer", SY_FN(f));
  m.impl("taken", SY_FN(taken));
}
