#pragma once

#include <cstddef>
#include <vector>

#include "frontend/compile/variant.h"

// The places where a replay finds what a capture has seen.

namespace sy::compiling {

// A tensor whose .grad the call has read or set.
struct Touched {
  Tensor leaf, before;
  TensorGuard guard;
  Tensor after;
  TensorPlace place;
};

// The tensor that a chain of views began with: a leaf that requires a gradient,
// or no view.
Tensor root_of(const Tensor& t);

// Fills a variant. Steps come first, in their order; then .grad; then the rest.
class Binder {
 public:
  Binder(const Arguments& a, std::vector<Touched>* touched, Variant* v);

  // Takes the graph and the tensors of the piece.
  void add_step(capture::Piece* p, Device device);
  void add_grads();
  // `of`: what these tensors are inputs of.
  void bind_inputs(const std::vector<Tensor>& seen,
                   const std::vector<capture::Input>& of,
                   std::vector<BoundInput>* to);
  void describe_outputs(const Outputs& outputs);
  // `next`: the first result of the graph that is a .grad.
  void describe_grads(size_t next);

 private:
  int argument(const Tensor& t) const;
  TensorPlace place_of_outer(const Tensor& t);
  TensorPlace place_of_leaf(const Tensor& t);
  bool find_value(const Tensor& t, TensorPlace* place) const;
  TensorPlace place_of(const Tensor& t);
  bool is_read(TensorPlace grad) const;
  const Tensor& tensor_at(TensorPlace p) const;

  const Arguments& arguments_;
  std::vector<Touched>& touched_;
  Variant& v_;
  // The values that the steps so far have made.
  std::vector<std::vector<weak_intrusive_ptr<StorageImpl>>> values_;
};

}  // namespace sy::compiling
