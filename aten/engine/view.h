#pragma once

#include <optional>

#include "aten/engine/dims.h"
#include "aten/tensor.h"

namespace sy {

class OperatorEntry;

// A view of `self` as `op` makes it, for view kernels: an alias with these
// sizes, strides and offset (from the start of the storage) that remembers its
// parent, the operator and its arguments after self (see ViewMeta). In grad
// mode the view takes part in autograd, so that writes to it reach the graph.
SY_API Tensor make_view(const Tensor& self, const OperatorEntry& op,
                        IntArrayRef sizes, IntArrayRef strides, int64_t offset,
                        const int64_t* args, int n);
// The same for one of several outputs (split, unbind).
SY_API Tensor make_view_output(const Tensor& self, const OperatorEntry& op,
                               int output, IntArrayRef sizes,
                               IntArrayRef strides, int64_t offset,
                               const int64_t* args, int n);
// Shares the storage and nothing else: detach, and kernels' own use.
SY_API Tensor alias_without_view(const Tensor& self, IntArrayRef sizes,
                                 IntArrayRef strides, int64_t offset);

// Strides that give `sizes` the memory of a tensor of old_sizes and
// old_strides; false if a copy is needed. The numbers of elements are equal.
SY_API bool view_strides(IntArrayRef old_sizes, IntArrayRef old_strides,
                         IntArrayRef sizes, Dims* strides);
// `sizes` with its -1 replaced. Throws ValueError "[op] shape ...".
SY_API Dims infer_size(const char* op, IntArrayRef sizes, int64_t numel);
// Sizes that both broadcast to. Throws ValueError.
SY_API Dims broadcast_sizes(const char* op, IntArrayRef a, IntArrayRef b);
// Sizes and strides of self.expand(sizes).
SY_API void expand_geometry(const char* op, const TensorBase& self,
                            IntArrayRef sizes, Dims* out_sizes,
                            Dims* out_strides);
// For kernels: a stride-0 view without metadata.
SY_API Tensor expand_for_kernel(const char* op, const Tensor& self,
                                IntArrayRef sizes);

}  // namespace sy
