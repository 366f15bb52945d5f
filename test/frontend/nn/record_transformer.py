"""Records transformers and their layers for transformer_test.cpp."""

import torch
from torch import nn

from record_lib import Recorder

r = Recorder("transformer.safetensors")
keys_out = torch.tensor([[False, False, True], [False, False, False]])
keys = torch.zeros(2, 3).masked_fill(keys_out, -torch.inf)
causal = nn.Transformer.generate_square_subsequent_mask
E = dict(d_model=4, nhead=2, dim_feedforward=3, dropout=0.0)
OTHER = dict(d_model=4, nhead=2, dim_feedforward=3, dropout=0.9,
             layer_norm_eps=0.1, batch_first=True, norm_first=True)

Encoder, Decoder = nn.TransformerEncoderLayer, nn.TransformerDecoderLayer
r.module("EncoderLayer", Encoder(**E), r.randn(3, 2, 4),
         call=lambda m, x: m(x, causal(3), keys))
r.module("EncoderLayer_options_eval", Encoder(**OTHER, activation="gelu")
         .eval(), r.randn(2, 3, 4))
r.module("EncoderLayer_no_bias", Encoder(**E, bias=False,
                                         activation=torch.tanh),
         r.randn(3, 4))
r.module("DecoderLayer", Decoder(**E), r.randn(3, 2, 4), r.randn(3, 2, 4),
         r.randn(3, 3),
         call=lambda m, x, y, mask: m(x, y, causal(3), mask, keys, keys))
r.module("DecoderLayer_options_eval",
         Decoder(**OTHER, activation="gelu", bias=False).eval(),
         r.randn(2, 2, 4), r.randn(2, 3, 4))
r.module("Encoder", nn.TransformerEncoder(Encoder(**E, bias=False), 1,
                                          nn.LayerNorm(4)),
         r.randn(3, 2, 4),
         call=lambda m, x: m(x, causal(3), keys))
r.module("Decoder", nn.TransformerDecoder(Decoder(**E, bias=False), 1),
         r.randn(3, 2, 4), r.randn(3, 2, 4), r.randn(3, 3),
         call=lambda m, x, y, mask: m(x, y, causal(3), mask, keys, keys))
r.module("Transformer",
         nn.Transformer(4, 2, 1, 1, 3, 0.0, "gelu"),
         r.randn(3, 2, 4), r.randn(3, 2, 4), r.randn(3, 3),
         call=lambda m, x, y, mask: m(x, y, causal(3), causal(3), mask, keys,
                                      keys, keys))
r.module("Transformer_options_eval",
         nn.Transformer(4, 2, 1, 1, 3, 0.9, torch.tanh, layer_norm_eps=0.1,
                        batch_first=True, norm_first=True, bias=False).eval(),
         r.randn(1, 2, 4), r.randn(1, 3, 4))
r.function("generate_square_subsequent_mask", lambda: causal(3))
r.write()
