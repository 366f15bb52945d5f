#include <functional>
#include <optional>
#include <utility>

#include "aten/backend/node.h"
#include "aten/ops/factory.h"
#include "c10/device/generator.h"
#include "c10/dispatch/thread_state.h"
#include "c10/plugin/load_library.h"
#include "c10/process/error.h"
#include "tools/sy/calls/claims.h"
#include "tools/sy/calls/device_arguments.h"
#include "tools/sy/cases/arguments.h"
#include "tools/sy/support/exception_text.h"
#include "tools/sy/trials/trials.h"

// The strides of results on the CPU, on Meta and on the lazy device, by
// arguments that lie in memory in eight ways, all of them or the first alone.

namespace sy::tools {

namespace {

// t in other memory, its dims from the outermost to the innermost.
Tensor in_order(const Tensor& t, std::vector<int64_t> order) {
  std::vector<int64_t> back(order.size());
  for (size_t k = 0; k < order.size(); ++k) {
    back[static_cast<size_t>(order[k])] = static_cast<int64_t>(k);
  }
  return t.permute(order).contiguous().permute(back);
}

std::vector<int64_t> dims_of(const Tensor& t) {
  std::vector<int64_t> dims;
  for (int64_t d = 0; d < t.dim(); ++d) dims.push_back(d);
  return dims;
}

// t with dim 1 innermost, if it has `n` dims or, for `n` 0, at least 3.
Tensor channels_last(const Tensor& t, int64_t n) {
  if (t.dim() < 3 || (n != 0 && t.dim() != n)) return t;
  std::vector<int64_t> order = dims_of(t);
  order.erase(order.begin() + 1);
  order.push_back(1);
  return in_order(t, order);
}

Tensor transposed(const Tensor& t) {
  if (t.dim() < 2) return t;
  std::vector<int64_t> order = dims_of(t);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return in_order(t, order);
}

Tensor reversed(const Tensor& t) {
  const std::vector<int64_t> dims = dims_of(t);
  return in_order(t, {dims.rbegin(), dims.rend()});
}

// Every second element of the last dim of twice as many.
Tensor with_gaps(const Tensor& t) {
  if (t.dim() == 0) return t;
  std::vector<int64_t> sizes(t.sizes().begin(), t.sizes().end());
  sizes.push_back(2);
  return zeros(sizes, t.options()).select(-1, 0).copy_(t);
}

Tensor expanded(const Tensor& t) {
  if (t.dim() == 0 || t.size(0) < 2) return t;
  return t.narrow(0, 0, 1).expand(t.sizes());
}

// The first index of dim 0, in the memory of all with its channels last.
Tensor single(const Tensor& t) {
  if (t.dim() == 0) return t;
  return channels_last(t, 0).narrow(0, 0, 1);
}

struct Way {
  const char* name;
  Tensor (*lay)(const Tensor&);
};
constexpr Way kWays[] = {
    {"row-major", [](const Tensor& t) { return t; }},
    {"channels last", [](const Tensor& t) { return channels_last(t, 4); }},
    {"channels last 3d", [](const Tensor& t) { return channels_last(t, 5); }},
    {"transposed", transposed},
    {"with gaps", with_gaps},
    {"expanded", expanded},
    {"one of dim 0", single},
    {"reversed", reversed},
};

// Whether the lazy device is there. Its library is loaded for good.
bool has_lazy() {
  static const bool loaded = [] {
    try {
      load_library("lazy").keep();
      return true;
    } catch (const Error&) {
      return false;
    }
  }();
  return loaded;
}

class Strided final : public Trials {
 public:
  Strided(OperatorHandle op, std::shared_ptr<const Calls> calls)
      : op_(op), calls_(std::move(calls)) {
    for (const Way& way : kWays) {
      for (const bool first : {false, true}) {
        if (first && &way == &kWays[0]) continue;
        trials_.push_back({&way, first});
        if (is_refused(trials_.size() - 1)) trials_.pop_back();
      }
    }
  }

