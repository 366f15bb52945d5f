#include "frontend/compile/backward.h"

#include <algorithm>
#include <set>

#include "aten/operators.h"
#include "aten/ops/factory.h"
#include "autograd/accumulate.h"
#include "autograd/engine.h"
#include "autograd/generated_support.h"
#include "autograd/meta.h"
#include "autograd/saved_tensor.h"
#include "c10/process/error.h"

namespace sy::compiling {

namespace {

using autograd::Edge;

class Probe final : public autograd::NodeOf<0> {
 public:
  void apply(autograd::GradFrame&) override {}
};

bool same(const Edge& a, const Edge& b) {
  return a.node == b.node && a.input_nr == b.input_nr;
}

// Edges to nodes that were there before, and to leaves. `inner`: the nodes
// before these.
std::vector<Edge> boundary(const std::vector<Edge>& roots, uint64_t first,
                           std::vector<autograd::Node*>* inner = nullptr) {
  std::vector<Edge> found;
  std::set<const autograd::Node*> seen;
  std::vector<autograd::Node*> stack;
  const auto visit = [&](const Edge& e) {
    if (!e.node) return;
    const bool leaf =
        dynamic_cast<const autograd::AccumulateGrad*>(e.node.get()) != nullptr;
    const bool ours = !leaf && e.node->sequence_nr() >= first;
    if (ours) {
      if (seen.insert(e.node.get()).second) stack.push_back(e.node.get());
      return;
    }
    const auto known = std::find_if(found.begin(), found.end(),
                                    [&](const Edge& f) { return same(e, f); });
    if (known == found.end()) found.push_back(e);
  };
  for (const Edge& e : roots) visit(e);
  while (!stack.empty()) {
    autograd::Node* const n = stack.back();
    stack.pop_back();
    if (inner != nullptr) inner->push_back(n);
    for (uint32_t i = 0; i < n->num_edges(); ++i) visit(n->edge(i));
  }
  return found;
}

// The gradient of a call that is replayed.
class CompiledBackward final : public autograd::NodeOfMany {
 public:
  explicit CompiledBackward(std::shared_ptr<const Backward> b)
      : backward(std::move(b)) {}

  void apply(autograd::GradFrame& f) override {
    SY_CHECK(!GradMode::is_enabled(), NotImplemented,
             "[compile] expected a backward pass without create_graph: a "
             "compiled callable has no second derivative; call the callable "
             "itself for one");
    const capture::Graph& graph = *backward->graph;
    std::vector<Tensor> held;
    std::vector<capture::Memory> memory;
    for (size_t i = 0; i < graph.inputs().size(); ++i) {
      const capture::Input& in = graph.inputs()[i];
      const int seed = seed_of(in);
      held.push_back(seed >= 0
                         ? f.grad_or_zeros(seed).contiguous()
                         : saved[i].unpack(*this, "what it has computed"));
      memory.push_back(capture::memory_of(held.back(), in.whole));
    }
    std::vector<Storage> values(static_cast<size_t>(graph.num_values()));
    const_cast<capture::Graph&>(graph).run({memory.data(), memory.size()},
                                           values.data());
    ++*backward->runs;
    for (size_t j = 0; j < graph.results().size(); ++j) {
      const capture::Result& r = graph.results()[j];
      if (!f.needs(static_cast<int>(j))) continue;
      if (r.value >= 0) {
        f.set(static_cast<int>(j),
              tensor_over(values[static_cast<size_t>(r.value)], r));
      } else if (r.input >= 0) {
        const Tensor& t = held[static_cast<size_t>(r.input)];
        f.set(static_cast<int>(j),
              t.as_strided(r.sizes, r.strides, t.storage_offset() + r.offset));
      }
    }
  }

  int seed_of(const capture::Input& in) const {
    const auto& sources = backward->flow.sources;
    const auto at = std::find(sources.begin(), sources.end(), in.source);
    return in.source < 0 || at == sources.end()
               ? -1
               : static_cast<int>(at - sources.begin());
  }

  void visit_saved(autograd::SavedVisitor& v) noexcept override {
    for (autograd::SavedTensor& t : saved) v("saved", t);
  }
  std::string name() const override { return "compiled"; }

  const std::shared_ptr<const Backward> backward;
  std::vector<autograd::SavedTensor> saved;
};

// The node of an output whose backward pass throws.
class FailingBackward final : public autograd::NodeOf<0> {
 public:
  explicit FailingBackward(std::exception_ptr e) : error(std::move(e)) {}
  void apply(autograd::GradFrame&) override { std::rethrow_exception(error); }
  std::string name() const override { return "compiled"; }

