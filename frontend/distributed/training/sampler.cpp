#include "frontend/distributed/training/sampler.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "c10/process/error.h"
#include "frontend/distributed/training/sampler_support.h"

namespace sy::distributed {

namespace {

constexpr const char* kOp = "DistributedSampler";

void check_size(int64_t size) {
  SY_CHECK(size >= 0, Value, "[{}] size: expected at least 0, got {}", kOp,
           size);
}

}  // namespace

DistributedSampler::DistributedSampler(int64_t size,
                                       const DistributedSamplerOptions& options)
    : options_(options), total_(size) {
  check_size(size);
  detail::fill_ranks(kOp, &options_.num_replicas, &options_.rank);
  start(0, 0);
}

void DistributedSampler::start(int64_t epoch, int64_t from) {
  if (epoch != epoch_) order_.clear();
  epoch_ = epoch;
  from_ = from;
  drawn_ = 0;
  resumed_ = false;
  const int64_t ranks = options_.num_replicas, left = total_ - from;
  share_ = left / ranks + (!options_.drop_last && left % ranks != 0 ? 1 : 0);
}

void DistributedSampler::set_epoch(int64_t epoch) {
  SY_CHECK(epoch >= 0, Value, "[{}] epoch: expected at least 0, got {}", kOp,
           epoch);
  if (epoch != epoch_) start(epoch, 0);
}

void DistributedSampler::reset(std::optional<size_t> new_size) {
  if (new_size) {
    const auto size = static_cast<int64_t>(*new_size);
    check_size(size);
    if (size != total_) {
      total_ = size;
      order_.clear();
      return start(epoch_, 0);
    }
  }
  if (!resumed_) start(epoch_, 0);
  resumed_ = false;
}

int64_t DistributedSampler::at(int64_t place) {
  const int64_t in_order = place % total_;
  if (!options_.shuffle) return in_order;
  if (order_.empty()) {
    order_.resize(static_cast<size_t>(total_));
    std::iota(order_.begin(), order_.end(), int64_t{0});
    detail::EpochStream(options_.seed, epoch_)
        .shuffle(order_.data(), order_.size());
  }
  return order_[static_cast<size_t>(in_order)];
}

std::optional<int64_t> DistributedSampler::next_item() {
  resumed_ = false;
  if (drawn_ == share_) return std::nullopt;
  return at(from_ + drawn_++ * options_.num_replicas + options_.rank);
}

std::optional<std::vector<size_t>> DistributedSampler::next(size_t batch_size) {
  SY_CHECK(batch_size > 0, Value, "[{}] batch_size: expected at least 1, got 0",
           kOp);
  const auto left = static_cast<size_t>(share_ - drawn_);
  resumed_ = false;
  if (left == 0) return std::nullopt;
  std::vector<size_t> batch(std::min(batch_size, left));
  for (size_t& i : batch) i = static_cast<size_t>(*next_item());
  return batch;
}

NamedTensors DistributedSampler::state() const {
  NamedTensors state;
  detail::add_number(&state, "epoch", epoch_);
  detail::add_number(&state, "place",
                     std::min(total_, from_ + drawn_ * options_.num_replicas));
  detail::add_number(&state, "size", total_);
  detail::add_number(&state, "seed", static_cast<int64_t>(options_.seed));
  detail::add_number(&state, "shuffle", options_.shuffle ? 1 : 0);
  return state;
}

void DistributedSampler::set_state(const NamedTensors& state) {
  const auto number = [&](const char* name) {
    return detail::number_of(kOp, state, name);
  };
  const auto expect = [&](const char* name, int64_t own) {
    const int64_t got = number(name);
    SY_CHECK(got == own, Value, "[{}] state: expected {} {}, got {}", kOp, name,
             own, got);
  };
  expect("size", total_);
  expect("shuffle", options_.shuffle ? 1 : 0);
  if (options_.shuffle) expect("seed", static_cast<int64_t>(options_.seed));
  const int64_t epoch = number("epoch"), place = number("place");
  SY_CHECK(epoch >= 0 && place >= 0 && place <= total_, Value,
           "[{}] state: expected an epoch from 0 on and a place from 0 to {}, "
           "got {} and {}",
           kOp, total_, epoch, place);
  start(epoch, place);
  resumed_ = true;
}

}  // namespace sy::distributed
