#include "aten/backend/engines.h"
#include "aten/backend/node.h"
#include "aten/engine/columns.h"
#include "aten/engine/exact_out.h"
#include "aten/engine/foreach.h"
#include "aten/engine/guard.h"
#include "aten/engine/iter.h"
#include "aten/engine/operator_steps.h"
#include "aten/engine/scan.h"
#include "aten/engine/structured.h"
#include "aten/engine/view.h"
#include "c10/device/backend.h"
#include "runtime/loader/apart.h"
#include "runtime/loader/operator_state.h"

// The kernels that sygen would print for these operators, as functions of
// their descriptions.

namespace sy::runtime {
namespace {

const OverloadState& form_of(const Kernel& k) {
  return *static_cast<const OverloadState*>(k.context);
}

Tensor& as_tensor(Value& v) { return static_cast<Tensor&>(v.to_tensor()); }
const Tensor& as_tensor(const Value& v) {
  return static_cast<const Tensor&>(v.to_tensor());
}

TensorList as_list(const Value& v) {
  const auto list = v.to_tensor_list();
  return {static_cast<const Tensor*>(list.data()), list.size()};
}

void return_written(const OverloadState& form, const Value* args,
                    Value* results, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    const size_t skipped = form.written.size() - n;
    results[i] = args[form.written[skipped + i]];
  }
}

// ---- pointwise, reduce

// The context of a kernel of a backend's engine.
const OverloadState& form_of_engine(const Kernel& k) {
  return *static_cast<const EngineKernel*>(k.context)->form;
}

const BackendEngines& engines_of_kernel(const Kernel& k) {
  const DeviceType type = static_cast<const EngineKernel*>(k.context)->backend;
  const BackendEngines* engines = engines_of(type);
  SY_CHECK(engines != nullptr, Value, "backend {}: its library is not loaded",
           backend_key_name(type));
  return *engines;
}

// Runs an engine's kernel with arguments of the right types, those that are
// read apart from those that are written.
template <BoxedFunction kRun>
void with_inputs_apart(const Kernel& k, const OperatorEntry& entry,
                       DispatchKeySet keys, Value* args, size_t num_args,
                       Value* results, size_t n) {
  const OverloadState& form = form_of_engine(k);
  check_boxes(form, args);
  std::vector<Value> own;
  if (!form.written.empty()) own = inputs_apart(form, args, num_args);
  kRun(k, entry, keys, own.empty() ? args : own.data(), num_args, results, n);
}

void pointwise(const Kernel& k, const OperatorEntry& entry, DispatchKeySet,
               Value* args, size_t, Value* results, size_t n) {
  const OverloadState& form = form_of_engine(k);
  check_requirements(form, args);
  const PointwiseEngine& engine = *engines_of_kernel(k).pointwise;
  const PointwiseNode call(*form.node, args, form.positions.data());
  if (form.written.empty()) {
    results[0] = Value(TensorBase(engine.run(call.op(), call.args())));
    return;
  }
  Tensor& out = as_tensor(args[form.written[0]]);
  if (form.out && form.copied_out) {
    prepare_copied_out(entry, call.op(), call.args(), out);
  } else if (form.out && entry.has_flag(OperatorDef::kExactOut)) {
    check_exact_out(entry, call.op(), call.args(), out);
  }
  const bool inplace = form.inplace;
  (inplace ? engine.inplace : engine.out)(call.op(), call.args(), entry, out);
  return_written(form, args, results, n);
}

// Returns the results that an engine has filled in.
void return_made(Tensor* made, Value* results, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    results[i] = Value(TensorBase(std::move(made[i])));
  }
}

// The tensors that a form writes, in order. Engines have at most four results.
struct Outs {
  Outs(const OverloadState& form, Value* args) {
    for (size_t i = 0; i < form.written.size(); ++i) {
      all[i] = &as_tensor(args[form.written[i]]);
    }
  }
  Tensor* all[4] = {};
};

