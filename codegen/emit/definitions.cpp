#include <algorithm>
#include <set>

#include "codegen/emit/apart.h"
#include "codegen/emit/common.h"
#include "codegen/emit/contracts.h"
#include "codegen/emit/describe.h"
#include "codegen/emit/emit.h"
#include "codegen/emit/engine_kernels.h"
#include "codegen/emit/foreach.h"
#include "codegen/emit/functional_forms.h"
#include "codegen/model_names.h"
#include "lang/cpp_text.h"
#include "model/cpp_types.h"
#include "model/form_plan.h"
#include "model/functional_form.h"
#include "model/programs.h"
#include "model/view_code.h"

namespace sy::codegen {
namespace {

using lang::OperatorKind;

// Registrations of one key: {"add.Tensor",
// "SY_FN(add_Tensor_x).checks_itself()"}.
struct Registration {
  std::string name;
  std::string kernel;
};

class DefinitionsEmitter {
 public:
  DefinitionsEmitter(const Model& model, const Family& family)
      : model_(model), family_(family), exact_out_(model) {}

  std::string run() {
    Writer body;
    contracts(body);
    kernels(body);
    table(body);
    Writer w;
    w.raw(banner(family_));
    Writer declared;
    headers(body, declared);
    includes(w, body.headers());
    open_namespace(w, "sy");
    w.gap();
    w.raw(declared.str());
    w.gap();
    w.raw(body.str());
    close_namespace(w, "sy");
    return w.str();
  }

 private:
  void headers(Writer& w, Writer& declared) const {
    const std::string ops = "aten/ops/" + family_.name;
    w.include_all(std::set<std::string>{"aten/engine/operator_steps.h",
                                        ops + "_kernels.h", ops + "_ops.h",
                                        "c10/plugin/library.h"});
    // A library of its own is one source, with one declaration of each.
    if (family_.is_own()) return include_operators(w, model_, called_);
    declare_functions(declared, model_, called_);
    w.include_all(declared.headers());
  }

  void contracts(Writer& w) const {
    const bool any = std::any_of(family_.operators.begin(),
                                 family_.operators.end(), has_contract);
    if (!any) return;
    open_namespace(w, "contract");
    for (const Operator& op : family_.operators) {
      if (has_contract(op)) emit_contract(w, op);
    }
    close_namespace(w, "contract");
  }

  void kernels(Writer& w) {
    open_namespace(w, "");
    for (const Operator& op : family_.operators) {
      for (const Overload* o : op.overloads()) {
        if (has_guard(op, *o)) emit_guard(w, op, *o);
      }
      switch (op.kind()) {
        case OperatorKind::kComposite:
          if (op.entry->is_foreach) {
            elementwise(w, op);
            continue;
          }
          composite(w, op);
          break;
        case OperatorKind::kView: view(w, op); break;
        default: dispatched(w, op);
      }
      if (op.inplace) store(w, op, *op.inplace);
      if (op.out) store(w, op, *op.out);
    }
    close_namespace(w, "");
  }

  void add(const Operator& op, const Overload& o, const char* suffix) {
    auto& list = is_implicit(kernel_of(op, o), o) ? implicit_ : explicit_;
    add(list, o, suffix);
  }

  static void add(std::vector<Registration>& list, const Overload& o,
                  const char* suffix) {
    list.push_back(
        {o.name, fmt::format("SY_FN({}{}).checks_itself()", o.id, suffix)});
  }

  void composite(Writer& w, const Operator& op) {
    Writer body;
    emit_requirements(body, op);
    const lang::TensorCode code = composite_code(model_, op);
    body.block(lang::to_body(code, 0), 2);
    body.include_all(code.headers);
    called_.insert(code.operators.begin(), code.operators.end());
    w.include_all(body.headers());
    w.gap();
    w.line(item_source(op));
    w.function(
        fmt::format("{} {}_composite({})", return_type(op.base.schema),
                    op.base.id, parameter_list(op.base.schema, body.str())),
        body.str());
    add(op, op.base, "_composite");
  }

  void elementwise(Writer& w, const Operator& op) {
    const auto code = composite_code(model_, op);
    called_.insert(code.operators.begin(), code.operators.end());
    for (const std::string& name : roots_of(called_)) {
      called_.insert(name + '_');  // of the in-place form
    }
    emit_foreach(w, model_, op);
    for (const Overload* o : op.overloads()) add(op, *o, "_foreach");
  }

