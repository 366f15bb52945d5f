#include "interpret_steps.cuh"
#include "scan.cuh"

// Runs any scan at once, until its own kernel is compiled, with the same bits.
// Compiled with SY_TYPE and SY_SPECIAL (device/interpret.cuh), and SY_CHOOSES:
// 1 for scans that choose.

namespace sy::cuda {

struct ScanInterpreter {
  using State = ScanState<Number, SY_CHOOSES != 0>;

  const InterpretedScan& p;
  __device__ explicit ScanInterpreter(const InterpretedScan& q) : p(q) {}

  __device__ State load(const char* at, [[maybe_unused]] int64_t k) const {
    const Number x = read_number(at, p.self, false);
#if SY_CHOOSES
    return {x, k};
#else
    return {x};
#endif
  }
  __device__ State combine(const State& a, const State& b) const {
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
  __device__ void store(const State& s, char* value,
                        [[maybe_unused]] char* place) const {
    write_number(value, p.stored, false, s.v);
#if SY_CHOOSES
    *reinterpret_cast<int64_t*>(place) = s.at;
#endif
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
