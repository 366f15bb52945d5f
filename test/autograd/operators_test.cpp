#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "aten/ops/factory.h"
#include "aten/ops/special.h"
#include "aten/tensor.h"
#include "autograd/gradcheck.h"
#include "c10/schema/function_schema.h"
#include "tools/sy/words.h"

// Every operator of the library that has a derivative, against finite
// differences in float64: the first order by every element, the second in a
// random direction. A new operator is checked
// with the arguments that its signature suggests; where those do not do (other
// sizes, a domain, indices), it needs a line in kArguments.

namespace sy {
namespace {

struct Line {
  std::string_view op;  // several lines: all are checked
  std::string_view arguments;
};

// See tools/sy/words.h for the notation.
constexpr Line kArguments[] = {
    {"round.decimals", "2x3 1"},
    {"round_.decimals", "2x3 1"},
    {"stft", "12 6 2 4 4 True None False"},
    {"stft.center", "2x12 6 None None None True reflect False None False"},
    // activation
    {"rrelu", "2x3"},
    {"relu", "2x3"},
    {"relu", "2x3*-1"},
    {"threshold_backward", "2x3 2x3! 0.6"},
    {"gelu", "2x3 tanh"},
    {"gelu", "2x3+-0.5 none"},
    {"gelu_backward", "2x3 2x3 tanh"},
    {"gelu_backward", "2x3 2x3 none"},
    {"threshold", "2x3 0.6 2"},
    {"softplus", "2x3 2 1.2"},
    {"softplus", "2x3*-3"},
    {"leaky_relu", "2x3*-1 0.2"},
    {"leaky_relu", "2x3"},
    {"elu", "2x3*-1 1.5 2 0.7"},
    {"elu", "2x3"},
    {"selu", "2x3*-1"},
    {"hardtanh", "2x3 0.4 0.7"},
    {"hardtanh_", "2x3 0.4 0.7"},
    {"hardsigmoid", "3=-4,1,5"},
    {"hardswish", "3=-4,1,5"},
    {"_softmax", "2x3 1 False"},
    {"_softmax", "2x3x2 -2 False"},
    {"_log_softmax", "2x3 0 False"},
    {"_log_softmax", "3 0 False"},
    {"_softmax_backward_data", "2x3 2x3 1 float64"},
    {"_log_softmax_backward_data", "2x3 2x3 1 float64"},
    {"softmax.int", "2x3 -1"},
    {"log_softmax.int", "2x3 -1"},
    {"elu_backward", "2x3 1.5 2 0.7 False 2x3*-1"},
    {"elu_backward", "2x3 1.5 2 0.7 True 2x3*-1"},
    {"elu_backward", "2x3 1.5 2 0.7 False 3"},
    {"hardshrink_backward", "2x3 2x3! 0.5"},
    {"softshrink_backward", "2x3 2x3! 0.5"},
    {"hardsigmoid_backward", "3 3!=-4,1,5"},
    {"hardswish_backward", "3 3=-4,1,5"},
    {"hardtanh_backward", "2x3 2x3! 0.4 0.7"},
    {"leaky_relu_backward", "2 2!=-1,1 0.2 False"},
    {"log_sigmoid_backward", "2x3 2x3! 2x3!"},
    {"log_sigmoid_forward", "2=-0.4,0.7"},
    {"silu_backward", "2x3 3*-2"},
    {"mish_backward", "2x3 3*-2"},
    {"softplus_backward", "2x3 2x3 2 1.2"},
    {"_prelu_kernel_backward", "2x3 2x1*-1 3"},
    {"_prelu_kernel", "3=-1,2,-0.5 2x1"},
    {"prelu", "2x3x2*-1 3"},
    {"prelu", "2x3*-1 1"},
    {"celu", "3=-1,2,-0.5 1.5"},
    {"hardshrink", "3=-1,0.2,0.9"},
    {"softshrink", "3=-1,0.2,0.9"},
    {"glu", "2x4x3 1"},
    {"glu_backward", "2x2 2x4 -1"},
    {"glu_jvp", "2x2 2x4 2x4 1"},
    // arithmetic
    {"add.Tensor", "2x3 3 2.5"},
    {"add.Tensor", "2x1 s -1"},
    {"sub.Tensor", "2x3 3 2.5"},
    {"mul.Tensor", "2x1 3"},
    {"mul.Tensor", "0x3 3"},
    {"div.Tensor", "2x1 3"},
    {"pow.Tensor_Tensor", "2x1 3"},
    {"pow.Tensor_Scalar", "2x3 3"},
    {"pow.Tensor_Scalar", "2x3 -1.5"},
    {"pow.Tensor_Scalar", "2x3 0"},
    {"remainder.Tensor", "3=5,-7,2.2 3=2,3,-0.7"},
    {"remainder.Scalar", "3=5.5,-7,2.2 2"},
    {"remainder.Scalar_Tensor", "7 3=2,3,-0.8"},
    {"fmod.Tensor", "3=5.5,-7,2.2 3=2,3,-0.7"},
    {"fmod.Scalar", "3=5.5,-7,2.2 2"},
    {"clamp", "2x3 0.4 0.7"},
    {"clamp", "2x3 None 0.5"},
    {"clamp_min", "2x3 0.5"},
    {"clamp_max", "2x3 0.5"},
    {"clamp.Tensor", "2x3 3+-0.2 3+0.2"},
    {"lerp.Tensor", "2x3 3 s"},
    {"addcmul", "2x3 3 2x1 0.5"},
    {"addcdiv", "2x3 3 2x1 0.5"},
    {"where.self", "2x3:b 2x3 3"},
    {"where.ScalarSelf", "2x3:b 0.5 3"},
    {"where.ScalarOther", "2x3:b 3 0.5"},
    {"div.Tensor_mode", "2x3 3 None"},
    // copy, factory
    {"to.device", "2x3 cpu float64"},
    {"to.dtype", "2x3 float64"},
    {"fill_.Tensor", "2x3 s"},
    {"fill.Tensor", "2x3 s"},
    // indexing
    {"index_select", "4x3 0 5:i4"},
    {"index_select", "2x3 -1 2:i3"},
    {"index_add", "4x3 0 2:i4=1,3 2x3"},
    {"gather", "2x3 1 2x4:i3"},
    {"scatter_add", "2x3 1 2x4:i3 2x4"},
    {"embedding", "4x3 2x2:i4"},
    {"embedding_dense_backward", "2x2x3 2x2:i4 4 -1 False"},
    {"masked_fill.Scalar", "2x3 3:b 2"},
    {"masked_fill.Tensor", "2x3 3:b s"},
    // advanced indexing
    {"index.Tensor", "4x3 {2:i4}"},
    {"index.Tensor", "4x3x2 {None;2x2:i3}"},
    {"index.Tensor", "3x4x2 {2:i3;None;2:i2}"},
    {"index.Tensor", "4x3 {4:b}"},
    {"_unsafe_index.Tensor", "4x3 {2:i4;2:i3}"},
    {"index_put", "4x3 {2:i4=1,3} 2x3"},
    {"index_put", "4x3 {2:i4=1,3} 3"},
    {"index_put", "4x3 {2:i4} 2x1 True"},
    {"_unsafe_index_put", "4x3 {2:i4=1,3} 2x3"},
    {"_index_put_impl_", "4x3 {2:i4=1,3} 2x3 False False"},
    {"_index_put_impl", "4x3 {2:i4=1,3} 2x3 False False"},
    {"gather_backward", "2x4 2x3 1 2x4:i3 False"},
    {"_unsafe_masked_index", "4x3 2x3:b {2:i4} 0.5"},
    {"_unsafe_masked_index_put_accumulate", "4x3 2x3:b {2:i4} 2x3"},
    {"take", "2x3 2x2:i6"},
    {"put", "2x3 2:i6=1,4 2"},
    {"put", "2x3 3x1:i6 3 True"},
    {"take_along_dim", "2x3 2x1:i3 1"},
    {"take_along_dim", "2x3 4:i6"},
    {"index_select_backward", "2x3 4,3 0 2:i4"},
    {"masked_select", "2x3 3:b"},
    {"masked_select_backward", "6 2x3 2x3:b"},
    {"masked_scatter", "2x3 3:b 7"},
    {"masked_scatter_backward", "2x3 2x3:b 7"},
    {"repeat_interleave.self_Tensor", "2x3 2:i3 0"},
    {"repeat_interleave.self_int", "2x3 2 1"},
    {"repeat_interleave.self_int", "2x3 2"},
    // scatter
    {"index_copy", "4x3 0 2:i4=1,3 2x3"},
    {"index_fill.int_Scalar", "4x3 0 2:i4 0.5"},
    {"index_fill.int_Tensor", "4x3 0 2:i4=1,1 s"},
    {"index_reduce", "4x3 0 3:i4=1,3,1 3x3 prod"},
    {"index_reduce", "4x3 0 3:i4=1,3,1 3x3 mean"},
    {"index_reduce", "4x3 0 3:i4=1,3,1 3x3 amax"},
    {"index_reduce", "4x3 0 3:i4=1,3,1 3x3 amin False"},
    {"_index_reduce_backward", "4x3 4x3! 0 3:i4=1,3,1 3x3! mean True 4x3!"},
    {"scatter.src", "2x3 1 2x2:i3=0,2,1,0 2x2"},
    {"scatter.value", "2x3 1 2x2:i3 0.5"},
    {"scatter_reduce.two", "2x3 1 2x4:i3 2x4 sum"},
    {"scatter_reduce.two", "2x3 1 2x4:i3 2x4 mean"},
    {"scatter_reduce.two", "2x3 1 2x4:i3 2x4 prod"},
    {"scatter_reduce.two", "2x3 1 2x4:i3 2x4 amax"},
    {"scatter_reduce.two", "2x3 1 2x4:i3 2x4 amin"},
    {"scatter_reduce.two", "2x3 1 2x4:i3 2x4 sum False"},
    {"scatter_reduce.two", "2x3 1 2x4:i3 2x4 mean False"},
    {"scatter_reduce.two", "2x3 1 2x4:i3 2x4 prod False"},
    {"scatter_reduce.two", "2x3 1 2x4:i3 2x4 amax False"},
    {"_scatter_reduce_backward", "2x3 2x3! 1 2x4:i3 2x4! sum True 2x3!"},
    {"select_scatter", "2x3 2 1 0"},
    {"slice_scatter", "5x2 2x2 0 1 5 2"},
    {"diagonal_scatter", "3x4 3 1"},
    {"as_strided_scatter", "6 2x2 2,2 1,2 1"},
    {"fill_diagonal_", "7x3 0.5 True"},
    // linalg
    {"mm", "2x3 3x4"},
    {"bmm", "2x2x3 2x3x2"},
    {"addmm", "4 2x3 3x4 0.5 2"},
    {"addmm_", "2x4 2x3 3x4 0.5 2"},
    {"_addmm_activation", "4 2x3 3x4 0.5 2"},
    {"baddbmm", "2x1x2 2x2x3 2x3x2"},
    {"mv", "2x3 3"},
    {"dot", "3 3"},
    {"outer", "2 3"},
    {"ger", "2 3"},
    {"matmul", "2x3 3"},
    {"matmul", "2x2x3 3x2"},
    {"matmul", "3 3x2"},
    {"linear", "2x3 4x3 4"},
    {"linear", "2x2x3 4x3"},
    // loss
    {"mse_loss", "2x3 2x3"},
    {"mse_loss", "2x3 2x3 0"},
    {"l1_loss", "2x3 2x3 2"},
    {"nll_loss_forward", "3x4 3:i4 4! 1 -100"},
    {"nll_loss_forward", "3x4 3:i4 None 0 2"},
    {"nll_loss_backward", "s 3x4! 3:i4 None 1 -100 s!=3"},
    {"nll_loss", "3x4 3:i4 4! 2"},
    {"cross_entropy_loss", "3x4 3:i4"},
    {"cross_entropy_loss", "3x4 3:i4 None Mean -100 0.1"},
    {"mse_loss_backward", "s 2x3 2x3 1"},
    {"mse_loss_backward", "2x3 2x3 2x3 0"},
    {"smooth_l1_loss", "4=0.1,2,-3,0.4 4=0.3,0.5,0.2,-0.2"},
    {"smooth_l1_loss", "2x3 3 0 0.1"},
    {"smooth_l1_loss_backward", "s 4=0.1,2,-3,0.4 4=0.3,0.5,0.2,-0.2 1 1"},
    {"_smooth_l1", "4=0.1,2,-3,0.4 4=0.3,0.5,0.2,-0.2 1"},
    {"_smooth_l1_backward", "4 4=0.1,2,-3,0.4 4=0.3,0.5,0.2,-0.2 1"},
    {"huber_loss", "4=0.1,2,-3,0.4 4=0.3,0.5,0.2,-0.2 2 0.7"},
    {"huber_loss_backward", "s 4=0.1,2,-3,0.4 4=0.3,0.5,0.2,-0.2 1 1"},
    {"_huber", "4=0.1,2,-3,0.4 4=0.3,0.5,0.2,-0.2 1"},
    {"_huber_backward", "4 4=0.1,2,-3,0.4 4=0.3,0.5,0.2,-0.2 1"},
    {"binary_cross_entropy", "2x3 2x3 2x3!"},
    {"binary_cross_entropy", "2x3 2x3 None 0"},
    {"binary_cross_entropy_backward", "s 2x3 2x3 2x3! 1"},
    {"binary_cross_entropy_with_logits", "2x3 2x3 3 3 2"},
    {"binary_cross_entropy_with_logits", "2x3 2x3"},
    {"soft_margin_loss", "2x3 3"},
    {"soft_margin_loss_backward", "s 2x3 2x3 1"},
    {"hinge_embedding_loss", "4=0.1,2,0.5,-3 4!=1,-1,-1,1 0.9"},
    {"margin_ranking_loss", "2=0.1,2 2=0.3,0.5 2!=1,-1 0.4 0"},
    {"cosine_embedding_loss", "2x3 2x3*-1 2!=1,-1 -0.99"},
    {"kl_div", "2x3 2x3 2 True"},
    {"kl_div", "2x3 3"},
    {"poisson_nll_loss", "2x3 2x3+1 True True 0.1 1"},
    {"poisson_nll_loss", "2x3 2x3 False False 0.1 2"},
    {"multilabel_margin_loss_forward", "2x3*9 2x3:i3=1,-1,0,0,2,-1 1"},
    {"multilabel_margin_loss", "2x3*9 2x3:i3=1,-1,0,0,2,-1 0"},
    {"multi_margin_loss", "2x3*9 2:i3"},
    {"multi_margin_loss", "2x3 2:i3 2 0.4 3! 0"},
    {"nll_loss2d_forward", "2x3x2x1 2x2x1:i3 3! 1 -100"},
    {"nll_loss2d_forward", "2x3x2x1 2x2x1:i3 None 0 2"},
    {"nll_loss2d_backward", "s 2x3x2x1! 2x2x1:i3 None 1 -100 s!=4"},
    {"nll_loss2d", "2x3x2x1 2x2x1:i3 3! 2"},
    {"nll_loss_nd", "2x3x2 2x2:i3"},
    // foreach
    {"_foreach_mm", "{2x3;1x2} {3x2;2x3}"},
    {"_foreach_add.Tensor", "{2x3;3} s"},
    {"_foreach_mul.Tensor", "{2x3;3} s"},
    {"_foreach_div.Tensor", "{2x3;3} s"},
    {"_foreach_addcmul.Tensor", "{2x3;3} {2x3;3} {2x3;3} 2!"},
    {"_foreach_addcdiv.Tensor", "{2x3;3} {2x3;3} {2x3;3} 2!"},
    // calculus
    {"diff", "2x3"},
    {"diff", "2x4 2 1 2x1 2x1"},
    {"gradient.scalarint", "3x4"},
    {"gradient.scalarint", "2x3 0.5 1 2"},
    {"gradient.scalararray", "3x4 0.5 0,1 1"},
    {"gradient.array", "3x4 0,1"},
    {"gradient.tensorarrayint", "2x3 {3=1,2,4} 1 2"},
    {"gradient.tensorarray", "3x4 {3=1,2,4;4=0,1,3,4} 0,1"},
    {"trapezoid.x", "2x3 3=1,2,4"},
    {"trapezoid.dx", "2x3 0.5 0"},
    {"trapz.x", "2x3 3=1,2,4"},
    {"trapz.dx", "2x3 0.5"},
    {"cumulative_trapezoid.x", "2x3 3=1,2,4"},
    {"cumulative_trapezoid.dx", "2x3 0.5 0"},
    // math
    {"acosh", "2x3+1"},
    {"frac", "2x3+1"},
    {"copysign.Tensor", "3=1,-2,3 3=-1,2,3"},
    {"sgn", "2x3"},
    // norm
    {"linalg_vector_norm", "2x3 3 1"},
    {"linalg_vector_norm", "2x3 1.5 0,1 True"},
    {"_vector_norm_2", "2x3 1 True None"},
    {"_vector_norm_1", "2x3 0 False None"},
    {"_vector_norm_0", "2x3 0 False None"},
    {"_vector_norm_max", "2x3 1 False None"},
    {"_vector_norm_min", "2x3 None False None"},
    {"_vector_norm_p", "2x3*-1 2.5 1 False None"},
    {"norm.Scalar", "2x3 3"},
    {"norm.ScalarOpt_dim", "2x3 None 1"},
    {"norm.ScalarOpt_dtype", "2x3 3 float64"},
    {"norm.ScalarOpt_dim_dtype", "2x3 3 1 True float64"},
    {"dist", "2x3 3+1 3"},
    {"renorm", "2x3 2 0 0.5"},
    // reduction
    {"sum.dim_IntList", "2x3x2 1 True"},
    {"sum.dim_IntList", "2x3 0,-1"},
    {"sum.dim_IntList", "2x3 []"},
    {"mean.dim", "2x3x2 0,2"},
    {"mean.dim", "2x3 1 True"},
    {"mean", "s"},
    {"amax", "2x3 1"},
    {"amax", "3=1,2,1.5 []"},
    {"amin", "2x3 0 True"},
    {"logsumexp", "2x3 1"},
    {"logsumexp", "2x3 0,1 True"},
    {"var.correction", "2x3 1 1 True"},
    {"var.dim", "2x3 1 False"},
    {"prod.dim_int", "2x3 1"},
    // scan
    {"cumsum", "2x3 1"},
    {"cumsum", "2x3 0"},
    {"cumprod", "2x3 1"},
    {"cumprod_backward", "2x3 2x3 1 2x3"},
    {"logcumsumexp", "2x3 1"},
    {"_logcumsumexp", "2x3 0"},
    {"logcumsumexp_backward", "2x3 2x3 2x3 1"},
    {"cummax", "2x3 1"},
    {"cummin", "2x3 0"},
    {"cummaxmin_backward", "2x3 2x3! 2x3:i3 1"},
    // sort
    {"sort", "2x3 0"},
    {"sort.stable", "2x3 True -1 True"},
    {"msort", "2x3"},
    {"topk", "2x3 2 1 False"},
    {"kthvalue", "2x3 2"},
    {"median.dim", "2x3 1"},
    {"nanmedian.dim", "2x3 0 True"},
    {"mode", "2x3 1"},
    {"value_selecting_reduction_backward", "2 1 2:i3 2,3 False"},
    {"max.dim", "2x3 1"},
    {"min.dim", "2x3 0 True"},
    // statistics
    {"nansum", "2x3 1"},
    {"nanmean", "2x3 1"},
    {"trace", "3x3"},
    {"trace_backward", "s 2,3"},
    {"sum_to_size", "2x3 1,3"},
    {"quantile", "2x3 2 1"},
    {"quantile.scalar", "2x3 0.3 0 True midpoint"},
    {"nanquantile", "2x3 2"},
    {"nanquantile.scalar", "2x3 0.3 1 False nearest"},
    {"aminmax", "2x3 1"},
    {"_aminmax_dims", "2x3 0,1 True"},
    {"_aminmax.dim", "2x3 1"},
    // variance
    {"_var_mean", "2x3 1 1 True"},
    {"_std_mean", "2x3 0,1 0.5 False"},
    {"std.correction", "2x3 1 0"},
    {"std.dim", "2x3 1 False"},
    {"var_mean.correction", "2x3 1"},
    {"var_mean.dim", "2x3 0"},
    {"std_mean.correction", "2x3 1"},
    {"std_mean.dim", "2x3 0"},
    // shape
    {"reshape", "2x3 3,2"},
    {"_unsafe_view", "2x3 6"},
    {"flatten.using_ints", "2x3x2 1"},
    {"unflatten.int", "6x2 0 2,3"},
    {"cat", "{2x3;1x3;2x3!} 0"},
    {"cat", "{2x1;2x2} -1"},
    {"concat", "{2x3;1x3}"},
    {"stack", "{2x3;2x3} 1"},
    {"repeat", "2x3 2,1,3"},
    {"flip", "2x3 0,1"},
    {"tril", "3x3 -1"},
    {"triu", "2x3 1"},
    {"reshape_as", "2x3 3x2"},
    // view
    {"view", "2x3 3,2"},
    {"as_strided", "6 2,2 1,2 1"},
    {"as_strided", "6 3,3 1,1"},
    {"transpose.int", "2x3x2 0 -1"},
    {"t", "2x3"},
    {"permute", "2x3x2 2,0,1"},
    {"select.int", "2x3 1 -1"},
    {"slice.Tensor", "5x2 0 1 5 2"},
    {"unsqueeze", "2x3 1"},
    {"squeeze", "2x1x3x1"},
    {"squeeze.dim", "2x1x3 1"},
    {"squeeze.dims", "2x1x3x1 1,3"},
    {"expand", "2x1 3,2,4"},
    {"diagonal", "3x4 1"},
    {"unfold", "5x2 0 3 1"},
    {"unbind.int", "2x3 1"},
    {"split.Tensor", "5x2 2"},
    {"split_with_sizes", "5x2 2,3"},
    {"split.sizes", "5x2 2,3"},
    {"chunk", "5x2 3"},
    {"narrow", "5x2 0 1 2"},
    {"movedim.intlist", "2x3x2 0,1 2,0"},
    {"movedim.int", "2x3x2 0 2"},
    {"swapaxes", "2x3 0 1"},
    {"expand_as", "3 2x3"},
    {"view_as", "2x3 3x2"},
    {"select_backward", "2 2,3 1 0"},
    {"slice_backward", "2x2 5,2 0 1 5 2"},
    {"diagonal_backward", "3 3,4 1 0 1"},
    {"unfold_backward", "3x2x3 5,2 0 3 1"},
    {"_restore_dims", "2 3 0,2 False"},
    // view_copy, view_inplace, view_alias
    {"as_strided_copy", "6 2,2 1,2 1"},
    {"diagonal_copy", "3x4 1"},
    {"expand_copy", "2x1 3,2,4"},
    {"permute_copy", "2x3x2 2,0,1"},
    {"select_copy.int", "2x3 1 -1"},
    {"slice_copy.Tensor", "5x2 0 1 5 2"},
    {"narrow_copy", "5x2 0 1 2"},
    {"squeeze_copy.dim", "2x1x3 1"},
    {"squeeze_copy.dims", "2x1x3x1 1,3"},
    {"transpose_copy.int", "2x3x2 0 -1"},
    {"unfold_copy", "5x2 0 3 1"},
    {"unsqueeze_copy", "2x3 1"},
    {"view_copy", "2x3 3,2"},
    {"_reshape_copy", "2x3 3,2"},
    {"_reshape_alias_copy", "2x3 3,2 2,1"},
    {"split_copy.Tensor", "5x2 2"},
    {"split_with_sizes_copy", "5x2 2,3"},
    {"transpose_", "2x3x2 0 -1"},
    {"_reshape_alias", "2x3 3,2 2,1"},
    {"_reshape_from_tensor", "6 2:i4=2,3"},
    {"swapdims", "2x3 0 1"},
    {"moveaxis.intlist", "2x3x2 0,1 2,0"},
    {"moveaxis.int", "2x3x2 0 2"},
    {"broadcast_to", "2x1 3,2,4"},
    {"broadcast_tensors", "{2x1;3}"},
    {"atleast_1d", "s"},
    {"atleast_2d", "3"},
    {"atleast_3d", "3"},
    {"atleast_3d", "2x3"},
    {"atleast_1d.Sequence", "{s;2x3}"},
    {"atleast_2d.Sequence", "{s;3}"},
    {"atleast_3d.Sequence", "{3;2x3}"},
    {"narrow.Tensor", "5x2 0 s:i4=1 2"},
    // splitting, stacking
    {"tensor_split.sections", "5x2 2"},
    {"tensor_split.indices", "5x2 1,3"},
    {"tensor_split.tensor_indices_or_sections", "5x2 2:i4=1,3"},
    {"hsplit.int", "2x4 2"},
    {"hsplit.array", "2x4 1,3"},
    {"vsplit.int", "4x2 2"},
    {"vsplit.array", "4x2 1,3"},
    {"dsplit.int", "2x1x4 2"},
    {"dsplit.array", "2x1x4 1"},
    {"unsafe_chunk", "5x2 3"},
    {"unsafe_split.Tensor", "5x2 2"},
    {"unsafe_split_with_sizes", "5x2 2,3"},
    {"_stack", "{2x3;2x3} 1"},
    {"concatenate", "{2x3;1x3}"},
    {"hstack", "{2;3}"},
    {"hstack", "{2x1;2x3}"},
    {"vstack", "{2x3;3}"},
    {"row_stack", "{2x3;3}"},
    {"dstack", "{2x3;2x3}"},
    {"column_stack", "{2;2x3}"},
    {"meshgrid", "{2;3}"},
    {"meshgrid.indexing", "{2;3} xy"},
    {"cartesian_prod", "{2;3}"},
    {"combinations", "4 2"},
    {"combinations", "3 2 True"},
    {"flatten_dense_tensors", "{2x3;4}"},
    {"unflatten_dense_tensors", "10 {2x3!;4!}"},
    {"pad_sequence", "{2x3;4x3}"},
    {"pad_sequence", "{2;3} True 0.5 left"},
    // rearranging, padding
    {"roll", "2x3 2"},
    {"roll", "3x4 1,-2 0,1"},
    {"rot90", "2x3 -1 1,0"},
    {"rot90", "2x3 2"},
    {"tile", "2x3 2,1,2"},
    {"diag", "3 1"},
    {"diag", "3x4 -1"},
    {"diag_embed", "2x3 1"},
    {"copy", "2x3 3"},
    {"constant_pad_nd", "2x3 1,2,-1,1 0.5"},
    {"pad", "2x3x4 1,2 reflect"},
    {"pad", "2x3x4 1,2 circular"},
    {"_pad_enum", "2x4 1,2 1"},
    {"_pad_circular", "2x3x4 1,2,-1,1"},
    {"reflection_pad1d", "2x4 1,2"},
    {"reflection_pad1d_backward", "2x7 2x4! 1,2"},
    {"reflection_pad2d", "2x3x4 -1,2,1,0"},
    {"reflection_pad2d_backward", "2x4x5 2x3x4! -1,2,1,0"},
    {"reflection_pad3d", "1x2x3x2 1,0,1,1,0,1"},
    {"reflection_pad3d_backward", "1x3x5x3 1x2x3x2! 1,0,1,1,0,1"},
    {"replication_pad1d", "2x4 1,2"},
    {"replication_pad1d_backward", "2x7 2x4! 1,2"},
    {"replication_pad2d", "2x3x4 -1,2,1,0"},
    {"replication_pad2d_backward", "2x4x5 2x3x4! -1,2,1,0"},
    {"replication_pad3d", "1x2x3x2 1,0,1,1,0,1"},
    {"replication_pad3d_backward", "1x3x5x3 1x2x3x2! 1,0,1,1,0,1"},
    // special functions, numbers and second names
    {"polygamma", "2 2x3"},
    {"polygamma_", "2x3 2"},
    {"special_polygamma", "1 2x3"},
    {"mvlgamma", "2x3+1 3"},
    {"special_multigammaln", "2x3+1 3"},
    {"igamma", "2x3! 2x3"},
    {"igamma", "2x3+3! 2x3+1"},
    {"igammac", "2x3! 2x3"},
    {"special_gammainc", "2x3! 2x3"},
    {"special_gammaincc", "2x3! 2x3"},
    {"special_zeta", "2x3+1! 2x3"},
    {"special_zeta.self_scalar", "2.5 2x3"},
    {"special_xlog1py.self_scalar", "2.5 2x3"},
    {"special_xlog1py.other_scalar", "2x3 2.5"},
    {"special_xlogy.self_scalar", "2.5 2x3"},
    {"special_xlogy.other_scalar", "2x3 2.5"},
    {"special_entr", "2x3"},
    {"special_i1", "3=-2,0.5,30"},
    {"special_i1e", "3=-2,0.5,30"},
    {"special_bessel_j1", "3=-2,0.5,30"},
    {"special_log_ndtr", "4=-30,-0.7,0.4,3"},
    {"special_logsumexp", "2x3 1"},
    {"special_round", "2x3 1"},
    {"special_logit", "2x3 0.4"},
    {"logit", "2x3"},
    {"logit", "2x3 0.4"},
    {"logit_backward", "2x3 2x3 0.4"},
    {"logit_backward", "2x3 2x3"},
    {"_replace_nonfinite", "2x3 1 2 3"},
    {"nan_to_num", "2x3 1"},
    {"float_power.Scalar", "2.5 2x3"},
    {"float_power.Tensor_Scalar", "2x3 2.5"},
    {"float_power_.Scalar", "2x3 2.5"},
    {"nextafter", "2x3 3"},
    {"arccosh", "2x3+1"},
    {"clip", "2x3 0.4 0.7"},
    {"clip.Tensor", "2x3 3+-0.2 3+0.2"},
    {"divide.Tensor_mode", "2x3 3 None"},
    {"divide.Scalar_mode", "2x3 3 None"},
#include "test/autograd/operators_linalg.inc"
#include "test/autograd/operators_nn.inc"
};

// Checked to first order only, and why. Of the second there is an error.
constexpr Line kFirstOrder[] = {
    {"embedding_bag", "its derivative has none"},
    {"_embedding_bag", "its derivative has none"},
    {"scaled_dot_product_attention", "its derivative has none"},
    {"_scaled_dot_product_flash_attention_for_cpu", "its derivative has none"},
    {"multi_margin_loss", "its derivative has none"},
    {"multilabel_margin_loss", "its derivative has none"},
    {"multilabel_margin_loss_forward", "its derivative has none"},
    {"segment_reduce", "its derivative has none"},
};

// Not checked, and why.
constexpr Line kExceptions[] = {
    {"_not_implemented", "is an error"},
    {"special_zeta.other_scalar", "not implemented"},
    {"linalg_ldl_factor", "not differentiable, as in PyTorch"},
    {"_batch_norm_double_backward", "checked by native_batch_norm, twice"},
    {"linalg_cholesky_ex", "reads one triangle: linalg_test.cpp"},
    {"linalg_cholesky", "reads one triangle: linalg_test.cpp"},
    {"_linalg_eigh", "reads one triangle: linalg_test.cpp"},
    {"linalg_eigh", "reads one triangle: linalg_test.cpp"},
    {"linalg_eigvalsh", "reads one triangle: linalg_test.cpp"},
    {"linalg_matrix_sqrth", "reads one triangle: linalg_test.cpp"},
    {"_solve_sylvester", "reads one triangle: linalg_test.cpp"},
    {"_polar_backward", "reads one triangle: linalg_test.cpp"},
    {"_linalg_slogdet", "factors beside it: linalg_slogdet"},
    {"lu_unpack", "int32 pivots: linalg_lu"},
    {"linalg_lu_solve", "int32 pivots: linalg_test.cpp"},
    {"lu_solve", "int32 pivots: linalg_test.cpp"},
    {"_lu_factor_backward", "int32 pivots: linalg_lu_factor_ex"},
    {"_lu_solve_backward", "int32 pivots: linalg_test.cpp"},
    {"_solve_backward", "int32 pivots: linalg_solve"},
    {"_det_backward", "int32 pivots: linalg_det"},
    {"_slogdet_backward", "int32 pivots: linalg_slogdet"},
    {"linalg_matrix_rank", "counts"},
    {"linalg_matrix_rank.atol_rtol_float", "counts"},
    {"linalg_matrix_rank.atol_rtol_tensor", "counts"},
    {"linalg_matrix_rank.tol_tensor", "counts"},
    {"__and__", "integers only"},
    {"__iand__", "integers only"},
    {"__or__", "integers only"},
    {"__ior__", "integers only"},
    {"__xor__", "integers only"},
    {"__ixor__", "integers only"},
    {"__lshift__", "integers only"},
    {"__ilshift__", "integers only"},
    {"__rshift__", "integers only"},
    {"__irshift__", "integers only"},
    {"greater", "bool results"},
    {"greater_", "truth values"},
    {"greater_equal", "bool results"},
    {"greater_equal_", "truth values"},
    {"less", "bool results"},
    {"less_", "truth values"},
    {"less_equal", "bool results"},
    {"less_equal_", "truth values"},
    {"not_equal", "bool results"},
    {"not_equal_", "truth values"},
    {"_foreach_zero", "does not depend on its argument"},
    {"pin_memory", "needs a device that pins"},
    {"_pin_memory", "needs a device that pins"},
    {"ctc_loss", "of normalized numbers only: loss_sequence_test"},
    {"_ctc_loss", "of normalized numbers only: loss_sequence_test"},
    {"_ctc_loss_backward", "none"},
    {"histogramdd", "counts"},
    {"one_hot", "int64 results"},
    {"all", "bool results"},
    {"_is_all_true", "bool results"},
    {"_is_any_true", "bool results"},
    {"isin", "bool results"},
    {"argsort", "int64 results"},
    {"argwhere", "int64 results"},
    {"bucketize", "int64 results"},
    {"count_nonzero", "int64 results"},
    {"nonzero_numpy", "int64 results"},
    {"where.", "int64 results"},
    {"gradient.scalarrayint", "the notation has no lists of numbers"},
    {"gradient.scalarrayarray", "the notation has no lists of numbers"},
    {"any", "bool results"},
    {"isclose", "bool results"},
    {"isreal", "bool results"},
    {"zero", "does not depend on its argument"},
    {"detach_", "without a history by intent"},
    {"detach_copy", "without a history by intent"},
    {"view_copy.dtype", "sees memory as other numbers"},
};

// Lines name overloads ("where." is the one without a name), or all overloads
// of a name.
template <size_t N>
bool lists(const Line (&lines)[N], const std::string& name) {
  return std::any_of(std::begin(lines), std::end(lines), [&](const Line& l) {
    return l.op == name || l.op == name + "." ||
           l.op == name.substr(0, name.find('.'));
  });
}

// "add.Tensor" of "aten::add.Tensor"; of add_.Tensor too if `functional`.
std::string short_name(OperatorHandle op, bool functional) {
  const OperatorName& n = op.schema().name();
  std::string name =
      functional ? n.functional_name() : std::string(n.name.view());
  if (!n.overload.empty()) name += "." + std::string(n.overload.view());
  return name;
}

// The lines of an operator, or of the one whose in-place form it is.
std::vector<std::string_view> lines_of(OperatorHandle op) {
  std::vector<std::string_view> found;
  for (const bool functional : {false, true}) {
    const std::string name = short_name(op, functional);
    for (const Line& l : kArguments) {
      if (l.op == name) found.push_back(l.arguments);
    }
    if (!found.empty()) return found;
  }
  if (tools::signature_suffices(op)) found.push_back("");
  return found;
}

bool gives_tensors(OperatorHandle op) {
  const auto returns = op.schema().returns();
  return std::any_of(returns.begin(), returns.end(),
                     [](const Return& r) { return r.type.is_tensor_like(); });
}

// With the arguments that a line gives, some do not.
bool draws(OperatorHandle op) {
  return op.entry().has_flag(OperatorDef::kRandom) &&
         !lists(kArguments, short_name(op, true));
}

std::vector<OperatorHandle> differentiable_operators() {
  std::vector<OperatorHandle> ops;
  for (const OperatorHandle op : Dispatcher::singleton().operators()) {
    if (gives_tensors(op) && op.name().starts_with("aten::") &&
        op.entry().has_flag(OperatorDef::kDifferentiable) &&
        !op.schema().is_out() && !draws(op) &&
        !lists(kExceptions, short_name(op, false))) {
      ops.push_back(op);
    }
  }
  return ops;
}

// In-place forms do not broadcast self, nor change its dtype; those of views
// change its sizes.
bool is_valid(OperatorHandle op, std::vector<Value> args) {
  if (!op.schema().is_inplace()) return true;
  const NoGradGuard guard;
  const OperatorName& n = op.schema().name();
  std::string name = "aten::" + n.functional_name();
  if (!n.overload.empty()) name += "." + std::string(n.overload.view());
  const auto functional = Dispatcher::singleton().find(name);
  if (!functional.has_value() ||
      !std::equal(functional->schema().arguments().begin(),
                  functional->schema().arguments().end(),
                  op.schema().arguments().begin(),
                  op.schema().arguments().end(),
                  [](const Argument& a, const Argument& b) {
                    return a.type == b.type;
                  }) ||
      functional->schema().returns()[0].alias) {
    return true;
  }
  Value result[1];
  functional->call_boxed(args.data(), args.size(), result, 1);
  return result[0].to_tensor().sizes() == args[0].to_tensor().sizes();
}

// Without a gradient there would be nothing to compare.
bool is_recorded(OperatorHandle op, std::vector<Value> args) {
  for (size_t i = 0; i < args.size(); ++i) {
    if (op.schema().arguments()[i].is_write()) {
      args[i] = Value(TensorBase(Tensor(args[i].to_tensor()).clone()));
    }
  }
  std::vector<Value> results(op.schema().returns().size());
  op.call_boxed(args.data(), args.size(), results.data(), results.size());
  bool recorded = false;
  for (const Value& v : results) {
    for_each_tensor(
        v, [&](const TensorBase& t) { recorded |= Tensor(t).requires_grad(); });
  }
  return recorded;
}

void check(OperatorHandle op, std::string_view arguments) {
  const std::vector<Value> args = tools::parse_arguments(op, arguments);
  if (!is_valid(op, args)) return;
  EXPECT_TRUE(is_recorded(op, args));
  autograd::GradcheckOptions options;
  auto r = autograd::gradcheck_op(op, args.data(), args.size(), options);
  EXPECT_TRUE(r.ok()) << r.problem;
  if (!r.ok()) return;
  options.second_order = options.fast = true;
  if (lists(kFirstOrder, short_name(op, true))) {
    EXPECT_THROW(autograd::gradcheck_op(op, args.data(), args.size(), options),
                 NotImplementedError);
    return;
  }
  r = autograd::gradcheck_op(op, args.data(), args.size(), options);
  EXPECT_TRUE(r.ok()) << r.problem;
}

TEST(Operators, GradientsAreThoseOfFiniteDifferences) {
  const auto ops = differentiable_operators();
  EXPECT_GE(ops.size(), 50u);
  for (const OperatorHandle op : ops) {
    const auto lines = lines_of(op);
    EXPECT_FALSE(lines.empty())
        << op.name() << " needs a line of arguments in kArguments";
    for (const std::string_view arguments : lines) {
      SCOPED_TRACE(std::string(op.name()) + "(" + std::string(arguments) + ")");
      try {
        check(op, arguments);
      } catch (const Error& e) {
        ADD_FAILURE() << e.message();
      }
    }
  }
}

TEST(Operators, ADerivativeThatIsMissingIsAnErrorAndNotZero) {
  const Tensor a = sy::ones({3}).requires_grad_();
  const Tensor x = sy::ones({3}).requires_grad_();
  try {
    sy::igamma(a, x).sum().backward();
    ADD_FAILURE() << "no error";
  } catch (const NotImplementedError& e) {
    EXPECT_NE(std::string(e.what()).find("[igamma] self: the derivative"),
              std::string::npos)
        << e.what();
  }
  sy::igamma(a.detach(), x).sum().backward();
  EXPECT_TRUE(x.grad().defined());
}

TEST(Operators, AsManyNumbersAsTheTensorHas) {
  const auto op = Dispatcher::singleton().find("aten::relu");
  EXPECT_THROW(tools::parse_arguments(*op, "3=1,2"), ValueError);
  EXPECT_EQ(tools::parse_arguments(*op, "2=1,2").size(), 1u);
}

// A line whose operator is gone or was renamed checks nothing.
TEST(Operators, EveryLineIsOfAnOperator) {
  std::vector<std::string> names;
  for (const OperatorHandle op : Dispatcher::singleton().operators()) {
    names.push_back(short_name(op, false));
  }
  for (const Line& l : kArguments) {
    EXPECT_NE(std::find(names.begin(), names.end(), l.op), names.end()) << l.op;
  }
}

}  // namespace
}  // namespace sy
