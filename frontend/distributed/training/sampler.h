#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "c10/macros.h"
#include "frontend/io/named_tensors.h"

// The samples of a data set that each rank trains on.
//
//   DistributedSampler sampler(images.size(0));
//   for (int64_t epoch = sampler.epoch(); epoch < 10; ++epoch) {
//     sampler.set_epoch(epoch);
//     while (auto batch = sampler.next(32)) train(*batch);
//   }
//
// A sampler that needs the world's rank or size calls init() if the program has
// not. Else ranks do not talk to each other: the order of an epoch follows from
// the seed, the epoch and the size of the data set alone, on every machine. It
// is that of a Fisher-Yates shuffle by the Philox stream whose key is the seed
// and whose counter's upper half is the epoch + 1. Not thread-safe.

namespace sy::distributed {

namespace detail {

// The iterator of a range-based for loop: draws from a sampler with
// next_item().
template <class Sampler, class Item>
class SampleIterator {
 public:
  using value_type = Item;
  using difference_type = std::ptrdiff_t;
  using iterator_category = std::input_iterator_tag;
  using pointer = const Item*;
  using reference = const Item&;

  SampleIterator() = default;
  explicit SampleIterator(Sampler* from) : from_(from) { ++*this; }
  const Item& operator*() const { return *item_; }
  const Item* operator->() const { return &*item_; }
  SampleIterator& operator++() {
    item_ = from_->next_item();
    return *this;
  }
  void operator++(int) { ++*this; }
  bool operator==(std::default_sentinel_t) const { return !item_.has_value(); }

 private:
  Sampler* from_ = nullptr;
  std::optional<Item> item_;
};

}  // namespace detail

struct DistributedSamplerOptions {
  int num_replicas = 0;  // 0: the world's size
  int rank = -1;         // -1: the world's
  bool shuffle = true;
  uint64_t seed = 0;  // the same on all ranks
  // Whether samples that would give some ranks one more than others are left
  // out. Otherwise samples of the start of the order fill up the shares.
  bool drop_last = false;
};

// The indices of a data set, those of one order for all ranks dealt out one by
// one. PyTorch's DistributedSampler; next() and reset() are those of libtorch's
// samplers.
class SY_API DistributedSampler {
 public:
  // Throws ValueError for a size below 0 and for a rank that is not.
  explicit DistributedSampler(int64_t size,
                              const DistributedSamplerOptions& options = {});

  // How many indices this rank gets in an epoch; in one that set_state() began
  // elsewhere, how many from there on. The same on all ranks.
  int64_t size() const noexcept { return share_; }
  int64_t epoch() const noexcept { return epoch_; }
  // How many of size() are drawn.
  int64_t index() const noexcept { return drawn_; }

  // Starts another epoch, with another order. Without this call all epochs have
  // the same order. Does nothing if it is that epoch already.
  void set_epoch(int64_t epoch);
  // Starts the epoch; with a number, that of a data set of this size. The first
  // call after set_state() stays where that went.
  void reset(std::optional<size_t> new_size = std::nullopt);
  // Up to batch_size indices; nullopt at the end of the epoch. Throws
  // ValueError for a batch_size of 0.
  std::optional<std::vector<size_t>> next(size_t batch_size);

  // reset(), then every index. The sampler must not move meanwhile.
  using iterator = detail::SampleIterator<DistributedSampler, int64_t>;
  iterator begin() {
    reset();
    return iterator(this);
  }
  std::default_sentinel_t end() const noexcept { return {}; }
  std::optional<int64_t> next_item();

  // The place in the epoch: how many samples all ranks together have drawn, if
  // each has drawn as many as this one. The same on all ranks then.
  NamedTensors state() const;
  // Goes on from there, with any number of ranks: the rest of the epoch is
  // dealt out anew, each sample once but for equal shares. Throws ValueError,
  // and changes nothing, for the state of another data set, seed or shuffle,
  // and for one that is none.
  void set_state(const NamedTensors& state);

