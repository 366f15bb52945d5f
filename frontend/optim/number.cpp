#include "frontend/optim/number.h"

#include <cmath>

#include "aten/ops/factory.h"

namespace sy::optim {

namespace {

Tensor like(const Number& n, const Tensor& other) {
  return n.is_tensor() ? n.tensor() : full_like(other, n.known());
}

}  // namespace

double Number::value() const {
  return is_tensor() ? tensor_.item<double>() : value_;
}

void Number::set(const Number& to) {
  if (is_tensor()) {
    if (to.is_tensor()) {
      tensor_.copy_(to.tensor_);
    } else {
      tensor_.fill_(to.value_);
    }
  } else {
    *this = to;
  }
}

Number operator+(const Number& a, const Number& b) {
  if (!a.is_tensor() && !b.is_tensor()) return a.known() + b.known();
  if (!b.is_tensor()) return Number(a.tensor().add(b.known()));
  if (!a.is_tensor()) return Number(b.tensor().add(a.known()));
  return Number(a.tensor().add(b.tensor()));
}

Number operator-(const Number& a) {
  return a.is_tensor() ? Number(a.tensor().neg()) : Number(-a.known());
}

Number operator-(const Number& a, const Number& b) { return a + -b; }

Number operator*(const Number& a, const Number& b) {
  if (!a.is_tensor() && !b.is_tensor()) return a.known() * b.known();
  if (!b.is_tensor()) return Number(a.tensor().mul(b.known()));
  if (!a.is_tensor()) return Number(b.tensor().mul(a.known()));
  return Number(a.tensor().mul(b.tensor()));
}

Number operator/(const Number& a, const Number& b) {
  if (!a.is_tensor() && !b.is_tensor()) return a.known() / b.known();
  if (!b.is_tensor()) return Number(a.tensor().div(b.known()));
  if (!a.is_tensor()) return Number(b.tensor().reciprocal().mul(a.known()));
  return Number(a.tensor().div(b.tensor()));
}

Number pow(const Number& a, const Number& b) {
  if (!a.is_tensor() && !b.is_tensor()) return std::pow(a.known(), b.known());
  if (!b.is_tensor()) return Number(a.tensor().pow(b.known()));
  return Number(like(a, b.tensor()).pow(b.tensor()));
}

Number sqrt(const Number& a) {
  return a.is_tensor() ? Number(a.tensor().sqrt()) : std::sqrt(a.known());
}

Number max(const Number& a, double b) {
  return a.is_tensor() ? Number(a.tensor().clamp_min(b))
                       : std::max(a.known(), b);
}

Number where_greater(const Number& x, double bound, const Number& a,
                     const Number& b) {
  if (!x.is_tensor()) return x.known() > bound ? a : b;
  const Tensor& t = x.tensor();
  return Number(like(a, t).where(t.gt(bound), like(b, t)));
}

}  // namespace sy::optim
