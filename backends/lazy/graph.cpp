#include "backends/lazy/graph.h"

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "backends/lazy/cache.h"
#include "backends/lazy/capture.h"
#include "backends/lazy/equal_calls.h"
#include "backends/lazy/executor.h"
#include "backends/lazy/joined_writes.h"
#include "backends/lazy/syncs.h"
#include "c10/process/error.h"

namespace sy::lazy {

namespace {

// All of it is guarded by graph_mutex().
struct State {
  Counters counters;
  uint64_t sequence = 0;
  uint64_t mark = 0;
  // Nodes that have not run, each once and in order; a running one stays, as it
  // may fail. A weak owner, so nodes may be dead. The list is cleaned when it
  // has doubled.
  std::vector<LazyNode*> recorded;
  size_t clean_at = 1024;
  int64_t bytes = 0;
  int64_t max_nodes = 20000, max_bytes = int64_t{4} << 30;
  bool strict = false, told = false;
};

State& state() {
  static auto* s = new State;  // leaked: storages may outlive the library
  return *s;
}

// Whether the graph is beyond its bounds. Read without the lock.
std::atomic<bool> too_large{false};

// No tensor has as many bytes, but sizes may say so before memory is asked for.
void add_bytes(const LazyNode& n, int64_t* to) {
  for (const Made& m : n.made) {
    const auto more = static_cast<int64_t>(
        std::min<size_t>(m.layout.bytes(), size_t{1} << 62));
    *to = std::min(*to + more, int64_t{1} << 62);
  }
}

// Forgets nodes that have run, and dead ones.
void clean() {
  State& s = state();
  s.bytes = 0;
  std::erase_if(s.recorded, [&](LazyNode* n) {
    if (n->state == LazyNode::kDone || n->use_count() == 0) {
      RefCountedAccess<LazyNode>::release_weak(n);
      return true;
    }
    if (n->state == LazyNode::kRecorded) add_bytes(*n, &s.bytes);
    return false;
  });
  s.clean_at = std::max<size_t>(1024, 2 * s.recorded.size());
}

void check_strict(Cause cause, const OperatorEntry* op) {
  State& s = state();
  ++s.counters.causes[static_cast<int>(cause)];
  note_sync(cause, op);
  SY_CHECK(!s.strict || cause == Cause::kAsked || cause == Cause::kBound, Value,
           "[{}] expected no sync in strict mode; {} needs values of recorded "
           "calls",
           op == nullptr ? "lazy" : op->name(),
           op == nullptr ? name_of(cause) : "the call");
}

// Runs what these nodes need of what is recorded. The lock is held on entry and
// on return, but not while kernels run.
void run_roots(std::vector<intrusive_ptr<LazyNode>> roots, bool wait,
               GraphLock& lock) {
  std::erase_if(roots,
                [](const auto& n) { return n->state != LazyNode::kRecorded; });
  if (roots.empty()) return;
  RecordedGraph graph = collect(roots);
  ++state().counters.runs;
  intrusive_ptr<Plan> plan = find_plan(graph);
  execute(std::move(graph), std::move(plan), wait, lock);
}

// The same for nodes whose values are needed now: those that other threads run
// are waited for.
void run_and_wait(const std::vector<intrusive_ptr<LazyNode>>& roots,
                  Cause cause, const OperatorEntry* op, GraphLock& lock) {
  const auto is_recorded = [](const auto& n) {
    return n->state == LazyNode::kRecorded;
  };
  bool checked = false;
  for (const auto& n : roots) {
    while (n->state != LazyNode::kDone) {
      if (std::any_of(roots.begin(), roots.end(), is_recorded)) {
        if (!std::exchange(checked, true)) check_strict(cause, op);
        run_roots(roots, true, lock);
      }
      wait_for(*n, lock);
    }
  }
}

}  // namespace

const char* name_of(Cause c) {
  static constexpr const char* kNames[kCauses] = {
      "sync()", "a copy to another device", "a pointer to memory",
      "a call that cannot be recorded", "the bound of a graph"};
  return kNames[static_cast<int>(c)];
}

Counters& counters() { return state().counters; }

void add_recorded(const intrusive_ptr<LazyNode>& node) {
  State& s = state();
  if (Capture::current() != nullptr) {
    Capture::current()->keep(node);
    node->sequence = ++s.sequence;
    if (node->kind != LazyNode::kEmpty) ++s.counters.recorded;
    return;
  }
  if (s.recorded.size() >= s.clean_at || s.bytes > s.max_bytes) clean();
  node->sequence = ++s.sequence;
  s.recorded.push_back(node.get());
  RefCountedAccess<LazyNode>::retain_weak(node.get());
  add_bytes(*node, &s.bytes);
  if (node->kind != LazyNode::kEmpty) ++s.counters.recorded;
  too_large = static_cast<int64_t>(s.recorded.size()) > s.max_nodes ||
              s.bytes > s.max_bytes;
}

void forget_finished() { clean(); }

void run_if_too_large(const char* op) {
  if (SY_LIKELY(!too_large) || Capture::current() != nullptr) return;
  {
    const std::lock_guard lock(graph_mutex());
    State& s = state();
    too_large = false;
    if (!std::exchange(s.told, true)) {
      std::fprintf(stderr,
                   "switchyard: lazy: %s made a graph of %zu calls and %lld "
                   "MB, which runs now; sync() earlier, or raise the bound\n",
                   op, s.recorded.size(),
                   static_cast<long long>(s.bytes >> 20));
    }
  }
  compute_all(Cause::kBound, true);
}

namespace {

// `nodes` are the recorded ones that have the mark.
void sort_as_recorded(uint64_t mark,
                      std::vector<intrusive_ptr<LazyNode>>* nodes) {
  const auto& list = state().recorded;
  if (list.size() < 4 * nodes->size()) {
    std::vector<intrusive_ptr<LazyNode>> sorted;
    sorted.reserve(nodes->size());
    for (LazyNode* const n : list) {
      if (n->mark != mark || n->state != LazyNode::kRecorded) continue;
      sorted.push_back(intrusive_ptr<LazyNode>::retain(n));
    }
    if (sorted.size() == nodes->size()) return nodes->swap(sorted);
  }
  std::sort(nodes->begin(), nodes->end(), [](const auto& a, const auto& b) {
    return a->sequence < b->sequence;
  });
}

}  // namespace

RecordedGraph collect(const std::vector<intrusive_ptr<LazyNode>>& roots) {
  State& s = state();
  const uint64_t mark = ++s.mark;
  RecordedGraph g;
  g.device = computing_device();
  g.engine = &computing_engine();
  std::vector<LazyNode*> stack;
  const auto visit = [&](const intrusive_ptr<LazyNode>& n) {
    if (n->mark == mark) return;
    n->mark = mark;
    if (n->state != LazyNode::kRecorded) return;
    g.nodes.push_back(n);
    stack.push_back(n.get());
  };
  for (const auto& n : roots) visit(n);
  while (!stack.empty()) {
    const LazyNode* const n = stack.back();
    stack.pop_back();
    for (const Operand& o : n->operands) visit(o.node);
  }
  sort_as_recorded(mark, &g.nodes);
  share_equal_calls(&g.nodes);
  join_writes(&g.nodes);
  // Data in the order in which it is read: the same for equal graphs.
  const uint64_t again = ++s.mark;
  for (size_t i = 0; i < g.nodes.size(); ++i) {
    g.nodes[i]->index = static_cast<int>(i);
    for (const Operand& o : g.nodes[i]->operands) {
      if (o.node->state == LazyNode::kRecorded || o.node->mark == again)
        continue;
      o.node->mark = again;
      o.node->index = -1 - static_cast<int>(g.data.size());
      g.data.push_back(o.node);
    }
  }
  return g;
}

namespace {

// The engine may be in a library, which is loaded without the lock.
GraphLock lock_graph() {
  lazy_engine();
  return GraphLock(graph_mutex());
}

}  // namespace

void compute(LazyNode& node, Cause cause, const OperatorEntry* op) {
  GraphLock lock = lock_graph();
  run_and_wait({intrusive_ptr<LazyNode>::retain(&node)}, cause, op, lock);
}

void compute(ArrayRef<Operand> operands, Cause cause, const OperatorEntry* op) {
  GraphLock lock = lock_graph();
  std::vector<intrusive_ptr<LazyNode>> roots;
  for (const Operand& o : operands) {
    if (o.node->state != LazyNode::kDone) roots.push_back(o.node);
  }
  run_and_wait(roots, cause, op, lock);
}

void start(ArrayRef<Operand> operands) {
  GraphLock lock = lock_graph();
  throw_left_error();
  std::vector<intrusive_ptr<LazyNode>> roots;
  for (const Operand& o : operands) {
    if (o.node->state == LazyNode::kRecorded) roots.push_back(o.node);
  }
  if (roots.empty()) return;
  check_strict(Cause::kAsked, nullptr);
  run_roots(std::move(roots), false, lock);
}

void compute_all(Cause cause, bool wait) {
  GraphLock lock = lock_graph();
  throw_left_error();
  std::vector<intrusive_ptr<LazyNode>> roots = recorded_roots();
  if (!roots.empty()) {
    check_strict(cause, nullptr);
    run_roots(std::move(roots), wait, lock);
  }
  if (wait) wait_for_all(lock);
}

void set_strict(bool strict) {
  const std::lock_guard lock(graph_mutex());
  state().strict = strict;
}

void set_bound(int64_t nodes, int64_t bytes) {
  const std::lock_guard lock(graph_mutex());
  if (nodes >= 0) state().max_nodes = nodes;
  if (bytes >= 0) state().max_bytes = bytes;
}

std::vector<intrusive_ptr<LazyNode>> recorded_roots() {
  const std::lock_guard lock(graph_mutex());
  clean();
  std::vector<intrusive_ptr<LazyNode>> roots;
  for (LazyNode* const n : state().recorded) {
    if (n->state != LazyNode::kRecorded) continue;
    const auto held = [](const Made& m) { return m.holders > 0; };
    if (std::none_of(n->made.begin(), n->made.end(), held)) continue;
    // Another thread may be letting go of it.
    if (!RefCountedAccess<LazyNode>::lock(n)) continue;
    roots.push_back(intrusive_ptr<LazyNode>::reclaim(n));
  }
  return roots;
}

}  // namespace sy::lazy
