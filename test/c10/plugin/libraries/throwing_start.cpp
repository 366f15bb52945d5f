#include <stdexcept>

#include "c10/plugin/library.h"

// A library whose static initialiser throws, which no program survives.

namespace {

struct Start {
  Start() { throw std::runtime_error("no licence"); }
} start;

}  // namespace

SY_LIBRARY(throwing_start, m) { m.def("f(Tensor a) -> Tensor"); }
