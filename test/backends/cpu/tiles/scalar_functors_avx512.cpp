// Compiled for machines with AVX-512.

#define HWY_COMPILE_ONLY_STATIC
#define SY_FN inline __attribute__((always_inline))
#define SY_FN_SLOW __attribute__((noinline))
#define SY_FN_FREE
#define SY_FMA 1
#define SY_VECTORS 1

#include <iterator>
#include <utility>

#include "aten/program/functors/environment.h"
#include "hwy/highway.h"
#include "test/backends/cpu/tiles/scalar_functors.h"

namespace sy::cpu::tiles::testing {
namespace {

#include "aten/program/functors/math64.inc"
#include "aten/program/functors/math_float.inc"
#include "test/backends/cpu/tiles/scalar_functors.inc"

constexpr ScalarFunctor kFunctors[] = {
#define SY_LIST_MATH_FLOAT
#define SY_FUNCTOR(prim, type, functor) \
  row<Prim::prim, ComputeType::type, functor>(false),
#include "aten/program/functors/list.inc"
};

}  // namespace

ScalarFunctors avx512_functors() { return {kFunctors, std::size(kFunctors)}; }

}  // namespace sy::cpu::tiles::testing
