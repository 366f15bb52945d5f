#include "tools/sy/device/device_gradients.h"

#include <algorithm>
#include <vector>

#include "aten/backend/cpu_fallback.h"
#include "aten/from_blob.h"
#include "aten/operators.h"
#include "autograd/api.h"
#include "c10/process/error.h"
#include "tools/sy/calls/device_arguments.h"
#include "tools/sy/cases/compare.h"
#include "tools/sy/cases/tensors.h"

namespace sy::tools {

namespace {

bool has_gradient(const TensorBase& t) {
  return t.defined() && (t.dtype() == kFloat || t.dtype() == kDouble);
}

// The tolerance for roundings in a gradient of that dtype, of a call with
// tensors of others.
double tolerance_of(ScalarType dtype, const std::vector<Value>& values) {
  double t = dtype == kDouble ? 1e-8 : 1e-3;
  for (const Value& v : values) {
    for_each_tensor(v, [&](const TensorBase& a) {
      if (a.defined() && a.dtype() == kFloat) t = std::max(t, 1e-5);
      if (a.defined() && a.dtype() == kHalf) t = std::max(t, 1e-2);
      if (a.defined() && a.dtype() == kBFloat16) t = std::max(t, 5e-2);
    });
  }
  return t;
}

// Numbers that differ, so that what sums them does not hide a wrong place.
Tensor cotangent_like(const Tensor& result) {
  std::vector<double> values(static_cast<size_t>(result.numel()));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = 0.25 + 0.125 * static_cast<double>(i % 11);
  }
  return sy::from_blob(values.data(), result.sizes(), kDouble)
      .to(result.scalar_type(), /*non_blocking=*/false, /*copy=*/true);
}

// One call with leaves for arguments, and what its results depend on.
class Recorded {
 public:
  // `values` are its own: no tensor requires a gradient yet.
  Recorded(OperatorHandle op, std::vector<Value> values)
      : values_(std::move(values)) {
    const AutoGradMode recording(true);
    for (const Value& v : values_) {
      for_each_tensor(v, [&](const TensorBase& t) {
        if (!has_gradient(t)) return;
        leaves_.emplace_back(t);
        leaves_.back().requires_grad_();
      });
    }
    std::vector<Value> out(op.schema().returns().size());
    op.call_boxed(values_.data(), values_.size(), out.data(), out.size());
    for (const Value& v : out) {
      for_each_tensor(v,
                      [&](const TensorBase& t) { results_.emplace_back(t); });
    }
  }

  size_t size() const { return results_.size(); }
  bool depends(size_t i) const {
    return results_[i].defined() && results_[i].requires_grad();
  }
  const Tensor& result(size_t i) const { return results_[i]; }

  const std::vector<Value>& values() const { return values_; }

  // `by_operators`: not by one program, which takes more dtypes than some
  // operators of a formula do.
  std::vector<Tensor> gradients(const std::vector<Tensor>& cotangents,
                                bool by_operators = false) const {
    std::vector<Tensor> outputs;
    for (size_t i = 0; i < size(); ++i) {
      if (depends(i)) outputs.push_back(results_[i]);
    }
    return autograd::grad(outputs, leaves_, cotangents, /*retain_graph=*/false,
                          /*create_graph=*/by_operators,
                          /*allow_unused=*/true);
  }

