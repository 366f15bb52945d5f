#include "backends/cuda/print/region.h"

#include <algorithm>

#include "backends/cuda/print/body.h"
#include "backends/cuda/print/pointwise.h"
#include "backends/cuda/print/region_printer.h"
#include "backends/cuda/print/values.h"
#include "c10/process/error.h"

namespace sy::cuda::print {

namespace {

class WalkPrinter : RegionPrinter {
 public:
  WalkPrinter(const std::string& name, const RegionText& t)
      : RegionPrinter(name, t) {}

  std::string print(const RegionPacks& taken) {
    const int n = static_cast<int>(t_.inputs.size() + t_.outputs.size());
    need_nodes(t_);
    begin("region.cuh", "RegionWalkParams", n, region_numbers(t_).size(),
          false);
    const Operands in = inputs(taken.fixed), out = outputs_of(t_, in.size());
    load(in);
    outputs(out);
    add("  __device__ Out compute([[maybe_unused]] const In& in) const {{\n");
    nodes(t_);
    give_outputs(t_);
    std::string shell = str("region_walk<{}_parts::Op, {}>", name_, n);
    if (taken.width > 1) {
      packs(in, out, taken.width);
      shell = str("region_walk_packs<{}_parts::Op, {}, {}, {}>", name_, n,
                  taken.width, taken.unroll);
    }
    end("kRegionThreads", shell);
    return std::move(out_);
  }
};

class RegionReducePrinter : RegionPrinter {
 public:
  RegionReducePrinter(const std::string& name, const RegionText& t)
      : RegionPrinter(name, t) {}

  std::string print(ReduceShell shell) {
    const ReduceText r = region_reduction(t_);
    need_nodes(t_);
    need_reduction(r);
    const int n = static_cast<int>(t_.inputs.size());
    begin("region.cuh", "RegionReduceParams", n,
          region_numbers(t_).size() + static_cast<size_t>(r.accumulators),
          true);
    load(inputs(), "inputs");
    return kernel(
        r, r.type, kMapped, [&] { return mapped(t_); }, shell,
        str("RegionSource<{}_parts::Op, {}>", name_, n));
  }
};

}  // namespace

int RegionText::first_number(int node) const {
  int n = 0;
  for (int i = 0; i < node; ++i) {
    const RegionNode& k = region->nodes[static_cast<size_t>(i)];
    n += k.body.n_uniforms;
    if (k.combine != nullptr) n += k.combine->n_uniforms;
    if (k.finish != nullptr) n += k.finish->n_uniforms;
  }
  return n;
}

int RegionText::first_value(int node) const {
  size_t v = region->inputs.size();
  for (int i = 0; i < node; ++i) {
    v += region->nodes[static_cast<size_t>(i)].results.size();
  }
  return static_cast<int>(v);
}

ReduceText region_reduction(const RegionText& text) {
  const RegionNode& n = text.region->nodes[static_cast<size_t>(text.reduction)];
  ReduceText r;
  r.map = &n.body;
  r.combine = n.combine;
  r.finish = n.finish;
  r.accumulators = n.body.n_results;
  r.results = static_cast<int>(n.results.size());
  r.type = program::compute_type_of(n.compute);
  r.accumulated = accumulated_in(*n.combine, r.type);
  r.self = text.values->dtype(n.inputs[0]);
  for (int i = 0; i < r.results; ++i) {
    r.stored[i] = n.results[static_cast<size_t>(i)];
  }
  return r;
}

std::vector<int> region_numbers(const RegionText& t) {
  std::vector<int> out;
  const auto take = [&](int node, int n) {
    const int first = t.first_number(node);
    for (int i = 0; i < n; ++i) out.push_back(first + i);
  };
  for (const int i : t.nodes) {
    take(i, t.region->nodes[static_cast<size_t>(i)].body.n_uniforms);
  }
  if (t.reduction >= 0) {
    const RegionNode& n = t.region->nodes[static_cast<size_t>(t.reduction)];
    take(t.reduction, n.body.n_uniforms + n.combine->n_uniforms +
                          (n.finish == nullptr ? 0 : n.finish->n_uniforms));
  }
  return out;
}

int region_cost(const RegionText& t) {
  int cost = 0;
  for (const int i : t.nodes) {
    const RegionNode& n = t.region->nodes[static_cast<size_t>(i)];
    cost += cost_of(n.body, program::compute_type_of(n.compute));
  }
  return cost;
}

RegionPacks region_packs(const RegionText& t, int cost, uint64_t fixed) {
  constexpr int kRegisterBytes = 256;  // of what is on its way, of a thread
  int narrow = 8, broad = 1, all = 0;
  const auto take = [&](ScalarType dtype) {
    const int size = static_cast<int>(element_size(dtype));
    narrow = std::min(narrow, size);
    broad = std::max(broad, size);
    all += size;
  };
  for (const int o : t.outputs) {
    take(t.region->outputs[static_cast<size_t>(o)].memory.dtype);
  }
  all = 0;
  for (size_t i = 0; i < t.inputs.size(); ++i) {
    if ((fixed >> i & 1) == 0) take(t.values->dtype(t.inputs[i]));
  }
  const PointwiseTile tile = packed_tile(cost, narrow, broad);
  const int room = kRegisterBytes / std::max(1, all * tile.width);
  return {tile.width, std::clamp(room, 1, tile.unroll), fixed};
}

std::string print_region_walk(const std::string& name, const RegionText& t,
                              const RegionPacks& packs) {
  return WalkPrinter(name, t).print(packs);
}

std::string print_region_reduce(const std::string& name, const RegionText& t,
                                ReduceShell shell) {
  return RegionReducePrinter(name, t).print(shell);
}

}  // namespace sy::cuda::print
