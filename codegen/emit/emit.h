#pragma once

#include <string>

#include "codegen/model_names.h"
#include "model/model.h"

// The emitters: pure functions from the model to the text of one file.

namespace sy::codegen {

// aten/ops/<family>.h: the functions that users call.
std::string emit_functions_header(const Model& model, const Family& family);
// aten/ops/<family>_ops.h: one struct per overload, for generated code.
std::string emit_ops_header(const Model& model, const Family& family);
// aten/ops/<family>.cpp: the bodies of both, and of the methods.
std::string emit_functions(const Model& model, const Family& family);
// aten/ops/<family>_def.cpp: contracts, guards, composites, views, the table.
std::string emit_definitions(const Model& model, const Family& family);
// aten/ops/<family>_kernels.h: contracts, and hand-written composite kernels.
std::string emit_native_header(const Model& model, const Family& family);
// aten/ops/<family>_desc.{h,cpp}: pointwise and reduce operators as data.
std::string emit_descriptors_header(const Model& model, const Family& family);
std::string emit_descriptors(const Model& model, const Family& family);
// aten/ops/<family>_engine_kernels.h: the kernels that engines run, for all
// backends.
std::string emit_engine_kernels(const Model& model, const Family& family);
// aten/tensor_methods_gen.h and aten/ops/all.h: of all families.
std::string emit_methods_header(const Model& model);
std::string emit_umbrella(const Model& model);
// The programs of `compiled: true`: aten/program/compiled_gen.{h,cpp}, and
// compiled_gen.inc of the backend that compiles them, each one's function of
// one element.
std::string emit_compiled_header(const Model& model);
std::string emit_compiled_programs(const Model& model);
std::string emit_compiled_loops(const Model& model);
// <family>_{gen.cpp,kernels_gen.h} in the folder of a backend: the kernels
// under `dispatch:`, and the direct instance of those that engines run.
std::string emit_backend(const Model& model, const Family& family,
                         const Backend& backend);
std::string emit_backend_header(const Model& model, const Family& family,
                                const Backend& backend);
// autograd/<family>_gen.cpp
std::string emit_autograd(const Model& model, const Family& family);
// <family>.{h,cpp} of a library of one's own, whose operators have another
// namespace than aten: all of the above in one header and one source.
std::string emit_library_header(const Model& model, const Family& family);
std::string emit_library(const Model& model, const Family& family);
// The two files of a backend beyond families: the declarations of the kernels
// that its description lists, and their registrations with those of its devices
// and engines.
struct BackendFiles {
  std::string header, source;
};
struct BackendFileOptions {
  std::string header_name;  // as the source includes it
  // A library for load_library, which says what it claims.
  bool plugin = false;
  // emit_backend() is in files of its own; else it is in these two.
  bool per_family = false;
};
BackendFiles emit_backend_files(const Model& model, const Backend& backend,
                                const BackendFileOptions& options,
                                lang::Diagnostics& diagnostics);
// docs/ops/examples.cpp: the calls that the pages of all families show.
std::string emit_examples(const Model& model);
// The lines of docs/ops/examples.txt: "add.Tensor: 2x3 3 alpha=2" for each
// entry that has an `example:`, and "op derivative: none, because …" for each
// that says so. `sy prove --examples` reads them.
std::string emit_example_words(const Family& family);

// c10/scalar_type_gen.h of schemas/dtypes.yaml, c10/dispatch_key_gen.h of
// schemas/dispatch_keys.yaml.
std::string emit_dtypes(std::string_view yaml, std::string_view file,
                        lang::Diagnostics& diagnostics);
std::string emit_dispatch_keys(std::string_view yaml, std::string_view file,
                               lang::Diagnostics& diagnostics);

}  // namespace sy::codegen