void reduce(const Kernel& k, const OperatorEntry& entry, DispatchKeySet,
            Value* args, size_t, Value* results, size_t n) {
  const OverloadState& form = form_of_engine(k);
  check_requirements(form, args);
  const ReduceEngine& engine = *engines_of_kernel(k).reduce;
  const ReduceNode call(*form.node, args, form.positions.data());
  if (form.written.empty() && n > 1) {
    Tensor made[4];
    engine.results(call.op(), call.args(), made);
    return return_made(made, results, n);
  }
  if (form.written.empty()) {
    results[0] = Value(TensorBase(engine.run(call.op(), call.args())));
    return;
  }
  if (form.written.size() > 1) {
    engine.outs(call.op(), call.args(), entry, Outs(form, args).all);
    return return_written(form, args, results, n);
  }
  Tensor& out = as_tensor(args[form.written[0]]);
  if (entry.has_flag(OperatorDef::kExactOut)) {
    check_exact_out(entry, call.op(), call.args(), out);
  }
  engine.out(call.op(), call.args(), entry, out);
  return_written(form, args, results, n);
}

// The arguments of a call in the order of the base form.
const Value* base_order(const OverloadState& form, const Value* args,
                        std::vector<Value>& own) {
  bool same = true;
  for (size_t i = 0; i < form.positions.size(); ++i) {
    same = same && form.positions[i] == static_cast<int>(i);
  }
  if (same) return args;
  for (const int p : form.positions) {
    own.push_back(p < 0 ? Value() : args[p]);
  }
  return own.data();
}

void scan(const Kernel& k, const OperatorEntry& entry, DispatchKeySet,
          Value* args, size_t, Value* results, size_t n) {
  const OverloadState& form = form_of_engine(k);
  check_outs_apart(form, entry, args);
  check_requirements(form, args);
  const ScanEngine& engine = *engines_of_kernel(k).scan;
  std::vector<Value> own;
  const ScanArgs call = scan_node(*form.node, base_order(form, args, own));
  if (form.written.empty()) {
    Tensor made[2];
    engine.results(*form.node->scan, call, made);
    return return_made(made, results, n);
  }
  engine.outs(*form.node->scan, call, entry, Outs(form, args).all);
  return_written(form, args, results, n);
}

// ---- shapes

Dims list_of(const PlanProgram& program, const Named* names) {
  return Dims(program.value(names).to_int_list());
}

ScalarType result_dtype(const OverloadState& form, const Value* args, size_t i,
                        const TensorBase& like) {
  const auto& programs = form.op->result_dtypes;
  if (programs.empty()) return like.scalar_type();
  return programs[programs.size() == 1 ? 0 : i]
      .value(CallNames(form, args))
      .to_scalar_type();
}

// The first argument that is a Tensor: where results are made.
const TensorBase& like_argument(const OverloadState& form, const Value* args) {
  const auto& arguments = form.op->arguments;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Value& v = args[form.positions[i]];
    if (arguments[i].type == TypeKind::kTensor) return v.to_tensor();
    if (arguments[i].type.is_list() && arguments[i].type.is_tensor_like()) {
      const auto list = v.to_tensor_list();
      SY_CHECK(list.size() > 0, Value, "[{}] {}: expected at least one tensor",
               form.op->base_name(), arguments[i].name.view());
      return list[0];
    }
  }
  static const TensorBase none;
  return none;
}

// Checks that all tensors are on one device, and every tensor of a list
// defined.
void check_devices(const OverloadState& form, const OperatorEntry& entry,
                   const Value* args) {
  if (!form.op->device_check) return;
  std::vector<const TensorBase*> single;
  const auto& arguments = form.op->arguments;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Type t = arguments[i].type;
    if (t.without_optional() == TypeKind::kTensor && !arguments[i].is_out) {
      single.push_back(&args[form.positions[i]].to_tensor());
    }
  }
  if (single.size() > 1) {
    check_same_device(entry, single.data(), static_cast<int>(single.size()));
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Type t = arguments[i].type;
    if (!t.is_list() || t.element() != TypeKind::kTensor) continue;
    generated::check_list(entry, arguments[i].name.c_str(),
                          as_list(args[form.positions[i]]),
                          single.empty() ? nullptr : single[0]);
  }
}

void lay_out(const OverloadState& form, const Value* args, const Tensor& t) {
  const int like = form.op->layout.like;
  if (like < 0) return;
  generated::lay_out_like(args[form.positions[size_t(like)]].to_tensor(), t);
}

