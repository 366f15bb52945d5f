#include "backends/lazy/plan.h"

#include <algorithm>
#include <map>

#include "aten/backend/region_builder.h"
#include "backends/lazy/graph_view.h"
#include "backends/lazy/groups.h"
#include "c10/process/error.h"

namespace sy::lazy {

bool map_dims(const ValueLayout& part, const ValueLayout& of,
              std::vector<int8_t>* dims) {
  dims->clear();
  if (part.dtype != of.dtype || part.offset != of.offset || of.numel == 0) {
    return false;
  }
  uint64_t used = 0;
  for (int64_t d = 0; d < part.dim(); ++d) {
    const int64_t size = part.sizes()[size_t(d)];
    const int64_t stride = part.strides()[size_t(d)];
    int found = -1;
    if (size != 1 && stride != 0) {
      for (int64_t k = 0; k < of.dim() && found < 0; ++k) {
        if ((used >> k & 1) == 0 && of.sizes()[size_t(k)] == size &&
            of.strides()[size_t(k)] == stride) {
          found = static_cast<int>(k);
        }
      }
      if (found < 0) return false;
      used |= uint64_t{1} << found;
    }
    dims->push_back(static_cast<int8_t>(found));
  }
  for (int64_t k = 0; k < of.dim(); ++k) {
    if (of.sizes()[size_t(k)] != 1 && (used >> k & 1) == 0) return false;
  }
  return true;
}

void find_wanted(const RecordedGraph& graph) {
  for (const auto* list : {&graph.nodes, &graph.data}) {
    for (const auto& n : *list) {
      for (Made& m : n->made) m.inside = 0;
    }
  }
  for (const auto& n : graph.nodes) {
    for (const Operand& o : n->operands) ++o.node->made[o.result].inside;
  }
  for (const auto* list : {&graph.nodes, &graph.data}) {
    for (const auto& n : *list) {
      for (Made& m : n->made) m.wanted = m.holders > 0 || m.uses > m.inside;
    }
  }
}

bool is_own(const LazyNode& data) {
  return std::none_of(data.made.begin(), data.made.end(),
                      [](const Made& m) { return m.wanted; });
}

namespace {

class Planner {
 public:
  explicit Planner(const RecordedGraph& graph)
      : graph_(graph), plan_(make_intrusive<Plan>()) {
    for (const auto& n : graph.nodes) {
      std::vector<bool>& wanted = wanted_.emplace_back();
      for (const Made& m : n->made) wanted.push_back(m.wanted);
    }
    for (const auto& n : graph.data) own_data_.push_back(is_own(*n));
  }

  intrusive_ptr<Plan> make() {
    plan_->engine = graph_.engine;
    if (graph_.engine->kind == GraphEngine::kCompiler) {
      if (!graph_.nodes.empty()) add_whole();
      return finished();
    }
    if (graph_.engine->kind == GraphEngine::kSingle) {
      for (size_t i = 0; i < graph_.nodes.size(); ++i) add_node(int(i));
      find_last_uses();
      return finished();
    }
    groups_ = make_groups(graph_);
    recompute_cheap(graph_, wanted_, &groups_);
    find_leaving();
    for (const Group& g : groups_.groups) {
      if (g.nodes.empty()) continue;
      if (!g.fused || !add_region(g)) {
        for (const int i : g.nodes) add_node(i);
      }
    }
    find_last_uses();
    choose_donors();
    for (size_t i = 0; i < plan_->steps.size(); ++i) {
      prepare(plan_->steps[i], groups_of_steps_[i]);
    }
    return finished();
  }

 private:
  const LazyNode& node(int i) const { return *graph_.nodes[size_t(i)]; }
  static ValueRef ref(const Operand& o) { return {o.node->index, o.result}; }
  const Made& made(ValueRef v) const {
    const auto& n = v.node < 0 ? graph_.data[size_t(-1 - v.node)]
                               : graph_.nodes[size_t(v.node)];
    return n->made[size_t(v.result)];
  }

  intrusive_ptr<Plan> finished() {
    plan_->picture = picture_of(graph_);
    plan_->costs.resize(plan_->steps.size());
    return std::move(plan_);
  }

