#include <algorithm>
#include <cstdlib>
#include <string>

#include "aten/backend/region.h"
#include "aten/engine/dims.h"
#include "aten/program/program_domain.h"

namespace sy {

namespace {

using program::Program;

class Checker {
 public:
  explicit Checker(const Region& r) : r_(r) {}

  void run() {
    const size_t dims = r_.sizes.size();
    SY_CHECK(dims <= TensorImpl::kMaxDims, Value,
             "[region] expected at most {} dims, got {}", TensorImpl::kMaxDims,
             dims);
    for (const int64_t s : r_.sizes) {
      SY_CHECK(s >= 0 || s == kOpen, Value,
               "[region] sizes: expected no negative one, got {}", s);
    }
    for (size_t i = 0; i < r_.inputs.size(); ++i) {
      operand(r_.inputs[i], str("input {}", i));
    }
    SY_CHECK(RegionValues::count(r_) <= UINT16_MAX, Value,
             "[region] expected at most {} values, got {}", UINT16_MAX,
             RegionValues::count(r_));
    values_ = static_cast<int>(r_.inputs.size());
    for (size_t i = 0; i < r_.nodes.size(); ++i) node(i);
    outputs();
  }

 private:
  void operand(const RegionOperand& o, const std::string& name) const {
    SY_CHECK(static_cast<int>(o.dtype) < kNumScalarTypes, Type,
             "[region] {}: expected a dtype, got {}", name, o.dtype);
    SY_CHECK(o.strides.size() == r_.sizes.size(), Value,
             "[region] {}: expected {} strides, got {}", name, r_.sizes.size(),
             o.strides.size());
  }

  std::string where(size_t i) const {
    const char* const name = r_.nodes[i].name;
    return name == nullptr ? str("node {}", i) : str("node {} ({})", i, name);
  }

  // Nothing may go out of bounds here. The compiler of a program makes sure
  // that its registers are what its steps take them for.
  void program(const Program& p, ScalarType compute, const std::string& name,
               const char* part) const {
    SY_CHECK(program::within_limits(p), Value,
             "[region] {}: {}: expected at most {} inputs, {} numbers, {} "
             "results and {} registers",
             name, part, program::kMaxInputs, program::kMaxUniforms,
             program::kMaxResults, program::kMaxRegisters);
    const int fixed = p.n_inputs + p.n_uniforms;
    for (int i = 0; i < p.n_steps; ++i) {
      const program::Step& s = p.steps[i];
      SY_CHECK(s.op < lang::Prim::kCount && s.dst >= fixed &&
                   s.dst < p.n_registers && s.a < p.n_registers &&
                   s.b < p.n_registers && s.c < p.n_registers,
               Value,
               "[region] {}: {}: step {} is none or works on registers that "
               "are not there",
               name, part, i);
    }
    for (int i = 0; i < p.n_results; ++i) {
      SY_CHECK(p.results[i].reg < p.n_registers, Value,
               "[region] {}: {}: result {} is a register that is not there",
               name, part, i);
    }
    const char* const missed = missed_domain(p, compute);
    SY_CHECK(missed == nullptr, Type,
             "[region] {}: {}: expected to compute in {}, got {}", name, part,
             missed, compute);
  }

  void counts(const std::string& name, const char* what, size_t expected,
              size_t got) const {
    SY_CHECK(expected == got, Value, "[region] {}: expected {} {}, got {}",
             name, expected, what, got);
  }

  void node(size_t i) {
    const RegionNode& n = r_.nodes[i];
    const std::string name = where(i);
    for (const uint16_t v : n.inputs) {
      SY_CHECK(v < values_, Value,
               "[region] {}: expected inputs that were computed before, values "
               "below {}, got {}",
               name, values_, v);
    }
    SY_CHECK(static_cast<int>(n.compute) < kNumScalarTypes, Type,
             "[region] {}: expected a dtype to compute in, got {}", name,
             n.compute);
    for (const ScalarType t : n.results) {
      SY_CHECK(static_cast<int>(t) < kNumScalarTypes, Type,
               "[region] {}: expected results of a dtype, got {}", name, t);
    }
    const size_t dims = r_.sizes.size();
    SY_CHECK(dims == 64 || n.reduced >> dims == 0, Value,
             "[region] {}: expected reduced dims below {}", name, dims);
    switch (n.kind) {
      case RegionNode::kPointwise:
        program(n.body, n.compute, name, "program");
        counts(name, "inputs", n.body.n_inputs, n.inputs.size());
        counts(name, "results", n.body.n_results, n.results.size());
        SY_CHECK(n.reduced == 0, Value,
                 "[region] {}: expected no reduced dims of a pointwise node",
                 name);
        break;
      case RegionNode::kReduce: reduce(n, name); break;
      case RegionNode::kProduct:
      case RegionNode::kConvolution:
        counts(name, "inputs", 2, n.inputs.size());
        counts(name, "results", 1, n.results.size());
        SY_CHECK(n.body.n_steps == 0 && n.body.n_results == 0 &&
                     n.body.n_uniforms == 0,
                 Value, "[region] {}: expected no program", name);
        for (const RegionWindow& w : n.windows) window(w, name);
        break;
    }
    values_ += static_cast<int>(n.results.size());
  }

