#include "autograd/saved_tensor.h"

#include <mutex>

#include "autograd/meta.h"
#include "autograd/packed.h"
#include "autograd/thread.h"
#include "autograd/view.h"

namespace sy::autograd {

namespace {

// "[mul.Tensor] " while that operator is recorded.
std::string recorder_prefix() {
  const OperatorEntry* op = detail::recording;
  return op == nullptr ? std::string() : str("[{}] ", display_name(*op));
}

}  // namespace

void SavedTensor::save(const Tensor& t) {
  const TensorImpl* impl = t.impl();
  if (impl == nullptr) return;
  SY_CHECK(!impl->is_inference(), Value,
           "{}an inference tensor cannot be saved for backward: clone it "
           "outside of inference mode, got {}",
           recorder_prefix(), describe(t));
  if (SY_UNLIKELY(detail::thread.saved_hooks != nullptr)) {
    return pack(t, /*is_output=*/false);
  }
  tensor_ = t;
  version_ = impl->version();
  state_ = kInput;
}

void SavedTensor::save_output(const Tensor& t, uint32_t nr) {
  const TensorImpl* impl = t.impl();
  const Meta* meta = impl == nullptr ? nullptr : meta_of(*impl);
  if (meta == nullptr || !meta->grad_fn) return save(t);
  SY_INTERNAL_ASSERT(nr >> 24 == 0);
  output_nr_ = nr & 0xffffff;
  if (SY_UNLIKELY(detail::thread.saved_hooks != nullptr)) {
    return pack(t, /*is_output=*/true);
  }
  tensor_ = Tensor(impl->alias());
  version_ = impl->version();
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
    return state == kOutput && GradMode::is_enabled() ? as_output(node, t, t)
                                                      : t;
  }
  if (state == kPacked) return unpack_by_hook(node, argument, t);
  SY_CHECK(state != kReleased, Error,
           "{}backward through the graph a second time: the first call freed "
           "what {} had saved; give it retain_graph = true",
           backward_prefix(node), node.name());
  return t;
}

void SavedTensor::pack(const Tensor& t, bool is_output) {
  const TensorImpl& impl = *t.impl();
  intrusive_ptr<Packed> packed = run_pack_hook(t, recorder_prefix());
  Tensor stand_in(TensorImpl::make(
      StorageImpl::without_data(0, impl.device()), impl.dtype(), impl.device(),
      DispatchKeySet(), impl.sizes(), impl.strides(), impl.storage_offset()));
  packed->is_output = is_output;
  if (!is_output) {
    if (Edge e = gradient_edge(impl); e.node) {
      set_gradient_edge(*stand_in.impl(), std::move(e));
    }
  }
  stand_in.impl()->set_backend_meta(std::move(packed));
  tensor_ = std::move(stand_in);
  state_ = kPacked;
}

Tensor SavedTensor::unpack_by_hook(const Node& node, const char* argument,
                                   const Tensor& stand_in) const {
  const auto& packed =
      static_cast<const Packed&>(*stand_in.impl()->backend_meta());
  const Tensor t = run_unpack_hook(
      packed, *stand_in.impl(), str("{}{}: ", backward_prefix(node), argument));
  if (!GradMode::is_enabled()) return t;
  if (packed.is_output) return as_output(node, t, stand_in);
  const Edge e = gradient_edge(*stand_in.impl());
  if (!e.node) return t;
  Tensor r(t.impl()->alias());
  set_gradient_edge(*r.impl(), e);
  return r;
}

std::optional<Tensor> SavedTensor::unpack_optional(const Node& node,
                                                   const char* argument) const {
  Tensor t = unpack(node, argument);
  if (!t.defined()) return std::nullopt;
  return t;
}

// A tensor written in place through a view is no output of the node itself,
// but of the view of the base that CopySlices has made anew.
Tensor SavedTensor::as_output(const Node& node, const Tensor& t,
                              const Tensor& place) const {
  Tensor r(t.impl()->alias());
  const NodeExtra* extra = node.extra_or_null();
  auto* self = const_cast<Node*>(&node);
  if (extra != nullptr && extra->copy_slices != nullptr) {
    set_gradient_edge(
        *r.impl(),
        view_edge(Edge{intrusive_ptr<Node>::retain(extra->copy_slices), 0},
                  copy_slices_base(*extra->copy_slices), place));
  } else {
    set_gradient_edge(*r.impl(),
                      {intrusive_ptr<Node>::retain(self), output_nr_});
  }
  return r;
}

void SavedTensor::overwritten(const Node& node, const char* argument,
                              const Tensor& t) const {
  const OperatorEntry* writer = t.storage()->last_writer();
  fail(ErrorKind::Error,
       "{}a saved tensor was changed in place: saved by {} ({}), overwritten "
       "by {}",
       backward_prefix(node), node.name(), argument,
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

void SavedVisitor::free_packed() noexcept { delete packed_; }

void SavedVisitor::visit(const char* name, SavedTensor& t) noexcept {
  const bool packed = t.state_ == SavedTensor::kPacked;
  if (found_ == nullptr) {
    if (packed_ == nullptr) packed_ = new std::vector<Tensor>;
    packed_->push_back(std::move(t.tensor_));
    t.state_ = SavedTensor::kReleased;
    return;
  }
  if (t.state_ == SavedTensor::kUndefined) return;
  found_->push_back({name, t.tensor_,
                     packed ? is_packed_output(*t.tensor_.impl())
                            : t.state_ == SavedTensor::kOutput,
                     packed, t.state_ == SavedTensor::kReleased});
}

void SavedVisitor::operator()(const char* name, SavedTensorList& l) noexcept {
  for (size_t i = 0; i < l.list_.size(); ++i) {
    if (found_ == nullptr) {
      (*this)(name, l.list_[i]);
    } else {
      (*this)(str("{}[{}]", name, i).c_str(), l.list_[i]);
    }
  }
}

std::vector<SavedView> saved_tensors(Node& n) {
  std::vector<SavedView> found;
  SavedVisitor visitor(&found);
  const std::lock_guard guard(n.lock());
  n.visit_saved(visitor);
  return found;
}

}  // namespace sy::autograd
