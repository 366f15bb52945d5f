#include "autograd/engine.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "autograd/anomaly.h"
#include "autograd/callback_scope.h"
#include "autograd/meta.h"
#include "autograd/nested.h"
#include "autograd/run_hooks.h"
#include "autograd/runtime_ops.h"
#include "autograd/thread.h"
#include "c10/dispatch/capture.h"

namespace sy::autograd {

// Note [Claiming nodes]
//
// The data that a run keeps of a node (how many gradients it still waits for,
// and those that came) lies in the node if this run was the first to reach it:
// run_ holds the run's number. A second run at the same time, in another thread
// or within a node of the first, finds run_ taken and keeps its own in a map.
// Nodes are not counted while a run uses them: the roots' edges keep the graph
// alive, and edges do not change.
// edges do not change.
class Run {
 public:
  Run(std::vector<Capture>& captures, const RunOptions& options)
      : id_(next_id()), captures_(captures), options_(options) {}
  ~Run() {
    for (Node* n : reached_) forget(*n);
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  void prepare(const std::vector<Edge>& roots);
  // Calls those who watch leaves. Call this before start().
  void tell_watches();
  void start(const std::vector<Edge>& roots,
             const std::vector<Tensor>& gradients);
  void finish();

 private:
  enum Flag : uint8_t { kWanted = 1, kCaptured = 2, kSeen = 4 };

  // The state of one node; grads has one element per output.
  struct State {
    uint32_t& dependencies;
    uint8_t& flags;
    Tensor* grads;
    bool useful() const { return (flags & (kWanted | kCaptured)) != 0; }
  };
  struct Elsewhere {
    uint32_t dependencies = 0;
    uint8_t flags = 0;
    std::vector<Tensor> grads;
  };
  struct Ready {
    uint64_t sequence_nr;
    Node* node;
    bool operator<(const Ready& o) const { return sequence_nr < o.sequence_nr; }
  };

  static uint32_t next_id() {
    static std::atomic<uint32_t> last{0};
    uint32_t id = last.fetch_add(1, std::memory_order_relaxed) + 1;
    return id != 0 ? id : next_id();
  }

  bool owns(const Node& n) const {
    return n.run_.load(std::memory_order_relaxed) == id_;
  }
  State state(Node& n);
  // Counts one more gradient to wait for; true if the node is new to the run.
  bool reach(Node& n);
  void find_wanted(const std::vector<Edge>& roots);
  void forget(Node& n) noexcept;

  void push(Node& n) {
    if (next_ == nullptr && heap_.empty()) {
      next_ = &n;
      return;
    }
    push_heap(n);
  }
  void push_heap(Node& n) {
    heap_.push_back({n.sequence_nr(), &n});
    std::push_heap(heap_.begin(), heap_.end());
  }
  Node* pop();
  void execute(Node& n);
  void before_node(Node& n, Tensor* grads);
  void apply(Node& n, Tensor* grads);
  void apply_with_hooks(Node& n, Tensor* grads);
  void apply_traced(Node& n, GradFrame& frame);
  void deliver(const Edge& e, Tensor grad, const Node* from);
  Tensor conform(const SavedMeta& to, Tensor grad, const Node* from);
  void add_to(Tensor& sum, Tensor grad);
  void note_captures(const Node& n, const Tensor* grads);

  const uint32_t id_;
  std::vector<Capture>& captures_;
  const RunOptions options_;
  std::vector<Node*> reached_;
  std::unordered_map<Node*, Elsewhere> elsewhere_;
  Node* next_ = nullptr;  // ready, while the heap is empty
  std::vector<Ready> heap_;
  std::vector<Tensor> out_;
  std::vector<uint8_t> wanted_;
};

SY_ALWAYS_INLINE Run::State Run::state(Node& n) {
  if (SY_LIKELY(owns(n))) {
    Tensor* grads = &n.run_grad_;
    if (n.num_outputs() > 1) {
      std::vector<Tensor>& many = n.extra().run_grads;
      if (many.size() != n.num_outputs()) many.resize(n.num_outputs());
      grads = many.data();
    }
    return {n.run_dependencies_, n.run_flags_, grads};
  }
  Elsewhere& e = elsewhere_[&n];
  if (e.grads.size() != n.num_outputs()) e.grads.resize(n.num_outputs());
  return {e.dependencies, e.flags, e.grads.data()};
}

bool Run::reach(Node& n) {
  if (owns(n)) {
    ++n.run_dependencies_;
    return false;
  }
  if (SY_UNLIKELY(!elsewhere_.empty())) {
    if (const auto it = elsewhere_.find(&n); it != elsewhere_.end()) {
      ++it->second.dependencies;
      return false;
    }
  }
  uint32_t nobody = 0;
  if (SY_LIKELY(n.run_.compare_exchange_strong(nobody, id_,
                                               std::memory_order_acq_rel))) {
    n.run_dependencies_ = 1;
    n.run_flags_ = options_.captures_only ? 0 : kWanted;
  } else {
    Elsewhere& e = elsewhere_[&n];
    e.dependencies = 1;
    e.flags = options_.captures_only ? 0 : kWanted;
  }
  reached_.push_back(&n);
  return true;
}

void Run::prepare(const std::vector<Edge>& roots) {
  for (const Edge& r : roots) reach(*r.node);
  for (size_t i = 0; i < reached_.size(); ++i) {
    const Node& n = *reached_[i];
    for (uint32_t k = 0; k < n.num_edges(); ++k) {
      if (Node* to = n.edge(k).node.get()) reach(*to);
    }
  }
  for (const Capture& c : captures_) {
    Node& n = *c.edge.node;
    const bool reached = owns(n) || elsewhere_.find(&n) != elsewhere_.end();
    if (reached) state(n).flags |= kCaptured;
  }
  if (options_.captures_only) find_wanted(roots);
}

void Run::tell_watches() {
  if (options_.captures_only) return;
  detail::tell_leaf_watches([this](Node& n) {
    return owns(n) || elsewhere_.find(&n) != elsewhere_.end();
  });
}

// A node is wanted if it has an edge to a captured or wanted node. The walk
// goes depth first, with a stack of its own.
void Run::find_wanted(const std::vector<Edge>& roots) {
  std::vector<std::pair<Node*, uint32_t>> stack;
  for (const Edge& r : roots) {
    if ((state(*r.node).flags & kSeen) != 0) continue;
    state(*r.node).flags |= kSeen;
    stack.emplace_back(r.node.get(), 0);
    while (!stack.empty()) {
      Node& n = *stack.back().first;
      const bool ends = options_.bare && (state(n).flags & kCaptured) != 0;
      if (ends || stack.back().second == n.num_edges()) {
        for (uint32_t k = 0; !ends && k < n.num_edges(); ++k) {
          Node* to = n.edge(k).node.get();
          if (to != nullptr && state(*to).useful()) state(n).flags |= kWanted;
        }
        stack.pop_back();
        continue;
      }
      Node* to = n.edge(stack.back().second++).node.get();
      if (to == nullptr || (state(*to).flags & kSeen) != 0) continue;
      state(*to).flags |= kSeen;
      stack.emplace_back(to, 0);
    }
  }
  // Gradients come from wanted nodes and the roots only.
  for (Node* n : reached_) state(*n).dependencies = 0;
  for (const Edge& r : roots) ++state(*r.node).dependencies;
  for (Node* n : reached_) {
    if ((state(*n).flags & kWanted) == 0) continue;
    for (uint32_t k = 0; k < n->num_edges(); ++k) {
      if (Node* to = n->edge(k).node.get()) ++state(*to).dependencies;
    }
  }
}

void Run::forget(Node& n) noexcept {
  if (!owns(n)) return;
  n.run_grad_.reset();
  if (n.num_outputs() > 1) n.extra().run_grads.clear();
  n.run_.store(0, std::memory_order_release);
}

Node* Run::pop() {
  if (heap_.empty()) return std::exchange(next_, nullptr);
  if (next_ != nullptr) push_heap(*std::exchange(next_, nullptr));
  std::pop_heap(heap_.begin(), heap_.end());
  Node* n = heap_.back().node;
  heap_.pop_back();
  return n;
}

void Run::start(const std::vector<Edge>& roots,
                const std::vector<Tensor>& gradients) {
  for (size_t i = 0; i < roots.size(); ++i) {
    deliver(roots[i], gradients[i], nullptr);
  }
}

void Run::finish() {
  while (Node* n = pop()) execute(*n);
}

void Run::execute(Node& n) {
  const State s = state(n);
  Tensor* grads = s.grads;
  const NodeExtra* extra = n.extra_or_null();
  if (SY_UNLIKELY(extra != nullptr) && !options_.bare) before_node(n, grads);
  if (SY_UNLIKELY((s.flags & kCaptured) != 0)) note_captures(n, grads);
  if ((s.flags & kWanted) == 0) return;
  bool any = false;
  for (uint32_t i = 0; i < n.num_outputs(); ++i) any |= grads[i].defined();
  if (out_.size() < n.num_edges()) out_.resize(n.num_edges());
  if (any) {
    if (SY_UNLIKELY(extra != nullptr && extra->hooks)) {
      apply_with_hooks(n, grads);
    } else {
      apply(n, grads);
    }
  }
  for (uint32_t i = 0; i < n.num_outputs(); ++i) grads[i].reset();
  for (uint32_t k = 0; k < n.num_edges(); ++k) {
    if (n.edge(k).node) {
      deliver(n.edge(k), std::move(out_[k]), &n);
    } else {
      out_[k].reset();
    }
  }
}

namespace {

// Whether the tensor still is that output: a write makes it another's.
bool arrives_at(const TensorImpl& t, const Node& n, uint32_t output) {
  const Meta* m = meta_of(t);
  if (m == nullptr) return false;
  const std::lock_guard guard(m->lock);
  return m->grad_fn.get() == &n && m->output_nr == output;
}

}  // namespace

// Runs the hooks of tensors, then retain_grad(), which keeps what they gave.
void Run::before_node(Node& n, Tensor* grads) {
  const NodeExtra& extra = *n.extra_or_null();
  if (extra.hooks) run_tensor_hooks(n, grads);
  for (const NodeExtra::Retained& r : extra.retained) {
    const auto t = r.tensor.lock();
    if (t && grads[r.output].defined() && arrives_at(*t, n, r.output)) {
      materialize_meta(*t).grad = grads[r.output];
    }
  }
}

void Run::apply_with_hooks(Node& n, Tensor* grads) {
  run_pre_hooks(n, grads);
  const auto post = post_hooks(n);
  if (post.empty()) return apply(n, grads);
  // apply() may take the gradients that came in.
  const std::vector<Tensor> given(grads, grads + n.num_outputs());
  apply(n, grads);
  for (uint32_t k = 0; k < n.num_edges(); ++k) {
    const Edge& e = n.edge(k);
    if (!e.node || !out_[k].defined()) continue;
    const SavedMeta& meta = e.node->output(e.input_nr);
    if (!meta.matches(*out_[k].impl())) {
      out_[k] = conform(meta, std::move(out_[k]), &n);
    }
  }
  run_post_hooks(n, post, out_.data(), given);
}

namespace {

SY_COLD void tell_node(const Node& n) {
  CaptureNote note{CaptureNote::kBackward};
  note.sequence_nr = n.sequence_nr();
  tell_capture(note);
}

}  // namespace

void Run::apply(Node& n, Tensor* grads) {
  const uint8_t* wanted = nullptr;
  if (options_.captures_only) {
    wanted_.assign(n.num_edges(), 0);
    for (uint32_t k = 0; k < n.num_edges(); ++k) {
      Node* to = n.edge(k).node.get();
      wanted_[k] = to != nullptr && state(*to).useful();
    }
    wanted = wanted_.data();
  }
  if (SY_UNLIKELY(thread_state.capture != nullptr)) tell_node(n);
  GradFrame frame(n, grads, out_.data(), wanted);
  try {
    if (SY_UNLIKELY(detail::thread.anomaly)) {
      apply_traced(n, frame);
    } else {
      n.apply(frame);
    }
  } catch (Error& e) {
    e.add_context(describe_origin(n));
    throw;
  }
  if (!options_.keep_graph) n.release_saved();
}

// Applies the node in anomaly mode.
void Run::apply_traced(Node& n, GradFrame& frame) {
  struct Running {
    explicit Running(const Node* n)
        : before(std::exchange(detail::thread.running, n)) {}
    ~Running() { detail::thread.running = before; }
    const Node* before;
  } running(&n);
  n.apply(frame);
  if (!detail::thread.check_nan) return;
  for (uint32_t k = 0; k < n.num_edges(); ++k) {
    SY_CHECK(!out_[k].defined() || !rt::has_nan(out_[k]), Error,
             "{}gradient {} of {} has NaN among its elements: {}",
             backward_prefix(n), k, n.name(), describe(out_[k]));
  }
}

void Run::note_captures(const Node& n, const Tensor* grads) {
  for (Capture& c : captures_) {
    if (c.edge.node.get() == &n) c.gradient = grads[c.edge.input_nr];
  }
}

void Run::deliver(const Edge& e, Tensor grad, const Node* from) {
  Node& to = *e.node;
  const State s = state(to);
  if (SY_UNLIKELY(!s.useful())) return;
  if (SY_LIKELY(grad.defined())) {
    const SavedMeta& meta = to.output(e.input_nr);
    if (SY_UNLIKELY(!meta.matches(*grad.impl()))) {
      grad = conform(meta, std::move(grad), from);
    }
    add_to(s.grads[e.input_nr], std::move(grad));
  }
  if (--s.dependencies == 0) push(to);
}

// Undoes broadcasting and conversions of the forward call.
Tensor Run::conform(const SavedMeta& to, Tensor grad, const Node* from) {
  const auto where = [&] {
    return from == nullptr ? std::string("[backward] ")
                           : backward_prefix(*from);
  };
  SY_CHECK(grad.is_floating_point(), Type,
           "{}expected a floating gradient, got {}", where(), describe(grad));
  if (grad.sizes() != to.sizes()) {
    SY_CHECK(rt::broadcasts_to(to.sizes(), grad.sizes()), Value,
             "{}expected a gradient of size {}, got {}", where(), to.sizes(),
             describe(grad));
    grad = rt::sum_to(grad, to.sizes());
  }
  if (grad.device() != to.device()) {
    return rt::to_device(grad, to.device(), to.dtype());
  }
  return grad.scalar_type() == to.dtype() ? grad
                                          : rt::to_dtype(grad, to.dtype());
}

void Run::add_to(Tensor& sum, Tensor grad) {
  if (SY_LIKELY(!sum.defined())) {
    sum = std::move(grad);
    return;
  }
  const bool in_place = !GradMode::is_enabled() && sum.use_count() == 1 &&
                        sum.storage().use_count() == 1 &&
                        sum.is_non_overlapping_and_dense();
  if (in_place) {
    rt::add_(sum, grad);
  } else {
    sum = rt::add(sum, grad);
  }
}

void run(const std::vector<Edge>& roots, const std::vector<Tensor>& gradients,
         std::vector<Capture>& captures, const RunOptions& options) {
  if (SY_UNLIKELY(Nested::is_full())) {
    return on_another_stack([&] { run(roots, gradients, captures, options); });
  }
  const Nested nested;
  const AutoGradMode mode(options.create_graph);
  detail::CallbackScope callbacks;
  {
    Run r(captures, options);
    r.prepare(roots);
    if (SY_UNLIKELY(detail::any_leaf_watches())) r.tell_watches();
    r.start(roots, gradients);
    r.finish();
  }
  callbacks.finish();
}

}  // namespace sy::autograd
