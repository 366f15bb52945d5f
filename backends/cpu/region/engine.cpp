#include <algorithm>
#include <string>

#include "aten/backend/region.h"
#include "aten/engine/iter.h"
#include "backends/cpu/engine/accumulator.h"
#include "backends/cpu/region/run.h"
#include "c10/plugin/library.h"
#include "c10/process/parallel.h"

namespace sy::cpu {

namespace {

// A region that is one stage of a walk, as most are that one operator gives: it
// takes no plan to run it.
struct Direct {
  const Stage* stage = nullptr;  // nullptr: it is none
  bool linear = false;           // elements lie one after the other, or are one
  bool own_uniforms = true;      // the stage's are not those of the call
  uint64_t single = 0;           // linear; bit i: input i is one element
};

// Whether the ports of a stage are the operands of the region.
bool are_operands(const std::vector<Port>& ports, const Loop& loop,
                  Memory::Kind kind, size_t n) {
  if (ports.size() != n) return false;
  for (size_t i = 0; i < n; ++i) {
    if (ports[i].place != Port::kMemory) return false;
    const Memory& m = loop.memories[static_cast<size_t>(ports[i].index)];
    if (m.kind != kind || m.index != static_cast<int>(i)) return false;
  }
  return true;
}

Direct find_direct(const Region& region, const Plan& plan) {
  const size_t inputs = region.inputs.size(), outputs = region.outputs.size();
  if (plan.loops.size() != 1 || !plan.temporaries.empty() ||
      inputs + outputs > static_cast<size_t>(Iter::kMaxOperands)) {
    return {};
  }
  const Loop& loop = plan.loops[0];
  if (loop.is_product || loop.reduced != 0 || loop.phases.size() != 1 ||
      loop.phases[0].stages.size() != 1) {
    return {};
  }
  const Stage& stage = loop.phases[0].stages[0];
  const program::Program& p = stage.body.program;
  Direct out;
  if (!are_operands(stage.inputs, loop, Memory::kInput, inputs) ||
      !are_operands(stage.outputs, loop, Memory::kOutput, outputs)) {
    return {};
  }
  out.stage = &stage;
  out.own_uniforms = false;
  for (size_t i = 0; i < stage.uniforms.size(); ++i) {
    out.own_uniforms |= stage.uniforms[i] != static_cast<int>(i);
  }
  out.linear = region.sizes.size() == 1;
  for (size_t i = 0; i < inputs && out.linear; ++i) {
    const int64_t stride = region.inputs[i].strides[0];
    out.linear =
        (stride == 0 || stride == 1) &&
        is_natural(stage.inputs[i].dtype, stage.type, p.bool_inputs >> i & 1);
    if (stride == 0) out.single |= uint64_t{1} << i;
  }
  for (size_t i = 0; i < outputs && out.linear; ++i) {
    out.linear =
        region.outputs[i].memory.strides[0] == 1 &&
        is_natural(stage.outputs[i].dtype, stage.type, p.results[i].is_bool);
  }
  return out;
}

// Inputs that are better read along dim 1; bit i: input i.
uint64_t transposed_inputs(const Iter& iter, int outputs) {
  if (iter.ndim() < 2 || iter.size(0) < 8 || iter.size(1) < 8) return 0;
  uint64_t bits = 0;
  for (int k = outputs; k < iter.operands(); ++k) {
    if (iter.stride(k, 1) == iter.itemsize(k) &&
        iter.stride(k, 0) > iter.stride(k, 1)) {
      bits |= uint64_t{1} << (k - outputs);
    }
  }
  return bits;
}

class PreparedOnCpu final : public PreparedRegion {
 public:
  explicit PreparedOnCpu(const Region& region)
      : PreparedRegion(region),
        plan_(plan_region(this->region())),
        direct_(find_direct(this->region(), plan_)) {}

  void run(const RegionCall& call) const {
    if (direct_.stage == nullptr) {
      RegionRun(region(), plan_, call).run();
    } else if (direct_.linear) {
      Numbers numbers(direct_, call);
      run_linear(call, *numbers.program, numbers.uniforms);
    } else {
      Numbers numbers(direct_, call);
      run_walk(call, *numbers.program, numbers.uniforms);
    }
  }

 private:
  static constexpr int64_t kGrain = 32768;
  static constexpr int kMaxOperands = Iter::kMaxOperands;

  // The numbers of the stage, and its program with what they choose.
  struct Numbers {
    const program::Program* program;
    const program::Uniform* uniforms;
    program::Uniform own[program::kMaxUniforms];
    program::Resolved resolved;

