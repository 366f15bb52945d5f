#pragma once

#include <span>
#include <string>

#include "codegen/model_names.h"
#include "codegen/site/facts.h"
#include "codegen/site/operators_names.h"
#include "model/model.h"

// Private to the operator pages: the sections of a page, as HTML; "" for a
// section without facts.

namespace sy::codegen::site {

// The data that sections need. It refers to objects that outlive them.
struct PageContext {
  const Model& model;
  std::span<const Family> families;  // of the model, those with pages
  const Facts& facts;
  const Names& names;

  const Family& family(const Operator& op) const;
};

// The parts of one operator's page. Headings have `level`, their ids begin with
// `id`.
class OperatorParts {
 public:
  OperatorParts(const PageContext& context, const Operator& op, int level,
                std::string id);

  std::string signature() const;
  std::string example() const;
  std::string arguments() const;
  std::string result() const;
  std::string errors() const;
  std::string gradient() const;
  std::string computation() const;
  std::string forms() const;
  std::string definition() const;

 private:
  std::string head(const std::string& id, std::string_view title) const;
  std::string kernel_file(const lang::DispatchItem& d) const;
  std::string kernels() const;
  // The flow of elements, as the schema says or else as running it tells.
  std::string flow() const;

  const PageContext& context_;
  const Operator& op_;
  const OperatorFacts* facts_;
  int level_;
  std::string id_;
};

// An example with its output, and calls with their errors, without headings.
std::string example_html(const OperatorFacts* facts);
std::string curves_html(const std::string& name, const OperatorFacts* facts);
std::string error_calls_html(const OperatorFacts* facts);

// The parts of a whole name's page; headings are <h2>.
std::string dtypes_html(const PageContext& context, const OperatorFacts* facts);
std::string dispatch_html(const OperatorFacts* facts);
std::string timings_html(const NamedOperators& name);
std::string related_html(const PageContext& context,
                         const NamedOperators& name);
// Links to pages of operators, from one of them; the names of those without.
std::string links_html(const std::string& from,
                       const std::vector<const NamedOperators*>& names);

}  // namespace sy::codegen::site
