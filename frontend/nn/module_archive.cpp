#include "frontend/io/torch_archive.h"
#include "frontend/nn/module.h"
#include "frontend/nn/tensors.h"

namespace sy::nn {

namespace {

// All tensors of an archive, those that the module does not have included.
void gather(const Module& module, serialize::InputArchive& archive,
            const std::string& prefix, StateDict* state) {
  for (const std::string& key : archive.keys()) {
    Tensor tensor;
    if (archive.try_read(key, tensor)) state->insert(prefix + key, tensor);
  }
  for (const auto& [name, child] : module.named_children()) {
    serialize::InputArchive nested;
    if (child->is_serializable() && archive.try_read(name, nested)) {
      gather(*child, nested, prefix + name + ".", state);
    }
  }
}

}  // namespace

void Module::save(serialize::OutputArchive& archive) const {
  for (const auto& [name, tensor] : parameters_) {
    if (tensor.defined()) archive.write(name, tensor);
  }
  for (const auto& [name, buffer] : buffers_) {
    if (buffer.tensor.defined() && buffer.persistent) {
      archive.write(name, buffer.tensor, /*is_buffer=*/true);
    }
  }
  const Tensor extra = extra_state();
  if (extra.defined())
    archive.write(detail::kExtraState, extra, /*is_buffer=*/true);
  for (const auto& [name, child] : children_) {
    if (!child->is_serializable()) continue;
    serialize::OutputArchive nested;
    child->save(nested);
    archive.write(name, nested);
  }
}

void Module::load(serialize::InputArchive& archive) {
  StateDict state;
  gather(*this, archive, "", &state);
  load_state_dict(state);
}

}  // namespace sy::nn
