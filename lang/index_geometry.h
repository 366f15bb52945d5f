#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lang/index_eval.h"

// The functions on lists that index expressions call, and the errors that they
// report. Private to index_eval.

namespace sy::lang {

class IndexGeometry {
 protected:
  using Int = std::int64_t;
  using List = std::vector<Int>;

  explicit IndexGeometry(std::string_view op)
      : op_("[" + std::string(op) + "] ") {}

  [[noreturn]] void fail(const std::string& message) const;
  static Int integer(const IndexValue& v) {
    return std::holds_alternative<bool>(v) ? Int{std::get<bool>(v)}
                                           : std::get<Int>(v);
  }
  static double number(const IndexValue& v) {
    return std::holds_alternative<double>(v) ? std::get<double>(v)
                                             : static_cast<double>(integer(v));
  }
  Int floor_div(Int a, Int b) const;
  Int wrap_index(Int i, Int n) const;
  Int wrap_dim(Int d, Int ndim) const;
  static Int size(const List& l) { return static_cast<Int>(l.size()); }
  static auto at(List& l, Int i) { return l.begin() + i; }
  static Int product(const List& l) {
    Int p = 1;
    for (Int v : l) p *= v;
    return p;
  }
  static List contiguous(const List& sizes);
  Int of_dim(const List& l, Int dim) const;
  bool contains_dim(const List& dims, Int dim, Int ndim) const;
  List without(const List& a, const List& dims) const;
  List permutation(const List& dims, Int ndim) const;
  List permuted(List& a, const List& dims) const;
  List inverse_permutation(const List& dims) const;
  static bool is_expandable_to(const List& sizes, const List& wanted);
  List expand_sizes(const List& sizes, List wanted) const;
  List expand_strides(const List& sizes, const List& strides,
                      const List& wanted) const;
  List diagonal_sizes(List& sizes, Int offset, Int dim1, Int dim2) const;
  List unfold_sizes(List sizes, Int dim, Int length, Int step) const;
  List window_counts(const List& sizes, const List& kernel, const List& stride,
                     const List& padding, const List& dilation) const;
  // n numbers of at least `least` from n or one.
  List window_numbers(const char* argument, List list, Int n, Int least) const;
  List pooled_sizes(Int n, const List& sizes, List kernel, List stride,
                    List padding, List dilation, bool ceil_mode) const;
  void positive_step(Int step) const;
  List reduced_sizes(const List& sizes, const IndexValue& dims,
                     bool keepdim) const;
  IndexValue cat_sizes(const std::vector<TensorMeta>& tensors, Int dim) const;
  Int slice_bound(const IndexValue& v, Int otherwise, Int n) const;
  static std::string text(const List& l);
  List wrap_dims(const List& dims, Int ndim) const;
  List infer_size(List sizes, Int numel) const;
  List broadcast(const List& a, const List& b) const;
  // Dims that lie in memory as one are one chunk, from the last dim on; new
  // sizes must fill each chunk exactly.
  List view_strides(const List& sizes, const List& strides,
                    const List& wanted) const;
  [[noreturn]] void no_view(const List& sizes, const List& strides,
                            const List& wanted) const;

  const std::string op_;
};

}  // namespace sy::lang