// The kernel of a backend without data.
void sizes_alone(const Kernel& k, const OperatorEntry& entry, DispatchKeySet,
                 Value* args, size_t, Value* results, size_t n) {
  const OverloadState& form = form_of(k);
  check_boxes(form, args);
  check_devices(form, entry, args);
  check_requirements(form, args);
  const TensorBase& like = like_argument(form, args);
  const model::ResultLayout& layout = form.op->layout;
  for (size_t i = 0; i < n; ++i) {
    const Dims sizes = list_of(form.op->shape[i], CallNames(form, args));
    const ScalarType dtype = result_dtype(form, args, i, like);
    Tensor made = layout.by_columns ? new_by_columns(like, sizes, dtype)
                                    : new_result(like, sizes, dtype);
    lay_out(form, args, made);
    results[i] = Value(TensorBase(std::move(made)));
  }
}

void check_contract(const OverloadState& form, const OperatorEntry& entry,
                    Value* args) {
  const OperatorState& op = *form.op;
  const bool inplace = form.inplace;
  std::vector<Dims> sizes;
  if (form.contract_applies) {
    check_devices(form, entry, args);
    check_requirements(form, args);
    for (const PlanProgram& f : op.shape) {
      sizes.push_back(list_of(f, CallNames(form, args)));
    }
  }
  for (size_t i = 0; i < form.written.size(); ++i) {
    const Value& written = args[form.written[i]];
    if (written.tag() == Value::Tag::TensorList) {
      const TensorList list = as_list(written);
      const InternedString name = form.boxes[form.written[i]].name;
      generated::check_list(entry, name.c_str(), list, nullptr);
      for (const Tensor& t : list) t.impl()->bump_version(&entry);
      continue;
    }
    Tensor& out = as_tensor(args[form.written[i]]);
    if (!sizes.empty() && !inplace) {
      const TensorBase& like = like_argument(form, args);
      prepare_out(entry, out, sizes[i], result_dtype(form, args, i, like),
                  like.device());
      continue;
    }
    if (!sizes.empty()) {
      generated::check_inplace_sizes(entry, out, sizes[0]);
    }
    check_defined(form.op->base_name(), "self", out);
    out.impl()->bump_version(&entry);
  }
}

// ---- the guard

void guard(const Kernel& k, const OperatorEntry& entry, DispatchKeySet keys,
           Value* args, size_t num_args, Value* results, size_t n) {
  const auto& form = *static_cast<const OverloadState*>(entry.info());
  const bool writes = !form.written.empty();
  check_boxes(form, args);
  if (writes) {
    check_outs_apart(form, entry, args);
    if (auto own = inputs_apart(form, args, num_args); !own.empty()) {
      return guard(k, entry, keys, own.data(), num_args, results, n);
    }
  }
  switch (form.kind) {
    case OperatorInfo::kPointwise: {
      check_requirements(form, args);
      const PointwiseNode call(*form.node, args, form.positions.data());
      if (writes) {
        check_pointwise_out(call.op(), call.args(),
                            args[form.written[0]].to_tensor(), form.inplace);
      } else {
        check_pointwise(call.op(), call.args());
      }
      break;
    }
    case OperatorInfo::kReduce: {
      check_requirements(form, args);
      const ReduceNode call(*form.node, args, form.positions.data());
      if (form.written.size() > 1) {
        check_reduce_outs(call.op(), call.args(), Outs(form, args).all);
      } else if (writes) {
        check_reduce_out(call.op(), call.args(),
                         args[form.written[0]].to_tensor());
      } else {
        check_reduce(call.op(), call.args());
      }
      break;
    }
    case OperatorInfo::kScan: {
      check_requirements(form, args);
      std::vector<Value> own;
      const ScanArgs call = scan_node(*form.node, base_order(form, args, own));
      if (writes) {
        check_scan_outs(*form.node->scan, call, Outs(form, args).all);
      } else {
        check_scan(*form.node->scan, call);
      }
      break;
    }
    default: check_contract(form, entry, args);
  }
  for (const int w : form.written) {
    if (form.kind == OperatorInfo::kDispatch) break;
    args[w].to_tensor().impl()->bump_version(&entry);
  }
  const auto& guarded = *static_cast<const Kernel*>(k.context);
  guarded.boxed(guarded, entry, keys, args, num_args, results, n);
}

