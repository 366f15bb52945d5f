#include "codegen/emit/engine_kernels.h"

#include "codegen/emit/apart.h"
#include "codegen/emit/describe.h"
#include "codegen/emit/emit.h"
#include "model/cpp_types.h"
#include "model/exact_out.h"
#include "model/form_plan.h"

namespace sy::codegen {
namespace {

// The templates of a family's kernels, and the function that registers them.
class KernelsEmitter {
 public:
  KernelsEmitter(const Model& model, const Family& family)
      : family_(family), exact_out_(model) {}

  std::string run() {
    Writer body;
    for (const Operator& op : family_.operators) {
      const auto engine = engine_of(op);
      if (!engine) continue;
      for (const Overload* o : op.overloads()) kernel(body, *engine, op, *o);
    }
    Writer w;
    w.raw(banner(family_));
    w.line("#pragma once");
    if (registrations_.empty()) return w.str();
    w.gap();
    body.include("aten/backend/engine_kernels.h");
    body.include(fmt::format("aten/ops/{}_desc.h", family_.name));
    body.include(fmt::format("aten/ops/{}_ops.h", family_.name));
    includes(w, body.headers());
    open_namespace(w, "sy::engine_kernels");
    w.gap();
    w.raw(body.str());
    w.gap();
    w.line("template <class Engines>");
    w.line("void add_{}(EngineKernels& m) {{", family_.name);
    for (const std::string& r : registrations_) w.line("  {}", r);
    w.line("}");
    close_namespace(w, "sy::engine_kernels");
    return w.str();
  }

 private:
  void kernel(Writer& w, EngineKind e, const Operator& op, const Overload& o) {
    registrations_.push_back(fmt::format(R"(m.{}<&{}_kernel<Engines>>("{}");)",
                                         to_string(e), o.id, o.name));
    w.gap();
    if (&o == &op.base) w.line(item_source(op));
    const std::string params = parameter_list(o.schema);
    w.line("template <class Engines>");
    w.line("{} {}_kernel(Engines {}{}) {{", return_type(o.schema), o.id,
           engines(op), params.empty() ? "" : ", " + params);
    switch (e) {
      case EngineKind::kPointwise: pointwise(w, op, o); break;
      case EngineKind::kReduce: reduce(w, op, o); break;
      default:
        apart(w, op, o);
        contract(w, op);
        results(w, op, o, "scan", scan_arguments(op));
    }
    w.line("}");
  }

  static std::string engines(const Operator& op) {
    return local(op, "engines");
  }

  static std::string call(const Operator& op, const char* engine,
                          const char* function) {
    return fmt::format("{}->{}->{}", engines(op), engine, function);
  }

  static void contract(Writer& w, const Operator& op) {
    if (!has_contract(op)) return;
    w.include(family_header(op, "_kernels.h"));
    w.line("  {}", contract_call(op));
  }

  static Rerun rerun(const Operator& op, const Overload& o) {
    // A backend without memory reads nothing.
    return {o.id + "_kernel", engines(op) + ", ",
            engines(op) + "->has_data && "};
  }

  static void apart(Writer& w, const Operator& op, const Overload& o) {
    if (inputs_apart(op, o) != InputsApart::kCopied) return;
    emit_apart(w, o, rerun(op, o));
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
    contract(w, op);
    const std::string args = pointwise_arguments(w, op);
    if (o.schema.is_functional()) {
      w.line("  return {}({}, {});", call(op, "pointwise", "run"),
             descriptor(op), args);
      return;
    }
    const std::string out = written_arguments(o)[0];
    check_exact(w, op, o, args);
    emit_pointwise_apart(w, op, o, rerun(op, o), args);
    w.line("  {}({}, {}, {}, {});",
           call(op, "pointwise", o.schema.is_inplace() ? "inplace" : "out"),
           descriptor(op), args, entry_of(o), out);
    w.line("  {}", return_written(o));
  }