  void reduce(const RegionNode& n, const std::string& name) const {
    program(n.body, n.compute, name, "map");
    counts(name, "inputs", n.body.n_inputs, n.inputs.size());
    SY_CHECK(n.combine != nullptr, Value,
             "[region] {}: expected a program that combines", name);
    const size_t k = n.body.n_results;
    program(*n.combine, n.compute, name, "combine");
    counts(name, "inputs of combine", 2 * k, n.combine->n_inputs);
    counts(name, "results of combine", k, n.combine->n_results);
    if (n.finish == nullptr) {
      SY_CHECK(n.results.size() <= k, Value,
               "[region] {}: expected at most {} results, one of each "
               "accumulator, got {}",
               name, k, n.results.size());
      return;
    }
    program(*n.finish, n.compute, name, "finish");
    counts(name, "inputs of finish", k, n.finish->n_inputs);
    counts(name, "results", n.finish->n_results, n.results.size());
  }

  void window(const RegionWindow& w, const std::string& name) const {
    const size_t dims = r_.sizes.size();
    SY_CHECK(w.place < dims && w.kernel < dims && w.input < dims, Value,
             "[region] {}: expected windows over dims below {}", name, dims);
    SY_CHECK(w.stride > 0 && w.dilation > 0 && w.padding >= 0, Value,
             "[region] {}: expected a stride and a dilation of at least 1 and "
             "padding of at least 0, got {}, {} and {}",
             name, w.stride, w.dilation, w.padding);
  }

  void outputs() const {
    SY_CHECK(!r_.outputs.empty(), Value, "[region] expected an output");
    const RegionValues values(r_);
    for (size_t i = 0; i < r_.outputs.size(); ++i) {
      const RegionOutput& o = r_.outputs[i];
      const std::string name = str("output {}", i);
      operand(o.memory, name);
      SY_CHECK(o.value < values_, Value,
               "[region] {}: expected a value below {}, got {}", name, values_,
               o.value);
      for (size_t d = 0; d < r_.sizes.size(); ++d) {
        SY_CHECK((values.dims(o.value) >> d & 1) == 0 ||
                     o.memory.strides[d] != 0 || r_.sizes[d] == 1,
                 Value,
                 "[region] {}: expected a stride of dim {}, over which value "
                 "{} varies, got 0",
                 name, d, o.value);
      }
      if (o.donor >= 0) donor(o, name, i);
    }
  }
  void donor(const RegionOutput& o, const std::string& name, size_t i) const {
    const auto d = static_cast<size_t>(o.donor);
    SY_CHECK(d < r_.inputs.size(), Value,
             "[region] {}: expected a donor among {} inputs, got {}", name,
             r_.inputs.size(), d);
    const RegionOperand& from = r_.inputs[d];
    SY_CHECK(from.strides == o.memory.strides &&
                 element_size(from.dtype) == element_size(o.memory.dtype),
             Value,
             "[region] {}: expected input {}, its donor, to have its strides "
             "and elements of its size",
             name, d);
    for (size_t j = 0; j < i; ++j) {
      SY_CHECK(
          r_.outputs[j].donor != o.donor, Value,
          "[region] {}: expected a donor of its own, got that of output {}",
          name, j);
    }
  }

  const Region& r_;
  int values_ = 0;
};

// The bytes that an operand reaches over, from `low` up to `high`.
struct Reach {
  const char* low;
  const char* high;
};

class CallChecker {
 public:
  CallChecker(const Region& r, const RegionCall& c) : r_(r), c_(c) {}

  void run() {
    SY_CHECK(c_.sizes.size() == r_.sizes.size(), Value,
             "[region] expected sizes of {} dims, got {}", r_.sizes.size(),
             c_.sizes);
    for (size_t d = 0; d < r_.sizes.size(); ++d) {
      SY_CHECK(r_.sizes[d] == c_.sizes[d] ||
                   (r_.sizes[d] == kOpen && c_.sizes[d] >= 0),
               Value, "[region] expected a size of {} in dim {}, got {}",
               r_.sizes[d] == kOpen ? 0 : r_.sizes[d], d, c_.sizes[d]);
      empty_ |= c_.sizes[d] == 0;
    }
    count("inputs", r_.inputs.size(), c_.inputs.size());
    count("outputs", r_.outputs.size(), c_.outputs.size());
    count("numbers", static_cast<size_t>(r_.uniforms()),
          static_cast<size_t>(c_.n_uniforms));
    SY_CHECK(c_.n_uniforms == 0 || c_.uniforms != nullptr, Value,
             "[region] expected {} numbers, got none", c_.n_uniforms);
    for (size_t i = 0; i < c_.inputs.size(); ++i) {
      operand("input ", i, r_.inputs[i], c_.inputs[i]);
    }
    for (size_t i = 0; i < c_.outputs.size(); ++i) {
      operand("output ", i, r_.outputs[i].memory, c_.outputs[i]);
    }
    if (!empty_) overlaps();
  }

