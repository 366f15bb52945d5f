#include <algorithm>

#include "codegen/emit/apart.h"
#include "codegen/emit/common.h"
#include "codegen/emit/emit.h"
#include "codegen/model_names.h"
#include "lang/cpp_names.h"
#include "model/cpp_types.h"
#include "model/exact_out.h"
#include "model/form_plan.h"

namespace sy::codegen {
namespace {

using lang::OperatorKind;

// The name of the variable for the result that a kernel fills.
std::string result_variable(const Operator& op, std::size_t i) {
  const auto returns = op.base.schema.returns();
  std::string name(returns[i].name.view());
  if (name.empty()) {
    name = returns.size() == 1 ? "out" : fmt::format("out{}", i);
  }
  const auto arguments = parameter_names(op.base.schema);
  std::set<std::string> taken(arguments.begin(), arguments.end());
  taken.insert(local(op, "sizes"));
  return lang::fresh_name(lang::cpp_name(name), taken);
}

// The argument whose memory format fresh results have by the operator's tags;
// "" if they are row-major.
const char* format_argument(const Operator& op) {
  if (op.has_tag("format_of_self")) return "self";
  return op.has_tag("format_of_grad_output") ? "grad_output" : "";
}

void emit_lay_out_like(Writer& w) {
  w.include("aten/engine/copy.h");
  w.gap();
  w.raw(R"(// Gives a row-major result the memory format of `like`.
void lay_out_like(const TensorBase& like, const Tensor& result) {
  const MemoryFormat format = like.suggest_memory_format();
  if (result.is_contiguous(format) || !result.is_contiguous()) return;
  int64_t strides[TensorImpl::kMaxDims];
  dense_strides_like(result, format, strides);
  const IntArrayRef sizes = result.sizes();
  result.impl()->set_sizes_and_strides(sizes, {strides, sizes.size()},
                                       result.storage_offset());
}
)");
}

// The kernels of a backend for the operators of a family: those that its
// engines run, and those named under `dispatch:`. emit_backend_files()
// registers the kernels that its description lists.
class BackendEmitter {
 public:
  BackendEmitter(const Model& model, const Family& family,
                 const Backend& backend)
      : family_(family),
        exact_out_(model),
        backend_(backend),
        key_(backend.key.str()),
        ns_(backend.inner_namespace()) {}

  std::string run() {
    Writer body;
    for (const Operator& op : family_.operators) kernels(body, op);
    Writer w;
    w.raw(banner(family_));
    Writer helpers;
    if (lays_out_) emit_lay_out_like(helpers);
    body.include_all(helpers.headers());
    headers(body);
    includes(w, body.headers());
    open_namespace(w, backend_.ns.str());
    if (!body.str().empty()) {
      open_namespace(w, "");
      w.gap();
      w.raw(helpers.str());
      w.raw(body.str());
      close_namespace(w, "");
    }
    if (!registrations_.empty()) {
      w.gap();
      w.line("SY_LIBRARY_IMPL({}, {}, m) {{", family_.ns, key_);
      for (const std::string& r : registrations_) w.line("  {}", r);
      w.line("}");
    }
    close_namespace(w, backend_.ns.str());
    return w.str();
  }

 private:
  void headers(Writer& w) const {
    w.include(fmt::format("aten/ops/{}_ops.h", family_.name));
    w.include(kernels_header(backend_, family_));
    w.include("c10/plugin/library.h");
  }

  static void contract(Writer& w, const Operator& op) {
    if (!has_contract(op)) return;
    w.include(family_header(op, "_kernels.h"));
    w.line("  {}", contract_call(op));
  }

  // Whether the backend has an engine for it, which is then used.
  bool runs(Writer& w, EngineKind e, const Overload& o) const {
    if (!backend_.has_engine(e) || is_listed(o)) return false;
    w.include(backend_.engine(e));
    return true;
  }

  bool is_listed(const Overload& o) const {
    return backend_.names(
        family_.is_own() ? fmt::format("{}::{}", family_.ns, o.name) : o.name);
  }

