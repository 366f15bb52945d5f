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
    SY_CHECK(dims <= TensorImpl::kMaxDims, Value, "[region] expected at most ",
             TensorImpl::kMaxDims, " dims, got ", dims);
    for (const int64_t s : r_.sizes) {
      SY_CHECK(s >= 0 || s == kOpen, Value,
               "[region] sizes: expected no negative one, got ", s);
    }
    for (size_t i = 0; i < r_.inputs.size(); ++i) {
      operand(r_.inputs[i], str("input ", i));
    }
    SY_CHECK(RegionValues::count(r_) <= UINT16_MAX, Value,
             "[region] expected at most ", UINT16_MAX, " values, got ",
             RegionValues::count(r_));
    values_ = static_cast<int>(r_.inputs.size());
    for (size_t i = 0; i < r_.nodes.size(); ++i) node(i);
    outputs();
  }

 private:
  void operand(const RegionOperand& o, const std::string& name) const {
    SY_CHECK(static_cast<int>(o.dtype) < kNumScalarTypes, Type, "[region] ",
             name, ": expected a dtype, got ", o.dtype);
    SY_CHECK(o.strides.size() == r_.sizes.size(), Value, "[region] ", name,
             ": expected ", r_.sizes.size(), " strides, got ",
             o.strides.size());
  }

  std::string where(size_t i) const {
    const char* const name = r_.nodes[i].name;
    return name == nullptr ? str("node ", i) : str("node ", i, " (", name, ")");
  }

  // That the registers of a program are what its steps take them for is what
  // its compiler cares for; here nothing may go out of bounds.
  void program(const Program& p, ScalarType compute, const std::string& name,
               const char* part) const {
    SY_CHECK(program::within_limits(p), Value, "[region] ", name, ": ", part,
             ": expected at most ", program::kMaxInputs, " inputs, ",
             program::kMaxUniforms, " numbers, ", program::kMaxResults,
             " results and ", program::kMaxRegisters, " registers");
    const int fixed = p.n_inputs + p.n_uniforms;
    for (int i = 0; i < p.n_steps; ++i) {
      const program::Step& s = p.steps[i];
      SY_CHECK(s.op < lang::Prim::kCount && s.dst >= fixed &&
                   s.dst < p.n_registers && s.a < p.n_registers &&
                   s.b < p.n_registers && s.c < p.n_registers,
               Value, "[region] ", name, ": ", part, ": step ", i,
               " is none or works on registers that are not there");
    }
    for (int i = 0; i < p.n_results; ++i) {
      SY_CHECK(p.results[i].reg < p.n_registers, Value, "[region] ", name, ": ",
               part, ": result ", i, " is a register that is not there");
    }
    const char* const missed = missed_domain(p, compute);
    SY_CHECK(missed == nullptr, Type, "[region] ", name, ": ", part,
             ": expected to compute in ", missed, ", got ", compute);
  }

  void counts(const std::string& name, const char* what, size_t expected,
              size_t got) const {
    SY_CHECK(expected == got, Value, "[region] ", name, ": expected ", expected,
             " ", what, ", got ", got);
  }

  void node(size_t i) {
    const RegionNode& n = r_.nodes[i];
    const std::string name = where(i);
    for (const uint16_t v : n.inputs) {
      SY_CHECK(v < values_, Value, "[region] ", name,
               ": expected inputs that were computed before, values below ",
               values_, ", got ", v);
    }
    SY_CHECK(static_cast<int>(n.compute) < kNumScalarTypes, Type, "[region] ",
             name, ": expected a dtype to compute in, got ", n.compute);
    for (const ScalarType t : n.results) {
      SY_CHECK(static_cast<int>(t) < kNumScalarTypes, Type, "[region] ", name,
               ": expected results of a dtype, got ", t);
    }
    const size_t dims = r_.sizes.size();
    SY_CHECK(dims == 64 || n.reduced >> dims == 0, Value, "[region] ", name,
             ": expected reduced dims below ", dims);
    switch (n.kind) {
      case RegionNode::kPointwise:
        program(n.body, n.compute, name, "program");
        counts(name, "inputs", n.body.n_inputs, n.inputs.size());
        counts(name, "results", n.body.n_results, n.results.size());
        SY_CHECK(n.reduced == 0, Value, "[region] ", name,
                 ": expected no reduced dims of a pointwise node");
        break;
      case RegionNode::kReduce: reduce(n, name); break;
      case RegionNode::kProduct:
      case RegionNode::kConvolution:
        counts(name, "inputs", 2, n.inputs.size());
        counts(name, "results", 1, n.results.size());
        SY_CHECK(n.body.n_steps == 0 && n.body.n_results == 0 &&
                     n.body.n_uniforms == 0,
                 Value, "[region] ", name, ": expected no program");
        for (const RegionWindow& w : n.windows) window(w, name);
        break;
    }
    values_ += static_cast<int>(n.results.size());
  }

  void reduce(const RegionNode& n, const std::string& name) const {
    program(n.body, n.compute, name, "map");
    counts(name, "inputs", n.body.n_inputs, n.inputs.size());
    SY_CHECK(n.combine != nullptr, Value, "[region] ", name,
             ": expected a program that combines");
    const size_t k = n.body.n_results;
    program(*n.combine, n.compute, name, "combine");
    counts(name, "inputs of combine", 2 * k, n.combine->n_inputs);
    counts(name, "results of combine", k, n.combine->n_results);
    if (n.finish == nullptr) {
      SY_CHECK(n.results.size() <= k, Value, "[region] ", name,
               ": expected at most ", k, " results, one of each accumulator, ",
               "got ", n.results.size());
      return;
    }
    program(*n.finish, n.compute, name, "finish");
    counts(name, "inputs of finish", k, n.finish->n_inputs);
    counts(name, "results", n.finish->n_results, n.results.size());
  }

  void window(const RegionWindow& w, const std::string& name) const {
    const size_t dims = r_.sizes.size();
    SY_CHECK(w.place < dims && w.kernel < dims && w.input < dims, Value,
             "[region] ", name, ": expected windows over dims below ", dims);
    SY_CHECK(w.stride > 0 && w.dilation > 0 && w.padding >= 0, Value,
             "[region] ", name, ": expected a stride and a dilation of at ",
             "least 1 and padding of at least 0, got ", w.stride, ", ",
             w.dilation, " and ", w.padding);
  }

  void outputs() const {
    SY_CHECK(!r_.outputs.empty(), Value, "[region] expected an output");
    const RegionValues values(r_);
    for (size_t i = 0; i < r_.outputs.size(); ++i) {
      const RegionOutput& o = r_.outputs[i];
      const std::string name = str("output ", i);
      operand(o.memory, name);
      SY_CHECK(o.value < values_, Value, "[region] ", name,
               ": expected a value below ", values_, ", got ", o.value);
      for (size_t d = 0; d < r_.sizes.size(); ++d) {
        SY_CHECK((values.dims(o.value) >> d & 1) == 0 ||
                     o.memory.strides[d] != 0 || r_.sizes[d] == 1,
                 Value, "[region] ", name, ": expected a stride of dim ", d,
                 ", over which value ", o.value, " varies, got 0");
      }
      if (o.donor >= 0) donor(o, name, i);
    }
  }
  void donor(const RegionOutput& o, const std::string& name, size_t i) const {
    const auto d = static_cast<size_t>(o.donor);
    SY_CHECK(d < r_.inputs.size(), Value, "[region] ", name,
             ": expected a donor among ", r_.inputs.size(), " inputs, got ", d);
    const RegionOperand& from = r_.inputs[d];
    SY_CHECK(from.strides == o.memory.strides &&
                 element_size(from.dtype) == element_size(o.memory.dtype),
             Value, "[region] ", name, ": expected input ", d,
             ", its donor, to have its strides and elements of its size");
    for (size_t j = 0; j < i; ++j) {
      SY_CHECK(r_.outputs[j].donor != o.donor, Value, "[region] ", name,
               ": expected a donor of its own, got that of output ", j);
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
             "[region] expected sizes of ", r_.sizes.size(), " dims, got ",
             c_.sizes);
    for (size_t d = 0; d < r_.sizes.size(); ++d) {
      SY_CHECK(r_.sizes[d] == c_.sizes[d] ||
                   (r_.sizes[d] == kOpen && c_.sizes[d] >= 0),
               Value, "[region] expected a size of ",
               r_.sizes[d] == kOpen ? 0 : r_.sizes[d], " in dim ", d, ", got ",
               c_.sizes[d]);
      empty_ |= c_.sizes[d] == 0;
    }
    count("inputs", r_.inputs.size(), c_.inputs.size());
    count("outputs", r_.outputs.size(), c_.outputs.size());
    count("numbers", static_cast<size_t>(r_.uniforms()),
          static_cast<size_t>(c_.n_uniforms));
    SY_CHECK(c_.n_uniforms == 0 || c_.uniforms != nullptr, Value,
             "[region] expected ", c_.n_uniforms, " numbers, got none");
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
    SY_CHECK(expected == got, Value, "[region] expected ", expected, " ", what,
             ", got ", got);
  }
  int64_t stride(const RegionOperand& o, const RegionMemory& m,
                 size_t d) const {
    return m.strides == nullptr ? o.strides[d] : m.strides[d];
  }

  void operand(const char* what, size_t i, const RegionOperand& o,
               const RegionMemory& m) const {
    SY_CHECK(m.dtype == o.dtype, Type, "[region] ", what, i, ": expected ",
             o.dtype, ", got ", m.dtype);
    bool reads = true;
    for (size_t d = 0; d < r_.sizes.size(); ++d) {
      const int64_t said = o.strides[d];
      // Dims that it does not vary over may be empty.
      reads &= c_.sizes[d] != 0 || said == 0;
      if (c_.sizes[d] <= 1) continue;
      SY_CHECK(m.strides != nullptr || said != kOpen, Value, "[region] ", what,
               i, ": expected strides, as that of dim ", d, " is open");
      SY_CHECK(said == kOpen || stride(o, m, d) == said, Value, "[region] ",
               what, i, ": expected a stride of ", said, " in dim ", d,
               ", got ", stride(o, m, d));
    }
    SY_CHECK(m.data != nullptr || !reads, Value, "[region] ", what, i,
             ": expected memory, got an undefined operand");
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
      SY_CHECK(steps[k].stride > last, Value, "[region] output ", i,
               ": expected elements with memory of their own, got a stride of ",
               steps[k].stride, " over ", last + 1, " elements");
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
        SY_CHECK(o.donor == static_cast<int>(j), Value, "[region] output ", i,
                 ": expected memory apart from that of input ", j,
                 ", which is not its donor");
        SY_CHECK(
            same_place(o.memory, c_.outputs[i], r_.inputs[j], c_.inputs[j]),
            Value, "[region] output ", i, ": expected the memory of input ", j,
            ", its donor, element by element, or other memory");
      }
      for (size_t j = 0; j < i; ++j) {
        SY_CHECK(!meets(reach(r_.outputs[j].memory, c_.outputs[j])), Value,
                 "[region] output ", i,
                 ": expected memory apart from that of output ", j);
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
