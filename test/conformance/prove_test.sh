#!/usr/bin/env bash
# Every operator goes through every trial of `sy prove`, by the example of its
# schema or by its signature alone. Left out, for what they are:
#   results that are not initialised
#   gradients that hold only together with another argument, only where no
#   singular value is cut off, only for normalized numbers, or are missing
#   recurrences as long as their order says
#   results that depend on how self lies in memory, or on its factors
#   shapes that depend on numbers in a tensor, which Meta has not
#   what needs a device that pins memory
#   _copy_from, which writes what its signature does not say, and
#   _not_implemented, which throws
set -euo pipefail
export SWITCHYARD_EXAMPLES=$PWD/schemas/gen/docs/ops/examples.txt
export SWITCHYARD_LAPACK=$PWD/libswitchyard_lapack.so
export SWITCHYARD_ONEDNN=$PWD/libswitchyard_onednn.so
except=()
for name in '*empty*' \
  linalg_pinv.rcond_tensor linalg_svd log_sigmoid_backward \
  'ctc_loss*' _ctc_loss _ctc_loss.Tensor \
  'special_*_polynomial_*.n_scalar' \
  'as_strided*' '_reshape_alias*' _linalg_slogdet \
  _pack_padded_sequence _pack_padded_sequence_backward _pad_packed_sequence \
  tensor_split.tensor_indices_or_sections \
  '*pin_memory' _copy_from _not_implemented; do
  except+=(--except "$name")
done
report=${TEST_TMPDIR:-.}/prove.txt
tools/sy/sy prove '*' "${except[@]}" | tee "$report"
if grep -q 'needs --args$' "$report"; then
  echo "the schemas of these need an 'example:'" >&2
  exit 1
fi
