#include "backends/lazy/cache.h"

#include <algorithm>
#include <chrono>
#include <list>

#include "c10/dispatch/trace.h"
#include "c10/process/error.h"

namespace sy::lazy {

namespace {

// The meaning of a word of a key, in its low bits.
enum Field : uint64_t {
  kNode,     // the kind
  kWhat,     // an operator or a program
  kCompute,  // dtype, and what a reduction does
  kOperand,  // the value that is read
  kPart,     // how it is seen
  kDtype,
  kSize,
  kOrder,   // of the strides
  kWanted,  // somebody holds the result
  kOwn,     // nobody else holds the data
  kDevice,
  kHome,  // in whose memory a result belongs
  kEngine,
  kFields,
};
constexpr const char* kFieldNames[kFields] = {
    "the kind of call",
    "the operator",
    "the dtype it computes in",
    "the inputs",
    "the part that it reads",
    "the dtype",
    "the shape",
    "the order of strides",
    "who holds the result",
    "whether its memory may be reused (donation)",
    "the device",
    "the written tensors",
    "the engine"};

class KeyMaker {
 public:
  // The graph must have gone through find_wanted().
  explicit KeyMaker(const RecordedGraph& graph) : graph_(graph) {
    key_.words.reserve(24 * graph.nodes.size());
  }

  Key make() {
    add(kDevice, static_cast<uint64_t>(graph_.device.type()));
    add(kEngine, reinterpret_cast<uintptr_t>(graph_.engine));
    for (const auto& n : graph_.data) {
      for (const Made& m : n->made) add(m.layout);
      add(kOwn, is_own(*n));
    }
    for (const RecordedGraph::Home& h : graph_.homes) {
      add(kHome, uint64_t(h.node) << 24 | uint64_t(h.result) << 16 |
                     uint64_t(-1 - h.data));
    }
    key_.begin.reserve(graph_.nodes.size());
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      key_.begin.push_back(static_cast<uint32_t>(key_.words.size()));
      add(*graph_.nodes[i]);
    }
    uint64_t h = 0x9e3779b97f4a7c15;
    for (const uint64_t w : key_.words) {
      h = (h ^ w) * 0xff51afd7ed558ccd;
      h ^= h >> 32;
    }
    key_.hash = h;
    return std::move(key_);
  }

 private:
  void add(Field f, uint64_t v) { key_.words.push_back(v << 4 | f); }
  void add_pointer(const void* p) {
    add(kWhat, reinterpret_cast<uintptr_t>(p));
  }

  void add(const LazyNode& n) {
    add(kNode, n.kind);
    if (n.kind == LazyNode::kPointwise) {
      add_pointer(n.program->steps);
      add_pointer(n.program->results);
      add(kCompute, static_cast<uint64_t>(n.compute));
    } else if (n.kind == LazyNode::kReduce) {
      add_pointer(n.reduce);
      add(kCompute, static_cast<uint64_t>(n.compute) | n.keepdim << 8);
      add(kCompute, n.reduced);
    } else if (n.op != nullptr) {
      add_pointer(n.op);
    }
    for (const Operand& o : n.operands) {
      add(kOperand, static_cast<uint64_t>(o.node->index + (int64_t{1} << 32))
                            << 8 |
                        o.result);
      if (o.part) add_part(*o.part, o.node->made[o.result].layout);
    }
    for (const Made& m : n.made) {
      add(m.layout);
      add(kWanted, m.wanted);
    }
    if (n.window) add_part(*n.window, n.made[0].layout);
  }

  void add(const ValueLayout& l) {
    add(kDtype, static_cast<uint64_t>(l.dtype) << 8 | uint64_t(l.dim()));
    for (const int64_t s : l.sizes()) add(kSize, symbol(s));
    add_order(l);
  }

  void add_part(const ValueLayout& part, const ValueLayout& of) {
    std::vector<int8_t> dims;
    const bool mapped = map_dims(part, of, &dims);
    add(kPart, uint64_t(part.dim()) << 1 | uint64_t(mapped));
    for (int64_t d = 0; d < part.dim(); ++d) {
      add(kSize, symbol(part.sizes()[size_t(d)]));
      add(kPart, mapped ? static_cast<uint64_t>(dims[size_t(d)] + 1)
                        : part.strides()[size_t(d)] == 0);
    }
    if (!mapped) add(kDtype, static_cast<uint64_t>(part.dtype));
  }

  // The dims of more than one element, slowest first.
  void add_order(const ValueLayout& l) {
    int8_t order[TensorImpl::kMaxDims];
    int n = 0;
    bool sorted = true;
    for (int64_t d = 0; d < l.dim(); ++d) {
      if (l.sizes()[size_t(d)] == 1) continue;
      if (n > 0 && l.strides()[size_t(order[n - 1])] < l.strides()[size_t(d)]) {
        sorted = false;
      }
      order[n++] = static_cast<int8_t>(d);
    }
    if (sorted || l.numel == 0) return;
    std::stable_sort(order, order + n, [&](int8_t a, int8_t b) {
      return l.strides()[size_t(a)] > l.strides()[size_t(b)];
    });
    for (int i = 0; i < n; ++i) add(kOrder, static_cast<uint64_t>(order[i]));
  }

