#include "backends/cuda/engine/reduce_interpret.h"

#include <algorithm>
#include <string_view>

#include "backends/cuda/device/steps.cuh"
#include "backends/cuda/engine/interpret_steps.h"

namespace sy::cuda {

namespace {

using lang::Prim;
using print::ReduceText;
using program::Program;

// As run_wide_step of reduce_interpret.cu.
bool combines_in_double(Prim p) {
  switch (p) {
    case Prim::copy:
    case Prim::neg:
    case Prim::abs:
    case Prim::square:
    case Prim::add:
    case Prim::sub:
    case Prim::mul:
    case Prim::div:
    case Prim::maximum:
    case Prim::minimum:
    case Prim::fmax:
    case Prim::fmin:
    case Prim::eq:
    case Prim::ne:
    case Prim::lt:
    case Prim::le:
    case Prim::gt:
    case Prim::ge:
    case Prim::logical_and:
    case Prim::logical_or:
    case Prim::isnan:
    case Prim::fma:
    case Prim::select:
    case Prim::from_bool: return true;
    default: return false;
  }
}

bool is_wide(const ReduceText& t) { return t.accumulated != t.type; }

class Kernels final : public ReduceKernels {
 public:
  Kernels(int device, const ReduceText& t) : device_(device) {
    bool special = needs_special(*t.map, t.type);
    if (!is_wide(t)) special |= needs_special(*t.combine, t.type);
    if (t.finish != nullptr) special |= needs_special(*t.finish, t.type);
    defines_[0] = type_define(t.type);
    defines_[1] = {"SY_SPECIAL", special ? "1" : "0"};
    defines_[2] = {"SY_WIDE", is_wide(t) ? "1" : "0"};
    defines_[3] = {"SY_ACCUMULATORS", t.accumulators == 1 ? "1" : "8"};
  }
  const Function& of(print::ReduceShell shell) override {
    constexpr const char* kNames[] = {"reduce_rows_interpreted",
                                      "reduce_columns_interpreted",
                                      "reduce_pieces_interpreted"};
    return kernel(device_, "engine/reduce_interpret.cu",
                  kNames[static_cast<int>(shell)], defines_);
  }

 private:
  int device_;
  Define defines_[4];
};

}  // namespace

bool can_interpret(const ReduceText& t) {
  int steps = t.map->n_steps + t.combine->n_steps;
  int registers = std::max(t.map->n_registers, t.combine->n_registers);
  if (t.finish != nullptr) {
    steps += t.finish->n_steps;
    registers = std::max<int>(registers, t.finish->n_registers);
  }
  if (steps > kMostSteps || registers > kStepRegisters ||
      t.numbers() > kStepNumbers) {
    return false;
  }
  if (!is_wide(t)) return true;
  const Program& c = *t.combine;
  return std::all_of(c.steps, c.steps + c.n_steps,
                     [](const auto& s) { return combines_in_double(s.op); });
}

void interpret_reduce(const ReduceText& t, const ReduceRun& run,
                      void* const* results, const Number* numbers, int n) {
  InterpretedReduce p = {};
  for (int i = 0; i < t.results; ++i) p.results[i] = results[i];
  std::copy(numbers, numbers + n, p.numbers);
  int number = 0;
  p.map_steps = add_steps(*t.map, &p.steps, &number);
  p.combine_steps = add_steps(*t.combine, &p.steps, &number);
  const Program* last = t.map;
  if (t.finish != nullptr) {
    p.finish_steps = add_steps(*t.finish, &p.steps, &number);
    p.finishes = 1;
    last = t.finish;
  }
  p.nothing = static_cast<unsigned char>(number);
  p.loads_bool = (t.map->bool_inputs & 1) != 0;
  p.accumulators = static_cast<unsigned char>(t.accumulators);
  p.stores = static_cast<unsigned char>(t.results);
  const auto bit = [](bool set, int i) {
    return static_cast<unsigned char>(static_cast<int>(set) << i);
  };
  for (int i = 0; i < t.accumulators; ++i) {
    p.bool_accumulators |= bit(t.is_bool(i), i);
  }
  for (int i = 0; i < t.results; ++i) {
    p.bool_results |= bit(last->results[i].is_bool, i);
    p.stored[i] = static_cast<unsigned char>(t.stored[i]);
  }
  p.self = static_cast<unsigned char>(t.self);
  // Columns are read one element at a time, in the same order.
  ReduceCut cut = *run.cut;
  if (cut.shell == print::ReduceShell::kColumns) cut.wide = false;
  const int64_t sizes[] = {8, 8, 8, 8, 8, 8, 8, 8};
  ReduceRun own = run;
  own.cut = &cut;
  own.accumulator_sizes = {sizes, static_cast<size_t>(t.accumulators)};
  Kernels kernels(run.device, t);
  launch_reduce(own, kernels, &p, sizeof p);
}

}  // namespace sy::cuda
