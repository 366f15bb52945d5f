#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "aten/backend/size_rule.h"
#include "backends/lazy/captured_graph.h"
#include "backends/lazy/look.h"
#include "c10/error.h"

// A captured graph for another size, made from two.

namespace sy::lazy {

namespace {

// One of the numbers has no rule, or the graphs differ in more than numbers.
struct NoRule {};

void require(bool ok) {
  if (!ok) throw NoRule();
}

class Resizing {
 public:
  explicit Resizing(const capture::SizeRule& rule) : rule_(rule) {}

  template <class T>
  T next(T a, T b) const {
    T v{};
    require(rule_.next(a, b, &v));
    return v;
  }
  std::vector<int64_t> next(IntArrayRef a, IntArrayRef b) const {
    std::vector<int64_t> v;
    require(rule_.next(a, b, &v));
    return v;
  }
  Layout next(const Layout& a, const Layout& b) const {
    require(a.dtype == b.dtype && a.dim() == b.dim());
    const std::vector<int64_t> sizes = next(a.sizes(), b.sizes());
    const std::vector<int64_t> strides = next(a.strides(), b.strides());
    require(std::all_of(sizes.begin(), sizes.end(),
                        [](int64_t n) { return n >= 0; }));
    return {a.dtype, sizes, strides, next(a.offset, b.offset)};
  }
  std::unique_ptr<Layout> next(const std::unique_ptr<Layout>& a,
                               const std::unique_ptr<Layout>& b) const {
    require((a == nullptr) == (b == nullptr));
    return a == nullptr ? nullptr : std::make_unique<Layout>(next(*a, *b));
  }
  Value next(const Value& a, const Value& b) const {
    require(a.tag() == b.tag());
    switch (a.tag()) {
      case Value::Tag::Int: return Value(next(a.to_int(), b.to_int()));
      case Value::Tag::Double: return Value(next(a.to_double(), b.to_double()));
      case Value::Tag::IntList:
        return Value(IntArrayRef(next(a.to_int_list(), b.to_int_list())));
      case Value::Tag::None: return {};
      default: require(to_string(a) == to_string(b)); return a;
    }
  }
  program::Uniform next(const program::Uniform& a, const program::Uniform& b,
                        ScalarType compute) const {
    program::Uniform v = a;
    if (std::memcmp(&a, &b, sizeof a) == 0) return v;
    switch (program::compute_type_of(compute)) {
      case program::ComputeType::f32: v.f32 = next(a.f32, b.f32); break;
      case program::ComputeType::f64: v.f64 = next(a.f64, b.f64); break;
      case program::ComputeType::i64: v.i64 = next(a.i64, b.i64); break;
      case program::ComputeType::i32: {
        const int64_t wide = next(int64_t{a.i32}, int64_t{b.i32});
        require(wide == static_cast<int32_t>(wide));
        v.i32 = static_cast<int32_t>(wide);
        break;
      }
      default: require(false);
    }
    return v;
  }
  capture::Result next(const capture::Result& a,
                       const capture::Result& b) const {
    require(a.value == b.value && a.input == b.input && a.dtype == b.dtype);
    return {a.value,
            a.input,
            a.dtype,
            next(IntArrayRef(a.sizes), IntArrayRef(b.sizes)),
            next(IntArrayRef(a.strides), IntArrayRef(b.strides)),
            next(a.offset, b.offset)};
  }
  capture::Input next(const capture::Input& a, const capture::Input& b) const {
    require(a.source == b.source && a.saved == b.saved && a.whole == b.whole &&
            a.written == b.written &&
            a.tensor.defined() == b.tensor.defined());
    capture::Input in{{}, a.source, a.saved, a.whole, a.written};
    if (!a.tensor.defined()) return in;
    require(a.tensor.scalar_type() == b.tensor.scalar_type());
    const auto bytes = [](const Tensor& t) {
      return static_cast<int64_t>(t.storage()->nbytes());
    };
    // The memory around a tensor matters only if all of it is read.
    const int64_t n = a.whole ? next(bytes(a.tensor), bytes(b.tensor)) : 0;
    const Device device = a.tensor.device();
    in.tensor = Tensor(TensorBase(TensorImpl::make(
        StorageImpl::without_data(static_cast<size_t>(n), device),
        a.tensor.scalar_type(), device,
        DispatchKeySet::dense(device.type()),
        next(a.tensor.sizes(), b.tensor.sizes()),
        next(a.tensor.strides(), b.tensor.strides()),
        a.whole ? next(a.tensor.storage_offset(), b.tensor.storage_offset())
                : 0)));
    return in;
  }

