#include "backends/cpu/region/ops.h"

#include <algorithm>

#include "c10/process/error.h"

namespace sy::cpu {

namespace {

constexpr program::Result kFirstInput{0, false};

// Gives its input back.
constexpr program::Program make_identity() {
  program::Program p;
  p.results = &kFirstInput;
  p.n_inputs = 1;
  p.n_registers = 1;
  return p;
}
constexpr program::Program kIdentity = make_identity();

bool is_identity(const program::Program& p) {
  return p.n_steps == 0 && p.n_inputs == 1 && p.n_results == 1 &&
         p.results[0].reg == 0 && p.bool_inputs == 0;
}

ScalarType natural_dtype(const program::Program& p, int result,
                         program::ComputeType type) {
  return tiles::register_type(p.results[result].is_bool, type);
}

}  // namespace

RegionOps::RegionOps(const Region& region) {
  expand(region);
  add_outputs(region);
  find_live();
  make_loops();
  sort_loops();
  make_phases();
}

int RegionOps::new_value(ScalarType dtype, uint64_t dims) {
  values.push_back({dtype, dims});
  makers.push_back(-1);
  return static_cast<int>(values.size()) - 1;
}

uint64_t RegionOps::dims_of(const std::vector<int>& list) const {
  uint64_t bits = 0;
  for (const int v : list) bits |= values[static_cast<size_t>(v)].dims;
  return bits;
}

RegionOp& RegionOps::add(RegionOp op) {
  for (const int v : op.results) {
    makers[static_cast<size_t>(v)] = static_cast<int>(ops.size());
  }
  ops.push_back(std::move(op));
  return ops.back();
}

int RegionOps::copy_of(int value, uint64_t dims) {
  const ScalarType dtype = values[static_cast<size_t>(value)].dtype;
  RegionOp op;
  op.type = program::compute_type_of(dtype);
  op.body = &kIdentity;
  op.inputs = {value};
  op.results = {new_value(dtype, dims)};
  op.dims = dims;
  return add(std::move(op)).results[0];
}

void RegionOps::expand(const Region& region) {
  for (size_t d = 0; d < region.sizes.size(); ++d) {
    if (region.sizes[d] == 1) ones_ |= uint64_t{1} << d;
  }
  const RegionValues given(region);
  for (int v = 0; v < given.size(); ++v) {
    new_value(given.dtype(v), given.dims(v) & ~ones_);
  }
  int value = static_cast<int>(region.inputs.size());
  int uniform = 0;
  for (const RegionNode& node : region.nodes) {
    const int first = value;
    value += static_cast<int>(node.results.size());
    if (node.kind == RegionNode::kReduce) {
      expand_reduction(node, first, uniform);
    } else {
      RegionOp op;
      op.node = &node;
      op.type = program::compute_type_of(node.compute);
      op.inputs.assign(node.inputs.begin(), node.inputs.end());
      for (int v = first; v < value; ++v) op.results.push_back(v);
      op.dims = dims_of(op.inputs);
      if (node.kind == RegionNode::kPointwise) {
        op.body = &node.body;
        op.first_uniform = uniform;
      } else {
        op.kind = RegionOp::kProduct;
        op.reduced = node.reduced & ~ones_;
      }
      add(std::move(op));
    }
    uniform += node.body.n_uniforms;
    if (node.combine != nullptr) uniform += node.combine->n_uniforms;
    if (node.finish != nullptr) uniform += node.finish->n_uniforms;
  }
}

// A map, unless it does nothing; a reduction; what finishes it.
void RegionOps::expand_reduction(const RegionNode& node, int first_value,
                                 int uniform) {
  const program::ComputeType type = program::compute_type_of(node.compute);
  const uint64_t reduced = node.reduced & ~ones_;
  const int k = node.body.n_results;
  std::vector<int> inputs(node.inputs.begin(), node.inputs.end());
  const uint64_t dims = dims_of(inputs) | reduced;
  const uint64_t kept = dims & ~reduced;

  RegionOp reduction;
  reduction.kind = RegionOp::kReduction;
  reduction.node = &node;
  reduction.type = type;
  reduction.body = node.combine;
  reduction.dims = dims;
  reduction.reduced = reduced;
  reduction.first_uniform = uniform + node.body.n_uniforms;
  bool bare = k == 1 && inputs.size() == 1 && dims_of(inputs) == dims;
  if (bare) {
    const auto& p = node.body;
    bare = is_natural(values[static_cast<size_t>(inputs[0])].dtype, type,
                      p.results[0].is_bool) &&
           (is_identity(p) ||
            (p.n_steps == 1 && p.bool_inputs == 0 && p.steps[0].a == 0 &&
             p.steps[0].op == lang::Prim::copy &&
             p.results[0].reg == p.steps[0].dst));
  }
  if (bare && reduced != 0) {
    reduction.inputs = inputs;
  } else {
    RegionOp map;
    map.node = &node;
    map.type = type;
    map.body = &node.body;
    map.inputs = inputs;
    map.first_uniform = uniform;
    map.dims = dims;
    if (reduced != 0) map.partner = static_cast<int>(ops.size()) + 1;
    for (int i = 0; i < k; ++i) {
      map.results.push_back(new_value(natural_dtype(node.body, i, type), dims));
    }
    reduction.inputs = map.results;
    add(std::move(map));
  }
  // The accumulators are the results if nothing finishes them, as far as they
  // have their dtype. They are the results of the map if there is nothing to
  // reduce.
  std::vector<int> accumulators;
  std::vector<int> to_cast;
  const auto n_results = static_cast<int>(node.results.size());
  for (int i = 0; i < k; ++i) {
    const ScalarType natural = natural_dtype(node.body, i, type);
    const bool is_result = node.finish == nullptr && i < n_results;
    if (is_result && reduced != 0 &&
        node.results[static_cast<size_t>(i)] == natural) {
      accumulators.push_back(first_value + i);
      continue;
    }
    accumulators.push_back(reduced != 0
                               ? new_value(natural, kept)
                               : reduction.inputs[static_cast<size_t>(i)]);
    if (is_result) to_cast.push_back(i);
  }
  const int finish_uniform = reduction.first_uniform + node.combine->n_uniforms;
  if (reduced != 0) {
    reduction.results = accumulators;
    add(std::move(reduction));
  }
  const auto follow = [&](const program::Program* body, std::vector<int> in,
                          std::vector<int> out) {
    RegionOp op;
    op.node = &node;
    op.type = type;
    op.body = body;
    op.inputs = std::move(in);
    op.results = std::move(out);
    op.first_uniform = finish_uniform;
    op.dims = kept;
    add(std::move(op));
  };
  for (const int i : to_cast) {
    follow(&kIdentity, {accumulators[static_cast<size_t>(i)]},
           {first_value + i});
  }
  if (node.finish == nullptr) return;
  std::vector<int> results;
  for (int i = 0; i < n_results; ++i) results.push_back(first_value + i);
  follow(node.finish, accumulators, results);
}

void RegionOps::add_outputs(const Region& region) {
  const auto n_inputs = static_cast<int>(region.inputs.size());
  std::vector<bool> donates(region.inputs.size());
  for (const RegionOutput& o : region.outputs) {
    if (o.donor >= 0) donates[static_cast<size_t>(o.donor)] = true;
  }
  for (RegionOp& op : ops) {
    for (const int v : op.inputs) {
      op.reads_donor |= v < n_inputs && donates[static_cast<size_t>(v)];
    }
  }
  for (size_t j = 0; j < region.outputs.size(); ++j) {
    const RegionOutput& o = region.outputs[j];
    int value = o.value;
    uint64_t dims = values[o.value].dims;
    for (size_t d = 0; d < o.memory.strides.size(); ++d) {
      if (o.memory.strides[d] != 0) dims |= uint64_t{1} << d & ~ones_;
    }
    const int maker = makers[o.value];
    bool direct = maker >= 0 && o.donor < 0;
    if (direct) {
      const RegionOp& op = ops[static_cast<size_t>(maker)];
      direct = op.kind == RegionOp::kPiece && op.dims == dims;
      // The value is rounded to its dtype before it is converted.
      for (size_t i = 0; direct && i < op.results.size(); ++i) {
        if (op.results[i] != value) continue;
        const ScalarType dtype = values[o.value].dtype;
        direct = o.memory.dtype == dtype ||
                 is_natural(dtype, op.type, op.body->results[i].is_bool);
      }
    }
    if (!direct) {
      value = copy_of(value, dims);
      RegionOp& copy = ops.back();
      // The elements in the donor's memory have to be read before.
      for (size_t i = 0; o.donor >= 0 && i + 1 < ops.size(); ++i) {
        const auto& in = ops[i].inputs;
        if (std::find(in.begin(), in.end(), o.donor) != in.end()) {
          copy.after.push_back(static_cast<int>(i));
        }
      }
    }
    stored_value.push_back(value);
    ops[static_cast<size_t>(makers[static_cast<size_t>(value)])]
        .stores.push_back(static_cast<int>(j));
  }
}

// Whether `to` has to run after `from`.
bool RegionOps::reaches(int from, int to) const {
  if (from == to) return true;
  const auto needs = [&](const RegionOp& op, const auto& f) {
    for (const int v : op.inputs) {
      const int m = makers[static_cast<size_t>(v)];
      if (m >= 0) f(ops[static_cast<size_t>(m)].loop);
    }
    for (const int a : op.after) f(ops[static_cast<size_t>(a)].loop);
  };
  std::vector<bool> seen(loops.size());
  std::vector<int> open{to};
  bool found = false;
  while (!open.empty() && !found) {
    const int at = open.back();
    open.pop_back();
    for (const int i : loops[static_cast<size_t>(at)].ops) {
      needs(ops[static_cast<size_t>(i)], [&](int l) {
        found |= l == from;
        if (l < 0 || seen[static_cast<size_t>(l)]) return;
        seen[static_cast<size_t>(l)] = true;
        open.push_back(l);
      });
    }
  }
  return found;
}

bool RegionOps::can_join(const RegionOp& op, int at) const {
  const OpLoop& loop = loops[static_cast<size_t>(at)];
  constexpr size_t kMaxOps = 256;
  if (op.kind == RegionOp::kProduct || loop.is_product ||
      loop.ops.size() >= kMaxOps) {
    return false;
  }
  const RegionOp& walker =
      op.partner < 0 ? op : ops[static_cast<size_t>(op.partner)];
  const uint64_t kept = loop.space & ~loop.reduced;
  if (walker.kind == RegionOp::kReduction) {
    if (op.dims != loop.space ||
        (loop.reduced != 0 && loop.reduced != walker.reduced)) {
      return false;
    }
  } else if (op.dims != loop.space && (loop.reduced == 0 || op.dims != kept)) {
    return false;
  }
  const auto comes_after = [&](int maker) {
    const int from = maker < 0 ? -1 : ops[static_cast<size_t>(maker)].loop;
    return from >= 0 && from != at && reaches(at, from);
  };
  for (const int v : op.inputs) {
    if (comes_after(makers[static_cast<size_t>(v)])) return false;
  }
  return std::none_of(op.after.begin(), op.after.end(), comes_after);
}

void RegionOps::join(int i, int at) {
  RegionOp& op = ops[static_cast<size_t>(i)];
  OpLoop& loop = loops[static_cast<size_t>(at)];
  op.loop = at;
  loop.ops.push_back(i);
  if (op.kind == RegionOp::kReduction) loop.reduced = op.reduced;
}

void RegionOps::find_live() {
  for (size_t i = ops.size(); i-- > 0;) {
    RegionOp& op = ops[i];
    op.live |= !op.stores.empty();
    if (!op.live) continue;
    for (const int v : op.inputs) {
      const int maker = makers[static_cast<size_t>(v)];
      if (maker >= 0) ops[static_cast<size_t>(maker)].live = true;
    }
  }
}

void RegionOps::make_loops() {
  for (size_t i = 0; i < ops.size(); ++i) {
    if (!ops[i].live) continue;
    int at = static_cast<int>(loops.size()) - 1;
    while (at >= 0 && !can_join(ops[i], at)) --at;
    if (at < 0) {
      at = static_cast<int>(loops.size());
      OpLoop& fresh = loops.emplace_back();
      fresh.space = ops[i].dims;
      fresh.is_product = ops[i].kind == RegionOp::kProduct;
      if (ops[i].partner >= 0) {
        fresh.reduced = ops[static_cast<size_t>(ops[i].partner)].reduced;
      }
    }
    join(static_cast<int>(i), at);
  }
}

void RegionOps::sort_loops() {
  std::vector<int> order;
  std::vector<bool> placed(loops.size());
  while (order.size() < loops.size()) {
    for (size_t l = 0; l < loops.size(); ++l) {
      if (placed[l]) continue;
      bool ready = true;
      for (size_t m = 0; m < loops.size() && ready; ++m) {
        ready = m == l || placed[m] ||
                !reaches(static_cast<int>(m), static_cast<int>(l));
      }
      if (!ready) continue;
      placed[l] = true;
      order.push_back(static_cast<int>(l));
    }
  }
  std::vector<OpLoop> sorted;
  for (const int l : order) {
    for (const int i : loops[static_cast<size_t>(l)].ops) {
      ops[static_cast<size_t>(i)].loop = static_cast<int>(sorted.size());
    }
    sorted.push_back(std::move(loops[static_cast<size_t>(l)]));
  }
  loops = std::move(sorted);
}

std::vector<std::vector<int>> RegionOps::readers() const {
  std::vector<std::vector<int>> out(values.size());
  for (size_t i = 0; i < ops.size(); ++i) {
    if (!ops[i].live) continue;
    for (const int v : ops[i].inputs) {
      out[static_cast<size_t>(v)].push_back(static_cast<int>(i));
    }
  }
  return out;
}

void RegionOps::make_phases() {
  for (RegionOp& op : ops) {
    const auto wait_for = [&](int other) {
      const RegionOp& o = ops[static_cast<size_t>(other)];
      if (o.loop != op.loop) return;
      const int after = o.phase + (o.kind == RegionOp::kReduction ? 1 : 0);
      op.phase = std::max(op.phase, after);
    };
    for (const int v : op.inputs) {
      const int maker = makers[static_cast<size_t>(v)];
      if (maker >= 0) wait_for(maker);
    }
    for (const int other : op.after) wait_for(other);
  }
  // Values that only later phases read are computed there, not kept for them.
  const auto used = readers();
  for (size_t i = ops.size(); i-- > 0;) {
    RegionOp& op = ops[i];
    if (op.kind != RegionOp::kPiece || !op.stores.empty() || op.reads_donor) {
      continue;
    }
    int first = -1;
    bool here = true;
    for (const int v : op.results) {
      for (const int r : used[static_cast<size_t>(v)]) {
        const RegionOp& reader = ops[static_cast<size_t>(r)];
        here &= reader.loop == op.loop;
        first = first < 0 ? reader.phase : std::min(first, reader.phase);
      }
    }
    if (here && first > op.phase) op.phase = first;
  }
}

}  // namespace sy::cpu