    Numbers(const Direct& direct, const RegionCall& call)
        : program(&direct.stage->body.program), uniforms(call.uniforms) {
      if (direct.own_uniforms) {
        const std::vector<int>& from = direct.stage->uniforms;
        for (size_t i = 0; i < from.size(); ++i)
          own[i] = call.uniforms[from[i]];
        uniforms = own;
      }
      if (program->bool_uniforms != 0) {
        program = resolved.resolve(*program, uniforms);
      }
    }
  };

  bool integers() const { return !program::is_floating(direct_.stage->type); }

  void run_linear(const RegionCall& call, const program::Program& p,
                  const program::Uniform* uniforms) const {
    const int64_t n = call.sizes[0];
    const program::ComputeType type = direct_.stage->type;
    const auto inputs = static_cast<int>(call.inputs.size());
    const auto outputs = static_cast<int>(call.outputs.size());
    constexpr int64_t kSmall = 512;
    if (n <= kSmall) {
      if (n == 0) return;
      const void* in[kMaxOperands];
      void* out[kMaxOperands];
      for (int i = 0; i < inputs; ++i) in[i] = call.inputs.data()[i].data;
      for (int i = 0; i < outputs; ++i) out[i] = call.outputs.data()[i].data;
      tiles::run_contiguous(p, type, in, n == 1 ? 0 : direct_.single, uniforms,
                            out, n);
      check_division(integers());
      return;
    }
    tiles::Operand operands[kMaxOperands];
    for (int i = 0; i < inputs + outputs; ++i) {
      const RegionMemory& m =
          i < inputs ? call.inputs.data()[i] : call.outputs.data()[i - inputs];
      const bool one = i < inputs && (direct_.single >> i & 1);
      operands[i] = {m.data,
                     one ? 0 : static_cast<int64_t>(element_size(m.dtype)),
                     m.dtype};
    }
    parallel_for(0, n, kGrain, [&](int64_t begin, int64_t end) {
      const tiles::Runner runner(p, type, operands, uniforms,
                                 operands + inputs);
      char* data[kMaxOperands];
      for (int i = 0; i < inputs + outputs; ++i) {
        data[i] =
            static_cast<char*>(operands[i].data) + begin * operands[i].stride;
      }
      runner.run(data, end - begin);
      check_division(integers());
    });
  }

  static void add(Iter* iter, IntArrayRef sizes, const RegionOperand& said,
                  const RegionMemory& m) {
    int64_t strides[TensorImpl::kMaxDims];
    for (size_t d = 0; d < sizes.size(); ++d) {
      strides[d] = said.strides[d] == 0 || m.strides == nullptr
                       ? said.strides[d]
                       : m.strides[d];
      if (sizes[d] == 1) strides[d] = 0;
    }
    iter->add(m.data, element_size(said.dtype), {strides, sizes.size()});
  }

  void run_walk(const RegionCall& call, const program::Program& p,
                const program::Uniform* uniforms) const {
    const auto inputs = static_cast<int>(call.inputs.size());
    const auto outs = static_cast<int>(call.outputs.size());
    const Region& r = region();
    Iter iter(call.sizes);
    for (size_t i = 0; i < call.outputs.size(); ++i) {
      add(&iter, call.sizes, r.outputs[i].memory, call.outputs[i]);
    }
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      add(&iter, call.sizes, r.inputs[i], call.inputs[i]);
    }
    if (iter.numel() == 0) return;
    iter.finish();
    const uint64_t transposed = transposed_inputs(iter, outs);
    tiles::Operand operands[kMaxOperands];
    int64_t inner[kMaxOperands], outer[kMaxOperands];
    for (int i = 0; i < inputs + outs; ++i) {
      const int k = i < inputs ? outs + i : i - inputs;
      inner[i] = iter.stride(k, 0);
      outer[i] = iter.ndim() > 1 ? iter.stride(k, 1) : 0;
      const RegionMemory& m =
          i < inputs ? call.inputs.data()[i] : call.outputs.data()[i - inputs];
      operands[i] = {nullptr, transposed >> i & 1 ? iter.itemsize(k) : inner[i],
                     m.dtype};
    }
    iter.for_each_range(kGrain, [&](int64_t begin, int64_t end) {
      const tiles::Runner runner(p, direct_.stage->type, operands, uniforms,
                                 operands + inputs);
      iter.run(begin, end, [&](const Iter::Block& block) {
        char* data[kMaxOperands];
        for (int i = 0; i < inputs; ++i) data[i] = block.data[outs + i];
        for (int i = 0; i < outs; ++i) data[inputs + i] = block.data[i];
        if (transposed != 0) {
          runner.run_2d_transposed(data, inner, outer, block.columns,
                                   block.rows, transposed);
        } else {
          runner.run_2d(data, outer, block.columns, block.rows);
        }
      });
      check_division(integers());
    });
  }

  Plan plan_;
  Direct direct_;
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
              "a whole, so that later steps gain nothing by being in the "
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

  // Whether the results and outputs of each node can be written in one go.
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
