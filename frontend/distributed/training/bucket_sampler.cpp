#include <algorithm>
#include <bit>
#include <numeric>
#include <queue>
#include <span>

#include "aten/ops/factory.h"
#include "c10/process/error.h"
#include "frontend/distributed/training/sampler.h"
#include "frontend/distributed/training/sampler_support.h"

namespace sy::distributed {

namespace {

constexpr const char* kOp = "DistributedBucketSampler";
// The most ranks in a state: a damaged one must not take all memory.
constexpr int64_t kMostRanks = 1 << 20;

using detail::EpochStream;

// Samples [begin, begin + count) of the sorted order.
struct Range {
  int64_t begin, count;
  int64_t cost;    // padded tokens
  int64_t number;  // equal for batches of the same samples
};

// Batches for one number of ranks, step by step: ranges of one step follow each
// other. Every function depends on its arguments alone, as all ranks plan.
class Planner {
 public:
  Planner(const std::vector<int64_t>& lengths,
          const DistributedBucketSamplerOptions& options, int64_t epoch)
      : lengths_(lengths), options_(options), random_(options.seed, epoch) {
    sort();
    fill();
  }

  const std::vector<int64_t>& order() const { return order_; }
  const std::vector<Range>& batches() const { return batches_; }

  // Makes the number of batches a multiple of `ranks`, and their order that in
  // which they are trained on.
  void deal(int64_t ranks) {
    even_out(ranks);
    std::stable_sort(
        batches_.begin(), batches_.end(),
        [](const Range& a, const Range& b) { return a.cost > b.cost; });
    if (!options_.shuffle) return;
    const size_t width = static_cast<size_t>(ranks);
    std::vector<size_t> steps(batches_.size() / width);
    std::iota(steps.begin(), steps.end(), size_t{0});
    random_.shuffle(steps.data(), steps.size());
    std::vector<Range> dealt;
    dealt.reserve(batches_.size());
    for (const size_t s : steps) {
      Range* const first = batches_.data() + s * width;
      random_.shuffle(first, width);
      dealt.insert(dealt.end(), first, first + width);
    }
    batches_ = std::move(dealt);
  }

  // Forgets the first batches, which all ranks have had.
  void drop(int64_t count) {
    const auto end = batches_.begin() + count;
    std::vector<int64_t> had;
    for (auto b = batches_.begin(); b != end; ++b) had.push_back(b->number);
    batches_.erase(batches_.begin(), end);
    batches_.insert(batches_.end(), left_out_.begin(), left_out_.end());
    left_out_.clear();
    // A batch that stood twice counts as one again.
    std::sort(had.begin(), had.end());
    std::stable_sort(
        batches_.begin(), batches_.end(),
        [](const Range& a, const Range& b) { return a.number < b.number; });
    const auto same = [](const Range& a, const Range& b) {
      return a.number == b.number;
    };
    batches_.erase(std::unique(batches_.begin(), batches_.end(), same),
                   batches_.end());
    std::erase_if(batches_, [&](const Range& r) {
      return std::binary_search(had.begin(), had.end(), r.number);
    });
  }

  double padding() const {
    double padded = 0, tokens = 0;
    for (const Range& r : batches_) {
      padded += static_cast<double>(r.cost);
      for (int64_t i = 0; i < r.count; ++i) {
        tokens += static_cast<double>(length(r.begin + i));
      }
    }
    return padded > 0 ? (padded - tokens) / padded : 0;
  }

 private:
  int64_t length(int64_t place) const {
    return lengths_[static_cast<size_t>(order_[static_cast<size_t>(place)])];
  }

  Range range(int64_t begin, int64_t count, int64_t number) const {
    int64_t longest = 0;
    for (int64_t i = 0; i < count; ++i) {
      longest = std::max(longest, length(begin + i));
    }
    return {begin, count, longest * count, number};
  }

  // Sorts the samples, the longest first.
  void sort() {
    order_.resize(lengths_.size());
    std::iota(order_.begin(), order_.end(), int64_t{0});
    std::vector<double> keys(lengths_.begin(), lengths_.end());
    if (options_.shuffle) {
      random_.shuffle(order_.data(), order_.size());
      if (options_.noise > 0) {
        for (double& k : keys) {
          k *= 1 + options_.noise * (2 * random_.uniform() - 1);
        }
      }
    }
    std::stable_sort(order_.begin(), order_.end(), [&](int64_t a, int64_t b) {
      return keys[static_cast<size_t>(a)] > keys[static_cast<size_t>(b)];
    });
  }

  // Puts as many samples into each batch as fit: no other cut makes fewer.
  void fill() {
    const auto size = static_cast<int64_t>(order_.size());
    for (int64_t begin = 0; begin < size;) {
      int64_t longest = 0, count = 0;
      while (begin + count < size) {
        longest = std::max(longest, length(begin + count));
        if (!fits(count + 1, longest)) break;
        ++count;
      }
      batches_.push_back(
          range(begin, count, static_cast<int64_t>(batches_.size())));
      begin += count;
    }
  }