 private:
  std::vector<Value> values_;
  std::vector<Tensor> leaves_, results_;
};

// Whether the formula itself refuses these dtypes, as `1 - mask` does.
bool refused_by_operators(OperatorHandle op, const Arguments& in,
                          const std::vector<Tensor>& cotangents) {
  try {
    Recorded(op, in.values).gradients(cotangents, /*by_operators=*/true);
    return false;
  } catch (const InternalError&) {
    throw;
  } catch (const Error&) {
    return true;
  }
}

bool is_finite(const Tensor& t) {
  return !is_floating_type(t.scalar_type()) || t.isfinite().all().item<bool>();
}

bool agree(const Tensor& a, const Tensor& b, double tolerance) {
  return compare_tensor(read_tensor(a.to(kDouble)), read_tensor(b.to(kDouble)),
                        {tolerance, tolerance})
      .empty();
}

// Whether the CPU's gradient i says what a device must give: it is finite if
// all arguments are, the same by one program and by operators, and almost the
// same for arguments that almost are. The gradient of factors of nearly
// singular matrices is not.
bool is_determined(OperatorHandle op,
                   const std::function<Arguments()>& arguments,
                   const std::vector<Tensor>& cotangents, size_t i,
                   const Tensor& expected, double tolerance) {
  Arguments near = arguments();
  bool finite = true;
  for (const NamedTensor& t : near.tensors) {
    finite &= !t.tensor.defined() || is_finite(Tensor(t.tensor));
  }
  if (finite && !is_finite(expected)) return false;
  change_tensors(op.schema(), moved_a_little, near);
  std::vector<Tensor> wide;
  for (const Tensor& c : cotangents) wide.push_back(c.to(kDouble));
  try {
    const Tensor by_operators =
        Recorded(op, arguments().values).gradients(cotangents, true)[i];
    return agree(expected, by_operators.detach(), tolerance) &&
           agree(expected, Recorded(op, near.values).gradients(wide)[i],
                 tolerance / 10);
  } catch (const InternalError&) {
    throw;
  } catch (const Error&) {
    return true;
  }
}

std::string compare(OperatorHandle op,
                    const std::function<Arguments()>& arguments,
                    Device device) {
  std::vector<Tensor> expected, cotangents;
  std::vector<bool> depends;
  try {
    const Recorded here(op, arguments().values);
    for (size_t i = 0; i < here.size(); ++i) {
      depends.push_back(here.depends(i));
      if (depends[i]) cotangents.push_back(cotangent_like(here.result(i)));
    }
    if (cotangents.empty()) return "";
    expected = here.gradients(cotangents);
  } catch (const InternalError&) {
    throw;
  } catch (const Error&) {
    return "";
  }
  const Recorded there(op, moved(op, arguments(), device));
  std::vector<Tensor> moved_cotangents;
  for (size_t i = 0; i < there.size(); ++i) {
    if (there.depends(i) != depends[i]) {
      return str("returns[{}]: expected {} gradient to be recorded, got {}", i,
                 depends[i] ? "a" : "no", depends[i] ? "none" : "one");
    }
  }
  for (const Tensor& c : cotangents) {
    moved_cotangents.emplace_back(copy_to(device, c));
  }
  std::vector<Tensor> actual;
  try {
    actual = there.gradients(moved_cotangents);
  } catch (const InternalError&) {
    throw;
  } catch (const Error&) {
    if (!refused_by_operators(op, arguments(), cotangents)) throw;
    return "";
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    if (actual[i].defined() != expected[i].defined()) {
      return str("gradient {}: expected {}, got {}", i,
                 expected[i].defined() ? "one" : "none",
                 actual[i].defined() ? "one" : "none");
    }
    if (!expected[i].defined()) continue;
    if (actual[i].device().type() != device.type()) {
      return str("gradient {}: device: expected {}, got {}", i, device,
                 actual[i].device());
    }
    const double t = tolerance_of(expected[i].scalar_type(), there.values());
    const std::string why = compare_tensor(read_tensor(actual[i]),
                                           read_tensor(expected[i]), {t, t});
    if (!why.empty() &&
        is_determined(op, arguments, cotangents, i, expected[i], t)) {
      return str("gradient {}: {}", i, why);
    }
  }
  return "";
}

}  // namespace

std::string compare_device_gradients(
    OperatorHandle op, const std::function<Arguments()>& arguments,
    Device device) {
  const OperatorEntry& e = op.entry();
  if (!op.schema().is_functional() ||
      !e.has_flag(OperatorDef::kDifferentiable) ||
      e.has_flag(OperatorDef::kRandom)) {
    return "";
  }
  const std::vector<FallbackCount> before = fallback_counts();
  const std::string why = compare(op, arguments, device);
  const auto counted = [&](const FallbackCount& f) {
    return f.op == op.name();
  };
  // The caller asks whether the call itself ran on the CPU.
  if (std::none_of(before.begin(), before.end(), counted)) {
    reset_fallback_counts();
  }
  return why;
}

}  // namespace sy::tools
