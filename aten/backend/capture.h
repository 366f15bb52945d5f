#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "aten/tensor.h"
#include "c10/dispatch/capture.h"

// Records what a thread computes, as a graph that runs again without the code
// that made it. sy::compile (frontend/compile) decides when; a backend that
// records implements it and registers an Engine as BackendService::kCapture.
//
// Note [Captures]
// While a Recorder lives, calls of its thread on tensors of its device are
// recorded below autograd, and nothing is computed. Tensors that the calls make
// are of that device and have no memory yet. Memory that was there before is an
// input of the graph, named by its tensor; writes to it wait until the graph
// runs. Anything that cannot be recorded ends a piece: all of it is computed,
// every tensor has memory, and recording begins anew.
//
// Note [Looks]
// Some of what ends a piece can be made again: a call that gives a number
// (item), or results whose sizes depend on data (nonzero). It is a Look. If
// nothing else ended a piece, a capture is a row of pieces, each a graph and
// the look after it, and the graph of finish(). The results of a look that the
// code has seen (numbers to the last bit, sizes) decide what follows, so a
// replay makes the look too, and goes on where it has seen the same.

namespace sy::capture {

// Why a piece had to end.
struct Break {
  std::string reason;  // "item reads a value"
  std::string place;  // the code that called: "train()+0x1c in ./digits"; or ""
  bool repeats = false;  // it is a look
};

// Memory that a graph reads, and perhaps writes.
struct Input {
  // Device, dtype, sizes, strides and offset of the first tensor that was seen
  // of it; without its memory. The graph means the elements of that tensor,
  // which is dense; with `whole` all of its storage.
  Tensor tensor;
  int source = -1;  // the number of the add_input() that named it, if any
  int saved = -1;   // of a backward graph: the value of the forward graph
  bool whole = false;
  bool written = false;
};

// A tensor after the graph has run: a part of the memory of a value or of an
// input. Tensors with the same value share memory.
struct Result {
  int value = -1, input = -1;  // both negative: undefined
  ScalarType dtype = ScalarType::Undefined;
  std::vector<int64_t> sizes, strides;
  int64_t offset = 0;  // in elements, from the value's or input's first one
};

// The place of an input's elements in this run.
struct Memory {
  Storage storage;
  void* data = nullptr;
};

// The memory of a tensor's elements, or of all of its storage, which must have
// memory.
inline Memory memory_of(const TensorBase& t, bool whole) {
  return {t.storage(), whole ? t.storage()->data() : t.impl()->data()};
}

class SY_API Graph {
 public:
  virtual ~Graph();

  const std::vector<Input>& inputs() const { return inputs_; }
  const std::vector<Result>& results() const { return results_; }
  // Values beyond those of results(), which a backward graph reads, count too.
  int num_values() const { return num_values_; }

  // Computes: writes the inputs that are written and gives each value fresh
  // memory. Inputs lie as those of the capture did. Runs at once on the calling
  // thread, below autograd. Throws what a kernel throws, with the operator's
  // name; inputs may be written in part then. Thread-safe, but runs of one
  // graph go one after the other.
  virtual void run(ArrayRef<Memory> inputs, Storage* values) = 0;

  // The calls, with their numbers, a line each: equal for equal captures.
  virtual std::string listing() const = 0;
  // The same without sizes, strides and numbers.
  virtual std::string structure() const = 0;
  // How they run: regions and calls of kernels, with their time.
  virtual std::string plan() const = 0;
  virtual int64_t num_calls() const = 0;
  virtual int64_t num_steps() const = 0;
  // Whether it draws random numbers from default generators.
  bool draws() const { return draws_; }

 protected:
  std::vector<Input> inputs_;
  std::vector<Result> results_;
  int num_values_ = 0;
  bool draws_ = false;

 private:
  virtual void* reserved0() { return nullptr; }
};

// A call that gives a number, or results whose sizes depend on data. See Note
// [Looks].
class SY_API Look {
 public:
  virtual ~Look();

