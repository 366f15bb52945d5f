#include "backends/cpu/region/plan.h"

#include <algorithm>

#include "backends/cpu/region/ops.h"
#include "c10/process/error.h"

namespace sy::cpu {

namespace {

class LoopPlanner {
 public:
  LoopPlanner(const Region& region, const RegionOps& ops,
              const std::vector<std::vector<int>>& readers, int loop,
              Plan* plan)
      : region_(region),
        ops_(ops),
        readers_(readers),
        at_(loop),
        loop_(ops.loops[static_cast<size_t>(loop)]),
        plan_(*plan) {}

  Loop run() {
    out_.space = loop_.space;
    out_.reduced = loop_.reduced;
    if (loop_.is_product) {
      product();
      return std::move(out_);
    }
    int phases = 0;
    for (const int i : loop_.ops) phases = std::max(phases, op(i).phase + 1);
    out_.phases.resize(static_cast<size_t>(phases));
    for (int p = 0; p < phases; ++p) {
      stage_lists(p, true);
      stage_lists(p, false);
    }
    place_values();
    for (int p = 0; p < phases; ++p) phase(p);
    order_memories();
    return std::move(out_);
  }

 private:
  // Ops that become one stage.
  struct Members {
    std::vector<int> ops;
    int phase;
    bool row;
  };

  const RegionOp& op(int i) const { return ops_.ops[static_cast<size_t>(i)]; }
  const PlanValue& value(int v) const {
    return plan_.values[static_cast<size_t>(v)];
  }
  int maker(int v) const { return ops_.makers[static_cast<size_t>(v)]; }
  const std::vector<int>& readers(int v) const {
    return readers_[static_cast<size_t>(v)];
  }
  bool is_row(const RegionOp& o) const {
    return loop_.reduced != 0 && o.kind == RegionOp::kPiece &&
           o.dims == (loop_.space & ~loop_.reduced) && o.partner < 0;
  }
  static Fuser::Part part_of(const RegionOp& o) {
    return {o.body, o.inputs.data(), o.results.data(), o.first_uniform};
  }

  // Whether o may follow what the fuser has: the values that it finds there are
  // as the program left them.
  bool passes_on(const RegionOp& o, const Fuser& fuser,
                 const RegionOp& first) const {
    if (o.type != first.type || !fuser.fits(part_of(o))) return false;
    for (const int v : o.inputs) {
      if (fuser.makes(v) &&
          !is_natural(value(v).dtype, o.type, fuser.is_bool(v))) {
        return false;
      }
    }
    return true;
  }

  // Places that a stage of these ops writes.
  int n_results(const Members& m) const {
    size_t n = 0;
    for (const int i : m.ops) {
      n += op(i).stores.size();
      for (const int v : op(i).results) {
        n += std::any_of(readers(v).begin(), readers(v).end(), [&](int r) {
          return std::find(m.ops.begin(), m.ops.end(), r) == m.ops.end();
        });
      }
    }
    return static_cast<int>(n);
  }

  void stage_lists(int p, bool row) {
    std::vector<int> left;
    for (const int i : loop_.ops) {
      const RegionOp& o = op(i);
      if (o.kind == RegionOp::kPiece && o.phase == p && is_row(o) == row) {
        left.push_back(i);
      }
    }
    while (!left.empty()) {
      Members m{{}, p, row};
      Fuser fuser;
      size_t n = 0;
      for (; n < left.size(); ++n) {
        if (n > 0 && !passes_on(op(left[n]), fuser, op(left[0]))) break;
        fuser.add(part_of(op(left[n])));
        m.ops.push_back(left[n]);
      }
      while (m.ops.size() > 1 && n_results(m) > program::kMaxResults) {
        m.ops.pop_back();
      }
      left.erase(left.begin(),
                 left.begin() + static_cast<std::ptrdiff_t>(m.ops.size()));
      members_.push_back(std::move(m));
    }
  }

  int stage_of(int i) const {
    for (size_t s = 0; s < members_.size(); ++s) {
      const auto& list = members_[s].ops;
      if (std::find(list.begin(), list.end(), i) != list.end()) {
        return static_cast<int>(s);
      }
    }
    return -1;
  }

