#pragma once

#include "autograd/meta.h"
#include "autograd/saved_meta.h"

// Views. Note [Views and in-place writes]
//
// A view and its base share memory, so that a write to either changes the
// history of both. The base's grad_fn is the truth. Writing to a view replaces
// it by a CopySlices node, which knows that a part of the base came from the
// writing operator and the rest from before. Views find out by the storage's
// version that theirs is outdated, and replace it by a node for
// base.as_strided(view's geometry).

namespace sy::autograd {

// The tensor at the root of the chain of views that gradients follow; nullptr
// if `t` is no view, or one that was made in no-grad or inference mode.
const TensorImpl* differentiable_root(const TensorImpl& t);

// The edge of base.as_strided(t's geometry), where `base_edge` is the base's.
Edge view_edge(Edge base_edge, const Geometry& base, const TensorBase& t);

// After `node`, an in-place operator whose first edge is the old value of the
// view `t`, has written to it.
void rebase_view(TensorImpl& t, intrusive_ptr<Node> node);

// Of a CopySlices node.
const Geometry& copy_slices_base(const Node& copy_slices);

}  // namespace sy::autograd
