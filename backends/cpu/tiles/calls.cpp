#include "backends/cpu/tiles/calls.h"

#include <iterator>
#include <utility>

#include "backends/cpu/tiles/steps.h"

namespace sy::cpu::tiles {

namespace {

int64_t size_of(ScalarType dtype) {
  return static_cast<int64_t>(element_size(dtype));
}

}  // namespace

void KernelCalls::convert(CellIndex to, CellIndex from, ScalarType dtype,
                          ScalarType as, bool once) {
  Call& c = calls_.emplace_back();
  c.fn.convert = convert_fn(dtype, as);
  c.kind = kConvert;
  c.once = once;
  c.to = to;
  c.a = from;
}

void KernelCalls::move(Kind kind, CellIndex to, CellIndex from,
                       ScalarType dtype, int64_t stride) {
  Call& c = calls_.emplace_back();
  c.kind = kind;
  c.once = false;
  c.size = static_cast<uint8_t>(size_of(dtype));
  c.to = to;
  c.a = from;
  c.stride = stride;
}

class KernelCalls::Appender {
 public:
  Appender(KernelCalls* to, const Program& p, ComputeType type,
           CellIndex temporaries)
      : to_(*to), p_(p), type_(type), first_(temporaries), next_(temporaries) {}

  int run(ArrayRef<CellOperand> inputs, CellIndex uniforms,
          ArrayRef<CellOperand> results) {
    check_limits(p_);
    find_results(results);
    for (int r = 0; r < p_.n_inputs; ++r) read(r, inputs[at(r)]);
    for (int u = 0; u < p_.n_uniforms; ++u) {
      const int r = p_.n_inputs + u;
      cell_[r] = static_cast<CellIndex>(uniforms + u);
      single_[r] = true;
    }
    const int fixed = p_.n_inputs + p_.n_uniforms;
    for (int r = fixed; r < p_.n_registers; ++r) own_[r] = next_++;
    for (int i = 0; i < p_.n_steps; ++i) step(i, results);
    for (int k = 0; k < p_.n_results; ++k) write(k, results[at(k)]);
    return next_ - first_;
  }

 private:
  static size_t at(int i) { return static_cast<size_t>(i); }
  ScalarType dtype_of(bool is_bool) const {
    return register_type(is_bool, type_);
  }

  // The step that writes each result last, and whether it may write the
  // result's cell itself. Memory may be that of an input: only the last step
  // writes it, when nothing is read any more.
  void find_results(ArrayRef<CellOperand> results) {
    for (int r = 0; r < p_.n_registers; ++r) last_write_[r] = -1;
    for (int i = 0; i < p_.n_steps; ++i) last_write_[p_.steps[i].dst] = i;
    for (int r = 0; r < p_.n_registers; ++r) home_[r] = -1;
    for (int k = 0; k < p_.n_results; ++k) {
      const int r = p_.results[k].reg;
      const CellOperand& o = results[at(k)];
      const int step = last_write_[r];
      is_result_[r] = true;
      if (step < 0 || home_[r] >= 0 ||
          o.dtype != dtype_of(p_.results[k].is_bool) ||
          o.stride != size_of(o.dtype)) {
        continue;
      }
      if (!o.is_memory || step == p_.n_steps - 1) home_[r] = k;
    }
  }

  // An input is read where it is if it lies there as a register would.
  void read(int r, const CellOperand& o) {
    const ScalarType dtype = dtype_of(p_.bool_inputs >> r & 1);
    cell_[r] = o.cell;
    single_[r] = o.stride == 0;
    if (o.stride != 0 && o.stride != size_of(o.dtype)) {
      to_.move(kGather, next_, cell_[r], o.dtype, o.stride);
      cell_[r] = next_++;
    } else if (o.dtype == dtype && o.is_memory && is_result_[r] &&
               p_.n_results > 1) {
      // Another result may have its memory.
      to_.convert(next_, cell_[r], dtype, dtype, single_[r]);
      cell_[r] = next_++;
    }
    if (o.dtype == dtype) return;
    to_.convert(next_, cell_[r], o.dtype, dtype, single_[r]);
    cell_[r] = next_++;
  }