 private:
  const capture::SizeRule& rule_;
};

// Equal data that both graphs keep.
bool same_constant(const Made& a, const Made& b, Device device) {
  return a.memory != nullptr && b.memory != nullptr && device.is_cpu() &&
         a.layout == b.layout &&
         std::memcmp(a.memory->data(), b.memory->data(), a.layout.bytes()) == 0;
}

}  // namespace

// Copies graph `a`, with numbers that follow from those of `b`.
class CapturedGraph::Copier {
 public:
  Copier(const CapturedGraph& a, const CapturedGraph& b,
         const capture::SizeRule& rule)
      : a_(a), b_(b), next_(rule) {}

  Parts copy() {
    const lazy::Graph &ga = a_.run_.graph(), &gb = b_.run_.graph();
    require(ga.nodes.size() == gb.nodes.size() &&
            ga.data.size() == gb.data.size() && ga.homes == gb.homes &&
            ga.device == gb.device && ga.engine == gb.engine &&
            a_.data_.size() == b_.data_.size() &&
            a_.values_.size() == b_.values_.size() &&
            a_.results_.size() == b_.results_.size());
    Parts p;
    copy_inputs(&p);
    lazy::Graph& g = p.graph;
    g.device = ga.device;
    g.engine = ga.engine;
    g.homes = ga.homes;
    for (size_t i = 0; i < ga.data.size(); ++i) {
      require(place_of(*ga.data[i], a_) == place_of(*gb.data[i], b_));
      if (!copies_.contains(ga.data[i].get())) keep_constant(i);
      Captured& d = copies_.at(ga.data[i].get());
      d->index = -1 - static_cast<int>(i);
      g.data.push_back(d);
    }
    for (size_t i = 0; i < ga.nodes.size(); ++i) {
      places_b_[gb.nodes[i].get()] = static_cast<int>(i);
      g.nodes.push_back(node(*ga.nodes[i], *gb.nodes[i]));
      g.nodes.back()->index = static_cast<int>(i);
      copies_[ga.nodes[i].get()] = g.nodes.back();
    }
    for (size_t i = 0; i < a_.after_.size(); ++i) {
      p.after.push_back(value(a_.after_[i], b_.after_[i]));
    }
    for (size_t i = 0; i < a_.values_.size(); ++i) {
      p.values.push_back(value(a_.values_[i], b_.values_[i]));
    }
    for (size_t i = 0; i < a_.results_.size(); ++i) {
      p.results.push_back(next_.next(a_.results_[i], b_.results_[i]));
    }
    p.draws = a_.draws_;
    return p;
  }

 private:
  // The number of an input, or -1: a constant.
  static int place_of(const Node& data, const CapturedGraph& g) {
    for (size_t i = 0; i < g.data_.size(); ++i) {
      if (g.data_[i].get() == &data) return static_cast<int>(i);
    }
    return -1;
  }

  void copy_inputs(Parts* p) {
    for (size_t i = 0; i < a_.data_.size(); ++i) {
      p->inputs.push_back(next_.next(a_.inputs_[i], b_.inputs_[i]));
      const Captured &x = a_.data_[i], &y = b_.data_[i];
      require((x == nullptr) == (y == nullptr));
      if (x == nullptr) {
        p->data.emplace_back();
        continue;
      }
      Captured d = data_node(next_.next(x->made[0].layout, y->made[0].layout));
      hold(*x, *y, d.get());
      copies_[x.get()] = d;
      places_b_[y.get()] = -2 - static_cast<int>(i);
      places_a_[x.get()] = -2 - static_cast<int>(i);
      p->data.push_back(std::move(d));
    }
  }

  // Who holds a value decides about the plan.
  static void hold(const Node& a, const Node& b, Node* to) {
    for (size_t r = 0; r < to->made.size(); ++r) {
      require(a.made[r].wanted == b.made[r].wanted);
      if (a.made[r].wanted) ++to->made[r].holders;
    }
  }