  void view(Writer& w, const Operator& op) {
    const FunctionSchema& s = op.base.schema;
    w.gap();
    w.line(item_source(op));
    function_head(w, op.base, "_view");
    emit_requirements(w, op);
    const std::string sizes = local(op, "new_sizes");
    const std::string strides = local(op, "new_strides");
    const ViewCode view = view_code(op, sizes);
    w.include("aten/engine/view.h");
    define(w, "const Dims " + sizes, view.sizes);
    if (view.strides) {
      define(w, "const Dims " + strides, *view.strides);
    } else {
      w.include("aten/engine/geometry.h");
      w.line("  const Dims {}(geometry::contiguous_strides({}));", strides,
             sizes);
    }
    std::string offset = "self.storage_offset()";
    if (view.offset) {
      offset = local(op, "new_offset");
      define(w, "const int64_t " + offset, *view.offset);
    }
    if (!view.stays_within) {
      w.line("  generated::check_in_storage({}, self, {}, {}, {});",
             lang::cpp_string(op.base.name), sizes, strides, offset);
    }
    std::string args;
    for (const Argument& a : s.arguments()) {
      if (a.type.is_tensor_like()) continue;
      append(args, ".add({})", parameter_name(a));
    }
    const std::string head =
        fmt::format("  return make_view(self, {}, {}, {}, {}",
                    entry_of(op.base), sizes, strides, offset);
    if (args.empty()) {
      w.line("{}, nullptr, 0);", head);
    } else {
      const std::string list = local(op, "view_args");
      w.line("  generated::ViewArgs {};", list);
      w.line("  {}{};", list, args);
      w.line("{0}, {1}.data(), {1}.size());", head, list);
    }
    w.line("}");
    add(op, op.base, "_view");
  }

  // Hand-written kernels that are registered here, and the function that
  // chooses a device.
  void dispatched(Writer& w, const Operator& op) {
    const std::string name(op.kernel(kImplicit));
    if (!name.empty()) {
      if (has_contract(op)) {
        w.gap();
        function_head(w, op.base, "_composite");
        w.line("  {}", contract_call(op));
        w.line("  return composite::{}({});", name,
               argument_list(op.base.schema));
        w.line("}");
        add(implicit_, op.base, "_composite");
      } else {
        implicit_.push_back(
            {op.base.name, fmt::format("SY_FN(composite::{})", name)});
      }
    }
    const std::string other(op.kernel(kExplicit));
    if (!other.empty()) {
      // If a backend has a kernel, the other backends can do without this one.
      const bool last = op.has_backend_kernel();
      if (last) w.include("aten/backend/composed.h");
      explicit_.push_back(
          {op.base.name,
           last ? fmt::format("SY_FN((*composed<&composite::{}, ops::{}>))",
                              other, op.base.id)
                : fmt::format("SY_FN(composite::{})", other)});
    }
    if (is_decomposable(op)) {
      w.include("aten/backend/decompose.h");
      explicit_.push_back({op.base.name, "Kernel::from_boxed(&decompose)"});
    }
    const bool factory = op.has_backend_kernel() &&
                         op.tensor_arguments().empty() && op.is_functional() &&
                         op.base.schema.argument_index("device") >= 0;
    if (!factory) return;
    const std::string params = parameter_list(op.base.schema);
    w.gap();
    w.line("{} {}_select({}) {{", return_type(op.base.schema), op.base.id,
           params);
    const std::string chosen = local(op, "chosen");
    w.line("  const Device {} = device.value_or(Device(kCPU));", chosen);
    if (op.base.schema.argument_index("pin_memory") >= 0) {
      w.line("  generated::check_pinning<ops::{}>({}, pin_memory);", op.base.id,
             chosen);
    }
    w.line(
        "  return ops::{}::redispatch(DispatchKeySet::dense({}.type()), {});",
        op.base.id, chosen, argument_list(op.base.schema));
    w.line("}");
    add(select_, op.base, "_select");
  }

  static std::string store_result(Writer& w, const Operator& op) {
    if (!stores_as_laid_out(op)) return "store_result";
    w.include("aten/engine/columns.h");
    return "store_as_laid_out";
  }

  // The engines refuse an input that shares a part of a written tensor. This
  // form does too, so that programs mean the same everywhere.
  static void no_overlap(Writer& w, const Operator& op, const Overload& o) {
    w.include("aten/engine/guard.h");
    for (const int i : read_tensors(o.schema)) {
      const Argument& a = o.schema.arguments()[static_cast<std::size_t>(i)];
      if (a.type != TypeKind::kTensor) continue;
      for (const std::string& out : written_arguments(o)) {
        w.line("  assert_no_partial_overlap({}, {}, {}, {});",
               lang::cpp_string(op.base.name), out,
               lang::cpp_string(a.name.view()), parameter_name(a));
      }
    }
  }