  uint64_t symbol(int64_t size) {
    if (size <= 1) return static_cast<uint64_t>(size);
    for (size_t i = 0; i < sizes_.size(); ++i) {
      if (sizes_[i] == size) return i + 2;
    }
    sizes_.push_back(size);
    return sizes_.size() + 1;
  }

  const RecordedGraph& graph_;
  Key key_;
  std::vector<int64_t> sizes_;
};

struct Entry {
  Key key;
  std::vector<std::string> names;  // of the nodes
  intrusive_ptr<Plan> plan;
};

// Guarded by graph_mutex(). The last used entry is in front.
struct Cache {
  std::list<Entry> entries;
  size_t capacity = 256;
  bool collide = false;
  std::string last_miss = "nothing was planned yet";
  intrusive_ptr<Plan> last_plan;
};
Cache& cache() {
  static auto* c = new Cache;  // leaked, as the graph is
  return *c;
}

// How many words two keys have in common at the front.
size_t common(const Key& a, const Key& b) {
  const size_t n = std::min(a.words.size(), b.words.size());
  return static_cast<size_t>(
      std::mismatch(a.words.begin(), a.words.begin() + static_cast<int64_t>(n),
                    b.words.begin())
          .first -
      a.words.begin());
}

std::string explain(const Key& key, const RecordedGraph& graph) {
  const Cache& c = cache();
  const Entry* nearest = nullptr;
  size_t most = 0;
  for (const Entry& e : c.entries) {
    const size_t n = common(key, e.key);
    const bool same_calls = nearest != nullptr &&
                            e.names.size() == graph.nodes.size() &&
                            nearest->names.size() != graph.nodes.size();
    if (nearest == nullptr || n > most || (n == most && same_calls)) {
      nearest = &e;
      most = n;
    }
  }
  if (nearest == nullptr) {
    return str("a graph of {} calls: the first one", graph.nodes.size());
  }
  const auto after = std::upper_bound(key.begin.begin(), key.begin.end(), most);
  const auto at = static_cast<int64_t>(after - key.begin.begin()) - 1;
  const std::string head =
      str("a graph of {} calls; the nearest that was planned has {}",
          graph.nodes.size(), nearest->names.size());
  if (most == key.words.size()) return head + "; it is the beginning of that";
  const char* const field = kFieldNames[key.words[most] & 15];
  if (at < 0) return head + str("; data differs first: {}", field);
  const LazyNode& n = *graph.nodes[static_cast<size_t>(at)];
  std::string what =
      str("; call {} ({}) differs first: {}", at, n.name(), field);
  const auto i = static_cast<size_t>(at);
  if (i < nearest->names.size() && nearest->names[i] != n.name()) {
    what += str(", {} there", nearest->names[i]);
  } else if (!n.made.empty()) {
    what += str(", {} of {} here", n.made[0].layout.dtype,
                n.made[0].layout.sizes());
  }
  return head + what;
}

}  // namespace

intrusive_ptr<Plan> find_plan(const RecordedGraph& graph) {
  Cache& c = cache();
  find_wanted(graph);
  Key key = KeyMaker(graph).make();
  if (c.collide) key.hash = 0;
  for (auto e = c.entries.begin(); e != c.entries.end(); ++e) {
    if (e->key.hash != key.hash || e->key.words != key.words) continue;
    ++counters().hits;
    c.entries.splice(c.entries.begin(), c.entries, e);
    return c.last_plan = e->plan;
  }
  ++counters().misses;
  c.last_miss = explain(key, graph);
  const TraceSpan span("lazy plan", [&] { return c.last_miss; });
  const auto begin = std::chrono::steady_clock::now();
  Entry entry{std::move(key), {}, make_plan(graph)};
  for (const auto& n : graph.nodes) entry.names.emplace_back(n->name());
  c.last_plan = entry.plan;
  c.entries.push_front(std::move(entry));
  while (c.entries.size() > c.capacity) c.entries.pop_back();
  counters().planning_ns +=
      std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin)
          .count();
  return c.last_plan;
}

std::string explain_last_miss() {
  const std::lock_guard lock(graph_mutex());
  return cache().last_miss;
}

std::string last_plan_text() {
  const std::lock_guard lock(graph_mutex());
  const intrusive_ptr<Plan>& p = cache().last_plan;
  return p == nullptr ? "nothing has run yet\n" : p->text();
}

std::string last_plan_dot() {
  const std::lock_guard lock(graph_mutex());
  const intrusive_ptr<Plan>& p = cache().last_plan;
  return p == nullptr ? "digraph lazy {}\n" : p->dot();
}

void set_cache_capacity(size_t plans) {
  const std::lock_guard lock(graph_mutex());
  Cache& c = cache();
  c.capacity = std::max<size_t>(plans, 1);
  while (c.entries.size() > c.capacity) c.entries.pop_back();
}

void clear_cache() {
  const std::lock_guard lock(graph_mutex());
  cache().entries.clear();
  cache().last_plan.reset();
}

void plant_collisions(bool on) {
  const std::lock_guard lock(graph_mutex());
  cache().collide = on;
}

}  // namespace sy::lazy