// ---- composite, view

void composite(const Kernel& k, const OperatorEntry&, DispatchKeySet,
               Value* args, size_t, Value* results, size_t n) {
  const OverloadState& form = form_of(k);
  check_boxes(form, args);
  check_requirements(form, args);
  form.op->composite->run(CallNames(form, args), results, n);
}

// ---- foreach

bool is_element_list(Type t) {
  return t.is_list() &&
         (t.element() == TypeKind::kTensor || t.element() == TypeKind::kScalar);
}

size_t list_size(const Value& v, Type t) {
  return t.element() == TypeKind::kTensor ? v.to_tensor_list().size()
                                          : v.to_scalar_list().size();
}

// The elements of the lists of one call, one after another.
class Elements {
 public:
  // Checks that the lists have one length. `names`: those of the form.
  Elements(const OverloadState& form, const Value* args, const char* op)
      : form_(form), args_(args) {
    const auto& arguments = form.op->arguments;
    const Type* first = nullptr;
    for (size_t i = 0; i < arguments.size(); ++i) {
      const Type& t = arguments[i].type;
      if (!is_element_list(t)) continue;
      const std::string name(arguments[i].name.view());
      const size_t size = list_size(args[form.positions[i]], t);
      if (first == nullptr) {
        generated::check_foreach(op, name.c_str(), size);
        size_ = size;
        first = &t;
      } else {
        generated::check_length(op, name.c_str(), size, size_);
      }
    }
    values_.resize(arguments.size() + 1);
    names_.resize(arguments.size() + 1);
    for (size_t i = 0; i < names_.size(); ++i) names_[i].value = &values_[i];
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (!is_element_list(arguments[i].type)) {
        values_[i] = args[form.positions[i]];
      }
    }
  }

  size_t size() const { return size_; }

  // `self`: in place of the element of the first list, if it is defined.
  Value run(size_t k, const Tensor& self = Tensor()) {
    const auto& arguments = form_.op->arguments;
    bool first = true;
    for (size_t i = 0; i < arguments.size(); ++i) {
      const Type& t = arguments[i].type;
      if (!is_element_list(t)) continue;
      const Value& list = args_[form_.positions[i]];
      if (t.element() != TypeKind::kTensor) {
        values_[i] = Value(list.to_scalar_list()[k]);
      } else if (first && self.defined()) {
        values_[i] = Value(TensorBase(self));
      } else {
        values_[i] = Value(list.to_tensor_list()[k]);
      }
      first = false;
    }
    values_.back() = Value(static_cast<int64_t>(k));
    Value out;
    form_.op->composite->run(names_.data(), &out, 1);
    return out;
  }

 private:
  const OverloadState& form_;
  const Value* args_;
  size_t size_ = 0;
  std::vector<Value> values_;
  std::vector<Named> names_;
};

const char* form_name(const OverloadState& form) {
  return form.full_name.c_str() + form.op->base_begins;
}

void foreach (const Kernel& k, const OperatorEntry&, DispatchKeySet,
              Value * args, size_t, Value * results, size_t) {
  const OverloadState& form = form_of(k);
  check_boxes(form, args);
  Elements elements(form, args, form_name(form));
  check_requirements(form, args);
  std::vector<TensorBase> made;
  for (size_t i = 0; i < elements.size(); ++i) {
    const Value one = elements.run(i);
    made.push_back(one.to_tensor());
  }
  results[0] = Value::tensor_list(made.data(), made.size());
}

void foreach_inplace(const Kernel& k, const OperatorEntry& entry,
                     DispatchKeySet, Value* args, size_t, Value* results,
                     size_t n) {
  const OverloadState& form = form_of(k);
  check_boxes(form, args);
  Elements elements(form, args, form_name(form));
  check_requirements(form, args);
  const TensorList written = as_list(args[form.written[0]]);
  for (size_t i = 0; i < elements.size(); ++i) {
    Tensor target = written[i];
    const bool recorded = GradMode::is_enabled() && target.defined() &&
                          target.key_set().has(DispatchKey::Autograd);
    const Value made = elements.run(
        i, recorded ? generated::clone_for_write(target) : Tensor());
    generated::assign_inplace(entry, as_tensor(made), target);
  }
  return_written(form, args, results, n);
}