  void kernels(Writer& w, const Operator& op) {
    switch (op.kind()) {
      case OperatorKind::kPointwise:
        for (const Overload* o : op.overloads()) {
          if (!runs(w, EngineKind::kPointwise, *o)) continue;
          pointwise(w, op, *o);
        }
        break;
      case OperatorKind::kReduce:
        for (const Overload* o : op.overloads()) {
          if (runs(w, EngineKind::kReduce, *o)) reduce(w, op, *o);
        }
        break;
      case OperatorKind::kScan:
        for (const Overload* o : op.overloads()) {
          if (!runs(w, EngineKind::kScan, *o)) continue;
          begin(w, op, *o);
          apart(w, op, *o);
          contract(w, op);
          results(w, op, *o, "scan", scan_arguments(op));
        }
        break;
      case OperatorKind::kView:
        if (runs(w, EngineKind::kView, op.base)) {
          registrations_.push_back(
              fmt::format(R"(m.impl("{}", Kernel::from_boxed(&{}));)",
                          op.base.name, callee(op, ns_, "view")));
        }
        break;
      case OperatorKind::kDispatch: dispatched(w, op); break;
      default: break;
    }
  }

  void begin(Writer& w, const Operator& op, const Overload& o) {
    if (has_descriptor(op)) w.include(family_header(op, "_desc.h"));
    w.gap();
    if (&o == &op.base) w.line(item_source(op));
    function_head(w, o, "_kernel");
    registrations_.push_back(fmt::format(
        R"(m.impl("{}", SY_FN({}_kernel).checks_itself());)", o.name, o.id));
  }

  // A backend without memory reads nothing.
  void apart(Writer& w, const Operator& op, const Overload& o) const {
    const bool copies = inputs_apart(op, o) == InputsApart::kCopied;
    if (!backend_.fills || !copies) return;
    emit_apart(w, op, o, o.id + "_kernel", "");
  }

  // Checks the out= argument of a form that does not convert.
  void check_exact(Writer& w, const Operator& op, const Overload& o,
                   const std::string& args) {
    if (!o.schema.is_out() || !exact_out_.of(op)) return;
    w.include("aten/engine/exact_out.h");
    w.line(std::string("  ") +
           (op.has_tag("copied_out") ? "prepare_copied_out("
                                     : "check_exact_out(") +
           entry_of(o) + ", " + descriptor(op) + ", " + args + ", " +
           written_arguments(o)[0] + ");");
  }

  void pointwise(Writer& w, const Operator& op, const Overload& o) {
    begin(w, op, o);
    contract(w, op);
    const std::string args = pointwise_arguments(w, op);
    if (o.schema.is_functional()) {
      w.line("  return {}({}, {});", callee(op, ns_, "pointwise"),
             descriptor(op), args);
    } else {
      const std::string out = written_arguments(o)[0];
      const char* engine =
          o.schema.is_inplace() ? "pointwise_inplace" : "pointwise_out";
      check_exact(w, op, o, args);
      if (backend_.fills) {
        emit_pointwise_apart(w, op, o, o.id + "_kernel", "", args);
      }
      w.line("  {}({}, {}, {}, {});", callee(op, ns_, engine), descriptor(op),
             args, entry_of(o), out);
      w.line("  {}", return_written(o));
    }
    w.line("}");
  }

  void reduce(Writer& w, const Operator& op, const Overload& o) {
    begin(w, op, o);
    apart(w, op, o);
    contract(w, op);
    const std::string args = reduce_arguments(w, op);
    if (op.base.schema.returns().size() > 1) {
      results(w, op, o, "reduce", args);
      return;
    }
    if (o.schema.is_functional()) {
      w.line("  return {}({}, {});", callee(op, ns_, "reduce"), descriptor(op),
             args);
    } else {
      check_exact(w, op, o, args);
      w.line("  {}({}, {}, {}, {});", callee(op, ns_, "reduce_out"),
             descriptor(op), args, entry_of(o), written_arguments(o)[0]);
      w.line("  {}", return_written(o));
    }
    w.line("}");
  }

  // The rest of a kernel whose engine fills an array of results.
  void results(Writer& w, const Operator& op, const Overload& o,
               const std::string& engine, const std::string& args) const {
    if (o.schema.is_functional()) {
      const std::size_t n = op.base.schema.returns().size();
      const std::string all = local(op, "results");
      std::vector<std::string> list;
      for (std::size_t i = 0; i < n; ++i) {
        list.push_back(fmt::format("{}[{}]", all, i));
      }
      w.line("  Tensor {}[{}];", all, n);
      w.line("  {}({}, {}, {});", callee(op, ns_, engine + "_results"),
             descriptor(op), args, all);
      w.line("  return {};",
             n == 1 ? list[0] : fmt::format("{{{}}}", join(list, ", ")));
    } else {
      w.line(outs_line(op, o));
      w.line("  {}({}, {}, {}, {});", callee(op, ns_, engine + "_outs"),
             descriptor(op), args, entry_of(o), local(op, "outs"));
      w.line("  {}", return_written(o));
    }
    w.line("}");
  }

