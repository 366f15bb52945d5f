#include "frontend/distributed/training/bucket.h"

#include <algorithm>
#include <utility>

#include "aten/operators.h"
#include "aten/ops/factory.h"
#include "aten/ops/view.h"
#include "c10/dispatch/thread_state.h"

namespace sy::distributed {

namespace {

constexpr size_t kAlignment = 64;  // bytes

// The buckets of one dtype and device: positions in the order.
struct Filling {
  ScalarType dtype;
  Device device;
  std::vector<std::vector<size_t>> buckets;
  size_t bytes;  // of the last bucket
};

int64_t padded(int64_t elements, size_t itemsize) {
  const auto step = static_cast<int64_t>(kAlignment / itemsize);
  return (elements + step - 1) / step * step;
}

// Row-major where the parameter has gaps or shares elements, as gradients are.
Tensor view_like(const Tensor& memory, int64_t at, const Tensor& parameter) {
  if (parameter.is_non_overlapping_and_dense()) {
    return memory.as_strided(parameter.sizes(), parameter.strides(), at);
  }
  return memory.narrow(0, at, parameter.numel()).view(parameter.sizes());
}

}  // namespace

BucketSizes choose_sizes(std::span<const TrainedParameter> parameters,
                         size_t first_bucket_bytes, size_t bucket_bytes) {
  constexpr size_t kKilo = 1 << 10, kMega = 1 << 20;
  size_t all = 0;
  for (const TrainedParameter& p : parameters) all += p.tensor.nbytes();
  BucketSizes sizes{first_bucket_bytes, bucket_bytes};
  if (sizes.others == 0) {
    sizes.others = std::clamp(all / 4, 256 * kKilo, 25 * kMega);
  }
  if (sizes.first == 0) {
    sizes.first = std::min(kMega, std::max<size_t>(sizes.others / 4, 1));
  }
  return sizes;
}

BucketPlan plan_buckets(std::span<const TrainedParameter> parameters,
                        std::span<const size_t> order,
                        const BucketSizes& sizes) {
  const auto tensor = [&](size_t at) -> const Tensor& {
    return parameters[order[at]].tensor;
  };
  std::vector<Filling> fillings;
  for (size_t at = 0; at < order.size(); ++at) {
    const Tensor& t = tensor(at);
    auto f = std::find_if(fillings.begin(), fillings.end(), [&](Filling& x) {
      return x.dtype == t.scalar_type() && x.device == t.device();
    });
    if (f == fillings.end()) {
      f = fillings.insert(f, {t.scalar_type(), t.device(), {{}}, 0});
    }
    const size_t limit = f->buckets.size() == 1 ? sizes.first : sizes.others;
    if (f->bytes >= limit) {
      f->buckets.emplace_back();
      f->bytes = 0;
    }
    f->buckets.back().push_back(at);
    f->bytes += t.nbytes();
  }
  std::vector<std::vector<size_t>> all;
  for (Filling& f : fillings) {
    std::vector<size_t>& last = f.buckets.back();
    size_t cut = last.size() - 1, bytes = tensor(last[cut]).nbytes();
    while (cut > 0 &&
           (bytes += tensor(last[cut - 1]).nbytes()) <= sizes.first) {
      --cut;
    }
    if (cut > 0) {
      std::vector<size_t> end(last.begin() + static_cast<ptrdiff_t>(cut),
                              last.end());
      last.resize(cut);
      f.buckets.push_back(std::move(end));
    }
    for (std::vector<size_t>& b : f.buckets) all.push_back(std::move(b));
  }
  std::sort(all.begin(), all.end());
  for (std::vector<size_t>& bucket : all) {
    for (size_t& at : bucket) at = order[at];
  }
  return all;
}

std::string list_names(std::span<const TrainedParameter> parameters,
                       std::span<const size_t> which, size_t most) {
  std::string s;
  for (size_t i = 0; i < which.size() && i < most; ++i) {
    if (i > 0) s += ", ";
    s += parameters[which[i]].name;
  }
  if (which.size() > most) {
    s += ", … (";
    s += std::to_string(which.size());
    s += ")";
  }
  return s;
}

Bucket::Bucket(std::span<const TrainedParameter> parameters,
               std::vector<size_t> members, size_t tail)
    : members_(std::move(members)) {
  const NoGradGuard no_grad;
  const AutoDispatchBelowAutograd plain;
  const Tensor& first = parameters[members_.front()].tensor;
  std::vector<int64_t> starts;
  int64_t n = 0;
  for (const size_t m : members_) {
    starts.push_back(n);
    n += padded(parameters[m].tensor.numel(), first.itemsize());
  }
  const auto extra = static_cast<int64_t>(tail);
  everything_ = zeros({n + extra}, first.options());
  gradients_ = everything_.narrow(0, 0, n);
  tail_ = everything_.narrow(0, n, extra);
  for (size_t i = 0; i < members_.size(); ++i) {
    views_.push_back(
        view_like(everything_, starts[i], parameters[members_[i]].tensor));
  }
}

bool is_the_view(const Tensor& gradient, const Tensor& view) {
  return gradient.defined() && gradient.is_alias_of(view) &&
         gradient.storage_offset() == view.storage_offset() &&
         gradient.sizes() == view.sizes() &&
         gradient.strides() == view.strides() &&
         gradient.scalar_type() == view.scalar_type();
}

}  // namespace sy::distributed
