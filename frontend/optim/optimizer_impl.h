#pragma once

#include <map>
#include <unordered_map>

#include "frontend/optim/captured_options.h"
#include "frontend/optim/optimizer.h"
#include "frontend/optim/update.h"

namespace sy::optim {

struct LBFGSOptions;

// The numbers of parameters that have taken the same steps.
struct SharedNumbers {
  std::vector<Number> values;
};

// The state of one parameter.
struct ParamState {
  std::vector<Tensor> tensors;  // by kind; undefined: not there
  std::shared_ptr<SharedNumbers> numbers;
};

struct Optimizer::Impl {
  // Virtual, so that searches for a program's tensors know the class.
  virtual ~Impl() = default;

  // A bucket with what belongs to its parameters.
  struct Members {
    Bucket bucket;
    std::vector<ParamState*> states;
    std::shared_ptr<SharedNumbers> numbers;
    uint32_t wanted = 0;
  };
  // Buckets of a group, good as long as it has the same parameters, and the
  // same of them have gradients.
  struct Plan {
    std::vector<std::pair<const TensorImpl*, bool>> seen;
    std::vector<Members> buckets;
    bool as_tensors = false;
  };

  std::vector<OptimizerParamGroup> groups;
  std::unique_ptr<OptimizerOptions> defaults;
  std::unordered_map<const TensorImpl*, ParamState> states;
  std::vector<Plan> plans;
  // How often parameters got other numbers, which graphs of steps before do not
  // write to.
  uint64_t renumbered = 0;
  // The number of the capture that has read the options last.
  uint64_t last_capture = 0;
  // Lives as long as this.
  std::shared_ptr<const void> alive = std::make_shared<char>();
  // The misfits that load() found in an archive, and that read_options() is to
  // report.
  Misfits found;

  const UpdateRule& rule() const;
  void refresh(OptimizerOptions& options) const;
  bool fits(const Plan& plan, const OptimizerParamGroup& group,
            bool as_tensors) const;
  void make_plan(Plan* plan, const OptimizerParamGroup& group, bool as_tensors);
  std::string key_of(size_t group, size_t index) const;
  // Throws ValueError for a gradient of other sizes than its parameter.
  void take_grads(size_t group, Bucket* b) const;
  // `read`: what a captured step tells of it.
  void step(size_t group, Group* read);
  // Loaded states take the memory of those that are there, which captured steps
  // refer to.
  void keep_memory(std::unordered_map<const TensorImpl*, ParamState>* loaded);
  // The numbers of a state by value, and its tensors, by name.
  NamedTensors named_state(const ParamState& state) const;
  // Adds what was found to others, and forgets it.
  void move_found(Misfits* to);
};

// The name of an option in state dicts, "param_groups.0.lr", and its value.
std::string option_name(size_t group, std::string_view option);
Tensor option_tensor(const OptionRef& option);

// The parts of the state of a parameter that archives have besides tensors, by
// name.
struct ArchiveKinds {
  std::vector<std::string_view> ints, reals;
  std::vector<std::string_view> lists;   // of the rows of a tensor
  std::vector<std::string_view> unused;  // libtorch's alone
};
ArchiveKinds archive_kinds(const OptimizerOptions& options);
constexpr const char* kArchiveVersion = "1.5.0";
inline std::string archive_group(size_t i) { return str("param_groups/{}", i); }
inline std::string archive_param(size_t i) { return str("params/{}", i); }
// libtorch's LBFGS is never without a max_eval. This one stands for none.
int64_t usual_max_eval(const LBFGSOptions& options);

}  // namespace sy::optim
