#include "backends/cuda/engine/interpret.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <string_view>
#include <vector>

#include "backends/cuda/compile/images.h"
#include "backends/cuda/compile/module.h"
#include "backends/cuda/compile/unit.h"
#include "backends/cuda/device/interpret_params.cuh"
#include "backends/cuda/print/body.h"
#include "backends/cuda/runtime/context.h"
#include "backends/cuda/runtime/copy.h"
#include "backends/cuda/runtime/launch.h"
#include "c10/process/error.h"

namespace sy::cuda {

namespace {

using program::ComputeType;
using program::Program;

// interpret.cu has these numbers of dtypes.
static_assert(static_cast<int>(ScalarType::Byte) == 0 &&
              static_cast<int>(ScalarType::Char) == 1 &&
              static_cast<int>(ScalarType::Short) == 2 &&
              static_cast<int>(ScalarType::Int) == 3 &&
              static_cast<int>(ScalarType::Long) == 4 &&
              static_cast<int>(ScalarType::Half) == 5 &&
              static_cast<int>(ScalarType::Float) == 6 &&
              static_cast<int>(ScalarType::Double) == 7 &&
              static_cast<int>(ScalarType::Bool) == 8 &&
              static_cast<int>(ScalarType::BFloat16) == 9);
static_assert(kInterpretedOperands == PointwiseCall::kMaxOperands &&
              kInterpretedNumbers == PointwiseCall::kMaxNumbers &&
              sizeof(InterpretParams) <= 4096);

// Shared memory for the registers of a block.
constexpr unsigned kRegisterBytes = 48 << 10;

void write_step(const program::Step& s, unsigned char* to) {
  to[0] = static_cast<unsigned char>(s.op);
  to[1] = s.dst;
  to[2] = s.a;
  to[3] = s.b;
  to[4] = s.c;
}

// The steps as a tensor on the device.
Tensor steps_on_device(const PointwiseCall& call) {
  const Program& p = *call.program;
  const int64_t n = int64_t{5} * p.n_steps;
  std::vector<unsigned char> codes(static_cast<size_t>(n));
  for (int i = 0; i < p.n_steps; ++i) write_step(p.steps[i], &codes[5 * i]);
  // A result is never immediate.
  const Tensor steps(
      make_tensor({&n, 1}, kByte, call.tensors[p.n_inputs]->impl()->device()));
  upload_bytes(steps, codes.data(), codes.size());
  return steps;
}

}  // namespace

namespace {

// The definitions with which the interpreter of a type is compiled.
struct Defines {
  Define list[2];
  Defines(ComputeType type, bool special)
      : list{{kNames[static_cast<int>(type)], "1"},
             {"SY_SPECIAL", special ? "1" : "0"}} {}
  static constexpr std::string_view kNames[] = {
      "SY_TYPE_f32", "SY_TYPE_f64", "SY_TYPE_u8",  "SY_TYPE_i8",
      "SY_TYPE_i16", "SY_TYPE_i32", "SY_TYPE_i64", "SY_TYPE_b8"};
};
constexpr std::string_view kSource = "engine/interpret.cu";

enum class AtHand : uint8_t { kUnknown, kNo, kYes };
// The state of the interpreter of each device, type and kind.
std::atomic<AtHand>& at_hand(int device, ComputeType type, bool special) {
  constexpr size_t kDevices = 64;
  static std::atomic<AtHand> table[kDevices][program::kNumComputeTypes][2];
  return table[static_cast<size_t>(device) % kDevices]
              [static_cast<size_t>(type)][special ? 1 : 0];
}

}  // namespace

const Function& interpreter(int device, ComputeType type, bool special) {
  const Function& f =
      kernel(device, kSource, "interpret", Defines(type, special).list);
  at_hand(device, type, special).store(AtHand::kYes, std::memory_order_relaxed);
  return f;
}

bool has_interpreter(int device, ComputeType type, bool special) {
  std::atomic<AtHand>& known = at_hand(device, type, special);
  AtHand state = known.load(std::memory_order_relaxed);
  if (state == AtHand::kUnknown) {
    const Defines defines(type, special);
    const Hash key = key_of(carried_unit(kSource, defines.list));
    driver::Module module = nullptr;  // kernel() gets the same
    const bool has =
        load_baked(device, key, &module) || load_kept(device, key, &module);
    state = has ? AtHand::kYes : AtHand::kNo;
    known.store(state, std::memory_order_relaxed);
  }
  return state == AtHand::kYes;
}

bool needs_special_functions(const Program& p, ComputeType type) {
  for (const std::string_view file : print::needed_files(p, type)) {
    if (file == print::kSpecialFile) return true;
  }
  return false;
}

void interpret(const PointwiseCall& call, const PointwisePlaces& places) {
  const Program& program = *call.program;
  SY_INTERNAL_ASSERT(places.dims <= kInterpretedDims);
  InterpretParams p{};
  p.n = places.n;
  p.inputs = program.n_inputs;
  p.results = program.n_results;
  p.uniforms = program.n_uniforms;
  p.steps = program.n_steps;
  p.registers = program.n_registers;
  p.dims = places.dims;
  p.bool_inputs = program.bool_inputs;
  p.immediate = call.immediate;
  for (int k = 0; k < call.operands(); ++k) {
    p.data[k] = (call.immediate >> k & 1) != 0 ? nullptr : call.data[k];
    p.dtypes[k] = static_cast<unsigned char>(call.dtypes[k]);
    for (int d = 0; d < places.dims; ++d) {
      p.strides[k][d] = places.strides[k][d];
    }
  }
  for (int d = 0; d < places.dims; ++d) p.sizes[d] = places.sizes[d];
  const int numbers = program.n_uniforms + std::popcount(call.immediate);
  for (int i = 0; i < numbers; ++i) p.numbers[i] = call.numbers[i].bits[0];
  for (int i = 0; i < program.n_results; ++i) {
    p.result[i] = program.results[i].reg;
    p.result_is_bool[i] = program.results[i].is_bool;
  }

  Tensor elsewhere;
  if (program.n_steps <= kInterpretedSteps) {
    for (int i = 0; i < program.n_steps; ++i) {
      write_step(program.steps[i], p.step[i]);
    }
  } else {
    elsewhere = steps_on_device(call);
    p.steps_elsewhere = static_cast<unsigned char*>(elsewhere.impl()->data());
  }

  const unsigned bytes =
      8u * std::max(1u, static_cast<unsigned>(program.n_registers));
  unsigned threads = 256;
  while (threads > 1 && threads * bytes > kRegisterBytes) threads /= 2;
  LaunchShape shape = shape_for(
      places.n, threads, 1, int64_t{64} * limits(call.device).multiprocessors);
  shape.shared_bytes = threads * bytes;
  const TensorBase* tensors[PointwiseCall::kMaxOperands + 1];
  std::copy_n(call.tensors, call.operands(), tensors);
  tensors[call.operands()] = &elsewhere;
  launch(call.device,
         interpreter(call.device, call.type,
                     needs_special_functions(program, call.type)),
         shape, &p, sizeof p, tensors,
         static_cast<size_t>(call.operands()) + 1);
}

}  // namespace sy::cuda
