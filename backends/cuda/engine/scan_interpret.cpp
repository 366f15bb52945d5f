#include "backends/cuda/engine/scan_interpret.h"

#include <algorithm>

#include "backends/cuda/device/steps.cuh"
#include "backends/cuda/engine/interpret_steps.h"

namespace sy::cuda {

bool can_interpret(const print::ScanText& t) {
  return t.combine->n_steps <= kMostSteps &&
         t.combine->n_registers <= kStepRegisters &&
         t.numbers() <= kStepNumbers;
}

void interpret_scan(int device, const print::ScanText& t, const ScanHead& head,
                    const Number* numbers, const ScanCut& cut,
                    const ScanLayout& layout, const TensorBase* const* used,
                    size_t n) {
  InterpretedScan p = {};
  static_cast<ScanHead&>(p) = head;
  std::copy(numbers, numbers + t.numbers(), p.numbers);
  int number = 0;
  p.combine_steps = add_steps(*t.combine, &p.steps, &number);
  p.self = static_cast<unsigned char>(t.self);
  p.stored = static_cast<unsigned char>(t.stored);
  const Define defines[] = {
      type_define(t.type),
      {"SY_SPECIAL", needs_special(*t.combine, t.type) ? "1" : "0"},
      {"SY_CHOOSES", t.chooses ? "1" : "0"}};
  constexpr const char* kNames[] = {"scan_rows_interpreted",
                                    "scan_short_rows_interpreted",
                                    "scan_columns_interpreted"};
  const Function& f = kernel(device, "engine/scan_interpret.cu",
                             kNames[static_cast<int>(cut.shell)], defines);
  launch_scan(device, f, cut, layout, t.chooses ? 16 : 8, &p, sizeof p, used,
              n);
}

}  // namespace sy::cuda
