#pragma once

#include <vector>

#include "aten/backend/region.h"
#include "frontend/optim/number.h"
#include "frontend/optim/options.h"

// The update of a bucket: parameters of a group that have gradients, and the
// same dtype, device, number of steps and kinds of state. An optimizer writes
// its formula once, over the lists of a bucket. Then a bucket runs it as one
// region for each parameter, or as _foreach_ operators: while something records
// calls, for numbers that are tensors, and where no backend runs regions.

namespace sy::optim {

// The data that a bucket keeps from step to step.
struct Bucket {
  std::vector<Tensor> params, grads;
  std::vector<std::vector<Tensor>> states;  // by kind, then by parameter
  std::vector<Number> numbers;
  // Bit k: states of kind k are there; were made for this step.
  uint32_t present = 0, made = 0;
  bool differentiable = false;

  // The region that ran last, and what it was made of.
  struct Fused {
    std::vector<const void*> programs;
    std::vector<uint32_t> calls;
    std::vector<int> inputs, outputs;  // lists
    RegionHandle handle;
  };
  Fused fused;
};

// Lists are numbers: kParam, kGrad, state(k), and results.
class Update {
 public:
  static constexpr int kParam = 0, kGrad = 1;

  Update(Bucket& bucket, Number lr);
  Update(const Update&) = delete;

  int state(int kind) const { return 2 + kind; }
  // Whether the state was made for this step.
  bool is_new(int kind) const { return (bucket_.made >> kind & 1) != 0; }
  const Number& lr() const { return lr_; }
  // A number that is kept; writing to it takes effect at once.
  Number& number(int k) { return bucket_.numbers[static_cast<size_t>(k)]; }

  // A number of the options, by its place in them: a tensor in captured steps,
  // if it varies.
  Number input(const double& option);
  // Sets the options that inputs come from, and the list of inputs that there
  // were.
  void take_inputs(OptimizerOptions* from, std::vector<const double*>* taken) {
    from_ = from;
    taken_ = taken;
  }

  // The gradient, negated for `maximize`, plus weight_decay * parameter; the
  // latter is an option or 0.
  int gradient(bool maximize, const double& weight_decay);
  // parameter *= factor.
  void shrink(const Number& factor) { scale_(kParam, factor); }

  // These write x.
  void lerp_(int x, int end, const Number& weight);
  void scale_(int x, const Number& factor);
  void mul_(int x, int other);
  void div_(int x, int other);
  void add_(int x, const Number& number);
  void add_(int x, int other, const Number& alpha);
  void addcmul_(int x, int a, int b, const Number& value);
  void addcdiv_(int x, int a, int b, const Number& value);
  void sqrt_(int x);
  void maximum_(int x, int other);
  void copy_(int x, int from);
  // These return a list.
  int neg(int x);
  int abs(int x);
  int sqrt(int x);
  int add(int x, const Number& number);
  int add(int x, int other, const Number& alpha);
  int scaled(int x, const Number& factor);
  int addcmul(int x, int a, int b, const Number& value);

  // Runs what was said so far. Then lists can be read: for updates that need
  // more than the above.
  void run();
  Bucket& bucket() { return bucket_; }

  enum Op : uint8_t {
    kLerp,
    kMulNumber,
    kMul,
    kDiv,
    kAddNumber,
    kAdd,
    kAddcmul,
    kAddcdiv,
    kSqrt,
    kMaximum,
    kCopy,
    kNeg,
    kAbs,
  };
  // out = op(x, a, b, number); -1: no such operand.
  struct Call {
    Op op;
    int8_t out, x, a, b;
    Number number;
  };

 private:
  int push(Op op, int out, int x, int a, int b, const Number& number);
  bool run_fused();
  void run_lists();

  Bucket& bucket_;
  Number lr_;
  OptimizerOptions* from_ = nullptr;
  std::vector<const double*>* taken_ = nullptr;
  int lists_;
  std::vector<Call> calls_;
};

// An optimizer apart from its options. It has no state; there is one object of
// each class. `options` are those of the optimizer.
class UpdateRule {
 public:
  struct Names {
    std::vector<const char*> tensors, numbers;
  };
  virtual ~UpdateRule() = default;
  // The kinds of state, and the numbers.
  virtual const Names& names() const = 0;
  // Bit k: a parameter has state of kind k.
  virtual uint32_t wanted(const OptimizerOptions& options,
                          const Tensor& param) const = 0;
  // The first state; by default zeros like the parameter.
  virtual Tensor make_state(int kind, const OptimizerOptions& options,
                            const Tensor& param) const;
  virtual double first_number(int k, const OptimizerOptions& options) const;
  virtual void update(const OptimizerOptions& options, Update& u) const = 0;
};

}  // namespace sy::optim
