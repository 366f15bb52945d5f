#include "codegen/emit/common.h"
#include "codegen/emit/describe.h"
#include "codegen/emit/emit.h"

namespace sy::codegen {
namespace {

class Page {
 public:
  Page(const Model& model, const Operator& op)
      : model_(model), op_(op), e_(*op.entry) {}

  std::string run() {
    w_.raw("\n## {}\n\n", op_.base.name);
    if (!e_.doc.empty()) w_.raw(e_.doc + "\n\n");
    w_.raw("```\n");
    for (const Overload* o : op_.overloads()) {
      w_.raw(to_string(o->schema) + '\n');
    }
    w_.raw("```\n");
    const std::vector<ApiCall> calls = api_calls(op_);
    if (!calls.empty()) {
      w_.raw("\n```cpp\n");
      for (const ApiCall& c : calls) w_.raw(c.call + '\n');
      w_.raw("```\n");
    }
    if (const auto example = example_call(op_)) {
      w_.raw("\nFor example:\n\n```cpp\n{}\n```\n", example->call);
    }
    w_.raw("\n");
    for (const auto& [title, text] : meaning_texts(op_)) item(title, text);
    item("Sizes", shape_text(op_));
    item("Dtype", promotion_text(op_));
    for (const Argument& a : op_.base.schema.arguments()) {
      if (const int n = required_length(a); n > 0) {
        item("Requires", fmt::format("{} values in `{}`", n, a.name.view()));
      }
    }
    for (const lang::Requirement& r : e_.require) {
      item("Requires",
           fmt::format("`{}`{}", lang::to_string(r.condition.expr),
                       r.message.empty() ? "" : ": " + r.message.str()));
    }
    derivatives();
    std::string kernels;
    for (const auto& [key, kernel] : kernel_texts(model_, op_)) {
      append(kernels, "{}{}: {}", kernels.empty() ? "" : "; ", key, kernel);
    }
    item("Kernels", kernels);
    return w_.str();
  }

 private:
  void item(const std::string& title, const std::string& text) {
    if (!text.empty()) w_.raw("- {}: {}\n", title, text);
  }

  void derivatives() {
    const auto all = derivative_texts(model_, op_);
    for (const auto& [name, text] : all) {
      const bool plain = text.empty() || text.starts_with("grad at ");
      item("Derivative by " + name.str(), text.empty() ? "none"
                                          : plain      ? text
                                                  : fmt::format("`{}`", text));
    }
    if (!all.empty()) return;
    item("Derivative", e_.no_derivative    ? e_.no_derivative_words()
                       : is_composite(op_) ? "by the operators called"
                                           : "none");
  }

  const Model& model_;
  const Operator& op_;
  const lang::OperatorEntry& e_;
  Writer w_;
};

}  // namespace

std::string emit_docs(const Model& model, const Family& family) {
  Writer w;
  w.raw("# {}\n\nFrom `{}`.\n", family.name, family.path);
  for (const Operator& op : family.operators) w.raw(Page(model, op).run());
  return w.str();
}

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