  void dispatched(Writer& w, const Operator& op) {
    const std::string kernel(op.kernel(key_));
    if (op.is_structured() &&
        (backend_.fills ? !kernel.empty() : has_sizes_kernel(op))) {
      if (!is_listed(op.base)) structured(w, op, kernel);
      if (op.out && op.base.schema.returns().size() == 1 &&
          contract_applies(op, *op.out) && !is_listed(*op.out)) {
        structured_out(w, op, kernel);
      }
      if (op.inplace && backend_.fills && writes_in_place(op) &&
          contract_applies(op, *op.inplace) && !is_listed(*op.inplace)) {
        structured_inplace(w, op, kernel);
      }
      return;
    }
    if (kernel.empty()) return;
    registrations_.push_back(
        fmt::format(R"(m.impl("{}", SY_FN({}));)", op.base.name, kernel));
  }

  void check(Writer& w, const Operator& op) const {
    w.line("  Dims {}[{}];", local(op, "sizes"), op.contract.shape.size());
    w.include("aten/engine/operator_steps.h");
    w.include_all(result_headers(op));
    contract(w, op);
  }

  // "mm_out(self, mat2, out)"
  std::string call(const Operator& op, const std::string& kernel,
                   const std::vector<std::string>& outs) const {
    std::vector<std::string> args = parameter_names(op.base.schema);
    args.insert(args.end(), outs.begin(), outs.end());
    return fmt::format("{}({})", callee(op, ns_, kernel), join(args, ", "));
  }

  static std::string new_result(Writer& w, const Operator& op) {
    if (!op.has_tag("column_major")) return "new_result";
    w.include("aten/engine/columns.h");
    return "new_by_columns";
  }

  void lay_out(Writer& w, const Operator& op, const std::string& result) {
    const std::string like = format_argument(op);
    if (like.empty()) return;
    lays_out_ = true;
    w.line("  lay_out_like({}, {});", like, result);
  }

  void structured(Writer& w, const Operator& op, const std::string& kernel) {
    begin(w, op, op.base);
    check(w, op);
    std::vector<std::string> outs;
    for (std::size_t i = 0; i < op.contract.shape.size(); ++i) {
      const std::string name = result_variable(op, i);
      outs.push_back(name);
      w.line("  const Tensor {} = {}({}, {}[{}], {});", name, new_result(w, op),
             like_argument(op), local(op, "sizes"), i, result_dtype(op, i));
      lay_out(w, op, name);
    }
    if (backend_.fills) w.line("  {};", call(op, kernel, outs));
    w.line("  return {};", outs.size() == 1
                               ? outs[0]
                               : fmt::format("{{{}}}", join(outs, ", ")));
    w.line("}");
  }

  void structured_out(Writer& w, const Operator& op,
                      const std::string& kernel) {
    const Overload& o = *op.out;
    begin(w, op, o);
    check(w, op);
    const std::string out = written_arguments(o)[0];
    const std::string size = local(op, "sizes") + "[0]";
    const std::string result = local(op, "result");
    const std::string device = like_argument(op) + ".device()";
    const std::string dtype = result_dtype(op, 0);
    if (exact_out_.of(op)) {
      w.line("  generated::check_out_dtype({}, {}, {});", entry_of(o), out,
             dtype);
    }
    if (op.has_tag("column_major")) {
      w.line("  const Tensor {} = {}({}, {}, {});", result, new_result(w, op),
             like_argument(op), size, dtype);
      if (backend_.fills) w.line("  {};", call(op, kernel, {result}));
      w.line("  store_as_laid_out({}, {}, {});", entry_of(o), result, out);
    } else if (!backend_.fills) {
      w.line("  prepare_out({}, {}, {}, {}, {});", entry_of(o), out, size,
             dtype, device);
      lay_out(w, op, out);
    } else {
      std::vector<std::string> inputs;
      const auto arguments = op.tensor_arguments();
      for (const Argument* a : arguments) {
        if (a->type == TypeKind::kTensor) {
          inputs.push_back("&" + parameter_name(*a));
        } else if (a->type.is_optional()) {
          const std::string name = parameter_name(*a);
          inputs.push_back(fmt::format("{0} ? &*{0} : nullptr", name));
        }
      }
      const bool list =
          std::any_of(arguments.begin(), arguments.end(),
                      [](const Argument* a) { return a->type.is_list(); });
      if (list) {
        // Any of them may overlap.
        w.line("  const Tensor {} = new_result({}, {}, {});", result,
               like_argument(op), size, dtype);
        w.line("  {};", call(op, kernel, {result}));
        w.line("  store_result({}, {}, {});", entry_of(o), result, out);
      } else {
        const std::string fill = local(op, "fill");
        const std::string head = fmt::format(
            "  const auto {} = [&](const Tensor& {}) {{", fill, result);
        const std::string body = call(op, kernel, {result}) + ";";
        if (head.size() + body.size() + 4 <= 80) {
          w.line("{} {} }};", head, body);
        } else {
          w.line(head);
          w.line("    {}", body);
          w.line("  };");
        }
        w.line("  generated::fill_out({}, {}, {}, {}, {}, {{{}}}, {});",
               entry_of(o), out, size, dtype, device, join(inputs, ", "), fill);
      }
    }
    w.line("  {}", return_written(o));
    w.line("}");
  }

