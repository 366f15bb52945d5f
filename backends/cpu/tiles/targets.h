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

// Returns what `...` gives in the namespace of the active instruction set, made
// once. Nothing of another namespace may run, not even a function that only
// gathers pointers: it may hold instructions that the machine has not.
#define SY_TILE_RETURN(Type, ...)                   \
  switch (tiles::active_isa()) {                    \
    case tiles::Isa::sse4: {                        \
      static const Type made = N_SSE4::__VA_ARGS__; \
      return made;                                  \
    }                                               \
    case tiles::Isa::avx2: {                        \
      static const Type made = N_AVX2::__VA_ARGS__; \
      return made;                                  \
    }                                               \
    default: {                                      \
      static const Type made = N_AVX3::__VA_ARGS__; \
      return made;                                  \
    }                                               \
  }
