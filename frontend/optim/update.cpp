#include "frontend/optim/update.h"

#include "aten/ops/factory.h"
#include "aten/ops/foreach.h"
#include "aten/ops/foreach_arithmetic.h"

namespace sy::optim {

Tensor UpdateRule::make_state(int, const OptimizerOptions&,
                              const Tensor& param) const {
  return zeros_like(param.detach());
}

double UpdateRule::first_number(int, const OptimizerOptions&) const {
  return 0;
}

Update::Update(Bucket& bucket, Number lr)
    : bucket_(bucket),
      lr_(std::move(lr)),
      lists_(2 + static_cast<int>(bucket.states.size())) {}

int Update::push(Op op, int out, int x, int a, int b, const Number& number) {
  if (out < 0) out = lists_++;
  calls_.push_back({op, static_cast<int8_t>(out), static_cast<int8_t>(x),
                    static_cast<int8_t>(a), static_cast<int8_t>(b), number});
  return out;
}

Number Update::input(const double& option) {
  if (from_ == nullptr || !from_->varies(option)) return option;
  taken_->push_back(&option);
  return Number(from_->number_tensor(option, bucket_.params[0].device()));
}

int Update::gradient(bool maximize, const double& weight_decay) {
  int g = kGrad;
  if (maximize) g = neg(g);
  if (weight_decay != 0) g = add(g, kParam, input(weight_decay));
  return g;
}

void Update::lerp_(int x, int end, const Number& weight) {
  push(kLerp, x, x, end, -1, weight);
}
void Update::scale_(int x, const Number& factor) {
  push(kMulNumber, x, x, -1, -1, factor);
}
void Update::mul_(int x, int other) { push(kMul, x, x, other, -1, 0); }
void Update::div_(int x, int other) { push(kDiv, x, x, other, -1, 0); }
void Update::add_(int x, const Number& number) {
  push(kAddNumber, x, x, -1, -1, number);
}
void Update::add_(int x, int other, const Number& alpha) {
  push(kAdd, x, x, other, -1, alpha);
}
void Update::addcmul_(int x, int a, int b, const Number& value) {
  push(kAddcmul, x, x, a, b, value);
}
void Update::addcdiv_(int x, int a, int b, const Number& value) {
  push(kAddcdiv, x, x, a, b, value);
}
void Update::sqrt_(int x) { push(kSqrt, x, x, -1, -1, 0); }
void Update::maximum_(int x, int other) { push(kMaximum, x, x, other, -1, 0); }
void Update::copy_(int x, int from) { push(kCopy, x, from, -1, -1, 0); }

int Update::neg(int x) { return push(kNeg, -1, x, -1, -1, 0); }
int Update::abs(int x) { return push(kAbs, -1, x, -1, -1, 0); }
int Update::sqrt(int x) { return push(kSqrt, -1, x, -1, -1, 0); }
int Update::add(int x, const Number& number) {
  return push(kAddNumber, -1, x, -1, -1, number);
}
int Update::add(int x, int other, const Number& alpha) {
  return push(kAdd, -1, x, other, -1, alpha);
}
int Update::scaled(int x, const Number& factor) {
  return push(kMulNumber, -1, x, -1, -1, factor);
}
int Update::addcmul(int x, int a, int b, const Number& value) {
  return push(kAddcmul, -1, x, a, b, value);
}

void Update::run() {
  if (calls_.empty()) return;
  if (!run_fused()) run_lists();
  calls_.clear();
}

namespace {

using List = std::vector<Tensor>;

// An operator on lists as a fresh result or, if `to` is given, in place.
#define SY_FOREACH(name, ...)             \
  if (to != nullptr) {                    \
    _foreach_##name##_(*to, __VA_ARGS__); \
    return {};                            \
  }                                       \
  return _foreach_##name(x, __VA_ARGS__)
#define SY_FOREACH_UNARY(name) \
  if (to != nullptr) {         \
    _foreach_##name##_(*to);   \
    return {};                 \
  }                            \
  return _foreach_##name(x)

List call(const Update::Call& c, const List& x, const List* a, const List* b,
          const List* to) {
  const bool tensor = c.number.is_tensor();
  const double number = c.number.known();
  // The operators take a number that is a tensor as a factor only.
  List scaled;
  if (tensor && c.op == Update::kLerp) {
    scaled = _foreach_mul(_foreach_sub(*a, x), c.number.tensor());
    a = &scaled;
    SY_FOREACH(add, *a, 1);
  }
  if (tensor && a != nullptr) {
    scaled = _foreach_mul(*a, c.number.tensor());
    a = &scaled;
  }
  const double factor = tensor ? 1 : number;
  switch (c.op) {
    case Update::kLerp: SY_FOREACH(lerp, *a, number);
    case Update::kMulNumber:
      if (tensor) {
        SY_FOREACH(mul, c.number.tensor());
      } else {
        SY_FOREACH(mul, number);
      }
    case Update::kMul: SY_FOREACH(mul, *a);
    case Update::kDiv: SY_FOREACH(div, *a);
    case Update::kAddNumber:
      if (tensor) {
        SY_FOREACH(add, c.number.tensor());
      } else {
        SY_FOREACH(add, number);
      }
    case Update::kAdd: SY_FOREACH(add, *a, factor);
    case Update::kAddcmul: SY_FOREACH(addcmul, *a, *b, factor);
    case Update::kAddcdiv: SY_FOREACH(addcdiv, *a, *b, factor);
    case Update::kSqrt: SY_FOREACH_UNARY(sqrt);
    case Update::kMaximum: SY_FOREACH(maximum, *a);
    case Update::kNeg: SY_FOREACH_UNARY(neg);
    case Update::kAbs: SY_FOREACH_UNARY(abs);
    case Update::kCopy: break;
  }
  if (to == nullptr) return _foreach_clone(x);
  _foreach_copy_(*to, x);
  return {};
}

#undef SY_FOREACH
#undef SY_FOREACH_UNARY

}  // namespace

// With `differentiable`, every result is fresh, since the graph keeps what it
// was made of; parameters are written last.
void Update::run_lists() {
  Bucket& b = bucket_;
  std::vector<List> results(static_cast<size_t>(lists_));
  const auto list = [&](int i) -> const List* {
    if (i < 0) return nullptr;
    const auto k = static_cast<size_t>(i);
    if (!results[k].empty()) return &results[k];
    return i == kParam ? &b.params : i == kGrad ? &b.grads : &b.states[k - 2];
  };
  for (const Call& c : calls_) {
    const auto out = static_cast<size_t>(c.out);
    const bool kept = c.out < 2 + static_cast<int>(b.states.size());
    const bool in_place = !b.differentiable && (kept || c.out == c.x);
    const List* const to = in_place ? list(c.out) : nullptr;
    List result = call(c, *list(c.x), list(c.a), list(c.b), to);
    if (!in_place) results[out] = std::move(result);
  }
  if (!b.differentiable) return;
  for (size_t k = 0; k < b.states.size(); ++k) {
    if (!results[2 + k].empty()) b.states[k] = std::move(results[2 + k]);
  }
  if (!results[kParam].empty()) _foreach_copy_(b.params, results[kParam]);
}

}  // namespace sy::optim
