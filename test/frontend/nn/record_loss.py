"""Records loss.safetensors, for loss_test.cpp."""

import torch
from record_lib import Recorder
from torch import nn
from torch.nn import functional as F



class LossRecorder(Recorder):
    def randn(self, *sizes):
        return super().randn(*sizes) if sizes else super().randn(1)[0]


r = LossRecorder("loss.safetensors")
REDUCTIONS = ("none", "mean")  # functions() have sums


def each(name, make, *inputs, call=None, reductions=REDUCTIONS):
    """A module of each reduction: make(reduction=...)."""
    for reduction in reductions:
        r.module(f"{name}_{reduction}", make(reduction=reduction), *inputs,
                 call=call)


def signs(*sizes):
    return r.integers(2, *sizes) * 2 - 1


def floats(m, x, t):
    return m(x, t.float())


def elements():
    x, y = r.randn(3, 4), r.randn(3, 4)
    each("L1Loss", nn.L1Loss, x, y)
    each("MSELoss", nn.MSELoss, x, y)
    each("SmoothL1Loss", nn.SmoothL1Loss, x, y)
    r.module("SmoothL1Loss_beta", nn.SmoothL1Loss(beta=0.3), x, y)
    each("HuberLoss", nn.HuberLoss, x, y)
    r.module("HuberLoss_delta", nn.HuberLoss(delta=0.3), x, y)
    log_p, p, log_q = (x.log_softmax(1), y.softmax(1), y.log_softmax(1))
    each("KLDivLoss", nn.KLDivLoss, log_p, p,
         reductions=(*REDUCTIONS, "batchmean"))
    r.module("KLDivLoss_log_target", nn.KLDivLoss(log_target=True), log_p,
             log_q)
    each("BCELoss", nn.BCELoss, x.sigmoid(), y.sigmoid())
    r.module("BCELoss_weight", nn.BCELoss(weight=r.randn(4).exp()),
             x.sigmoid(), y.sigmoid())
    each("BCEWithLogitsLoss", nn.BCEWithLogitsLoss, x, y.sigmoid())
    r.module("BCEWithLogitsLoss_weight",
             nn.BCEWithLogitsLoss(weight=r.randn(4).exp()), x, y.sigmoid())
    r.module("BCEWithLogitsLoss_pos_weight",
             nn.BCEWithLogitsLoss(pos_weight=r.randn(4).exp()), x, y.sigmoid())
    r.module("BCEWithLogitsLoss_both",
             nn.BCEWithLogitsLoss(r.randn(4).exp(),
                                  pos_weight=r.randn(4).exp()),
             x, y.sigmoid())
    each("SoftMarginLoss", nn.SoftMarginLoss, x, signs(3, 4), call=floats)
    counts = r.integers(5, 3, 4)
    each("PoissonNLLLoss", nn.PoissonNLLLoss, x, counts, call=floats)
    r.module("PoissonNLLLoss_full", nn.PoissonNLLLoss(full=True), x, counts,
             call=floats)
    r.module("PoissonNLLLoss_rates", nn.PoissonNLLLoss(False), x.exp(), counts,
             call=floats)
    r.module("PoissonNLLLoss_eps", nn.PoissonNLLLoss(False, eps=0.5), x.exp(),
             counts, call=floats)
    var = r.randn(3, 4).exp()
    each("GaussianNLLLoss", nn.GaussianNLLLoss, x, y, var)
    r.module("GaussianNLLLoss_full", nn.GaussianNLLLoss(full=True), x, y, var)
    r.module("GaussianNLLLoss_eps", nn.GaussianNLLLoss(eps=1.0), x, y, var)
    r.module("GaussianNLLLoss_rows", nn.GaussianNLLLoss(), x, y, var[:, 0])
    r.module("GaussianNLLLoss_columns", nn.GaussianNLLLoss(), x, y, var[:1])


