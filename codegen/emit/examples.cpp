#include "codegen/emit/common.h"
#include "codegen/emit/describe.h"
#include "codegen/emit/emit.h"

namespace sy::codegen {

std::string emit_examples(const Model& model) {
  Writer w;
  w.line("// Generated from schemas/ops by sygen. Do not edit.");
  w.line("// Every call of the reference pages, to be compiled.");
  std::set<std::string> headers = {"aten/tensor_new.h"};
  for (const Family& f : model.families()) {
    headers.insert(fmt::format("aten/ops/{}.h", f.name));
  }
  includes(w, headers);
  open_namespace(w, "sy_examples");
  w.gap();
  w.line("using namespace sy;");
  for (const Family& family : model.families()) {
    for (const Operator& op : family.operators) {
      std::vector<ApiCall> calls = api_calls(op);
      if (auto example = example_call(op)) calls.push_back(std::move(*example));
      for (const ApiCall& c : calls) {
        w.gap();
        w.function(fmt::format("{} {}({})", c.result, c.id, c.parameters),
                   wrap(fmt::format("  return {};", c.call)) + '\n');
      }
    }
  }
  close_namespace(w, "sy_examples");
  return w.str();
}

std::string emit_example_words(const Family& family) {
  const std::string ns = family.is_own() ? family.ns + "::" : "";
  std::string out;
  for (const Operator& op : family.operators) {
    if (op.entry->no_derivative) {
      append(out, "{}{} derivative: {}\n", ns, op.base.name,
             op.entry->no_derivative_words());
    }
    if (!op.entry->example) continue;
    append(out, "{}{}: {}\n", ns, op.base.name, op.entry->example->str());
  }
  return out;
}

}  // namespace sy::codegen
