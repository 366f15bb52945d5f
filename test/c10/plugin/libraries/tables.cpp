#include <cmath>
#include <map>
#include <memory>
#include <string>

#include "c10/plugin/library.h"

// A library with an entry in each table that the dynamic loader reads:
// variables of threads, a function that is chosen when it is loaded, weak and
// virtual functions, labels whose addresses are taken, code before and after.

namespace {

struct Shape {
  virtual ~Shape() = default;
  virtual int64_t sides() const = 0;
};
struct Square final : Shape {
  int64_t sides() const override { return 4; }
};

thread_local int64_t calls = 0;
thread_local std::string last;

// Before any block of this library is made.
__attribute__((constructor)) void begin() { calls = 0; }
__attribute__((destructor)) void end() { last.clear(); }

int64_t twice_plain(int64_t n) { return 2 * n; }
using Twice = int64_t(int64_t);
extern "C" {
Twice* choose_twice() { return &twice_plain; }
SY_API int64_t tables_twice(int64_t n) __attribute__((ifunc("choose_twice")));
}

int64_t walk(int64_t n) {
  static const void* const labels[] = {&&even, &&odd, &&done};
  int64_t steps = 0;
next:
  goto* labels[n <= 1 ? 2 : n % 2];
even:
  n /= 2;
  ++steps;
  goto next;
odd:
  n = 3 * n + 1;
  ++steps;
  goto next;
done:
  return steps;
}

int64_t count(const sy::TensorBase& a) {
  ++calls;
  last = std::to_string(a.numel());
  const std::unique_ptr<Shape> shape = std::make_unique<Square>();
  const std::map<std::string, int64_t> parts{{"walk", walk(27)},
                                             {"sides", shape->sides()}};
  return tables_twice(parts.at("walk") + parts.at("sides")) +
         static_cast<int64_t>(std::lround(std::sin(0.0)));
}

}  // namespace

SY_LIBRARY(tables, m) { m.def("count(Tensor a) -> int"); }
SY_LIBRARY_IMPL(tables, CPU, m) { m.impl("count", SY_FN(count)); }