  void step(int i, ArrayRef<CellOperand> results) {
    const Step& s = p_.steps[i];
    const uint8_t regs[] = {s.a, s.b, s.c};
    const int arity = lang::arity(s);
    Call c{};
    c.kind = kPrim;
    c.fn.prim = kernel(s.op, type_);
    CellIndex operands[3] = {};
    for (int k = 0; k < arity; ++k) {
      operands[k] = cell_[regs[k]];
      c.mask |= static_cast<uint8_t>(single_[regs[k]] << k);
    }
    c.a = operands[0];
    c.b = operands[1];
    c.c = operands[2];
    const bool ends = is_result_[s.dst] && last_write_[s.dst] == i;
    c.once = c.mask == (1 << arity) - 1 && !ends;
    single_[s.dst] = c.once;
    cell_[s.dst] = ends && home_[s.dst] >= 0 ? results[at(home_[s.dst])].cell
                                             : own_[s.dst];
    c.to = cell_[s.dst];
    to_.calls_.push_back(c);
  }

  void write(int k, const CellOperand& o) {
    const Result& result = p_.results[k];
    const int r = result.reg;
    if (home_[r] == k) return;
    const ScalarType dtype = dtype_of(result.is_bool);
    CellIndex from = cell_[r];
    if (single_[r]) {
      Call c{};
      c.kind = kPrim;
      c.mask = 1;
      c.fn.prim = prim_fn(lang::Prim::copy, compute_type_of(dtype));
      c.a = from;
      c.to = from = next_++;
      to_.calls_.push_back(c);
    }
    if (o.stride == size_of(o.dtype)) {
      to_.convert(o.cell, from, dtype, o.dtype, false);
      return;
    }
    if (dtype != o.dtype) {
      to_.convert(next_, from, dtype, o.dtype, false);
      from = next_++;
    }
    to_.move(kScatter, o.cell, from, o.dtype, o.stride);
  }

  KernelCalls& to_;
  const Program& p_;
  const ComputeType type_;
  const CellIndex first_;
  CellIndex next_;
  // The state of each register.
  CellIndex cell_[kMaxRegisters];  // where its value is
  CellIndex own_[kMaxRegisters];   // a temporary
  bool single_[kMaxRegisters] = {};
  bool is_result_[kMaxRegisters] = {};
  int last_write_[kMaxRegisters];
  int home_[kMaxRegisters];  // the result whose cell it is, or -1
};

void KernelCalls::take_code(size_t first, const Program& program,
                            ComputeType type, ArrayRef<CellOperand> inputs,
                            const Uniform* uniforms,
                            ArrayRef<CellOperand> results, int64_t work) {
  Code code;
  code.uniforms = uniforms;
  code.operands = 0;
  Operand operands[std::size(code.cells)];
  for (const auto& list : {inputs, results}) {
    for (const CellOperand& o : list) {
      operands[code.operands] = {nullptr, o.stride, o.dtype};
      code.cells[code.operands++] = o.cell;
    }
  }
  code.code = MachineCode::find(program, type, operands,
                                operands + inputs.size(), work);
  // These calls have nothing that could go on where code stops.
  if (!code.code.exists() || code.code.stops()) return;
  calls_.resize(first);
  Call& c = calls_.emplace_back();
  c.kind = kCode;
  c.once = false;
  c.stride = static_cast<int64_t>(codes_.size());
  codes_.push_back(std::move(code));
}

void KernelCalls::run_code(const Code& code, char* const* cells, int64_t n) {
  char* data[std::size(code.cells)];
  for (int k = 0; k < code.operands; ++k) data[k] = cells[code.cells[k]];
  code.code.run(data, code.uniforms, n);
}

int KernelCalls::append(const Program& program, ComputeType type,
                        ArrayRef<CellOperand> inputs, CellIndex uniforms,
                        ArrayRef<CellOperand> results, CellIndex temporaries) {
  return Appender(this, program, type, temporaries)
      .run(inputs, uniforms, results);
}

}  // namespace sy::cpu::tiles
