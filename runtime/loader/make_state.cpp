#include "runtime/loader/make_state.h"

#include "c10/dispatch/default_argument.h"
#include "c10/dispatch/dispatcher.h"
#include "c10/process/error.h"
#include "model/foreach.h"
#include "model/form_plan.h"
#include "model/functional_form.h"
#include "model/view_code.h"
#include "runtime/loader/gradient.h"

namespace sy::runtime {
namespace {

using lang::OperatorKind;
using model::Operator;
using model::Overload;

OperatorInfo::Kind info_kind(OperatorKind kind) {
  switch (kind) {
    case OperatorKind::kPointwise: return OperatorInfo::kPointwise;
    case OperatorKind::kReduce: return OperatorInfo::kReduce;
    case OperatorKind::kComposite: return OperatorInfo::kComposite;
    case OperatorKind::kView: return OperatorInfo::kView;
    case OperatorKind::kScan: return OperatorInfo::kScan;
    default: return OperatorInfo::kDispatch;
  }
}

void fill_node(const Operator& op, OperatorState* state) {
  const model::NodeParts parts = model::node_parts(op);
  state->node_inputs.reserve(parts.inputs.size());
  state->node_scalars.reserve(parts.scalars.size());
  for (const int i : parts.inputs) {
    state->node_inputs.push_back(static_cast<uint8_t>(i));
  }
  static const std::vector<ScalarSource> none;
  const auto& sources = state->pointwise ? state->pointwise->scalars()
                        : state->reduce  ? state->reduce->scalars()
                                         : none;
  for (size_t i = 0; i < parts.scalars.size(); ++i) {
    state->node_scalars.push_back(
        {static_cast<uint8_t>(parts.scalars[i].argument), sources[i].kind,
         sources[i].text.c_str()});
  }
  const auto argument = [](int i) {
    return i < 0 ? NodeDesc::kNone : static_cast<uint8_t>(i);
  };
  NodeDesc& node = state->node;
  if (state->pointwise) node.pointwise = &state->pointwise->op();
  if (state->reduce) node.reduce = &state->reduce->op();
  if (state->scan) node.scan = &state->scan->op();
  node.inputs = state->node_inputs.data();
  node.scalars = state->node_scalars.data();
  node.n_inputs = static_cast<uint8_t>(state->node_inputs.size());
  node.n_scalars = static_cast<uint8_t>(state->node_scalars.size());
  node.dim = argument(parts.dim);
  node.keepdim = argument(parts.keepdim);
  node.dtype = argument(parts.dtype);
}

void fill_positions(const Operator& op, const Overload& o,
                    OverloadState* form) {
  const auto arguments = op.base.schema.arguments();
  form->positions.reserve(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Argument& a = arguments[i];
    form->positions.push_back(model::place_of(a, o.schema));
    if (form->positions.back() != FormPlaces::kDefault) continue;
    form->op->defaults.resize(arguments.size());
    form->op->defaults[i] = default_value(a.default_value, a.type);
  }
  form->written = model::written_tensors(o.schema);
}

// Fills in what the definition says of the form's functional operator.
void fill_functional(const Operator& op, const Overload& o,
                     const std::string& functional, OverloadState* form) {
  auto places = functional_places(op, o);
  if (!places) return;
  const size_t n = places->args.size();
  form->places.reserve(n + places->written.size());
  for (const auto* list : {&places->args, &places->written}) {
    form->places.insert(form->places.end(), list->begin(), list->end());
  }
  form->functional = {functional.c_str(), form->places.data(),
                      form->places.data() + n, static_cast<uint8_t>(n),
                      static_cast<uint8_t>(places->written.size())};
}

// How a value of that type is boxed as a rule.
Value::Tag tag_of(Type type) {
  using Tag = Value::Tag;
  const Type t = type.without_optional();
  if (t.is_list()) {
    switch (t.element().kind()) {
      case TypeKind::kInt:
      case TypeKind::kSymInt: return Tag::IntList;
      case TypeKind::kTensor: return Tag::TensorList;
      default: return Tag::None;
    }
  }
  switch (t.kind()) {
    case TypeKind::kTensor: return Tag::Tensor;
    case TypeKind::kInt:
    case TypeKind::kSymInt: return Tag::Int;
    case TypeKind::kFloat: return Tag::Double;
    case TypeKind::kBool: return Tag::Bool;
    case TypeKind::kStr: return Tag::String;
    case TypeKind::kScalarType: return Tag::ScalarType;
    default: return Tag::None;
  }
}

lang::TensorCode compile(const lang::Expr& e, const Operator& op,
                         const model::Model& model,
                         const std::vector<Type>& types) {
  lang::Diagnostics diagnostics;
  auto code = lang::compile_tensor(e, lang::TensorEnv::of(op.base.schema),
                                   model, types, diagnostics);
  if (!code) throw lang::LangError(diagnostics);
  return std::move(*code);
}

std::vector<std::string> argument_names(const FunctionSchema& schema) {
  std::vector<std::string> out;
  for (const Argument& a : schema.arguments()) {
    out.emplace_back(a.name.view());
  }
  return out;
}

class StateMaker {
 public:
  StateMaker(const Operator& op, const model::Model& model,
             const FindCallee& find)
      : op_(op),
        model_(model),
        find_(find),
        schema_(op.base.schema),
        names_(argument_names(schema_)),
        state_(std::make_unique<OperatorState>()) {}