  static bool writes_in_place(const Operator& op) {
    const auto& tags = op.entry->tags;
    return std::any_of(tags.begin(), tags.end(), [](const lang::Text& tag) {
      return tag.str() == "inplace_direct";
    });
  }

  // The kernel writes to self itself, unless that shares memory with another
  // argument.
  void structured_inplace(Writer& w, const Operator& op,
                          const std::string& kernel) {
    const Overload& o = *op.inplace;
    const std::string self = written_arguments(o)[0];
    begin(w, op, o);
    check(w, op);
    const std::string size = local(op, "sizes") + "[0]";
    const std::string result = local(op, "result");
    const std::string fill = local(op, "fill");
    w.line("  generated::check_inplace_sizes({}, {}, {});", entry_of(o), self,
           size);
    std::vector<std::string> inputs;
    for (const Argument* a : op.tensor_arguments()) {
      const std::string name = parameter_name(*a);
      if (name != self && a->type == TypeKind::kTensor) {
        inputs.push_back("&" + name);
      }
    }
    w.line("  const auto {} = [&](const Tensor& {}) {{", fill, result);
    w.line("    {};", call(op, kernel, {result}));
    w.line("  };");
    w.line(
        "  generated::fill_out({0}, {1}, {2}, {3}, {1}.device(), {{{4}}}, "
        "{5});",
        entry_of(o), self, size, result_dtype(op, 0), join(inputs, ", "), fill);
    w.line("  {}", return_written(o));
    w.line("}");
  }

  const Family& family_;
  ExactOut exact_out_;
  const Backend& backend_;
  const std::string key_, ns_;
  std::vector<std::string> registrations_;
  bool lays_out_ = false;
};

}  // namespace

std::string kernels_header(const Backend& backend, const Family& family) {
  return in_folder(backend, family.name + "_kernels_gen.h");
}

std::string emit_backend(const Model& model, const Family& family,
                         const Backend& backend) {
  return BackendEmitter(model, family, backend).run();
}

std::string emit_backend_header(const Model&, const Family& family,
                                const Backend& backend) {
  const std::string& ns = backend.ns.str();
  Writer kernels;
  for (const Operator& op : family.operators) {
    const std::string kernel(op.kernel(backend.key.str()));
    if (kernel.empty()) continue;
    kernels.line("// {}  {}", op.base.name, op.source);
    if (op.is_structured() && backend.fills) {
      std::vector<std::string> params = parameters(op.base.schema);
      const auto returns = op.base.schema.returns();
      for (std::size_t i = 0; i < returns.size(); ++i) {
        params.push_back("const Tensor& " + result_variable(op, i));
      }
      kernels.line("void {}({});", kernel, join(params, ", "));
    } else {
      kernels.line("{} {}({});", return_type(op.base.schema), kernel,
                   parameter_list(op.base.schema));
    }
  }
  Writer w;
  w.raw(banner(family));
  w.line("#pragma once");
  w.gap();
  includes(w, {"aten/tensor.h"});
  w.gap();
  w.comment(
      "Kernels written by hand. A kernel that ends in a `const Tensor& out` "
      "fills it; its arguments have been checked.");
  w.line("namespace {} {{", ns);
  w.gap();
  w.raw(kernels.str());
  close_namespace(w, ns);
  return w.str();
}

}  // namespace sy::codegen
