"""Records what torchvision's models say of a small picture, and a program.

    python record_models.py .      # writes street.ppm, models.safetensors, parts.pt2

The models are small and have weights of draw_weights, which the programs have,
too: `classify resnet10 seed:3 street.ppm`. Tensors are "PROGRAM.NAME", as the
program saves NAME; the metadata has how far each may be off. parts.pt2 is an
exported module that calls torchvision's operators; "parts.K.in.I" and
"parts.K.out.I" are its inputs, with K boxes, and results.
"""

import os
import sys

import torch
from safetensors.torch import save_file
from torchvision import ops

import reference

BOUNDS = {"logits": 1e-4, "likely": 1e-5, "boxes": 1e-2, "scores": 1e-4,
          "masks": 1e-3}
tensors, bounds = {}, {}


def record(program, results):
    for name, t in results.items():
        tensors[f"{program}.{name}"] = t.contiguous()
        bounds[f"{program}.{name}"] = str(BOUNDS.get(name, 0))


class Parts(torch.nn.Module):
    """Pieces of detectors: every operator of torchvision that takes boxes."""

    def __init__(self):
        super().__init__()
        self.offset = torch.nn.Conv2d(8, 18, 3, padding=1)
        self.deform = ops.DeformConv2d(8, 8, 3, padding=1)

    def forward(self, maps, boxes, scores):
        keep = ops.nms(boxes, scores, 0.5)
        maps = self.deform(maps, self.offset(maps)).relu()
        rois = torch.cat([torch.zeros_like(boxes[:, :1]), boxes], 1)
        return {
            "keep": keep,
            "best": boxes[keep],
            "roi_align": ops.roi_align(maps, rois, 2, 0.5, 2, True),
            "roi_pool": ops.roi_pool(maps, rois, 2, 0.5),
            "ps": [ops.ps_roi_align(maps, rois, 2, 0.5, 2),
                   ops.ps_roi_pool(maps, rois, 2, 0.5)],
        }


def export(path):
    torch.manual_seed(11)
    parts = Parts()
    corner = torch.rand(9, 2) * 14
    boxes = torch.cat([corner, corner + 2 + torch.rand(9, 2) * 6], 1)
    boxes[4] = boxes[2] + 0.25
    args = (torch.randn(1, 8, 12, 12), boxes, torch.rand(9))
    n = torch.export.Dim("n", min=2, max=100)
    program = torch.export.export(
        parts, args, dynamic_shapes=({}, {0: n}, {0: n}))
    torch.export.save(program, path)
    for count in (9, 5):
        inputs = [args[0], boxes[:count], args[2][:count]]
        out = program.module()(*inputs)
        for i, t in enumerate(inputs):
            tensors[f"parts.{count}.in.{i}"] = t.clone()
        flat = torch.utils._pytree.tree_leaves(out)
        for i, t in enumerate(flat):
            tensors[f"parts.{count}.out.{i}"] = t.detach().contiguous()


def main():
    folder = sys.argv[1]
    picture = reference.street(160, 120)
    reference.write_ppm(os.path.join(folder, "street.ppm"), picture)
    model = reference.draw_weights(
        reference.small_resnet(reference.resnet.BasicBlock, num_classes=10), 3)
    record("classify", reference.classified(model, picture, 72))
    model = reference.draw_weights(reference.small_maskrcnn(128), 2)
    record("detect", reference.detected(model, picture, 0.594))
    model = reference.draw_weights(reference.small_deeplab(), 2)
    results, margin = reference.segmented(model, picture, 120)
    print(f"the classes of a pixel are {float(margin.min()):.1e} apart, or more")
    del results["scores"], results["coloured"]
    results["classes"] = results["classes"].to(torch.uint8)
    record("segment", results)
    export(os.path.join(folder, "parts.pt2"))
    save_file(tensors, os.path.join(folder, "models.safetensors"), bounds)


if __name__ == "__main__":
    main()
