"""Makers of public models with random weights.

MODELS maps a name to a function that gives a module, its arguments, options:
  other     arguments of the recorded call, of another batch size; by default
            those of the export, with a batch of 3 where that is dynamic
  static    the batch is not dynamic
  train     in training mode
"""

import torch

MODELS = {}

WORDS = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
         "intermediate_size": 128, "vocab_size": 128,
         "max_position_embeddings": 64}
LAYERS = {k: WORDS[k] for k in ("hidden_size", "num_hidden_layers",
                                "num_attention_heads", "intermediate_size")}
COUPLE = {"d_model": 64, "encoder_layers": 2, "decoder_layers": 2,
          "encoder_attention_heads": 4, "decoder_attention_heads": 4,
          "encoder_ffn_dim": 128, "decoder_ffn_dim": 128, "vocab_size": 128}
SOUND = {**LAYERS, "conv_dim": (32, 32), "conv_stride": (5, 2),
         "conv_kernel": (10, 3), "num_feat_extract_layers": 2,
         "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 4}


def words():
    return torch.randint(0, 100, (2, 12))


def picture(size):
    return lambda: (torch.randn(2, 3, size, size),)


def transformers_model(name, kind, config, arguments=None, **options):
    """config: its class is KINDConfig, with the head's name left out."""
    import transformers

    def build():
        c = config
        if isinstance(c, dict):
            stem = next(kind[:i] for i in range(len(kind), 0, -1)
                        if hasattr(transformers, kind[:i] + "Config"))
            c = getattr(transformers, stem + "Config")(**c)
        c.use_cache = False
        example = arguments() if arguments else (words(),)
        return getattr(transformers, kind)(c), example, options

    MODELS["hf_" + name] = build


def torchvision_model(name, size=64, make=None, train=False, **options):
    import torchvision.models as tv

    def build():
        module = (make or getattr(tv, name))(weights=None, **options)
        return module, picture(size)(), {"train": train}

    MODELS["tv_" + name + ("_train" if train else "")] = build


def timm_model(name, size):
    import timm

    MODELS["timm_" + name] = lambda: (
        timm.create_model(name, pretrained=False, num_classes=10),
        picture(size)(), {})