  void reduce(Writer& w, const Operator& op, const Overload& o) {
    apart(w, op, o);
    contract(w, op);
    const std::string args = reduce_arguments(w, op);
    if (op.base.schema.returns().size() > 1) {
      results(w, op, o, "reduce", args);
    } else if (o.schema.is_functional()) {
      w.line("  return {}({}, {});", call(op, "reduce", "run"), descriptor(op),
             args);
    } else {
      check_exact(w, op, o, args);
      w.line("  {}({}, {}, {}, {});", call(op, "reduce", "out"), descriptor(op),
             args, entry_of(o), written_arguments(o)[0]);
      w.line("  {}", return_written(o));
    }
  }

  // The rest of a kernel whose engine fills an array of results.
  static void results(Writer& w, const Operator& op, const Overload& o,
                      const char* engine, const std::string& args) {
    if (!o.schema.is_functional()) {
      w.line(outs_line(op, o));
      w.line("  {}({}, {}, {}, {});", call(op, engine, "outs"), descriptor(op),
             args, entry_of(o), local(op, "outs"));
      w.line("  {}", return_written(o));
      return;
    }
    const std::size_t n = op.base.schema.returns().size();
    const std::string all = local(op, "results");
    std::vector<std::string> list;
    for (std::size_t i = 0; i < n; ++i) {
      list.push_back(fmt::format("{}[{}]", all, i));
    }
    w.line("  Tensor {}[{}];", all, n);
    w.line("  {}({}, {}, {});", call(op, engine, "results"), descriptor(op),
           args, all);
    w.line("  return {};",
           n == 1 ? list[0] : fmt::format("{{{}}}", join(list, ", ")));
  }

  const Family& family_;
  ExactOut exact_out_;
  std::vector<std::string> registrations_;
};

struct Table {
  EngineKind engine;
  const char* name;
};
constexpr Table kTables[] = {{EngineKind::kPointwise, "Pointwise"},
                             {EngineKind::kReduce, "Reduce"},
                             {EngineKind::kScan, "Scan"}};

}  // namespace

std::string engine_kernels_header(const Family& family) {
  return fmt::format("aten/ops/{}_engine_kernels.h", family.name);
}

void emit_engine_declarations(Writer& w, const Backend& backend,
                              bool exported) {
  w.line("namespace {} {{", backend.ns.str());
  w.gap();
  for (const Table& t : kTables) {
    if (!backend.has_engine(t.engine)) continue;
    w.line("struct {}{}Ways;", exported ? "SY_API " : "", t.name);
  }
  if (backend.has_engine(EngineKind::kView)) {
    w.line(
        "void view(const Kernel& kernel, const OperatorEntry& op, "
        "DispatchKeySet keys, Value* args, size_t num_args, Value* results, "
        "size_t num_results);");
  }
  close_namespace(w, backend.ns.str());
  w.gap();
  for (const Table& t : kTables) {
    if (!backend.has_engine(t.engine)) continue;
    w.line("extern template struct sy::{0}Calls<{1}::{0}Ways>;", t.name,
           backend.ns.str());
  }
}

void emit_engine_tables(Writer& w, const Backend& backend,
                        const std::string& specifier) {
  std::vector<std::string> all;
  for (const Table& t : kTables) {
    if (!backend.has_engine(t.engine)) {
      all.emplace_back("nullptr");
      continue;
    }
    all.push_back(fmt::format("&k{}", t.name));
    w.line("{0} {1}Engine k{1} = {1}Calls<{1}Ways>::engine();", specifier,
           t.name);
  }
  w.line("{} BackendEngines kEngines{{{}{}}};", specifier, join(all, ", "),
         backend.fills ? "" : ", false");
}

std::string emit_engine_kernels(const Model& model, const Family& family) {
  return KernelsEmitter(model, family).run();
}

}  // namespace sy::codegen
