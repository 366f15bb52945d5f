#pragma once

#include "aten/tensor.h"

namespace sy::optim {

// A number of an update: known here, or, in steps that may be captured, a
// tensor of no dims. Arithmetic gives a tensor if an operand is one.
class Number {
 public:
  Number(double value = 0) : value_(value) {}
  explicit Number(Tensor tensor) : tensor_(std::move(tensor)) {}

  bool is_tensor() const { return tensor_.defined(); }
  const Tensor& tensor() const { return tensor_; }
  // Reads the tensor, if it is one.
  double value() const;
  double known() const { return value_; }

  // A tensor is written in place, so that all that share it follow.
  void set(const Number& to);

 private:
  double value_ = 0;
  Tensor tensor_;
};

Number operator+(const Number& a, const Number& b);
Number operator-(const Number& a, const Number& b);
Number operator*(const Number& a, const Number& b);
Number operator/(const Number& a, const Number& b);
Number operator-(const Number& a);
Number pow(const Number& a, const Number& b);
Number sqrt(const Number& a);
Number max(const Number& a, double b);
// a where the condition x > bound holds, else b.
Number where_greater(const Number& x, double bound, const Number& a,
                     const Number& b);

}  // namespace sy::optim
