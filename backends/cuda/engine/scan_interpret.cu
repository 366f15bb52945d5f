#include "interpret_steps.cuh"
#include "scan.cuh"

// Runs any scan at once, until its own kernel is compiled, with the same bits.
// Compiled with SY_TYPE and SY_SPECIAL (device/interpret.cuh), and SY_CHOOSES:
// 1 for scans that choose.

namespace sy::cuda {

struct ScanInterpreter {
  using Element = Number;
  using Stored = Number;
  using State = ScanState<Number, SY_CHOOSES != 0>;
  static constexpr bool kInMemory = false;

  const InterpretedScan& p;
  __device__ explicit ScanInterpreter(const InterpretedScan& q) : p(q) {}

  // It is not inlined, as the shells call each function in many places.
  __device__ __noinline__ Element fetch(const char* at) const {
    return read_number(at, p.self, false);
  }
  __device__ State load(const Element& x, [[maybe_unused]] int64_t k) const {
#if SY_CHOOSES
    return {x, k};
#else
    return {x};
#endif
  }
  __device__ __noinline__ State combine(const State& a, const State& b) const {
    Number registers[kStepRegisters];
    registers[0] = a.v;
    registers[1] = b.v;
    run_range(p, p.combine_steps, registers, run_step);
    const Number r = registers[p.combine_steps.results[0]];
#if SY_CHOOSES
    return r.b8 != 0 ? b : a;
#else
    return {r};
#endif
  }
  __device__ Stored stored(const State& s) const { return s.v; }
  __device__ __noinline__ void put(char* at, const Stored& x) const {
    write_number(at, p.stored, false, x);
  }
};

}  // namespace sy::cuda

SY_KERNEL(scan_rows_interpreted, InterpretedScan, kScanThreads) {
  scan_rows(ScanInterpreter(p));
}
SY_KERNEL(scan_short_rows_interpreted, InterpretedScan, kScanThreads) {
  scan_short_rows(ScanInterpreter(p));
}
SY_KERNEL(scan_columns_interpreted, InterpretedScan, kScanThreads) {
  scan_columns(ScanInterpreter(p));
}
