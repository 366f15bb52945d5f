#include "autograd/function.h"

#include <algorithm>

#include "autograd/generated_support.h"
#include "autograd/runtime_ops.h"
#include "autograd/thread.h"
#include "autograd/user_error.h"
#include "autograd/view.h"
#include "c10/dispatch/capture.h"
#include "c10/process/demangle.h"

namespace sy::autograd {

namespace {

bool contains(const variable_list& list, const Tensor& t) {
  return std::any_of(list.begin(), list.end(),
                     [&](const Tensor& o) { return o.is_same(t); });
}

// The gradients of a Function that can be differentiated once only.
class DifferentiatedTwice final : public NodeOfMany {
 public:
  explicit DifferentiatedTwice(std::string name) : name_(std::move(name)) {}
  void apply(GradFrame&) override {
    fail(ErrorKind::NotImplemented,
         "{}{} says once_differentiable: its gradient has none",
         backward_prefix(*this), name_);
  }
  std::string name() const override { return name_; }

 private:
  std::string name_;
};

}  // namespace

class FunctionNode final : public NodeOfMany {
 public:
  FunctionNode(const detail::FunctionType& type, std::vector<bool> is_tensor)
      : context(this), type_(type), is_tensor_(std::move(is_tensor)) {}

  void apply(GradFrame& f) override;
  void visit_saved(SavedVisitor& v) noexcept override {
    for (size_t i = 0; i < saved.size(); ++i) {
      v(saved_name(i).c_str(), saved[i]);
    }
  }
  std::string name() const override { return demangled(type_.type.name()); }
  static std::string saved_name(size_t i) { return str("saved[{}]", i); }

  AutogradContext context;
  // A saved tensor that is a view of an output, with a gradient.
  struct ViewOfOutput {
    size_t saved;
    uint32_t output;
    Geometry base;
  };

  std::vector<SavedTensor> saved;
  std::vector<ViewOfOutput> views;
  std::vector<SavedMeta> outputs;  // those without a gradient too

 private:
  variable_list gradients_of(GradFrame& f);
  variable_list call(GradFrame& f);
  void forbid_second(variable_list* gradients) const;

  const detail::FunctionType& type_;
  std::vector<bool> is_tensor_;  // of each argument of forward
};

void AutogradContext::save_for_backward(variable_list tensors) {
  to_save_ = std::move(tensors);
}

variable_list AutogradContext::get_saved_variables() const {
  variable_list r;
  r.reserve(node_->saved.size());
  for (size_t i = 0; i < node_->saved.size(); ++i) {
    r.push_back(
        node_->saved[i].unpack(*node_, FunctionNode::saved_name(i).c_str()));
  }
  if (!GradMode::is_enabled()) return r;
  for (const auto& [i, output, base] : node_->views) {
    Tensor t(r[i].impl()->alias());
    const Edge from{intrusive_ptr<Node>::retain(node_), output};
    set_gradient_edge(*t.impl(), view_edge(from, base, t));
    r[i] = std::move(t);
  }
  return r;
}

void AutogradContext::mark_dirty(const variable_list& inputs) {
  dirty_ = inputs;
}

void AutogradContext::mark_non_differentiable(const variable_list& outputs) {
  non_differentiable_ = outputs;
}

bool AutogradContext::needs_input_grad(size_t i) const {
  if (i >= node_->num_edges()) return false;
  const int k = static_cast<int>(i);
  const GradFrame* frame = detail::thread.frame;
  const bool in_backward = frame != nullptr && &frame->node() == node_;
  return in_backward ? frame->needs(k) : node_->needs(k);
}

variable_list FunctionNode::gradients_of(GradFrame& f) {
  variable_list grads(num_outputs());
  for (size_t i = 0; i < grads.size(); ++i) {
    grads[i] = f.grad(static_cast<int>(i));
    if (!grads[i].defined() && context.materialize_ && outputs[i].defined()) {
      grads[i] = rt::expanded_zeros(outputs[i]);
    }
  }
  return grads;
}

variable_list FunctionNode::call(GradFrame& f) {
  struct Current {
    explicit Current(const GradFrame* f)
        : before(std::exchange(detail::thread.frame, f)) {}
    ~Current() { detail::thread.frame = before; }
    const GradFrame* before;
  } current(&f);
  variable_list r;
  call_user(
      [&] {
        const AutoGradMode mode(GradMode::is_enabled() &&
                                !type_.once_differentiable);
        r = type_.backward(&context, gradients_of(f));
      },
      [&] { return str("in the backward of {}", name()); });
  return r;
}

void FunctionNode::apply(GradFrame& f) {
  variable_list r = call(f);
  const size_t expected = is_tensor_.size();
  while (r.size() > expected && !r.back().defined()) r.pop_back();
  SY_CHECK(r.size() == expected, Value,
           "{}expected {} gradients, one for each argument of forward, got {}",
           backward_prefix(*this), expected, r.size());
  if (type_.once_differentiable && GradMode::is_enabled()) forbid_second(&r);
  int k = 0;
  for (size_t i = 0; i < r.size(); ++i) {
    if (is_tensor_[i]) {
      f.set(k++, std::move(r[i]));
    } else {
      SY_CHECK(!r[i].defined(), Value,
               "{}expected an undefined gradient for argument {}, which is no "
               "tensor, got {}",
               backward_prefix(*this), i, describe(r[i]));
    }
  }
}

void FunctionNode::forbid_second(variable_list* gradients) const {
  for (Tensor& g : *gradients) {
    if (!g.defined()) continue;
    auto error = make_intrusive<DifferentiatedTwice>(name());
    std::vector<Edge> edges;
    std::vector<uint32_t> starts{0};
    for (uint32_t i = 0; i < num_edges(); ++i) {
      edges.push_back(edge(i));
      starts.push_back(i + 1);
    }
    error->set_edges(std::move(edges), std::move(starts));
    g = Tensor(g.impl()->alias());
    set_history(g, std::move(error));
  }
}

namespace detail {

FunctionCall::FunctionCall(const FunctionType& type) : type_(type) {}
FunctionCall::~FunctionCall() = default;

AutogradContext* FunctionCall::start() {
  node_ = make_intrusive<FunctionNode>(type_, is_tensor_);
  if (LibraryToken* owner = owner_of(type_.dso)) hold_owner(*node_, owner);
  recorded_ = any_requires_grad(TensorList(inputs_));
  std::vector<Edge> edges(recorded_ ? inputs_.size() : 0);
  std::vector<uint32_t> starts{0};
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (recorded_) collect_edge(inputs_[i], &edges[i]);
    versions_.push_back(inputs_[i].defined() ? inputs_[i].impl()->version()
                                             : 0);
    if (recorded_) starts.push_back(static_cast<uint32_t>(i + 1));
  }
  node_->set_edges(std::move(edges), std::move(starts));
  return &node_->context;
}

void FunctionCall::reject(std::string_view what) const {
  fail(ErrorKind::Value, "[{}] {}", demangled(type_.type.name()), what);
}

int FunctionCall::find_input(const Tensor& t) const {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (t.defined() && inputs_[i].is_same(t)) return static_cast<int>(i);
  }
  return -1;
}

