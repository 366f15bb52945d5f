#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aten/tensor.h"
#include "autograd/saved_meta.h"
#include "autograd/spin_lock.h"
#include "c10/dispatch/dispatcher.h"

// The graph in which gradients flow from results back to leaves.

namespace sy::autograd {

class GradFrame;
class Node;
class Run;
class SavedVisitor;
class HookHandle;
class PreHook;
class PostHook;
struct NodeHooks;
struct Origin;

namespace detail {
// The operator whose call this thread is recording, for errors about what it
// saves. nullptr within nodes that belong to no operator.
extern SY_API SY_TLS_FAST constinit thread_local const OperatorEntry* recording;
}  // namespace detail

// The target of the gradient of one input: output `input_nr` of the operation
// that `node` stands for. Nobody wants the gradient if there is no node.
struct Edge {
  intrusive_ptr<Node> node;
  uint32_t input_nr = 0;
};

// Data that few nodes have.
struct SY_API NodeExtra {
  NodeExtra();
  ~NodeExtra();

  // For NodeOfMany: argument k has the edges starts[k] up to starts[k + 1].
  std::vector<uint32_t> starts;
  // Outputs after the first.
  std::vector<SavedMeta> more_outputs;
  // Tensors that are not leaves and keep their gradient in .grad.
  struct Retained {
    uint32_t output;
    weak_intrusive_ptr<TensorImpl> tensor;
  };
  std::vector<Retained> retained;
  // The CopySlices node that owns this one; not reference-counted.
  Node* copy_slices = nullptr;
  // The plugin that contains the code of the node.
  LibraryToken* owner = nullptr;
  // For a node of several outputs: the gradients in the run that has claimed
  // it.
  std::vector<Tensor> run_grads;
  std::unique_ptr<NodeHooks> hooks;
  // In anomaly mode: the place where the operation was recorded.
  std::shared_ptr<const Origin> origin;
};

// One recorded operation. It computes the gradients of its inputs from those of
// its outputs. Counted by intrusive_ptr; a loop frees a graph of any depth.
// Edges are fixed once the operation is recorded. Several threads may run
// backward through one node.
class SY_API Node : public RefCounted {
 public:
  virtual ~Node();
  // Reads f.grad(i), sets f.set(k, ...). Throws sy::Error.
  virtual void apply(GradFrame& f) = 0;
  // Shows each saved tensor to `v`, which may release it. The caller holds the
  // lock.
  virtual void visit_saved(SavedVisitor& v) noexcept;
  // "mul.Tensor"; for a node without an operator, what it does.
  virtual std::string name() const;

  uint64_t sequence_nr() const { return sequence_nr_; }
  const OperatorEntry* op() const { return op_; }
  void set_op(const OperatorEntry& op) {
    op_ = &op;
    detail::recording = &op;
  }
  uint32_t num_edges() const { return num_edges_; }
  const Edge& edge(uint32_t i) const { return edges_[i]; }
  uint32_t num_outputs() const { return num_outputs_; }
  // Sizes, dtype and device of an output; undefined if it has no gradient.
  const SavedMeta& output(uint32_t i) const {
    return i == 0 ? output_ : extra_->more_outputs[i - 1];
  }
  // Adds the next output, described by `t`; undefined for one without a
  // gradient. Returns its number.
  uint32_t add_output(const TensorBase& t);
  // Whether a gradient of argument k is wanted.
  bool needs(int k) const;

  // Hooks run once a run, in the order of registration: pre hooks on the
  // gradients of the outputs before apply(), post hooks on the gradients that
  // apply() made. Like writes, registration is for times when no other thread
  // uses the node.
  HookHandle register_pre_hook(const PreHook& hook);
  HookHandle register_post_hook(const PostHook& hook);

  SpinLock& lock() const { return lock_; }
  void release_saved() noexcept;
  NodeExtra& extra();
  const NodeExtra* extra_or_null() const { return extra_.get(); }

  // Nodes alive in this process, for tests of leaks.
  static int64_t live_count() noexcept;

  static void destroy(Node* n) noexcept;
  static void* operator new(size_t bytes) { return pool_allocate(bytes); }
  static void operator delete(void* p, size_t bytes) noexcept {
    pool_free(p, bytes);
  }

 protected:
  Node(Edge* edges, uint32_t n) noexcept
      : edges_(edges), sequence_nr_(next_sequence_nr()), num_edges_(n) {}
  // For nodes that run as soon as they can: the accumulation into leaves.
  static constexpr uint64_t kFirst = ~uint64_t{0};
  void set_sequence_nr(uint64_t n) { sequence_nr_ = n; }
  void set_edges(Edge* edges, uint32_t n) {
    edges_ = edges;
    num_edges_ = n;
  }

  Edge* edges_;

 private:
  friend class Run;
  static uint64_t next_sequence_nr() noexcept;

