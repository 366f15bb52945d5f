#include "tools/sy/device/device_trials.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "aten/tensor.h"
#include "c10/device/backend.h"
#include "c10/device/stream.h"
#include "c10/process/error.h"
#include "tools/sy/calls/axes.h"
#include "tools/sy/calls/device_arguments.h"
#include "tools/sy/cases/compare.h"
#include "tools/sy/device/bounds.h"
#include "tools/sy/device/device_gradients.h"
#include "tools/sy/device/red_zones.h"
#include "tools/sy/device/repeated.h"

namespace sy::tools {

namespace {

// The tolerance for one rounding more or less.
double tolerance_of(ScalarType dtype) {
  switch (dtype) {
    case kDouble: return 1e-9;
    case kFloat: return 1e-4;
    case kHalf: return 1e-2;
    case kBFloat16: return 5e-2;
    default: return 0;
  }
}

class OnDevice final : public CallTrials {
 public:
  OnDevice(OperatorHandle op, std::shared_ptr<const Calls> calls, Device device,
           bool gradients, bool claimed)
      : CallTrials(op, std::move(calls)),
        device_(device),
        gradients_(gradients),
        bounded_(claimed && !gives_factors(op)) {}

 private:
  std::string problem(size_t i, CaseResult& result) const override {
    Arguments in = arguments(i);
    std::vector<Value> there = moved(op(), in, device_);
    // Results are not where tensors are that stand for numbers.
    const bool asks = in.tensors.empty() || op().schema().self_index() < 0;
    const bool asked = asks && ask_for_device(there);
    if (in.tensors.empty() && !asked) {
      result.skipped = "no tensor and no device among the arguments";
      return "";
    }
    std::vector<Value> expected;
    try {
      expected = call(in.values);
    } catch (const InternalError&) {
      throw;
    } catch (const Error&) {
      result.skipped = "refused by the CPU";
      return "";
    }
    if (any_pinned(expected)) return try_pinned(expected, there);
    const std::string name = id(i);
    const std::string_view axis = axis_of(name);
    if (axis == "repetition") return call_often(op(), there);
    if (axis == "threads") {
      return call_at_once(op(), [&](int thread) {
        std::vector<Value> own =
            moved(op(), scaled(arguments(i), thread), device_);
        if (asks) ask_for_device(own);
        return own;
      });
    }
    if (axis == "magnitude" && overflows(i, expected)) {
      result.skipped = "whole numbers beyond their dtype";
      return "";
    }
    return judge(i, in.values, expected, there, axis.empty());
  }

  // Whether whole numbers among the results do not fit: no result is right.
  bool overflows(size_t i, const std::vector<Value>& results) const {
    bool found = false;
    size_t at = 0;
    std::vector<TensorBase> exact;
    for (const Value& v : results) {
      for_each_tensor(v, [&](const TensorBase& t) {
        if (!t.defined() || !is_integral_type(t.dtype(), false)) return;
        if (exact.empty()) exact = results_in_float64(i);
        if (at >= exact.size()) return;
        const double most =
            std::ldexp(1.0, static_cast<int>(element_size(t.dtype())) * 8 - 1);
        const HostTensor h = read_tensor(exact[at++]);
        for (int64_t e : element_indices(h.sizes, h.strides, h.offset)) {
          found |= !(std::abs(element_value(h, e)) < most);
        }
      });
    }
    return found;
  }

  // The results in float64; nothing if the operator does not take it.
  std::vector<TensorBase> results_in_float64(size_t i) const {
    Arguments in = arguments(i);
    change_tensors(
        op().schema(), [](const Tensor& t) { return t.to(kDouble); }, in);
    std::vector<TensorBase> out;
    try {
      for (const Value& v : call(in.values)) {
        for_each_tensor(v, [&](const TensorBase& t) { out.push_back(t); });
      }
    } catch (const Error&) {
      out.clear();
    }
    return out;
  }

  // Makes call i on the device. `here` and `expected` are its arguments and
  // results on the CPU, after the call there.
  std::string judge(size_t i, const std::vector<Value>& here,
                    const std::vector<Value>& expected,
                    std::vector<Value>& there, bool with_gradients) const {
    broken_zone();
    const std::vector<Value> actual = call(there);
    std::string why = broken_zone();
    if (!why.empty()) return why;
    Bounds bounds(op(), [this, i] { return arguments(i); });
    why = compare_results(i, bounds, actual, expected);
    if (why.empty()) {
      why = compare_arguments(bounds, expected.size(), there, here);
    }
    if (why.empty()) why = compare_rest(here, there);
    if (!why.empty() || !op().schema().is_functional()) return why;
    if (aliases(actual, there) && !aliases(expected, here)) {
      return "the result shares memory with an argument";
    }
    if (!gradients_ || !with_gradients) return "";
    return compare_device_gradients(
        op(), [&] { return arguments(i); }, device_);
  }

