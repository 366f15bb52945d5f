#pragma once

#include <memory>
#include <string>
#include <utility>

#include "frontend/distributed/process_group.h"
#include "frontend/nn/modules/batchnorm.h"

// Batch norm by the means and variances of the batches of all ranks.

namespace sy::nn {

using SyncBatchNormOptions = BatchNormOptions;

// As BatchNorm1d, 2d and 3d, for any input of at least 2 dimensions, but in
// training the mean and variance are those of the batches of all ranks of a
// group together. Batches may differ in size, and be empty on some ranks. It is
// a BatchNorm if the group has one rank, or there is none.
//
// All ranks call it alike while they train: forward makes one collective call,
// backward another one, if the input of some rank wants a gradient. The
// gradients of weight and bias are those of the rank's own batch. Throws, on
// all ranks, ValueError for less than two values per channel over all ranks and
// Error for ranks that disagree. Its gradient has no gradient.
class SY_API SyncBatchNormImpl : public NormImplBase<SyncBatchNormOptions> {
 public:
  // nullptr: the world, looked up by each call.
  explicit SyncBatchNormImpl(
      const SyncBatchNormOptions& options,
      std::shared_ptr<distributed::ProcessGroup> group = nullptr);
  Tensor forward(const Tensor& input);

  std::shared_ptr<distributed::ProcessGroup> process_group;
  // The path of the module in the model, for errors; the same on all ranks.
  std::string path;
};
SY_MODULE(SyncBatchNorm);

// Makes each BatchNorm1d, 2d and 3d in a module (itself and all below) act as a
// SyncBatchNorm of the group; lazy ones as well. They stay the objects that
// they are, with their parameters, buffers and modes, since members of models
// know their types. Errors name them by their paths. SyncBatchNorms get the
// group and their paths. Returns how many there are. The way back is
// `training_forward = nullptr`.
SY_API int64_t convert_sync_batchnorm(
    Module& module, std::shared_ptr<distributed::ProcessGroup> group = nullptr);
template <class M>
int64_t convert_sync_batchnorm(
    const ModuleHolder<M>& module,
    std::shared_ptr<distributed::ProcessGroup> group = nullptr) {
  return convert_sync_batchnorm(*module, std::move(group));
}

}  // namespace sy::nn
