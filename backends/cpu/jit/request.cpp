#include "backends/cpu/jit/request.h"

#include <cstring>

namespace sy::cpu::jit {

namespace {

constexpr uint8_t kVersion = 1;

class Writer {
 public:
  template <class T>
  void put(const T& v) {
    bytes.append(reinterpret_cast<const char*>(&v), sizeof v);
  }
  std::string bytes;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  template <class T>
  T get() {
    T v{};
    if (rest_.size() < sizeof v) {
      ok = false;
      return v;
    }
    std::memcpy(&v, rest_.data(), sizeof v);
    rest_.remove_prefix(sizeof v);
    return v;
  }
  bool at_end() const { return rest_.empty(); }
  bool ok = true;

 private:
  std::string_view rest_;
};

}  // namespace

std::string encode(const program::Program& p, program::ComputeType compute,
                   const Port* inputs, const ScalarType* results, Isa isa) {
  Writer w;
  w.put(kVersion);
  w.put(isa);
  w.put(compute);
  w.put(p.n_inputs);
  w.put(p.n_uniforms);
  w.put(p.n_results);
  w.put(p.n_steps);
  w.put(p.n_registers);
  w.put(p.bool_inputs);
  w.put(p.bool_uniforms);
  for (int i = 0; i < p.n_inputs; ++i) {
    w.put(inputs[i].dtype);
    w.put(inputs[i].is_single);
  }
  for (int k = 0; k < p.n_results; ++k) {
    w.put(results[k]);
    w.put(p.results[k].reg);
    w.put(p.results[k].is_bool);
  }
  for (int i = 0; i < p.n_steps; ++i) {
    const program::Step& s = p.steps[i];
    for (const uint8_t b : {static_cast<uint8_t>(s.op), s.dst, s.a, s.b, s.c}) {
      w.put(b);
    }
  }
  return std::move(w.bytes);
}

bool decode(std::string_view bytes, Request* to) {
  Reader r(bytes);
  Request& q = *to;
  program::Program& p = q.program;
  if (r.get<uint8_t>() != kVersion) return false;
  q.isa = r.get<Isa>();
  q.compute = r.get<program::ComputeType>();
  p.n_inputs = r.get<uint8_t>();
  p.n_uniforms = r.get<uint8_t>();
  p.n_results = r.get<uint8_t>();
  p.n_steps = r.get<uint16_t>();
  p.n_registers = r.get<uint16_t>();
  p.bool_inputs = r.get<uint64_t>();
  p.bool_uniforms = r.get<uint64_t>();
  if (!r.ok || !program::within_limits(p) || q.isa > Isa::kAvx512 ||
      static_cast<int>(q.compute) >= program::kNumComputeTypes) {
    return false;
  }
  for (int i = 0; i < p.n_inputs && r.ok; ++i) {
    const auto dtype = r.get<ScalarType>();
    q.inputs.push_back({dtype, r.get<uint8_t>() != 0});
  }
  for (int k = 0; k < p.n_results && r.ok; ++k) {
    q.results.push_back(r.get<ScalarType>());
    program::Result result{};
    result.reg = r.get<uint8_t>();
    result.is_bool = r.get<uint8_t>() != 0;
    if (result.reg >= p.n_registers) return false;
    q.registers.push_back(result);
  }
  for (int i = 0; i < p.n_steps && r.ok; ++i) {
    program::Step s{};
    s.op = r.get<lang::Prim>();
    s.dst = r.get<uint8_t>();
    s.a = r.get<uint8_t>();
    s.b = r.get<uint8_t>();
    s.c = r.get<uint8_t>();
    const int fixed = p.n_inputs + p.n_uniforms;
    if (s.op >= lang::Prim::kCount || s.dst >= p.n_registers || s.dst < fixed ||
        s.a >= p.n_registers || s.b >= p.n_registers || s.c >= p.n_registers) {
      return false;
    }
    q.steps.push_back(s);
  }
  p.steps = q.steps.data();
  p.results = q.registers.data();
  return r.ok && r.at_end();
}

}  // namespace sy::cpu::jit
