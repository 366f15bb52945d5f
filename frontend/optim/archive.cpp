#include "frontend/io/torch_archive.h"
#include "frontend/optim/optimizer.h"

namespace sy::optim {

void Optimizer::save(serialize::OutputArchive& archive) const {
  for (const auto& [name, tensor] : state_dict()) {
    archive.write(name, tensor, /*is_buffer=*/true);
  }
}

void Optimizer::load(serialize::InputArchive& archive) {
  NamedTensors state;
  for (const std::string& key : archive.keys()) {
    Tensor tensor;
    if (archive.try_read(key, tensor)) state.insert(key, tensor);
  }
  load_state_dict(state);
}

}  // namespace sy::optim
