#include <algorithm>
#include <map>

#include "aten/backend/node.h"
#include "aten/backend/region_builder.h"
#include "c10/schema/function_schema.h"
#include "test/backends/recorder/recorder.h"

namespace recorder {

namespace {

using sy::IntArrayRef;
using sy::NodeDesc;

const NodeDesc* desc_of(const Node& n) {
  return n.call ? sy::node_desc(*n.call->op) : nullptr;
}
bool is_product(const Node& n) { return n.call->op->name() == "aten::mm"; }
bool is_reduction(const Node& n) {
  const NodeDesc* const d = desc_of(n);
  return d != nullptr && d->reduce != nullptr && d->reduce->n_results == 1;
}
bool is_pointwise(const Node& n) {
  const NodeDesc* const d = desc_of(n);
  return d != nullptr && d->pointwise != nullptr &&
         d->pointwise->n_outputs == 1 && d->pointwise->n_inputs > 0;
}

// Drops the call of a computed value: nobody needs its arguments any more.
void forget_call(Node& n) {
  if (!n.call) return;
  n.call->outputs[n.output] = nullptr;
  const sy::intrusive_ptr<Call> last = std::move(n.call);
}

// The calls that one value needs, as one region: pointwise calls whose sizes
// broadcast to those of the region, reductions of values of these sizes, and
// one product.
class Fusion {
 public:
  explicit Fusion(Node& target) : target_(target) {
    sizes_ = is_reduction(target)
                 ? sy::ReduceNode(*desc_of(target), target.call->args.data())
                       .args()
                       .self->sizes()
                       .vec()
                 : target.sizes;
    take(target);
  }

  const std::vector<Node*>& nodes() const { return nodes_; }
  // A tensor that has to be computed before; nullptr: none.
  Node* missing() const {
    for (const TensorBase& t : inputs_) {
      Node* const n = node_of(t);
      if (n != nullptr && !n->value) return n;
    }
    return nullptr;
  }

  void run() {
    const auto k = product_ == nullptr ? 0 : 1;
    std::vector<int64_t> space = sizes_;
    if (product_ != nullptr) space.insert(space.begin(), terms());
    sy::RegionBuilder b(space);
    std::map<const sy::TensorImpl*, int> inputs;
    std::map<const Node*, int> values;
    std::vector<Tensor> given;
    for (const TensorBase& t : inputs_) {
      if (inputs.contains(t.impl())) continue;
      const std::vector<int64_t> strides = strides_of(t, space);
      inputs[t.impl()] = b.input(t.scalar_type(), strides);
      given.push_back(on_cpu(t));
      given_strides_.push_back(strides);
    }
    const auto value_of = [&](const TensorBase& t) {
      const auto at = inputs.find(t.impl());
      return at != inputs.end() ? at->second : values.at(node_of(t));
    };
    for (const Node* const n : nodes_) {
      const Value* const args = n->call->args.data();
      if (n == product_) {
        values[n] = b.product(value_of(args[0].to_tensor()),
                              value_of(args[1].to_tensor()), 1, n->dtype);
      } else if (is_reduction(*n)) {
        const sy::ReduceNode call(*desc_of(*n), args);
        sy::ReducePlan plan;
        sy::plan_reduce(call.op(), call.args(), &plan);
        values[n] = b.reduce(call.op(), call.args(),
                             value_of(*call.args().self), plan.reduced << k);
      } else {
        const sy::PointwiseNode call(*desc_of(*n), args);
        std::vector<int> in;
        for (int i = 0; i < call.op().n_inputs; ++i) {
          in.push_back(value_of(*call.args().inputs[i]));
        }
        values[n] = b.pointwise(call.op(), call.args(), in);
      }
    }
    std::vector<Node*> wanted;
    for (Node* const n : nodes_) {
      if (n == &target_ || is_wanted(*n)) wanted.push_back(n);
    }
    std::vector<std::vector<int64_t>> strides;
    for (const Node* const n : wanted) {
      strides.push_back(out_strides(*n, k));
      b.output(values.at(n), n->dtype, strides.back());
    }
    run(b, space, given, wanted, strides);
  }

 private:
  // Whether a tensor is a node's value as it lies.
  static bool is_whole(const TensorBase& t, const Node& n) {
    return t.sizes() == IntArrayRef(n.sizes) && t.is_contiguous() &&
           t.storage_offset() == 0 && t.scalar_type() == n.dtype;
  }
  bool broadcasts(IntArrayRef sizes) const {
    const size_t n = sizes.size();
    if (n > sizes_.size()) return false;
    for (size_t d = 0; d < n; ++d) {
      const int64_t s = sizes_[sizes_.size() - n + d];
      if (sizes[d] != s && sizes[d] != 1) return false;
    }
    return true;
  }

  bool can_take(const Node& n) const {
    if (n.value || !n.call) return false;
    if (is_product(n)) {
      return product_ == nullptr && IntArrayRef(n.sizes) == IntArrayRef(sizes_);
    }
    if (is_reduction(n)) {
      const sy::ReduceNode call(*desc_of(n), n.call->args.data());
      return (call.args().keepdim || &n == &target_) &&
             call.args().self->sizes() == IntArrayRef(sizes_);
    }
    return is_pointwise(n) && broadcasts(n.sizes);
  }

