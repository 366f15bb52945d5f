#pragma once

#include <map>
#include <string>
#include <vector>

#include "codegen/model_names.h"
#include "codegen/text.h"
#include "model/model.h"

namespace sy::codegen {

// The static data of a family's in-place and out= forms: which operator is
// their functional form, and where each argument goes.
class FunctionalForms {
 public:
  explicit FunctionalForms(const Family& family);
  // The tables kPlacesN and kForms; nothing if the family has no such form.
  void emit(Writer& w) const;
  // ", &kForms[3]" for the row of an overload's definition, or "".
  std::string reference(const Overload& o) const;

 private:
  using Places = std::vector<std::int8_t>;
  struct Row {
    const Overload* form;
    std::string op;  // "aten::add.Tensor"
    int args, written;
  };
  int places(Places p);

  std::vector<Places> places_;
  std::vector<Row> rows_;
};

}  // namespace sy::codegen
