// Generated from test/codegen/testdata/sample.yaml by sygen. Do not edit.
#include "aten/ops/sample_desc.h"

namespace sy::desc {

using lang::Prim;
using lang::RegClass;
using lang::Uniform;
using lang::UniformOperand;
using lang::UniformStep;

// mul.Tensor  test/codegen/testdata/sample.yaml:3
constexpr const char* kMulTensorInputs[] = {"self", "other"};
//   t0 = mul(self, other)
//   return t0
constexpr lang::Step kMulTensorSteps[] = {{Prim::mul, 2, 0, 1, 0}};
constexpr lang::Result kMulTensorResults[] = {{2, false}};
constexpr program::Program kMulTensorBody = {
    .steps = kMulTensorSteps,
    .results = kMulTensorResults,
    .n_steps = 1,
    .n_registers = 3,
    .n_inputs = 2,
    .n_results = 1,
};
constexpr ElementProgram kMulTensorProgram = {
    .body = kMulTensorBody,
};
const PointwiseOp mul_Tensor = {
    .name = "mul.Tensor",
    .promote = PromoteRule::Default,
    .n_inputs = 2,
    .promote_inputs = 3,
    .input_names = kMulTensorInputs,
    .program = kMulTensorProgram,
};
constexpr uint8_t kMulTensorArguments[] = {0, 1};
const NodeDesc mul_Tensor_node = {
    .pointwise = &mul_Tensor,
    .inputs = kMulTensorArguments,
    .n_inputs = 2,
};

// soften  test/codegen/testdata/sample.yaml:13
constexpr const char* kSoftenInputs[] = {"self", "weight"};
constexpr const char* kSoftenScalars[] = {"slope", "mode"};
//   u0 = select((mode == 'half'), 0.5, 1)
//   t0 = mul(self, slope)
//   t0 = mul(weight, t0)
//   t0 = mul(t0, u0)
//   return t0
//   has the loop of soften
constexpr lang::Step kSoftenSteps[] = {
    {Prim::mul, 4, 0, 2, 0},
    {Prim::mul, 4, 1, 4, 0},
    {Prim::mul, 4, 4, 3, 0},
};
constexpr lang::Result kSoftenResults[] = {{4, false}};
constexpr Uniform kSoftenConstants[] = {
    Uniform::of(0.5),
    Uniform::of(int64_t{1}),
};
constexpr UniformStep kSoftenUniformSteps[] = {{Prim::select, 1, 2, 3}};
constexpr UniformOperand kSoftenUniforms[] = {
    {0, RegClass::kValue},
    {4, RegClass::kValue},
};
constexpr program::Program kSoftenBody = {
    .steps = kSoftenSteps,
    .results = kSoftenResults,
    .n_steps = 3,
    .n_registers = 5,
    .n_inputs = 2,
    .n_uniforms = 2,
    .n_results = 1,
    .compiled = 1,
};
constexpr ElementProgram kSoftenProgram = {
    .body = kSoftenBody,
    .constants = kSoftenConstants,
    .uniform_steps = kSoftenUniformSteps,
    .uniforms = kSoftenUniforms,
    .n_scalars = 2,
    .n_constants = 2,
    .n_uniform_steps = 1,
};
//   t0 = mul(weight, self)
//   return t0
constexpr lang::Step kSoftenAtDefaultsSteps[] = {{Prim::mul, 2, 1, 0, 0}};
constexpr lang::Result kSoftenAtDefaultsResults[] = {{2, false}};
constexpr program::Program kSoftenAtDefaultsBody = {
    .steps = kSoftenAtDefaultsSteps,
    .results = kSoftenAtDefaultsResults,
    .n_steps = 1,
    .n_registers = 3,
    .n_inputs = 2,
    .n_results = 1,
};
constexpr ElementProgram kSoftenAtDefaultsProgram = {
    .body = kSoftenAtDefaultsBody,
};
constexpr Uniform kSoftenDefaults[] = {
    Uniform::of(int64_t{1}),
    Uniform::of(int64_t{0}),
};
const PointwiseOp soften = {
    .name = "soften",
    .promote = PromoteRule::IntToFloat,
    .n_inputs = 2,
    .n_scalars = 2,
    .promote_inputs = 3,
    .input_names = kSoftenInputs,
    .scalar_names = kSoftenScalars,
    .program = kSoftenProgram,
    .at_defaults = &kSoftenAtDefaultsProgram,
    .defaults = kSoftenDefaults,
};
constexpr uint8_t kSoftenArguments[] = {0, 1};
constexpr NodeScalar kSoftenNodeScalars[] = {
    {2},
    {3, NodeScalar::kEquals, "half"},
};
const NodeDesc soften_node = {
    .pointwise = &soften,
    .inputs = kSoftenArguments,
    .scalars = kSoftenNodeScalars,
    .n_inputs = 2,
    .n_scalars = 2,
};

// sum.dim_IntList  test/codegen/testdata/sample.yaml:34
//   t0 = copy(self)
//   return t0
constexpr lang::Step kSumDimIntListMapSteps[] = {{Prim::copy, 1, 0, 0, 0}};
constexpr lang::Result kSumDimIntListMapResults[] = {{1, false}};
constexpr program::Program kSumDimIntListMapBody = {
    .steps = kSumDimIntListMapSteps,
    .results = kSumDimIntListMapResults,
    .n_steps = 1,
    .n_registers = 2,
    .n_inputs = 1,
    .n_results = 1,
};
constexpr ElementProgram kSumDimIntListMapProgram = {
    .body = kSumDimIntListMapBody,
};
//   t0 = add(a, b)
//   return t0
constexpr lang::Step kSumDimIntListCombineSteps[] = {{Prim::add, 2, 0, 1, 0}};
constexpr lang::Result kSumDimIntListCombineResults[] = {{2, false}};
constexpr program::Program kSumDimIntListCombineBody = {
    .steps = kSumDimIntListCombineSteps,
    .results = kSumDimIntListCombineResults,
    .n_steps = 1,
    .n_registers = 3,
    .n_inputs = 2,
    .n_results = 1,
};
constexpr ElementProgram kSumDimIntListCombineProgram = {
    .body = kSumDimIntListCombineBody,
};
constexpr Uniform kSumDimIntListIdentity[] = {Uniform::of(int64_t{0})};
const ReduceOp sum_dim_IntList = {
    .name = "sum.dim_IntList",
    .promote = PromoteRule::BoolToInt,
    .n_accumulators = 1,
    .n_scalars = 0,
    .map = kSumDimIntListMapProgram,
    .combine = kSumDimIntListCombineProgram,
    .identity = kSumDimIntListIdentity,
};
constexpr uint8_t kSumDimIntListArguments[] = {0};
const NodeDesc sum_dim_IntList_node = {
    .reduce = &sum_dim_IntList,
    .inputs = kSumDimIntListArguments,
    .n_inputs = 1,
    .dim = 1,
    .keepdim = 2,
    .dtype = 3,
};

// aminmax  test/codegen/testdata/sample.yaml:43
//   t0 = copy(self)
//   t1 = copy(self)
//   return t0, t1
constexpr lang::Step kAminmaxMapSteps[] = {
    {Prim::copy, 1, 0, 0, 0},
    {Prim::copy, 2, 0, 0, 0},
};
constexpr lang::Result kAminmaxMapResults[] = {{1, false}, {2, false}};
constexpr program::Program kAminmaxMapBody = {
    .steps = kAminmaxMapSteps,
    .results = kAminmaxMapResults,
    .n_steps = 2,
    .n_registers = 3,
    .n_inputs = 1,
    .n_results = 2,
};
constexpr ElementProgram kAminmaxMapProgram = {
    .body = kAminmaxMapBody,
};
//   t0 = minimum(a.low, b.low)
//   t1 = maximum(a.high, b.high)
//   return t0, t1
constexpr lang::Step kAminmaxCombineSteps[] = {
    {Prim::minimum, 4, 0, 2, 0},
    {Prim::maximum, 5, 1, 3, 0},
};
constexpr lang::Result kAminmaxCombineResults[] = {{4, false}, {5, false}};
constexpr program::Program kAminmaxCombineBody = {
    .steps = kAminmaxCombineSteps,
    .results = kAminmaxCombineResults,
    .n_steps = 2,
    .n_registers = 6,
    .n_inputs = 4,
    .n_results = 2,
};
constexpr ElementProgram kAminmaxCombineProgram = {
    .body = kAminmaxCombineBody,
};
const ReduceOp aminmax = {
    .name = "aminmax",
    .promote = PromoteRule::Default,
    .n_accumulators = 2,
    .n_results = 2,
    .n_scalars = 0,
    .accumulate = AccumulateRule::Double,
    .map = kAminmaxMapProgram,
    .combine = kAminmaxCombineProgram,
};
constexpr uint8_t kAminmaxArguments[] = {0};
const NodeDesc aminmax_node = {
    .reduce = &aminmax,
    .inputs = kAminmaxArguments,
    .n_inputs = 1,
    .dim = 1,
    .keepdim = 2,
};

// cumsum  test/codegen/testdata/sample.yaml:51
//   t0 = add(a, b)
//   return t0
constexpr lang::Step kCumsumCombineSteps[] = {{Prim::add, 2, 0, 1, 0}};
constexpr lang::Result kCumsumCombineResults[] = {{2, false}};
constexpr program::Program kCumsumCombineBody = {
    .steps = kCumsumCombineSteps,
    .results = kCumsumCombineResults,
    .n_steps = 1,
    .n_registers = 3,
    .n_inputs = 2,
    .n_results = 1,
};
constexpr ElementProgram kCumsumCombineProgram = {
    .body = kCumsumCombineBody,
};
const ScanOp cumsum = {
    .name = "cumsum",
    .promote = PromoteRule::BoolToInt,
    .accumulate = AccumulateRule::Double,
    .combine = kCumsumCombineProgram,
};
constexpr uint8_t kCumsumArguments[] = {0};
const NodeDesc cumsum_node = {
    .scan = &cumsum,
    .inputs = kCumsumArguments,
    .n_inputs = 1,
    .dim = 1,
    .dtype = 2,
};

// cummax  test/codegen/testdata/sample.yaml:57
//   t0 = ge(b, a)
//   return t0: bool
constexpr lang::Step kCummaxCombineSteps[] = {{Prim::ge, 2, 1, 0, 0}};
constexpr lang::Result kCummaxCombineResults[] = {{2, true}};
constexpr program::Program kCummaxCombineBody = {
    .steps = kCummaxCombineSteps,
    .results = kCummaxCombineResults,
    .n_steps = 1,
    .n_registers = 3,
    .n_inputs = 2,
    .n_results = 1,
};
constexpr ElementProgram kCummaxCombineProgram = {
    .body = kCummaxCombineBody,
};
const ScanOp cummax = {
    .name = "cummax",
    .promote = PromoteRule::Default,
    .chooses = true,
    .combine = kCummaxCombineProgram,
};
constexpr uint8_t kCummaxArguments[] = {0};
const NodeDesc cummax_node = {
    .scan = &cummax,
    .inputs = kCummaxArguments,
    .n_inputs = 1,
    .dim = 1,
};

}  // namespace sy::desc
