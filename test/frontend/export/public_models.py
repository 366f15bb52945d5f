"""Public models with random weights, for check_models.py.

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


def add_transformers():
    import transformers
    add = transformers_model
    add("albert", "AlbertModel", {**WORDS, "embedding_size": 32})
    add("bert", "BertModel", WORDS)
    add("bert_classifier", "BertForSequenceClassification", WORDS)
    add("deberta", "DebertaV2Model", {**WORDS, "relative_attention": True,
                                      "pos_att_type": ["p2c", "c2p"]})
    add("distilbert", "DistilBertModel", {
        "dim": 64, "n_layers": 2, "n_heads": 4, "hidden_dim": 128,
        "vocab_size": 128, "max_position_embeddings": 64})
    add("electra", "ElectraModel", {**WORDS, "embedding_size": 32})
    add("funnel", "FunnelModel", {
        "vocab_size": 128, "block_sizes": [1, 1], "d_model": 64, "n_head": 4,
        "d_head": 16, "d_inner": 128})
    add("mpnet", "MPNetModel", WORDS)
    add("roberta", "RobertaModel", WORDS)

    add("bloom", "BloomForCausalLM", {"hidden_size": 64, "n_layer": 2,
                                      "n_head": 4, "vocab_size": 128})
    add("gemma", "GemmaForCausalLM", {**WORDS, "num_key_value_heads": 2,
                                      "head_dim": 16})
    add("gpt2", "GPT2LMHeadModel", {"n_embd": 64, "n_layer": 2, "n_head": 4,
                                    "vocab_size": 128, "n_positions": 64})
    add("gptneox", "GPTNeoXForCausalLM", WORDS)
    for name in ("Llama", "Mistral", "Qwen2"):
        add(name.lower(), name + "ForCausalLM",
            {**WORDS, "num_key_value_heads": 2})
    add("mamba", "MambaForCausalLM", {"hidden_size": 64, "state_size": 8,
                                      "num_hidden_layers": 2,
                                      "vocab_size": 128})
    add("mamba2", "Mamba2ForCausalLM", {
        "hidden_size": 64, "num_hidden_layers": 2, "vocab_size": 128,
        "state_size": 8, "num_heads": 8, "head_dim": 16, "n_groups": 1,
        "expand": 2})
    add("mixtral", "MixtralForCausalLM", {**WORDS, "num_key_value_heads": 2,
                                          "num_local_experts": 4})
    add("opt", "OPTForCausalLM", {
        "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
        "ffn_dim": 128, "vocab_size": 128, "max_position_embeddings": 64,
        "word_embed_proj_dim": 64})
    add("phi", "PhiForCausalLM", WORDS)
    add("rwkv", "RwkvModel", {"vocab_size": 128, "hidden_size": 64,
                              "num_hidden_layers": 2,
                              "attention_hidden_size": 64,
                              "intermediate_size": 128})

    two = lambda: (words(), None, words())
    add("bart", "BartModel", {**COUPLE, "max_position_embeddings": 64}, two,
        static=True)
    add("t5", "T5ForConditionalGeneration", {
        "d_model": 64, "d_kv": 16, "d_ff": 128, "num_layers": 2,
        "num_heads": 4, "vocab_size": 128}, two, static=True)
    add("whisper", "WhisperModel", {
        **COUPLE, "num_mel_bins": 16, "max_source_positions": 50,
        "max_target_positions": 64, "pad_token_id": 0, "bos_token_id": 1,
        "eos_token_id": 2, "decoder_start_token_id": 1},
        lambda: (torch.randn(2, 16, 100), None, words()), static=True)
    for name in ("Hubert", "Wav2Vec2"):
        add(name.lower(), name + "Model", SOUND,
            lambda: (torch.randn(2, 800),), static=True)

    patches = {**LAYERS, "image_size": 32, "patch_size": 8}
    add("clip", "CLIPModel", {
        "text_config": WORDS, "vision_config": patches, "projection_dim": 32},
        lambda: (words(), torch.randn(2, 3, 32, 32)), static=True)
    add("convnext", "ConvNextModel", {"hidden_sizes": [16, 32, 64, 64],
                                      "depths": [1, 1, 1, 1]}, picture(64))
    add("detr", "DetrModel", transformers.DetrConfig(
        use_timm_backbone=False, backbone=None, use_pretrained_backbone=False,
        backbone_config=transformers.ResNetConfig(
            hidden_sizes=[16, 32], depths=[1, 1], embedding_size=16,
            out_features=["stage2"]),
        d_model=64, encoder_layers=1, decoder_layers=1,
        encoder_attention_heads=4, decoder_attention_heads=4,
        encoder_ffn_dim=64, decoder_ffn_dim=64, num_queries=5), picture(64),
        static=True)
    for name in ("DeiT", "Dinov2", "ViT"):
        add(name.lower(), name + "Model", patches, picture(32))
    add("segformer", "SegformerForSemanticSegmentation", {
        "hidden_sizes": [16, 32, 64, 64], "depths": [1, 1, 1, 1],
        "decoder_hidden_size": 32, "num_labels": 5}, picture(64))
    add("swin", "SwinModel", {
        "image_size": 32, "patch_size": 2, "embed_dim": 16, "depths": [2, 2],
        "num_heads": [2, 4], "window_size": 4}, picture(32))


def torchvision_model(name, size=64, make=None, train=False, **options):
    import torchvision.models as tv

    def build():
        module = (make or getattr(tv, name))(weights=None, **options)
        return module, picture(size)(), {"train": train}

    MODELS["tv_" + name + ("_train" if train else "")] = build


def add_torchvision():
    import torchvision.models.segmentation as masks
    add = torchvision_model
    for name in ("convnext_tiny densenet121 efficientnet_b0 mnasnet0_5 "
                 "mobilenet_v2 mobilenet_v3_small regnet_x_400mf resnet18 "
                 "resnet50 shufflenet_v2_x0_5 squeezenet1_1 swin_t").split():
        add(name)
    add("alexnet", num_classes=10)
    add("vgg11", num_classes=10)
    add("googlenet", init_weights=False)
    add("inception_v3", 96, init_weights=False)
    add("maxvit_t", 224)
    add("vit_b_32", 224)
    add("resnet18", train=True)
    for name in ("deeplabv3_resnet50", "fcn_resnet50",
                 "lraspp_mobilenet_v3_large"):
        add(name, make=getattr(masks, name), weights_backbone=None)


def timm_model(name, size):
    import timm

    MODELS["timm_" + name] = lambda: (
        timm.create_model(name, pretrained=False, num_classes=10),
        picture(size)(), {})


def add_timm():
    for name in ("convnext_atto dla34 edgenext_xx_small efficientnet_b0 "
                 "fastvit_t8 ghostnet_050 hrnet_w18_small inception_v4 "
                 "mobilenetv3_small_050 nfnet_l0 poolformer_s12 regnetx_002 "
                 "repvgg_a0 res2net50_26w_4s resnet18 "
                 "tf_efficientnetv2_b0").split():
        timm_model(name, 96 if name == "inception_v4" else 64)
    for name in ("beit_base_patch16_224 cait_xxs24_224 coat_tiny "
                 "deit_tiny_patch16_224 efficientformer_l1 gmlp_ti16_224 "
                 "levit_128s mixer_s32_224 resmlp_12_224 "
                 "swin_tiny_patch4_window7_224 vit_tiny_patch16_224 "
                 "xcit_nano_12_p16_224").split():
        timm_model(name, 224)
    for name in ("maxvit_nano_rw_256", "mobilevit_xxs"):
        timm_model(name, 256)


add_transformers()
add_torchvision()
add_timm()