  std::string compare_results(size_t i, Bounds& bounds,
                              const std::vector<Value>& actual,
                              const std::vector<Value>& expected) const {
    for (size_t k = 0; k < expected.size(); ++k) {
      const bool stays = on_host(op()).result == static_cast<int>(k);
      const std::string why = compare(bounds, k, actual[k], expected[k],
                                      stays ? Device(kCPU) : device_);
      if (why.empty()) continue;
      if (!bounded_ && is_ill_conditioned(i, k, actual[k], expected[k])) {
        continue;
      }
      return str("returns[{}]: {}", k, why);
    }
    return "";
  }

  // `first`: the number of results, which the bounds count first.
  std::string compare_arguments(Bounds& bounds, size_t first,
                                const std::vector<Value>& there,
                                const std::vector<Value>& here) const {
    for (size_t k = 0; k < there.size(); ++k) {
      const bool stays = on_host(op()).argument == static_cast<int>(k);
      const std::string why = compare(bounds, first + k, there[k], here[k],
                                      stays ? Device(kCPU) : device_);
      if (why.empty()) continue;
      const Argument& a = op().schema().arguments()[k];
      return str("{}{}: {}", a.is_write() ? "mutated " : "the call changes ",
                 a.name.view(), why);
    }
    return "";
  }

  // The arguments with other values for each thread.
  Arguments scaled(Arguments in, int thread) const {
    change_tensors(
        op().schema(),
        [&](const Tensor& t) {
          return is_floating_type(t.scalar_type()) ? t.mul(1.0 - 0.125 * thread)
                                                   : t;
        },
        in);
    return in;
  }

  // Asks for the device in a call that makes tensors of no others. Returns
  // whether it can be asked.
  bool ask_for_device(std::vector<Value>& values) const {
    bool asked = false;
    for (size_t k = 0; k < values.size(); ++k) {
      if (op().schema().arguments()[k].type.without_optional() !=
          TypeKind::kDevice) {
        continue;
      }
      values[k] = Value(device_);
      asked = true;
    }
    return asked;
  }

  static bool any_pinned(const std::vector<Value>& values) {
    bool found = false;
    for (const Value& v : values) {
      for_each_tensor(v, [&](const TensorBase& t) {
        found |= t.defined() && t.storage() && t.storage()->is_pinned();
      });
    }
    return found;
  }

  // Pinned memory is the host's: the device refuses to make some, and copies
  // what the host made both ways, waiting at the end.
  std::string try_pinned(const std::vector<Value>& made,
                         std::vector<Value>& there) const {
    try {
      call(there);
      return "pinned memory: expected a ValueError, got a result";
    } catch (const ValueError&) {
    }
    std::string why;
    for (const Value& v : made) {
      for_each_tensor(v, [&](const TensorBase& t) {
        const Tensor sent =
            Tensor(t).to(device_, t.dtype(), /*non_blocking=*/true);
        const Tensor back = sent.to(Device(kCPU), t.dtype(), true);
        synchronize(device_);
        if (why.empty()) {
          why = compare_tensor(read_tensor(back), read_tensor(t), {0, 0});
        }
      });
    }
    return why.empty() ? "" : "by way of pinned memory: " + why;
  }

  static bool aliases(const std::vector<Value>& results,
                      const std::vector<Value>& arguments) {
    std::vector<TensorBase> given;
    for (const Value& v : arguments) {
      for_each_tensor(v, [&](const TensorBase& t) { given.push_back(t); });
    }
    bool found = false;
    for (const Value& v : results) {
      for_each_tensor(v, [&](const TensorBase& t) {
        for (const TensorBase& g : given) found |= t.is_alias_of(g);
      });
    }
    return found;
  }

  // Bytes of the arguments' storages that no argument reaches.
  std::string compare_rest(const std::vector<Value>& here,
                           const std::vector<Value>& there) const {
    for (size_t k = 0; k < here.size(); ++k) {
      if (!here[k].is_tensor()) continue;
      const HostTensor want = read_tensor(here[k].to_tensor());
      const HostTensor got = read_tensor(there[k].to_tensor());
      if (want.sizes != got.sizes || want.strides != got.strides ||
          want.storage.size() != got.storage.size()) {
        continue;
      }
      std::vector<bool> reached(want.storage.size(), false);
      const auto item = static_cast<int64_t>(element_size(want.dtype));
      for (int64_t i : element_indices(want.sizes, want.strides, want.offset)) {
        std::fill_n(reached.begin() + i * item, item, true);
      }
      for (size_t b = 0; b < reached.size(); ++b) {
        if (reached[b] || want.storage[b] == got.storage[b]) continue;
        return str(
            "byte {} of the storage of {} changed, outside of the tensor", b,
            op().schema().arguments()[k].name.view());
      }
    }
    return "";
  }

  // Whether result k lies at most 16 times as far from that of float64 as the
  // CPU's does: the problem magnifies roundings.
  bool is_ill_conditioned(size_t i, size_t k, const Value& actual,
                          const Value& expected) const {
    if (!expected.is_tensor() ||
        !is_floating_type(expected.to_tensor().dtype())) {
      return false;
    }
    Arguments in = arguments(i);
    change_tensors(
        op().schema(),
        [](const Tensor& t) {
          return is_floating_type(t.scalar_type()) ? t.to(kDouble) : t;
        },
        in);
    std::vector<Value> exact;
    try {
      exact = call(in.values);
    } catch (const Error&) {
      return false;
    }
    if (!exact[k].is_tensor()) return false;
    const double here = distance(expected.to_tensor(), exact[k].to_tensor());
    const double there = distance(actual.to_tensor(), exact[k].to_tensor());
    return here > 0 && there <= 16 * here;
  }