  void keep_constant(size_t i) {
    const Captured &x = a_.run_.graph().data[i], &y = b_.run_.graph().data[i];
    require(x->made.size() == 1 && y->made.size() == 1 &&
            same_constant(x->made[0], y->made[0], a_.device_));
    Captured d = data_node(Layout(x->made[0].layout));
    d->made[0].memory = x->made[0].memory;
    hold(*x, *y, d.get());
    copies_[x.get()] = d;
    const int place = -1000000 - static_cast<int>(i);
    places_a_[x.get()] = places_b_[y.get()] = place;
  }

  int place_in(const std::unordered_map<const Node*, int>& places,
               const Node* n) const {
    const auto at = places.find(n);
    require(at != places.end());
    return at->second;
  }

  Operand operand(const Operand& a, const Operand& b) {
    require(place_in(places_a_, a.node.get()) ==
                place_in(places_b_, b.node.get()) &&
            a.result == b.result && a.wrapped_number == b.wrapped_number);
    Operand o;
    o.node = copies_.at(a.node.get());
    o.result = a.result;
    o.wrapped_number = a.wrapped_number;
    o.part = next_.next(a.part, b.part);
    return o;
  }

  ValueOf value(const ValueOf& a, const ValueOf& b) {
    require((a.node == nullptr) == (b.node == nullptr) &&
            a.result == b.result);
    if (a.node == nullptr) return {};
    require(place_in(places_a_, a.node.get()) ==
            place_in(places_b_, b.node.get()));
    return {copies_.at(a.node.get()), a.result};
  }

  Captured node(const Node& a, const Node& b) {
    require(a.kind == b.kind && a.op == b.op && a.compute == b.compute &&
            a.keepdim == b.keepdim && a.program == b.program &&
            a.reduce == b.reduce && a.reduced == b.reduced &&
            a.tensors == b.tensors && a.written == b.written &&
            a.operands.size() == b.operands.size() &&
            a.made.size() == b.made.size() &&
            a.uniforms.size() == b.uniforms.size() &&
            a.args.size() == b.args.size() &&
            a.lists.size() == b.lists.size() &&
            a.result_of.size() == b.result_of.size());
    auto n = make_intrusive<Node>(a.kind, a.op);
    n->compute = a.compute;
    n->keepdim = a.keepdim;
    n->program = a.program;
    n->reduce = a.reduce;
    n->reduced = a.reduced;
    n->tensors = a.tensors;
    n->written = a.written;
    n->result_of = a.result_of;
    for (size_t i = 0; i < a.lists.size(); ++i) {
      require(a.lists[i].argument == b.lists[i].argument &&
              a.lists[i].present == b.lists[i].present);
      n->lists.push_back(a.lists[i]);
    }
    for (size_t i = 0; i < a.operands.size(); ++i) {
      n->add_operand(operand(a.operands[i], b.operands[i]));
    }
    for (size_t i = 0; i < a.made.size(); ++i) {
      n->made.emplace_back(next_.next(a.made[i].layout, b.made[i].layout));
    }
    for (size_t i = 0; i < a.uniforms.size(); ++i) {
      n->uniforms.push_back(
          next_.next(a.uniforms[i], b.uniforms[i], a.compute));
    }
    for (size_t i = 0; i < a.args.size(); ++i) {
      n->args.push_back(next_.next(a.args[i], b.args[i]));
    }
    n->window = next_.next(a.window, b.window);
    hold(a, b, n.get());
    places_a_[&a] = places_b_[&b];
    return n;
  }

  const CapturedGraph &a_, &b_;
  const Resizing next_;
  std::unordered_map<const Node*, Captured> copies_;  // of nodes of a
  std::unordered_map<const Node*, int> places_a_, places_b_;
};

std::unique_ptr<capture::Graph> CapturedGraph::resized(
    const capture::Graph& other, const capture::SizeRule& rule) const {
  const auto* const b = dynamic_cast<const CapturedGraph*>(&other);
  if (b == nullptr) return nullptr;
  const std::lock_guard lock(graph_mutex());
  try {
    return std::make_unique<CapturedGraph>(Copier(*this, *b, rule).copy());
  } catch (const NoRule&) {
    return nullptr;
  }
}

}  // namespace sy::lazy
