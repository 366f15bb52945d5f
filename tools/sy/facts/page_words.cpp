#include "tools/sy/facts/page_words.h"

#include <algorithm>
#include <iterator>

namespace sy::tools {

namespace {

struct Shown {
  std::string_view name, words;
};

// The entries are in order.
constexpr Shown kShown[] = {
    {"_adaptive_avg_pool3d_backward", "1x1x1x2x2 1x1x1x4x4"},
    {"_batch_norm_with_update", "4x3 3 3 3! 3! 0.1 1e-5"},
    {"_convolution_double_backward",
     "1x1x3 1x1x2 1 1x1x2 1x1x2 1x1x3 1 0 1 False 0 1 True,True,True"},
    {"_ctc_loss", "3x1x3*-2 1x1:i=1 3 1"},
    {"_embedding_bag", "3x2 3:i=0,2,1 2:i=0,2"},
    {"_embedding_bag_forward_only", "3x2 3:i=0,2,1 2:i=0,2"},
    {"_grid_sampler_grads", "1x1x2x2 1x1x2x2 1x2x2x2 0 0 False True,True"},
    {"_group_norm_backward",
     "1x2x2 None None 1x2x2 1x1! 1x1! 2 1 True,True,True"},
    {"_group_norm_grads", "1x2x2 None None 1x2x2 1x1! 1x1! 2 1 True,True,True"},
    {"_linalg_det", "2x2=3,1,1,2"},
    {"_linalg_solve_ex", "2x2=3,1,1,2 2x1"},
    {"_lstm_layer", "2x1x2 1x2 1x2 8x2 8x2 8 8 False"},
    {"_lstm_steps", "2x1x8 1x2 1x2 8x2 False"},
    {"_lstm_steps_backward",
     "2x1x2 1x2 1x2 None None 1x2 1x2 8x2 2x1x2 2x1x8 2x1x2 False"},
    {"_native_multi_head_attention", "1x2x2 1x2x2 1x2x2 2 1 6x2 6 2x2 2"},
    {"_scaled_dot_product_attention_math", "1x1x2x3 1x1x2x3 1x1x2x3"},
    {"_scaled_dot_product_flash_attention_for_cpu", "1x1x2x3 1x1x2x3 1x1x2x3"},
    {"_scaled_dot_product_flash_attention_for_cpu_backward",
     "1x1x2x2 1x1x2x2 1x1x2x2 1x1x2x2 1x1x2x2 1x1x2 0 False"},
    {"_slow_conv2d_backward.output_mask",
     "1x1x2x2 1x1x3x3 1x1x2x2 2,2 1,1 0,0 True,True,True"},
    {"_transform_bias_rescale_qkv", "1x2x6 6 1"},
    {"_upsample_bicubic2d_aa", "1x1x4x4 2,2 False"},
    {"_upsample_bicubic2d_aa_backward", "1x1x2x2 2,2 1,1,4,4 False"},
    {"_upsample_bilinear2d_aa", "1x1x4x4 2,2 False"},
    {"_upsample_bilinear2d_aa_backward", "1x1x2x2 2,2 1,1,4,4 False"},
    {"_upsample_lanczos2d_aa", "1x1x5x5 3,3 False"},
    {"_upsample_lanczos2d_aa_backward", "1x1x2x2 2,2 1,1,4,4 False"},
    {"_upsample_nearest_exact1d", "1x2x3 6"},
    {"_upsample_nearest_exact2d", "1x1x2x2 4,4"},
    {"_upsample_nearest_exact2d_backward", "1x1x4x4 4,4 1,1,2,2"},
    {"_upsample_nearest_exact3d", "1x1x1x2x2 1,4,4"},
    {"_upsample_nearest_exact3d_backward", "1x1x1x4x4 1,4,4 1,1,1,2,2"},
    {"adaptive_max_pool1d", "1x2x5 2"},
    {"adaptive_max_pool2d", "1x1x4x4 2,2"},
    {"adaptive_max_pool3d", "1x1x2x4x4 1,2,2"},
    {"adaptive_max_pool3d_backward",
     "1x1x1x2x2 1x1x1x4x4 1x1x1x2x2:i=1,3,8,15"},
    {"affine_grid_generator", "1x2x3 1,1,2,2 True"},
    {"avg_pool3d_backward",
     "1x1x1x2x2 1x1x1x4x4 1,2,2 1,2,2 0,0,0 False True None"},
    {"binary_cross_entropy", "4 4=1,0,0,1"},
    {"binary_cross_entropy_with_logits", "4 4=1,0,0,1"},
    {"clamp", "2x3 -1 1"},
    {"clip", "2x3 -1 1"},
    {"conv2d", "1x1x3x3 1x1x2x2"},
    {"conv3d", "1x1x2x2x2 1x1x2x2x2"},
    {"conv_tbc", "3x1x2 2x2x1 1"},
    {"conv_tbc_backward", "2x1x1 3x1x2 2x2x1 1 0"},
    {"conv_transpose2d.input", "1x1x2x2 1x1x2x2"},
    {"conv_transpose3d.input", "1x1x1x2x2 1x1x1x2x2"},
    {"convolution_backward",
     "1x1x2 1x1x3 1x1x2 1 1 0 1 False 0 1 True,True,True"},
    {"cross_entropy_loss", "2x3 2:i3"},
    {"embedding_bag", "3x2 3:i=0,2,1 2:i=0,2"},
    {"embedding_renorm_", "3x2 2:i=0,2 1 2"},
    {"fill_diagonal_", "3x3 9"},
    {"fractional_max_pool2d", "1x1x5x5 2,2 3,3 1x1x2!"},
    {"fractional_max_pool3d", "1x1x3x5x5 2,2,2 1,2,2 1x1x3!"},
    {"fractional_max_pool3d_backward",
     "1x1x1x2x2 1x1x1x4x4 1,2,2 1,2,2 1x1x1x2x2:i=1,3,8,15"},
    {"grid_sampler_2d_backward", "1x1x2x2 1x1x2x2 1x2x2x2 0 0 False True,True"},
    {"gru.input", "2x1x2 1x1x2 {6x2;6x2;6;6} True 1 0 False False False"},
    {"hinge_embedding_loss", "4 4=1,-1,-1,1"},
    {"histc", "6 4 -2 3"},
    {"kl_div", "2x3*-2 2x3"},
    {"linalg_tensorinv", "2x1x2=4,1,1,3 2"},
    {"logical_and", "6:b 6:b"},
    {"logical_or", "6:b 6:b"},
    {"logical_xor", "6:b 6:b"},
    {"lstm.input",
     "2x1x2 {1x1x2;1x1x2} {8x2;8x2;8;8} True 1 0 False False False"},
    {"margin_ranking_loss", "3 3 3=1,-1,1"},
    {"max_pool1d_with_indices", "1x2x6 3 2"},
    {"max_pool2d", "1x1x4x4 2,2"},
    {"max_pool2d_with_indices", "1x1x4x4 2,2"},
    {"max_pool3d_with_indices", "1x1x2x4x4 2,2,2"},
    {"max_pool3d_with_indices_backward",
     "1x1x1x2x2 1x1x1x4x4 1,2,2 1,2,2 0,0,0 1,1,1 False "
     "1x1x1x2x2:i=1,3,8,15"},
    {"mode", "2x4=1,2,2,3,1,3,1,0"},
    {"native_channel_shuffle", "1x4x1x2 2"},
    {"native_group_norm", "1x2x2 2 2 1 2 2 1 1e-5"},
    {"native_group_norm_backward",
     "1x2x2 1x2x2 1x1! 1x1! 2 1 2 2 1 True,True,True"},
    {"nll_loss2d_backward", "s 1x2x2x1! 1x2x1:i2 None 1 -100 s!=2"},
    {"pad_sequence", "{1x2;3x2}"},
    {"pixel_unshuffle", "1x1x2x4 2"},
    {"reflection_pad3d", "1x1x2x3 1,0,1,0,0,0"},
    {"replication_pad3d", "1x1x2x3 1,0,1,0,0,0"},
    {"resize_", "2x3 2,2"},
    {"resize_as_", "2x3 2x2"},
    {"rnn_relu.input", "2x1x2 1x1x2 {2x2;2x2;2;2} True 1 0 False False False"},
    {"rnn_tanh.input", "2x1x2 1x1x2 {2x2;2x2;2;2} True 1 0 False False False"},
    {"scaled_dot_product_attention", "1x1x2x3 1x1x2x3 1x1x2x3"},
    {"searchsorted.Tensor", "5=1,3,5,7,9 3=3,6,9"},
    {"set_.source_Tensor", "2x3! 4!"},
    {"slow_conv3d", "1x1x2x2x2 1x1x2x2x2 2,2,2 1"},
    {"slow_conv3d_forward", "1x1x2x2x2 1x1x2x2x2 2,2,2 1 1,1,1 0,0,0"},
    {"slow_conv_dilated3d", "1x1x2x2x2 1x1x2x2x2 2,2,2 1"},
    {"slow_conv_transpose2d", "1x1x2x2 1x1x2x2 2,2 1"},
    {"slow_conv_transpose3d", "1x1x1x2x2 1x1x1x2x2 1,2,2 1"},
    {"soft_margin_loss", "4 4=1,-1,-1,1"},
    {"stft", "8 4 return_complex=False"},
    {"topk", "2x3 2"},
    {"transpose_", "2x3 0 1"},
    {"unique_consecutive", "6=1,1,2,2,2,1"},
    {"unique_dim", "3x2=0,1,0,1,2,3 0"},
    {"upsample_bicubic2d", "1x1x3x3 5,5 False"},
    {"upsample_bicubic2d_backward", "1x1x2x2 2,2 1,1,4,4 False"},
    {"upsample_bilinear2d", "1x1x2x2 4,4 True"},
    {"upsample_bilinear2d_backward", "1x1x2x2 2,2 1,1,4,4 False"},
    {"upsample_linear1d", "1x2x3 5 True"},
    {"upsample_nearest1d", "1x2x3 6"},
    {"upsample_nearest2d", "1x1x2x2 4,4"},
    {"upsample_nearest2d_backward", "1x1x4x4 4,4 1,1,2,2"},
    {"upsample_nearest3d", "1x1x1x2x2 1,4,4"},
    {"upsample_nearest3d_backward", "1x1x1x4x4 1,4,4 1,1,1,2,2"},
    {"upsample_trilinear3d", "1x1x1x2x2 1,3,3 True"},
    {"upsample_trilinear3d_backward", "1x1x1x4x4 1,4,4 1,1,1,2,2 False"},
};
static_assert(std::is_sorted(std::begin(kShown), std::end(kShown),
                             [](const Shown& a, const Shown& b) {
                               return a.name < b.name;
                             }));

}  // namespace

std::string shown_words(std::string_view name) {
  const auto at = std::lower_bound(
      std::begin(kShown), std::end(kShown), name,
      [](const Shown& s, std::string_view n) { return s.name < n; });
  return at != std::end(kShown) && at->name == name ? std::string(at->words)
                                                    : "";
}

}  // namespace sy::tools