 private:
  static void count(const char* what, size_t expected, size_t got) {
    SY_CHECK(expected == got, Value, "[region] expected {} {}, got {}",
             expected, what, got);
  }
  int64_t stride(const RegionOperand& o, const RegionMemory& m,
                 size_t d) const {
    return m.strides == nullptr ? o.strides[d] : m.strides[d];
  }

  void operand(const char* what, size_t i, const RegionOperand& o,
               const RegionMemory& m) const {
    SY_CHECK(m.dtype == o.dtype, Type, "[region] {}{}: expected {}, got {}",
             what, i, o.dtype, m.dtype);
    bool reads = true;
    for (size_t d = 0; d < r_.sizes.size(); ++d) {
      const int64_t said = o.strides[d];
      // Dims that it does not vary over may be empty.
      reads &= c_.sizes[d] != 0 || said == 0;
      if (c_.sizes[d] <= 1) continue;
      SY_CHECK(m.strides != nullptr || said != kOpen, Value,
               "[region] {}{}: expected strides, as that of dim {} is open",
               what, i, d);
      SY_CHECK(said == kOpen || stride(o, m, d) == said, Value,
               "[region] {}{}: expected a stride of {} in dim {}, got {}", what,
               i, said, d, stride(o, m, d));
    }
    SY_CHECK(m.data != nullptr || !reads, Value,
             "[region] {}{}: expected memory, got an undefined operand", what,
             i);
  }

  Reach reach(const RegionOperand& o, const RegionMemory& m) const {
    int64_t low = 0, high = 0;
    for (size_t d = 0; d < r_.sizes.size(); ++d) {
      const int64_t far =
          (c_.sizes[d] - 1) *
          (c_.sizes[d] == 1 || o.strides[d] == 0 ? 0 : stride(o, m, d));
      (far < 0 ? low : high) += far;
    }
    const auto size = static_cast<int64_t>(element_size(o.dtype));
    const char* const at = static_cast<const char*>(m.data);
    return {at + low * size, at + (high + 1) * size};
  }
  bool same_place(const RegionOperand& a, const RegionMemory& x,
                  const RegionOperand& b, const RegionMemory& y) const {
    if (x.data != y.data || element_size(a.dtype) != element_size(b.dtype)) {
      return false;
    }
    for (size_t d = 0; d < r_.sizes.size(); ++d) {
      if (c_.sizes[d] > 1 && stride(a, x, d) != stride(b, y, d)) return false;
    }
    return true;
  }

  // Each stride steps over all that the smaller ones reach.
  void own_memory(size_t i) const {
    const RegionOperand& o = r_.outputs[i].memory;
    struct Step {
      int64_t stride, size;
    };
    Step steps[TensorImpl::kMaxDims];
    int n = 0;
    for (size_t d = 0; d < r_.sizes.size(); ++d) {
      if (o.strides[d] == 0 || c_.sizes[d] == 1) continue;
      steps[n++] = {std::abs(stride(o, c_.outputs[i], d)), c_.sizes[d]};
    }
    std::sort(steps, steps + n,
              [](const Step& a, const Step& b) { return a.stride < b.stride; });
    int64_t last = 0;
    for (int k = 0; k < n; ++k) {
      SY_CHECK(steps[k].stride > last, Value,
               "[region] output {}: expected elements with memory of their "
               "own, got a stride of {} over {} elements",
               i, steps[k].stride, last + 1);
      last += (steps[k].size - 1) * steps[k].stride;
    }
  }

  void overlaps() const {
    for (size_t i = 0; i < c_.outputs.size(); ++i) {
      const RegionOutput& o = r_.outputs[i];
      own_memory(i);
      const Reach out = reach(o.memory, c_.outputs[i]);
      const auto meets = [&](const Reach& r) {
        return out.low < r.high && r.low < out.high;
      };
      for (size_t j = 0; j < c_.inputs.size(); ++j) {
        if (!meets(reach(r_.inputs[j], c_.inputs[j]))) continue;
        SY_CHECK(o.donor == static_cast<int>(j), Value,
                 "[region] output {}: expected memory apart from that of input "
                 "{}, which is not its donor",
                 i, j);
        SY_CHECK(
            same_place(o.memory, c_.outputs[i], r_.inputs[j], c_.inputs[j]),
            Value,
            "[region] output {}: expected the memory of input {}, its donor, "
            "element by element, or other memory",
            i, j);
      }
      for (size_t j = 0; j < i; ++j) {
        SY_CHECK(
            !meets(reach(r_.outputs[j].memory, c_.outputs[j])), Value,
            "[region] output {}: expected memory apart from that of output {}",
            i, j);
      }
    }
  }

  const Region& r_;
  const RegionCall& c_;
  bool empty_ = false;
};

}  // namespace

void check_region(const Region& region) { Checker(region).run(); }

void check_call(const Region& region, const RegionCall& call) {
  CallChecker(region, call).run();
}

}  // namespace sy
