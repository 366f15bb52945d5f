#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/lazy/value.h"

// The kernels of the lazy device.

namespace sy::lazy {

class Capture;

// The arguments of a call with nothing in the places of tensors, which become
// operands. The caller holds graph_mutex().
void take_arguments(LazyNode* node, const Value* args, size_t n);
// The results that a call will have, on Meta; false if that takes data, or if
// they are no tensors of their own.
bool infer(const OperatorEntry& op, const Value* args, size_t n,
           std::vector<Value>* shapes);
// Adds them to a node.
bool add_results(LazyNode* node, const OperatorEntry& op, const Value* args,
                 size_t n);
// Makes tensors of the first `own` values that the node makes. False for
// nullptr.
bool keep(const intrusive_ptr<LazyNode>& node, Value* results,
          size_t num_results, size_t own = SIZE_MAX);
// The operands that are written; false if one of them is not all that its
// storage has, is read as another argument too, or may be written by a pointer.
bool find_written(LazyNode* node, const OperatorEntry& op, const Value* args);
// Computes what the call reads, then its results.
void run_at_once(const OperatorEntry& op, const Value* args, size_t n,
                 Value* results, size_t num_results);

// Kernels of any operator, for Kernel::from_boxed():
// Records the call, or runs it at once if its results depend on data.
void record(const Kernel&, const OperatorEntry&, DispatchKeySet, Value* args,
            size_t num_args, Value* results, size_t num_results);
// empty and empty_strided: memory that nobody sets is taken when it is written.
void record_empty(const Kernel&, const OperatorEntry&, DispatchKeySet,
                  Value* args, size_t num_args, Value* results,
                  size_t num_results);
// An operator that writes arguments beside what it returns.
void record_writing(const Kernel&, const OperatorEntry&, DispatchKeySet,
                    Value* args, size_t num_args, Value* results,
                    size_t num_results);
// An in-place operator whose pure form is pointwise: records that, as the new
// value of self. Its guard has checked the call.
void record_in_place(const Kernel&, const OperatorEntry&, DispatchKeySet,
                     Value* args, size_t num_args, Value* results,
                     size_t num_results);
// Whether the operator is a call of several processes, with a kernel for every
// device.
bool is_collective(OperatorHandle op);
// Makes such a call at once; a capture records it, after those before it.
void record_collective(const Kernel&, const OperatorEntry&, DispatchKeySet,
                       Value* args, size_t num_args, Value* results,
                       size_t num_results);
// Never records the call, but in a capture.
void at_once(const Kernel&, const OperatorEntry&, DispatchKeySet, Value* args,
             size_t num_args, Value* results, size_t num_results);
// An in-place operator that draws every element anew: it runs at once on fresh
// memory, so that numbers come in the order of the calls, and needs no value.
void draw(const Kernel&, const OperatorEntry&, DispatchKeySet, Value* args,
          size_t num_args, Value* results, size_t num_results);
// Operators that have neither a kernel nor parts. The ones that write do so on
// copies of what they write.
void fallback(const Kernel&, const OperatorEntry&, DispatchKeySet, Value* args,
              size_t num_args, Value* results, size_t num_results);

// An operator that writes arguments, on copies of them.
void run_writing_at_once(const Kernel&, const OperatorEntry&, DispatchKeySet,
                         Value* args, size_t num_args, Value* results,
                         size_t num_results);
// Records, in a capture, a call that returns what it writes, if that is all of
// some values. `reads`: it needs the elements that they have. False: it cannot
// be recorded.
bool capture_writes(Capture& capture, const OperatorEntry& op, bool reads,
                    const Value* args, size_t num_args, Value* results,
                    size_t num_results);
// A call that draws numbers, in a capture: such calls run in the order in which
// they were made, each time that the graph runs. False: it cannot be recorded.
bool capture_random(Capture& capture, const OperatorEntry& op,
                    const Value* args, size_t num_args, Value* results,
                    size_t num_results);

// `dst`, which is lazy, holds from now on what `src` holds.
void copy_to_lazy(const TensorBase& dst, const TensorBase& src);
// _copy_from: to, from or on the device.
Tensor copy_from(const Tensor& self, const Tensor& dst, bool non_blocking);
Tensor& fill(Tensor& self, const Scalar& value);

// Says what becomes of a call of the operator, for people.
std::string how_recorded(OperatorHandle op);

}  // namespace sy::lazy