  bool fits(int64_t count, int64_t longest) const {
    if (options_.max_samples > 0 && count > options_.max_samples) return false;
    return options_.max_tokens == 0 || longest == 0 ||
           count <= options_.max_tokens / longest;
  }

  void even_out(int64_t ranks) {
    const auto count = static_cast<int64_t>(batches_.size());
    int64_t more = (ranks - count % ranks) % ranks;
    for (int64_t i = 0; i < count; ++i) {
      batches_[static_cast<size_t>(i)].number = i;
    }
    more -= cut_in_two(more);
    if (more == 0 || batches_.empty()) return;
    std::stable_sort(
        batches_.begin(), batches_.end(),
        [](const Range& a, const Range& b) { return a.cost > b.cost; });
    const auto size = static_cast<int64_t>(batches_.size());
    if (options_.drop_last) {
      const auto gone = static_cast<size_t>(size % ranks);
      left_out_.assign(batches_.end() - static_cast<int64_t>(gone),
                       batches_.end());
      batches_.resize(batches_.size() - gone);
    } else {
      // The cheapest batches stand twice.
      for (int64_t i = 0; i < more; ++i) {
        batches_.push_back(batches_[static_cast<size_t>(size - 1 - i % size)]);
      }
    }
  }

  // Cuts that many batches in two, the costliest first; returns how many it
  // could.
  int64_t cut_in_two(int64_t wanted) {
    const auto cheaper = [&](size_t a, size_t b) {
      const Range &x = batches_[a], &y = batches_[b];
      return x.cost != y.cost ? x.cost < y.cost : a > b;
    };
    std::priority_queue<size_t, std::vector<size_t>, decltype(cheaper)> queue(
        cheaper);
    const auto push = [&](size_t i) {
      if (batches_[i].count > 1) queue.push(i);
    };
    if (wanted > 0) {
      for (size_t i = 0; i < batches_.size(); ++i) push(i);
    }
    int64_t done = 0;
    for (; done < wanted && !queue.empty(); ++done) {
      const size_t i = queue.top();
      queue.pop();
      const Range whole = batches_[i];
      const int64_t half = whole.count / 2;
      batches_[i] = range(whole.begin, half, whole.number);
      batches_.push_back(range(whole.begin + half, whole.count - half,
                               static_cast<int64_t>(batches_.size())));
      push(i);
      push(batches_.size() - 1);
    }
    return done;
  }

