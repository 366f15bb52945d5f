#include <algorithm>

#include "codegen/emit/apart.h"
#include "codegen/emit/common.h"
#include "codegen/emit/describe.h"
#include "codegen/emit/emit.h"
#include "codegen/emit/engine_kernels.h"
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

// The kernels of a backend for the operators of a family: those named under
// `dispatch:`, and a direct instance of those that its engines run.
// emit_backend_files() registers the shared instance, and the kernels that its
// description lists.
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
    engine_kernels(body);
    for (const Operator& op : family_.operators) kernels(body, op);
    Writer w;
    w.raw(banner(family_));
    if (registrations_.empty()) return w.str();
    headers(body);
    includes(w, body.headers());
    // Other families find them in backend_gen.h.
    const bool has_tables = uses_engines_ && family_.is_own();
    if (has_tables) {
      w.gap();
      emit_engine_declarations(w, backend_, true);
    }
    open_namespace(w, backend_.ns.str());
    if (has_tables) {
      open_namespace(w, "");
      w.gap();
      emit_engine_tables(w, backend_, "constexpr");
      close_namespace(w, "");
    }
    if (!body.str().empty()) {
      open_namespace(w, "");
      w.gap();
      w.raw(body.str());
      close_namespace(w, "");
    }
    w.gap();
    w.line("SY_LIBRARY_IMPL({}, {}, m) {{", family_.ns, key_);
    for (const std::string& r : registrations_) w.line("  {}", r);
    w.line("}");
    close_namespace(w, backend_.ns.str());
    return w.str();
  }

 private:
  void headers(Writer& w) const {
    w.include(kernels_header(backend_, family_));
    w.include("c10/plugin/library.h");
  }

  static void contract(Writer& w, const Operator& op) {
    if (!has_contract(op)) return;
    w.include(family_header(op, "_kernels.h"));
    w.line("  {}", contract_call(op));
  }

  bool is_listed(const Overload& o) const {
    return lists(backend_, family_, o);
  }

  // A library of its own has no part in the shared instance.
  void engine_kernels(Writer& w) {
    if (!backend_.direct && !family_.is_own()) return;
    std::vector<std::string> listed;
    bool any = false;
    for (const Operator& op : family_.operators) {
      const auto engine = engine_of(op);
      if (!engine || !backend_.has_engine(*engine)) continue;
      for (const Overload* o : op.overloads()) {
        if (is_listed(*o)) {
          listed.push_back(fmt::format(R"("{}")", o->name));
        } else {
          any = true;
        }
      }
    }
    if (!any) return;
    use_engines(w);
    w.include(engine_kernels_header(family_));
    if (!listed.empty()) {
      registrations_.push_back(
          fmt::format("static constexpr const char* kListed[] = {{{}}};",
                      join(listed, ", ")));
    }
    registrations_.push_back(
        fmt::format("EngineKernels kernels(m, kEngines{});",
                    listed.empty() ? "" : ", kListed"));
    registrations_.push_back(
        fmt::format("engine_kernels::add_{}<KnownEngines<kEngines>>(kernels);",
                    family_.name));
  }

  void use_engines(Writer& w) {
    uses_engines_ = true;
    w.include("aten/backend/engine_kernels.h");
    if (!family_.is_own()) w.include(in_folder(backend_, "backend_gen.h"));
  }

  void kernels(Writer& w, const Operator& op) {
    switch (op.kind()) {
      case OperatorKind::kView:
        if (backend_.has_engine(EngineKind::kView) && !is_listed(op.base)) {
          use_engines(w);
          registrations_.push_back(fmt::format(
              R"(m.impl("{}", Kernel::from_boxed(&view));)", op.base.name));
        }
        break;
      case OperatorKind::kDispatch: dispatched(w, op); break;
      default: break;
    }
  }

  void begin(Writer& w, const Operator& op, const Overload& o) {
    w.gap();
    w.include(family_header(op, "_ops.h"));
    if (&o == &op.base) w.line(item_source(op));
    function_head(w, o, "_kernel");
    registrations_.push_back(fmt::format(
        R"(m.impl("{}", SY_FN({}_kernel).checks_itself());)", o.name, o.id));
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
    if (!result_layout(op).by_columns) return "new_result";
    w.include("aten/engine/columns.h");
    return "new_by_columns";
  }

  static void lay_out(Writer& w, const Operator& op,
                      const std::string& result) {
    const int like = result_layout(op).like;
    if (like < 0) return;
    w.line("  generated::lay_out_like({}, {});",
           parameter_name(op.base.schema.arguments()[like]), result);
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
    if (result_layout(op).by_columns) {
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
  bool uses_engines_ = false;
};

}  // namespace

std::string kernels_header(const Backend& backend, const Family& family) {
  return in_folder(backend, family.name + "_kernels_gen.h");
}

bool lists(const Backend& backend, const Family& family, const Overload& o) {
  return backend.names(
      family.is_own() ? fmt::format("{}::{}", family.ns, o.name) : o.name);
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
