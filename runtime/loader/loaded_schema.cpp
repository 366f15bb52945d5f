#include "runtime/loader/loaded_schema.h"

#include <algorithm>

#include "c10/backend.h"
#include "c10/default_argument.h"
#include "c10/error.h"
#include "codegen/foreach.h"
#include "codegen/form_plan.h"
#include "codegen/functional_form.h"
#include "codegen/view_code.h"
#include "runtime/loader/checks.h"
#include "runtime/loader/gradient.h"

namespace sy::runtime {
namespace {

using codegen::Operator;
using codegen::Overload;
using lang::OperatorKind;

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

// Calls f(backend, engines) for each backend that has engines.
template <class F>
void each_engines(const F& f) {
  for (const BackendInfo& b : backends()) {
    if (const BackendEngines* e = engines_of(b.type)) f(b, *e);
  }
}

int argument(const FunctionSchema& schema, std::string_view name) {
  return schema.argument_index(name);
}

void fill_node(const Operator& op, OperatorState* state) {
  const codegen::NodeParts parts = codegen::node_parts(op);
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
    form->positions.push_back(codegen::place_of(a, o.schema));
    if (form->positions.back() != FormPlaces::kDefault) continue;
    form->op->defaults.resize(arguments.size());
    form->op->defaults[i] = default_value(a.default_value, a.type);
  }
  form->written = codegen::written_tensors(o.schema);
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
                         const codegen::Model& model,
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

}  // namespace

std::unique_ptr<LoadedSchema> LoadedSchema::load(
    std::string_view text, const std::string& name,
    std::vector<std::string>* operators) {
  std::unique_ptr<LoadedSchema> schema(
      new LoadedSchema(name.substr(name.rfind('/') + 1)));
  schema->read(text, name);
  try {
    schema->build();
    schema->library_.commit();
    schema->model_.reset();
    schema->known_.reset();
  } catch (const lang::LangError& e) {
    fail(ErrorKind::Registration,
         "cannot load schema {}; nothing has changed:\n{}", name, e.what());
  } catch (RegistrationError& e) {
    e.add_context(str("cannot load schema {}:", name));
    throw;
  }
  for (const auto& op : schema->operators_) {
    for (const auto& form : op->overloads) {
      operators->push_back(form.full_name);
    }
  }
  return schema;
}

void LoadedSchema::read(std::string_view text, const std::string& name) {
  const std::string path = codegen::short_path(name);
  lang::Diagnostics diagnostics;
  std::vector<codegen::Backend> present;
  for (const BackendInfo& info : backends()) {
    if (!info.present) continue;
    codegen::Backend b;
    b.key = lang::Text(info.key);
    present.push_back(std::move(b));
  }
  model_ = std::make_unique<codegen::Model>(codegen::Model::load_text(
      std::string(text), path, *known_, std::move(present), diagnostics));
  if (diagnostics.empty()) check_loadable(*model_, diagnostics);
  SY_CHECK(diagnostics.empty(), Registration,
           "cannot load schema {}; nothing has changed:\n{}", name,
           diagnostics.str_with_sources());
}

void LoadedSchema::build() {
  for (const codegen::Family& family : model_->families()) {
    if (family.operators.empty()) continue;
    if (family.is_own()) {
      library_.own_namespace(
          family.ns, static_cast<int>(family.operators[0].entry->at.line));
    }
    for (const Operator& op : family.operators) add(op);
  }
}

Callee LoadedSchema::callee(const FunctionSchema& schema) const {
  if (const auto handle = known_->handle(schema)) return Callee(*handle);
  std::string ns = "aten";
  for (const codegen::Family& family : model_->families()) ns = family.ns;
  // The name stays for ever, as the operator's entry does.
  return Callee(InternedString(ns + "::" + to_string(schema.name())).c_str());
}

void LoadedSchema::add(const Operator& op) {
  const FunctionSchema& schema = op.base.schema;
  const FindCallee find =
      [&](const FunctionSchema& s) -> std::optional<Callee> {
    const bool helper = s.name().name == "result_type" && !known_->handle(s);
    if (helper) return std::nullopt;
    return callee(s);
  };
  auto state = std::make_unique<OperatorState>();
  state->kind = op.kind();
  state->device_check = op.entry->device_check;
  state->line = static_cast<int>(op.entry->at.line);
  state->returns = static_cast<uint32_t>(schema.returns().size());
  state->arguments.reserve(schema.arguments().size());
  for (const Argument& a : schema.arguments()) {
    state->arguments.push_back({a.name, a.type, a.is_out()});
  }
  state->doc = op.entry->doc;
  state->source = op.source;
  for (const lang::Text& name : op.entry->writes) {
    state->writes += (state->writes.empty() ? "" : ",") + name.str();
  }
  state->token = library_.token();
  state->name = op.ns + "::" + op.base.name;
  state->base_begins = static_cast<uint32_t>(op.ns.size() + 2);
  state->base.emplace(state->name.c_str());
  const char* const name = state->base_name();
  const std::vector<std::string> names = argument_names(schema);
  const auto index = [&](const lang::Plan& plan) {
    return PlanProgram(plan, names, name);
  };
  for (const lang::RequireCode& r : op.contract.require) {
    RequireState require{index(r.condition.plan),
                         str("[{}] {}{}expected {}", r.op, r.argument,
                             r.argument.empty() ? "" : ": ", r.expected),
                         {}};
    for (const auto& got : r.got) {
      require.got.push_back({got.label, index(got.plan), std::nullopt});
      if (got.reached) {
        require.got.back().reached.emplace(got.reached, names, name);
      }
    }
    state->require.push_back(std::move(require));
  }
  for (const lang::IndexCode& code : op.contract.shape) {
    state->shape.push_back(index(code.plan));
  }
  for (const lang::TensorCode& code : op.contract.dtype) {
    state->result_dtypes.emplace_back(code.plan, names, name, find);
  }
  switch (op.kind()) {
    case OperatorKind::kPointwise:
      state->pointwise = std::make_unique<PointwiseData>(
          codegen::pointwise_parts(op), schema, name);
      break;
    case OperatorKind::kReduce:
      state->reduce = std::make_unique<ReduceData>(
          codegen::reduce_parts(op), name, schema,
          op.entry->reduce->accumulators.size(),
          op.entry->reduce->accumulate.has_value());
      break;
    case OperatorKind::kComposite: {
      if (op.entry->is_foreach) {
        lang::Diagnostics diagnostics;
        const auto plan = plan_foreach(*model_, op, diagnostics);
        if (!plan) throw lang::LangError(diagnostics);
        std::vector<std::string> elements = names;
        elements.emplace_back("i");
        state->is_foreach = true;
        state->composite.emplace(plan->each.plan, elements, name, find);
        break;
      }
      std::vector<Type> types;
      for (const Return& r : schema.returns()) types.push_back(r.type);
      const lang::TensorCode code =
          compile(op.entry->composite->expr, op, *model_, types);
      state->composite.emplace(code.plan, names, name, find);
      break;
    }
    case OperatorKind::kView: {
      const codegen::ViewCode code = codegen::view_code(op, "");
      state->view =
          std::make_unique<ViewState>(ViewState{argument(schema, "self"),
                                                index(code.sizes.plan),
                                                {},
                                                {},
                                                code.stays_within});
      if (code.strides) {
        std::vector<std::string> more = names;
        more.emplace_back(codegen::kSizes);
        state->view->strides.emplace(code.strides->plan, more, name);
      }
      if (code.offset) {
        state->view->offset.emplace(code.offset->plan, names, name);
      }
      break;
    }
    case OperatorKind::kScan:
      state->scan = std::make_unique<ScanData>(op, name);
      break;
    case OperatorKind::kDispatch: break;
  }
  const bool described = is_program(op.kind());
  if (described) fill_node(op, state.get());
  codegen::ExactOut exact(*model_, [](const std::string& name) {
    const auto known = Dispatcher::singleton().find("aten::" + name);
    return known && known->entry().has_flag(OperatorDef::kExactOut);
  });
  const std::vector<const Overload*> overloads = op.overloads();
  state->overloads.reserve(overloads.size());
  for (const Overload* o : overloads) {
    OverloadState* const form = &state->overloads.emplace_back();
    form->kind = info_kind(op.kind());
    form->doc = state->doc.c_str();
    form->source = state->source.c_str();
    form->writes = state->writes.c_str();
    form->op = state.get();
    form->inplace = o->schema.is_inplace();
    form->out = o->schema.is_out();
    form->copied_out = op.has_tag("copied_out");
    form->laid_out = codegen::stores_as_laid_out(op);
    const auto returns = o->schema.returns();
    form->returns_view = !returns.empty() && returns[0].alias;
    form->full_name = op.ns + "::" + o->name;
    form->flags = flags_of(op, *o, &exact);
    form->inputs_apart = codegen::inputs_apart(op, *o);
    form->outs_apart = codegen::are_outs_apart(*o);
    if (described) form->node = &state->node;
    fill_positions(op, *o, form);
    fill_functional(op, *o, state->name, form);
    form->boxes.reserve(o->schema.arguments().size());
    for (const Argument& a : o->schema.arguments()) {
      form->boxes.push_back({tag_of(a.type), false,
                             static_cast<uint32_t>(codegen::required_length(a)),
                             a.type, a.name});
    }
    for (const int i : codegen::read_tensors(o->schema)) {
      form->boxes[size_t(i)].is_read = true;
    }
    form->contract_applies = codegen::contract_applies(op, *o);
  }
  lang::Diagnostics diagnostics;
  codegen::DerivativePlan plan;
  if (!codegen::is_recorded_by_parts(op)) {
    plan = plan_derivative(*model_, op, diagnostics);
  }
  if (!diagnostics.empty()) throw lang::LangError(diagnostics);
  for (size_t i = 0; i < overloads.size(); ++i) {
    state->overloads[i].gradient = gradient_of(op, *overloads[i], plan);
  }
  if (!plan.non_differentiable && !plan.empty()) {
    state->gradient = make_gradient(std::move(plan), op, name, find);
  }
  register_kernels(*state, op);
  register_gradient(*state);
  operators_.push_back(std::move(state));
}

void LoadedSchema::impl(const OverloadState& form, const char* key,
                        BoxedFunction f, bool checks_itself) {
  const Kernel k = Kernel::from_boxed(f, const_cast<OverloadState*>(&form));
  library_.impl(form.full_name, key, checks_itself ? k.checks_itself() : k,
                line(form));
}

void LoadedSchema::register_engines(OperatorState& state) {
  std::vector<std::pair<BackendInfo, BoxedFunction>> found;
  each_engines([&](const BackendInfo& b, const BackendEngines& engines) {
    const BoxedFunction f = engine_kernel(state.kind, engines);
    if (f != nullptr) found.emplace_back(b, f);
  });
  // Kernels point to them.
  state.engine_kernels.reserve(found.size() * state.overloads.size());
  for (const OverloadState& form : state.overloads) {
    for (const auto& [b, f] : found) {
      state.engine_kernels.push_back({&form, b.type});
      const Kernel k = Kernel::from_boxed(f, &state.engine_kernels.back());
      library_.impl(form.full_name, b.key, k.checks_itself(), line(form));
    }
  }
}

void LoadedSchema::register_kernels(OperatorState& state, const Operator& op) {
  const std::vector<const Overload*> overloads = op.overloads();
  register_engines(state);
  for (size_t i = 0; i < overloads.size(); ++i) {
    const OverloadState* const form = &state.overloads[i];
    const Overload& o = *overloads[i];
    OperatorDef def;
    def.flags = form->flags;
    def.info = form;
    if (form->functional.op != nullptr) def.functional = &form->functional;
    if (has_guard(op, o)) def.guard_boxed = guard_kernel();
    library_.def(op.ns + "::" + to_string(o.schema), def, line(*form));
    const codegen::FormKernel kernel = kernel_of(op, o);
    if (kernel != codegen::FormKernel::kNone) {
      impl(*form,
           is_implicit(kernel, o) ? codegen::kImplicit : codegen::kExplicit,
           form_kernel(kernel, *form), true);
    }
  }
  if (!has_sizes_kernel(op)) return;
  each_engines([&](const BackendInfo& b, const BackendEngines& engines) {
    if (engines.has_data) return;
    impl(state.overloads[0], b.key.c_str(), sizes_kernel(), true);
  });
}

void LoadedSchema::register_gradient(OperatorState& state) {
  using codegen::FormGradient;
  for (const OverloadState& form : state.overloads) {
    if (form.gradient == FormGradient::kNone) continue;
    if (form.gradient == FormGradient::kFallthrough) {
      library_.impl(form.full_name, "Autograd", Kernel::fallthrough(),
                    line(form));
    } else {
      impl(form, "Autograd", gradient_kernel(form.gradient), false);
    }
  }
}

}  // namespace sy::runtime
