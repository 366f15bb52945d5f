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
  _ctc_loss_backward.Tensor:gradient
gradients of gradients that PyTorch has not either
  *embedding_bag:second embedding_bag.padding_idx:second
  scaled_dot_product_attention:second segment_reduce:second
  _scaled_dot_product_flash_attention_for_cpu:second
  multi_margin_loss:second multilabel_margin_loss*:second
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
