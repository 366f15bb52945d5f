#include "codegen/site/operators.h"

#include <algorithm>

#include "codegen/site/operators_html.h"
#include "codegen/site/operators_index.h"
#include "codegen/site/operators_names.h"
#include "codegen/site/operators_parts.h"
#include "codegen/site/operators_words.h"
#include "codegen/text.h"
#include "codegen/tools/markup.h"

namespace sy::codegen::site {
namespace {

class OperatorPage {
 public:
  OperatorPage(const PageContext& context, const NamedOperators& name)
      : context_(context),
        name_(name),
        facts_(context.names.shared_facts(name)) {
    for (const Operator* op : name_.operators) {
      if (!facts_) facts_ = context_.names.facts(*op);
    }
  }

  Page run() {
    head();
    if (name_.operators.size() == 1) {
      one(name_.first(), 2, "");
    } else {
      several();
    }
    out_ += dtypes_html(context_, facts_);
    out_ += dispatch_html(facts_);
    out_ += timings_html(name_);
    out_ += related_html(context_, name_);
    if (name_.operators.size() == 1) {
      out_ += OperatorParts(context_, name_.first(), 2, "").definition();
    }
    return {name_.path, name_.name, std::move(out_), "operators", name_.doc()};
  }

 private:
  void head() {
    std::string tags;
    std::vector<std::string_view> kinds;
    for (const Operator* op : name_.operators) {
      const std::string_view kind = kind_name(*op);
      if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) continue;
      kinds.push_back(kind);
      tags += tag_html(kind, kind_meaning(kind));
    }
    append(out_, "<h1>{}{}</h1>\n", markup_text(name_.name), tags);
    if (!name_.doc().empty()) {
      append(out_, "<p class=\"lead\">{}</p>\n", inline_html(name_.doc()));
    }
    append(out_, "<p class=\"where\">{}</p>\n", join(places(), " · "));
    // The family's text about all its operators.
    const Family& family = context_.family(name_.first());
    const std::string more =
        first_sentence(head_comment(context_.model.text(family))).second;
    if (!more.empty()) append(out_, "<p>{}</p>\n", inline_html(more));
    if (name_.internal) {
      out_ +=
          "<p class=\"note\">Internal: other operators call it; its name and "
          "arguments may change.</p>\n";
    }
  }

  // Files, families beside the first, PyTorch's name.
  std::vector<std::string> places() const {
    std::vector<std::string> out;
    std::vector<const Family*> families;
    for (const Operator* op : name_.operators) {
      const Family& f = context_.family(*op);
      if (std::find(families.begin(), families.end(), &f) != families.end()) {
        continue;
      }
      families.push_back(&f);
      out.push_back(code_html(op->source));
      if (families.size() == 1) continue;
      out.back() +=
          " (" + link_html(link(name_.path, family_path(f)), f.name) + ')';
    }
    const Operator& op = name_.first();
    // Every public operator of this namespace is one of ATen's.
    if (op.ns == "aten" && !name_.internal) {
      out.push_back("PyTorch: " + code_html("torch.ops.aten." + name_.name));
    }
    return out;
  }

  void one(const Operator& op, int level, const std::string& id) {
    const OperatorParts parts(context_, op, level, id);
    out_ += parts.signature();
    out_ += parts.example();
    out_ += parts.arguments();
    out_ += parts.result();
    out_ += parts.errors();
    out_ += parts.gradient();
    out_ += parts.computation();
    out_ += parts.forms();
  }

  void several() {
    const OperatorFacts* const shared = context_.names.shared_facts(name_);
    section("example", "Example",
            example_html(shared) + curves_html(name_.name, shared));
    for (const Operator* op : name_.operators) {
      const std::string& id = op->base.name;
      out_ += heading_html(2, id, id);
      if (!op->entry->doc.empty() && op != &name_.first()) {
        append(out_, "<p>{}</p>\n", inline_html(op->entry->doc));
      }
      const OperatorParts parts(context_, *op, 3, id + '-');
      // An out= form beside the functional one repeats it.
      if (op->base.schema.is_out() && name_.first().is_functional()) {
        out_ += parts.signature() + parts.errors();
      } else {
        one(*op, 3, id + '-');
      }
      out_ += parts.definition();
    }
    section("errors", "Errors", error_calls_html(shared));
  }

  void section(const std::string& id, std::string_view title,
               const std::string& html) {
    if (!html.empty()) out_ += heading_html(2, id, title) + html;
  }

  const PageContext& context_;
  const NamedOperators& name_;
  const OperatorFacts* facts_;
  std::string out_;
};

}  // namespace

std::vector<Page> operator_pages(const Model& model,
                                 std::span<const Family> families,
                                 const Facts& facts) {
  const Names names(model, families, facts);
  const PageContext context{model, families, facts, names};
  std::vector<Page> out;
  for (const NamedOperators* n : names.all()) {
    out.push_back(OperatorPage(context, *n).run());
  }
  for (const Family& f : families) {
    out.push_back(family_page(context, f));
  }
  out.push_back(all_operators_page(context));
  return out;
}

}  // namespace sy::codegen::site