  // A form that computes the functional result and stores it: for backends
  // that have no kernel of their own, and for composites.
  void store(Writer& w, const Operator& op, const Overload& o) {
    const bool recorded = kernel_of(op, o) == FormKernel::kRecordedStore;
    const auto written = written_arguments(o);
    w.gap();
    function_head(w, o, "_store");
    emit_outs_apart(w, o);
    if (op.kind() == OperatorKind::kPointwise) no_overlap(w, op, o);
    const std::string before = recorded ? local(op, "before") : "";
    const std::string call = functional_call(w, op, o, before);
    if (recorded) {
      std::string tensors = written[0];
      for (const Argument* a : op.tensor_arguments()) {
        const std::string name = parameter_name(*a);
        if (name != written[0]) tensors += ", " + name;
      }
      w.line("  const Tensor {} = generated::before_write({});", before,
             tensors);
    }
    if (written.size() == 1) {
      const std::string result = local(op, "result");
      w.line("  const Tensor {} = {};", result, call);
      if (recorded) {
        w.line("  return generated::assign_inplace({}, {}, {});", entry_of(o),
               result, written[0]);
      } else {
        if (o.schema.is_out() && exact_out_.of(op)) {
          w.line("  generated::check_out_dtype({}, {}, {}.scalar_type());",
                 entry_of(o), written[0], result);
        }
        w.line("  {}({}, {}, {});",
               o.schema.is_inplace() ? "store_inplace" : store_result(w, op),
               entry_of(o), result, written[0]);
      }
    } else {
      const std::string results = local(op, "results");
      w.line("  const auto {} = {};", results, call);
      const auto result = [&](std::size_t i) {
        return fmt::format("std::get<{}>({})", i, results);
      };
      const bool exact = exact_out_.of(op);
      for (std::size_t i = 0; exact && i < written.size(); ++i) {
        w.line("  generated::check_out_dtype({}, {}, {}.scalar_type());",
               entry_of(o), written[i], result(i));
      }
      for (std::size_t i = 0; i < written.size(); ++i) {
        w.line("  {}({}, {}, {});", store_result(w, op), entry_of(o), result(i),
               written[i]);
      }
    }
    if (!recorded) w.line("  {}", return_written(o));
    w.line("}");
    add(op, o, "_store");
  }

  // ---- the table

  std::string flags(const Operator& op, const Overload& o) {
    constexpr std::pair<OperatorFlags::Flag, const char*> kNames[] = {
        {OperatorFlags::kNoDeviceCheck, "kNoDeviceCheck"},
        {OperatorFlags::kNoDeviceGuard, "kNoDeviceGuard"},
        {OperatorFlags::kView, "kView"},
        {OperatorFlags::kInplace, "kInplace"},
        {OperatorFlags::kOut, "kOut"},
        {OperatorFlags::kRandom, "kRandom"},
        {OperatorFlags::kDifferentiable, "kDifferentiable"},
        {OperatorFlags::kExactOut, "kExactOut"},
        {OperatorFlags::kWrites, "kWrites"},
        {OperatorFlags::kAliases, "kAliases"},
        {OperatorFlags::kGeometry, "kGeometry"},
    };
    const uint16_t all = flags_of(op, o, &exact_out_);
    std::vector<std::string> out;
    for (const auto& [flag, name] : kNames) {
      if ((all & flag) == 0) continue;
      out.push_back(fmt::format("OperatorDef::{}", name));
    }
    return out.empty() ? "0" : join(out, " | ");
  }

  static std::string kind_name(OperatorKind kind) {
    switch (kind) {
      case OperatorKind::kPointwise: return "kPointwise";
      case OperatorKind::kReduce: return "kReduce";
      case OperatorKind::kScan: return "kScan";
      case OperatorKind::kComposite: return "kComposite";
      case OperatorKind::kView: return "kView";
      default: return "kDispatch";
    }
  }

  // The text that the entry's `writes:` adds to its row.
  static std::string written_silently(const Operator& op) {
    if (op.entry->writes.empty()) return "";
    std::vector<std::string> names;
    for (const lang::Text& name : op.entry->writes) names.push_back(name.str());
    return (has_descriptor(op) ? ", " : ", nullptr, ") +
           lang::cpp_string(join(names, ","));
  }