  void take(Node& n) {
    if (std::find(nodes_.begin(), nodes_.end(), &n) != nodes_.end()) return;
    if (is_product(n)) product_ = &n;
    for (const Value& v : n.call->args) {
      if (!v.is_tensor() || !v.to_tensor().defined()) continue;
      const TensorBase& t = v.to_tensor();
      Node* const from = node_of(t);
      if (from != nullptr && !is_product(n) && is_whole(t, *from) &&
          can_take(*from)) {
        take(*from);
      } else {
        inputs_.push_back(t);
      }
    }
    nodes_.push_back(&n);
  }

  int64_t terms() const { return product_->call->args[0].to_tensor().size(1); }

  // Along the dims of the region; those of the product's operands are its own.
  std::vector<int64_t> strides_of(const TensorBase& t,
                                  const std::vector<int64_t>& space) const {
    if (product_ != nullptr) {
      const Value* const args = product_->call->args.data();
      const TensorBase &a = args[0].to_tensor(), &b = args[1].to_tensor();
      if (t.is_same(a)) return {a.stride(1), a.stride(0), 0};
      if (t.is_same(b)) return {b.stride(0), 0, b.stride(1)};
    }
    std::vector<int64_t> out(space.size(), 0);
    for (int64_t d = 1; d <= t.dim(); ++d) {
      if (t.size(-d) != 1) out[space.size() - d] = t.stride(-d);
    }
    return out;
  }
  std::vector<int64_t> out_strides(const Node& n, int k) const {
    uint64_t dropped = 0;
    if (is_reduction(n)) {
      const sy::ReduceNode call(*desc_of(n), n.call->args.data());
      sy::ReducePlan plan;
      sy::plan_reduce(call.op(), call.args(), &plan);
      if (!call.args().keepdim) dropped = plan.reduced;
    }
    std::vector<int64_t> out(sizes_.size() + k, 0);
    int64_t stride = 1;
    size_t at = n.sizes.size();
    for (size_t d = sizes_.size(); d-- > 0 && at > 0;) {
      if (dropped >> d & 1) continue;
      --at;
      if (n.sizes[at] != 1) out[d + k] = stride;
      stride *= n.sizes[at];
    }
    return out;
  }

  // Whether somebody beyond the calls of this region has the value in hand.
  // Each argument of a recorded call has a storage of its own.
  bool is_wanted(const Node& n) const {
    uint32_t held = 0;
    for (const Node* const reader : nodes_) {
      for (const Value& v : reader->call->args) {
        if (v.is_tensor() && node_of(v.to_tensor()) == &n) ++held;
      }
    }
    return n.use_count() != held;
  }

  void run(sy::RegionBuilder& b, const std::vector<int64_t>& space,
           const std::vector<Tensor>& given, const std::vector<Node*>& wanted,
           const std::vector<std::vector<int64_t>>& strides) {
    std::vector<sy::RegionMemory> memory;
    for (size_t i = 0; i < given.size(); ++i) {
      memory.push_back({const_cast<void*>(given[i].const_data_ptr()),
                        given_strides_[i].data(), given[i].scalar_type(),
                        given[i].storage().get()});
    }
    std::vector<sy::Storage> made;
    for (size_t i = 0; i < wanted.size(); ++i) {
      int64_t bytes = static_cast<int64_t>(sy::element_size(wanted[i]->dtype));
      for (const int64_t s : wanted[i]->sizes) bytes *= s;
      made.push_back(
          sy::StorageImpl::allocate(static_cast<size_t>(bytes), device()));
      memory.push_back({made.back()->data(), strides[i].data(),
                        wanted[i]->dtype, made.back().get()});
    }
    sy::RegionCall call;
    call.sizes = space;
    call.inputs = {memory.data(), given.size()};
    call.outputs = {memory.data() + given.size(), wanted.size()};
    call.uniforms = b.uniforms().data();
    call.n_uniforms = static_cast<int32_t>(b.uniforms().size());
    sy::prepare_region(sy::kCPU, b.region()).run(call);
    std::vector<sy::intrusive_ptr<Node>> done;
    for (size_t i = 0; i < wanted.size(); ++i) {
      wanted[i]->value = made[i];
      done.push_back(sy::intrusive_ptr<Node>::retain(wanted[i]));
    }
    const auto n = static_cast<int64_t>(nodes_.size());
    Counts& c = counts();
    ++c.regions;
    c.in_regions += n;
    c.largest = std::max(c.largest, n);
    for (const auto& node : done) forget_call(*node);
  }

  Node& target_;
  std::vector<int64_t> sizes_;
  std::vector<Node*> nodes_;  // in order
  std::vector<TensorBase> inputs_;
  std::vector<std::vector<int64_t>> given_strides_;
  Node* product_ = nullptr;
};

}  // namespace

void compute(Node& node) {
  while (!node.value) {
    if (!is_pointwise(node) && !is_reduction(node) && !is_product(node)) {
      compute_on_cpu(*node.call);
      break;
    }
    Fusion fusion(node);
    if (Node* const first = fusion.missing()) {
      compute(*first);
      continue;  // it may have been a part of this one
    }
    fusion.run();
  }
  forget_call(node);
}

}  // namespace recorder
