#include "tools/sy/calls/calls.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "aten/ops/factory.h"
#include "aten/tensor.h"
#include "c10/process/error.h"
#include "tools/sy/calls/words.h"
#include "tools/sy/cases/tensors.h"

namespace sy::tools {

namespace {

// Memory that is not set is not the same twice.
bool has_known_values(const Json& returns) {
  return std::none_of(returns.begin(), returns.end(), [](const Json& v) {
    return is_tensor(v) && v.contains("values");
  });
}

class Recorded final : public Calls {
 public:
  Recorded(OperatorHandle op, const CaseFile& file, bool failing)
      : op_(op), file_(file) {
    for (const Case& c : file.cases) {
      if (!c.fails && has_known_values(c.returns)) cases_.push_back(&c);
    }
    if (failing && cases_.empty() && !file.cases.empty()) {
      cases_.push_back(&file.cases[0]);
    }
  }
  size_t size() const override { return cases_.size(); }
  std::string id(size_t i) const override { return cases_[i]->id; }
  Arguments arguments(size_t i) const override {
    return bind_arguments(op_.schema(), *cases_[i], file_.storages,
                          Device(kCPU));
  }

 private:
  OperatorHandle op_;
  const CaseFile& file_;
  std::vector<const Case*> cases_;
};

class Recast final : public Calls {
 public:
  Recast(OperatorHandle op, std::shared_ptr<const Calls> calls,
         ScalarType dtype)
      : op_(op), calls_(std::move(calls)), dtype_(dtype) {
    for (size_t i = 0; i < calls_->size(); ++i) {
      bool changes = false;
      for (const NamedTensor& t : calls_->arguments(i).tensors) {
        changes |= t.tensor.defined() && t.tensor.dtype() != dtype_;
      }
      if (changes) chosen_.push_back(i);
    }
  }
  size_t size() const override { return chosen_.size(); }
  std::string id(size_t i) const override {
    return str("{} as {}", calls_->id(chosen_[i]), dtype_);
  }
  Arguments arguments(size_t i) const override {
    Arguments out = calls_->arguments(chosen_[i]);
    change_tensors(
        op_.schema(), [&](const Tensor& t) { return t.to(dtype_); }, out);
    return out;
  }

 private:
  OperatorHandle op_;
  std::shared_ptr<const Calls> calls_;
  ScalarType dtype_;
  std::vector<size_t> chosen_;
};

Tensor first_rows(const Tensor& t) {
  return t.dim() == 0 ? t : t.narrow(0, 0, 0).clone();
}

class Made final : public Calls {
 public:
  Made(OperatorHandle op, std::string_view words, std::string_view tensors)
      : op_(op), words_(words), tensors_(tensors) {
    add("float64", 0, [](const Tensor& t) { return t; });
    call(0);
    attempt("other strides", 1e-9, spread);
    attempt("no elements", 0, first_rows);
    for (const ScalarType dtype :
         {kFloat, kHalf, kBFloat16, kLong, kInt, kShort, kChar, kByte, kBool}) {
      attempt(str("{}", dtype), dtype == kFloat ? 1e-4 : 0,
              [dtype](const Tensor& t) {
                if (t.scalar_type() != kDouble) return t;
                return is_floating_type(dtype) ? t.to(dtype)
                                               : t.mul(7).to(dtype);
              });
    }
  }

  size_t size() const override { return variants_.size(); }
  std::string id(size_t i) const override { return variants_[i].id; }
  std::optional<Likeness> like(size_t i) const override {
    if (variants_[i].tolerance == 0) return std::nullopt;
    return Likeness{0, variants_[i].tolerance};
  }

  Arguments arguments(size_t i) const override {
    Arguments out;
    out.values = parse_arguments(op_, words_, tensors_);
    change_tensors(op_.schema(), variants_[i].change, out);
    return out;
  }

 private:
  struct Variant {
    std::string id;
    double tolerance;  // to the first; 0: not like it
    TensorChange change;
  };

  void add(std::string id, double tolerance, TensorChange change) {
    variants_.push_back({std::move(id), tolerance, std::move(change)});
  }
  void attempt(std::string id, double tolerance, TensorChange change) {
    add(std::move(id), tolerance, std::move(change));
    try {
      call(variants_.size() - 1);
    } catch (const InternalError&) {
      throw;
    } catch (const Error&) {
      variants_.pop_back();
    }
  }
  void call(size_t i) const {
    Arguments in = arguments(i);
    std::vector<Value> out(op_.schema().returns().size());
    op_.call_boxed(in.values.data(), in.values.size(), out.data(), out.size());
  }

  OperatorHandle op_;
  std::string words_, tensors_;
  std::vector<Variant> variants_;
};

}  // namespace

Tensor spread(const Tensor& t) {
  std::vector<int64_t> sizes(t.sizes().begin(), t.sizes().end());
  std::vector<int64_t> dims;
  for (int64_t d = t.dim() - 1; d >= 0; --d) dims.push_back(d);
  std::vector<int64_t> turned(sizes.rbegin(), sizes.rend());
  turned.push_back(2);
  const Tensor room = sy::zeros(turned, t.options());
  return room.select(-1, 0).permute(dims).copy_(t);
}

Tensor turned(const Tensor& t) {
  return t.dim() < 2 ? t : t.transpose(0, -1).contiguous().transpose(0, -1);
}

Tensor within(const Tensor& t, int64_t before) {
  const int64_t n = t.numel();
  const bool is_float = is_floating_type(t.scalar_type());
  const Tensor room = sy::full(
      {before + n + 9},
      is_float ? Scalar(std::numeric_limits<double>::quiet_NaN()) : Scalar(77),
      TensorOptions(kDouble));
  const Tensor place =
      room.to(t.scalar_type()).narrow(0, before, n).view(t.sizes());
  place.copy_(t);
  return place;
}

Tensor filled(IntArrayRef sizes, ScalarType dtype, uint32_t seed,
              const Element& element) {
  int64_t n = 1;
  for (const int64_t s : sizes) n *= s;
  SY_CHECK(n <= kMostElements, Value, "too many elements: {}", n);
  const Tensor t(make_tensor(sizes, kDouble, Device(kCPU)));
  auto* const data = t.data_ptr<double>();
  for (int64_t i = 0; i < n; ++i) {
    seed = seed * 1664525u + 1013904223u;
    data[i] = element(i, static_cast<double>(seed >> 8) / (1 << 24));
  }
  if (dtype == kDouble) return t;
  return is_floating_type(dtype) ? t.to(dtype) : t.mul(7).to(dtype);
}

std::vector<double> elements_of(const Tensor& t) {
  if (!t.defined()) return {};
  const Tensor d = t.detach().to(kDouble).contiguous();
  return {d.data_ptr<double>(), d.data_ptr<double>() + d.numel()};
}

std::unique_ptr<Calls> recorded_calls(OperatorHandle op, const CaseFile& file,
                                      bool failing) {
  return std::make_unique<Recorded>(op, file, failing);
}

std::unique_ptr<Calls> recast_calls(OperatorHandle op,
                                    std::shared_ptr<const Calls> calls,
                                    ScalarType dtype) {
  return std::make_unique<Recast>(op, std::move(calls), dtype);
}

std::unique_ptr<Calls> made_calls(OperatorHandle op, std::string_view words,
                                  std::string_view tensors) {
  return std::make_unique<Made>(op, words, tensors);
}

}  // namespace sy::tools
