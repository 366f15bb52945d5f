#include <stdexcept>

#include "c10/plugin/library.h"

SY_LIBRARY(throws, m) {
  m.def("f(Tensor a) -> Tensor");
  throw std::runtime_error("no luck today");
}