  // All nodes as one step. Its results are what somebody wants.
  void add_whole() {
    Step step;
    step.whole = true;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      step.nodes.push_back(static_cast<int>(i));
      for (size_t r = 0; r < wanted_[i].size(); ++r) {
        const ValueRef v{static_cast<int>(i), static_cast<int>(r)};
        if (wanted_[i][r]) {
          step.results.push_back({v, {}, -1});
        } else {
          step.last_uses.push_back(v);
        }
      }
    }
    for (size_t k = 0; k < own_data_.size(); ++k) {
      const auto& made = graph_.data[k]->made;
      for (size_t r = 0; r < made.size() && own_data_[k]; ++r) {
        step.last_uses.push_back(
            {-1 - static_cast<int>(k), static_cast<int>(r)});
      }
    }
    step.text = str("{} calls by {}", step.nodes.size(), graph_.engine->name);
    plan_->executables = std::make_unique<Executables>();
    plan_->steps.push_back(std::move(step));
  }

  void add_node(int i) {
    Step step;
    step.nodes = {i};
    step.text = node(i).name();
    plan_->steps.push_back(std::move(step));
    groups_of_steps_.push_back(nullptr);
  }

  // One reduction alone has nothing to be fused with: its own kernel runs.
  bool add_region(const Group& g) {
    if (g.nodes.size() == 1 && node(g.nodes[0]).kind == LazyNode::kReduce) {
      return false;
    }
    Step step;
    step.nodes = g.nodes;
    bool reduces = false;
    for (const int i : g.nodes) {
      const LazyNode& n = node(i);
      reduces |= n.kind == LazyNode::kReduce;
      for (size_t k = 0; k < n.operands.size(); ++k) {
        const Operand& o = n.operands[k];
        if (is_in(g, o)) continue;
        RegionInput in{ref(o), i, static_cast<int>(k), input_dims(g, i, k)};
        const bool known = std::any_of(
            step.inputs.begin(), step.inputs.end(),
            [&](const RegionInput& x) { return same_input(x, in); });
        if (!known) step.inputs.push_back(std::move(in));
      }
      for (size_t r = 0; r < n.made.size(); ++r) {
        if (!leaves(i, r) || g.guest(i) != nullptr) continue;
        step.results.push_back(
            {{i, static_cast<int>(r)}, groups_.result_dims[size_t(i)], -1});
      }
    }
    for (size_t d = 0; d < g.space.size(); ++d) {
      step.sizes.push_back(size_of(g, static_cast<int8_t>(d)));
    }
    step.one_row = !reduces && lies_in_one_row(step);
    RegionBuilder b(sizes_of(step));
    fill(&b, step, g);
    RegionReason why;
    if (!supports_region(graph_.device.type(), b.region(), &why)) return false;
    plan_->steps.push_back(std::move(step));
    groups_of_steps_.push_back(&g);
    return true;
  }

  bool is_in(const Group& g, const Operand& o) const {
    return groups_.has(g, o.node->index);
  }
  const Operand& operand(const RegionInput& in) const {
    return node(in.reader).operands[size_t(in.operand)];
  }
  bool same_input(const RegionInput& a, const RegionInput& b) const {
    return a.value == b.value && a.dims == b.dims && !operand(a).part &&
           !operand(b).part;
  }
  // Whether a result is read outside of its group, or wanted.
  bool leaves(int i, size_t r) const { return leaves_[size_t(i)][r]; }
  void find_leaving() {
    leaves_ = wanted_;
    for (const Group& g : groups_.groups) {
      for (const int k : g.nodes) {
        for (const Operand& o : node(k).operands) {
          const int i = o.node->index;
          if (i >= 0 && !is_in(g, o)) leaves_[size_t(i)][o.result] = true;
        }
      }
    }
  }

  Step::Size size_of(const Group& g, int8_t d) const {
    for (const int i : g.nodes) {
      const DimMap& walked = groups_.walked_in(g, i);
      for (size_t k = 0; k < walked.size(); ++k) {
        if (walked[k] == d) return {i, static_cast<int>(k)};
      }
    }
    SY_INTERNAL_ASSERT(false, "a dim that nobody walks");
    return {};
  }

  // Whether all operands are the elements of equal layouts along the same dims
  // of the region, or one element.
  bool lies_in_one_row(const Step& step) const {
    if (step.results.empty()) return false;
    const RegionResult& first = step.results[0];
    const auto same = [&](const ValueLayout& l,
                          const std::vector<int8_t>& dims) {
      const ValueLayout& to = made(first.value).layout;
      return dims == first.dims && l.sizes() == to.sizes() &&
             l.strides() == to.strides();
    };
    for (const RegionResult& r : step.results) {
      if (!same(made(r.value).layout, r.dims)) return false;
    }
    for (const RegionInput& in : step.inputs) {
      const ValueLayout& l = operand(in).layout();
      if (operand(in).part || !(l.numel == 1 || same(l, in.dims))) return false;
    }
    return true;
  }