  uint64_t sequence_nr_;  // of a dead node: the next dead node
  const OperatorEntry* op_ = nullptr;
  std::unique_ptr<NodeExtra> extra_;
  SavedMeta output_;
  uint32_t num_edges_;
  uint32_t num_outputs_ = 0;
  mutable SpinLock lock_;
  // For the run that has claimed this node. Another run keeps its own data.
  uint8_t run_flags_ = 0;
  std::atomic<uint32_t> run_{0};
  uint32_t run_dependencies_ = 0;
  Tensor run_grad_;
};

// Prints the name as grad_fn() has it; "none" for nullptr.
SY_API std::ostream& operator<<(std::ostream& out,
                                const intrusive_ptr<Node>& node);

// A node with N differentiable arguments. Each is a tensor, or absent.
template <int N>
class NodeOf : public Node {
 public:
  static constexpr int kArguments = N;
  NodeOf() noexcept : Node(inline_, N) {}
  bool needs(int k) const { return static_cast<bool>(inline_[k].node); }
  Edge& edge_slot(int k) { return inline_[k]; }

 private:
  Edge inline_[N == 0 ? 1 : N];
};

// A node with lists of tensors among its arguments.
class SY_API NodeOfMany : public Node {
 public:
  NodeOfMany() noexcept : Node(nullptr, 0) {}
  // Takes the edges of all arguments; starts[k] is the first of argument k.
  void set_edges(std::vector<Edge> edges, std::vector<uint32_t> starts);

 private:
  std::vector<Edge> storage_;
};

// One call of Node::apply: gradients in, gradients out. An argument that is a
// list has one gradient per element, numbered by `i`.
class SY_API GradFrame {
 public:
  // `grads`: one per output. `out`: one per edge, undefined. `wanted`: one per
  // edge; nullptr if every edge with a node is wanted.
  GradFrame(const Node& node, Tensor* grads, Tensor* out, const uint8_t* wanted)
      : node_(node),
        grads_(grads),
        out_(out),
        wanted_(wanted),
        starts_(node.extra_or_null() != nullptr &&
                        !node.extra_or_null()->starts.empty()
                    ? node.extra_or_null()->starts.data()
                    : nullptr) {}

  const Node& node() const { return node_; }
  // Undefined means zero. It is always defined if the node has one output.
  const Tensor& grad(int i = 0) const { return grads_[i]; }
  // The gradient, or zeros in the memory of one element. Undefined for a result
  // that has no gradient.
  Tensor grad_or_zeros(int i) const;
  // Absent where no gradient flows, for operators with optional arguments.
  std::optional<Tensor> grad_if_any(int i) const {
    if (!grads_[i].defined()) return std::nullopt;
    return grads_[i];
  }
  template <class... I>
  bool has_any(I... i) const {
    return (grads_[i].defined() || ...);
  }
  // The gradients of all outputs, with zeros where none flows.
  std::vector<Tensor> grads() const;
  // Moves the gradient out. The caller may write to it if it is the only owner.
  Tensor take_grad(int i = 0) { return std::move(grads_[i]); }

  bool needs(int k) const {
    if (starts_ == nullptr) return wanted(static_cast<uint32_t>(k));
    for (int i = 0; i < count(k); ++i) {
      if (needs(k, i)) return true;
    }
    return false;
  }
  template <class... K>
  bool needs_any(K... k) const {
    return (needs(k) || ...);
  }
  template <size_t N>
  std::array<bool, N> mask(int first = 0) const {
    std::array<bool, N> m{};
    for (size_t k = 0; k < N; ++k) m[k] = needs(first + static_cast<int>(k));
    return m;
  }
  void set(int k, Tensor t) { out_[first(k)] = std::move(t); }

  int count(int k) const {
    return starts_ == nullptr ? 1
                              : static_cast<int>(starts_[k + 1] - starts_[k]);
  }
  // Sizes, dtype, device and order of argument k, which needs a gradient.
  const SavedMeta& argument(int k) const {
    const Edge& e = node_.edge(first(k));
    return e.node->output(e.input_nr);
  }
  bool needs(int k, int i) const {
    return wanted(first(k) + static_cast<uint32_t>(i));
  }
  void set(int k, int i, Tensor t) {
    out_[first(k) + static_cast<uint32_t>(i)] = std::move(t);
  }
  void set_list(int k, const std::vector<Tensor>& list);

 private:
  friend class CopySlices;
  uint32_t first(int k) const {
    return starts_ == nullptr ? static_cast<uint32_t>(k) : starts_[k];
  }
  bool wanted(uint32_t edge) const {
    return node_.edge(edge).node && (wanted_ == nullptr || wanted_[edge] != 0);
  }

  const Node& node_;
  Tensor* grads_;
  Tensor* out_;
  const uint8_t* wanted_;
  const uint32_t* starts_;
};

// "mul.Tensor" for "aten::mul.Tensor". Other namespaces stay.
SY_API std::string display_name(const OperatorEntry& op);
// "[mul backward] " for messages about a node.
SY_API std::string backward_prefix(const Node& node);

}  // namespace sy::autograd
