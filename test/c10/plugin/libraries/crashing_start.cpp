#include <csignal>

#include "c10/plugin/library.h"

// A library that kills the process that loads it.

namespace {

struct Start {
  Start() { std::raise(SIGSEGV); }
} start;

}  // namespace

SY_LIBRARY(crashing_start, m) { m.def("f(Tensor a) -> Tensor"); }