  std::vector<int64_t> sizes_of(const Step& step) const {
    if (step.one_row) return {kOpen};
    return std::vector<int64_t>(std::max<size_t>(step.sizes.size(), 1),
                                step.sizes.empty() ? 1 : kOpen);
  }

  std::vector<int64_t> strides_of(const Step& step,
                                  const std::vector<int8_t>& dims,
                                  bool one) const {
    if (step.one_row) return {one ? 0 : 1};
    std::vector<int64_t> out(std::max<size_t>(step.sizes.size(), 1), 0);
    for (const int8_t d : dims) {
      if (d >= 0) out[size_t(d)] = kOpen;
    }
    return out;
  }

  void fill(RegionBuilder* b, const Step& step, const Group& g) const {
    std::vector<std::pair<ValueRef, int>> values;
    std::vector<int> inputs;
    for (const RegionInput& in : step.inputs) {
      const ValueLayout& l = operand(in).layout();
      const bool one = step.one_row && l.numel == 1 &&
                       made(step.results[0].value).layout.numel != 1;
      inputs.push_back(b->input(l.dtype, strides_of(step, in.dims, one)));
    }
    const auto value_of = [&](int i, size_t k) {
      const Operand& o = node(i).operands[k];
      if (is_in(g, o)) {
        const auto at =
            std::find_if(values.begin(), values.end(),
                         [&](auto& v) { return v.first == ref(o); });
        return at->second;
      }
      for (size_t x = 0; x < inputs.size(); ++x) {
        const RegionInput& in = step.inputs[x];
        const bool itself = in.reader == i && in.operand == static_cast<int>(k);
        if (itself) return inputs[x];
      }
      for (size_t x = 0; x < inputs.size(); ++x) {
        const RegionInput& in = step.inputs[x];
        if (in.value == ref(o) && !operand(in).part && !o.part &&
            in.dims == input_dims(g, i, k)) {
          return inputs[x];
        }
      }
      SY_INTERNAL_ASSERT(false, "an operand from nowhere");
      return 0;
    };
    for (const int i : step.nodes) {
      const LazyNode& n = node(i);
      std::vector<int> in;
      for (size_t k = 0; k < n.operands.size(); ++k)
        in.push_back(value_of(i, k));
      std::vector<ScalarType> results;
      for (const Made& m : n.made) results.push_back(m.layout.dtype);
      int first = 0;
      if (n.kind == LazyNode::kPointwise) {
        first = b->pointwise(*n.program, n.compute, in, results, n.name());
      } else {
        first = b->reduce(reduction(n, groups_.walked_in(g, i), results), in);
      }
      for (size_t r = 0; r < n.made.size(); ++r) {
        values.push_back(
            {{i, static_cast<int>(r)}, first + static_cast<int>(r)});
      }
    }
    for (const RegionResult& r : step.results) {
      const auto at = std::find_if(values.begin(), values.end(),
                                   [&](auto& v) { return v.first == r.value; });
      b->output(at->second, made(r.value).layout.dtype,
                strides_of(step, r.dims, false), r.donor);
    }
  }

  // The dims of the region that an operand of node i varies over.
  DimMap input_dims(const Group& g, int i, size_t k) const {
    const ValueLayout& l = node(i).operands[k].layout();
    const DimMap& walked = groups_.walked_in(g, i);
    DimMap dims;
    const auto own = static_cast<size_t>(l.dim());
    for (size_t d = 0; d < own; ++d) {
      const bool varies = l.sizes()[d] != 1 && l.strides()[d] != 0;
      dims.push_back(varies ? walked[walked.size() - own + d]
                            : static_cast<int8_t>(-1));
    }
    return dims;
  }

  static RegionNode reduction(const LazyNode& n,
                              const std::vector<int8_t>& walked,
                              ArrayRef<ScalarType> results) {
    const ReduceOp& op = *n.reduce;
    RegionNode out;
    out.kind = RegionNode::kReduce;
    out.compute = n.compute;
    out.body = op.map.body;
    out.combine = &op.combine.body;
    out.finish = op.finish == nullptr ? nullptr : &op.finish->body;
    out.identity = op.identity;
    for (size_t d = 0; d < walked.size(); ++d) {
      if ((n.reduced >> d & 1) != 0 && walked[d] >= 0) {
        out.reduced |= uint64_t{1} << walked[d];
      }
    }
    out.results = results;
    out.name = n.name();
    return out;
  }

