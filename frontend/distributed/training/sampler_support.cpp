#include "frontend/distributed/training/sampler_support.h"

#include "aten/ops/factory.h"
#include "c10/device/philox.h"
#include "frontend/distributed/context.h"

namespace sy::distributed::detail {

uint64_t EpochStream::next() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  const auto low = [](uint64_t v) { return static_cast<uint32_t>(v); };
  const auto high = [](uint64_t v) { return static_cast<uint32_t>(v >> 32); };
  const PhiloxBlock words =
      philox4x32({low(block_), high(block_), low(epoch_), high(epoch_)},
                 low(seed_), high(seed_));
  ++block_;
  spare_ = uint64_t{words[3]} << 32 | words[2];
  has_spare_ = true;
  return uint64_t{words[1]} << 32 | words[0];
}

uint64_t EpochStream::below(uint64_t n) {
  // The first of them are one more often than the others if all are taken.
  const uint64_t uneven = -n % n;
  for (;;) {
    const uint64_t v = next();
    if (v >= uneven) return v % n;
  }
}

void add_number(NamedTensors* state, const char* name, int64_t value) {
  state->insert(name, full({}, value, kLong));
}

int64_t number_of(const char* op, const NamedTensors& state,
                  std::string_view name) {
  const Tensor* const t = state.find(name);
  SY_CHECK(t != nullptr, Value, "[{}] state: expected {} in it, got {} others",
           op, name, state.size());
  SY_CHECK(t->defined() && t->scalar_type() == kLong && t->numel() == 1, Value,
           "[{}] state: expected one int64 as {}, got another tensor", op,
           name);
  return t->item<int64_t>();
}

void fill_ranks(const char* op, int* num_replicas, int* rank) {
  SY_CHECK(*num_replicas >= 0, Value,
           "[{}] num_replicas: expected at least 1, or 0 for the world's, got "
           "{}",
           op, *num_replicas);
  const bool asks = *num_replicas == 0 || *rank == -1;
  if (asks && Context::current() == nullptr) init();
  if (*num_replicas == 0) *num_replicas = get_world_size();
  if (*rank == -1) *rank = get_rank();
  SY_CHECK(*rank >= 0 && *rank < *num_replicas, Value,
           "[{}] rank: expected 0 to {}, got {}", op, *num_replicas - 1, *rank);
}

}  // namespace sy::distributed::detail
