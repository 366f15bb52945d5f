#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aten/backend/engines.h"
#include "c10/dispatch/operator_def.h"
#include "c10/plugin/library_token.h"
#include "model/form_plan.h"
#include "runtime/loader/descriptors.h"
#include "runtime/loader/evaluator.h"

// The state that the kernels of one operator share. The load makes it; it does
// not change after that, and is freed once the operator is out.

namespace sy::runtime {

struct Gradient;
struct OperatorState;

// A condition of `require:` and what its message is made of.
struct RequireState {
  PlanProgram condition;
  std::string head;  // "[op] argument: expected CONDITION"
  struct Got {
    std::string label;
    PlanProgram value;
    std::optional<PlanProgram> reached;  // none: always
  };
  std::vector<Got> got;
};

// One form of the operator. Kernels have it as their context, guards find it by
// the entry's info.
struct OverloadState : OperatorInfo {
  OperatorState* op = nullptr;
  bool inplace = false, out = false;
  bool copied_out = false;  // the tag
  bool laid_out = false;    // model::stores_as_laid_out
  bool returns_view = false;
  bool contract_applies = false;  // model::contract_applies
  model::InputsApart inputs_apart = model::InputsApart::kNone;
  bool outs_apart = false;
  model::FormGradient gradient = model::FormGradient::kNone;
  uint16_t flags = 0;     // of OperatorDef
  std::string full_name;  // "mine::add_.Tensor"
  // The position of each argument of the base form among this one's, or a
  // FormPlaces::Place, which is below zero.
  std::vector<int> positions;
  std::vector<int> written;  // model::written_tensors
  struct Box {
    Value::Tag tag;
    bool is_read = false;  // model::read_tensors
    uint32_t length;       // of a list of fixed size; else 0
    Type type;
    InternedString name;
  };
  std::vector<Box> boxes;  // what each argument is boxed as
  // The lists that `functional` points to, if it has an operator: args, then
  // written.
  std::vector<int8_t> places;
  FunctionalForm functional;
};

// The context of the kernel that an engine of a backend makes of a form.
struct EngineKernel {
  const OverloadState* form;
  DeviceType backend;
};

// The parts of `view:`.
struct ViewState {
  int self;  // which argument
  PlanProgram sizes;
  // They read the sizes, too, as one name more.
  std::optional<PlanProgram> strides;
  std::optional<PlanProgram> offset;
  bool stays_within;  // see model::ViewCode
};

struct OperatorState {
  // The description itself is not kept.
  struct Parameter {
    InternedString name;
    Type type;
    bool is_out;
  };
  lang::OperatorKind kind = lang::OperatorKind::kDispatch;
  bool device_check = true;
  model::ResultLayout layout;
  bool is_foreach = false;  // then `composite` is that of one element
  int line = 0;
  uint32_t returns = 0;
  uint32_t base_begins = 0;
  std::vector<Parameter> arguments;  // of the base form
  // The values of arguments that some form does not have; empty if all have
  // them.
  std::vector<Value> defaults;
  std::string doc, source, writes;  // of OperatorInfo
  LibraryToken* token = nullptr;
  std::string name;                      // "mine::add.Tensor"
  std::vector<OverloadState> overloads;  // base first; kernels point to them
  std::vector<EngineKernel> engine_kernels;  // of all forms
  std::unique_ptr<PointwiseData> pointwise;
  std::unique_ptr<ReduceData> reduce;
  std::unique_ptr<ScanData> scan;
  std::vector<uint8_t> node_inputs;
  std::vector<NodeScalar> node_scalars;
  NodeDesc node;  // of pointwise, reduce and scan
  std::vector<RequireState> require;
  std::vector<PlanProgram> shape;
  std::vector<PlanProgram> result_dtypes;  // one, one for each, or none
  std::optional<PlanProgram> composite;
  std::unique_ptr<ViewState> view;
  std::unique_ptr<Gradient> gradient;
  std::optional<Callee> base;

  // "add.Tensor"
  const char* base_name() const { return name.c_str() + base_begins; }

  ~OperatorState();
};

// The arguments of a call as programs read them: those of the base form, and
// places for `more` names.
class CallNames {
 public:
  CallNames(const OverloadState& form, const Value* args, size_t more = 0)
      : size_(form.positions.size()) {
    if (size_ + more > kInline) {
      many_.resize(size_ + more);
      names_ = many_.data();
    }
    for (size_t i = 0; i < size_; ++i) {
      if (form.positions[i] >= 0) names_[i].value = &args[form.positions[i]];
    }
  }
  CallNames(const CallNames&) = delete;
  CallNames& operator=(const CallNames&) = delete;

  operator const Named*() const { return names_; }
  Named& more(size_t i) { return names_[size_ + i]; }

 private:
  static constexpr size_t kInline = 16;
  Named own_[kInline];
  std::vector<Named> many_;
  Named* names_ = own_;
  const size_t size_;
};

// Throws TypeError for an argument that is boxed as something else, as the
// unboxed form of a kernel does, and ValueError for a list of another length
// than the signature's.
void check_boxes(const OverloadState& form, const Value* args);
// Throws ValueError if the arguments do not meet `require:`.
void check_requirements(const OverloadState& form, const Value* args);

// Kernels and guards, boxed. The context of a kernel is its OverloadState.
BoxedFunction guard_kernel();
// The kernel of a backend, whose context is an EngineKernel; null if the
// backend has no engine for operators of that kind.
BoxedFunction engine_kernel(lang::OperatorKind kind,
                            const BackendEngines& engines);
// The results of `shape:` alone, for backends without data.
BoxedFunction sizes_kernel();
// The kernel of backends without an own one; null for kNone.
BoxedFunction form_kernel(model::FormKernel kernel, const OverloadState& form);

}  // namespace sy::runtime
