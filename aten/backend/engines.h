#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "aten/engine/pointwise.h"
#include "aten/engine/reduce.h"
#include "aten/engine/scan.h"

// The engines of backends, by key: what runs the operators of a kind from their
// descriptions. Generated code registers them (`engines:` of backend.yaml);
// those ask who run descriptions that no generated kernel has, so that they
// name no backend.

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

// The place of one key. It is never freed, so that kernels may hold it; it is
// empty while the library of the backend is not loaded. Safe from threads.
struct EngineSlot {
  std::string key;
  std::atomic<const BackendEngines*> engines{nullptr};
};

// In the order of registration, those that are empty left out.
SY_API std::vector<const EngineSlot*> engine_slots();
// Null if the backend has none.
SY_API const BackendEngines* engines_of(std::string_view key);

// Registers the engines while it lives, as a static object of the backend's
// library. The first of a key wins: a second is a backend that cannot be
// committed.
class SY_API EngineRegistrar {
 public:
  EngineRegistrar(const char* key, const BackendEngines& engines);
  ~EngineRegistrar();
  EngineRegistrar(const EngineRegistrar&) = delete;
  EngineRegistrar& operator=(const EngineRegistrar&) = delete;

 private:
  const BackendEngines engines_;
  EngineSlot* slot_;
};

}  // namespace sy
