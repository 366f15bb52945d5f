#pragma once

#include <string>
#include <vector>

#include "tools/sy/cases/safetensors.h"
#include "tools/sy/support/json.h"

// Recorded cases; their format is test/conformance/cases_format.md.

namespace sy::tools {

// One call of an operator and what it gives.
struct Case {
  std::string id;
  Json args, kwargs;
  bool fails = false;           // the call must throw; no field below is set
  Json returns, mutated, grad;  // grad is null if there is none
  double rtol = 0, atol = 0;
};

// The pair of files of one overload. Throws ValueError naming the file if it
// is malformed; what VALUEs mean is checked when a case is run.
struct CaseFile {
  static CaseFile load(const std::string& folder, const std::string& name);
  // The same of what NAME.json says. `where` stands for the file in errors.
  static CaseFile parse(const Json& v, Safetensors storages,
                        const std::string& where);

  std::string op;  // "aten::add.Tensor"
  std::vector<Case> cases;
  Safetensors storages;
};

// Names of the overloads that a folder has cases of, sorted. Throws ValueError
// if it has none.
std::vector<std::string> case_names(const std::string& folder);

}  // namespace sy::tools
