#include "backends/cpu/jit/codegen.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar.h>

#include <memory>

#include "backends/cpu/jit/emitter.h"
#include "backends/cpu/jit/flatten.h"

namespace sy::cpu::jit {

namespace {

constexpr const char* kTriple = "x86_64-unknown-linux-gnu";

const llvm::Target* target() {
  static const llvm::Target* const found = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    std::string error;
    return llvm::TargetRegistry::lookupTarget(kTriple, error);
  }();
  return found;
}

std::unique_ptr<llvm::TargetMachine> make_machine(Isa isa) {
  llvm::TargetOptions options;
  // A sum is fused with a product only where the program says so.
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(target()->createTargetMachine(
      kTriple, isa == Isa::kAvx512 ? "x86-64-v4" : "x86-64-v3", "", options,
      llvm::Reloc::PIC_, llvm::CodeModel::Small,
      llvm::CodeGenOptLevel::Default));
}

// Does the work that the functions of prims.cpp leave once they are inlined.
void optimize(llvm::Module& module) {
  llvm::legacy::PassManager passes;
  passes.add(llvm::createAlwaysInlinerLegacyPass(false));
  passes.add(llvm::createSROAPass());
  passes.add(llvm::createEarlyCSEPass());
  passes.add(llvm::createInstructionCombiningPass());
  passes.run(module);
}

struct Compilation {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::TargetMachine> machine;
  Emitted kernel;

  bool run(std::string_view bytes, std::string* why) {
    Request request;
    if (!decode(bytes, &request)) {
      *why = "this is no request";
      return false;
    }
    kernel = emit(request, context, why);
    if (kernel.module == nullptr) return false;
    machine = make_machine(request.isa);
    kernel.module->setDataLayout(machine->createDataLayout());
    optimize(*kernel.module);
    return true;
  }

  void generate(llvm::CodeGenFileType type,
                llvm::SmallVectorImpl<char>* text) const {
    llvm::raw_svector_ostream out(*text);
    llvm::legacy::PassManager passes;
    // False: this target can write objects.
    machine->addPassesToEmitFile(passes, out, nullptr, type, true);
    passes.run(*kernel.module);
  }
};

}  // namespace

bool compile(std::string_view request, std::string* image, std::string* why) {
  Compilation c;
  if (!c.run(request, why)) return false;
  llvm::SmallVector<char, 0> object;
  c.generate(llvm::CodeGenFileType::ObjectFile, &object);
  return flatten({object.data(), object.size()}, c.kernel.unit, c.kernel.stops,
                 image, why);
}

bool print_code(std::string_view request, bool assembly, std::string* text) {
  Compilation c;
  if (!c.run(request, text)) return false;
  if (assembly) {
    llvm::SmallVector<char, 0> code;
    c.generate(llvm::CodeGenFileType::AssemblyFile, &code);
    text->append(code.data(), code.size());
  } else {
    llvm::raw_string_ostream out(*text);
    c.kernel.module->getFunction("kernel")->print(out);
  }
  return true;
}

}  // namespace sy::cpu::jit
