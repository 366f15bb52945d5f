#include "backends/cpu/program/runner.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/program/compiled.h"
#include "backends/cpu/program/element16.h"
#include "backends/cpu/program/machine_code.h"
#include "backends/cpu/program/narrow.h"
#include "backends/cpu/program/steps.h"
#include "c10/scalar_type.h"

namespace sy::tiles {

namespace {

// Tile buffers together stay in L1, beside the lines of what is streamed.
constexpr int kBufferBytes = 24 << 10;
constexpr int kMaxTile = 2048;
constexpr int kMinTile = 32;
constexpr int kMaxSlots = 257;  // every register and staging
static_assert(kMaxSlots * kMinTile * 8 >= kBufferBytes);

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

// slot_[r] is the tile buffer of a register that has one.
Runner::Runner(const Program& program, ComputeType compute,
               const Operand* inputs, const Uniform* uniforms,
               const Operand* results)
    : program_(&program),
      uniforms_(uniforms),
      steps_(inline_steps_),
      uniform_{},
      size_(static_cast<uint8_t>(compute_type_size(compute))),
      compute_(compute) {
  check_limits(program);
  const int n_inputs = program.n_inputs;
  bool staged = false;
  slots_ = 0;
  // Inputs that are results themselves. Another result may have their memory:
  // they are read into a tile before it is written.
  uint64_t passed_on = 0;
  for (int k = 0; k < program.n_results && program.n_results > 1; ++k) {
    const int r = program.results[k].reg;
    if (r < n_inputs) passed_on |= uint64_t{1} << r;
  }
  for (int i = 0; i < n_inputs; ++i) {
    const ScalarType to =
        (program.bool_inputs >> i & 1) ? ScalarType::Bool : storage_of(compute);
    const Operand& o = inputs[i];
    Port& port = inputs_[i];
    port.size = kScalarTypeInfo[static_cast<int>(o.dtype)].size;
    port.stride = o.stride;
    port.dtype = o.dtype;
    port.strided = o.stride != port.size;
    port.convert = o.dtype == to ? nullptr : convert_fn(o.dtype, to);
    if (o.stride == 0) {
      port.mode = Mode::uniform;
      uniform_[i >> 6] |= uint64_t{1} << (i & 63);
    } else if (port.strided ||
               (port.convert == nullptr && (passed_on >> i & 1) != 0)) {
      port.mode = Mode::gather;
      staged |= port.convert != nullptr;
    } else {
      port.mode = port.convert == nullptr ? Mode::direct : Mode::convert;
    }
    if (port.mode != Mode::direct) {
      slot_[i] = static_cast<uint8_t>(slots_);
      slots_ += port.mode != Mode::uniform;
    }
  }
  prepare_steps(compute);
  for (int r = n_inputs + program.n_uniforms; r < program.n_registers; ++r) {
    slot_[r] = static_cast<uint8_t>(slots_++);
  }
  prepare_results(results, compute);
  for (int k = 0; k < program.n_results; ++k) {
    staged |= results_[k].convert != nullptr && results_[k].strided;
  }
  staging_ = slots_;
  slots_ += staged;
  // Staging holds elements of memory, of up to 8 bytes.
  tile_ = tile_for(slots_, staged ? 8 : size_);

  direct_ = program.n_results == 1 && last_result_ == 0 &&
            results_[0].mode == Mode::direct;
  for (int i = 0; i < n_inputs; ++i) {
    direct_ &=
        inputs_[i].mode == Mode::direct ||
        (inputs_[i].mode == Mode::uniform && inputs_[i].convert == nullptr);
  }
  if (direct_ && program.n_steps > 1) {
    bool arrays = true;
    for (int i = 0; i < n_inputs; ++i) {
      arrays &= inputs_[i].mode == Mode::direct;
    }
    const PrimFn fn = arrays ? compiled_fn(program, compute) : nullptr;
    direct_ = fn != nullptr;
    if (direct_) {
      const uint8_t b = n_inputs > 1 ? 1 : 0;
      steps_[0] = {fn, 0, 0, b, program.n_inputs, 4, false};
    }
  }
  if (direct_) return;
  if (const PrimFn fn = narrow_kernel(program, inputs, results)) {
    steps_[0].fn = fn;
    direct_ = true;
  }
}

void Runner::prepare_steps(ComputeType compute) {
  const Program& p = *program_;
  if (p.n_steps > kInlineSteps) {
    many_steps_ = std::make_unique<Prepared[]>(p.n_steps);
    steps_ = many_steps_.get();
  }
  const auto is_uniform = [this](int r) {
    return (uniform_[r >> 6] >> (r & 63) & 1) != 0;
  };
  for (int r = p.n_inputs; r < p.n_inputs + p.n_uniforms; ++r) {
    uniform_[r >> 6] |= uint64_t{1} << (r & 63);
  }
  for (int i = 0; i < p.n_steps; ++i) {
    const Step& s = p.steps[i];
    Prepared& q = steps_[i];
    q.fn = kernel(s.op, compute);
    q.dst = s.dst;
    q.a = s.a;
    q.b = s.b;
    q.c = s.c;
    const uint8_t operands[3] = {s.a, s.b, s.c};
    const int arity = lang::arity(s);
    q.mask = 0;
    for (int k = 0; k < arity; ++k) {
      q.mask |= static_cast<uint8_t>(is_uniform(operands[k]) << k);
    }
    q.once = q.mask == (1 << arity) - 1 && i + 1 != p.n_steps;
    const uint64_t bit = uint64_t{1} << (s.dst & 63);
    if (q.once) {
      uniform_[s.dst >> 6] |= bit;
    } else {
      uniform_[s.dst >> 6] &= ~bit;
    }
  }
}

namespace {

template <class T>
void fill(char* at, int64_t stride, const void* element, int64_t n) {
  T v;
  std::memcpy(&v, element, sizeof v);
  if (stride == static_cast<int64_t>(sizeof v)) {
    std::fill_n(reinterpret_cast<T*>(at), n, v);
    return;
  }
  for (int64_t i = 0; i < n; ++i, at += stride) std::memcpy(at, &v, sizeof v);
}

}  // namespace

void Runner::prepare_results(const Operand* results, ComputeType compute) {
  const Program& p = *program_;
  last_result_ = -1;
  for (int k = 0; k < p.n_results; ++k) {
    const ScalarType from =
        p.results[k].is_bool ? ScalarType::Bool : storage_of(compute);
    const Operand& o = results[k];
    Port& port = results_[k];
    port.size = kScalarTypeInfo[static_cast<int>(o.dtype)].size;
    port.stride = o.stride;
    port.dtype = o.dtype;
    port.strided = o.stride != port.size;
    port.convert = o.dtype == from ? nullptr : convert_fn(from, o.dtype);
    port.mode = port.strided              ? Mode::gather
                : port.convert != nullptr ? Mode::convert
                                          : Mode::direct;
    // Only the last step may write where inputs may be: nothing reads them
    // afterwards.
    if (p.n_steps > 0 && port.mode == Mode::direct && last_result_ < 0 &&
        p.results[k].reg == p.steps[p.n_steps - 1].dst) {
      last_result_ = k;
    }
  }
}

void Runner::run_direct(char* const* data, int64_t n) const {
  const bool stream = n * results_[0].size >= kStreamBytes;
  call_direct(data, n, stream);
  if (stream) stream_fence();
}

void Runner::call_direct(char* const* data, int64_t n, bool stream) const {
  const Program& p = *program_;
  const Prepared& s = steps_[0];
  const uint8_t regs[3] = {s.a, s.b, s.c};
  const char* at[3] = {};
  int64_t sizes[3] = {};
  // Operands beyond the arity are register 0, and not looked at.
  for (int k = 0; k < 3; ++k) {
    const int r = regs[k];
    at[k] = r < p.n_inputs
                ? data[r]
                : reinterpret_cast<const char*>(uniforms_ + (r - p.n_inputs));
    if (r < p.n_inputs && !(s.mask >> k & 1)) sizes[k] = inputs_[r].size;
  }
  char* out = data[p.n_inputs];
  if (!stream) {
    s.fn(out, at[0], at[1], at[2], s.mask, n);
    return;
  }
  // Small pieces: reading and writing then go on side by side.
  alignas(64) char buffer[1024];
  const int64_t size = results_[0].size;
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
  const Program& p = *program_;
  Operand operands[kMaxInputs + kMaxResults];
  const auto describe = [](const Port& port, Operand* to) {
    to->dtype = port.dtype;
    to->stride = port.stride;
  };
  for (int k = 0; k < p.n_inputs; ++k) describe(inputs_[k], operands + k);
  Operand* const results = operands + p.n_inputs;
  for (int k = 0; k < p.n_results; ++k) describe(results_[k], results + k);
  return MachineCode::find(p, compute_, operands, results, work);
}

// The interpreter goes on where the code stops, twice as far each time.
void Runner::run_code(const MachineCode& code, char* const* data,
                      int64_t n) const {
  if (!code.stops()) {
    code.run(data, uniforms_, n);
    return;
  }
  const Program& p = *program_;
  char* at[kMaxInputs + kMaxResults];
  int64_t strides[kMaxInputs + kMaxResults];
  // A result may be written over an element that all read.
  Uniform single[kMaxInputs];
  for (int k = 0; k < p.n_inputs + p.n_results; ++k) {
    const Port& port = k < p.n_inputs ? inputs_[k] : results_[k - p.n_inputs];
    at[k] = data[k];
    strides[k] = port.stride;
    if (port.stride != 0) continue;
    std::memcpy(&single[k], data[k], port.size);
    at[k] = reinterpret_cast<char*>(&single[k]);
  }
  int64_t left = n;
  const auto advance = [&](int64_t m) {
    left -= m;
    for (int k = 0; k < p.n_inputs + p.n_results; ++k) at[k] += m * strides[k];
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
  const Program& p = *program_;
  if (n < MachineCode::kLeastRun) return false;
  MachineCode found;
  if (!code_.exists()) {
    const int64_t work = n * outer * p.n_steps;
    if (work < MachineCode::kLeastWork) return false;
    found = find_code(work);
    if (!found.exists()) return false;
  }
  const MachineCode& code = code_.exists() ? code_ : found;
  char* at[kMaxInputs + kMaxResults];
  std::copy_n(data, p.n_inputs + p.n_results, at);
  for (int64_t i = 0; i < outer; ++i) {
    run_code(code, at, n);
    for (int k = 0; outer_strides != nullptr && k < p.n_inputs + p.n_results;
         ++k) {
      at[k] += outer_strides[k];
    }
  }
  return true;
}

// ---- interpreted

void Runner::run_tiles(char* const* data, int64_t n) const {
  if (n <= 0) return;
  const Program& p = *program_;
  alignas(64) char buffers[kMaxSlots * kMinTile * 8];
  char* reg[256];
  Uniform single[kMaxInputs];
  const int64_t slot_bytes =
      static_cast<int64_t>(tile_) * (staging_ < slots_ ? 8 : size_);
  char* const staging = buffers + staging_ * slot_bytes;

  for (int i = 0; i < p.n_inputs; ++i) {
    const Port& port = inputs_[i];
    if (port.mode == Mode::direct) {
      reg[i] = data[i];
    } else if (port.mode != Mode::uniform) {
      reg[i] = buffers + slot_[i] * slot_bytes;
    } else if (port.convert == nullptr) {
      // A copy: a result may be written over it.
      std::memcpy(&single[i], data[i], port.size);
      reg[i] = reinterpret_cast<char*>(&single[i]);
    } else {
      port.convert(&single[i], data[i], 1);
      reg[i] = reinterpret_cast<char*>(&single[i]);
    }
  }
  for (int u = 0; u < p.n_uniforms; ++u) {
    reg[p.n_inputs + u] =
        const_cast<char*>(reinterpret_cast<const char*>(uniforms_ + u));
  }
  for (int r = p.n_inputs + p.n_uniforms; r < p.n_registers; ++r) {
    reg[r] = buffers + slot_[r] * slot_bytes;
  }

  const int last = p.n_steps - 1;
  for (int64_t i = 0; i < n; i += tile_) {
    const int64_t m = n - i < tile_ ? n - i : tile_;
    for (int k = 0; k < p.n_inputs; ++k) {
      const Port& port = inputs_[k];
      const char* at = data[k] + i * port.stride;
      switch (port.mode) {
        case Mode::direct: reg[k] = const_cast<char*>(at); break;
        case Mode::uniform: break;
        case Mode::convert: port.convert(reg[k], at, m); break;
        case Mode::gather:
          if (port.convert == nullptr) {
            load_strided(port.size, reg[k], at, port.stride, m);
          } else {
            load_strided(port.size, staging, at, port.stride, m);
            port.convert(reg[k], staging, m);
          }
      }
    }
    for (int j = 0; j <= last; ++j) {
      const Prepared& s = steps_[j];
      char* dst = reg[s.dst];
      if (j == last && last_result_ >= 0) {
        dst =
            data[p.n_inputs + last_result_] + i * results_[last_result_].stride;
      }
      s.fn(dst, reg[s.a], reg[s.b], reg[s.c], s.mask, s.once ? 1 : m);
    }
    for (int k = 0; k < p.n_results; ++k) {
      const Port& port = results_[k];
      const int r = p.results[k].reg;
      char* at = data[p.n_inputs + k] + i * port.stride;
      const char* from = reg[r];
      if (last_result_ >= 0) {
        if (k == last_result_) continue;
        const int written = last_result_;
        if (r == p.results[written].reg) {
          from = data[p.n_inputs + written] + i * results_[written].stride;
        }
      }
      store_result(port, at, from, (uniform_[r >> 6] >> (r & 63) & 1) != 0, m,
                   staging);
    }
  }
}

void Runner::store_result(const Port& port, char* at, const char* from,
                          bool is_uniform, int64_t n, char* staging) const {
  if (is_uniform) {
    // One element, converted at most once, to every place.
    Element16 element = {};
    if (port.convert != nullptr) {
      port.convert(&element, from, 1);
    } else {
      std::memcpy(&element, from, port.size);
    }
    switch (port.size) {
      case 1: fill<uint8_t>(at, port.stride, &element, n); break;
      case 2: fill<uint16_t>(at, port.stride, &element, n); break;
      case 4: fill<uint32_t>(at, port.stride, &element, n); break;
      case 16: fill<Element16>(at, port.stride, &element, n); break;
      default: fill<uint64_t>(at, port.stride, &element, n);
    }
  } else if (!port.strided) {
    if (port.convert != nullptr) {
      port.convert(at, from, n);
    } else {
      std::memmove(at, from, static_cast<size_t>(n) * port.size);
    }
  } else if (port.convert == nullptr) {
    store_strided(port.size, at, port.stride, from, n);
  } else {
    port.convert(staging, from, n);
    store_strided(port.size, at, port.stride, staging, n);
  }
}

void Runner::run_2d(char* const* data, const int64_t* outer_strides, int64_t n,
                    int64_t outer) const {
  char* at[kMaxInputs + kMaxResults];
  const int count = program_->n_inputs + program_->n_results;
  bool one = true;  // the rows are one long one
  for (int k = 0; k < count; ++k) {
    at[k] = data[k];
    const int inputs = program_->n_inputs;
    const Port& port = k < inputs ? inputs_[k] : results_[k - inputs];
    one &= outer_strides[k] == n * port.stride;
  }
  if (one) {
    n *= outer;
    outer = 1;
  }
  if (!direct_ && outer > 1 && run_compiled(at, outer_strides, n, outer)) {
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
  const int count = n_inputs + program_->n_results;
  const auto is_transposed = [transposed, n_inputs](int k) {
    return k < n_inputs && (transposed >> k & 1);
  };
  // Tiles twice as wide as high; a buffer for each transposed input.
  alignas(64) char buffers[64 << 10];
  int64_t element_bytes = 0;
  for (int k = 0; k < n_inputs; ++k) {
    if (is_transposed(k)) element_bytes += inputs_[k].size;
  }
  int64_t high = 64;
  while (2 * high * high * element_bytes >
         static_cast<int64_t>(sizeof(buffers))) {
    high /= 2;
  }
  const int64_t wide = 2 * high;
  const bool stream = direct_ && n * outer * results_[0].size >= kStreamBytes;

  char* at[kMaxInputs + kMaxResults];
  for (int64_t r0 = 0; r0 < outer; r0 += high) {
    const int64_t rows = outer - r0 < high ? outer - r0 : high;
    for (int64_t c0 = 0; c0 < n; c0 += wide) {
      const int64_t cols = n - c0 < wide ? n - c0 : wide;
      char* buffer = buffers;
      for (int k = 0; k < count; ++k) {
        const Port& port = k < n_inputs ? inputs_[k] : results_[k - n_inputs];
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
          const int64_t size = inputs_[k].size;
          if (!is_transposed(k)) {
            prefetch(data[k] + (next_r0 + i) * outer_strides[k] +
                         next_c0 * inputs_[k].stride,
                     wide * size);
            continue;
          }
          const char* next =
              data[k] + next_r0 * size + (next_c0 + 2 * i) * inner_strides[k];
          prefetch(next, high * size);
          prefetch(next + inner_strides[k], high * size);
        }
        if (direct_) {
          call_direct(at, cols, stream);
        } else {
          run_tiles(at, cols);
        }
        for (int k = 0; k < count; ++k) {
          at[k] += is_transposed(k) ? wide * inputs_[k].size : outer_strides[k];
        }
      }
    }
  }
  if (stream) stream_fence();
}

}  // namespace sy::tiles
