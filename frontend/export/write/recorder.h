#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "frontend/export/write/trace.h"
#include "frontend/nn/module.h"

// Records what a module calls.
//
// Note [Recording]
// The key TransformFront is the highest: its fallback sees a call before
// autograd and before composite kernels take it apart. It is registered while
// somebody records, and the recording thread includes the key. So the
// outermost calls are recorded, with the arguments that the module gave, and
// they run as they would without it: the module may look at sizes. Memory of
// parameters and buffers that the run writes gets its old elements back.

namespace sy::exporting {

struct RecordOptions {
  // Namespaces of operators that Python has too, besides aten.
  std::vector<std::string> namespaces;
};

using ExportedCall =
    std::function<ArchiveValue(const std::vector<ArchiveValue>& inputs)>;

// Calls `call` with the inputs and records it. The tensors of `inputs` are
// values of their own: the run may write them. Throws what the call throws;
// what cannot be exported is in Trace::problems.
Trace record(const nn::Module& root, const std::vector<HeldTensor>& held,
             const ExportedCall& call, const std::vector<ArchiveValue>& inputs,
             const RecordOptions& options);

}  // namespace sy::exporting
