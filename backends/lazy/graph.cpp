#include "backends/lazy/graph.h"

#include <algorithm>
#include <condition_variable>
#include <cstdio>

#include "backends/lazy/cache.h"
#include "backends/lazy/run.h"
#include "c10/error.h"

namespace sy::lazy {

namespace {

// All of it is guarded by graph_mutex().
struct State {
  Counters counters;
  uint64_t sequence = 0;
  uint64_t mark = 0;
  // Recorded nodes that may still run. A node takes itself out by its state;
  // the list is cleaned when it has doubled.
  std::vector<intrusive_ptr<Node>> recorded;
  size_t clean_at = 1024;
  int64_t bytes = 0;
  int64_t max_nodes = 20000, max_bytes = int64_t{4} << 30;
  bool strict = false, told = false;
  int running = 0;
};

State& state() {
  static auto* s = new State;  // leaked: storages may outlive the library
  return *s;
}
std::condition_variable_any& finished() {
  static auto* c = new std::condition_variable_any;
  return *c;
}

// Whether anything but the list of recorded nodes knows of the node.
bool is_dead(const Node& n) {
  return std::all_of(n.made.begin(), n.made.end(), [](const Made& m) {
    return m.holders == 0 && m.uses == 0;
  });
}

// Drops nodes that have run and those that nobody wants any more. The latest
// go first, so that what only they need goes with them.
void clean() {
  State& s = state();
  int64_t bytes = 0;
  size_t kept = s.recorded.size();
  for (size_t i = s.recorded.size(); i-- > 0;) {
    intrusive_ptr<Node>& n = s.recorded[i];
    if (n->state == Node::kDone || is_dead(*n)) {
      n.reset();
      continue;
    }
    for (const Made& m : n->made)
      bytes += static_cast<int64_t>(m.layout.bytes());
    --kept;
    if (kept != i) s.recorded[kept] = std::move(n);
  }
  s.recorded.erase(s.recorded.begin(),
                   s.recorded.begin() + static_cast<int64_t>(kept));
  s.bytes = bytes;
  s.clean_at = std::max<size_t>(1024, 2 * s.recorded.size());
}

void check_strict(Cause cause, const OperatorEntry* op) {
  State& s = state();
  ++s.counters.causes[static_cast<int>(cause)];
  SY_CHECK(!s.strict || cause == Cause::kAsked || cause == Cause::kBound, Value,
           "[{}] expected no sync in strict mode; {} needs values of recorded "
           "calls",
           op == nullptr ? "lazy" : op->name(),
           op == nullptr ? name_of(cause) : "the call");
}

bool needs_run(const Node& n) { return n.state != Node::kDone; }

// Runs the nodes that the roots need. The lock is held on entry and on return,
// but not while kernels run.
void run_roots(std::vector<intrusive_ptr<Node>> roots,
               std::unique_lock<std::recursive_mutex>& lock) {
  State& s = state();
  std::erase_if(roots, [](const auto& n) { return !needs_run(*n); });
  if (roots.empty()) return;
  Graph graph = collect(roots);
  // Another thread may be at work on what these need.
  const auto in_other_run = [](const Graph& g) {
    const auto runs = [](const auto& n) { return n->state == Node::kRunning; };
    return std::any_of(g.nodes.begin(), g.nodes.end(), runs);
  };
  while (in_other_run(graph)) {
    finished().wait(lock);
    std::erase_if(roots, [](const auto& n) { return !needs_run(*n); });
    if (roots.empty()) return;
    graph = collect(roots);
  }
  ++s.counters.runs;
  const intrusive_ptr<Plan> plan = find_plan(graph);
  for (const auto& n : graph.nodes) n->state = Node::kRunning;
  ++s.running;
  Run run(std::move(graph), *plan);
  lock.unlock();
  std::exception_ptr error;
  try {
    run.run();
  } catch (...) {
    error = std::current_exception();
  }
  lock.lock();
  --s.running;
  run.finish();
  clean();
  finished().notify_all();
  if (error) std::rethrow_exception(error);
}

}  // namespace

const char* name_of(Cause c) {
  static constexpr const char* kNames[kCauses] = {
      "sync()", "a copy to another device", "a pointer to memory",
      "a call that cannot be recorded", "the bound of a graph"};
  return kNames[static_cast<int>(c)];
}

Counters& counters() { return state().counters; }

void add_recorded(const intrusive_ptr<Node>& node) {
  State& s = state();
  node->sequence = ++s.sequence;
  s.recorded.push_back(node);
  for (const Made& m : node->made) {
    s.bytes += static_cast<int64_t>(m.layout.bytes());
  }
  if (node->kind != Node::kEmpty) ++s.counters.recorded;
  if (s.recorded.size() >= s.clean_at || s.bytes > s.max_bytes) clean();
}

void run_if_too_large(const char* op) {
  {
    const std::lock_guard lock(graph_mutex());
    State& s = state();
    if (static_cast<int64_t>(s.recorded.size()) <= s.max_nodes &&
        s.bytes <= s.max_bytes) {
      return;
    }
    if (!std::exchange(s.told, true)) {
      std::fprintf(stderr,
                   "switchyard: lazy: %s made a graph of %zu calls and %lld "
                   "MB, which runs now; sync() earlier, or raise the bound\n",
                   op, s.recorded.size(),
                   static_cast<long long>(s.bytes >> 20));
    }
  }
  compute_all(Cause::kBound, nullptr);
}

Graph collect(const std::vector<intrusive_ptr<Node>>& roots) {
  State& s = state();
  const uint64_t mark = ++s.mark;
  Graph g;
  std::vector<Node*> stack;
  const auto visit = [&](const intrusive_ptr<Node>& n) {
    if (n->mark == mark) return;
    n->mark = mark;
    if (n->state == Node::kDone) {
      g.data.push_back(n);
      return;
    }
    g.nodes.push_back(n);
    stack.push_back(n.get());
  };
  for (const auto& n : roots) visit(n);
  while (!stack.empty()) {
    const Node* const n = stack.back();
    stack.pop_back();
    for (const Operand& o : n->operands) visit(o.node);
  }
  std::sort(g.nodes.begin(), g.nodes.end(), [](const auto& a, const auto& b) {
    return a->sequence < b->sequence;
  });
  // Data in the order in which it is read: the same for equal graphs.
  g.data.clear();
  const uint64_t again = ++s.mark;
  for (size_t i = 0; i < g.nodes.size(); ++i) {
    g.nodes[i]->index = static_cast<int>(i);
    for (const Operand& o : g.nodes[i]->operands) {
      if (o.node->state != Node::kDone || o.node->mark == again) continue;
      o.node->mark = again;
      o.node->index = -1 - static_cast<int>(g.data.size());
      g.data.push_back(o.node);
    }
  }
  return g;
}

void compute(Node& node, Cause cause, const OperatorEntry* op) {
  std::unique_lock lock(graph_mutex());
  if (!needs_run(node)) return;
  check_strict(cause, op);
  run_roots({intrusive_ptr<Node>::retain(&node)}, lock);
}

void compute(ArrayRef<Operand> operands, Cause cause, const OperatorEntry* op) {
  std::unique_lock lock(graph_mutex());
  std::vector<intrusive_ptr<Node>> roots;
  for (const Operand& o : operands) {
    if (needs_run(*o.node)) roots.push_back(o.node);
  }
  if (roots.empty()) return;
  check_strict(cause, op);
  run_roots(std::move(roots), lock);
}

void compute_all(Cause cause, const OperatorEntry* op) {
  std::unique_lock lock(graph_mutex());
  std::vector<intrusive_ptr<Node>> roots = recorded_roots();
  if (roots.empty()) return;
  check_strict(cause, op);
  run_roots(std::move(roots), lock);
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

std::vector<intrusive_ptr<Node>> recorded_roots() {
  const std::lock_guard lock(graph_mutex());
  clean();
  std::vector<intrusive_ptr<Node>> roots;
  for (const auto& n : state().recorded) {
    const auto held = [](const Made& m) { return m.holders > 0; };
    if (std::any_of(n->made.begin(), n->made.end(), held)) roots.push_back(n);
  }
  return roots;
}

}  // namespace sy::lazy
