#include "frontend/export/write/operators.h"

#include <algorithm>

#include "c10/dispatch/introspect.h"

namespace sy::exporting {

namespace {

// Operators of namespace aten that PyTorch 2.15 does not have, sorted. All
// others have its schema to the letter: test/frontend/export/
// check_operators.py compares them.
constexpr std::string_view kOwn[] = {
    "_addr",
    "_all_dims",
    "_aminmax_dims",
    "_any_dims",
    "_batch_norm_double_backward",
    "_binary_cross_entropy",
    "_binary_cross_entropy_backward",
    "_binary_cross_entropy_logits",
    "_cdist_backward_backward",
    "_cholesky_backward",
    "_cholesky_solve_backward",
    "_clamp",
    "_cross_part",
    "_det_backward",
    "_div_trunc",
    "_div_trunc.Scalar",
    "_eigh_backward",
    "_foreach_mm.out",
    "_foreach_pow.ScalarAndTensor_out",
    "_grid_sampler_grads",
    "_group_norm_backward",
    "_group_norm_grads",
    "_gru_cell_state",
    "_householder_product_backward",
    "_huber",
    "_huber_backward",
    "_index_reduce_backward",
    "_isclose",
    "_layer_norm_backward",
    "_layer_norm_grads",
    "_linear_scan",
    "_linear_scan_backward",
    "_log_ndtr_slope",
    "_lstm_cell_memory",
    "_lstm_cell_memory.out",
    "_lstm_cell_state",
    "_lstm_cell_state.out",
    "_lstm_layer",
    "_lstm_steps",
    "_lstm_steps_backward",
    "_lstsq_backward",
    "_lu_factor_backward",
    "_lu_permutation",
    "_lu_solve_backward",
    "_matrix_exp_differential",
    "_max_pool",
    "_not_implemented",
    "_ormqr_backward",
    "_pdist_backward_backward",
    "_pinv_backward",
    "_polar_backward",
    "_product_of_others",
    "_qr_backward",
    "_replace_nonfinite",
    "_restore_dims",
    "_rms_norm_backward",
    "_rms_norm_grads",
    "_scaled_sum",
    "_scatter_reduce_backward",
    "_share",
    "_share_backward",
    "_sinc_slope",
    "_slogdet_backward",
    "_smooth_l1",
    "_smooth_l1_backward",
    "_soft_margin",
    "_soft_margin_backward",
    "_solve_backward",
    "_solve_sylvester",
    "_solve_triangular_backward",
    "_squared_difference",
    "_std_mean",
    "_svd_backward",
    "_var_mean",
    "_vector_norm_0",
    "_vector_norm_1",
    "_vector_norm_2",
    "_vector_norm_2_backward",
    "_vector_norm_2_wide",
    "_vector_norm_max",
    "_vector_norm_min",
    "_vector_norm_p",
    "_vector_norm_scaled",
    "_with_zeros_behind",
    "isfinite.out",
    "logcumsumexp_backward",
    "max_pool_double_backward",
};

constexpr std::string_view kNumbers[] = {
    "aten::_local_scalar_dense", "aten::allclose", "aten::equal",
    "aten::is_nonzero",          "aten::item",
};

constexpr std::string_view kSizes[] = {
    "aten::_unique",
    "aten::_unique2",
    "aten::argwhere",
    "aten::bincount",
    "aten::masked_select",
    "aten::nonzero",
    "aten::nonzero_numpy",
    "aten::repeat_interleave.Tensor",
    "aten::repeat_interleave.self_Tensor",
    "aten::tensor_split.tensor_indices_or_sections",
    "aten::unique_consecutive",
    "aten::unique_dim",
    "aten::unique_dim_consecutive",
    "aten::where",
};

template <size_t N>
bool has(const std::string_view (&list)[N], std::string_view name) {
  return std::binary_search(std::begin(list), std::end(list), name);
}

bool is_mask(const Value& v) {
  bool mask = false;
  for_each_tensor(v, [&](const TensorBase& t) {
    mask = mask || t.scalar_type() == kBool || t.scalar_type() == kByte;
  });
  return mask;
}

}  // namespace

bool python_has(std::string_view name,
                const std::vector<std::string>& namespaces) {
  const size_t colons = name.find("::");
  const std::string_view ns = name.substr(0, colons);
  if (ns == "aten") return !has(kOwn, name.substr(colons + 2));
  return std::find(namespaces.begin(), namespaces.end(), ns) !=
         namespaces.end();
}

bool is_composed(const OperatorEntry& op, Device device) {
  if (op.has_own_kernel(device.type())) return false;
  for (const KernelInfo& k : kernels_of(OperatorHandle(&op))) {
    if (k.key == "CompositeImplicitAutograd") return true;
  }
  return false;
}

DataUse data_use(const OperatorEntry& op, const Value* args) {
  std::string_view name = op.name();
  if (name.ends_with(".out")) name.remove_suffix(4);
  if (has(kNumbers, name)) return DataUse::Number;
  if (has(kSizes, name)) {
    // Sizes that the caller gives do not depend on data.
    const bool given = name.starts_with("aten::repeat_interleave") &&
                       !args[op.num_args() - 1].is_none();
    return given ? DataUse::None : DataUse::Sizes;
  }
  if (name == "aten::index.Tensor" && is_mask(args[1])) return DataUse::Sizes;
  if (name == "aten::one_hot" && args[1].to_int() < 0) return DataUse::Sizes;
  return DataUse::None;
}

}  // namespace sy::exporting
