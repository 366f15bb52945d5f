#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <utility>

#include "frontend/distributed/process_group.h"
#include "frontend/distributed/training/comm_hooks.h"
#include "frontend/nn/module.h"

// Training of one model by several ranks, each with its part of the batch:
//
//   Net model;
//   sy::distributed::DistributedDataParallel ddp(model);
//
// From then on backward() leaves in .grad of each parameter the average over
// the ranks. Everything else stays as it was.

namespace sy::distributed {

struct DataParallelOptions {
  // The ranks that train together; other ranks do not construct it. nullptr:
  // the world, by calls of a group of their own, which do not mix with other
  // calls, nor with those of the program's other models (of up to 8).
  std::shared_ptr<ProcessGroup> group = nullptr;
  // Gradients go to the other ranks in buckets of at least so many bytes, while
  // backward computes others. 0: a quarter of all, but 256 KB at least and 25
  // MB at most. Fewer are faster where ranks and their helper threads share
  // cores: there a bucket costs 0.1 ms.
  size_t bucket_bytes = 0;
  // The bytes of the first bucket, so that it goes early, and the most bytes of
  // the last (or one gradient), which has nothing left to overlap with. 0: a
  // quarter of bucket_bytes, but 1 MB at most.
  size_t first_bucket_bytes = 0;
  // Parameters that get no gradient in a backward count as zeros; those that
  // get none on any rank keep their .grad. Without it they are an error, after
  // the gradients were averaged with zeros in their place.
  bool find_unused_parameters = false;
  // Every backward reaches the parameters that the first one reached, as often.
  // Then a parameter may be used by several runs within a backward, and unused
  // ones cost nothing.
  bool static_graph = false;
  // Before forward of a step of training, buffers (running statistics) become
  // those of rank 0. Needs calls as model(x), of modules on the stack ddp(x);
  // model->forward(x) does not do it.
  bool broadcast_buffers = true;
  // At first, parameters and buffers become those of rank 0.
  bool init_sync = true;
  // Sums are made in the order of ranks: results do not depend on the sizes of
  // buckets, bit by bit. See ProcessGroup::deterministic().
  bool deterministic = false;
  // First makes the model's BatchNorms those of all ranks' batches:
  // nn::convert_sync_batchnorm(). They make calls of `group`, or of the world.
  bool sync_batch_norm = false;
};

// The part that does not depend on the type of the module.
class SY_API DataParallelBase {
 public:
  // While one lives, backward adds to .grad of this rank alone. The next
  // backward without one averages all that has come together.
  class SY_API NoSync {
   public:
    explicit NoSync(DataParallelBase& ddp);
    ~NoSync();
    NoSync(const NoSync&) = delete;
    NoSync& operator=(const NoSync&) = delete;

   private:
    std::weak_ptr<class Reducer> reducer_;
  };
  [[nodiscard]] NoSync no_sync() { return NoSync(*this); }

  // Sets how buckets become averages, from the next backward on. All ranks give
  // the same. Takes a CommHook, or a function that returns a Work or nothing.
  // An empty CommHook: as it was at first.
  template <class F>
  void register_comm_hook(F hook) {
    set_comm_hook(make_comm_hook(std::move(hook)));
  }
  void set_comm_hook(CommHook hook);

  const std::shared_ptr<ProcessGroup>& group() const noexcept;
  // The buckets of the next backward, as names of parameters.
  std::vector<std::vector<std::string>> buckets() const;

 protected:
  DataParallelBase(std::shared_ptr<nn::Module> module,
                   const DataParallelOptions& options);
  DataParallelBase(DataParallelBase&&) noexcept;
  DataParallelBase& operator=(DataParallelBase&&) noexcept;
  // The model trains alone again; its gradients stay where they are. The group
  // stays.
  ~DataParallelBase();

  static std::shared_ptr<nn::Module> pointer_to(nn::Module& module);
  void prepare_call() const;

 private:
  friend class Join;
  struct State;
  std::shared_ptr<State> state_;  // nullptr after a move
};

// Takes a model as it is: its holder, a shared pointer, or the module itself,
// which then must live as long. All ranks of the group construct it at the same
// point; if nobody has called init(), it does. Throws on all ranks: Error if
// the models or options differ, which names the first difference, and
// ValueError for a module without parameters that require a gradient.
// Parameters that require none are left alone. Clones of the module are not
// part of it.
//
// After each backward of a step, .grad of the parameters are views of buckets,
// with the averages of all that has come to them; they may be dropped, written
// to, or replaced. Errors of backward, on all ranks: unused parameters (above);
// a rank whose backward threw; a parameter that gets a gradient a second time
// after the first was sent; create_graph. They name parameters and ranks;
// training may go on by zero_grad(). A rank that does not come is the group's
// error. Gradients of grad() are not averaged. One thread at a time may use the
// model.
template <class M = nn::Module>
class DistributedDataParallel : public DataParallelBase {
 public:
  explicit DistributedDataParallel(std::shared_ptr<M> module,
                                   const DataParallelOptions& options = {})
      : DataParallelBase(module, options), module_(std::move(module)) {}
  explicit DistributedDataParallel(const nn::ModuleHolder<M>& module,
                                   const DataParallelOptions& options = {})
      : DistributedDataParallel(module.ptr(), options) {}
  explicit DistributedDataParallel(
      M& module, const DataParallelOptions& options = {}) requires
      std::derived_from<M, nn::Module>
      : DistributedDataParallel(std::static_pointer_cast<M>(pointer_to(module)),
                                options) {}

  // module(arguments...)
  template <class... A>
  auto operator()(A&&... arguments) const {
    prepare_call();
    return nn::call_module(*module_, std::forward<A>(arguments)...);
  }
  M* operator->() const noexcept { return module_.get(); }
  M& operator*() const noexcept { return *module_; }
  const std::shared_ptr<M>& module() const noexcept { return module_; }

 private:
  std::shared_ptr<M> module_;
};

template <class H>
requires requires { typename H::ContainedType; }
DistributedDataParallel(const H&)
    ->DistributedDataParallel<typename H::ContainedType>;
template <class H>
requires requires { typename H::ContainedType; }
DistributedDataParallel(const H&, const DataParallelOptions&)
    ->DistributedDataParallel<typename H::ContainedType>;

}  // namespace sy::distributed
