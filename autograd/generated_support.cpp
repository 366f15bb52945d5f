#include "autograd/generated_support.h"

#include "autograd/runtime_ops.h"
#include "autograd/view.h"
#include "c10/plugin/library_token.h"
#include "c10/schema/function_schema.h"

namespace sy::autograd {

namespace detail {

void collect_edge(const TensorImpl& t, Edge* e) { *e = gradient_edge(t); }

bool is_hidden_view(const TensorImpl& t) {
  return differentiable_root(t) == nullptr && requires_grad(*t.view_root());
}

LibraryToken* owner_of(const void* dso) noexcept { return plugin_of(dso); }

void hold_owner(Node& node, LibraryToken* owner) {
  node.extra().owner = owner;
  owner->hold(LibraryToken::kGraphNode);
}

}  // namespace detail

void set_history(Tensor& result, intrusive_ptr<Node> node) {
  if (SY_UNLIKELY(!result.defined() ||
                  !is_floating_type(result.impl()->dtype()))) {
    return skip_output(*node);
  }
  // A kernel that gave back a tensor of the caller's keeps its history.
  const Meta* before = meta_of(*result.impl());
  if (SY_UNLIKELY(before != nullptr &&
                  (before->grad_fn || before->requires_grad))) {
    result = Tensor(result.impl()->alias());
  }
  const uint32_t nr = node->add_output(result);
  set_gradient_edge(*result.impl(), {std::move(node), nr});
}

void set_history_views(std::vector<Tensor>& results,
                       const intrusive_ptr<Node>& node) {
  for (Tensor& r : results) {
    if (r.defined() && r.impl()->view_meta()) {
      r.impl()->view_meta()->set_creation(ViewCreation::MultiOutput);
    }
    set_history(r, node);
  }
}

void skip_output(Node& node) { node.add_output(TensorBase()); }

namespace {

// The writer: an operator, or something else with a name.
struct Writer {
  const OperatorEntry* op;
  std::string_view name;
};

[[noreturn]] SY_COLD void reject_write(const Writer& w, std::string_view what) {
  fail(ErrorKind::Value,
       "[{}] self: expected a tensor that may be written in place while "
       "gradients are recorded, got {}",
       w.op != nullptr ? display_name(*w.op) : std::string(w.name), what);
}

void check_view(const Writer& w, const TensorImpl& self) {
  const TensorImpl* v = &self;
  for (; v->view_meta(); v = v->view_meta()->parent().get()) {
    const ViewMeta& m = *v->view_meta();
    switch (m.creation()) {
      case ViewCreation::Default: break;
      case ViewCreation::NoGrad:
        reject_write(w,
                     "a view that was made in no-grad mode; make it in "
                     "grad mode, or write in no-grad mode");
      case ViewCreation::Inference:
        reject_write(w, "a view that was made in inference mode");
      case ViewCreation::MultiOutput:
        reject_write(w, str("an output of {}, which makes several views at "
                            "once; clone it, or use select or narrow",
                            display_name(*m.op())));
    }
  }
  if (requires_grad(*v) && !grad_fn(*v)) {
    reject_write(w,
                 "a view of a leaf that requires a gradient; write in "
                 "no-grad mode, or to a clone");
  }
}

void check_write(const Writer& w, const TensorImpl& t) {
  if (t.is_inference()) {
    reject_write(w, "an inference tensor; clone it outside of inference mode");
  }
  if (t.view_meta()) check_view(w, t);
  if (requires_grad(t) && !grad_fn(t)) {
    reject_write(w,
                 "a leaf that requires a gradient; write in no-grad mode, "
                 "or to a clone");
  }
}

}  // namespace

namespace {

// The name of the first argument that `op` writes.
std::string_view written_name(const OperatorEntry& op) {
  for (const Argument& a : op.schema().arguments()) {
    if (a.is_write()) return a.name.view();
  }
  return "self";
}

}  // namespace

void check_inplace(const OperatorEntry& op, const Tensor& self) {
  if (SY_UNLIKELY(!self.defined())) {
    fail(ErrorKind::Value, "[{}] {}: expected a tensor, got an undefined one",
         op.name(), written_name(op));
  }
  check_write({&op, {}}, *self.impl());
}

void check_inplace(std::string_view writer, const Tensor& self) {
  check_write({nullptr, writer}, *self.impl());
}

Tensor clone_before_write(const Tensor& self) {
  const OperatorEntry* const writer = detail::recording;
  Tensor r = rt::clone(self);
  detail::recording = writer;
  return r;
}

void rebase_history(Tensor& self, intrusive_ptr<Node> node) {
  TensorImpl& t = *self.impl();
  if (!is_floating_type(t.dtype())) return skip_output(*node);
  const uint32_t nr = node->add_output(self);
  if (SY_UNLIKELY(t.view_meta() && differentiable_root(t) != nullptr)) {
    return rebase_view(t, std::move(node));
  }
  set_gradient_edge(t, {std::move(node), nr});
}

void reject_out(const OperatorEntry& op) {
  fail(ErrorKind::Value,
       "[{}] functions with out= cannot be differentiated, but an argument "
       "requires a gradient; use the form without out=, or no-grad mode",
       display_name(op));
}

}  // namespace sy::autograd
