#include "codegen/torch/vocabulary.h"

#include <algorithm>

#include "lang/schema_keys.h"

namespace sy::codegen::torch {
namespace {

using std::string_view;

constexpr string_view kDispatch[] = {"CPU",
                                     "CUDA",
                                     "MPS",
                                     "XPU",
                                     "MTIA",
                                     "Meta",
                                     "CompositeImplicitAutograd",
                                     "CompositeImplicitAutogradNestedTensor",
                                     "CompositeExplicitAutograd",
                                     "CompositeExplicitAutogradNonFunctional",
                                     "SparseCPU",
                                     "SparseCUDA",
                                     "SparseMPS",
                                     "SparseXPU",
                                     "SparseMeta",
                                     "SparseCsrCPU",
                                     "SparseCsrCUDA",
                                     "SparseCsrMPS",
                                     "SparseCsrXPU",
                                     "SparseCsrMeta",
                                     "MkldnnCPU",
                                     "QuantizedCPU",
                                     "QuantizedCUDA",
                                     "QuantizedMeta",
                                     "NestedTensorCPU",
                                     "NestedTensorCUDA",
                                     "NestedTensorXPU",
                                     "NestedTensorHPU",
                                     "NestedTensorMeta",
                                     "ZeroTensor"};

constexpr string_view kBackends[] = {
    "CPU",  "CUDA", "HIP",         "XLA",         "MTIA",
    "MPS",  "IPU",  "XPU",         "HPU",         "VE",
    "Lazy", "Meta", "PrivateUse1", "PrivateUse2", "PrivateUse3"};
constexpr string_view kFunctionalities[] = {
    "", "Quantized", "Sparse", "SparseCsr", "NestedTensor", "Autograd"};
constexpr string_view kSingle[] = {"FPGA",      "MAIA",
                                   "Vulkan",    "Metal",
                                   "MKLDNN",    "OpenGL",
                                   "OpenCL",    "IDEEP",
                                   "MkldnnCPU", "Sparse",
                                   "SparseCsr", "NestedTensor",
                                   "Autograd",  "AutogradNestedTensor"};

constexpr string_view kStructured[] = {"CPU", "CUDA", "MPS", "XPU", "MTIA"};

constexpr string_view kAutograd[] = {
    "AutogradCPU",         "AutogradCUDA",        "AutogradHIP",
    "AutogradXLA",         "AutogradMTIA",        "AutogradMPS",
    "AutogradIPU",         "AutogradXPU",         "AutogradHPU",
    "AutogradVE",          "AutogradLazy",        "AutogradMeta",
    "AutogradPrivateUse1", "AutogradPrivateUse2", "AutogradPrivateUse3",
    "AutogradNestedTensor"};

constexpr string_view kUfunc[] = {
    "Generic",     "ScalarOnly",         "CPUScalar",        "CPUVector",
    "CUDAFunctor", "CUDAFunctorOnOther", "CUDAFunctorOnSelf"};

constexpr string_view kDtypes[] = {"All",
                                   "AllAndComplex",
                                   "Integral",
                                   "Floating",
                                   "Complex",
                                   "FloatingAndComplex",
                                   "Byte",
                                   "Char",
                                   "Short",
                                   "Int",
                                   "Long",
                                   "Half",
                                   "Float",
                                   "Double",
                                   "ComplexHalf",
                                   "ComplexFloat",
                                   "ComplexDouble",
                                   "Bool",
                                   "BFloat16",
                                   "Float8_e5m2",
                                   "Float8_e5m2fnuz",
                                   "Float8_e4m3fn",
                                   "Float8_e4m3fnuz",
                                   "Float8_e8m0fnu"};

constexpr string_view kPython[] = {
    "False",  "None",   "True",    "and",      "as",       "assert", "async",
    "await",  "break",  "class",   "continue", "def",      "del",    "elif",
    "else",   "except", "finally", "for",      "from",     "global", "if",
    "import", "in",     "is",      "lambda",   "nonlocal", "not",    "or",
    "pass",   "raise",  "return",  "try",      "while",    "with",   "yield"};

template <typename Words>
bool has(const Words& words, string_view word) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

}  // namespace

std::vector<string_view> native_keys() {
  std::vector<string_view> out;
  for (const lang::SchemaKey& k : lang::operator_keys()) {
    if (k.origin != lang::SchemaKey::kOwn) out.push_back(k.name);
  }
  return out;
}

bool is_dispatch_key(string_view key) {
  if (has(kDispatch, key) || has(kSingle, key)) return true;
  for (const string_view f : kFunctionalities) {
    if (key.starts_with(f) && has(kBackends, key.substr(f.size()))) return true;
  }
  return false;
}

bool is_backend_key(string_view key) { return has(kBackends, key); }

std::span<const string_view> native_dispatch_keys() { return kDispatch; }
bool is_structured_key(string_view key) { return has(kStructured, key); }
std::span<const string_view> autograd_keys() { return kAutograd; }
std::span<const string_view> ufunc_keys() { return kUfunc; }
std::span<const string_view> ufunc_dtypes() { return kDtypes; }
bool is_python_keyword(string_view word) { return has(kPython, word); }

}  // namespace sy::codegen::torch
