"""Records embeddings for embedding_test.cpp."""

import torch
import torch.nn.functional as F
from torch import nn

from record_lib import Recorder

r = Recorder("embedding.safetensors")
indices = torch.tensor([[1, 2, 1], [4, 1, 2]])
r.module("Embedding", nn.Embedding(5, 2), indices)
r.module("Embedding_padding", nn.Embedding(5, 2, padding_idx=-4), indices)
r.module("Embedding_frequency", nn.Embedding(5, 2, scale_grad_by_freq=True),
         indices)


def renormalized(m, x):
    return [m(x), m.weight]


r.module("Embedding_norm", nn.Embedding(5, 3, max_norm=0.5), indices,
         call=renormalized)
r.module("Embedding_norm_type", nn.Embedding(5, 3, max_norm=0.5, norm_type=1),
         indices, call=renormalized)

flat, offsets = torch.tensor([1, 2, 4, 1, 0]), torch.tensor([0, 2, 2])
weights = r.randn(2, 3)
r.module("EmbeddingBag", nn.EmbeddingBag(5, 2), indices)
r.module("EmbeddingBag_sum", nn.EmbeddingBag(5, 2, mode="sum"), flat, offsets)
r.module("EmbeddingBag_max", nn.EmbeddingBag(5, 2, mode="max"), flat, offsets)
r.module("EmbeddingBag_last",
         nn.EmbeddingBag(5, 2, include_last_offset=True), flat,
         torch.tensor([0, 2, 5]))
r.module("EmbeddingBag_padding", nn.EmbeddingBag(5, 2, padding_idx=-4), flat,
         offsets)
r.module("EmbeddingBag_frequency",
         nn.EmbeddingBag(5, 2, scale_grad_by_freq=True), flat, offsets)
r.module("EmbeddingBag_norm",
         nn.EmbeddingBag(5, 3, max_norm=0.5, norm_type=1.0), indices,
         call=renormalized)
r.module("EmbeddingBag_weights", nn.EmbeddingBag(5, 2, mode="sum"), indices,
         weights, call=lambda m, x, w: m(x, None, w))

r.function("one_hot", F.one_hot, torch.tensor([[0, 2], [1, 0]]))
r.function("one_hot_classes", lambda x: F.one_hot(x, 5), torch.tensor([0, 2]))
r.function("embedding", F.embedding, indices, r.randn(5, 2))
r.function("embedding_options",
           lambda x, w: F.embedding(x, w, padding_idx=-4,
                                    scale_grad_by_freq=True),
           indices, r.randn(5, 2))
r.function("embedding_norm",
           lambda x, w: F.embedding(x, w.detach(), max_norm=0.5, norm_type=1),
           indices, r.randn(5, 2))
r.function("embedding_bag", lambda x, w: F.embedding_bag(x, w), indices,
           r.randn(5, 2))
r.function("embedding_bag_options",
           lambda x, w, o, p: F.embedding_bag(
               x, w, o, scale_grad_by_freq=True, mode="sum",
               per_sample_weights=p, include_last_offset=True, padding_idx=2),
           flat, r.randn(5, 2), torch.tensor([0, 2, 5]), r.randn(5))
r.function("embedding_bag_norm",
           lambda x, w: F.embedding_bag(x, w.detach(), max_norm=0.5,
                                        norm_type=1.0, mode="max"),
           indices, r.randn(5, 2))
r.write()
