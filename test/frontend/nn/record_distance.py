"""Records distance.safetensors, for distance_test.cpp."""

from record_lib import Recorder
from torch import nn
from torch.nn import functional as F

r = Recorder("distance.safetensors")
a, b = r.randn(2, 3, 4), r.randn(2, 3, 4)

r.module("CosineSimilarity", nn.CosineSimilarity(), a, b)
r.module("CosineSimilarity_dim", nn.CosineSimilarity(dim=-1), a, b)
# Without gradients: PyTorch's are those of a norm above eps.
r.module("CosineSimilarity_eps", nn.CosineSimilarity(eps=4.0), a, b,
         call=lambda m, x, y: m(x, y).detach())
r.module("PairwiseDistance", nn.PairwiseDistance(), a, b)
r.module("PairwiseDistance_p", nn.PairwiseDistance(p=3.0), a, b)
r.module("PairwiseDistance_eps", nn.PairwiseDistance(eps=0.5), a, b)
r.module("PairwiseDistance_keepdim", nn.PairwiseDistance(keepdim=True), a, b)

r.function("cosine_similarity",
           lambda x, y: F.cosine_similarity(x, y, dim=2, eps=4.0).detach(),
           a, b)
r.function("pairwise_distance",
           lambda x, y: F.pairwise_distance(x, y, 1.0, 0.5, True), a, b)
r.function("pairwise_distance_broadcast", F.pairwise_distance, a, b[0])
r.function("pdist", F.pdist, r.randn(4, 3))
r.function("pdist_p", lambda x: F.pdist(x, 3.0), r.randn(4, 3))
r.write()
