"""Models of torchvision and timm."""

import torch

from model_makers import MODELS, timm_model, torchvision_model

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


def add_videos():
    import torchvision.models.video as video
    for name in ("mc3_18", "r2plus1d_18", "r3d_18"):
        MODELS["tv_" + name] = lambda make=getattr(video, name): (
            make(weights=None), (torch.randn(2, 3, 8, 32, 32),), {})


def add_more():
    for name in ("convnext_small efficientnet_v2_s mobilenet_v3_large "
                 "regnet_y_400mf resnext50_32x4d shufflenet_v2_x1_0 swin_v2_t "
                 "wide_resnet50_2").split():
        torchvision_model(name)
    torchvision_model("densenet121", train=True)
    for name in ("cs3darknet_s darknet17 densenet121 ecaresnet26t "
                 "ese_vovnet19b_dw fbnetc_100 hardcorenas_a lcnet_050 "
                 "legacy_seresnet18 mnasnet_050 regnety_002 res2next50 "
                 "resnest14d resnetv2_50 rexnet_100 selecsls42 semnasnet_050 "
                 "seresnet18 skresnet18 spnasnet_100 tinynet_e").split():
        timm_model(name, 64)
    for name in ("coatnet_nano_rw_224 convit_tiny davit_tiny "
                 "deit3_small_patch16_224 efficientvit_m0 fasternet_t0 "
                 "focalnet_tiny_srf gcvit_xxtiny hiera_tiny_224 "
                 "inception_next_tiny mambaout_femto mvitv2_tiny nest_tiny "
                 "pit_ti_224 pvt_v2_b0 repghostnet_050 repvit_m1 sequencer2d_s "
                 "shvit_s1 starnet_s1 swiftformer_xs swinv2_cr_tiny_224 "
                 "tiny_vit_5m_224 tnt_s_patch16_224 twins_svt_small "
                 "visformer_tiny vit_small_patch16_rope_224 vitamin_small_224 "
                 "volo_d1_224").split():
        timm_model(name, 224)
    for name in ("crossvit_tiny_240",):
        timm_model(name, 240)
    for name in ("botnet26t_256 eca_botnext26ts_256 gcresnext26ts halonet26t "
                 "haloregnetz_b lambda_resnet26t maxxvit_rmlp_nano_rw_256 "
                 "mobilenetv4_conv_small mobilevitv2_050").split():
        timm_model(name, 256)
    timm_model("eva02_tiny_patch14_224", 224)
    timm_model("xception41", 299)


def add():
    add_torchvision()
    add_timm()
    add_videos()
    add_more()
