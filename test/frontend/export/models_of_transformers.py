"""Models of transformers: texts, sounds, pictures, and several of these."""

import torch
import transformers

from model_makers import (COUPLE, LAYERS, MODELS, SOUND, WORDS, picture,
                          transformers_model as add_model, words)

def add_first():
    """Models in the form that their configurations give."""
    add_model("albert", "AlbertModel", {**WORDS, "embedding_size": 32})
    add_model("bert", "BertModel", WORDS)
    add_model("bert_classifier", "BertForSequenceClassification", WORDS)
    add_model("deberta", "DebertaV2Model", {**WORDS, "relative_attention": True,
                                      "pos_att_type": ["p2c", "c2p"]})
    add_model("distilbert", "DistilBertModel", {
        "dim": 64, "n_layers": 2, "n_heads": 4, "hidden_dim": 128,
        "vocab_size": 128, "max_position_embeddings": 64})
    add_model("electra", "ElectraModel", {**WORDS, "embedding_size": 32})
    add_model("funnel", "FunnelModel", {
        "vocab_size": 128, "block_sizes": [1, 1], "d_model": 64, "n_head": 4,
        "d_head": 16, "d_inner": 128})
    add_model("mpnet", "MPNetModel", WORDS)
    add_model("roberta", "RobertaModel", WORDS)

    add_model("bloom", "BloomForCausalLM", {"hidden_size": 64, "n_layer": 2,
                                      "n_head": 4, "vocab_size": 128})
    add_model("gemma", "GemmaForCausalLM", {**WORDS, "num_key_value_heads": 2,
                                      "head_dim": 16})
    add_model("gpt2", "GPT2LMHeadModel", {"n_embd": 64, "n_layer": 2, "n_head": 4,
                                    "vocab_size": 128, "n_positions": 64})
    add_model("gptneox", "GPTNeoXForCausalLM", WORDS)
    for name in ("Llama", "Mistral", "Qwen2"):
        add_model(name.lower(), name + "ForCausalLM",
            {**WORDS, "num_key_value_heads": 2})
    add_model("mamba", "MambaForCausalLM", {"hidden_size": 64, "state_size": 8,
                                      "num_hidden_layers": 2,
                                      "vocab_size": 128})
    add_model("mamba2", "Mamba2ForCausalLM", {
        "hidden_size": 64, "num_hidden_layers": 2, "vocab_size": 128,
        "state_size": 8, "num_heads": 8, "head_dim": 16, "n_groups": 1,
        "expand": 2})
    add_model("mixtral", "MixtralForCausalLM", {**WORDS, "num_key_value_heads": 2,
                                          "num_local_experts": 4})
    add_model("opt", "OPTForCausalLM", {
        "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
        "ffn_dim": 128, "vocab_size": 128, "max_position_embeddings": 64,
        "word_embed_proj_dim": 64})
    add_model("phi", "PhiForCausalLM", WORDS)
    add_model("rwkv", "RwkvModel", {"vocab_size": 128, "hidden_size": 64,
                              "num_hidden_layers": 2,
                              "attention_hidden_size": 64,
                              "intermediate_size": 128})

    two = lambda: (words(), None, words())
    add_model("bart", "BartModel", {**COUPLE, "max_position_embeddings": 64}, two,
        static=True)
    add_model("t5", "T5ForConditionalGeneration", {
        "d_model": 64, "d_kv": 16, "d_ff": 128, "num_layers": 2,
        "num_heads": 4, "vocab_size": 128}, two, static=True)
    add_model("whisper", "WhisperModel", {
        **COUPLE, "num_mel_bins": 16, "max_source_positions": 50,
        "max_target_positions": 64, "pad_token_id": 0, "bos_token_id": 1,
        "eos_token_id": 2, "decoder_start_token_id": 1},
        lambda: (torch.randn(2, 16, 100), None, words()), static=True)
    for name in ("Hubert", "Wav2Vec2"):
        add_model(name.lower(), name + "Model", SOUND,
            lambda: (torch.randn(2, 800),), static=True)

    patches = {**LAYERS, "image_size": 32, "patch_size": 8}
    add_model("clip", "CLIPModel", {
        "text_config": WORDS, "vision_config": patches, "projection_dim": 32},
        lambda: (words(), torch.randn(2, 3, 32, 32)), static=True)
    add_model("convnext", "ConvNextModel", {"hidden_sizes": [16, 32, 64, 64],
                                      "depths": [1, 1, 1, 1]}, picture(64))
    add_model("detr", "DetrModel", transformers.DetrConfig(
        use_timm_backbone=False, backbone=None, use_pretrained_backbone=False,
        backbone_config=transformers.ResNetConfig(
            hidden_sizes=[16, 32], depths=[1, 1], embedding_size=16,
            out_features=["stage2"]),
        d_model=64, encoder_layers=1, decoder_layers=1,
        encoder_attention_heads=4, decoder_attention_heads=4,
        encoder_ffn_dim=64, decoder_ffn_dim=64, num_queries=5), picture(64),
        static=True)
    for name in ("DeiT", "Dinov2", "ViT"):
        add_model(name.lower(), name + "Model", patches, picture(32))
    add_model("segformer", "SegformerForSemanticSegmentation", {
        "hidden_sizes": [16, 32, 64, 64], "depths": [1, 1, 1, 1],
        "decoder_hidden_size": 32, "num_labels": 5}, picture(64))
    add_model("swin", "SwinModel", {
        "image_size": 32, "patch_size": 2, "embed_dim": 16, "depths": [2, 2],
        "num_heads": [2, 4], "window_size": 4}, picture(32))


