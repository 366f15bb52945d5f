"""What torchvision says: models, their weights, and results.

record_models.py and check_models.py share it.
"""

import numpy
import torch
import torchvision
from torchvision.models import resnet
from torchvision.models.detection import MaskRCNN
from torchvision.models.detection.backbone_utils import _resnet_fpn_extractor
from torchvision.models.segmentation import deeplabv3
from torchvision.transforms import functional
from torchvision.transforms.functional import InterpolationMode

NEAREST = InterpolationMode.NEAREST
# What makes weights of predictors smaller than others, as weights.cpp has it.
SMALLER = {"bbox_pred": 0.05, "cls_logits": 0.1, "cls_score": 0.1}
GOLDEN = 0x9E3779B97F4A7C15


def numbers(seed, first, n):
    """Numbers first ... first + n of the sequence of models/weights.cpp."""
    with numpy.errstate(over="ignore"):
        i = numpy.arange(first + 1, first + n + 1, dtype=numpy.uint64)
        z = numpy.uint64(seed) + i * numpy.uint64(GOLDEN)
        z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
        z ^= z >> numpy.uint64(31)
    return (z >> numpy.uint64(11)).astype(numpy.float64) * 2.0**-52 - 1


def draw_weights(model, seed):
    """draw_weights of models/weights.h: numbers that a seed fixes."""
    state, used = model.state_dict(), 0
    for name in sorted(k for k, t in state.items() if t.is_floating_point()):
        t = state[name]
        if t.dim() > 1:
            less = next((x for part, x in SMALLER.items() if part in name), 1)
            middle, bound = 0, less * (6 / (t.numel() / t.shape[0])) ** 0.5
        elif name.endswith("running_var"):
            middle, bound = 1, 0.5
        else:
            middle, bound = (1, 0.2) if name.endswith("weight") else (0, 0.1)
        drawn = middle + bound * numbers(seed, used, t.numel())
        used += t.numel()
        t.copy_(torch.from_numpy(drawn.astype(numpy.float32)).reshape(t.shape))
    return model.eval()


def small_resnet(block, **options):
    return resnet.ResNet(block, [1, 1, 1, 1], **options)


def small_maskrcnn(size):
    body = small_resnet(resnet.Bottleneck)
    return MaskRCNN(_resnet_fpn_extractor(body, 5), 91, min_size=size,
                    max_size=1333 * size // 800)


def small_deeplab():
    body = small_resnet(resnet.Bottleneck,
                        replace_stride_with_dilation=[False, True, True])
    return deeplabv3._deeplabv3_resnet(body, 21, True)


def normalised(picture):
    return functional.normalize(
        functional.convert_image_dtype(picture),
        mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225))[None]


@torch.no_grad()
def classified(model, picture, size):
    x = functional.resize(picture, [size], antialias=True)
    x = normalised(functional.center_crop(x, [size * 7 // 8]))
    scores = model(x)[0]
    best = scores.softmax(0).topk(3)
    return {"logits": scores, "likely": best.values, "classes": best.indices}


@torch.no_grad()
def detected(model, picture, least):
    found = model([functional.convert_image_dtype(picture)])[0]
    n = int((found["scores"] >= least).sum())
    return {k: found[k][:n] for k in ("boxes", "labels", "scores", "masks")}


@torch.no_grad()
def segmented(model, picture, size):
    """Results, and how far the two best classes of each pixel are apart."""
    x = normalised(functional.resize(picture, [size], antialias=True))
    scores = model(x)["out"]
    classes = functional.resize(scores.argmax(1), list(picture.shape[1:]),
                                NEAREST)[0]
    steps = torch.tensor([2**25 - 1, 2**15 - 1, 2**21 - 1])
    colours = (torch.arange(21)[:, None] * steps % 255).to(torch.uint8)
    best = scores.topk(2, 1).values
    margin = functional.resize(best[:, 0] - best[:, 1],
                               list(picture.shape[1:]), NEAREST)[0]
    return {"scores": scores[0], "classes": classes,
            "coloured": colours[classes].permute(2, 0, 1)}, margin


def box(p, x, y, w, h, colour):
    """Fills a box of the picture, whose sides are 160 and 120 units."""
    sy, sx = p.shape[0] / 120, p.shape[1] / 160
    p[round(y * sy):round((y + h) * sy), round(x * sx):round((x + w) * sx)] = colour


def disc(p, x, y, r, colour):
    sy, sx = p.shape[0] / 120, p.shape[1] / 160
    rows, columns = numpy.mgrid[:p.shape[0], :p.shape[1]]
    p[(rows / sy - y) ** 2 + (columns / sx - x) ** 2 < r * r] = colour


def street(width, height):
    """A picture of a street: sky, a sun, houses, a tree, a car. uint8 CHW."""
    p = numpy.zeros((height, width, 3))
    down = numpy.linspace(0, 1, height)[:, None]
    p[:] = (numpy.array([90, 150, 235]) * (1 - down)
            + numpy.array([235, 225, 210]) * down)[:, None]
    disc(p, 132, 18, 9, (255, 238, 120))
    for x, w, top, wall in ((4, 38, 34, (172, 92, 74)), (44, 30, 22, (190, 180, 160)),
                            (78, 44, 44, (120, 128, 150))):
        box(p, x, top, w, 88 - top, wall)
        box(p, x - 1, top - 3, w + 2, 3, (70, 48, 44))
        for row in range(int((80 - top) // 12)):
            for column in range(int((w - 4) // 9)):
                box(p, x + 4 + 9 * column, top + 5 + 12 * row, 5, 7,
                    (250, 226, 140) if (row + column) % 3 else (52, 60, 84))
    box(p, 138, 62, 4, 28, (92, 64, 42))
    disc(p, 140, 54, 13, (52, 122, 58))
    disc(p, 133, 60, 8, (66, 140, 66))
    box(p, 0, 88, 160, 32, (84, 84, 90))
    for x in range(2, 160, 26):
        box(p, x, 103, 14, 2, (236, 236, 220))
    box(p, 40, 92, 54, 13, (204, 36, 44))
    box(p, 52, 82, 30, 11, (204, 36, 44))
    box(p, 55, 84, 11, 8, (190, 220, 236))
    box(p, 68, 84, 11, 8, (190, 220, 236))
    for x in (52, 82):
        disc(p, x, 105, 6, (22, 22, 24))
        disc(p, x, 105, 2.5, (170, 170, 174))
    p += 9 * numbers(5, 0, p.size).reshape(p.shape)
    return torch.from_numpy(p.clip(0, 255).round().astype(numpy.uint8)).permute(2, 0, 1)


def write_ppm(path, picture):
    with open(path, "wb") as file:
        file.write(b"P6\n%d %d\n255\n" % (picture.shape[2], picture.shape[1]))
        file.write(picture.permute(1, 2, 0).contiguous().numpy().tobytes())