  const std::exception_ptr error;
};

// Outputs whose gradient is the graph's.
std::vector<size_t> differentiable(const Outputs& outputs,
                                   capture::Recorder& recorder) {
  std::vector<size_t> all;
  for (size_t k = 0; k < outputs.tensors.size(); ++k) {
    const Tensor& t = outputs.tensors[k];
    if (autograd::requires_grad(t) && !recorder.is_outer(t)) all.push_back(k);
  }
  return all;
}

}  // namespace

bool needs_tape(const Outputs& outputs, capture::Recorder& recorder) {
  return !differentiable(outputs, recorder).empty();
}

uint64_t next_sequence_nr() { return make_intrusive<Probe>()->sequence_nr(); }

Tensor tensor_over(const Storage& s, const capture::Result& r) {
  return Tensor(TensorImpl::make(s, r.dtype, s->device(),
                                 DispatchKeySet::dense(s->device().type()),
                                 r.sizes, r.strides, r.offset));
}

void record_tape(const Arguments& arguments, const Outputs& outputs,
                 uint64_t first, capture::Recorder& recorder, Tape* tape) {
  const std::vector<size_t> all = differentiable(outputs, recorder);
  if (all.empty()) return;
  const NoGradGuard no_grad;
  const auto edge_of = [&](size_t k) {
    return autograd::gradient_edge(*outputs.tensors[k].impl());
  };
  // The gradients of some outputs along `tape->flow.edges`.
  const auto run = [&](const std::vector<size_t>& of) {
    std::vector<Edge> roots;
    std::vector<Tensor> seeds;
    for (const size_t k : of) {
      const Tensor& t = outputs.tensors[k];
      roots.push_back(edge_of(k));
      seeds.push_back(sy::empty(t.sizes(), t.options()));
    }
    tape->flow.edges = boundary(roots, first);
    std::vector<autograd::Capture> captures;
    for (const Edge& e : tape->flow.edges) captures.push_back({e, Tensor()});
    autograd::run(roots, seeds, captures,
                  {.keep_graph = true, .captures_only = true, .bare = true});
    tape->gradients.clear();
    for (autograd::Capture& c : captures) {
      tape->gradients.push_back(std::move(c.gradient));
    }
    tape->flow.outputs = of;
    tape->seeds = std::move(seeds);
  };
  try {
    run(all);
  } catch (const Error&) {
    std::vector<size_t> good;
    for (const size_t k : all) {
      try {
        run({k});
        good.push_back(k);
      } catch (const Error&) {
        tape->flow.failing.push_back({k, std::current_exception()});
      }
    }
    tape->flow.outputs.clear();
    tape->gradients.clear();
    tape->flow.edges.clear();
    tape->seeds.clear();
    if (!good.empty()) run(good);
  }
  for (const Tensor& s : tape->seeds) {
    tape->flow.sources.push_back(recorder.add_input(s));
  }
  for (Edge& e : tape->flow.edges) {
    int argument = -1;
    for (size_t i = 0; i < arguments.tensors.size(); ++i) {
      const Tensor& t = arguments.tensors[i];
      if (autograd::requires_grad(t) &&
          same(autograd::gradient_edge(*t.impl()), e)) {
        argument = static_cast<int>(i);
      }
    }
    tape->flow.arguments.push_back(argument);
    if (argument >= 0) e = {};
  }
}

void release_tape(const Outputs& outputs, uint64_t first,
                  capture::Recorder& recorder) {
  std::vector<Edge> roots;
  for (const size_t k : differentiable(outputs, recorder)) {
    roots.push_back(autograd::gradient_edge(*outputs.tensors[k].impl()));
  }
  std::vector<autograd::Node*> inner;
  boundary(roots, first, &inner);
  for (autograd::Node* const n : inner) n->release_saved();
}

void attach(const std::shared_ptr<const Backward>& backward,
            const Arguments& arguments, const std::vector<Storage>& values,
            const std::vector<Tensor>& inputs, Outputs* out) {
  for (const Failing& f : backward->flow.failing) {
    autograd::set_history(out->tensors[f.output],
                          make_intrusive<FailingBackward>(f.error));
  }
  if (backward->graph == nullptr) return;
  auto node = make_intrusive<CompiledBackward>(backward);
  std::vector<Edge> edges = backward->flow.edges;
  std::vector<uint32_t> starts{0};
  for (size_t j = 0; j < edges.size(); ++j) {
    const int a = backward->flow.arguments[j];
    if (a >= 0) {
      edges[j] = autograd::gradient_edge(*arguments.tensors[size_t(a)].impl());
    }
    starts.push_back(static_cast<uint32_t>(j + 1));
  }
  node->set_edges(std::move(edges), std::move(starts));
  const std::vector<capture::Input>& of = backward->graph->inputs();
  node->saved.resize(of.size());
  size_t outer = 0;  // the inputs of the forward graph come last, in order
  for (size_t i = 0; i < of.size(); ++i) {
    if (of[i].saved >= 0) {
      const Storage& s = values.at(size_t(of[i].saved));
      SY_INTERNAL_ASSERT(s != nullptr, "saved value {}", of[i].saved);
      const int64_t one = 1, n = static_cast<int64_t>(s->nbytes());
      node->saved[i].save(Tensor(TensorImpl::make(
          s, kByte, s->device(), DispatchKeySet::dense(s->device().type()),
          {&n, 1}, {&one, 1}, 0)));
      continue;
    }
    const Tensor& t = inputs.at(outer++);
    if (node->seed_of(of[i]) < 0) node->saved[i].save(t);
  }
  for (const size_t k : backward->flow.outputs) {
    SY_INTERNAL_ASSERT(out->tensors.at(k).defined());
    autograd::set_history(out->tensors[k], node);
  }
}

}  // namespace sy::compiling