def classes():
    x, target = r.randn(5, 3), torch.tensor([0, 2, 1, 1, 0])
    weight = r.randn(3).exp()
    for name, make in (("NLLLoss", nn.NLLLoss),
                       ("CrossEntropyLoss", nn.CrossEntropyLoss)):
        each(name, make, x, target)
        r.module(f"{name}_weight", make(weight=weight), x, target)
        r.module(f"{name}_ignore", make(ignore_index=1), x, target)
        r.module(f"{name}_spatial", make(), r.randn(2, 3, 2, 2),
             r.integers(3, 2, 2, 2))
        r.module(f"{name}_unbatched", make(), r.randn(3), torch.tensor(1))
    r.module("CrossEntropyLoss_smoothing",
             nn.CrossEntropyLoss(weight=weight, label_smoothing=0.25), x,
             target)
    r.module("CrossEntropyLoss_probabilities", nn.CrossEntropyLoss(), x,
             r.randn(5, 3).softmax(1))
    each("MultiMarginLoss", nn.MultiMarginLoss, x, target)
    r.module("MultiMarginLoss_p", nn.MultiMarginLoss(p=2), x, target)
    r.module("MultiMarginLoss_margin", nn.MultiMarginLoss(margin=0.5), x,
             target)
    r.module("MultiMarginLoss_weight", nn.MultiMarginLoss(weight=weight), x,
             target)
    several = torch.tensor([[2, 0, -1, 1], [3, -1, 0, 1]])
    each("MultiLabelMarginLoss", nn.MultiLabelMarginLoss, r.randn(2, 4),
         several)
    each("MultiLabelSoftMarginLoss", nn.MultiLabelSoftMarginLoss, x,
         r.integers(2, 5, 3), call=floats)
    r.module("MultiLabelSoftMarginLoss_weight",
             nn.MultiLabelSoftMarginLoss(weight=weight), x,
             r.integers(2, 5, 3), call=floats)


def manhattan(a, b):
    return (a - b).abs().sum(-1)


def embeddings():
    x, y, z = (r.randn(5, 3) for _ in range(3))
    each("HingeEmbeddingLoss", nn.HingeEmbeddingLoss, x, signs(5, 3),
         call=floats)
    r.module("HingeEmbeddingLoss_margin", nn.HingeEmbeddingLoss(0.25), x,
             signs(5, 3), call=floats)
    target = torch.tensor([1, -1, -1, 1, -1])
    each("CosineEmbeddingLoss", nn.CosineEmbeddingLoss, x, y, target)
    r.module("CosineEmbeddingLoss_margin", nn.CosineEmbeddingLoss(-0.75), x, y,
             target)
    each("MarginRankingLoss", nn.MarginRankingLoss, x, y, signs(5, 3))
    r.module("MarginRankingLoss_margin", nn.MarginRankingLoss(0.5), x, y,
             signs(5, 3))
    each("TripletMarginLoss", nn.TripletMarginLoss, x, y, z)
    r.module("TripletMarginLoss_margin", nn.TripletMarginLoss(2.5), x, y, z)
    r.module("TripletMarginLoss_p", nn.TripletMarginLoss(p=1), x, y, z)
    r.module("TripletMarginLoss_eps", nn.TripletMarginLoss(eps=0.5), x, y, z)
    r.module("TripletMarginLoss_swap", nn.TripletMarginLoss(swap=True), x, y,
             z)
    name, make = ("TripletMarginWithDistanceLoss",
                  nn.TripletMarginWithDistanceLoss)
    each(name, make, x, y, z)
    r.module(f"{name}_margin", make(margin=2.5), x, y, z)
    r.module(f"{name}_swap", make(swap=True), x, y, z)
    r.module(f"{name}_distance",
             make(distance_function=manhattan, swap=True), x, y, z)


def sequences():
    x = r.randn(5, 2, 4).log_softmax(2)
    lengths = torch.tensor([5, 4]), torch.tensor([3, 2])
    targets = torch.tensor([[1, 2, 1], [2, 1, 1]])
    each("CTCLoss", nn.CTCLoss, x, targets, *lengths)
    r.module("CTCLoss_blank", nn.CTCLoss(blank=3), x, targets, *lengths)
    r.module("CTCLoss_zero_infinity", nn.CTCLoss(zero_infinity=True), x,
             torch.tensor([[1, 1, 1], [2, 1, 1]]), torch.tensor([4, 4]),
             lengths[1])


