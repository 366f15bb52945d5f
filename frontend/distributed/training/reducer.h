#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "autograd/backward_callbacks.h"
#include "autograd/hooks.h"
#include "frontend/distributed/training/bucket.h"
#include "frontend/distributed/training/data_parallel.h"

namespace sy::distributed {

// Averages the gradients of each backward. Note [One step of the reducer]
//
// A run of backward that reaches one of the parameters is a step, unless it is
// in no_sync(). Hooks of the parameters say when a gradient is there; it is
// copied into its bucket and .grad becomes the view. A bucket whose gradients
// are all there, and whose predecessors have gone, goes. The end of the
// outermost run sends what is left and waits.
//
// Every rank makes the same calls in each step, whatever happens to it: one for
// each bucket (with a CommHook: the hook's, and one for the tail), and after
// the first step the order of the gradients. The last bucket has a tail of
// numbers: how much trouble this rank had (0: none), and, where unused
// parameters are allowed, which it has used. All ranks see the sums of the
// tails. If there was trouble anywhere, all tell each other what it was, and
// throw the same. A rank whose backward throws sends its remaining buckets as
// they are, and says so in the tail: so the others do not wait in vain, and the
// group can be used further.
class Reducer : public std::enable_shared_from_this<Reducer> {
 public:
  Reducer(std::vector<TrainedParameter> parameters,
          std::shared_ptr<ProcessGroup> group,
          const DataParallelOptions& options);
  ~Reducer();
  Reducer(const Reducer&) = delete;
  Reducer& operator=(const Reducer&) = delete;

  // Registers the hooks.
  void start();

  void pause() noexcept { ++paused_; }
  void go_on() noexcept { --paused_; }
  // Whether it is neither in a backward nor in no_sync().
  bool is_between_steps() const noexcept { return !running_ && paused_ == 0; }
  void set_hook(CommHook hook) { hook_ = std::move(hook); }

  // For steps with fewer ranks than the group has (join.h): the order of
  // gradients of rank `root` counts, and averages are multiplied by `scale`.
  void set_active(int root, double scale) noexcept;
  // A step with zeros, while this rank has no more inputs. `keep`: .grad of the
  // parameters become what they are on ranks that have inputs.
  void shadow(bool keep);

  std::vector<std::vector<std::string>> buckets() const;

 private:
  class Step;
  enum Trouble : int8_t { kNone = 0, kUnused = 1, kChanged = 2, kThrew = 3 };
  enum Use : int8_t { kNotUsed = 0, kUsed = 1, kNotAsked = 2 };

  struct Slot {
    Tensor tensor;
    size_t bucket = 0, index = 0;  // where its view is
    uint32_t hooks = 0;            // gradients that came in this step
    uint32_t expected = 1;         // with static_graph
    bool ready = false;            // in this step
    bool used = false;             // since the last step, also in no_sync()
    Tensor before;                 // .grad of one not used, to put it back
    autograd::HookHandle hook;
  };
  struct Sending {
    Bucket bucket;
    std::vector<std::string> names;
    std::string label;
    size_t missing;  // gradients that are not there yet
    Work work;
    std::function<void()> end;  // of a CommHook
  };
  // The reports of all ranks: kinds of trouble, and uses.
  using Reports = std::vector<std::vector<int8_t>>;

  void build(const std::vector<size_t>& order);
  void begin(const std::vector<size_t>& unreached);
  void reset_step();
  void on_gradient(size_t i);
  void gradient_came_late(size_t i) const;
  void take_gradient(size_t i);
  void take_unused(size_t i);
  void ready(size_t i);
  void send_complete();
  void send(Sending& s, bool last);
  void write_tail(const Bucket& last);

  // reducer_end.cpp
  void finish();
  void abort() noexcept;
  void wait_for_all();
  std::vector<float> read_tail() const;
  Trouble own_trouble() const;
  Reports exchange_reports(Trouble own);
  [[noreturn]] void throw_trouble(const Reports& reports) const;
  std::string unused_text(const Reports& reports) const;
  void keep_gradients(const std::vector<bool>& used);
  void learn();

  const Tensor& view(const Slot& s) const {
    return sendings_[s.bucket].bucket.view(s.index);
  }
  bool allows_unused() const noexcept {
    return options_.find_unused_parameters || options_.static_graph;
  }

  const std::vector<TrainedParameter> parameters_;
  const std::shared_ptr<ProcessGroup> group_;
  const DataParallelOptions options_;
  const BucketSizes sizes_;
  std::vector<Slot> slots_;
  std::vector<Sending> sendings_;
  autograd::LeafWatch watch_;
  CommHook hook_;
  int paused_ = 0;
  int root_ = 0;
  double scale_ = 1;

  // The state of the step that is under way.
  bool running_ = false;
  bool threw_ = false;
  bool shadows_ = false;
  bool keeps_ = false;  // while it shadows
  bool tail_sent_ = false;
  size_t next_ = 0;            // the bucket that goes next
  std::vector<size_t> order_;  // of gradients, as they came

  bool learned_ = false;  // the order, and with static_graph the counts
  bool tail_dirty_ = false;
};

}  // namespace sy::distributed
