"""Compares the three programs with torchvision's own models, in full size.

    python check_models.py ../build [PICTURE]     # some minutes, 1 GB in /tmp

It needs torch, torchvision and safetensors, and no network: weights are random
ones of torch.manual_seed(0), written by torch.save or safetensors and read by
the programs, with statistics of batch norm that fit the picture. Printed are the
largest differences.
"""

import os
import subprocess
import sys
import tempfile

import torch
import torchvision
from safetensors.torch import load_file, save_file
from torchvision.io import read_image, write_png
from torchvision.models import detection, segmentation

import reference

BUILD = sys.argv[1]
wrong = []


def fitted(make, picture, run, seed=0):
    """A model whose activations keep their size: statistics are the picture's."""
    torch.manual_seed(seed)
    model = make().eval()
    for name, m in model.named_modules():
        # The norm of one number a channel has no statistics.
        if isinstance(m, torch.nn.BatchNorm2d) and "convs.4." not in name:
            m.momentum = 1.0
            m.train()
            # Branches add little, as in trained networks: else the last bits of
            # float32 grow a thousand times in resnet152, in torchvision, too.
            if name.endswith("bn3"):
                torch.nn.init.constant_(m.weight, 0.3)
    with torch.no_grad():
        run(model, picture)
    return model.eval()


def program(name, model, words, folder, ending=".pt"):
    """Runs a program with a model's weights. Returns what it saved."""
    weights = os.path.join(folder, name + ending)
    state = model.state_dict()
    if ending == ".pt":
        torch.save(state, weights)
    else:
        save_file(state, weights)
    saved = os.path.join(folder, name + ".saved")
    command = [os.path.join(BUILD, name)]
    command += [weights if w == "WEIGHTS" else w for w in words]
    subprocess.run(command + ["--save", saved], check=True)
    os.remove(weights)
    return load_file(saved)


def compare(title, got, expected, bounds):
    for key, bound in bounds.items():
        a, b = got[key].double(), expected[key].double()
        if a.shape != b.shape:
            far = f"sizes {list(a.shape)}, not {list(b.shape)}"
            ok = False
        else:
            d = float((a - b).abs().max()) if a.numel() else 0.0
            far, ok = f"within {d:.1e}", d <= bound
        print(f"{title} {key}: {far}{'' if ok else ': WRONG'}", flush=True)
        if not ok:
            wrong.append(f"{title} {key}")


def check_classify(picture, path, folder):
    for i, name in enumerate(("resnet18", "resnet34", "resnet50", "resnet101",
                              "resnet152")):
        def run(model, p):
            model(reference.normalised(p))
        model = fitted(getattr(torchvision.models, name), picture, run)
        got = program("classify", model, [name, "WEIGHTS", path], folder,
                      (".pt", ".safetensors")[i % 2])
        compare(name, got, reference.classified(model, picture, 256),
                {"logits": 1e-4, "likely": 1e-5, "classes": 0})


def spread(model):
    """Scores that differ: with fresh weights nothing is found."""
    with torch.no_grad():
        model.roi_heads.box_predictor.cls_score.weight.mul_(4)
        model.rpn.head.cls_logits.weight.mul_(20)
    return model


def check_detect(picture, path, folder):
    def fresh():
        return detection.maskrcnn_resnet50_fpn(
            weights=None, weights_backbone=None, rpn_pre_nms_top_n_test=1000)
    model = spread(fitted(fresh, picture, lambda m, p: m([p / 255])))
    words = ["WEIGHTS", path, os.path.join(folder, "found.png"), "--score", "0.2"]
    bounds = {"labels": 0, "boxes": 1e-2, "scores": 1e-4, "masks": 1e-3}
    expected = reference.detected(model, picture, 0.2)
    print(f"{len(expected['scores'])} detections")
    compare("maskrcnn_resnet50_fpn", program("detect", model, words, folder),
            expected, bounds)
    # The published weights have norms that are frozen.
    frozen = MaskRcnnFrozen(model)
    compare("the same, frozen",
            program("detect", frozen, words + ["--norm", "published"], folder),
            reference.detected(frozen, picture, 0.2), bounds)


def MaskRcnnFrozen(model):
    body = torchvision.models.resnet50(
        norm_layer=torchvision.ops.misc.FrozenBatchNorm2d)
    out = detection.MaskRCNN(
        detection.backbone_utils._resnet_fpn_extractor(body, 3), 91)
    state = {k: v for k, v in model.state_dict().items()
             if "num_batches_tracked" not in k}
    out.load_state_dict(state)
    detection._utils.overwrite_eps(out, 0.0)
    return out.eval()


def check_segment(picture, path, folder):
    for name, aux in (("deeplabv3_resnet101", True), ("deeplabv3_resnet50", None)):
        model = fitted(
            lambda: getattr(segmentation, name)(
                weights=None, weights_backbone=None, aux_loss=aux),
            picture, lambda m, p: m(reference.normalised(p)))
        expected, margin = reference.segmented(model, picture, 520)
        # torchvision without oneDNN differs from itself by 6e-5.
        sure = margin > 2e-4
        print(f"{len(expected['classes'].unique())} classes; "
              f"{int((~sure).sum())} of {sure.numel()} pixels are undecided")
        got = program("segment", model, [
            "WEIGHTS", path, os.path.join(folder, "classes.png"), "--backbone",
            name.split("_")[1]], folder, ".safetensors")
        differ = int((got["classes"] != expected["classes"]).sum())
        print(f"{differ} pixels differ")
        for results in (got, expected):
            results["classes"] = results["classes"] * sure
            results["coloured"] = results["coloured"] * sure
        compare(name, got, expected, {"scores": 1e-4, "classes": 0, "coloured": 0})


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "street.png")
        if len(sys.argv) > 2:
            path = sys.argv[2]
        else:
            write_png(reference.street(320, 240), path)
        picture = read_image(path)[:3]
        for check in (check_classify, check_segment, check_detect):
            check(picture, path, folder)
    print(f"{len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