void FunctionCall::check_marks(const Tensor* outputs, size_t n) const {
  const variable_list results(outputs, outputs + n);
  for (const Tensor& t : node_->context.dirty_) {
    const int i = find_input(t);
    if (i < 0) reject("mark_dirty: expected inputs of forward");
    if (!contains(results, t)) {
      reject(str(
          "mark_dirty: expected input {} among the results of forward too", i));
    }
  }
  for (const Tensor& t : node_->context.non_differentiable_) {
    if (!contains(results, t)) {
      reject("mark_non_differentiable: expected results of forward");
    }
  }
}

// The history of an input that forward wrote to and returns.
void FunctionCall::write_history(Tensor& out, bool single) {
  check_inplace(demangled(type_.type.name()), out);
  if (out.is_view()) {
    // A CopySlices node takes the first edge for the view's old value.
    if (!single || find_input(out) != 0) {
      reject(
          "mark_dirty: expected a view to be the first tensor argument and "
          "the only result");
    }
  }
  rebase_history(out, node_);
}

void FunctionCall::set_output(Tensor& out, bool non_differentiable,
                              bool single) {
  const int input = find_input(out);
  const bool dirty = contains(node_->context.dirty_, out);
  if (dirty) {
    const size_t i = static_cast<size_t>(input);
    if (out.impl()->version() == versions_[i]) {
      out.impl()->bump_version(nullptr);
    }
  }
  if (!recorded_) return;
  node_->outputs.emplace_back(out);
  if (non_differentiable) {
    if (input >= 0) out = Tensor(out.impl()->alias());
    return skip_output(node_);
  }
  if (dirty) return write_history(out, single);
  if (input >= 0) out = Tensor(out.impl()->alias());
  set_history(out, node_);
}

namespace {

// The output that `t` is a view of; none: n.
size_t viewed_output(const Tensor& t, const Tensor* outputs, size_t n) {
  for (const TensorImpl* v = t.impl(); v != nullptr && v->view_meta();) {
    v = v->view_meta()->parent().get();
    for (size_t i = 0; i < n; ++i) {
      if (outputs[i].defined() && outputs[i].impl() == v) return i;
    }
  }
  return n;
}

}  // namespace

void FunctionCall::save(const Tensor* outputs, size_t n) {
  FunctionNode& node = *node_;
  node.saved.resize(node.context.to_save_.size());
  for (size_t i = 0; i < node.saved.size(); ++i) {
    const Tensor& t = node.context.to_save_[i];
    uint32_t nr = 0;
    while (nr < n && !(outputs[nr].defined() && outputs[nr].is_same(t))) ++nr;
    if (nr < n) {
      node.saved[i].save_output(t, nr);
      continue;
    }
    const size_t viewed = t.defined() ? viewed_output(t, outputs, n) : n;
    const Tensor* base = viewed < n ? &outputs[viewed] : nullptr;
    // An output that is a view itself has its history from its own base.
    if (base == nullptr || base->impl()->view_meta()) {
      node.saved[i].save(t);
      continue;
    }
    // Saves its memory alone: the output that it would keep owns the node.
    node.saved[i].save(Tensor(t.impl()->alias()));
    if (differentiable_root(*t.impl()) != nullptr) {
      node.views.push_back(
          {i, static_cast<uint32_t>(viewed), Geometry(*base->impl())});
    }
  }
}

void FunctionCall::finish(Tensor* outputs, size_t n) {
  if (recorded_) tell_capture_acts("a custom Function is recorded");
  AutogradContext& context = node_->context;
  check_marks(outputs, n);
  for (size_t i = 0; i < n; ++i) {
    set_output(outputs[i], contains(context.non_differentiable_, outputs[i]),
               n == 1);
  }
  if (recorded_) save(outputs, n);
  context.to_save_.clear();
  context.dirty_.clear();
  context.non_differentiable_.clear();
}

}  // namespace detail

}  // namespace sy::autograd
