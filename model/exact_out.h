#pragma once

#include <functional>
#include <map>
#include <string>

#include "model/model.h"

namespace sy::model {

// Whether an out= argument must have the very dtype of the result. Tags decide
// first. Reductions and scans must if they have several results, operators of
// `dispatch:` must unless `dtype:` promotes, composites must if one of the
// operators that they call must. Remembers its answers.
class ExactOut {
 public:
  using Elsewhere = std::function<bool(const std::string& name)>;

  // `elsewhere` answers for called operators that are not in the model, by
  // name; without it they are taken to convert.
  explicit ExactOut(const Model& model, Elsewhere elsewhere = {})
      : model_(model), elsewhere_(std::move(elsewhere)) {}

  bool of(const Operator& op);

 private:
  bool find(const Operator& op);
  bool called(const std::string& name);

  const Model& model_;
  const Elsewhere elsewhere_;
  std::map<const Operator*, bool> known_;
};

// The compiled expression of a composite operator; of one element, if the
// entry is a foreach.
lang::TensorCode composite_code(const Model& model, const Operator& op);

}  // namespace sy::model