  void table(Writer& w) {
    if (family_.operators.empty()) return;
    open_namespace(w, "");
    w.gap();
    w.line("const OperatorInfo kInfo[] = {");
    for (const Operator& op : family_.operators) {
      if (has_descriptor(op)) w.include(family_header(op, "_desc.h"));
      w.line(
          "    {{OperatorInfo::{}, {}, {}{}{}}},", kind_name(op.kind()),
          lang::cpp_string(op.entry->doc), lang::cpp_string(op.source),
          has_descriptor(op) ? fmt::format(", &desc::{}_node", op.base.id) : "",
          written_silently(op));
    }
    w.line("};");
    const FunctionalForms forms(family_);
    forms.emit(w);
    w.gap();
    w.line("using generated::operator_def;");
    w.gap();
    w.line("const OperatorDef kDefs[] = {");
    for (std::size_t i = 0; i < family_.operators.size(); ++i) {
      const Operator& op = family_.operators[i];
      for (const Overload* o : op.overloads()) {
        const std::string guard =
            has_guard(op, *o)
                ? fmt::format("reinterpret_cast<void*>(&{}_guard)", o->id)
                : "nullptr";
        w.line("    operator_def<ops::{}>({}, {}, {}, &kInfo[{}]{}),", o->id,
               lang::cpp_string(to_string(o->schema)), guard, flags(op, *o), i,
               forms.reference(*o));
      }
    }
    w.line("};");
    shared_kernels(w);
    close_namespace(w, "");
    w.gap();
    w.line("{}({}, m) {{",
           family_.is_own() ? "SY_LIBRARY" : "SY_LIBRARY_FRAGMENT", family_.ns);
    w.line("  m.def_static(kDefs, sizeof(kDefs) / sizeof(kDefs[0]));");
    w.line("}");
    block(w, "BackendSelect", select_);
    block(w, kExplicit, explicit_);
    block(w, kImplicit, implicit_);
  }

  // The instance of the kernels of engines that all backends share.
  void shared_kernels(Writer& w) const {
    const bool any = std::any_of(
        family_.operators.begin(), family_.operators.end(),
        [](const Operator& op) { return engine_of(op).has_value(); });
    if (!any || family_.is_own()) return;
    w.include(engine_kernels_header(family_));
    w.gap();
    w.line(
        "const SharedEngineKernels shared("
        "&engine_kernels::add_{}<EnginesOfKernel>);",
        family_.name);
  }

  void block(Writer& w, const std::string& key,
             const std::vector<Registration>& list) const {
    if (list.empty()) return;
    w.gap();
    w.line("SY_LIBRARY_IMPL({}, {}, m) {{", family_.ns, key);
    for (const Registration& r : list) {
      w.line(R"(  m.impl("{}", {});)", r.name, r.kernel);
    }
    w.line("}");
  }

  const Model& model_;
  const Family& family_;
  ExactOut exact_out_;
  std::set<std::string> called_;  // "add.Tensor", by composites
  std::vector<Registration> select_, explicit_, implicit_;
};

}  // namespace

std::string emit_definitions(const Model& model, const Family& family) {
  return DefinitionsEmitter(model, family).run();
}

std::string emit_native_header(const Model&, const Family& family) {
  Writer contracts, native;
  std::set<std::string> declared;  // operators may share a function
  for (const Operator& op : family.operators) {
    if (has_contract(op)) contracts.line("SY_API {};", contract_head(op));
    for (const char* key : {kExplicit, kImplicit}) {
      const std::string name(op.kernel(key));
      if (name.empty()) continue;
      native.line("// {}  {}", op.base.name, op.source);
      const std::string line =
          fmt::format("{} {}({});", return_type(op.base.schema), name,
                      parameter_list(op.base.schema));
      if (declared.insert(line).second) native.line(line);
    }
  }
  Writer w;
  w.raw(banner(family));
  w.line("#pragma once");
  w.gap();
  includes(w, {"aten/engine/dims.h", "aten/tensor.h", "c10/macros.h"});
  if (!contracts.str().empty()) {
    w.gap();
    w.comment(
        "Checks of the arguments, made before a kernel of any backend sees "
        "them; `sizes` are those of the results.");
    w.line("namespace sy::contract {");
    w.gap();
    w.raw(contracts.str());
    close_namespace(w, "sy::contract");
  }
  if (!native.str().empty()) {
    w.gap();
    w.comment("Kernels for every backend, written by hand in aten/.");
    w.line("namespace sy::composite {");
    w.gap();
    w.raw(native.str());
    close_namespace(w, "sy::composite");
  }
  return w.str();
}

}  // namespace sy::codegen