  void find_last_uses() {
    std::map<std::pair<int, int>, size_t> last;
    for (size_t s = 0; s < plan_->steps.size(); ++s) {
      const Step& step = plan_->steps[s];
      for (const int i : step.nodes) {
        for (const Operand& o : node(i).operands) {
          last[{o.node->index, o.result}] = s;
        }
        for (size_t r = 0; r < node(i).made.size(); ++r) {
          last.try_emplace({i, static_cast<int>(r)}, s);
        }
      }
    }
    for (const auto& [v, s] : last) {
      const auto [n, r] = v;
      const bool ours =
          n < 0 ? own_data_[size_t(-1 - n)] : !wanted_[size_t(n)][size_t(r)];
      if (ours) plan_->steps[s].last_uses.push_back({n, r});
    }
  }

  // Results take the memory of operands that nobody reads again. A reduction
  // reads its operands several times.
  void choose_donors() {
    for (size_t s = 0; s < plan_->steps.size(); ++s) {
      Step& step = plan_->steps[s];
      if (groups_of_steps_[s] == nullptr) continue;
      const auto reduces = [&](int i) {
        return node(i).kind == LazyNode::kReduce ||
               is_integral_type(node(i).compute, true);
      };
      if (std::any_of(step.nodes.begin(), step.nodes.end(), reduces)) continue;
      std::vector<bool> taken(step.inputs.size(), false);
      for (RegionResult& r : step.results) {
        for (size_t x = 0; x < step.inputs.size() && r.donor < 0; ++x) {
          if (taken[x] || !is_home(step, x, r) || !gives(step, x, r)) continue;
          taken[x] = true;
          r.donor = static_cast<int>(x);
        }
      }
      for (RegionResult& r : step.results) {
        for (size_t x = 0; x < step.inputs.size() && r.donor < 0; ++x) {
          if (taken[x] || !gives(step, x, r)) continue;
          taken[x] = true;
          r.donor = static_cast<int>(x);
        }
      }
    }
  }

  bool is_home(const Step& step, size_t x, const RegionResult& r) const {
    const RecordedGraph::Home h{r.value.node, r.value.result,
                                step.inputs[x].value.node};
    return std::find(graph_.homes.begin(), graph_.homes.end(), h) !=
           graph_.homes.end();
  }

  bool gives(const Step& step, size_t x, const RegionResult& r) const {
    const RegionInput& in = step.inputs[x];
    const ValueLayout& from = operand(in).layout();
    const ValueLayout& to = made(r.value).layout;
    if (operand(in).part || in.dims != r.dims ||
        element_size(from.dtype) != element_size(to.dtype) ||
        from.sizes() != to.sizes() || from.strides() != to.strides()) {
      return false;
    }
    for (size_t k = 0; k < step.inputs.size(); ++k) {
      if (k != x && step.inputs[k].value == in.value) return false;
    }
    return std::find(step.last_uses.begin(), step.last_uses.end(), in.value) !=
           step.last_uses.end();
  }

  void prepare(Step& step, const Group* g) {
    if (g == nullptr) return;
    RegionBuilder b(sizes_of(step));
    fill(&b, step, *g);
    step.region = prepare_region(graph_.device.type(), b.region());
    step.text = str("region of {}, {} in, {} out{}:", step.nodes.size(),
                    step.inputs.size(), step.results.size(),
                    step.one_row ? ", one row" : "");
    for (const int i : step.nodes) step.text += str(" {}", node(i).name());
  }

  const RecordedGraph& graph_;
  intrusive_ptr<Plan> plan_;
  std::vector<std::vector<bool>> wanted_;  // by node and result
  std::vector<std::vector<bool>> leaves_;
  std::vector<bool> own_data_;  // data that only the graph knows
  Groups groups_;
  std::vector<const Group*> groups_of_steps_;
};

}  // namespace

Plan::Plan() = default;
Plan::~Plan() = default;

intrusive_ptr<Plan> make_plan(const RecordedGraph& graph) {
  return Planner(graph).make();
}

}  // namespace sy::lazy
