#include "runtime/loader/apart.h"

#include <algorithm>

#include "aten/backend/node.h"
#include "aten/engine/apart.h"

namespace sy::runtime {
namespace {

bool is_written(const OverloadState& form, size_t i) {
  return std::find(form.written.begin(), form.written.end(),
                   static_cast<int>(i)) != form.written.end();
}

bool shares(const OverloadState& form, const Value* args, const TensorBase& t) {
  return std::any_of(form.written.begin(), form.written.end(), [&](int w) {
    return args[w].is_tensor() &&
           generated::shares_storage(t, args[w].to_tensor());
  });
}

bool must_part(const OverloadState& form, const Value* args, size_t num_args) {
  if (form.kind == OperatorInfo::kPointwise) {
    const TensorBase& out = args[form.written[0]].to_tensor();
    const PointwiseNode call(*form.node, args, form.positions.data());
    return generated::shares_another(out, call.args().inputs,
                                     call.op().n_inputs) &&
           reads_what_it_writes(call.op(), call.args(), out, form.inplace);
  }
  if (!form.out) return false;
  bool any = false;
  for (size_t i = 0; i < num_args && !any; ++i) {
    if (is_written(form, i)) continue;
    for_each_tensor(args[i],
                    [&](const TensorBase& t) { any |= shares(form, args, t); });
  }
  return any;
}

}  // namespace

std::vector<Value> inputs_apart(const OverloadState& form, const Value* args,
                                size_t num_args) {
  if (!must_part(form, args, num_args)) return {};
  const bool pointwise = form.kind == OperatorInfo::kPointwise;
  const auto apart = [&](const TensorBase& t) {
    if (!shares(form, args, t)) return t;
    // A pointwise operator may write to an input itself.
    if (pointwise && t.is_same(args[form.written[0]].to_tensor())) return t;
    return TensorBase(generated::copy_apart(Tensor(t)));
  };
  std::vector<Value> own;
  own.reserve(num_args);
  for (size_t i = 0; i < num_args; ++i) {
    const Value& v = args[i];
    const bool optional = v.tag() == Value::Tag::OptionalTensorList;
    if (is_written(form, i)) {
      own.push_back(v);
    } else if (v.is_tensor()) {
      own.emplace_back(apart(v.to_tensor()));
    } else if (optional || v.tag() == Value::Tag::TensorList) {
      std::vector<TensorBase> list;
      for (const TensorBase& t : v.to_tensor_list()) list.push_back(apart(t));
      own.push_back(optional
                        ? Value::optional_tensor_list(list.data(), list.size())
                        : Value::tensor_list(list.data(), list.size()));
    } else {
      own.push_back(v);
    }
  }
  return own;
}

void check_outs_apart(const OverloadState& form, const OperatorEntry& entry,
                      const Value* args) {
  if (form.written.size() < 2) return;
  std::vector<Tensor> outs;
  for (const int w : form.written) {
    if (args[w].is_tensor()) outs.emplace_back(args[w].to_tensor());
  }
  generated::check_outs_apart(entry, outs);
}

}  // namespace sy::runtime
