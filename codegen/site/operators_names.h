#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/model_names.h"
#include "codegen/site/facts.h"
#include "model/model.h"

// Private to the operator pages: groups of operators that share a page, and the
// relations of pages.

namespace sy::codegen::site {

// The operators of one name: overloads, and those that write.
struct NamedOperators {
  std::string name;                        // "add", "mine::bump"
  std::string path;                        // "ops/add.html"; "": no page
  std::vector<const Operator*> operators;  // functional ones first
  bool internal = false;

  bool has_page() const { return !path.empty(); }
  const Operator& first() const { return *operators[0]; }
  const std::string& doc() const { return first().entry->doc; }
  bool is_differentiable = false;
  // Each sorted, without this one.
  std::vector<const NamedOperators*> made_of;      // it calls
  std::vector<const NamedOperators*> used_by;      // call it
  std::vector<const NamedOperators*> gradient_of;  // call it in gradients
  std::vector<const NamedOperators*> relatives;    // of a name like its own
  std::vector<Timing> timings;
};

// Operators of the model; those of `families` have pages. All of these outlive
// it.
class Names {
 public:
  Names(const Model& model, std::span<const Family> families,
        const Facts& facts);
  Names(const Names&) = delete;
  Names& operator=(const Names&) = delete;

  // The names with pages, sorted by name.
  const std::vector<const NamedOperators*>& all() const { return sorted_; }
  const NamedOperators& of(const Operator& op) const { return *of_.at(&op); }
  // The names with an operator in the family, in its order.
  std::vector<const NamedOperators*> of(const Family& family) const;
  // The facts from running this operator; null if nothing is known.
  const OperatorFacts* facts(const Operator& op) const;
  // The facts from running one of several overloads, nobody knows which; or
  // null.
  const OperatorFacts* shared_facts(const NamedOperators& name) const;

 private:
  const OperatorFacts* find_facts(const Operator& op,
                                  std::string_view name) const;
  void group();
  void relate(const Operator& op);
  void add_calls(const Operator& from, const std::vector<std::string>& names,
                 bool in_gradient);
  void find_relatives();
  void assign_timings();

  const Model& model_;
  const std::span<const Family> families_;
  const Facts& facts_;
  std::map<std::string, NamedOperators> names_;  // by path, else by name
  std::vector<const NamedOperators*> sorted_;
  std::map<const Operator*, NamedOperators*> of_;
  // The names by overload name: "add.Tensor".
  std::map<std::string, std::vector<NamedOperators*>, std::less<>> overloads_;
};

// "softmax" of _softmax_backward_data and special_softmax.
std::string_view stem(std::string_view name);

}  // namespace sy::codegen::site