  size_t size() const override { return trials_.size(); }
  std::string id(size_t i) const override {
    const Trial& t = trials_[i];
    return str("{}{}", t.way->name, t.first ? ", the first alone" : "");
  }

  Arguments arguments(size_t i) const override {
    Arguments out = calls_->arguments(0);
    bool done = false;
    change_tensors(
        op_.schema(),
        [&](const Tensor& t) {
          const bool kept = trials_[i].first && done;
          done = true;
          return kept ? t.clone() : trials_[i].way->lay(t);
        },
        out);
    return out;
  }

  CaseResult run(size_t i) const override {
    CaseResult result;
    result.non_empty = true;
    try {
      result.why = problem(i, result);
    } catch (...) {
      result.why = current_exception_text();
    }
    return result;
  }

 private:
  struct Trial {
    const Way* way;
    bool first;
  };

  std::vector<Value> call(std::vector<Value> args) const {
    std::vector<Value> out(op_.schema().returns().size());
    manual_seed(5);
    const AutoDispatchBelowAutograd no_tape;
    op_.call_boxed(args.data(), args.size(), out.data(), out.size());
    return out;
  }

  bool is_refused(size_t i) const {
    try {
      call(arguments(i).values);
      return false;
    } catch (const InternalError&) {
      throw;
    } catch (const Error&) {
      return true;
    }
  }

  std::string problem(size_t i, CaseResult& result) const {
    const Arguments in = arguments(i);
    std::vector<Value> inferred;
    try {
      inferred = infer_results(op_, in.values.data(), in.values.size());
    } catch (const NotImplementedError&) {
      // Results depend on data.
    }
    const std::vector<Value> expected = call(in.values);
    if (!inferred.empty()) {
      const std::string why = difference(inferred, expected);
      if (!why.empty()) return "on Meta " + why;
    }
    if (!has_lazy()) {
      result.note = "the lazy device is not there";
      return "";
    }
    const Device lazy = device_of_tensors("lazy");
    const std::string why =
        difference(call(moved(op_, arguments(i), lazy)), expected);
    return why.empty() ? "" : "on lazy " + why;
  }

  static std::string difference(const std::vector<Value>& there,
                                const std::vector<Value>& expected) {
    for (size_t i = 0; i < expected.size(); ++i) {
      std::vector<TensorBase> a, b;
      for_each_tensor(there[i], [&](const TensorBase& t) { a.push_back(t); });
      for_each_tensor(expected[i],
                      [&](const TensorBase& t) { b.push_back(t); });
      if (a.size() != b.size()) {
        return str("{} tensors, on the CPU {}", a.size(), b.size());
      }
      for (size_t k = 0; k < a.size(); ++k) {
        if (!b[k].defined() || !a[k].defined() || same_strides(a[k], b[k])) {
          continue;
        }
        return str("{} with strides {}, on the CPU {} with strides {}",
                   a[k].sizes(), a[k].strides(), b[k].sizes(), b[k].strides());
      }
    }
    return "";
  }

  // Compares strides as far as they have a meaning.
  static bool same_strides(const TensorBase& a, const TensorBase& b) {
    if (a.sizes() != b.sizes()) return false;
    if (b.numel() == 0) return true;
    for (size_t d = 0; d < b.sizes().size(); ++d) {
      if (b.sizes()[d] != 1 && a.strides()[d] != b.strides()[d]) return false;
    }
    return true;
  }

  OperatorHandle op_;
  std::shared_ptr<const Calls> calls_;
  std::vector<Trial> trials_;
};

}  // namespace

std::unique_ptr<Trials> strided_trials(OperatorHandle op,
                                       std::shared_ptr<const Calls> calls) {
  return std::make_unique<Strided>(op, std::move(calls));
}

}  // namespace sy::tools
