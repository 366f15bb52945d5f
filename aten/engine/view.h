#pragma once

#include <optional>

#include "aten/engine/dims.h"
#include "aten/tensor.h"

namespace sy {

class OperatorEntry;

// Makes the view of `self` that `op` returns, for view kernels. It is an alias
// with these sizes, strides and offset (from the start of the storage). It
// remembers its parent, the operator and its arguments after self (see
// ViewMeta). In grad mode the view takes part in autograd, so that writes to it
// reach the graph.
SY_API Tensor make_view(const Tensor& self, const OperatorEntry& op,
                        IntArrayRef sizes, IntArrayRef strides, int64_t offset,
                        const int64_t* args, int n);
// The same for result `output` of several (split, unbind).
SY_API Tensor make_view_output(const Tensor& self, const OperatorEntry& op,
                               int output, IntArrayRef sizes,
                               IntArrayRef strides, int64_t offset,
                               const int64_t* args, int n);
// An alias that remembers nothing, for detach and for kernels' own use.
SY_API Tensor alias_without_view(const Tensor& self, IntArrayRef sizes,
                                 IntArrayRef strides, int64_t offset);

// Finds strides that show the memory of a tensor of old_sizes and old_strides
// with `sizes`, which have as many elements. Returns false if a copy is needed.
SY_API bool view_strides(IntArrayRef old_sizes, IntArrayRef old_strides,
                         IntArrayRef sizes, Dims* strides);
// `sizes` with its -1 replaced. Throws ValueError "[op] shape ...".
SY_API Dims infer_size(const char* op, IntArrayRef sizes, int64_t numel);
// The sizes that both broadcast to. Throws ValueError.
SY_API Dims broadcast_sizes(const char* op, IntArrayRef a, IntArrayRef b);
// The sizes and strides of self.expand(sizes).
SY_API void expand_geometry(const char* op, const TensorBase& self,
                            IntArrayRef sizes, Dims* out_sizes,
                            Dims* out_strides);
// self.expand(sizes) as an alias that remembers nothing, for kernels.
SY_API Tensor expand_for_kernel(const char* op, const Tensor& self,
                                IntArrayRef sizes);

}  // namespace sy
