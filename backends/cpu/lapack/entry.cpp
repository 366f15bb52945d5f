#include <type_traits>

#include "backends/cpu/lapack/api.h"
#include "backends/cpu/lapack/threads.h"
#include "c10/macros.h"

namespace sy::cpu {
namespace {

using F = LapackRoutines<float>;
using D = LapackRoutines<double>;

template <class Pointer>
using Function = std::remove_pointer_t<Pointer>;

}  // namespace
}  // namespace sy::cpu

// Fortran's symbols: the routine's name with a letter for the type.
#define SY_ROUTINES(R) \
  R(getrf)             \
  R(getrs)             \
  R(getri)             \
  R(potrf)             \
  R(potrs)             \
  R(potri)             \
  R(sytrf)             \
  R(sytrs)             \
  R(trsm)              \
  R(geqrf)             \
  R(orgqr)             \
  R(ormqr)             \
  R(gesdd)             \
  R(syevd)             \
  R(gels)              \
  R(gelsy)             \
  R(gelsd)             \
  R(gelss)             \
  R(gemm)

extern "C" {
#define SY_DECLARE(name)                                    \
  sy::cpu::Function<decltype(sy::cpu::F::name)> s##name##_; \
  sy::cpu::Function<decltype(sy::cpu::D::name)> d##name##_;
SY_ROUTINES(SY_DECLARE)
#undef SY_DECLARE

// The one symbol of libswitchyard_lapack.so; see backends/cpu/lapack/api.h.
SY_API const sy::cpu::LapackApi* switchyard_lapack_api() {
#define SY_SINGLE(name) .name = s##name##_,
#define SY_DOUBLE(name) .name = d##name##_,
  static constexpr sy::cpu::LapackApi kApi = {sy::cpu::LapackApi::kVersion,
                                              &sy::cpu::enter_lapack,
                                              &sy::cpu::leave_lapack,
                                              {SY_ROUTINES(SY_SINGLE)},
                                              {SY_ROUTINES(SY_DOUBLE)}};
#undef SY_SINGLE
#undef SY_DOUBLE
  return &kApi;
}
}
