#pragma once

#include <string_view>
#include <vector>

#include "aten/tensor.h"
#include "c10/tensor/value.h"
#include "lang/primitives.h"

namespace sy {

// Computes the primitives of element programs with operators: with one operator
// if lang/primitive_operators.h names it, else with a few other
// primitives. Operands have the compute dtype, or bool where the primitive
// takes bool. They broadcast.
class SY_API PrimitiveCalls {
 public:
  PrimitiveCalls(ScalarType compute, Device device)
      : compute_(compute), device_(device) {}

  Tensor run(lang::Prim p, const Tensor& a, const Tensor& b = {},
             const Tensor& c = {}) const;
  // A tensor without dims.
  Tensor number(const Scalar& value, ScalarType dtype) const;
  Tensor number(const Scalar& value) const { return number(value, compute_); }

 private:
  Tensor arithmetic(lang::Prim p, const Tensor& a, const Tensor& b,
                    const Tensor& c) const;
  Tensor rounded(lang::Prim p, const Tensor& a) const;
  Tensor comparison(lang::Prim p, const Tensor& a, const Tensor& b) const;
  Tensor logical(lang::Prim p, const Tensor& a, const Tensor& b) const;
  Tensor integer(lang::Prim p, const Tensor& a, const Tensor& b) const;
  Tensor power(lang::Prim p, const Tensor& a) const;
  Tensor hyperbolic(lang::Prim p, const Tensor& a) const;
  Tensor trigonometric(lang::Prim p, const Tensor& a) const;
  Tensor special(lang::Prim p, const Tensor& a, const Tensor& b) const;

  Tensor select(const Tensor& where, const Tensor& a, const Tensor& b) const;
  Tensor truth(const Tensor& a) const;

  ScalarType compute_;
  Device device_;
};

// Calls an operator by its name in aten. It has one result.
SY_API Tensor call_operator(std::string_view name, std::vector<Value> args);

}  // namespace sy
