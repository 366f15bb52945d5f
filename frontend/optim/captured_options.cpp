#include "frontend/optim/captured_options.h"

#include <algorithm>
#include <cstring>

#include "c10/dispatch/capture.h"

namespace sy::optim {

namespace {

template <class T>
struct IsTuple : std::false_type {};
template <class... T>
struct IsTuple<std::tuple<T...>> : std::true_type {};

// The lr and the other inputs follow; all other options must stay.
class GroupReads {
 public:
  explicit GroupReads(const Group& g)
      : options_(const_cast<OptimizerOptions&>(g.group->options())),
        params_(g.group->params().data()),
        count_(g.group->params().size()) {
    const auto is_input = [&](const double* d) {
      return std::find(g.inputs.begin(), g.inputs.end(), d) != g.inputs.end();
    };
    const auto add = [&](const OptionRef& o, const auto* value) {
      using T = std::remove_cvref_t<decltype(*value)>;
      if constexpr (std::is_same_v<T, double>) {
        if (o.name == std::string_view("lr")) return;
        if (is_input(value)) return inputs_.push_back({value, *value != 0});
        // The step has no place for one that varies and is no input.
        numbers_.push_back({value, !options_.varies(*value)});
      }
      watched_.push_back({o.name, WatchedBytes(value, sizeof *value)});
    };
    for (const OptionRef& o : options_.list()) {
      std::visit(
          [&](const auto* value) {
            if constexpr (IsTuple<
                              std::remove_cvref_t<decltype(*value)>>::value) {
              std::apply([&](const auto&... each) { (add(o, &each), ...); },
                         *value);
            } else {
              add(o, value);
            }
          },
          o.value);
    }
    if (count_ != 0) {
      watched_.push_back(
          {"parameters", WatchedBytes(params_, count_ * sizeof(Tensor))});
    }
  }

  // The name of what differs, and its bytes if it has some; nullptr if nothing
  // does.
  const char* difference(const OptimizerParamGroup& g, WatchedBytes** bytes) {
    if (!g.has_options() || &g.options() != &options_) return "options";
    if (g.params().data() != params_ || g.params().size() != count_) {
      return "parameters";
    }
    for (Watched& w : watched_) {
      if (SY_LIKELY(w.bytes.hold())) continue;
      w.bytes.note_difference();
      *bytes = &w.bytes;
      return w.name;
    }
    // Optimizers leave out what a zero has no part in.
    for (const Input& i : inputs_) {
      if ((*i.value != 0) != i.is_not_zero) return "a number that was zero";
    }
    for (const Constant& c : numbers_) {
      if (c.may_vary && SY_UNLIKELY(options_.varies(*c.value))) {
        return "a number that was no input";
      }
    }
    return nullptr;
  }
  bool has(const TensorImpl* t) const {
    return std::any_of(watched_.begin(), watched_.end(),
                       [&](const Watched& w) { return w.bytes.had(t); });
  }
  // Numbers that change are inputs of the next capture.
  void let_vary() {
    for (const Watched& w : watched_) {
      for (const Constant& c : numbers_) {
        if (static_cast<const void*>(c.value) == w.bytes.at() &&
            !w.bytes.hold()) {
          options_.vary(*c.value);
        }
      }
    }
  }
  void follow() { options_.refresh_tensors(); }

 private:
  struct Watched {
    const char* name;
    WatchedBytes bytes;
  };
  struct Input {
    const double* value;
    bool is_not_zero;
  };
  struct Constant {
    const double* value;
    bool may_vary;  // it would be an input then
  };
  OptimizerOptions& options_;
  const Tensor* const params_;
  const size_t count_;
  std::vector<Watched> watched_;
  std::vector<Constant> numbers_;  // those of watched_
  std::vector<Input> inputs_;
};

class OptionReads final : public Dependence {
 public:
  OptionReads(const std::vector<OptimizerParamGroup>& groups,
              const uint64_t& renumbered, std::weak_ptr<const void> alive,
              const std::vector<Group>& read)
      : groups_(groups),
        renumbered_(renumbered),
        was_renumbered_(renumbered),
        alive_(std::move(alive)) {
    for (const Group& g : read) reads_.emplace_back(g);
  }

  const void* of() const noexcept override { return &groups_; }
  bool leads_to(const TensorImpl* t) const override {
    return std::any_of(reads_.begin(), reads_.end(),
                       [&](const GroupReads& g) { return g.has(t); });
  }
  bool holds() override {
    differs_ = nullptr;
    differing_ = nullptr;
    if (alive_.expired()) {
      differs_ = "the optimizer";
    } else if (groups_.size() != reads_.size()) {
      differs_ = "the number of groups";
    } else if (renumbered_ != was_renumbered_) {
      differs_ = "which parameters took the same steps";
    }
    for (size_t i = 0; i < reads_.size() && differs_ == nullptr; ++i) {
      differs_ = reads_[i].difference(groups_[i], &differing_);
      if (differs_ != nullptr) {
        reads_[i].let_vary();
      } else {
        reads_[i].follow();
      }
    }
    return differs_ == nullptr;
  }
  std::string difference() const override {
    return differs_ == nullptr
               ? ""
               : str("options of an optimizer: {} differs", differs_);
  }
  void accept() override {
    if (differing_ != nullptr) differing_->accept();
  }

 private:
  const std::vector<OptimizerParamGroup>& groups_;
  const uint64_t& renumbered_;
  const uint64_t was_renumbered_;
  const std::weak_ptr<const void> alive_;
  std::vector<GroupReads> reads_;
  // The results of the last holds().
  const char* differs_ = nullptr;
  WatchedBytes* differing_ = nullptr;
};

}  // namespace

void tell_options(const std::vector<OptimizerParamGroup>& groups,
                  const uint64_t& renumbered,
                  const std::weak_ptr<const void>& alive,
                  std::vector<Group> read) {
  CaptureNote note{CaptureNote::kReads};
  note.reads = make_intrusive<OptionReads>(groups, renumbered, alive, read);
  tell_capture(note);
}

}  // namespace sy::optim
