#pragma once

#include "aten/engine/pointwise.h"
#include "aten/engine/reduce.h"
#include "aten/engine/scan.h"
#include "c10/backend_service.h"

// The engines of a backend: what runs the operators of a kind from their
// descriptions. Generated code registers them, for `engines:` of backend.yaml;
// whoever runs descriptions that no generated kernel has asks for them here,
// and so names no backend.

namespace sy {

class OperatorEntry;

// The version of what is written is bumped with `writer` after the checks.
struct PointwiseEngine {
  Tensor (*run)(const PointwiseOp& op, const PointwiseArgs& args);
  // All of op.n_outputs results.
  void (*results)(const PointwiseOp& op, const PointwiseArgs& args,
                  Tensor* results);
  // Into `out`, resized if need be, or to `self`, which is an input too.
  void (*out)(const PointwiseOp& op, const PointwiseArgs& args,
              const OperatorEntry& writer, Tensor& out);
  void (*inplace)(const PointwiseOp& op, const PointwiseArgs& args,
                  const OperatorEntry& writer, Tensor& self);
};

struct ReduceEngine {
  Tensor (*run)(const ReduceOp& op, const ReduceArgs& args);
  // All of op.n_results results.
  void (*results)(const ReduceOp& op, const ReduceArgs& args, Tensor* results);
  void (*out)(const ReduceOp& op, const ReduceArgs& args,
              const OperatorEntry& writer, Tensor& out);
  void (*outs)(const ReduceOp& op, const ReduceArgs& args,
               const OperatorEntry& writer, Tensor* const* outs);
};

struct ScanEngine {
  void (*results)(const ScanOp& op, const ScanArgs& args, Tensor* results);
  void (*outs)(const ScanOp& op, const ScanArgs& args,
               const OperatorEntry& writer, Tensor* const* outs);
};

// What a backend brings: static data, null where it has none. One without data
// knows all of a result by its sizes and dtype.
struct BackendEngines {
  const PointwiseEngine* pointwise = nullptr;
  const ReduceEngine* reduce = nullptr;
  const ScanEngine* scan = nullptr;
  bool has_data = true;
};

// nullptr if the backend has none, or is not loaded. Who keeps them holds the
// library, as of any service.
inline const BackendEngines* engines_of(DeviceType device) noexcept {
  return static_cast<const BackendEngines*>(
      backend_service(device, BackendService::kEngines));
}

}  // namespace sy
