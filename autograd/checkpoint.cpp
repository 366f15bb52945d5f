#include "autograd/checkpoint.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>

#include "autograd/saved_tensor_hooks.h"
#include "autograd/user_error.h"
#include "c10/device/generator.h"
#include "c10/dispatch/thread_state.h"
#include "c10/process/fork.h"

namespace sy::autograd::detail {

namespace {

// The state of the default generators that a checkpoint keeps.
class RandomState {
  struct State {
    Generator generator;
    uint64_t seed, offset;
  };

 public:
  explicit RandomState(const std::vector<Tensor>& inputs) {
    add(Device(kCPU));
    for (const Tensor& t : inputs) {
      if (t.defined() && !t.is_meta()) add(t.device());
    }
  }
  // Puts the generators back to this state while it lives.
  class Scope {
   public:
    explicit Scope(const RandomState& s) {
      for (const State& o : s.states_) before_.push_back(read(o.generator));
      set(s.states_);
    }
    ~Scope() { set(before_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    std::vector<State> before_;
  };

 private:
  static void set(const std::vector<State>& states) {
    for (const State& s : states) {
      s.generator->set_seed(s.seed);
      s.generator->set_offset(s.offset);
    }
  }
  static State read(const Generator& g) { return {g, g->seed(), g->offset()}; }
  void add(Device d) {
    const Generator& g = default_generator(d);
    const bool known =
        std::any_of(states_.begin(), states_.end(),
                    [&](const State& s) { return s.generator == g; });
    if (!known) states_.push_back(read(g));
  }

  std::vector<State> states_;
};

class Frame;

// Stands in for one saved tensor. Empty until the second run.
struct Slot {
  std::shared_ptr<Frame> frame;
  Tensor tensor;
  uint32_t version = 0;
};

// One call of checkpoint. Its slots keep it.
class Frame : public std::enable_shared_from_this<Frame> {
 public:
  Frame(CheckpointFunction f, std::vector<Tensor> inputs,
        const CheckpointOptions& options)
      : f_(std::move(f)), inputs_(std::move(inputs)) {
    if (options.preserve_rng_state) {
      random_.emplace(inputs_);
    }
    for (const Tensor& t : inputs_) {
      versions_.push_back(t.defined() ? t.impl()->version() : 0);
    }
  }

  std::vector<Tensor> run_first(const void* dso) {
    const SavedTensorHooks hooks(
        [this](const Tensor&) -> std::any {
          auto slot = std::make_shared<Slot>();
          slot->frame = shared_from_this();
          slots_.push_back(slot);
          return slot;
        },
        [](const std::any& slot) {
          const auto& s = *std::any_cast<const std::shared_ptr<Slot>&>(slot);
          return s.frame->tensor_of(s);
        },
        __builtin_FILE(), __builtin_LINE(), dso);
    return f_(inputs_);
  }

 private:
  Tensor tensor_of(const Slot& slot) {
    const std::lock_guard guard(mutex_);
    if (!slot.tensor.defined()) run_again();
    SY_CHECK(slot.tensor.defined(), Error,
             "[checkpoint] f: expected a second run that saves the tensors of "
             "the first, got fewer of them");
    SY_CHECK(slot.tensor.impl()->version() == slot.version, Error,
             "[checkpoint] f: expected a function that leaves what its "
             "operators save, but it writes to {}",
             describe(slot.tensor));
    return slot.tensor;
  }

  void run_again() {
    check_inputs();
    std::optional<RandomState::Scope> random;
    if (random_) random.emplace(*random_);
    size_t saved = 0;
    call_user([&] { saved = fill_slots(); },
              [] { return std::string("in the second run of checkpoint"); });
    SY_CHECK(saved == slots_.size(), Error,
             "[checkpoint] f: expected a second run that saves {} tensors as "
             "the first, got {}",
             slots_.size(), saved);
  }

  size_t fill_slots() {
    const AutoGradMode on(true);
    size_t n = 0;
    const SavedTensorHooks hooks(
        [&](const Tensor& t) -> std::any {
          if (n < slots_.size()) {
            if (const auto slot = slots_[n].lock()) {
              slot->tensor = t;
              slot->version = t.impl()->version();
            }
          }
          ++n;
          return {};
        },
        [](const std::any&) -> Tensor {
          fail(ErrorKind::Error,
               "[checkpoint] f: runs backward on what it records");
        });
    f_(inputs_);
    return n;
  }

  void check_inputs() const {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const Tensor& t = inputs_[i];
      if (!t.defined() || t.impl()->version() == versions_[i]) continue;
      const OperatorEntry* writer = t.storage()->last_writer();
      fail(ErrorKind::Error,
           "[checkpoint] inputs[{}]: expected the tensor of the first run, but "
           "it was overwritten by {}",
           i,
           writer != nullptr ? display_name(*writer)
                             : "a write that no operator made");
    }
  }

  CheckpointFunction f_;
  std::vector<Tensor> inputs_;
  std::vector<uint32_t> versions_;
  std::optional<RandomState> random_;
  std::vector<std::weak_ptr<Slot>> slots_;
  // The second run is made by one thread; it may need another checkpoint's.
  RecursiveForkMutex mutex_;
};

}  // namespace

std::vector<Tensor> checkpoint(CheckpointFunction f, std::vector<Tensor> inputs,
                               const CheckpointOptions& options,
                               const void* dso) {
  const auto frame =
      std::make_shared<Frame>(std::move(f), std::move(inputs), options);
  return frame->run_first(dso);
}

}  // namespace sy::autograd::detail
