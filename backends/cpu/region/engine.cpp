#include <algorithm>
#include <string>

#include "aten/backend/region.h"
#include "backends/cpu/region/accumulator.h"
#include "backends/cpu/region/run.h"
#include "c10/parallel.h"
#include "c10/plugin/library.h"

namespace sy::cpu {

namespace {

// A region that is one stage over elements that lie one after the other, or one
// element: no walk is made for it.
struct Linear {
  const Stage* stage = nullptr;  // nullptr: it is none
  bool own_uniforms = true;      // the stage's are not those of the call
  uint64_t single = 0;           // bit i: input i is one element
};

Linear find_linear(const Region& region, const Plan& plan) {
  if (region.sizes.size() != 1 || plan.loops.size() != 1 ||
      !plan.temporaries.empty()) {
    return {};
  }
  const Loop& loop = plan.loops[0];
  if (loop.is_product || loop.reduced != 0 || loop.phases.size() != 1 ||
      loop.phases[0].stages.size() != 1) {
    return {};
  }
  const Stage& stage = loop.phases[0].stages[0];
  const program::Program& p = stage.body.program;
  Linear out;
  for (size_t i = 0; i < stage.inputs.size(); ++i) {
    // Operands in the order of the region's.
    const Port& port = stage.inputs[i];
    const Memory& m = loop.memories[static_cast<size_t>(port.index)];
    const bool is_bool = p.bool_inputs >> i & 1;
    if (m.index != static_cast<int>(i) || m.kind != Memory::kInput ||
        port.dtype != (is_bool ? kBool : program::storage_of(stage.type))) {
      return {};
    }
    const int64_t stride = region.inputs[i].strides[0];
    if (stride != 0 && stride != 1) return {};
    if (stride == 0) out.single |= uint64_t{1} << i;
  }
  if (stage.inputs.size() != region.inputs.size() ||
      stage.outputs.size() != region.outputs.size()) {
    return {};
  }
  for (size_t i = 0; i < stage.outputs.size(); ++i) {
    const Port& port = stage.outputs[i];
    const Memory& m = loop.memories[static_cast<size_t>(port.index)];
    if (m.index != static_cast<int>(i) || m.kind != Memory::kOutput ||
        !is_natural(port.dtype, stage.type, p.results[i].is_bool) ||
        region.outputs[i].memory.strides[0] != 1) {
      return {};
    }
  }
  out.own_uniforms = false;
  for (size_t i = 0; i < stage.uniforms.size(); ++i) {
    out.own_uniforms |= stage.uniforms[i] != static_cast<int>(i);
  }
  out.stage = &stage;
  return out;
}

class PreparedOnCpu final : public PreparedRegion {
 public:
  explicit PreparedOnCpu(const Region& region)
      : PreparedRegion(region),
        plan_(plan_region(this->region())),
        linear_(find_linear(this->region(), plan_)) {}

  void run(const RegionCall& call) const {
    if (linear_.stage != nullptr) {
      run_linear(call);
    } else {
      RegionRun(region(), plan_, call).run();
    }
  }

 private:
  void run_linear(const RegionCall& call) const {
    const int64_t n = call.sizes[0];
    if (n == 0) return;
    const Stage& stage = *linear_.stage;
    const program::Program* p = &stage.body.program;
    const program::Uniform* uniforms = call.uniforms;
    program::Uniform own[program::kMaxUniforms];
    if (linear_.own_uniforms) {
      for (size_t i = 0; i < stage.uniforms.size(); ++i) {
        own[i] = call.uniforms[stage.uniforms[i]];
      }
      uniforms = own;
    }
    program::Resolved resolved;
    if (p->bool_uniforms != 0) p = resolved.resolve(*p, uniforms);
    const size_t inputs = call.inputs.size(), outputs = call.outputs.size();
    const bool integers = !program::is_floating(stage.type);
    constexpr int64_t kSmall = 512;
    if (n <= kSmall) {
      const void* in[program::kMaxInputs];
      void* out[program::kMaxResults];
      for (size_t i = 0; i < inputs; ++i) in[i] = call.inputs[i].data;
      for (size_t i = 0; i < outputs; ++i) out[i] = call.outputs[i].data;
      tiles::run_contiguous(*p, stage.type, in, n == 1 ? 0 : linear_.single,
                            uniforms, out, n);
      check_division(integers);
      return;
    }
    tiles::Operand operands[program::kMaxInputs + program::kMaxResults];
    for (size_t i = 0; i < inputs + outputs; ++i) {
      const RegionMemory& m =
          i < inputs ? call.inputs[i] : call.outputs[i - inputs];
      const bool one = i < inputs && (linear_.single >> i & 1);
      operands[i] = {m.data,
                     one ? 0 : static_cast<int64_t>(element_size(m.dtype)),
                     m.dtype};
    }
    parallel_for(0, n, 32768, [&](int64_t begin, int64_t end) {
      const tiles::Runner runner(*p, stage.type, operands, uniforms,
                                 operands + inputs);
      char* data[program::kMaxInputs + program::kMaxResults];
      for (size_t i = 0; i < inputs + outputs; ++i) {
        data[i] =
            static_cast<char*>(operands[i].data) + begin * operands[i].stride;
      }
      runner.run(data, end - begin);
      check_division(integers);
    });
  }

