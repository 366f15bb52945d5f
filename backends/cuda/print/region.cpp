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
    begin("region.cuh", "RegionWalkParams", n, region_numbers(t_).size());
    const Operands in = inputs(taken.fixed), out = outputs_of(t_, in.size());
    load(in);
    outputs(out);
    add("  __device__ Out compute([[maybe_unused]] const In& in) const {{\n");
    nodes(t_);
    return_outputs(t_);
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

class ReductionPrinter : RegionPrinter {
 public:
  ReductionPrinter(const std::string& name, const RegionText& t)
      : RegionPrinter(name, t) {}

  std::string print(ReduceShell shell) {
    need_nodes(t_);
    set_reduction(t_.reduction);
    const int n = static_cast<int>(t_.inputs.size());
    begin("region.cuh", "RegionReduceParams", n,
          region_numbers(t_).size() + static_cast<size_t>(accumulators()));
    accumulator();
    load(inputs(), "inputs");
    map(t_);
    combine();
    finish();
    nothing(number_);  // after all numbers of programs
    planes();
    constexpr std::string_view kShells[] = {"region_rows", "region_columns"};
    end("kReduceThreads",
        shell == ReduceShell::kPieces
            ? std::string("reduce_pieces")
            : str("{}<{}_parts::Op, {}>", kShells[static_cast<int>(shell)],
                  name_, n));
    return std::move(out_);
  }

 private:
  void finish() {
    add("  __device__ void finish(const Acc& a, int64_t at) const {{\n");
    const std::vector<std::string> results = finished();
    for (size_t i = 0; i < results.size(); ++i) {
      add("    static_cast<{}*>(p.results[{}])[at] =\n        {};\n",
          element_name(node_->results[i]), i, results[i]);
    }
    add("  }}\n");
  }

  void planes() {
    add("  __device__ void keep(const Acc& a, int64_t at) const {{\n");
    for (int i = 0; i < accumulators(); ++i) {
      add("    static_cast<{}*>(p.planes[{}])[at] = a.a{};\n",
          type_name(accumulator_type(i)), i, i);
    }
    add("  }}\n  __device__ Acc kept(int64_t at) const {{\n    return {{");
    for (int i = 0; i < accumulators(); ++i) {
      add("{}static_cast<const {}*>(p.planes[{}])[at]",
          i == 0 ? "" : ",\n            ", type_name(accumulator_type(i)), i);
    }
    add("}};\n  }}\n");
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

program::ComputeType region_accumulated(const RegionNode& node) {
  return accumulated_in(*node.combine, program::compute_type_of(node.compute));
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
  return ReductionPrinter(name, t).print(shell);
}

}  // namespace sy::cuda::print
