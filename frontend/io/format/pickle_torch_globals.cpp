#include "frontend/io/format/pickle_torch_globals.h"

#include <iterator>

#include "frontend/io/format/pickle_torch.h"

namespace sy::io {

namespace {

using enum TorchRole;

constexpr const char* kComplex = "complex tensors";
constexpr const char* kQuantized = "quantized tensors";
constexpr const char* kUtils = "torch._utils";
constexpr const char* kJit = "torch.jit._pickle";
constexpr auto kNoType = ScalarType::Undefined;

constexpr TorchGlobal kGlobals[] = {
    {"", "", Unknown},
    {"__torch__", "", Class},
    {"torch", "FloatStorage", Storage, kFloat},
    {"torch", "DoubleStorage", Storage, kDouble},
    {"torch", "HalfStorage", Storage, kHalf},
    {"torch", "BFloat16Storage", Storage, kBFloat16},
    {"torch", "LongStorage", Storage, kLong},
    {"torch", "IntStorage", Storage, kInt},
    {"torch", "ShortStorage", Storage, kShort},
    {"torch", "CharStorage", Storage, kChar},
    {"torch", "ByteStorage", Storage, kByte},
    {"torch", "BoolStorage", Storage, kBool},
    {"torch.storage", "UntypedStorage", Storage},
    {"torch", "UntypedStorage", Storage},
    {"torch", "ComplexFloatStorage", Refused, kNoType, kComplex},
    {"torch", "ComplexDoubleStorage", Refused, kNoType, kComplex},
    {"torch", "QInt8Storage", Refused, kNoType, kQuantized},
    {"torch", "QUInt8Storage", Refused, kNoType, kQuantized},
    {"torch", "QInt32Storage", Refused, kNoType, kQuantized},
    {"torch", "QUInt4x2Storage", Refused, kNoType, kQuantized},
    {"torch", "QUInt2x4Storage", Refused, kNoType, kQuantized},
    {kUtils, "_rebuild_qtensor", Refused, kNoType, kQuantized},
    {kUtils, "_rebuild_sparse_tensor", Refused, kNoType, "sparse tensors"},
    {kUtils, "_rebuild_sparse_csr_tensor", Refused, kNoType, "sparse tensors"},
    {kUtils, "_rebuild_nested_tensor", Refused, kNoType, "nested tensors"},
    {kUtils, "_rebuild_meta_tensor_no_storage", Refused, kNoType,
     "tensors without elements"},
    {kUtils, "_rebuild_wrapper_subclass", Refused, kNoType,
     "classes derived from Tensor"},
    {"torch", "float32", Word, kFloat},
    {"torch", "float64", Word, kDouble},
    {"torch", "float16", Word, kHalf},
    {"torch", "bfloat16", Word, kBFloat16},
    {"torch", "int64", Word, kLong},
    {"torch", "int32", Word, kInt},
    {"torch", "int16", Word, kShort},
    {"torch", "int8", Word, kChar},
    {"torch", "uint8", Word, kByte},
    {"torch", "bool", Word, kBool},
    {"torch", "Tensor", TensorType},
    {"torch.nn.parameter", "Parameter", TensorType},
    {"torch.nn.parameter", "Buffer", TensorType},
    {"torch", "Size", Size},
    {"torch", "device", Device},
    {kUtils, "_rebuild_tensor", RebuildTensor},
    {kUtils, "_rebuild_tensor_v2", RebuildTensor2},
    {kUtils, "_rebuild_tensor_v3", RebuildTensor3},
    {kUtils, "_rebuild_parameter", RebuildParameter},
    {kUtils, "_rebuild_parameter_with_state", RebuildParameter},
    {"torch._tensor", "_rebuild_from_type_v2", RebuildFromType},
    {"collections", "OrderedDict", OrderedDict},
    {kJit, "build_intlist", BuildList},
    {kJit, "build_doublelist", BuildList},
    {kJit, "build_boollist", BuildList},
    {kJit, "build_tensorlist", BuildList},
    {kJit, "restore_type_tag", RestoreTag},
};

}  // namespace

uint64_t find_torch_global(std::string_view module, std::string_view name) {
  // A C++ module; a TorchScript one has a longer path.
  if (module == "__torch__" || module.starts_with("__torch__.")) return 1;
  for (size_t i = 2; i < std::size(kGlobals); ++i) {
    if (kGlobals[i].name == name && kGlobals[i].module == module) return i;
  }
  return 0;
}

const TorchGlobal& torch_global(uint64_t number) { return kGlobals[number]; }

std::string torch_word(uint64_t global) {
  const TorchGlobal& g = torch_global(global);
  return g.role == Word ? str("torch.{}", g.name) : "";
}

const char* torch_storage_name(ScalarType dtype) {
  for (const TorchGlobal& g : kGlobals) {
    if (g.role == Storage && g.dtype == dtype) return g.name;
  }
  return "";
}

}  // namespace sy::io
