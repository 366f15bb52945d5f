#include "autograd/saved_tensor.h"

#include <mutex>

#include "autograd/meta.h"
#include "autograd/view.h"

namespace sy::autograd {

void SavedTensor::save(const Tensor& t) {
  const TensorImpl* impl = t.impl();
  if (impl == nullptr) return;
  SY_CHECK(!impl->is_inference(), Value,
           "a tensor made in inference mode cannot be saved for backward: "
           "clone it outside of that mode, got ",
           describe(t));
  tensor_ = t;
  version_ = impl->version();
  state_ = kInput;
}

void SavedTensor::save_output(const Tensor& t, uint32_t nr) {
  const TensorImpl* impl = t.impl();
  const Meta* meta = impl == nullptr ? nullptr : meta_of(*impl);
  if (meta == nullptr || !meta->grad_fn) return save(t);
  tensor_ = Tensor(impl->alias());
  version_ = impl->version();
  output_nr_ = static_cast<uint16_t>(nr);
  state_ = kOutput;
}

Tensor SavedTensor::unpack(const Node& node, const char* argument) const {
  Tensor t;
  State state;
  {
    const std::lock_guard guard(node.lock());
    t = tensor_;
    state = state_;
  }
  if (SY_LIKELY(state == kInput || state == kOutput)) {
    if (SY_UNLIKELY(t.impl()->version() != version_)) {
      overwritten(node, argument, t);
    }
    return state == kOutput && GradMode::is_enabled() ? as_output(node, t) : t;
  }
  SY_CHECK(state != kReleased, Error, backward_prefix(node),
           "backward through the graph a second time: the first call freed "
           "what ",
           node.name(), " had saved; give it retain_graph = true");
  return t;
}

std::optional<Tensor> SavedTensor::unpack_optional(const Node& node,
                                                   const char* argument) const {
  Tensor t = unpack(node, argument);
  if (!t.defined()) return std::nullopt;
  return t;
}

// A tensor written in place through a view is no output of the node itself,
// but of the view of the base that CopySlices has made anew.
Tensor SavedTensor::as_output(const Node& node, const Tensor& t) const {
  Tensor r(t.impl()->alias());
  const NodeExtra* extra = node.extra_or_null();
  auto* self = const_cast<Node*>(&node);
  if (extra != nullptr && extra->copy_slices != nullptr) {
    set_gradient_edge(
        *r.impl(),
        view_edge(Edge{intrusive_ptr<Node>::retain(extra->copy_slices), 0},
                  copy_slices_base(*extra->copy_slices), r));
  } else {
    set_gradient_edge(*r.impl(),
                      {intrusive_ptr<Node>::retain(self), output_nr_});
  }
  return r;
}

void SavedTensor::overwritten(const Node& node, const char* argument,
                              const Tensor& t) const {
  const OperatorEntry* writer = t.storage()->last_writer();
  fail(ErrorKind::Error, backward_prefix(node),
       "a saved tensor was changed in place: saved by ", node.name(), " (",
       argument, "), overwritten by ",
       writer != nullptr ? display_name(*writer)
                         : std::string("a write that no operator made"));
}

void SavedTensorList::save(TensorList list) {
  list_ = std::vector<SavedTensor>(list.size());
  for (size_t i = 0; i < list.size(); ++i) list_[i].save(list[i]);
}

void SavedTensorList::save(ArrayRef<std::optional<Tensor>> list) {
  list_ = std::vector<SavedTensor>(list.size());
  for (size_t i = 0; i < list.size(); ++i) list_[i].save(list[i]);
}

std::vector<Tensor> SavedTensorList::unpack(const Node& node,
                                            const char* argument) const {
  std::vector<Tensor> r;
  r.reserve(list_.size());
  for (const SavedTensor& t : list_) r.push_back(t.unpack(node, argument));
  return r;
}

std::vector<std::optional<Tensor>> SavedTensorList::unpack_optional(
    const Node& node, const char* argument) const {
  std::vector<std::optional<Tensor>> r;
  r.reserve(list_.size());
  for (const SavedTensor& t : list_) {
    r.push_back(t.unpack_optional(node, argument));
  }
  return r;
}

}  // namespace sy::autograd
