#include "backends/cuda/engine/region_plan.h"

#include <algorithm>
#include <utility>

#include "backends/cuda/device/region_params.cuh"
#include "backends/cuda/device/region_row_params.cuh"

namespace sy::cuda {

namespace {

// As many as the argument of a kernel has room for.
constexpr size_t kMostNumbers = 64;
constexpr size_t kMostWalked = 16, kMostReduced = 6;
static_assert(sizeof(RegionWalkParams<kMostWalked, kMostNumbers>) <= 4096);
static_assert(sizeof(RegionRowParams<kMostRowOperands, kMostNumbers>) <= 4096);
static_assert(sizeof(RegionReduceParams<kMostReduced, kMostNumbers>) <= 4096);

class Planner {
 public:
  Planner(const Region& r, const RegionValues& v, RegionReason* why)
      : region_(r), values_(v), why_(why) {}

  bool run(RegionPlan* plan) {
    for (size_t i = 0; i < region_.nodes.size(); ++i) {
      const RegionNode& n = region_.nodes[i];
      if (!takes(n, i)) return false;
      if (n.kind != RegionNode::kReduce) continue;
      RegionStep s;
      s.text = text();
      s.text.reduction = static_cast<int>(i);
      for (const uint16_t v : n.inputs) {
        s.space |= values_.dims(v);
        need(v, &s.text);
      }
      s.reduced = n.reduced;
      s.space |= n.reduced;
      if (!fits(&s, kMostReduced, static_cast<size_t>(n.body.n_results))) {
        return false;
      }
      plan->steps.push_back(std::move(s));
    }
    std::vector<RegionStep> last;
    for (size_t i = 0; i < region_.outputs.size(); ++i) {
      const RegionOutput& o = region_.outputs[i];
      uint64_t dims = 0;
      for (size_t d = 0; d < o.memory.strides.size(); ++d) {
        if (o.memory.strides[d] != 0) dims |= uint64_t{1} << d;
      }
      dims |= values_.dims(o.value);
      auto at =
          std::find_if(last.begin(), last.end(),
                       [&](const RegionStep& s) { return s.space == dims; });
      if (at == last.end()) {
        at = last.emplace(last.end());
        at->text = text();
        at->space = dims;
      }
      RegionStep& s = *at;
      s.text.outputs.push_back(static_cast<int>(i));
      need(o.value, &s.text);
    }
    for (RegionStep& s : last) {
      if (!fits(&s, kMostWalked - s.text.outputs.size(), 0)) return false;
    }
    if (!in_order(&last)) return false;
    for (RegionStep& s : last) plan->steps.push_back(std::move(s));
    plan_row(plan);
    return true;
  }

 private:
  print::RegionText text() const {
    print::RegionText t;
    t.region = &region_;
    t.values = &values_;
    return t;
  }

  bool takes(const RegionNode& n, size_t i) const {
    if (n.kind == RegionNode::kProduct || n.kind == RegionNode::kConvolution) {
      why_->say("node %zu is a %s, which has a kernel of its own", i,
                n.kind == RegionNode::kProduct ? "product" : "convolution");
      return false;
    }
    if (n.kind == RegionNode::kReduce && n.inputs.empty()) {
      why_->say("node %zu is a reduction of no values", i);
      return false;
    }
    if (n.kind == RegionNode::kReduce &&
        (n.body.n_results > kMaxAccumulators ||
         n.results.size() > static_cast<size_t>(kMaxReduceResults))) {
      why_->say(
          "node %zu is a reduction of %d accumulators to %zu results; "
          "at most %d and %d fit a kernel",
          i, n.body.n_results, n.results.size(), kMaxAccumulators,
          kMaxReduceResults);
      return false;
    }
    return true;
  }

  // Adds to `t` the nodes that make a value, and the values in memory (inputs,
  // and results of reductions).
  void need(int value, print::RegionText* t) const {
    const int node = values_.node(value);
    if (node < 0 ||
        region_.nodes[static_cast<size_t>(node)].kind == RegionNode::kReduce) {
      if (std::find(t->inputs.begin(), t->inputs.end(), value) ==
          t->inputs.end()) {
        t->inputs.push_back(value);
      }
      return;
    }
    if (std::find(t->nodes.begin(), t->nodes.end(), node) != t->nodes.end()) {
      return;
    }
    for (const uint16_t v : region_.nodes[static_cast<size_t>(node)].inputs) {
      need(v, t);
    }
    t->nodes.push_back(node);
  }