  // The tensors that it is given, dense or not.
  const std::vector<Input>& inputs() const { return inputs_; }
  // Makes the call, on memory where these tensors begin. Adds memory of the
  // tensors that it gives to `values`, and all that code sees of its results
  // without reading elements to `seen`. Thread-safe.
  virtual void run(ArrayRef<Memory> inputs, std::vector<Storage>* values,
                   std::vector<uint64_t>* seen) = 0;
  // "item", "aten::nonzero [4, 2]": the call with its numbers; equal for equal
  // captures.
  virtual std::string text() const = 0;
  // "512", "[3, 2]": what run() has seen.
  virtual std::string text_of(ArrayRef<uint64_t> seen) const = 0;

 protected:
  std::vector<Input> inputs_;

 private:
  virtual void* reserved0() { return nullptr; }
  virtual void* reserved1() { return nullptr; }
};

// A part of a capture that ended with a look.
struct Piece {
  std::unique_ptr<Graph> graph;
  std::unique_ptr<Look> look;
  std::vector<uint64_t> seen;
  // The tensors that the inputs of the graph and of the look were.
  std::vector<Tensor> graph_tensors, look_tensors;
  // The storages of the graph's values, then of the look's. Later pieces may
  // read and write them.
  std::vector<weak_intrusive_ptr<StorageImpl>> values;
};

struct Graphs {
  std::unique_ptr<Graph> forward;
  // nullptr unless gradients were asked for. Its results are those.
  std::unique_ptr<Graph> backward;
  // The operator that made a tensor which is no result, but lives on; "" if
  // there is none. A graph with such a tensor must not run again.
  std::string escaped;
  // The tensors that the inputs of `forward` were first seen as.
  std::vector<Tensor> seen;
};

// .grad of a tensor is about to be read or set.
class SY_API GradListener {
 public:
  virtual ~GradListener();
  virtual void on_grad(const intrusive_ptr<TensorImpl>& t) = 0;
  // Gets all notes but acts, which are breaks.
  virtual void on_note(const CaptureNote& note) = 0;
};

// Records calls of the thread that made it, from then on until it is destroyed.
// Only that thread may use it. When it is destroyed, everything that lives on
// has memory.
class SY_API Recorder {
 public:
  virtual ~Recorder();

  // Names a tensor that may be an input; returns its number: 0, 1, 2.
  virtual int add_input(const Tensor& t) = 0;
  virtual const std::vector<Break>& breaks() const = 0;
  virtual void add_break(std::string reason) = 0;
  // A look is from now on a break like others: its piece becomes no graph.
  virtual void stop_looks() = 0;
  // Takes the pieces that came before the last look, if all breaks are looks.
  virtual std::vector<Piece> take_pieces() = 0;
  // Whether the memory of `t` was there before the capture.
  virtual bool is_outer(const Tensor& t) = 0;
  // Whether a recorded call writes that memory.
  virtual bool is_written(const Tensor& t) = 0;
  // All tensors of memory that was there before which calls were given, since a
  // piece has ended.
  virtual const std::vector<Tensor>& sighted() const = 0;
  // Ends the piece, as a break, if one of these cannot be a result.
  virtual void check_results(TensorList results) = 0;
  // The graph that computes `results`, and what was written; and the one that
  // computes `gradients` from what that leaves. Runs the forward graph once:
  // `values` are its values. Call it once, without breaks; the recorder records
  // no more. Throws what a kernel throws.
  virtual Graphs finish(TensorList results, TensorList gradients,
                        std::vector<Storage>* values) = 0;
  // Computes everything, without a graph. Throws what a kernel throws.
  virtual void flush() = 0;
};

class SY_API Engine {
 public:
  virtual ~Engine();
  // nullptr if calls on that device cannot be recorded. `backend` runs the
  // graphs: "jit", "interpret", "debug", or a name of graph::add_compiler().
  // Throws ValueError for another name.
  virtual std::unique_ptr<Recorder> record(Device device,
                                           GradListener* listener,
                                           std::string_view backend) = 0;

 private:
  virtual void* reserved0() { return nullptr; }
  virtual void* reserved1() { return nullptr; }
  virtual void* reserved2() { return nullptr; }
  virtual void* reserved3() { return nullptr; }
};

// The engine of whichever backend has one; nullptr without.
SY_API Engine* engine() noexcept;

}  // namespace sy::capture
