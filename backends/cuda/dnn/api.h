#pragma once

#include <cstddef>
#include <cstdint>

// cuDNN's backend interface as we declare it, for libcudnn.so.9. No header of
// NVIDIA's is needed; where there is a toolkit, a test holds these declarations
// to it.

namespace sy::cuda::dnn {

using Handle = struct Context*;
using Stream = struct RuntimeStream*;
using Descriptor = void*;
using Result = int;

constexpr Result kDone = 0;
constexpr Result kNotSupported = 3000;

// Numbers of the library's enumerations, by what they belong to.
enum Kind : int {
  kConvolution = 1,
  kEngine = 2,
  kEngineConfig = 3,
  kHeuristics = 4,
  kPlan = 5,
  kForward = 10,
  kBackwardFilter = 11,
  kBackwardData = 12,
  kGraph = 15,
  kVariantPack = 16,
  kTensor = 17,
  kDeviceProperties = 38,
};
enum Type : int {
  kTypeHandle = 0,
  kTypeDataType = 1,
  kTypeInt64 = 3,
  kTypeFloat = 4,
  kTypeDouble = 5,
  kTypePointer = 6,
  kTypeConvolutionMode = 7,
  kTypeHeuristicMode = 8,
  kTypeNumericalNote = 11,
  kTypeDescriptor = 15,
  kTypeChar = 24,
};
enum Attribute : int {
  kConvolutionComputeType = 100,
  kConvolutionMode = 101,
  kConvolutionDilations = 102,
  kConvolutionStrides = 103,
  kConvolutionPostPaddings = 104,
  kConvolutionPrePaddings = 105,
  kConvolutionDims = 106,
  kHeuristicsMode = 200,
  kHeuristicsGraph = 201,
  kHeuristicsResults = 202,
  kHeuristicsDevice = 204,
  kConfigEngine = 300,
  kPlanHandle = 400,
  kPlanConfig = 401,
  kPlanWorkspace = 402,
  kPlanDevice = 407,
  kForwardAlpha = 700,
  kForwardBeta = 701,
  kForwardConvolution = 702,
  kForwardW = 703,
  kForwardX = 704,
  kForwardY = 705,
  kDataAlpha = 706,
  kDataBeta = 707,
  kDataConvolution = 708,
  kDataW = 709,
  kDataDx = 710,
  kDataDy = 711,
  kFilterAlpha = 712,
  kFilterBeta = 713,
  kFilterConvolution = 714,
  kFilterDw = 715,
  kFilterX = 716,
  kFilterDy = 717,
  kGraphHandle = 800,
  kGraphOperations = 801,
  kTensorAlignment = 900,
  kTensorDataType = 901,
  kTensorSizes = 902,
  kTensorStrides = 903,
  kTensorId = 906,
  kPackIds = 1000,
  kPackPointers = 1001,
  kPackWorkspace = 1003,
  kEngineIndex = 1301,
  kEngineNumericalNotes = 1303,
  kDeviceJson = 2702,
};
enum DataType : int { kFloat32 = 0, kFloat64 = 1, kFloat16 = 2, kBrain16 = 9 };
enum ConvolutionMode : int { kCrossCorrelation = 1 };
enum HeuristicMode : int { kModeFallback = 2, kModeA = 3 };
enum NumericalNote : int {
  kTensorCores = 0,
  kDownConvertsInputs = 1,
  kReducesInShortFloats = 2,
  kFourier = 3,
  kNotDeterministic = 4,
  kWinograd = 5,
  kNumericalNotes = 10,  // how many there are
};

// X(member, symbol, arguments); all return a result.
#define SY_CUDA_DNN_FUNCTIONS(X)                                            \
  X(create, "cudnnCreate", (Handle*))                                       \
  X(set_stream, "cudnnSetStream", (Handle, Stream))                         \
  X(create_descriptor, "cudnnBackendCreateDescriptor", (Kind, Descriptor*)) \
  X(destroy_descriptor, "cudnnBackendDestroyDescriptor", (Descriptor))      \
  X(finalize, "cudnnBackendFinalize", (Descriptor))                         \
  X(set, "cudnnBackendSetAttribute",                                        \
    (Descriptor, Attribute, Type, int64_t count, const void*))              \
  X(get, "cudnnBackendGetAttribute",                                        \
    (Descriptor, Attribute, Type, int64_t most, int64_t * count, void*))    \
  X(execute, "cudnnBackendExecute", (Handle, Descriptor plan, Descriptor pack))

struct Api {
#define SY_MEMBER(member, symbol, arguments) Result(*member) arguments;
  SY_CUDA_DNN_FUNCTIONS(SY_MEMBER)
#undef SY_MEMBER
  size_t (*version)();
  const char* (*error_text)(Result);
  // Writes the text of the thread's last error.
  void (*last_error)(char* text, size_t size);
};

}  // namespace sy::cuda::dnn
