// The special functions: a loop over each, in double for every dtype.

#include "backends/cpu/program/plain_loop.h"
#include "backends/cpu/program/table.h"
#include "codegen/lang/special/functions.h"

namespace sy::tiles {

namespace {

using lang::Prim;

template <double (*kFunction)(double)>
void add(KernelTable& t, Prim prim) {
  t.at(prim, ComputeType::f32) = &unary_loop<float, double, kFunction>;
  t.at(prim, ComputeType::f64) = &unary_loop<double, double, kFunction>;
}
template <double (*kFunction)(double, double)>
void add(KernelTable& t, Prim prim) {
  t.at(prim, ComputeType::f32) = &binary_loop<float, double, kFunction>;
  t.at(prim, ComputeType::f64) = &binary_loop<double, double, kFunction>;
}

}  // namespace

void fill_special(KernelTable& t) {
  add<special::erfinv>(t, Prim::erfinv);
  add<special::digamma>(t, Prim::digamma);
  add<special::i0>(t, Prim::i0);
  add<special::i0e>(t, Prim::i0e);
  add<special::i1>(t, Prim::i1);
  add<special::i1e>(t, Prim::i1e);
  add<special::bessel_j0>(t, Prim::bessel_j0);
  add<special::bessel_j1>(t, Prim::bessel_j1);
  add<special::bessel_y0>(t, Prim::bessel_y0);
  add<special::bessel_y1>(t, Prim::bessel_y1);
  add<special::k0>(t, Prim::bessel_k0);
  add<special::k0e>(t, Prim::bessel_k0e);
  add<special::k1>(t, Prim::bessel_k1);
  add<special::k1e>(t, Prim::bessel_k1e);
  add<special::airy_ai>(t, Prim::airy_ai);
  add<special::erfcx>(t, Prim::erfcx);
  add<special::ndtri>(t, Prim::ndtri);
  add<special::zeta>(t, Prim::zeta);
  add<special::polygamma>(t, Prim::polygamma);
  add<special::igamma>(t, Prim::igamma);
  add<special::igammac>(t, Prim::igammac);
  add<special::chebyshev_t>(t, Prim::chebyshev_t);
  add<special::chebyshev_u>(t, Prim::chebyshev_u);
  add<special::chebyshev_v>(t, Prim::chebyshev_v);
  add<special::chebyshev_w>(t, Prim::chebyshev_w);
  add<special::hermite_h>(t, Prim::hermite_h);
  add<special::hermite_he>(t, Prim::hermite_he);
  add<special::laguerre_l>(t, Prim::laguerre_l);
  add<special::legendre_p>(t, Prim::legendre_p);
}

}  // namespace sy::tiles