  int memory(Memory::Kind kind, int index) {
    for (size_t i = 0; i < out_.memories.size(); ++i) {
      if (out_.memories[i].kind == kind && out_.memories[i].index == index) {
        return static_cast<int>(i);
      }
    }
    out_.memories.push_back({kind, index});
    return static_cast<int>(out_.memories.size()) - 1;
  }
  int temporary(int v) {
    if (std::find(plan_.temporaries.begin(), plan_.temporaries.end(), v) ==
        plan_.temporaries.end()) {
      plan_.temporaries.push_back(v);
    }
    return memory(Memory::kTemporary, v);
  }

  // Finds the places of the values that this loop makes.
  void place_values() {
    places_.assign(plan_.values.size(), Port{Port::kMemory, {}, -1});
    std::vector<int> tiles(out_.phases.size());
    for (const int i : loop_.ops) {
      const RegionOp& o = op(i);
      for (const int v : o.results) place(v, o, stage_of(i), &tiles);
    }
    for (const int n : tiles) out_.tiles = std::max(out_.tiles, n);
  }
  void place(int v, const RegionOp& o, int stage, std::vector<int>* tiles) {
    Port& port = places_[static_cast<size_t>(v)];
    port.dtype = value(v).dtype;
    bool elsewhere = false, later = false, other_stage = false;
    for (const int r : readers(v)) {
      const RegionOp& reader = op(r);
      elsewhere |= reader.loop != at_;
      if (reader.loop != at_) continue;
      later |= reader.phase > o.phase;
      other_stage |= stage < 0 || stage_of(r) != stage;
    }
    const auto row = [&] {
      port.place = Port::kRow;
      port.index = static_cast<int>(out_.rows.size());
      out_.rows.push_back(port.dtype);
    };
    if (o.kind == RegionOp::kReduction) {
      row();  // and to memory besides, if another loop reads it
    } else if (elsewhere) {
      port.index = temporary(v);
    } else if (!other_stage && !later) {
      return;
    } else if (is_row(o)) {
      row();
    } else if (later) {
      port.place = Port::kCross;
      port.index = static_cast<int>(out_.crosses.size());
      out_.crosses.push_back(port.dtype);
    } else {
      port.place = Port::kTile;
      port.index = (*tiles)[static_cast<size_t>(o.phase)]++;
    }
  }

  // The place where a value is read.
  Port port_of(int v) {
    const int m = maker(v);
    if (m < 0) {
      return {Port::kMemory, value(v).dtype, memory(Memory::kInput, v)};
    }
    if (op(m).loop != at_) {
      return {Port::kMemory, value(v).dtype, temporary(v)};
    }
    return places_[static_cast<size_t>(v)];
  }

  Stage stage(const Members& m) {
    Fuser fuser;
    std::vector<int> results;
    Stage s;
    s.type = op(m.ops[0]).type;
    for (const int i : m.ops) fuser.add(part_of(op(i)));
    for (const int i : m.ops) {
      const RegionOp& o = op(i);
      for (const int v : o.results) {
        const Port& place = places_[static_cast<size_t>(v)];
        if (place.index >= 0) {
          results.push_back(v);
          s.outputs.push_back(place);
        }
      }
      for (const int j : o.stores) {
        results.push_back(ops_.stored_value[static_cast<size_t>(j)]);
        s.outputs.push_back(
            {Port::kMemory,
             region_.outputs[static_cast<size_t>(j)].memory.dtype,
             memory(Memory::kOutput, j)});
      }
    }
    const RegionOp& only = op(m.ops[0]);
    if (m.ops.size() == 1 && results == only.results) {
      // The program stays as it is: it may have a kernel of its own.
      s.body = copy_of(*only.body);
      for (const int v : only.inputs) s.inputs.push_back(port_of(v));
    } else {
      s.body = fuser.finish(results);
      for (const Fuser::Input& in : fuser.inputs()) {
        s.inputs.push_back(port_of(in.value));
      }
    }
    s.uniforms = fuser.uniforms();
    return s;
  }

  static FusedProgram copy_of(const program::Program& p) {
    FusedProgram out;
    out.steps.assign(p.steps, p.steps + p.n_steps);
    out.results.assign(p.results, p.results + p.n_results);
    out.program = p;
    out.program.steps = out.steps.data();
    out.program.results = out.results.data();
    return out;
  }