def functions():
    x, y, z = (r.randn(5, 3) for _ in range(3))
    target, weight = torch.tensor([0, 2, 1, 1, 0]), r.randn(3).exp()
    signed, bits = signs(5, 3), r.integers(2, 5, 3)
    r.function("l1_loss", lambda x, y: F.l1_loss(x, y, reduction="sum"), x, y)
    r.function("mse_loss", lambda x, y: F.mse_loss(x, y, reduction="sum"), x,
               y)
    r.function("mse_loss_broadcast", F.mse_loss, x, y[0])
    r.function("smooth_l1_loss", lambda x, y: F.smooth_l1_loss(
        x, y, reduction="sum", beta=0.3), x, y)
    r.function("smooth_l1_loss_beta", lambda x, y: F.smooth_l1_loss(
        x, y, reduction="sum", beta=0.3), x, y)
    r.function("huber_loss", lambda x, y: F.huber_loss(
        x, y, reduction="sum", delta=0.3), x, y)
    r.function("kl_div", lambda x, y: F.kl_div(
        x, y, reduction="batchmean", log_target=True), x, y)
    r.function("kl_div_mean", F.kl_div, x, y.exp())
    r.function("kl_div_none", lambda x, y: F.kl_div(x, y, reduction="none"),
               x, y.exp())
    r.function("binary_cross_entropy", lambda x, y, w: F.binary_cross_entropy(
        x, y, w.detach(), reduction="sum"), x.sigmoid(), y.sigmoid(), weight)
    r.function("binary_cross_entropy_with_logits",
               lambda x, y, w, p: F.binary_cross_entropy_with_logits(
                   x, y, w.detach(), reduction="sum", pos_weight=p.detach()),
               x, y.sigmoid(), weight, r.randn(3).exp())
    r.function("soft_margin_loss", lambda x, t: F.soft_margin_loss(
        x, t.float(), reduction="sum"), x, signed)
    r.function("poisson_nll_loss", lambda x, t: F.poisson_nll_loss(
        x, t.float(), log_input=False, full=True, eps=0.5, reduction="sum"),
        x.exp(), r.integers(5, 5, 3))
    r.function("gaussian_nll_loss", lambda x, y, v: F.gaussian_nll_loss(
        x, y, v, full=True, eps=1.0, reduction="sum"), x, y, z.exp())
    r.function("nll_loss", lambda x, t, w: F.nll_loss(
        x, t, w.detach(), ignore_index=1, reduction="sum"), x, target, weight)
    r.function("cross_entropy", lambda x, t, w: F.cross_entropy(
        x, t, w.detach(), ignore_index=1, reduction="sum",
        label_smoothing=0.25), x, target, weight)
    r.function("multi_margin_loss", lambda x, t, w: F.multi_margin_loss(
        x, t, p=2, margin=0.5, weight=w.detach(), reduction="sum"), x, target,
        weight)
    r.function("multilabel_margin_loss",
               lambda x, t: F.multilabel_margin_loss(x, t, reduction="sum"),
               r.randn(2, 4), torch.tensor([[2, 0, -1, 1], [3, -1, 0, 1]]))
    r.function("multilabel_soft_margin_loss",
               lambda x, t, w: F.multilabel_soft_margin_loss(
                   x, t.float(), w.detach(), reduction="sum"), x, bits,
               weight)
    r.function("hinge_embedding_loss", lambda x, t: F.hinge_embedding_loss(
        x, t.float(), margin=0.25, reduction="sum"), x, signed)
    r.function("cosine_embedding_loss", lambda x, y, t:
               F.cosine_embedding_loss(x, y, t, -0.75, reduction="sum"), x, y,
               torch.tensor([1, -1, -1, 1, -1]))
    r.function("margin_ranking_loss", lambda x, y, t: F.margin_ranking_loss(
        x, y, t, 0.5, reduction="sum"), x, y, signed)
    r.function("triplet_margin_loss", lambda x, y, z: F.triplet_margin_loss(
        x, y, z, margin=2.5, p=1, eps=0.5, swap=True, reduction="sum"), x, y,
        z)
    r.function("triplet_margin_with_distance_loss", lambda x, y, z:
               F.triplet_margin_with_distance_loss(
                   x, y, z, distance_function=manhattan, margin=2.5,
                   swap=True, reduction="sum"), x, y, z)
    lengths = torch.tensor([5, 4]), torch.tensor([3, 2])
    r.function("ctc_loss", lambda x, t, n, m: F.ctc_loss(
        x, t, n, m, blank=3, reduction="sum", zero_infinity=True),
        r.randn(5, 2, 4).log_softmax(2),
        torch.tensor([[1, 1, 1], [2, 1, 1]]), torch.tensor([4, 4]),
        lengths[1])


elements()
classes()
embeddings()
sequences()
functions()
r.write()
