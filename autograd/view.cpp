#include "autograd/view.h"

#include <mutex>
#include <vector>

#include "autograd/formulas.h"
#include "autograd/runtime_ops.h"

namespace sy::autograd {

namespace {

class AsStridedView final : public NodeOf<1> {
 public:
  AsStridedView(Edge base_edge, const Geometry& base, const TensorBase& t)
      : base_(base), view_(*t.impl()) {
    edge_slot(0) = std::move(base_edge);
    add_output(t);
  }
  void apply(GradFrame& f) override {
    if (f.needs(0)) f.set(0, as_strided_backward(f.grad(), base_, view_));
  }
  std::string name() const override { return "AsStridedView"; }

 private:
  Geometry base_, view_;
};

}  // namespace

// The base after an in-place operator `fn` has written to a view of it: the
// gradient of what the view shows goes through fn, the rest passes by. Edge 0
// is that of the base before, the others are fn's after its first.
class CopySlices final : public Node {
 public:
  CopySlices(Edge base_edge, const TensorImpl& base, const TensorImpl& view,
             intrusive_ptr<Node> fn)
      : Node(nullptr, 0), base_(base), view_(view), fn_(std::move(fn)) {
    edges_storage_.push_back(std::move(base_edge));
    for (uint32_t i = 1; i < fn_->num_edges(); ++i) {
      edges_storage_.push_back(fn_->edge(i));
    }
    set_edges(edges_storage_.data(),
              static_cast<uint32_t>(edges_storage_.size()));
    fn_->extra().copy_slices = this;
  }
  ~CopySlices() override { fn_->extra().copy_slices = nullptr; }

  void apply(GradFrame& f) override {
    Tensor grad = rt::empty_strided(base_.sizes, base_.strides,
                                    f.grad().scalar_type(), f.grad().device());
    rt::copy_(grad, f.grad());
    Tensor slice = rt::as_strided(grad, view_.sizes, view_.strides,
                                  view_.offset - base_.offset);
    Tensor of_view = rt::clone(slice);
    std::vector<Tensor> out(num_edges());
    std::vector<uint8_t> wanted(num_edges());
    for (uint32_t i = 0; i < num_edges(); ++i) wanted[i] = f.wanted(i);
    GradFrame inner(*fn_, &of_view, out.data(), wanted.data());
    fn_->apply(inner);
    if (f.wanted(0)) {
      if (out[0].defined()) {
        rt::copy_(slice, out[0]);
      } else {
        rt::fill_(slice, 0);
      }
      f.out_[0] = std::move(grad);
    }
    for (uint32_t i = 1; i < num_edges(); ++i) f.out_[i] = std::move(out[i]);
  }
  void visit_saved(SavedVisitor& v) noexcept override {
    const std::lock_guard guard(fn_->lock());
    fn_->visit_saved(v);
  }
  std::string name() const override { return fn_->name(); }
  const Geometry& base() const { return base_; }

 private:
  Geometry base_, view_;
  intrusive_ptr<Node> fn_;
  std::vector<Edge> edges_storage_;
};

const Geometry& copy_slices_base(const Node& copy_slices) {
  return static_cast<const CopySlices&>(copy_slices).base();
}

const TensorImpl* differentiable_root(const TensorImpl& t) {
  const TensorImpl* v = &t;
  if (!v->view_meta()) return nullptr;
  while (const ViewMeta* m = v->view_meta().get()) {
    if (m->creation() == ViewCreation::NoGrad ||
        m->creation() == ViewCreation::Inference) {
      return nullptr;
    }
    v = m->parent().get();
  }
  return v;
}

Edge view_edge(Edge base_edge, const Geometry& base, const TensorBase& t) {
  return {make_intrusive<AsStridedView>(std::move(base_edge), base, t), 0};
}

void rebase_view(TensorImpl& t, intrusive_ptr<Node> node) {
  auto* base = const_cast<TensorImpl*>(differentiable_root(t));
  SY_INTERNAL_ASSERT(base != nullptr,
                     "{}: written to a view that is not differentiable",
                     node->name());
  intrusive_ptr<Node> whole = make_intrusive<CopySlices>(
      gradient_edge(*base), *base, t, std::move(node));
  const auto owner = intrusive_ptr<TensorImpl>::retain(base);
  whole->add_output(TensorBase(owner));
  set_gradient_edge(*base, {whole, 0});
  const TensorBase self(intrusive_ptr<TensorImpl>::retain(&t));
  set_gradient_edge(t, view_edge({whole, 0}, Geometry(*base), self));
}

}  // namespace sy::autograd
