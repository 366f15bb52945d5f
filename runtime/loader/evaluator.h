#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "autograd/saved_meta.h"
#include "c10/dispatch/dispatcher.h"
#include "c10/tensor/value.h"
#include "lang/plan.h"

namespace sy::runtime {

// The operator that a plan calls: found when it is first called, since the
// operators of one schema may call each other.
class Callee {
 public:
  // `name` outlives this.
  explicit Callee(const char* name) : name_(name) {}
  explicit Callee(OperatorHandle h) : entry_(&h.entry()) {}
  Callee(Callee&& o) noexcept : name_(o.name_), entry_(o.entry()) {}
  Callee& operator=(Callee&& o) noexcept {
    name_ = o.name_;
    entry_.store(o.entry(), std::memory_order_relaxed);
    return *this;
  }

  // Throws NotImplementedError if there is none (any more).
  OperatorHandle handle() const {
    const OperatorEntry* e = entry();
    if (SY_UNLIKELY(e == nullptr)) {
      e = &Dispatcher::singleton().find_or_throw(name_).entry();
      entry_.store(e, std::memory_order_relaxed);
    }
    return OperatorHandle(e);
  }

 private:
  const OperatorEntry* entry() const {
    return entry_.load(std::memory_order_relaxed);
  }
  const char* name_ = nullptr;  // nullptr: it was known
  mutable std::atomic<const OperatorEntry*> entry_{nullptr};
};

// Finds the callee by the schema of a plan's kOperator; nullopt for
// result_type, which is no operator.
using FindCallee = std::function<std::optional<Callee>(const FunctionSchema&)>;

// A name of an expression: its value, or what is left of a tensor, or of each
// of a list, whose elements nobody reads.
struct Named {
  const Value* value = nullptr;
  const autograd::SavedMeta* meta = nullptr;
  const std::vector<autograd::SavedMeta>* metas = nullptr;
};

// An expression of the tensor or the index typing made ready to run, by walking
// its tree. Immutable.
class PlanProgram {
 public:
  // `names`: those that run() gets the values of, in that order. `op` is the
  // operator's name, for messages; it outlives the program. One of the index
  // typing calls no operators.
  PlanProgram(const lang::Plan& plan, const std::vector<std::string>& names,
              const char* op, const FindCallee& find = {});
  ~PlanProgram();
  PlanProgram(PlanProgram&&) noexcept;

  void run(const Named* names, Value* results, size_t n) const;
  // The value of a program with one result.
  Value value(const Named* names) const;
  bool truth(const Named* names) const { return value(names).to_bool(); }

  struct Node;

 private:
  const char* op_;
  std::unique_ptr<Node> root_;
  size_t locals_ = 0;
};

}  // namespace sy::runtime
