#include "autograd/node.h"

#include <mutex>
#include <ostream>

#include "autograd/anomaly.h"
#include "autograd/hooks.h"
#include "autograd/runtime_ops.h"
#include "autograd/saved_tensor.h"
#include "autograd/thread.h"
#include "c10/plugin/library_token.h"
#include "c10/process/fork.h"

namespace sy::autograd {

namespace detail {

SY_TLS_FAST constinit thread_local Thread thread;
SY_TLS_FAST constinit thread_local const OperatorEntry* recording = nullptr;

// The nodes that a thread has made, less those that it has destroyed.
struct LiveCounter {
  std::atomic<int64_t> count{0};
  LiveCounter* next = nullptr;
};
SY_TLS_FAST constinit thread_local LiveCounter* live_counter = nullptr;

}  // namespace detail

namespace {

using detail::live_counter;
using detail::LiveCounter;

constinit ForkMutex live_mutex;
LiveCounter* live_counters = nullptr;

// Counters are few and small; they stay when their thread ends.
SY_COLD LiveCounter* register_counter() noexcept {
  auto* c = new LiveCounter;
  const std::lock_guard lock(live_mutex);
  c->next = live_counters;
  return live_counter = live_counters = c;
}

void count_live(int64_t n) noexcept {
  LiveCounter* c = live_counter;
  if (SY_UNLIKELY(c == nullptr)) c = register_counter();
  c->count.store(c->count.load(std::memory_order_relaxed) + n,
                 std::memory_order_relaxed);
}

}  // namespace

uint64_t Node::next_sequence_nr() noexcept {
  count_live(1);
  detail::recording = nullptr;
  return detail::thread.sequence_nr++;
}

Node::~Node() { count_live(-1); }

int64_t Node::live_count() noexcept {
  const std::lock_guard lock(live_mutex);
  int64_t n = 0;
  for (const LiveCounter* c = live_counters; c != nullptr; c = c->next) {
    n += c->count.load(std::memory_order_relaxed);
  }
  return n;
}

// Destroying a node drops the last reference to the next one, and so on: those
// are queued for the loop that is already running.
void Node::destroy(Node* n) noexcept {
  detail::Thread& t = detail::thread;
  n->sequence_nr_ = reinterpret_cast<uintptr_t>(t.dead);
  t.dead = n;
  if (t.destroying) return;
  t.destroying = true;
  while (t.dead != nullptr) {
    Node* dead = t.dead;
    t.dead = reinterpret_cast<Node*>(dead->sequence_nr_);
    LibraryToken* owner = dead->extra_ ? dead->extra_->owner : nullptr;
    delete dead;
    if (owner != nullptr) owner->drop(LibraryToken::kGraphNode);
  }
  t.destroying = false;
}

std::string Node::name() const {
  return op_ != nullptr ? display_name(*op_) : "unnamed";
}

std::ostream& operator<<(std::ostream& out, const intrusive_ptr<Node>& node) {
  return out << (node ? node->name() : "none");
}

uint32_t Node::add_output(const TensorBase& t) {
  const uint32_t i = num_outputs_;
  if (i == 0) {
    output_.save(t);
    if (SY_UNLIKELY(detail::thread.anomaly)) extra().origin = record_origin();
  } else {
    extra().more_outputs.emplace_back(t);
  }
  ++num_outputs_;
  return i;
}

bool Node::needs(int k) const {
  const auto i = static_cast<uint32_t>(k);
  if (!extra_ || extra_->starts.empty()) return edges_[i].node != nullptr;
  for (uint32_t e = extra_->starts[i]; e < extra_->starts[i + 1]; ++e) {
    if (edges_[e].node) return true;
  }
  return false;
}

void Node::visit_saved(SavedVisitor&) noexcept {}

void Node::release_saved() noexcept {
  SavedVisitor release;  // what hooks packed goes after the lock
  const std::lock_guard guard(lock_);
  visit_saved(release);
}

NodeExtra::NodeExtra() = default;
NodeExtra::~NodeExtra() = default;

NodeExtra& Node::extra() {
  if (!extra_) extra_ = std::make_unique<NodeExtra>();
  return *extra_;
}

void NodeOfMany::set_edges(std::vector<Edge> edges,
                           std::vector<uint32_t> starts) {
  storage_ = std::move(edges);
  Node::set_edges(storage_.data(), static_cast<uint32_t>(storage_.size()));
  extra().starts = std::move(starts);
}

Tensor GradFrame::grad_or_zeros(int i) const {
  if (grads_[i].defined()) return grads_[i];
  // Results that are indices or counts have no gradient.
  const SavedMeta& m = node_.output(static_cast<uint32_t>(i));
  return m.defined() ? rt::expanded_zeros(m) : Tensor();
}

std::vector<Tensor> GradFrame::grads() const {
  std::vector<Tensor> r(node_.num_outputs());
  for (size_t i = 0; i < r.size(); ++i) {
    r[i] = grad_or_zeros(static_cast<int>(i));
  }
  return r;
}

namespace {

// Reshapes the gradient of an edge to an empty vector; another gradient stays.
Tensor empty_grad(const Tensor& grad, const Edge& e) {
  const IntArrayRef to = e.node->output(e.input_nr).sizes();
  return to.size() == 1 && to[0] == 0 ? rt::reshape(grad, to) : grad;
}

}  // namespace

void GradFrame::set_list(int k, const std::vector<Tensor>& list) {
  SY_CHECK(list.size() == static_cast<size_t>(count(k)), Value,
           "{}expected {} gradients for argument {}, got {}",
           backward_prefix(node_), count(k), k, list.size());
  for (int i = 0; i < count(k); ++i) {
    const Tensor& grad = list[static_cast<size_t>(i)];
    // cat() takes an empty vector beside tensors of any dims. Its part of their
    // gradient has those dims, and no elements.
    const bool of_vector =
        grad.defined() && grad.numel() == 0 && grad.dim() > 1 && needs(k, i);
    set(k, i,
        of_vector
            ? empty_grad(grad, node_.edge(first(k) + static_cast<uint32_t>(i)))
            : grad);
  }
}

std::string display_name(const OperatorEntry& op) {
  std::string_view name = op.name();
  if (name.starts_with("aten::")) name.remove_prefix(6);
  return std::string(name);
}

std::string backward_prefix(const Node& node) {
  std::string name = node.name();
  if (const size_t dot = name.find('.'); dot != std::string::npos) {
    name.resize(dot);
  }
  return str("[{} backward] ", name);
}

}  // namespace sy::autograd