  const std::vector<int64_t>& lengths_;
  const DistributedBucketSamplerOptions& options_;
  EpochStream random_;
  std::vector<int64_t> order_;
  std::vector<Range> batches_, left_out_;
};

// FNV-1a of numbers.
uint64_t digest_of(std::span<const int64_t> numbers, uint64_t seed) {
  uint64_t hash = seed;
  for (const int64_t n : numbers) {
    for (int i = 0; i < 64; i += 8) {
      hash ^= static_cast<uint64_t>(n) >> i & 0xff;
      hash *= 0x100000001b3;
    }
  }
  return hash;
}

void check(const DistributedBucketSamplerOptions& o,
           const std::vector<int64_t>& lengths) {
  SY_CHECK(o.max_tokens >= 0 && o.max_samples >= 0 &&
               o.max_tokens + o.max_samples > 0,
           Value,
           "[{}] options: expected max_tokens or max_samples above 0, got {} "
           "and {}",
           kOp, o.max_tokens, o.max_samples);
  SY_CHECK(o.noise >= 0 && o.noise <= 1, Value,
           "[{}] noise: expected 0 to 1, got {}", kOp, o.noise);
  for (size_t i = 0; i < lengths.size(); ++i) {
    SY_CHECK(lengths[i] >= 0, Value,
             "[{}] lengths: expected at least 0, got {} at {}", kOp, lengths[i],
             i);
    SY_CHECK(o.max_tokens == 0 || lengths[i] <= o.max_tokens, Value,
             "[{}] lengths: expected at most max_tokens, {}, got {} at {}", kOp,
             o.max_tokens, lengths[i], i);
  }
}

}  // namespace

struct DistributedBucketSampler::Plan {
  int64_t steps = 0;
  double padding = 0;
  std::vector<Batch> batches;
};

DistributedBucketSampler::DistributedBucketSampler(
    std::vector<int64_t> lengths,
    const DistributedBucketSamplerOptions& options)
    : lengths_(std::move(lengths)), options_(options) {
  check(options_, lengths_);
  detail::fill_ranks(kOp, &options_.num_replicas, &options_.rank);
  const int64_t rest[] = {
      options_.max_tokens,        options_.max_samples,
      options_.shuffle ? 1 : 0,   static_cast<int64_t>(options_.seed),
      options_.drop_last ? 1 : 0, std::bit_cast<int64_t>(options_.noise)};
  digest_ = digest_of(rest, digest_of(lengths_, 0xcbf29ce484222325));
  start(0, {});
}

DistributedBucketSampler::Plan DistributedBucketSampler::plan(
    int64_t epoch, const std::vector<Segment>& before) const {
  Planner planner(lengths_, options_, epoch);
  for (const Segment& s : before) {
    planner.deal(s.ranks);
    const auto all = static_cast<int64_t>(planner.batches().size());
    SY_CHECK(s.steps >= 0 && s.steps <= all / s.ranks, Value,
             "[{}] state: expected at most {} steps of {} ranks, got {}", kOp,
             all / s.ranks, s.ranks, s.steps);
    planner.drop(s.steps * s.ranks);
  }
  const int64_t ranks = options_.num_replicas;
  planner.deal(ranks);
  Plan plan;
  plan.padding = planner.padding();
  plan.steps = static_cast<int64_t>(planner.batches().size()) / ranks;
  plan.batches.reserve(static_cast<size_t>(plan.steps));
  for (int64_t s = 0; s < plan.steps; ++s) {
    const Range& r =
        planner.batches()[static_cast<size_t>(s * ranks + options_.rank)];
    const auto first = planner.order().begin() + r.begin;
    plan.batches.emplace_back(first, first + r.count);
  }
  return plan;
}

void DistributedBucketSampler::take(Plan&& plan) {
  steps_ = plan.steps;
  padding_ = plan.padding;
  batches_ = std::move(plan.batches);
}

void DistributedBucketSampler::start(int64_t epoch,
                                     std::vector<Segment> before) {
  take(plan(epoch, before));
  epoch_ = epoch;
  before_ = std::move(before);
  drawn_ = 0;
  resumed_ = false;
}

void DistributedBucketSampler::set_epoch(int64_t epoch) {
  SY_CHECK(epoch >= 0, Value, "[{}] epoch: expected at least 0, got {}", kOp,
           epoch);
  if (epoch != epoch_) start(epoch, {});
}

void DistributedBucketSampler::reset() {
  if (!resumed_) {
    if (!before_.empty()) start(epoch_, {});
    drawn_ = 0;
  }
  resumed_ = false;
}

std::optional<DistributedBucketSampler::Batch> DistributedBucketSampler::next(
    size_t) {
  resumed_ = false;
  if (drawn_ == steps_) return std::nullopt;
  return batches_[static_cast<size_t>(drawn_++)];
}

NamedTensors DistributedBucketSampler::state() const {
  std::vector<Segment> segments = before_;
  if (drawn_ > 0) segments.push_back({options_.num_replicas, drawn_});
  NamedTensors state;
  detail::add_number(&state, "epoch", epoch_);
  detail::add_number(&state, "digest", static_cast<int64_t>(digest_));
  const Tensor t =
      empty({static_cast<int64_t>(segments.size()), 2}, ScalarType::Long);
  auto* out = static_cast<int64_t*>(t.mutable_data_ptr());
  for (const Segment& s : segments) {
    *out++ = s.ranks;
    *out++ = s.steps;
  }
  state.insert("segments", t);
  return state;
}

void DistributedBucketSampler::set_state(const NamedTensors& state) {
  SY_CHECK(
      static_cast<uint64_t>(detail::number_of(kOp, state, "digest")) == digest_,
      Value,
      "[{}] state: expected one of the same lengths, limits, seed and "
      "options, got another",
      kOp);
  const int64_t epoch = detail::number_of(kOp, state, "epoch");
  const Tensor* const t = state.find("segments");
  SY_CHECK(epoch >= 0 && t != nullptr && t->defined() &&
               t->scalar_type() == kLong && t->dim() == 2 && t->size(1) == 2,
           Value,
           "[{}] state: expected an epoch from 0 on and segments, int64 [n, "
           "2], got another",
           kOp);
  const Tensor own = t->to(kCPU).contiguous();
  const int64_t* const numbers = own.const_data_ptr<int64_t>();
  std::vector<Segment> before;
  for (int64_t i = 0; i < own.size(0); ++i) {
    const Segment s{numbers[2 * i], numbers[2 * i + 1]};
    SY_CHECK(s.ranks > 0 && s.ranks <= kMostRanks, Value,
             "[{}] state: expected 1 to {} ranks in a segment, got {}", kOp,
             kMostRanks, s.ranks);
    before.push_back(s);
  }
  // The same steps go on if there are as many ranks as last.
  int64_t drawn = 0;
  if (!before.empty() && before.back().ranks == options_.num_replicas) {
    drawn = before.back().steps;
    before.pop_back();
  }
  Plan made = plan(epoch, before);
  SY_CHECK(drawn >= 0 && drawn <= made.steps, Value,
           "[{}] state: expected at most {} steps of {} ranks, got {}", kOp,
           made.steps, options_.num_replicas, drawn);
  take(std::move(made));
  epoch_ = epoch;
  before_ = std::move(before);
  drawn_ = drawn;
  resumed_ = true;
}

}  // namespace sy::distributed