  // The distance of the elements that differ most; infinite if the tensors do
  // not compare.
  static double distance(const TensorBase& a, const TensorBase& b) {
    const HostTensor x = read_tensor(a), y = read_tensor(b);
    double most = 0;
    if (x.sizes != y.sizes) return std::numeric_limits<double>::infinity();
    const auto from = element_indices(x.sizes, x.strides, x.offset);
    const auto to = element_indices(y.sizes, y.strides, y.offset);
    for (size_t n = 0; n < from.size(); ++n) {
      const double p = element_value(x, from[n]), q = element_value(y, to[n]);
      if (p == q || (p != p && q != q)) continue;
      const double d = std::abs(p - q);
      most =
          d == d ? std::max(most, d) : std::numeric_limits<double>::infinity();
    }
    return most;
  }

  std::vector<Value> call(std::vector<Value>& args) const {
    std::vector<Value> out(op().schema().returns().size());
    op().call_boxed(args.data(), args.size(), out.data(), out.size());
    return out;
  }

  // Compares value `k` of the call: its results, then its arguments.
  std::string compare(Bounds& bounds, size_t k, const Value& actual,
                      const Value& expected, Device device) const {
    std::vector<TensorBase> got, want;
    for_each_tensor(actual, [&](const TensorBase& t) { got.push_back(t); });
    for_each_tensor(expected, [&](const TensorBase& t) { want.push_back(t); });
    if (got.size() != want.size()) {
      return str("expected {} tensors, got {}", want.size(), got.size());
    }
    if (want.empty()) return compare_plain(actual, expected);
    for (size_t j = 0; j < want.size(); ++j) {
      if (want[j].defined() != got[j].defined()) return "undefined";
      if (!want[j].defined()) continue;
      if (got[j].device().type() != device.type()) {
        return str("device: expected {}, got {}", device, got[j].device());
      }
      const double t = tolerance_of(want[j].dtype());
      const std::string why =
          bounded_ ? bounds.compare(k, j, got[j], want[j])
                   : compare_tensor(read_tensor(got[j]), read_tensor(want[j]),
                                    {t, t});
      if (!why.empty()) return why;
    }
    return "";
  }

  // Compares values that hold no tensor.
  static std::string compare_plain(const Value& actual, const Value& expected) {
    const std::string want = to_string(expected), got = to_string(actual);
    if (want == got || actual.tag() == Value::Tag::Device) return "";
    const bool numbers = expected.tag() == Value::Tag::Double &&
                         actual.tag() == Value::Tag::Double;
    if (numbers && Tolerance{1e-4, 1e-4}.accepts(actual.to_double(),
                                                 expected.to_double())) {
      return "";
    }
    return str("expected {}, got {}", want, got);
  }

  Device device_;
  bool gradients_;
  bool bounded_;  // a kernel: judged by Bounds, not by a tolerance
};

}  // namespace

std::unique_ptr<Trials> device_trials(OperatorHandle op,
                                      std::shared_ptr<const Calls> calls,
                                      Device device, bool gradients,
                                      bool claimed) {
  return std::make_unique<OnDevice>(op, std::move(calls), device, gradients,
                                    claimed);
}

std::unique_ptr<Trials> made_trials(OperatorHandle op, Device device,
                                    const std::string& tensors,
                                    const std::string& words,
                                    const Claims* claims, bool gradients) {
  if (device.type() <= kMeta) {
    return agreed_trials(op, made_calls(op, "", tensors));
  }
  std::vector<ScalarType> dtypes = {kFloat, kDouble, kHalf, kBFloat16, kLong,
                                    kInt,   kShort,  kChar, kByte,     kBool};
  if (tensors != "all" && claims != nullptr &&
      !claims->of(op.name()).dtypes.empty()) {
    dtypes = claims->of(op.name()).dtypes;
  }
  if (is_copy(op)) return copy_trials(op, device, std::move(dtypes));
  std::shared_ptr<const Calls> calls;
  try {
    calls = varied_calls(op, dtypes);
  } catch (const InternalError&) {
    throw;
  } catch (const Error&) {
    if (words.empty()) throw;
    calls = made_calls(op, words);
  }
  // Devices that work later are slow to ask; they have these calls in soak.
  const bool quick = device_interface(device.type()).streams() == nullptr;
  const bool claimed = claims != nullptr && claims->supports(op.name());
  if ((quick || tensors == "soak") && claimed && !gives_factors(op)) {
    calls = calls_by_axes(op, std::move(calls), dtypes, tensors == "soak");
  }
  return device_trials(op, std::move(calls), device, gradients, claimed);
}

}  // namespace sy::tools
