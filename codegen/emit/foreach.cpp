#include "codegen/emit/foreach.h"

#include "codegen/emit/contracts.h"
#include "codegen/model_names.h"
#include "lang/cpp_text.h"
#include "lang/format.h"
#include "model/cpp_types.h"
#include "model/foreach.h"

namespace sy::codegen {
namespace {

class ForeachEmitter {
 public:
  ForeachEmitter(Writer& w, const Operator& op, const ForeachPlan& plan)
      : w_(w), op_(op), plan_(plan) {}

  void functional() {
    Writer body;
    head(body, op_.base, plan_.lists);
    emit_requirements(body, op_);
    const std::string results = local(op_, "results");
    body.line("  std::vector<Tensor> {};", results);
    body.line("  {}.reserve({}.size());", results, first());
    loop(body);
    body.block(statements(), 4);
    body.block(fmt::format("{}.push_back({});", results, plan_.each.value), 4);
    body.line("  }");
    body.line("  return {};", results);
    function(op_.base, body);
  }

  void inplace() {
    Writer body;
    head(body, *op_.inplace, plan_.lists);
    emit_requirements(body, op_);
    loop(body);
    body.block(statements(), 4);
    body.line("    Tensor {} = self[i];", plan_.written);
    body.block(plan_.inplace + ";", 4);
    body.line("  }");
    body.line("  generated::name_writers({}, self);", entry_of(*op_.inplace));
    function(*op_.inplace, body);
  }

  void out() {
    Writer body;
    head(body, *op_.out, {first(), "out"});
    body.line("  generated::store_each({}, {}, out);", entry_of(*op_.out),
              functional_call(w_, op_, *op_.out));
    function(*op_.out, body);
  }

 private:
  const std::string& first() const { return plan_.lists[0]; }

  void function(const Overload& o, const Writer& body) {
    w_.include_all(body.headers());
    w_.include_all(plan_.each.headers);
    w_.gap();
    if (&o == &op_.base) w_.line(item_source(op_));
    w_.function(fmt::format("{} {}_foreach({})", return_type(o.schema), o.id,
                            parameter_list(o.schema, body.str())),
                body.str());
  }

  // The lists are there and of one length.
  void head(Writer& w, const Overload& o,
            const std::vector<std::string>& lists) {
    const std::string name = lang::cpp_string(o.name);
    w_.include("aten/engine/foreach.h");
    w.line(R"(  generated::check_foreach({}, "{}", {}.size());)", name,
           lists[0], lists[0]);
    for (std::size_t k = 1; k < lists.size(); ++k) {
      w.line(R"(  generated::check_length({}, "{}", {}.size(), {}.size());)",
             name, lists[k], lists[k], lists[0]);
    }
  }

  void loop(Writer& w) const {
    w.line("  for (size_t i = 0; i < {}.size(); ++i) {{", first());
  }

  std::string statements() const {
    std::string out;
    for (const std::string& s : plan_.each.statements) out += s + '\n';
    return out;
  }

  Writer& w_;
  const Operator& op_;
  const ForeachPlan& plan_;
};

}  // namespace

void emit_foreach(Writer& w, const Model& model, const Operator& op) {
  lang::Diagnostics diagnostics;
  const auto plan = plan_foreach(model, op, diagnostics);
  if (!plan) throw lang::LangError(diagnostics);
  ForeachEmitter emitter(w, op, *plan);
  emitter.functional();
  if (op.inplace) emitter.inplace();
  if (op.out) emitter.out();
}

}  // namespace sy::codegen