  void plan_row(RegionPlan* plan) const {
    const std::vector<RegionStep>& steps = plan->steps;
    if (steps.size() < 2 || steps[0].text.reduction < 0) return;
    RegionRowStep row;
    row.space = steps[0].space;
    row.reduced = steps[0].reduced;
    print::RegionText& elements = row.text.elements;
    elements = text();
    row.text.rows = text();
    int passes = 0;
    for (const RegionStep& s : steps) {
      const bool reduces = s.text.reduction >= 0;
      const bool walks = !reduces && s.space == row.space;
      if (reduces) {
        if (s.space != row.space || s.reduced != row.reduced) return;
      } else if (!walks && s.space != (row.space & ~row.reduced)) {
        return;
      }
      print::RegionText t = text();
      t.reduction = s.text.reduction;
      t.outputs = s.text.outputs;
      t.nodes = s.text.nodes;
      for (const int v : s.text.inputs) {
        if (values_.node(v) >= 0) continue;  // of a reduction
        auto& in = elements.inputs;
        if (std::find(in.begin(), in.end(), v) == in.end()) in.push_back(v);
      }
      if (reduces) {
        row.text.phases.push_back(std::move(t));
        ++passes;
      } else if (walks) {
        elements.nodes = t.nodes;
        elements.outputs = t.outputs;
        ++passes;
      } else {
        // A thread writes these while others may read the row's inputs.
        for (const int o : t.outputs) {
          if (region_.outputs[static_cast<size_t>(o)].donor >= 0) return;
        }
        row.text.rows.nodes = t.nodes;
        row.text.rows.outputs = t.outputs;
      }
    }
    if (passes < 2 || row.text.operands() > kMostRowOperands ||
        print::region_row_numbers(row.text).size() +
                static_cast<size_t>(print::region_row_accumulators(row.text)) >
            kMostNumbers) {
      return;
    }
    for (size_t i = 0; i < elements.inputs.size(); ++i) {
      if ((row.space & ~values_.dims(elements.inputs[i])) == 0) {
        row.text.kept |= uint64_t{1} << i;
      }
    }
    if (row.text.kept != 0) plan->row = std::move(row);
  }

  bool fits(RegionStep* s, size_t most, size_t identities) const {
    if (static_cast<int64_t>(s->text.inputs.size()) >
        static_cast<int64_t>(most)) {
      why_->say("a kernel that reads %zu values, more than %zu",
                s->text.inputs.size(), most);
      return false;
    }
    const size_t numbers = print::region_numbers(s->text).size() + identities;
    if (numbers > kMostNumbers) {
      why_->say("a kernel of %zu numbers, more than %zu", numbers,
                kMostNumbers);
      return false;
    }
    return true;
  }

  bool reads_donor_of(const RegionStep& reader,
                      const RegionStep& writer) const {
    return std::any_of(
        writer.text.outputs.begin(), writer.text.outputs.end(), [&](int o) {
          const int donor = region_.outputs[static_cast<size_t>(o)].donor;
          const auto& in = reader.text.inputs;
          return donor >= 0 &&
                 std::find(in.begin(), in.end(), donor) != in.end();
        });
  }

  // A kernel runs before those that write over what it reads.
  bool in_order(std::vector<RegionStep>* steps) const {
    std::vector<RegionStep> sorted;
    while (!steps->empty()) {
      const auto next =
          std::find_if(steps->begin(), steps->end(), [&](const RegionStep& s) {
            return std::none_of(
                steps->begin(), steps->end(), [&](const RegionStep& other) {
                  return &other != &s && reads_donor_of(other, s);
                });
          });
      if (next == steps->end()) {
        why_->say("outputs that take the memory of each other's inputs");
        return false;
      }
      sorted.push_back(std::move(*next));
      steps->erase(next);
    }
    *steps = std::move(sorted);
    return true;
  }

  const Region& region_;
  const RegionValues& values_;
  RegionReason* why_;
};

}  // namespace

bool plan_region(const Region& region, const RegionValues& values,
                 RegionPlan* plan, RegionReason* why) {
  return Planner(region, values, why).run(plan);
}

}  // namespace sy::cuda