void foreach_out(const Kernel& k, const OperatorEntry& entry, DispatchKeySet,
                 Value* args, size_t, Value* results, size_t n) {
  const OverloadState& form = form_of(k);
  check_boxes(form, args);
  const TensorList out = as_list(args[form.written[0]]);
  for (size_t i = 0; i < form.op->arguments.size(); ++i) {
    const OperatorState::Parameter& p = form.op->arguments[i];
    if (!is_element_list(p.type)) continue;
    const size_t size = list_size(args[form.positions[i]], p.type);
    generated::check_foreach(form_name(form),
                             std::string(p.name.view()).c_str(), size);
    generated::check_length(form_name(form), "out", out.size(), size);
    break;
  }
  std::vector<Value> in;
  for (const int p : form.positions) in.push_back(args[p]);
  Value made;
  form.op->base->handle().call_boxed(in.data(), in.size(), &made, 1);
  const TensorList results_of = as_list(made);
  generated::store_each(entry, {results_of.begin(), results_of.end()}, out);
  return_written(form, args, results, n);
}

void add_view_argument(generated::ViewArgs& out, const Value& v, Type type) {
  const Type t = type.without_optional();
  if (v.is_none()) {
    out.add(std::optional<int64_t>());
  } else if (t.is_list()) {
    out.add(v.to_int_list());
  } else if (t == TypeKind::kBool || t == TypeKind::kSymBool) {
    out.add(int64_t{v.to_bool()});
  } else {
    out.add(v.to_int());
  }
}

void view(const Kernel& k, const OperatorEntry& entry, DispatchKeySet,
          Value* args, size_t num_args, Value* results, size_t) {
  const OverloadState& form = form_of(k);
  const OperatorState& op = *form.op;
  check_boxes(form, args);
  check_requirements(form, args);
  const Tensor& self = as_tensor(std::as_const(args[op.view->self]));
  CallNames names(form, args, 1);
  const Value made = op.view->sizes.value(names);
  names.more(0).value = &made;
  const Dims sizes(made.to_int_list());
  Dims strides;
  if (op.view->strides) {
    strides = list_of(*op.view->strides, names);
  } else {
    strides.resize(sizes.size());
    int64_t step = 1;
    for (int d = sizes.size() - 1; d >= 0; --d) {
      strides[d] = step;
      if (__builtin_mul_overflow(step, std::max<int64_t>(sizes[d], 1), &step)) {
        step = 0;  // too many elements, as the check below says
      }
    }
  }
  int64_t offset = self.storage_offset();
  if (op.view->offset) {
    offset = op.view->offset->value(names).to_int();
  }
  const char* const name = op.base_name();
  if (!op.view->stays_within) {
    generated::check_in_storage(name, self, sizes, strides, offset);
  }
  size_t values = 0;
  for (size_t i = 0; i < num_args; ++i) {
    const bool list = args[i].tag() == Value::Tag::IntList;
    values += list ? args[i].to_int_list().size() + 1 : 1;
  }
  SY_CHECK(values <= 2 * TensorImpl::kMaxDims, Value,
           "[{}] expected lists of dims, got {} numbers", name, values);
  generated::ViewArgs view_args;
  const auto& arguments = op.arguments;
  for (size_t i = 0; i < num_args; ++i) {
    if (arguments[i].type.is_tensor_like()) continue;
    add_view_argument(view_args, args[i], arguments[i].type);
  }
  results[0] = Value(TensorBase(make_view(self, entry, sizes, strides, offset,
                                          view_args.data(), view_args.size())));
}

// ---- derived forms of what has no kernel for them

std::vector<Value> base_arguments(const OverloadState& form,
                                  const Value* args) {
  std::vector<Value> out;
  for (size_t i = 0; i < form.positions.size(); ++i) {
    switch (const int place = form.positions[i]) {
      case FormPlaces::kDtype:
        out.emplace_back(args[form.written[0]].to_tensor().scalar_type());
        break;
      case FormPlaces::kDevice:
        out.emplace_back(args[form.written[0]].to_tensor().device());
        break;
      case FormPlaces::kDefault: out.push_back(form.op->defaults[i]); break;
      default: out.push_back(args[place]);
    }
  }
  return out;
}