 private:
  void start(int64_t epoch, int64_t from);
  int64_t at(int64_t place);

  DistributedSamplerOptions options_;
  int64_t total_;  // samples of the data set
  int64_t epoch_ = 0;
  int64_t from_ = 0;   // place in the order where this rank's group began
  int64_t share_ = 0;  // indices of each rank from there
  int64_t drawn_ = 0;  // of them
  bool resumed_ = false;
  std::vector<int64_t> order_;  // empty until needed
};

struct DistributedBucketSamplerOptions {
  // The most tokens of a batch, padding included: its samples times the length
  // of its longest. 0: no limit.
  int64_t max_tokens = 0;
  // The most samples of a batch. 0: no limit. One of both must be set.
  int64_t max_samples = 0;
  int num_replicas = 0;  // 0: the world's size
  int rank = -1;         // -1: the world's
  bool shuffle = true;
  uint64_t seed = 0;  // the same on all ranks
  bool drop_last = false;
  // Lengths count as up to this part longer or shorter when they are sorted, so
  // that other samples meet in each epoch: 0.1 is a tenth. 0 pads least; then
  // only samples of equal length change places. Without shuffle it does
  // nothing.
  double noise = 0;
};

// Batches of samples of similar length. Each rank gets as many batches, and in
// each step all ranks get batches of similar cost (padded tokens), so that none
// waits long for another. Every sample stands in one batch: to give all ranks
// as many, the costliest batches are cut in two. A batch stands twice, or, with
// drop_last, some are left out, only if all have one sample.
class SY_API DistributedBucketSampler {
 public:
  using Batch = std::vector<size_t>;

  // The length of each sample. Throws ValueError for a length below 0 or above
  // max_tokens, and for options that are not possible.
  DistributedBucketSampler(std::vector<int64_t> lengths,
                           const DistributedBucketSamplerOptions& options);

  // size() and index() count the batches of this rank, as those of
  // DistributedSampler count indices. With noise, size() is not the same in all
  // epochs.
  int64_t size() const noexcept { return steps_; }
  int64_t epoch() const noexcept { return epoch_; }
  int64_t index() const noexcept { return drawn_; }
  void set_epoch(int64_t epoch);
  void reset();
  // The next batch; nullopt at the end of the epoch. libtorch's loaders give a
  // size, which is not looked at.
  std::optional<Batch> next(size_t batch_size = 0);

  using iterator = detail::SampleIterator<DistributedBucketSampler, Batch>;
  iterator begin() {
    reset();
    return iterator(this);
  }
  std::default_sentinel_t end() const noexcept { return {}; }
  std::optional<Batch> next_item() { return next(); }

  // The part of the padded tokens that is padding, in all ranks' batches of the
  // epoch (or of what was left of it): 0.03 are 3 %.
  double padding() const noexcept { return padding_; }

  // The state, as DistributedSampler's. set_state() makes what is left of an
  // epoch into batches for the new number of ranks.
  NamedTensors state() const;
  void set_state(const NamedTensors& state);

 private:
  // Steps that were made with that number of ranks.
  struct Segment {
    int64_t ranks, steps;
  };
  struct Plan;
  Plan plan(int64_t epoch, const std::vector<Segment>& before) const;
  void start(int64_t epoch, std::vector<Segment> before);
  void take(Plan&& plan);

  std::vector<int64_t> lengths_;
  DistributedBucketSamplerOptions options_;
  uint64_t digest_ = 0;  // of lengths and of all that decides on batches
  int64_t epoch_ = 0;
  std::vector<Segment> before_;  // of this epoch, before this sampler's own
  int64_t steps_ = 0, drawn_ = 0;
  double padding_ = 0;
  bool resumed_ = false;
  std::vector<Batch> batches_;  // this rank's
};

}  // namespace sy::distributed
