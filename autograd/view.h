#pragma once

#include "autograd/meta.h"
#include "autograd/saved_meta.h"

// Views. Note [Views and in-place writes]
//
// A view and its base share memory, so a write to either changes the history of
// both. The base's grad_fn is the truth. A write to a view replaces it by a
// CopySlices node, which knows that a part of the base came from the writing
// operator and the rest from before. A view sees from the storage's version
// that its own grad_fn is outdated, and replaces it by a node for
// base.as_strided(view's geometry).

namespace sy::autograd {

// The tensor at the root of the chain of views that gradients follow. nullptr
// if `t` is no view, or was made in no-grad or inference mode.
const TensorImpl* differentiable_root(const TensorImpl& t);

// The edge of base.as_strided(t's geometry). `base_edge` is the edge of the
// base.
Edge view_edge(Edge base_edge, const Geometry& base, const TensorBase& t);

// Call this after `node`, an in-place operator, has written to the view `t`.
// The first edge of node leads to the old value of t.
void rebase_view(TensorImpl& t, intrusive_ptr<Node> node);

// The geometry of the base that a CopySlices node stands for.
const Geometry& copy_slices_base(const Node& copy_slices);

}  // namespace sy::autograd