  Plan plan_;
  Linear linear_;
};

class CpuRegionEngine final : public RegionEngine {
 public:
  bool supports(const Region& region, RegionReason* why) const override {
    const RegionValues values(region);
    for (size_t i = 0; i < region.nodes.size(); ++i) {
      const RegionNode& n = region.nodes[i];
      bool fits = true;
      switch (n.kind) {
        case RegionNode::kPointwise: fits = kernels(n, n.body, why); break;
        case RegionNode::kReduce: fits = reduction(n, why); break;
        case RegionNode::kProduct:
          fits = product(region, values, n, why);
          break;
        case RegionNode::kConvolution:
          why->say(
              "node %zu is a convolution: the CPU's kernels write images as "
              "a whole, so that what follows gains nothing by being in the "
              "same region; run the convolution before",
              i);
          return false;
      }
      if (!fits) return false;
    }
    return places(region, why);
  }

  intrusive_ptr<PreparedRegion> prepare(const Region& region) override {
    return make_intrusive<PreparedOnCpu>(region);
  }

  void run(const PreparedRegion& prepared, const RegionCall& call) override {
    static_cast<const PreparedOnCpu&>(prepared).run(call);
  }

 private:
  static bool kernels(const RegionNode& n, const program::Program& p,
                      RegionReason* why) {
    const program::ComputeType type = program::compute_type_of(n.compute);
    for (int i = 0; i < p.n_steps; ++i) {
      if (tiles::prim_fn(p.steps[i].op, type) != nullptr) continue;
      const auto name = lang::kPrims[static_cast<int>(p.steps[i].op)].name;
      why->say("there is no kernel of %.*s for %s",
               static_cast<int>(name.size()), name.data(),
               to_string(n.compute).c_str());
      return false;
    }
    if (p.n_steps + p.n_inputs > Fuser::kMaxSteps) {
      why->say("a program of %d steps, more than %d", p.n_steps,
               Fuser::kMaxSteps - p.n_inputs);
      return false;
    }
    return true;
  }

  static bool reduction(const RegionNode& n, RegionReason* why) {
    if (n.body.n_results > Combiner::kMaxAccumulators) {
      why->say("a reduction of %d accumulators, more than %d", n.body.n_results,
               Combiner::kMaxAccumulators);
      return false;
    }
    return kernels(n, n.body, why) && kernels(n, *n.combine, why) &&
           (n.finish == nullptr || kernels(n, *n.finish, why));
  }

  static bool product(const Region& region, const RegionValues& values,
                      const RegionNode& n, RegionReason* why) {
    const ScalarType dtype = n.results[0];
    for (const uint16_t v : n.inputs) {
      if (values.dtype(v) == dtype && dtype == n.compute && dtype != kBool) {
        continue;
      }
      why->say(
          "a product of %s and %s to %s; the CPU multiplies numbers of one "
          "dtype",
          to_string(values.dtype(n.inputs[0])).c_str(),
          to_string(values.dtype(n.inputs[1])).c_str(),
          to_string(dtype).c_str());
      return false;
    }
    int dims = 0;
    for (size_t d = 0; d < region.sizes.size(); ++d) {
      if ((n.reduced >> d & 1) == 0 || region.sizes[d] == 1) continue;
      ++dims;
      const uint64_t both = values.dims(n.inputs[0]) & values.dims(n.inputs[1]);
      if (both >> d & 1) continue;
      why->say("a product summed over dim %zu, which both have to vary over",
               d);
      return false;
    }
    if (dims > 1) {
      why->say("a product summed over %d dims; the CPU takes one", dims);
      return false;
    }
    return true;
  }

  // What one node makes is written in one go.
  static bool places(const Region& region, RegionReason* why) {
    size_t value = region.inputs.size();
    for (const RegionNode& n : region.nodes) {
      const size_t end = value + n.results.size();
      size_t places = n.results.size();
      for (const RegionOutput& o : region.outputs) {
        places += o.value >= value && o.value < end;
      }
      if (places > program::kMaxResults) {
        why->say("a node of %zu results and outputs together, more than %d",
                 places, program::kMaxResults);
        return false;
      }
      value = end;
    }
    return true;
  }
};

// Leaked: regions may be run until the process ends.
CpuRegionEngine& engine() {
  static auto* e = new CpuRegionEngine;
  return *e;
}

}  // namespace

SY_LIBRARY_IMPL(_, CPU, m) { m.service(BackendService::kRegions, &engine()); }

}  // namespace sy::cpu
