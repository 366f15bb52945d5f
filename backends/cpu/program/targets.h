// Include this before hwy/foreach_target.h. It selects the instruction sets
// that we compile for. Every x86-64 machine since 2009 has HWY_SSE4.
#pragma once

#define HWY_BASELINE_TARGETS HWY_SSE4
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | HWY_SCALAR)

// Fills the table with the kernels of an instruction set, from its namespace.
#define SY_TILE_FILL(isa, table)                  \
  switch (isa) {                                  \
    case Isa::sse4: N_SSE4::fill(table); break;   \
    case Isa::avx2: N_AVX2::fill(table); break;   \
    case Isa::avx512: N_AVX3::fill(table); break; \
  }
