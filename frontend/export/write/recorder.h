#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "c10/dispatch/capture.h"
#include "c10/dispatch/dispatcher.h"
#include "c10/dispatch/thread_state.h"
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

constexpr DispatchKey kRecorderKey = DispatchKey::TransformFront;

// Calls in its scope are neither recorded nor told.
class NotRecorded {
 public:
  NotRecorded() noexcept
      : excluded_(kRecorderKey),
        capture_(std::exchange(thread_state.capture, {})) {}
  ~NotRecorded() { thread_state.capture = capture_; }
  NotRecorded(const NotRecorded&) = delete;
  NotRecorded& operator=(const NotRecorded&) = delete;

 private:
  const ExcludeDispatchKeyGuard excluded_;
  CaptureHooks* const capture_;
};

// The values and calls of one run: recorder.cpp has values, recorder_calls.cpp
// has calls.
class Recorder final : public CaptureHooks {
 public:
  Recorder(const nn::Module& root, const RecordOptions& options);
  ~Recorder() override;

  void hold(const Tensor& t);
  void add_input(const Tensor& t);
  // The call of the dispatcher, from the kernel of kRecorderKey.
  void call(const OperatorEntry& op, DispatchKeySet keys, Value* args,
            size_t num_args, Value* results, size_t num_results);
  Trace finish(const ArchiveValue& result);

  void enter(const nn::Module& module);
  void leave();

  void on_new_memory(const intrusive_ptr<StorageImpl>& s, bool) override {
    fresh_[s.get()] = weak_intrusive_ptr<StorageImpl>(s);
  }
  void on_pointer(StorageImpl& s, const char* asked) override;
  void on_grad(const intrusive_ptr<TensorImpl>& t) override;

 private:
  // A tensor of the run, which may be gone: a weak owner keeps its address from
  // being used again.
  struct Known {
    weak_intrusive_ptr<TensorImpl> tensor;
    int32_t value;
  };
  struct Memory {
    weak_intrusive_ptr<StorageImpl> storage;
    std::vector<int32_t> values;  // that lie there
    bool is_input = false, is_held = false;
  };
  struct Saved {
    Tensor row, elements;
  };

  int32_t new_value(const TensorBase& t);
  void know(const TensorBase& t, int32_t value);
  int32_t find(const TensorBase& t);
  int32_t value_of(const TensorBase& t);
  int32_t constant(const TensorBase& t);
  int32_t detached(int32_t value, const TensorBase& t);
  int32_t unary(const char* op, int32_t value, const TensorBase& like);
  bool is_known(const TensorBase& t);
  TracedArgument argument(const Value& v);
  TracedArgument number(const TensorBase& t);
  TracedResult result(const Value& v);
  void run(const OperatorEntry& op, DispatchKeySet keys, Value* args,
           size_t num_args, Value* results, size_t num_results) const;
  bool is_beside(const OperatorEntry& op, const Value* args, size_t n);
  void save_written(const OperatorEntry& op, const Value* args);
  void record_call(const OperatorEntry& op, DispatchKeySet keys, Value* args,
                   size_t num_args, Value* results, size_t num_results);
  void record_functional(const OperatorEntry& op, Value* args, Value* results,
                         size_t num_results);
  bool was_resized(const OperatorEntry& op, int32_t value, const TensorBase& t);
  void problem(std::string_view what, std::string_view why);
  size_t stack();

  Trace trace_;
  const RecordOptions& options_;
  std::unordered_map<const TensorImpl*, Known> known_;
  std::unordered_map<const StorageImpl*, Memory> memory_;
  std::unordered_map<const StorageImpl*, weak_intrusive_ptr<StorageImpl>>
      fresh_;
  std::map<const StorageImpl*, Saved> saved_;
  std::map<int32_t, int32_t> detached_;
  std::unordered_map<const nn::Module*, std::string> paths_;
  ModuleStack modules_;
  std::vector<bool> empty_;  // the value is memory that nobody wrote
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