// The engines refuse an input that shares a part of what is written; so that
// programs mean the same everywhere, this form does.
void check_overlap(const OverloadState& form, const Value* args) {
  for (size_t r = 0; r < form.boxes.size(); ++r) {
    if (!form.boxes[r].is_read || !args[r].is_tensor()) continue;
    for (const int w : form.written) {
      assert_no_partial_overlap(form.op->base_name(), args[w].to_tensor(),
                                form.boxes[r].name.c_str(),
                                args[r].to_tensor());
    }
  }
}

template <bool kRecorded>
void store(const Kernel& k, const OperatorEntry& entry, DispatchKeySet,
           Value* args, size_t num_args, Value* results, size_t n) {
  const OverloadState& form = form_of(k);
  check_boxes(form, args);
  check_outs_apart(form, entry, args);
  if (form.kind == OperatorInfo::kPointwise) check_overlap(form, args);
  std::vector<Value> in = base_arguments(form, args);
  if constexpr (kRecorded) {
    const bool recorded = GradMode::is_enabled() &&
                          entry.keys_of(args).has(DispatchKey::Autograd);
    const int target = form.written[0];
    for (size_t i = 0; recorded && i < in.size(); ++i) {
      // A saved tensor must not be self, nor a view of it, whose history would
      // then hold it for ever.
      if (in[i].is_tensor() &&
          generated::shares_storage(in[i].to_tensor(),
                                    args[target].to_tensor())) {
        in[i] = Value(TensorBase(
            generated::clone_for_write(as_tensor(std::as_const(in[i])))));
      }
    }
  }
  std::vector<Value> out(form.op->returns);
  form.op->base->handle().call_boxed(in.data(), in.size(), out.data(),
                                     out.size());
  const auto result = [&](size_t i) -> const Tensor& {
    return as_tensor(std::as_const(out[i]));
  };
  const bool exact =
      !kRecorded && entry.has_flag(OperatorDef::kExactOut) && form.out;
  for (size_t i = 0; exact && i < form.written.size(); ++i) {
    generated::check_out_dtype(entry, as_tensor(args[form.written[i]]),
                               result(i).scalar_type());
  }
  for (size_t i = 0; i < form.written.size(); ++i) {
    Tensor& target = as_tensor(args[form.written[i]]);
    if constexpr (kRecorded) {
      generated::assign_inplace(entry, result(i), target);
    } else if (form.inplace) {
      store_inplace(entry, result(i), target);
    } else if (form.laid_out) {
      store_as_laid_out(entry, result(i), target);
    } else {
      store_result(entry, result(i), target);
    }
  }
  static_cast<void>(num_args);
  return_written(form, args, results, n);
}

}  // namespace

BoxedFunction guard_kernel() { return &guard; }
BoxedFunction engine_kernel(lang::OperatorKind kind,
                            const BackendEngines& engines) {
  switch (kind) {
    case lang::OperatorKind::kPointwise:
      return engines.pointwise != nullptr ? &with_inputs_apart<&pointwise>
                                          : nullptr;
    case lang::OperatorKind::kReduce:
      return engines.reduce != nullptr ? &with_inputs_apart<&reduce> : nullptr;
    case lang::OperatorKind::kScan:
      return engines.scan != nullptr ? &with_inputs_apart<&scan> : nullptr;
    default: return nullptr;
  }
}
BoxedFunction sizes_kernel() { return &sizes_alone; }
BoxedFunction form_kernel(model::FormKernel kernel, const OverloadState& form) {
  switch (kernel) {
    case model::FormKernel::kNone: return nullptr;
    case model::FormKernel::kComposite: return &composite;
    case model::FormKernel::kForeach:
      return form.out       ? &foreach_out
             : form.inplace ? &foreach_inplace
                            : &foreach;
    case model::FormKernel::kView: return &view;
    case model::FormKernel::kStore: return &store<false>;
    case model::FormKernel::kRecordedStore: return &store<true>;
  }
  return nullptr;
}

}  // namespace sy::runtime