  std::unique_ptr<OperatorState> make(LibraryToken* token) {
    describe(token);
    add_contract();
    add_program();
    if (is_program(op_.kind())) fill_node(op_, state_.get());
    add_forms();
    add_gradients();
    return std::move(state_);
  }

 private:
  const char* name() const { return state_->base_name(); }
  PlanProgram index(const lang::Plan& plan) const {
    return PlanProgram(plan, names_, name());
  }
  void describe(LibraryToken* token);
  void add_contract();
  void add_program();
  void add_composite();
  void add_view();
  void add_forms();
  void fill(const Overload& o, OverloadState* form) const;
  void add_gradients();

  const Operator& op_;
  const model::Model& model_;
  const FindCallee& find_;
  const FunctionSchema& schema_;
  const std::vector<std::string> names_;
  std::unique_ptr<OperatorState> state_;
};

void StateMaker::describe(LibraryToken* token) {
  state_->kind = op_.kind();
  state_->device_check = op_.entry->device_check;
  state_->layout = model::result_layout(op_);
  state_->line = static_cast<int>(op_.entry->at.line);
  state_->returns = static_cast<uint32_t>(schema_.returns().size());
  state_->arguments.reserve(schema_.arguments().size());
  for (const Argument& a : schema_.arguments()) {
    state_->arguments.push_back({a.name, a.type, a.is_out()});
  }
  state_->doc = op_.entry->doc;
  state_->source = op_.source;
  for (const lang::Text& name : op_.entry->writes) {
    state_->writes += (state_->writes.empty() ? "" : ",") + name.str();
  }
  state_->token = token;
  state_->name = op_.ns + "::" + op_.base.name;
  state_->base_begins = static_cast<uint32_t>(op_.ns.size() + 2);
  state_->base.emplace(state_->name.c_str());
}

void StateMaker::add_contract() {
  for (const lang::RequireCode& r : op_.contract.require) {
    RequireState require{index(r.condition.plan),
                         str("[{}] {}{}expected {}", r.op, r.argument,
                             r.argument.empty() ? "" : ": ", r.expected),
                         {}};
    for (const auto& got : r.got) {
      require.got.push_back({got.label, index(got.plan), std::nullopt});
      if (got.reached) {
        require.got.back().reached.emplace(got.reached, names_, name());
      }
    }
    state_->require.push_back(std::move(require));
  }
  for (const lang::IndexCode& code : op_.contract.shape) {
    state_->shape.push_back(index(code.plan));
  }
  for (const lang::TensorCode& code : op_.contract.dtype) {
    state_->result_dtypes.emplace_back(code.plan, names_, name(), find_);
  }
}

void StateMaker::add_program() {
  switch (op_.kind()) {
    case OperatorKind::kPointwise:
      state_->pointwise = std::make_unique<PointwiseData>(
          model::pointwise_parts(op_), schema_, name());
      break;
    case OperatorKind::kReduce:
      state_->reduce = std::make_unique<ReduceData>(
          model::reduce_parts(op_), name(), schema_,
          op_.entry->reduce->accumulators.size(),
          op_.entry->reduce->accumulate.has_value());
      break;
    case OperatorKind::kComposite: return add_composite();
    case OperatorKind::kView: return add_view();
    case OperatorKind::kScan:
      state_->scan = std::make_unique<ScanData>(op_, name());
      break;
    case OperatorKind::kDispatch: break;
  }
}

void StateMaker::add_composite() {
  if (op_.entry->is_foreach) {
    lang::Diagnostics diagnostics;
    const auto plan = plan_foreach(model_, op_, diagnostics);
    if (!plan) throw lang::LangError(diagnostics);
    std::vector<std::string> elements = names_;
    elements.emplace_back("i");
    state_->is_foreach = true;
    state_->composite.emplace(plan->each.plan, elements, name(), find_);
    return;
  }
  std::vector<Type> types;
  for (const Return& r : schema_.returns()) types.push_back(r.type);
  const lang::TensorCode code =
      compile(op_.entry->composite->expr, op_, model_, types);
  state_->composite.emplace(code.plan, names_, name(), find_);
}

void StateMaker::add_view() {
  const model::ViewCode code = model::view_code(op_, "");
  state_->view =
      std::make_unique<ViewState>(ViewState{schema_.argument_index("self"),
                                            index(code.sizes.plan),
                                            {},
                                            {},
                                            code.stays_within});
  if (code.strides) {
    std::vector<std::string> more = names_;
    more.emplace_back(model::kSizes);
    state_->view->strides.emplace(code.strides->plan, more, name());
  }
  if (code.offset) {
    state_->view->offset.emplace(code.offset->plan, names_, name());
  }
}

void StateMaker::add_forms() {
  model::ExactOut exact(model_, [](const std::string& name) {
    const auto known = Dispatcher::singleton().find("aten::" + name);
    return known && known->entry().has_flag(OperatorDef::kExactOut);
  });
  const std::vector<const Overload*> overloads = op_.overloads();
  state_->overloads.reserve(overloads.size());
  for (const Overload* o : overloads) {
    OverloadState* const form = &state_->overloads.emplace_back();
    form->flags = flags_of(op_, *o, &exact);
    fill(*o, form);
  }
}

void StateMaker::fill(const Overload& o, OverloadState* form) const {
  form->kind = info_kind(op_.kind());
  form->doc = state_->doc.c_str();
  form->source = state_->source.c_str();
  form->writes = state_->writes.c_str();
  form->op = state_.get();
  form->inplace = o.schema.is_inplace();
  form->out = o.schema.is_out();
  form->copied_out = op_.has_tag("copied_out");
  form->laid_out = model::stores_as_laid_out(op_);
  const auto returns = o.schema.returns();
  form->returns_view = !returns.empty() && returns[0].alias;
  form->full_name = op_.ns + "::" + o.name;
  form->inputs_apart = model::inputs_apart(op_, o);
  form->outs_apart = model::are_outs_apart(o);
  if (is_program(op_.kind())) form->node = &state_->node;
  fill_positions(op_, o, form);
  fill_functional(op_, o, state_->name, form);
  form->boxes.reserve(o.schema.arguments().size());
  for (const Argument& a : o.schema.arguments()) {
    form->boxes.push_back({tag_of(a.type), false,
                           static_cast<uint32_t>(model::required_length(a)),
                           a.type, a.name});
  }
  for (const int i : model::read_tensors(o.schema)) {
    form->boxes[size_t(i)].is_read = true;
  }
  form->contract_applies = model::contract_applies(op_, o);
}

void StateMaker::add_gradients() {
  lang::Diagnostics diagnostics;
  model::DerivativePlan plan;
  if (!model::is_recorded_by_parts(op_)) {
    plan = plan_derivative(model_, op_, diagnostics);
  }
  if (!diagnostics.empty()) throw lang::LangError(diagnostics);
  const std::vector<const Overload*> overloads = op_.overloads();
  for (size_t i = 0; i < overloads.size(); ++i) {
    state_->overloads[i].gradient = gradient_of(op_, *overloads[i], plan);
  }
  if (!plan.non_differentiable && !plan.empty()) {
    state_->gradient = make_gradient(std::move(plan), op_, name(), find_);
  }
}

}  // namespace

std::unique_ptr<OperatorState> make_state(const Operator& op,
                                          const model::Model& model,
                                          const FindCallee& find,
                                          LibraryToken* token) {
  return StateMaker(op, model, find).make(token);
}

}  // namespace sy::runtime
