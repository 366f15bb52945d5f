// Generated from test/codegen/testdata/sample.yaml by sygen. Do not edit.
#pragma once

#include "aten/program/op_desc.h"

namespace sy::desc {

SY_API extern const PointwiseOp mul_Tensor;
SY_API extern const NodeDesc mul_Tensor_node;
SY_API extern const PointwiseOp soften;
SY_API extern const NodeDesc soften_node;
SY_API extern const ReduceOp sum_dim_IntList;
SY_API extern const NodeDesc sum_dim_IntList_node;
SY_API extern const ReduceOp aminmax;
SY_API extern const NodeDesc aminmax_node;
SY_API extern const ScanOp cumsum;
SY_API extern const NodeDesc cumsum_node;
SY_API extern const ScanOp cummax;
SY_API extern const NodeDesc cummax_node;

}  // namespace sy::desc
