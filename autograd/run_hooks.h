#pragma once

#include <vector>

#include "autograd/hooks.h"
#include "autograd/node.h"

// These run the hooks of a node, for the engine. They throw what a hook throws,
// with the node and the hook's place, and ValueError for gradients of another
// size, dtype or device.

namespace sy::autograd {

// `grads`: one per output of the node.
void run_tensor_hooks(const Node& n, Tensor* grads);
void run_pre_hooks(const Node& n, Tensor* grads);

using HookList = std::vector<intrusive_ptr<Hook>>;
HookList post_hooks(const Node& n);
// `made`: the node's results, one per edge. `given`: its gradients, one per
// output.
void run_post_hooks(const Node& n, const HookList& hooks, Tensor* made,
                    const std::vector<Tensor>& given);

}  // namespace sy::autograd
