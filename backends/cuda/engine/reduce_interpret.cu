#include "interpret_steps.cuh"
#include "reduce.cuh"

// Runs any reduction at once, until its own kernels are compiled, with the same
// bits. Compiled with SY_TYPE and SY_SPECIAL (device/interpret.cuh), SY_WIDE: 1
// where floats are combined in double, and SY_ACCUMULATORS: room for as many.

namespace sy::cuda {

#if SY_WIDE
using Accumulated = double;
#else
using Accumulated = Stepped;
#endif

// The primitives that combine in double; the host knows the list.
__device__ __noinline__ Number run_wide_step(Prim op, Number a, Number b,
                                             Number c, int&) {
  Number r;
  r.i64 = 0;
#define SY_WIDE_1(name) \
  case Prim::name: r.f64 = f64::name(a.f64); return r;
#define SY_WIDE_2(name) \
  case Prim::name: r.f64 = f64::name(a.f64, b.f64); return r;
#define SY_WIDE_TRUTH(name) \
  case Prim::name: r.b8 = f64::name(a.f64, b.f64); return r;
#define SY_WIDE_LOGIC(name) \
  case Prim::name: r.b8 = f64::name(a.b8, b.b8); return r;
  switch (op) {
    SY_WIDE_1(copy)
    SY_WIDE_1(neg)
    SY_WIDE_1(abs)
    SY_WIDE_1(square)
    SY_WIDE_2(add)
    SY_WIDE_2(sub)
    SY_WIDE_2(mul)
    SY_WIDE_2(div)
    SY_WIDE_2(maximum)
    SY_WIDE_2(minimum)
    SY_WIDE_2(fmax)
    SY_WIDE_2(fmin)
    SY_WIDE_TRUTH(eq)
    SY_WIDE_TRUTH(ne)
    SY_WIDE_TRUTH(lt)
    SY_WIDE_TRUTH(le)
    SY_WIDE_TRUTH(gt)
    SY_WIDE_TRUTH(ge)
    SY_WIDE_LOGIC(logical_and)
    SY_WIDE_LOGIC(logical_or)
    case Prim::isnan: r.b8 = f64::isnan(a.f64); return r;
    case Prim::fma: r.f64 = f64::fma(a.f64, b.f64, c.f64); return r;
    case Prim::select: r.f64 = f64::select(a.b8, b.f64, c.f64); return r;
    case Prim::from_bool: r.f64 = f64::from_bool(a.b8); return r;
    default: return a;
  }
}

// Its functions are not inlined: the shells call each of them in many places.
struct Interpreter {
  static constexpr int kMostEach = 1;
  using Item = Number;
  struct __align__(16) Vector {
    uint64_t bits[2];
  };
  struct Acc {
    Number at[SY_ACCUMULATORS];
  };

  const InterpretedReduce& p;
  __device__ explicit Interpreter(const InterpretedReduce& q) : p(q) {}

  __device__ int size() const { return bytes_of_element(p.self); }
  __device__ __noinline__ Item load(const char* at) const {
    return read_number(at, p.self, p.loads_bool != 0);
  }
  __device__ Item item(const Vector& v, int j) const {
    return load(reinterpret_cast<const char*>(&v) + j * size());
  }

  __device__ bool is_bool(int accumulator) const {
    return kComputesBools || (p.bool_accumulators >> accumulator & 1) != 0;
  }
  __device__ Number widened(int accumulator, Number v) const {
#if SY_WIDE
    if (!is_bool(accumulator)) v.f64 = static_cast<double>(v.f32);
#else
    (void)accumulator;
#endif
    return v;
  }
  __device__ Number narrowed(int accumulator, Number v) const {
#if SY_WIDE
    if (!is_bool(accumulator)) v.f32 = static_cast<float>(v.f64);
#else
    (void)accumulator;
#endif
    return v;
  }

  __device__ __noinline__ Acc map(Item x, int64_t) const {
    Number registers[kStepRegisters];
    registers[0] = x;
    run_range(p, p.map_steps, registers, run_step);
    Acc r;
    for (int i = 0; i < SY_ACCUMULATORS && i < p.accumulators; ++i) {
      r.at[i] = widened(i, registers[p.map_steps.results[i]]);
    }
    return r;
  }
  __device__ __noinline__ Acc combine(const Acc& a, const Acc& b) const {
    Number registers[kStepRegisters];
    for (int i = 0; i < SY_ACCUMULATORS && i < p.accumulators; ++i) {
      registers[i] = a.at[i];
      registers[p.accumulators + i] = b.at[i];
    }
#if SY_WIDE
    run_range(p, p.combine_steps, registers, run_wide_step);
#else
    run_range(p, p.combine_steps, registers, run_step);
#endif
    Acc r;
    for (int i = 0; i < SY_ACCUMULATORS && i < p.accumulators; ++i) {
      r.at[i] = registers[p.combine_steps.results[i]];
    }
    return r;
  }
  __device__ Acc nothing() const {
    Acc r;
    for (int i = 0; i < SY_ACCUMULATORS && i < p.accumulators; ++i) {
      r.at[i] = p.numbers[p.nothing + i];
    }
    return r;
  }
  __device__ __noinline__ void finish(const Acc& a, int64_t at) const {
    Number registers[kStepRegisters];
    for (int i = 0; i < SY_ACCUMULATORS && i < p.accumulators; ++i) {
      registers[i] = narrowed(i, a.at[i]);
    }
    if (p.finishes != 0) run_range(p, p.finish_steps, registers, run_step);
    for (int i = 0; i < kMaxReduceResults && i < p.stores; ++i) {
      const int from = p.finishes != 0 ? p.finish_steps.results[i] : i;
      write_number(
          static_cast<char*>(p.results[i]) + at * bytes_of_element(p.stored[i]),
          p.stored[i], (p.bool_results >> i & 1) != 0, registers[from]);
    }
  }
  __device__ void keep(const Acc& a, int64_t at) const {
    for (int i = 0; i < SY_ACCUMULATORS && i < p.accumulators; ++i) {
      static_cast<Number*>(p.planes[i])[at] = a.at[i];
    }
  }
  __device__ Acc kept(int64_t at) const {
    Acc r;
    for (int i = 0; i < SY_ACCUMULATORS && i < p.accumulators; ++i) {
      r.at[i] = static_cast<const Number*>(p.planes[i])[at];
    }
    return r;
  }
};

}  // namespace sy::cuda

SY_KERNEL(reduce_rows_interpreted, InterpretedReduce, kReduceThreads) {
  reduce_rows<TensorSource<Interpreter>>(Interpreter(p));
}
SY_KERNEL(reduce_columns_interpreted, InterpretedReduce, kReduceThreads) {
  reduce_columns<TensorSource<Interpreter>>(Interpreter(p));
}
SY_KERNEL(reduce_pieces_interpreted, InterpretedReduce, kReduceThreads) {
  reduce_pieces(Interpreter(p));
}
