"""Records attention of several heads for attention_test.cpp."""

import torch
import torch.nn.functional as F
from torch import nn

from record_lib import Recorder

r = Recorder("attention.safetensors")
MHA = nn.MultiheadAttention
keys_out = torch.tensor([[False, False, True], [False, False, False]])
pairs_out = torch.tensor([[False, True, False], [False, False, True]])
causal = torch.ones(3, 3, dtype=torch.bool).triu(1)


def self_attention(**options):
    return lambda m, x: [t for t in m(x, x, x, **options) if t is not None]


r.module("self", MHA(4, 2), r.randn(3, 2, 4), call=self_attention())
r.module("self_fast_eval", MHA(4, 2, dropout=0.9, batch_first=True).eval(),
         r.randn(2, 3, 4), call=self_attention(need_weights=False))
r.module("causal", MHA(4, 2), r.randn(3, 2, 4),
         call=self_attention(need_weights=False, attn_mask=causal))
r.module("causal_weights", MHA(4, 1), r.randn(3, 1, 4),
         call=self_attention(attn_mask=causal))
r.module("causal_padded", MHA(4, 2, bias=False), r.randn(3, 2, 4),
         call=self_attention(need_weights=False, attn_mask=causal,
                             key_padding_mask=keys_out))
r.module("causal_bias_kv", MHA(4, 2, add_bias_kv=True), r.randn(3, 1, 4),
         call=self_attention(need_weights=False, attn_mask=causal))
r.module("shared", MHA(4, 2, bias=False), r.randn(2, 2, 4), r.randn(3, 2, 4),
         pairs_out,
         call=lambda m, q, k, mask: m(q, k, k, attn_mask=mask,
                                      need_weights=False)[0])
r.module("apart", MHA(4, 2, bias=False), r.randn(2, 2, 4), r.randn(3, 2, 4),
         r.randn(3, 2, 4), keys_out,
         call=lambda m, q, k, v, mask: m(q, k, v, mask,
                                         average_attn_weights=False))
r.module("sizes", MHA(4, 2, kdim=3, vdim=2, batch_first=True),
         r.randn(2, 2, 4), r.randn(2, 3, 3), r.randn(2, 3, 2),
         call=lambda m, q, k, v: m(q, k, v, need_weights=False)[0])
r.module("sizes_no_bias", MHA(4, 2, kdim=3, bias=False), r.randn(2, 4),
         r.randn(3, 3), r.randn(3, 4), torch.tensor([False, True, False]),
         call=lambda m, q, k, v, mask: m(q, k, v, mask))
r.module("added", MHA(4, 2, add_bias_kv=True, add_zero_attn=True),
         r.randn(2, 2, 4), r.randn(3, 2, 4), keys_out, pairs_out,
         call=lambda m, q, k, keys, pairs: m(q, k, k, keys, True, pairs))
r.module("added_batch_first", MHA(4, 2, add_bias_kv=True, batch_first=True),
         r.randn(2, 2, 4), r.randn(2, 3, 4),
         call=lambda m, q, k: m(q, k, k, need_weights=False)[0])
r.module("zero", MHA(4, 2, add_zero_attn=True, bias=False), r.randn(2, 2, 4),
         r.randn(3, 2, 4), pairs_out,
         call=lambda m, q, k, mask: m(q, k, k, need_weights=False,
                                      attn_mask=mask)[0])
r.module("floating_masks", MHA(4, 2, bias=False), r.randn(2, 2, 4),
         r.randn(3, 2, 4), r.randn(2, 3), r.randn(4, 2, 3),
         call=lambda m, q, k, keys, pairs: m(q, k, k, keys, True, pairs))
r.module("mixed_masks", MHA(4, 2, bias=False), r.randn(2, 2, 4),
         r.randn(3, 2, 4), keys_out, r.randn(2, 3),
         call=lambda m, q, k, keys, pairs: m(
             q, k, k, torch.zeros(keys.shape).masked_fill(keys, -torch.inf),
             False, pairs)[0])
r.function("static",
           lambda q, k, w, b, w2, b2, sk, sv: F.multi_head_attention_forward(
               q, k, k, 4, 2, w, b, None, None, False, 0.9, w2, b2,
               training=False, static_k=sk, static_v=sv),
           r.randn(2, 2, 4), r.randn(3, 2, 4), r.randn(12, 4), r.randn(12),
           r.randn(4, 4), r.randn(4), r.randn(4, 3, 2), r.randn(4, 3, 2))
r.write()