  void phase(int p) {
    Phase& out = out_.phases[static_cast<size_t>(p)];
    for (const Members& m : members_) {
      if (m.phase != p) continue;
      (m.row ? out.row_stages : out.stages).push_back(stage(m));
    }
    for (const int i : loop_.ops) {
      const RegionOp& o = op(i);
      if (o.kind != RegionOp::kReduction || o.phase != p) continue;
      Reduction r;
      r.combine = o.body;
      r.identity = o.node->identity;
      r.name = o.node->name == nullptr ? "reduce" : o.node->name;
      r.type = o.type;
      r.first_uniform = o.first_uniform;
      for (const int v : o.inputs) r.sources.push_back(port_of(v));
      for (const int v : o.results) {
        r.rows.push_back(places_[static_cast<size_t>(v)].index);
        const bool elsewhere =
            std::any_of(readers(v).begin(), readers(v).end(),
                        [&](int reader) { return op(reader).loop != at_; });
        r.memories.push_back(elsewhere ? temporary(v) : -1);
      }
      out.reductions.push_back(std::move(r));
    }
  }

  void product() {
    const RegionOp& o = op(loop_.ops[0]);
    out_.is_product = true;
    out_.reduced = o.reduced;
    out_.product.a = port_of(o.inputs[0]).index;
    out_.product.b = port_of(o.inputs[1]).index;
    out_.product.result = temporary(o.results[0]);
    out_.product.reduced = o.reduced;
    out_.product.dtype = value(o.results[0]).dtype;
  }

  // Puts memories that are written first: a walk follows them.
  void order_memories() {
    std::vector<bool> written(out_.memories.size());
    const auto each_port = [&](const auto& f) {
      for (Phase& p : out_.phases) {
        for (auto* list : {&p.row_stages, &p.stages}) {
          for (Stage& s : *list) {
            for (Port& port : s.inputs) f(port, false);
            for (Port& port : s.outputs) f(port, true);
          }
        }
        for (Reduction& r : p.reductions) {
          for (Port& port : r.sources) f(port, false);
        }
      }
    };
    each_port([&](const Port& port, bool writes) {
      if (writes && port.place == Port::kMemory) {
        written[static_cast<size_t>(port.index)] = true;
      }
    });
    for (const Phase& p : out_.phases) {
      for (const Reduction& r : p.reductions) {
        for (const int m : r.memories) {
          if (m >= 0) written[static_cast<size_t>(m)] = true;
        }
      }
    }
    std::vector<int> moved(out_.memories.size());
    std::vector<Memory> sorted;
    for (const bool wanted : {true, false}) {
      for (size_t i = 0; i < written.size(); ++i) {
        if (written[i] != wanted) continue;
        moved[i] = static_cast<int>(sorted.size());
        sorted.push_back(out_.memories[i]);
      }
      if (wanted) out_.written = static_cast<int>(sorted.size());
    }
    out_.memories = std::move(sorted);
    each_port([&](Port& port, bool) {
      if (port.place == Port::kMemory) {
        port.index = moved[static_cast<size_t>(port.index)];
      }
    });
    for (Phase& p : out_.phases) {
      for (Reduction& r : p.reductions) {
        for (int& m : r.memories) {
          if (m >= 0) m = moved[static_cast<size_t>(m)];
        }
      }
    }
  }

  const Region& region_;
  const RegionOps& ops_;
  const std::vector<std::vector<int>>& readers_;
  const int at_;
  const OpLoop& loop_;
  Plan& plan_;
  std::vector<Members> members_;
  std::vector<Port> places_;  // of values of this loop; index -1: none
  Loop out_;
};

}  // namespace

Plan plan_region(const Region& region) {
  const RegionOps ops(region);
  const auto readers = ops.readers();
  Plan plan;
  plan.values = ops.values;
  for (size_t l = 0; l < ops.loops.size(); ++l) {
    plan.loops.push_back(
        LoopPlanner(region, ops, readers, static_cast<int>(l), &plan).run());
  }
  return plan;
}

}  // namespace sy::cpu
