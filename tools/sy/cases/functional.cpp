#include "tools/sy/cases/functional.h"

#include "aten/backend/functionalize.h"
#include "c10/error.h"
#include "tools/sy/cases/tensors.h"

namespace sy::tools {

namespace {

class Replaced {
 public:
  explicit Replaced(const Arguments& arguments) {
    for (const NamedTensor& t : arguments.tensors) {
      plain_.emplace_back(t.tensor);
    }
    functional_ = functionalize(TensorList(plain_));
  }

  TensorBase operator()(const TensorBase& t) const {
    for (size_t i = 0; i < plain_.size(); ++i) {
      if (plain_[i].is_same(t)) return functional_[i];
    }
    return t;
  }

  Value operator()(const Value& v) const {
    if (v.is_tensor()) return Value((*this)(v.to_tensor()));
    const bool optional = v.tag() == Value::Tag::OptionalTensorList;
    if (v.tag() != Value::Tag::TensorList && !optional) return v;
    std::vector<TensorBase> list;
    for (const TensorBase& t : v.to_tensor_list()) list.push_back((*this)(t));
    return optional ? Value::optional_tensor_list(list.data(), list.size())
                    : Value::tensor_list(list.data(), list.size());
  }

 private:
  std::vector<Tensor> plain_, functional_;
};

}  // namespace

FunctionalCall::FunctionalCall(Arguments& arguments) {
  const Replaced replaced(arguments);
  for (Value& v : arguments.values) v = replaced(v);
  for (NamedTensor& t : arguments.tensors) {
    if (!t.tensor.defined()) continue;
    plain_.push_back(
        {t.name, t.tensor.storage(), read_storage(t.tensor.storage())});
    t.tensor = replaced(t.tensor);
  }
}

std::string FunctionalCall::values_untouched() const {
  for (const Plain& p : plain_) {
    if (read_storage(p.storage) != p.bytes) {
      return str("the value of {} was written", p.name);
    }
  }
  return "";
}

}  // namespace sy::tools