GROUPED = {**WORDS, "num_key_value_heads": 2, "head_dim": 16,
           "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
EXPERTS = {**GROUPED, "num_experts": 4, "num_local_experts": 4,
           "num_experts_per_tok": 2, "moe_intermediate_size": 32,
           "n_routed_experts": 4}
PAIRS = {**EXPERTS, "q_lora_rank": 16, "kv_lora_rank": 16,
         "qk_rope_head_dim": 8, "qk_nope_head_dim": 8, "v_head_dim": 16,
         "n_group": 1, "topk_group": 1, "num_key_value_heads": 4,
         "first_k_dense_replace": 1, "head_dim": 8, "n_shared_experts": 1}
GPT = {"n_embd": 64, "n_layer": 2, "n_head": 4, "vocab_size": 128,
       "n_positions": 64, "n_ctx": 64}
T5 = {"d_model": 64, "d_kv": 16, "d_ff": 128, "num_layers": 2,
      "num_decoder_layers": 2, "num_heads": 4, "vocab_size": 128,
      "pad_token_id": 0, "decoder_start_token_id": 0}
PATCHES = {**LAYERS, "image_size": 32, "patch_size": 8}


def two():
    return words(), None, words()


def words_and_picture():
    return words(), torch.randn(2, 3, 32, 32)


def video():
    return (torch.randn(2, 4, 3, 32, 32),)


def add_decoders():
    for name in ("Apertus Arcee Cohere Cwm Doge Ernie4_5 Exaone4 Gemma2 Glm "
                 "Granite Helium HunYuanDenseV1 Lfm2 Ministral Nemotron Olmo "
                 "Olmo2 Persimmon Phi3 Qwen3 SeedOss SmolLM3 StableLm "
                 "Starcoder2 VaultGemma").split():
        add_model(name.lower(), name + "ForCausalLM", GROUPED)
    for name in ("Ernie4_5_Moe FlexOlmo GptOss GraniteMoe JetMoe MiniMax Olmoe "
                 "Qwen2Moe Qwen3Moe").split():
        add_model(name.lower(), name + "ForCausalLM", EXPERTS)
    for name in ("DeepseekV2", "DeepseekV3"):
        add_model(name.lower(), name + "ForCausalLM", PAIRS)
    add_model("bamba", "BambaForCausalLM", {
        **GROUPED, "mamba_d_state": 8, "mamba_n_heads": 8, "mamba_d_head": 16,
        "attn_layer_indices": [1]})
    add_model("biogpt", "BioGptForCausalLM", WORDS)
    add_model("codegen", "CodeGenForCausalLM", {**GPT, "rotary_dim": 8})
    add_model("ctrl", "CTRLLMHeadModel", {**GPT, "dff": 128})
    add_model("decisiontransformer", "DecisionTransformerGPT2Model",
              {**GPT, "hidden_size": 64})
    add_model("falcon", "FalconForCausalLM", WORDS)
    add_model("falconmamba", "FalconMambaForCausalLM", {
        "hidden_size": 64, "state_size": 8, "num_hidden_layers": 2,
        "vocab_size": 128})
    add_model("gptbigcode", "GPTBigCodeForCausalLM", GPT)
    add_model("gptj", "GPTJForCausalLM", {**GPT, "rotary_dim": 8})
    add_model("gptneo", "GPTNeoForCausalLM", {
        "hidden_size": 64, "num_layers": 2, "num_heads": 4,
        "attention_types": [[["global", "local"], 1]], "vocab_size": 128,
        "max_position_embeddings": 64, "window_size": 8})
    add_model("mpt", "MptForCausalLM", {
        "d_model": 64, "n_heads": 4, "n_layers": 2, "vocab_size": 128,
        "max_seq_len": 64, "expansion_ratio": 2})
    add_model("recurrentgemma", "RecurrentGemmaForCausalLM", {
        **GROUPED, "lru_width": 64, "num_hidden_layers": 3,
        "attention_window_size": 16})
    add_model("xglm", "XGLMForCausalLM", {
        "d_model": 64, "num_layers": 2, "attention_heads": 4, "ffn_dim": 128,
        "vocab_size": 128, "max_position_embeddings": 64})


def add_encoders():
    for name in ("BigBird Camembert ConvBert Data2VecText Ernie Esm LayoutLM "
                 "MegatronBert ModernBert NomicBert Nystromformer RoFormer "
                 "Splinter SqueezeBert XLMRoberta XLMRobertaXL Yoso").split():
        add_model(name.lower(), name + "Model", {
            **WORDS, "embedding_size": 64, "pad_token_id": 0,
            "attention_type": "original_full"})
    for name in ("BertForMaskedLM BertForTokenClassification FNetModel "
                 "FlavaTextModel IBertModel RobertaForQuestionAnswering "
                 "RobertaPreLayerNormModel").split():
        add_model(name.lower(), name, WORDS)
    add_model("canine", "CanineModel", {
        **WORDS, "num_hash_buckets": 128, "downsampling_rate": 4,
        "local_transformer_stride": 8})
    add_model("layoutlmv3", "LayoutLMv3Model", {
        **WORDS, "visual_embed": False, "coordinate_size": 11,
        "shape_size": 10})
    add_model("luke", "LukeModel", {**WORDS, "entity_vocab_size": 8,
                                    "entity_emb_size": 16})
    add_model("mobilebert", "MobileBertModel", {
        **WORDS, "embedding_size": 32, "intra_bottleneck_size": 64,
        "true_hidden_size": 64})
    add_model("xlm", "XLMModel", {
        "vocab_size": 128, "emb_dim": 64, "n_layers": 2, "n_heads": 4,
        "max_position_embeddings": 64, "n_words": 128})
    add_model("xlnet", "XLNetModel", {"vocab_size": 128, "d_model": 64,
                                      "n_layer": 2, "n_head": 4,
                                      "d_inner": 128})


def add_couples():
    for name in ("BigBirdPegasus Blenderbot BlenderbotSmall M2M100 MBart "
                 "Marian Mvp NllbMoe PLBart Pegasus").split():
        add_model(name.lower(), name + "Model", {
            **COUPLE, "max_position_embeddings": 64, "pad_token_id": 0,
            "attention_type": "original_full", "num_experts": 4}, two,
            static=True)
    for name in ("MT5", "Pop2Piano", "UMT5"):
        add_model(name.lower(), name + "ForConditionalGeneration", T5, two,
                  static=True)
    add_model("prophetnet", "ProphetNetModel", {
        "hidden_size": 64, "num_encoder_layers": 2, "num_decoder_layers": 2,
        "num_encoder_attention_heads": 4, "num_decoder_attention_heads": 4,
        "encoder_ffn_dim": 128, "decoder_ffn_dim": 128, "vocab_size": 128,
        "max_position_embeddings": 64}, two, static=True)


def add_sounds():
    for name in ("Data2VecAudio SEW UniSpeech UniSpeechSat "
                 "Wav2Vec2Conformer WavLM").split():
        add_model(name.lower(), name + "Model",
                  {**SOUND, "conv_bias": True, "squeeze_factor": 2},
                  lambda: (torch.randn(2, 800),), static=True)
    add_model("ast", "ASTModel", {**LAYERS, "num_mel_bins": 32,
                                  "max_length": 64, "patch_size": 16},
              lambda: (torch.randn(2, 64, 32),), static=True)
    add_model("speech2text", "Speech2TextModel", {
        **COUPLE, "input_feat_per_channel": 16, "conv_channels": 32,
        "max_source_positions": 64, "max_target_positions": 64},
        lambda: (torch.randn(2, 40, 16), None, words()), static=True)
    add_model("wav2vec2bert", "Wav2Vec2BertModel",
              {**LAYERS, "feature_projection_input_dim": 16},
              lambda: (torch.randn(2, 20, 16),), static=True)


def add_pictures():
    for name in ("Aimv2Vision Beit CLIPVision DINOv3ViT Data2VecVision "
                 "Dinov2WithRegisters IJepa SiglipVision ViTMSN").split():
        add_model(name.lower(), name + "Model", PATCHES, picture(32))
    for name in ("ViTForImageClassification", "ViTForMaskedImageModeling"):
        add_model(name.lower(), name, {**PATCHES, "num_labels": 5}, picture(32))
    for name in ("Bit ConvNextV2 Cvt EfficientNet FocalNet GLPN MobileNetV1 "
                 "MobileNetV2 MobileViT MobileViTV2 PoolFormer PvtV2 RegNet "
                 "ResNet SwiftFormer TextNet").split():
        add_model(name.lower(), name + "Model", {}, picture(64))
    add_model("levit", "LevitModel", {}, picture(224))
    for name in ("DonutSwin", "Swinv2"):
        add_model(name.lower(), name + "Model", {
            "image_size": 32, "patch_size": 2, "embed_dim": 16,
            "depths": [2, 2], "num_heads": [2, 4], "window_size": 4},
            picture(32))
    add_model("conditionaldetr", "ConditionalDetrModel", {}, picture(64),
              static=True)
    for name in ("AltCLIP", "ChineseCLIP", "OwlViT", "Siglip"):
        add_model(name.lower(), name + "Model", {
            "text_config": {**WORDS, "project_dim": 32},
            "vision_config": PATCHES, "projection_dim": 32},
            words_and_picture, static=True)
    add_model("blip", "BlipForImageTextRetrieval", {
        "text_config": {**WORDS, "encoder_hidden_size": 64},
        "vision_config": PATCHES, "projection_dim": 32,
        "image_text_hidden_size": 16}, words_and_picture, static=True)
    add_model("git", "GitForCausalLM", {**WORDS, "vision_config": PATCHES})
    for name in ("Timesformer", "VideoMAE"):
        add_model(name.lower(), name + "Model", {**PATCHES, "num_frames": 4},
                  video, static=True)
    add_model("vivit", "VivitModel", {
        **PATCHES, "num_frames": 4, "tubelet_size": [2, 8, 8]}, video,
        static=True)
    add_model("vjepa2", "VJEPA2Model", {
        **PATCHES, "crop_size": 32, "frames_per_clip": 4,
        "pred_hidden_size": 48, "pred_num_attention_heads": 4,
        "pred_num_hidden_layers": 2}, video, static=True)


def add_series():
    series = lambda: (torch.randn(2, 32, 3),)
    patches = {"num_input_channels": 3, "context_length": 32, "patch_length": 4,
               "patch_stride": 4}
    add_model("patchtst", "PatchTSTModel", {
        **patches, "d_model": 64, "num_hidden_layers": 2,
        "num_attention_heads": 4, "ffn_dim": 128}, series, static=True)
    add_model("patchtsmixer", "PatchTSMixerModel", {
        **patches, "d_model": 16, "num_layers": 2}, series, static=True)
    add_model("perceiver", "PerceiverModel", {
        "num_latents": 8, "d_latents": 32, "d_model": 16, "num_blocks": 1,
        "num_self_attends_per_block": 2, "num_self_attention_heads": 4,
        "num_cross_attention_heads": 4}, lambda: (torch.randn(2, 20, 16),),
        static=True)


def add_training(name):
    """In training mode, without dropout: random numbers differ."""
    build = MODELS["hf_" + name]

    def without_dropout():
        module, example, options = build()
        for part in module.modules():
            for key, value in list(vars(part).items()):
                if "dropout" in key and isinstance(value, float):
                    setattr(part, key, 0.0)
            if isinstance(part, torch.nn.Dropout):
                part.p = 0.0
        return module, example, {**options, "train": True}

    MODELS[f"hf_{name}_train"] = without_dropout


def add():
    add_first()
    add_decoders()
    add_encoders()
    add_couples()
    add_sounds()
    add_pictures()
    add_series()
    for name in ("bert", "gpt2", "llama", "t5"):
        add_training(name)
