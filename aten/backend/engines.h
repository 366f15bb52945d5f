#pragma once

#include "aten/engine/pointwise.h"
#include "aten/engine/reduce.h"
#include "aten/engine/scan.h"
#include "c10/device/backend_service.h"

// The engines of a backend. An engine runs the operators of one kind from their
// descriptions. Generated code registers the engines, for `engines:` of
// backend.yaml. A caller that has a description without a generated kernel
// looks up the engine here, and so names no backend.

namespace sy {

class OperatorEntry;

// Each function bumps the version of what it writes, after the checks. `writer`
// is the operator that writes.
struct PointwiseEngine {
  // Of an operator with one result.
  Tensor (*run)(const PointwiseOp& op, const PointwiseArgs& args);
  // Makes all op.n_outputs results.
  void (*results)(const PointwiseOp& op, const PointwiseArgs& args,
                  Tensor* results);
  // Writes to `out`, which is resized if need be, or to `self`, which is also
  // an input.
  void (*out)(const PointwiseOp& op, const PointwiseArgs& args,
              const OperatorEntry& writer, Tensor& out);
  void (*inplace)(const PointwiseOp& op, const PointwiseArgs& args,
                  const OperatorEntry& writer, Tensor& self);
};

struct ReduceEngine {
  // Of an operator with one result.
  Tensor (*run)(const ReduceOp& op, const ReduceArgs& args);
  // Makes all op.n_results results.
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

// The functions of these tables for one backend. Their definitions, in
// aten/backend/engine_calls.h, call a struct in which the backend says how it
// computes. engine() is the table.

template <class Ways>
struct SY_API PointwiseCalls {
  static Tensor run(const PointwiseOp& op, const PointwiseArgs& args);
  static void results(const PointwiseOp& op, const PointwiseArgs& args,
                      Tensor* results);
  static void out(const PointwiseOp& op, const PointwiseArgs& args,
                  const OperatorEntry& writer, Tensor& out);
  static void inplace(const PointwiseOp& op, const PointwiseArgs& args,
                      const OperatorEntry& writer, Tensor& self);
  static consteval PointwiseEngine engine() {
    return {&run, &results, &out, &inplace};
  }
};

template <class Ways>
struct SY_API ReduceCalls {
  static Tensor run(const ReduceOp& op, const ReduceArgs& args);
  static void results(const ReduceOp& op, const ReduceArgs& args,
                      Tensor* results);
  static void out(const ReduceOp& op, const ReduceArgs& args,
                  const OperatorEntry& writer, Tensor& out);
  static void outs(const ReduceOp& op, const ReduceArgs& args,
                   const OperatorEntry& writer, Tensor* const* outs);
  static consteval ReduceEngine engine() {
    return {&run, &results, &out, &outs};
  }
};

template <class Ways>
struct SY_API ScanCalls {
  static void results(const ScanOp& op, const ScanArgs& args, Tensor* results);
  static void outs(const ScanOp& op, const ScanArgs& args,
                   const OperatorEntry& writer, Tensor* const* outs);
  static consteval ScanEngine engine() { return {&results, &outs}; }
};

// The engines that a backend registers. Static data; a pointer is null if the
// backend has no such engine. A backend without data computes the sizes and
// dtype of results, and no elements.
struct BackendEngines {
  const PointwiseEngine* pointwise = nullptr;
  const ReduceEngine* reduce = nullptr;
  const ScanEngine* scan = nullptr;
  bool has_data = true;
};

// nullptr if the backend has none, or is not loaded. A caller that keeps the
// pointer must hold the library, as for any service.
inline const BackendEngines* engines_of(DeviceType device) noexcept {
  return static_cast<const BackendEngines*>(
      backend_service(device, BackendService::kEngines));
}

}  // namespace sy
