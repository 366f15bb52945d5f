#include "backends/cpu/tiles/runner.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/tiles/compiled.h"
#include "backends/cpu/tiles/narrow.h"
#include "backends/cpu/tiles/steps.h"
#include "c10/tensor/scalar_type.h"

namespace sy::cpu::tiles {

namespace {

// Tile buffers together stay in L1, beside the lines of what is streamed.
constexpr int kBufferBytes = 24 << 10;
constexpr int kMaxTile = 2048;
constexpr int kMinTile = 32;
constexpr int kMostBufferBytes = KernelCalls::kMostTemporaries * kMinTile * 8;
static_assert(kMostBufferBytes >= kBufferBytes);

int tile_for(int slots, int element_size) {
  int tile = slots == 0 ? kMaxTile : kBufferBytes / (slots * element_size);
  tile = tile > kMaxTile ? kMaxTile : tile / kMinTile * kMinTile;
  return tile < kMinTile ? kMinTile : tile;
}

// One step whose tensor operands are all of one narrow dtype may have a kernel
// that converts as it goes; else nullptr.
PrimFn narrow_kernel(const Program& p, const Operand* inputs,
                     const Operand* results) {
  if (p.n_steps != 1 || p.n_results != 1 || p.results[0].is_bool ||
      p.bool_inputs != 0 || p.results[0].reg != p.steps[0].dst ||
      !is_reduced_floating_type(results[0].dtype) || results[0].stride != 2 ||
      lang::arity(p.steps[0]) > 2) {
    return nullptr;
  }
  const uint8_t regs[3] = {p.steps[0].a, p.steps[0].b, p.steps[0].c};
  int number = -1;  // the operand that is a number
  for (int k = 0; k < lang::arity(p.steps[0]); ++k) {
    if (regs[k] >= p.n_inputs) {
      if (number >= 0) return nullptr;
      number = k;
      continue;
    }
    const Operand& in = inputs[regs[k]];
    if (in.dtype != results[0].dtype || (in.stride != 0 && in.stride != 2)) {
      return nullptr;
    }
  }
  return narrow_prim_fn(p.steps[0].op, results[0].dtype, number);
}

// Never faults, wherever it points.
void prefetch(const char* at, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(at + i, 0, 2);
}

}  // namespace

Runner::Runner(const Program& program, ComputeType compute,
               const Operand* inputs, const Uniform* uniforms,
               const Operand* results)
    : program_(&program), uniforms_(uniforms), compute_(compute) {
  check_limits(program);
  const int n_inputs = program.n_inputs;
  for (int k = 0; k < n_operands(); ++k) {
    const bool is_input = k < n_inputs;
    const Operand& o = is_input ? inputs[k] : results[k - n_inputs];
    ports_[k] = {o.stride, nullptr, o.dtype,
                 kScalarTypeInfo[static_cast<int>(o.dtype)].size};
    if (!is_input || o.stride != 0) continue;
    const ScalarType to = register_type(program.bool_inputs >> k & 1, compute);
    if (o.dtype != to) ports_[k].convert = convert_fn(o.dtype, to);
  }
  find_direct(inputs, results);
  if (!is_direct()) prepare_calls();
}

// The only call, if there is one kernel that does all at once.
void Runner::find_direct(const Operand* inputs, const Operand* results) {
  const Program& p = *program_;
  if (p.n_results != 1 || p.n_steps == 0 ||
      p.results[0].reg != p.steps[p.n_steps - 1].dst) {
    return;
  }
  PrimFn fn = narrow_kernel(p, inputs, results);
  if (fn == nullptr) {
    bool arrays = true;
    for (int k = 0; k < n_operands(); ++k) {
      const bool is_input = k < p.n_inputs;
      const bool is_bool =
          is_input ? (p.bool_inputs >> k & 1) != 0 : p.results[0].is_bool;
      const Port& port = ports_[k];
      if (port.dtype != register_type(is_bool, compute_)) return;
      if (is_input && port.stride == 0) {
        arrays = false;
      } else if (port.stride != port.size) {
        return;
      }
    }
    if (p.n_steps > 1) {
      fn = arrays ? compiled_fn(p, compute_) : nullptr;
      if (fn == nullptr) return;
      const uint8_t second = p.n_inputs > 1 ? 1 : 0;
      direct_ = {fn, {0, second, p.n_inputs}, 4};
      return;
    }
    fn = kernel(p.steps[0].op, compute_);
  }
  const Step& s = p.steps[0];
  const uint8_t registers[3] = {s.a, s.b, s.c};
  direct_.fn = fn;
  for (int k = 0; k < lang::arity(s); ++k) {
    const uint8_t r = registers[k];
    direct_.operands[k] = r;
    const bool is_one = r >= p.n_inputs || ports_[r].stride == 0;
    direct_.mask |= static_cast<uint8_t>(is_one << k);
  }
}

void Runner::prepare_calls() {
  const Program& p = *program_;
  CellOperand operands[kMaxInputs + kMaxResults];
  size_t widest = compute_type_size(compute_);
  for (int k = 0; k < n_operands(); ++k) {
    const Port& port = ports_[k];
    operands[k] = {static_cast<CellIndex>(k), true, port.dtype, port.stride};
    if (k < p.n_inputs && port.stride == 0) {
      // run_tiles() reads it once: a result may be written over it.
      operands[k].is_memory = false;
      operands[k].dtype = register_type(p.bool_inputs >> k & 1, compute_);
    } else if (port.stride != port.size) {
      widest = std::max<size_t>(widest, port.size);
    }
  }
  const auto count = [](int n) { return static_cast<size_t>(n); };
  const int numbers = n_operands();
  calls_.reserve(p);
  temporaries_ = calls_.append(p, compute_, {operands, count(p.n_inputs)},
                               static_cast<CellIndex>(numbers),
                               {operands + p.n_inputs, count(p.n_results)},
                               static_cast<CellIndex>(numbers + p.n_uniforms));
  tile_ = tile_for(temporaries_, static_cast<int>(widest));
  slot_bytes_ = tile_ * static_cast<int>(widest);
}

void Runner::run_direct(char* const* data, int64_t n) const {
  const bool stream = n * ports_[program_->n_inputs].size >= kStreamBytes;
  call_direct(data, n, stream);
  if (stream) stream_fence();
}

void Runner::call_direct(char* const* data, int64_t n, bool stream) const {
  const Program& p = *program_;
  const DirectCall& s = direct_;
  const char* at[3] = {};
  int64_t sizes[3] = {};
  // Operands beyond the arity are register 0, and not looked at.
  for (int k = 0; k < 3; ++k) {
    const int r = s.operands[k];
    at[k] = r < p.n_inputs
                ? data[r]
                : reinterpret_cast<const char*>(uniforms_ + (r - p.n_inputs));
    if (r < p.n_inputs && !(s.mask >> k & 1)) sizes[k] = ports_[r].size;
  }
  char* out = data[p.n_inputs];
  if (!stream) {
    s.fn(out, at[0], at[1], at[2], s.mask, n);
    return;
  }
  // Small pieces: reading and writing then go on side by side.
  alignas(64) char buffer[1024];
  const int64_t size = ports_[p.n_inputs].size;
  const int64_t piece = static_cast<int64_t>(sizeof(buffer)) / size;
  for (int64_t i = 0; i < n; i += piece) {
    const int64_t m = n - i < piece ? n - i : piece;
    s.fn(buffer, at[0], at[1], at[2], s.mask, m);
    stream_copy(out + i * size, buffer, static_cast<size_t>(m * size));
    for (int k = 0; k < 3; ++k) {
      if (sizes[k] != 0) at[k] += m * sizes[k];
    }
  }
}

// ---- compiled

MachineCode Runner::find_code(int64_t work) const {
  Operand operands[kMaxInputs + kMaxResults];
  for (int k = 0; k < n_operands(); ++k) {
    operands[k] = {nullptr, ports_[k].stride, ports_[k].dtype};
  }
  return MachineCode::find(*program_, compute_, operands,
                           operands + program_->n_inputs, work);
}

// The interpreter goes on where the code stops, twice as far each time.
void Runner::run_code(const MachineCode& code, char* const* data,
                      int64_t n) const {
  if (!code.stops()) {
    code.run(data, uniforms_, n);
    return;
  }
  char* at[kMaxInputs + kMaxResults];
  // A result may be written over an element that all read.
  Uniform single[kMaxInputs];
  for (int k = 0; k < n_operands(); ++k) {
    at[k] = data[k];
    if (ports_[k].stride != 0) continue;
    std::memcpy(&single[k], data[k], ports_[k].size);
    at[k] = reinterpret_cast<char*>(&single[k]);
  }
  int64_t left = n;
  const auto advance = [&](int64_t m) {
    left -= m;
    for (int k = 0; k < n_operands(); ++k) at[k] += m * ports_[k].stride;
  };
  for (int64_t most = code.unit();; most *= 2) {
    advance(code.run(at, uniforms_, left));
    if (left == 0) return;
    const int64_t m = std::min(most, left);
    run_tiles(at, m);
    advance(m);
    if (left == 0) return;
  }
}

// False: there is no machine code.
bool Runner::run_compiled(char* const* data, const int64_t* outer_strides,
                          int64_t n, int64_t outer) const {
  if (n < MachineCode::kLeastRun) return false;
  MachineCode found;
  if (!code_.exists()) {
    const int64_t work = n * outer * program_->n_steps;
    if (work < MachineCode::kLeastWork) return false;
    found = find_code(work);
    if (!found.exists()) return false;
  }
  const MachineCode& code = code_.exists() ? code_ : found;
  char* at[kMaxInputs + kMaxResults];
  std::copy_n(data, n_operands(), at);
  for (int64_t i = 0; i < outer; ++i) {
    run_code(code, at, n);
    for (int k = 0; outer_strides != nullptr && k < n_operands(); ++k) {
      at[k] += outer_strides[k];
    }
  }
  return true;
}

// ---- interpreted

void Runner::run_tiles(char* const* data, int64_t n) const {
  if (n <= 0) return;
  const Program& p = *program_;
  alignas(64) char buffers[kMostBufferBytes];
  char* cells[kMaxInputs + kMaxResults + kMaxUniforms +
              KernelCalls::kMostTemporaries];
  Uniform single[kMaxInputs];
  for (int k = 0; k < n_operands(); ++k) {
    const Port& port = ports_[k];
    cells[k] = data[k];
    if (k >= p.n_inputs || port.stride != 0) continue;
    cells[k] = reinterpret_cast<char*>(&single[k]);
    if (port.convert == nullptr) {
      std::memcpy(&single[k], data[k], port.size);
    } else {
      port.convert(&single[k], data[k], 1);
    }
  }
  char** next = cells + n_operands();
  for (int u = 0; u < p.n_uniforms; ++u) {
    // Read alone.
    *next++ = const_cast<char*>(reinterpret_cast<const char*>(uniforms_ + u));
  }
  for (int i = 0; i < temporaries_; ++i) *next++ = buffers + i * slot_bytes_;

  for (int64_t i = 0; i < n; i += tile_) {
    calls_.run(cells, std::min<int64_t>(tile_, n - i), [] {});
    for (int k = 0; k < n_operands(); ++k) {
      cells[k] += tile_ * ports_[k].stride;
    }
  }
}

void Runner::run_2d(char* const* data, const int64_t* outer_strides, int64_t n,
                    int64_t outer) const {
  char* at[kMaxInputs + kMaxResults];
  const int count = n_operands();
  bool one = true;  // the rows are one long one
  for (int k = 0; k < count; ++k) {
    at[k] = data[k];
    one &= outer_strides[k] == n * ports_[k].stride;
  }
  if (one) {
    n *= outer;
    outer = 1;
  }
  if (!is_direct() && outer > 1 && run_compiled(at, outer_strides, n, outer)) {
    return;
  }
  for (int64_t i = 0; i < outer; ++i) {
    run(at, n);
    for (int k = 0; k < count; ++k) at[k] += outer_strides[k];
  }
}

void Runner::run_2d_transposed(char* const* data, const int64_t* inner_strides,
                               const int64_t* outer_strides, int64_t n,
                               int64_t outer, uint64_t transposed) const {
  const int n_inputs = program_->n_inputs;
  const int count = n_operands();
  const auto is_transposed = [transposed, n_inputs](int k) {
    return k < n_inputs && (transposed >> k & 1);
  };
  // Tiles twice as wide as high; a buffer for each transposed input.
  alignas(64) char buffers[64 << 10];
  int64_t element_bytes = 0;
  for (int k = 0; k < n_inputs; ++k) {
    if (is_transposed(k)) element_bytes += ports_[k].size;
  }
  int64_t high = 64;
  while (2 * high * high * element_bytes >
         static_cast<int64_t>(sizeof(buffers))) {
    high /= 2;
  }
  const int64_t wide = 2 * high;
  const bool stream =
      is_direct() && n * outer * ports_[n_inputs].size >= kStreamBytes;

  char* at[kMaxInputs + kMaxResults];
  for (int64_t r0 = 0; r0 < outer; r0 += high) {
    const int64_t rows = outer - r0 < high ? outer - r0 : high;
    for (int64_t c0 = 0; c0 < n; c0 += wide) {
      const int64_t cols = n - c0 < wide ? n - c0 : wide;
      char* buffer = buffers;
      for (int k = 0; k < count; ++k) {
        const Port& port = ports_[k];
        if (!is_transposed(k)) {
          at[k] = data[k] + r0 * outer_strides[k] + c0 * port.stride;
          continue;
        }
        const char* from = data[k] + r0 * port.size + c0 * inner_strides[k];
        transpose(port.size, buffer, wide * port.size, from, inner_strides[k],
                  cols, rows);
        at[k] = buffer;
        buffer += high * wide * port.size;
      }
      // The next tile lies to the right, or at the left of the next band.
      const bool wraps = c0 + wide >= n;
      const bool last = wraps && r0 + high >= outer;
      const int64_t next_r0 = wraps ? r0 + high : r0;
      const int64_t next_c0 = wraps ? 0 : c0 + wide;
      for (int64_t i = 0; i < rows; ++i) {
        for (int k = 0; k < n_inputs && !last; ++k) {
          const int64_t size = ports_[k].size;
          if (!is_transposed(k)) {
            prefetch(data[k] + (next_r0 + i) * outer_strides[k] +
                         next_c0 * ports_[k].stride,
                     wide * size);
            continue;
          }
          const char* next =
              data[k] + next_r0 * size + (next_c0 + 2 * i) * inner_strides[k];
          prefetch(next, high * size);
          prefetch(next + inner_strides[k], high * size);
        }
        if (is_direct()) {
          call_direct(at, cols, stream);
        } else {
          run_tiles(at, cols);
        }
        for (int k = 0; k < count; ++k) {
          at[k] += is_transposed(k) ? wide * ports_[k].size : outer_strides[k];
        }
      }
    }
  }
  if (stream) stream_fence();
}

}  // namespace sy::cpu::tiles
