#include "runtime/loader/apart.h"

#include <algorithm>

#include "aten/backend/node.h"
#include "aten/engine/apart.h"

namespace sy::runtime {
namespace {

bool shares(const OverloadState& form, const Value* args, const TensorBase& t) {
  return std::any_of(form.written.begin(), form.written.end(), [&](int w) {
    return args[w].is_tensor() &&
           generated::shares_storage(t, args[w].to_tensor());
  });
}

bool must_part(const OverloadState& form, const Value* args) {
  if (form.inputs_apart == model::InputsApart::kNone) return false;
  if (form.inputs_apart == model::InputsApart::kCopiedIfNeeded) {
    const TensorBase& out = args[form.written[0]].to_tensor();
    const PointwiseNode call(*form.node, args, form.positions.data());
    return reads_what_it_writes(call.op(), call.args(), out, form.inplace);
  }
  bool any = false;
  for (size_t r = 0; r < form.boxes.size(); ++r) {
    if (!form.boxes[r].is_read) continue;
    for_each_tensor(args[r],
                    [&](const TensorBase& t) { any |= shares(form, args, t); });
  }
  return any;
}

}  // namespace

std::vector<Value> inputs_apart(const OverloadState& form, const Value* args,
                                size_t num_args) {
  if (!must_part(form, args)) return {};
  const bool pointwise = form.kind == OperatorInfo::kPointwise;
  const auto apart = [&](const TensorBase& t) {
    if (!shares(form, args, t)) return t;
    // A pointwise operator may write to an input itself.
    if (pointwise && t.is_same(args[form.written[0]].to_tensor())) return t;
    return TensorBase(generated::copy_apart(Tensor(t)));
  };
  std::vector<Value> own(args, args + num_args);
  for (size_t r = 0; r < num_args; ++r) {
    if (!form.boxes[r].is_read) continue;
    Value& v = own[r];
    const bool optional = v.tag() == Value::Tag::OptionalTensorList;
    if (v.is_tensor()) {
      v = Value(apart(v.to_tensor()));
    } else if (optional || v.tag() == Value::Tag::TensorList) {
      std::vector<TensorBase> list;
      for (const TensorBase& t : v.to_tensor_list()) list.push_back(apart(t));
      v = optional ? Value::optional_tensor_list(list.data(), list.size())
                   : Value::tensor_list(list.data(), list.size());
    }
  }
  return own;
}

void check_outs_apart(const OverloadState& form, const OperatorEntry& entry,
                      const Value* args) {
  if (!form.outs_apart) return;
  std::vector<Tensor> outs;
  for (const int w : form.written) {
    outs.emplace_back(args[w].to_tensor());
  }
  generated::check_outs_apart(entry, outs);
}

}  // namespace sy::runtime
