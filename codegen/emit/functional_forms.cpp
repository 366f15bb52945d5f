#include "codegen/emit/functional_forms.h"

#include <algorithm>

#include "codegen/model_names.h"
#include "lang/cpp_text.h"
#include "model/functional_form.h"

namespace sy::codegen {

namespace {

std::string place_text(std::int8_t p) {
  switch (p) {
    case FormPlaces::kDefault: return "FunctionalForm::kDefault";
    case FormPlaces::kDtype: return "FunctionalForm::kDtype";
    case FormPlaces::kDevice: return "FunctionalForm::kDevice";
    default: return std::to_string(p);
  }
}

}  // namespace

FunctionalForms::FunctionalForms(const Family& family) {
  for (const Operator& op : family.operators) {
    for (const Overload* o : op.overloads()) {
      auto p = functional_places(op, *o);
      if (!p) continue;
      const int args = places(std::move(p->args));
      const int written = places(std::move(p->written));
      rows_.push_back(
          {o, fmt::format("{}::{}", family.ns, op.base.name), args, written});
    }
  }
}

int FunctionalForms::places(Places p) {
  const auto it = std::find(places_.begin(), places_.end(), p);
  const auto at = static_cast<int>(it - places_.begin());
  if (it == places_.end()) places_.push_back(std::move(p));
  return at;
}

void FunctionalForms::emit(Writer& w) const {
  if (rows_.empty()) return;
  const auto name = [](int i) { return fmt::format("kPlaces{}", i); };
  w.gap();
  for (std::size_t i = 0; i < places_.size(); ++i) {
    std::vector<std::string> numbers;
    for (const std::int8_t p : places_[i]) numbers.push_back(place_text(p));
    w.line("constexpr int8_t {}[] = {{{}}};", name(static_cast<int>(i)),
           join(numbers, ", "));
  }
  w.gap();
  w.line("const FunctionalForm kForms[] = {");
  for (const Row& r : rows_) {
    w.line("    {{{}, {}, {}, {}, {}}},", lang::cpp_string(r.op), name(r.args),
           name(r.written), places_[std::size_t(r.args)].size(),
           places_[std::size_t(r.written)].size());
  }
  w.line("};");
}

std::string FunctionalForms::reference(const Overload& o) const {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].form == &o) return fmt::format(", &kForms[{}]", i);
  }
  return "";
}

}  // namespace sy::codegen
