#!/usr/bin/env bash
# Every operator goes through every trial of `sy prove`, by the example of its
# schema or by its signature alone, but for the trials below. An exception that
# fits no operator fails the test.
set -euo pipefail
export SWITCHYARD_EXAMPLES=${TEST_TMPDIR:-.}/examples.txt
cat schemas/gen/docs/ops/examples.txt \
  frontend/distributed/operators/examples.txt >"$SWITCHYARD_EXAMPLES"
export SWITCHYARD_LAPACK=$PWD/libswitchyard_lapack.so
export SWITCHYARD_ONEDNN=$PWD/libswitchyard_onednn.so
export SWITCHYARD_PLUGINS=$PWD
# Each line is a reason, then what it excuses.
exceptions='
results that nobody sets
  *empty*:agreed *empty*:aliased *empty*:threaded *empty*:fit
gradients that hold only together with another argument
  ctc_loss*:gradient _ctc_loss:gradient _ctc_loss.Tensor:gradient
  _linalg_slogdet:gradient
gradients that PyTorch has not either
  igamma:gradient igammac:gradient special_gammainc*:gradient
gradients of gradients that PyTorch has not either
  *embedding_bag:second embedding_bag.padding_idx:second
  scaled_dot_product_attention:second segment_reduce:second
  _scaled_dot_product_flash_attention_for_cpu:second
  multi_margin_loss:second multilabel_margin_loss*:second
examples that ask for no gradient: matrices of which one half is read, numbers
drawn at random, orders and integers, and memory that is looked at otherwise
  *linalg_eigh:gradient linalg_eigvalsh:gradient cholesky_inverse:gradient
  linalg_cholesky*:gradient linalg_ldl_factor:gradient
  linalg_matrix_sqrth:gradient _solve_sylvester:gradient
  bernoulli*:gradient binomial:gradient cauchy:gradient exponential:gradient
  geometric:gradient log_normal:gradient normal*:gradient poisson:gradient
  random*:gradient uniform:gradient
  _cast_*:gradient bucketize.Scalar:gradient histogramdd*:gradient
  is_nonzero:gradient special_zeta.*_scalar:gradient
  as_strided*:gradient view_copy.dtype:gradient
jumps that lie closer together than numbers do: of a divisor beside 0
  fmod.Tensor:points remainder.Tensor:points remainder.Scalar_Tensor:points
curves narrower than a step (eps), and numbers whose third powers are 0
  cosine_similarity:orders *det:third _?dist_backward_backward:third
factors of a singular matrix, which have no derivative
  _lu_with_info:points linalg_lu*:points linalg_qr:points
factors that are not unique, and ranks that a cut-off lowers
  *svd:values linalg_qr:values linalg_lstsq:values pinverse:values
  linalg_pinv.atol_rtol_float:values
values of a forward call that other arguments contradict
  *batch_norm*_backward:values nll_loss*_backward:values
arguments that callers rule out: delta below 0, strides that no reshape computes
  _huber:values _reshape_alias*:values
the spread of elements that are all equal, or of infinite ones
  _transformer_encoder_layer_fwd:points
  batch_norm_gather_stats_with_counts:points
  batch_norm_gather_stats_with_counts:values
rows that learn nothing by request, and sparse gradients, which there are not
  embedding:values *embedding_bag*:values
wrong, and part of a release: at gradients of 0, equal arguments, targets below
0, and a q that falls on an element
  logcumsumexp_backward:points nextafter:points poisson_nll_loss:points
  poisson_nll_loss:values quantile:points
results that depend on how self lies in memory, or on its factors
  as_strided*:agreed _reshape_alias*:agreed _linalg_slogdet:agreed
shapes that depend on numbers in a tensor, which Meta has not
  tensor_split.tensor_indices_or_sections:described
  tensor_split.tensor_indices_or_sections:strided
a device that pins memory
  *pin_memory
calls between two ranks
  sy_dist::send sy_dist::recv
a write that the signature does not say, and nothing but an error
  _copy_from _not_implemented
'
except=()
set -f
while IFS= read -r line; do
  case $line in
    '  '*) for name in $line; do except+=(--except "$name"); done ;;
  esac
done <<<"$exceptions"
set +f
report=${TEST_TMPDIR:-.}/prove.txt
tools/sy/sy prove '*' "${except[@]}" | tee "$report"
if grep -q 'needs --args$' "$report"; then
  echo "the schemas of these need an 'example:'" >&2
  exit 1
fi
