#include <stdexcept>
#include <string>

#include "c10/plugin/library.h"

// The good library that tests break in every way.

namespace {

int64_t length(const sy::TensorBase& a) {
  return static_cast<int64_t>(std::to_string(a.numel()).size());
}

struct OutOfPaper : std::runtime_error {
  using std::runtime_error::runtime_error;
};
int64_t print(const sy::TensorBase&) { throw OutOfPaper("no paper"); }

}  // namespace

SY_LIBRARY(sound, m) {
  m.def("length(Tensor a) -> int");
  m.def("print(Tensor a) -> int");
}
SY_LIBRARY_IMPL(sound, CPU, m) {
  m.impl("length", SY_FN(length));
  m.impl("print", SY_FN(print));
}

// Gives the lines that `sy doctor` prints of this library.
extern "C" SY_API void switchyard_doctor(void (*say)(void* to,
                                                     const char* line),
                                         void* to) {
  say(to, "paper: none");
  say(to, "ink: libink.so.2");
}
