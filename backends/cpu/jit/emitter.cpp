#include "backends/cpu/jit/emitter.h"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/MemoryBuffer.h>

#include <algorithm>
#include <iterator>

#include "aten/program/primitives.h"
#include "backends/cpu/jit/bitcode.h"

namespace sy::cpu::jit {

namespace {

using llvm::Value;
using program::ComputeType;

constexpr const char* kTypeNames[] = {"f32", "f64", "u8",  "i8",
                                      "i16", "i32", "i64", "b8"};

// A name as functions of prims.cpp have it; nullptr if there are none.
const char* name_of(ScalarType t) {
  switch (t) {
    case ScalarType::Float: return "f32";
    case ScalarType::Double: return "f64";
    case ScalarType::Byte: return "u8";
    case ScalarType::Char: return "i8";
    case ScalarType::Short: return "i16";
    case ScalarType::Int: return "i32";
    case ScalarType::Long: return "i64";
    case ScalarType::Bool: return "b8";
    case ScalarType::BFloat16: return "bf16";
    default: return nullptr;
  }
}

// A uniform exponent that has a name is computed by it, as the interpreter does
// (backends/cpu/tiles/power.cpp): the bits are the same.
struct NamedPower {
  double exponent;
  lang::Prim first;
  lang::Prim then = lang::Prim::copy;  // of that, and of the base
};
constexpr NamedPower kNamedPowers[] = {
    {2, lang::Prim::square},
    {0.5, lang::Prim::sqrt},
    {1, lang::Prim::copy},
    {-1, lang::Prim::reciprocal},
    {-0.5, lang::Prim::rsqrt},
    {3, lang::Prim::square, lang::Prim::mul},
    {-2, lang::Prim::square, lang::Prim::reciprocal},
};

// Thrown to leave; this library is compiled with exceptions.
struct Unable {
  std::string why;
};

class Emitter {
 public:
  Emitter(const Request& request, llvm::LLVMContext& context)
      : request_(request),
        program_(request.program),
        context_(context),
        builder_(context),
        entry_builder_(context),
        module_(std::make_unique<llvm::Module>("program", context)) {
    prims_ = open_prims();
    module_->setDataLayout(prims_->getDataLayout());
    module_->setTargetTriple(prims_->getTargetTriple());
    const int bytes = request.isa == Isa::kAvx512 ? 64 : 32;
    lanes_ = bytes / static_cast<int>(compute_type_size(request.compute));
    type_ = type_name();
  }

  Emitted run() {
    begin();
    for (int k = 0; k < program_.n_inputs; ++k) {
      if (request_.inputs[size_t(k)].is_single) read_single(k);
    }
    for (int u = 0; u < program_.n_uniforms; ++u) read_uniform(u);
    for (int k = 0; k < program_.n_inputs; ++k) {
      if (!request_.inputs[size_t(k)].is_single) read(k);
    }
    for (const program::Step& s : request_.steps) step(s);
    for (int k = 0; k < program_.n_results; ++k) write(k);
    end();
    link();
    return {std::move(module_), lanes_ * vectors_, stops()};
  }

 private:
  // Vectors side by side: their operations overlap, and constants serve all.
  static constexpr int kMostVectors = 8;
  // A register: a value for each of the vectors, or one for all.
  struct Register {
    Value* of[kMostVectors] = {};
    bool is_single = false;
    bool is_bool = false;

    void set_all(Value* v) {
      std::fill(std::begin(of), std::end(of), v);
      is_single = true;
    }
  };

  std::unique_ptr<llvm::Module> open_prims() {
    const std::string_view text = bitcode(request_.isa);
    auto buffer = llvm::MemoryBuffer::getMemBuffer(
        llvm::StringRef(text.data(), text.size()), "prims", false);
    auto module = llvm::getOwningLazyBitcodeModule(std::move(buffer), context_);
    if (!module) {
      llvm::consumeError(module.takeError());
      throw Unable{"the primitives' bitcode cannot be read"};
    }
    return std::move(*module);
  }

  const char* type_name() const {
    return kTypeNames[static_cast<int>(request_.compute)];
  }
  static llvm::Type* type_of(llvm::LLVMContext& c, ScalarType t) {
    switch (t) {
      case ScalarType::Float: return llvm::Type::getFloatTy(c);
      case ScalarType::Double: return llvm::Type::getDoubleTy(c);
      case ScalarType::Half: return llvm::Type::getHalfTy(c);
      case ScalarType::BFloat16:
      case ScalarType::Short: return llvm::Type::getInt16Ty(c);
      case ScalarType::Int: return llvm::Type::getInt32Ty(c);
      case ScalarType::Long: return llvm::Type::getInt64Ty(c);
      default: return llvm::Type::getInt8Ty(c);
    }
  }
  llvm::Type* flag_type() {
    // prims.cpp's Flag.
    return builder_.getIntNTy(lanes_ >= 16 ? 8 : lanes_ == 8 ? 16 : 32);
  }
  llvm::FixedVectorType* vector_of(llvm::Type* element) {
    return llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes_));
  }

  void begin() {
    const size_t steps = request_.steps.size();
    vectors_ = steps == 1 ? kMostVectors : steps <= 40 ? 4 : 1;
    vectors_ = std::min(vectors_, kMostUnit / lanes_);
    // Long functions side by side need more registers than there are.
    constexpr unsigned kLong = 200;  // instructions
    while (vectors_ > 1 && vectors_ * longest_prim() > kLong) vectors_ /= 2;
    llvm::Type* const pointer = builder_.getPtrTy();
    llvm::Type* const arguments[] = {pointer, pointer, builder_.getInt64Ty()};
    function_ = llvm::Function::Create(
        llvm::FunctionType::get(builder_.getInt64Ty(), arguments, false),
        llvm::Function::ExternalLinkage, "kernel", *module_);
    function_->addFnAttr(llvm::Attribute::NoUnwind);
    function_->setVisibility(llvm::GlobalValue::HiddenVisibility);
    entry_ = llvm::BasicBlock::Create(context_, "entry", function_);
    body_ = llvm::BasicBlock::Create(context_, "body", function_);
    entry_builder_.SetInsertPoint(entry_);
    builder_.SetInsertPoint(body_);
    const int operands = program_.n_inputs + program_.n_results;
    for (int k = 0; k < operands; ++k) {
      Value* const at = entry_builder_.CreateConstGEP1_64(
          pointer, function_->getArg(0), static_cast<uint64_t>(k));
      data_.push_back(entry_builder_.CreateLoad(pointer, at));
    }
    place_ = builder_.CreatePHI(builder_.getInt64Ty(), 2);
    registers_.resize(program_.n_registers);
  }

  void end() {
    Value* const next = builder_.CreateAdd(
        place_, builder_.getInt64(static_cast<uint64_t>(lanes_ * vectors_)), "",
        true, true);
    place_->addIncoming(builder_.getInt64(0), entry_builder_.GetInsertBlock());
    place_->addIncoming(next, builder_.GetInsertBlock());
    auto* const done = llvm::BasicBlock::Create(context_, "done", function_);
    builder_.CreateCondBr(builder_.CreateICmpULT(next, function_->getArg(2)),
                          body_, done);
    entry_builder_.CreateBr(body_);
    llvm::IRBuilder<>(done).CreateRet(function_->getArg(2));
  }

  bool stops() const {
    return special_ != nullptr || single_special_ != nullptr;
  }

  // Ends the call before the results of this iteration are written, if an
  // element needs slow code.
  void stop_if_special() {
    Value* any = special_;
    if (single_special_ != nullptr) {
      any = any == nullptr ? single_special_
                           : builder_.CreateOr(any, single_special_);
    }
    auto* const stop = llvm::BasicBlock::Create(context_, "stop", function_);
    auto* const go_on = llvm::BasicBlock::Create(context_, "go_on", function_);
    builder_.CreateCondBr(builder_.CreateIsNotNull(any), stop, go_on);
    llvm::IRBuilder<>(stop).CreateRet(place_);
    builder_.SetInsertPoint(go_on);
  }

  // Instructions of the longest function that the steps call.
  unsigned longest_prim() {
    unsigned most = 0;
    for (const program::Step& s : request_.steps) {
      most = std::max(most, find(prim_name(s))->getInstructionCount());
    }
    return most;
  }
  std::string prim_name(lang::Prim p, const char* what = "") const {
    const lang::PrimInfo& info = lang::kPrims[static_cast<int>(p)];
    return std::string("sy_") + what + std::string(info.name) + "_" + type_;
  }
  std::string prim_name(const program::Step& s, const char* what = "") const {
    return prim_name(s.op, what);
  }

  // clang's vectors of double need more registers than there are: the
  // interpreter's loops are faster.
  static bool is_slower(lang::Prim p) { return p == lang::Prim::lgamma; }

  // A function of prims.cpp.
  llvm::Function* find(const std::string& name) {
    llvm::Function* const there = prims_->getFunction(name);
    if (there == nullptr) throw Unable{name + " is not compiled"};
    if (auto error = there->materialize()) {
      llvm::consumeError(std::move(error));
      throw Unable{name + " cannot be read"};
    }
    return there;
  }

  // The same, declared in our module.
  llvm::Function* prim(const std::string& name) {
    llvm::Function* const there = find(name);
    if (calls_others(*there)) throw Unable{name + " is not compiled"};
    take_target(*there);
    return llvm::cast<llvm::Function>(
        module_->getOrInsertFunction(name, there->getFunctionType())
            .getCallee());
  }

  // Whether a function returns 0 and does nothing else.
  static bool is_never(const llvm::Function& f) {
    const auto* const end =
        llvm::dyn_cast<llvm::ReturnInst>(&f.getEntryBlock().front());
    if (end == nullptr) return false;
    const auto* const value =
        llvm::dyn_cast<llvm::ConstantInt>(end->getReturnValue());
    return value != nullptr && value->isZero();
  }

  // Whether a function calls others, such as libm's. Its own ones are inlined.
  static bool calls_others(const llvm::Function& f) {
    for (const llvm::BasicBlock& b : f) {
      for (const llvm::Instruction& i : b) {
        const auto* const call = llvm::dyn_cast<llvm::CallBase>(&i);
        if (call == nullptr || llvm::isa<llvm::IntrinsicInst>(call)) continue;
        return true;
      }
    }
    return false;
  }

  // A function that is inlined needs no other instructions than its caller.
  void take_target(const llvm::Function& from) {
    if (has_target_) return;
    has_target_ = true;
    for (const char* key : {"target-cpu", "target-features", "tune-cpu"}) {
      if (from.hasFnAttribute(key)) {
        function_->addFnAttr(from.getFnAttribute(key));
      }
    }
    const char* const width = request_.isa == Isa::kAvx512 ? "512" : "256";
    function_->addFnAttr("prefer-vector-width", width);
    function_->addFnAttr("min-legal-vector-width", width);
  }

  // Calls it with what the C ABI makes of vectors: some travel as numbers,
  // others in memory.
  Value* call(llvm::IRBuilder<>& b, llvm::Function* f,
              std::initializer_list<Value*> operands, llvm::Type* result) {
    std::vector<Value*> arguments;
    size_t k = 0;
    for (llvm::Argument& a : f->args()) {
      Value* const v = k < operands.size() ? operands.begin()[k] : nullptr;
      ++k;
      if (v == nullptr) {
        arguments.push_back(llvm::PoisonValue::get(a.getType()));
      } else if (v->getType() == a.getType()) {
        arguments.push_back(v);
      } else if (a.getType()->isPointerTy()) {
        auto* const memory = new llvm::AllocaInst(
            v->getType(), 0, nullptr, llvm::Align(128), "", entry_->begin());
        b.CreateStore(v, memory);
        arguments.push_back(memory);
      } else {
        arguments.push_back(b.CreateBitCast(v, a.getType()));
      }
    }
    Value* const v = b.CreateCall(f, arguments);
    return v->getType() == result ? v : b.CreateBitCast(v, result);
  }

  Value* convert(llvm::IRBuilder<>& b, Value* v, const char* from,
                 const char* to, llvm::Type* result) {
    if (std::string_view(from) == to) return v;
    return call(
        b, prim(std::string("sy_convert_") + type_ + "_" + from + "_" + to),
        {v}, vector_of(result));
  }

  // Returns v, fenced. Otherwise LLVM computes on halves what it can, one by
  // one, as the processor has no such instructions.
  static Value* fenced(llvm::IRBuilder<>& b, Value* v) {
    return b.CreateArithmeticFence(v, v->getType());
  }

  // Elements of memory in a register.
  Value* into_register(llvm::IRBuilder<>& b, Value* v, ScalarType dtype,
                       bool is_bool) {
    const char* from = name_of(dtype);
    if (dtype == ScalarType::Half && request_.compute == ComputeType::f32) {
      v = fenced(b, b.CreateFPExt(v, vector_of(builder_.getFloatTy())));
      from = "f32";
    } else if (dtype == ScalarType::Bool) {
      v = b.CreateZExtOrBitCast(v, vector_of(flag_type()));
    }
    if (from == nullptr) throw Unable{"a dtype that is not compiled"};
    return convert(b, v, from, is_bool ? "b8" : type_,
                   is_bool ? flag_type() : element_type());
  }

  Value* into_memory(Value* v, ScalarType dtype, bool is_bool) {
    const char* const from = is_bool ? "b8" : type_;
    if (dtype == ScalarType::Half && request_.compute == ComputeType::f32) {
      v = convert(builder_, v, from, "f32", builder_.getFloatTy());
      return builder_.CreateFPTrunc(fenced(builder_, v),
                                    vector_of(builder_.getHalfTy()));
    }
    const char* const to = name_of(dtype);
    if (to == nullptr) throw Unable{"a dtype that is not compiled"};
    const bool truth = dtype == ScalarType::Bool;
    v = convert(builder_, v, from, to,
                truth ? flag_type() : type_of(context_, dtype));
    return truth ? builder_.CreateTruncOrBitCast(
                       v, vector_of(builder_.getInt8Ty()))
                 : v;
  }

  llvm::Type* element_type() {
    return type_of(context_, program::storage_of(request_.compute));
  }

  void read_single(int k) {
    const ScalarType dtype = request_.inputs[size_t(k)].dtype;
    const bool is_bool = (program_.bool_inputs >> k & 1) != 0;
    Value* const one = entry_builder_.CreateAlignedLoad(
        type_of(context_, dtype), data_[size_t(k)], llvm::MaybeAlign(1));
    Value* const all =
        entry_builder_.CreateVectorSplat(static_cast<unsigned>(lanes_), one);
    Register& r = registers_[size_t(k)];
    r.is_bool = is_bool;
    r.set_all(into_register(entry_builder_, all, dtype, is_bool));
  }

  void read_uniform(int u) {
    const bool is_bool = (program_.bool_uniforms >> u & 1) != 0;
    llvm::Type* const type = is_bool ? builder_.getInt8Ty() : element_type();
    Value* const at = entry_builder_.CreateConstGEP1_64(
        builder_.getInt8Ty(), function_->getArg(1),
        static_cast<uint64_t>(u) * sizeof(program::Uniform));
    Value* all = entry_builder_.CreateVectorSplat(
        static_cast<unsigned>(lanes_), entry_builder_.CreateLoad(type, at));
    if (is_bool) {
      all = entry_builder_.CreateZExtOrBitCast(all, vector_of(flag_type()));
    }
    Register& r = registers_[size_t(program_.n_inputs + u)];
    r.is_bool = is_bool;
    r.set_all(all);
  }

  Value* address(int operand, ScalarType dtype, int vector) {
    Value* const at =
        vector == 0 ? static_cast<Value*>(place_)
                    : builder_.CreateAdd(
                          place_, builder_.getInt64(uint64_t(vector * lanes_)),
                          "", true, true);
    return builder_.CreateGEP(type_of(context_, dtype), data_[size_t(operand)],
                              at);
  }

  // All operands are read before a result is written, which may be in the very
  // memory of one.
  void read(int k) {
    const ScalarType dtype = request_.inputs[size_t(k)].dtype;
    const bool is_bool = (program_.bool_inputs >> k & 1) != 0;
    Register& r = registers_[size_t(k)];
    r.is_bool = is_bool;
    for (int v = 0; v < vectors_; ++v) {
      Value* const x =
          builder_.CreateAlignedLoad(vector_of(type_of(context_, dtype)),
                                     address(k, dtype, v), llvm::Align(1));
      r.of[v] = into_register(builder_, x, dtype, is_bool);
    }
  }

  void step(const program::Step& s) {
    const lang::PrimInfo& info = lang::kPrims[static_cast<int>(s.op)];
    const int arity = lang::arity(info.type);
    const uint8_t operands[] = {s.a, s.b, s.c};
    llvm::Function* const f = prim(prim_name(s));
    if (is_slower(s.op)) throw Unable{prim_name(s) + " is not compiled"};
    using enum lang::PrimType;
    Register out;
    out.is_bool = info.type == T_B || info.type == TT_B || info.type == B_B ||
                  info.type == BB_B;
    out.is_single = true;
    for (int k = 0; k < arity; ++k) {
      out.is_single &= registers_[operands[k]].is_single;
    }
    llvm::Type* const result =
        vector_of(out.is_bool ? flag_type() : element_type());
    llvm::IRBuilder<>& b = out.is_single ? entry_builder_ : builder_;
    const std::string name = prim_name(s, "special_");
    llvm::Function* const special =
        is_never(*find(name)) ? nullptr : prim(name);
    Value*& any = out.is_single ? single_special_ : special_;
    const int vectors = out.is_single ? 1 : vectors_;
    if (s.op == lang::Prim::pow && program::is_floating(request_.compute) &&
        registers_[s.b].is_single) {
      power(b, f, registers_[s.a], registers_[s.b], vectors, &out);
      registers_[s.dst] = out;
      return;
    }
    for (int v = 0; v < vectors; ++v) {
      Value* in[3] = {};
      for (int k = 0; k < arity; ++k) in[k] = registers_[operands[k]].of[v];
      out.of[v] = call(b, f, {in[0], in[1], in[2]}, result);
      if (special == nullptr) continue;
      Value* const found =
          call(b, special, {in[0], in[1], in[2]}, builder_.getInt32Ty());
      any = any == nullptr ? found : b.CreateOr(any, found);
    }
    if (out.is_single) out.set_all(out.of[0]);
    registers_[s.dst] = out;
  }

  // pow by an exponent that is the same everywhere: a block for each name.
  void power(llvm::IRBuilder<>& b, llvm::Function* pow, const Register& base,
             const Register& exponent, int vectors, Register* out) {
    llvm::Type* const type = vector_of(element_type());
    Value* const e =
        entry_builder_.CreateExtractElement(exponent.of[0], uint64_t{0});
    auto* const done = llvm::BasicBlock::Create(context_, "done", function_);
    llvm::IRBuilder<> phis(done);
    llvm::PHINode* made[kMostVectors] = {};
    for (int v = 0; v < vectors; ++v) {
      made[v] = phis.CreatePHI(type, std::size(kNamedPowers) + 1);
    }
    for (const NamedPower& named : kNamedPowers) {
      auto* const yes = llvm::BasicBlock::Create(context_, "named", function_);
      auto* const no = llvm::BasicBlock::Create(context_, "other", function_);
      b.CreateCondBr(b.CreateFCmpOEQ(e, llvm::ConstantFP::get(e->getType(),
                                                              named.exponent)),
                     yes, no);
      b.SetInsertPoint(yes);
      llvm::Function* const first = prim(prim_name(named.first));
      llvm::Function* const then = prim(prim_name(named.then));
      for (int v = 0; v < vectors; ++v) {
        Value* const x = call(b, first, {base.of[v]}, type);
        made[v]->addIncoming(call(b, then, {x, base.of[v]}, type), yes);
      }
      b.CreateBr(done);
      b.SetInsertPoint(no);
    }
    for (int v = 0; v < vectors; ++v) {
      made[v]->addIncoming(call(b, pow, {base.of[v], exponent.of[v]}, type),
                           b.GetInsertBlock());
    }
    b.CreateBr(done);
    b.SetInsertPoint(done);
    std::copy_n(made, vectors, out->of);
    if (out->is_single) out->set_all(out->of[0]);
  }

  void write(int k) {
    const ScalarType dtype = request_.results[size_t(k)];
    const program::Result& result = request_.registers[size_t(k)];
    const Register& r = registers_[result.reg];
    for (int v = 0; v < vectors_; ++v) {
      stores_.push_back({into_memory(r.of[v], dtype, result.is_bool),
                         address(program_.n_inputs + k, dtype, v)});
    }
    if (k + 1 < program_.n_results) return;
    if (stops()) stop_if_special();
    for (const auto& [value, at] : stores_) {
      builder_.CreateAlignedStore(value, at, llvm::Align(1));
    }
  }

  // Takes what is called into the module, to be inlined.
  void link() {
    if (!has_target_) {
      // Nothing is called: a copy or a conversion of Half.
      for (const llvm::Function& f : *prims_) {
        if (f.hasFnAttribute("target-features")) {
          take_target(f);
          break;
        }
      }
    }
    std::vector<std::string> names;
    for (const llvm::Function& f : *module_) {
      if (f.isDeclaration() && !f.isIntrinsic()) {
        names.push_back(f.getName().str());
      }
    }
    if (llvm::Linker::linkModules(*module_, std::move(prims_),
                                  llvm::Linker::LinkOnlyNeeded)) {
      throw Unable{"the primitives do not link"};
    }
    for (const std::string& name : names) {
      llvm::Function* const f = module_->getFunction(name);
      f->setLinkage(llvm::GlobalValue::InternalLinkage);
      f->removeFnAttr(llvm::Attribute::NoInline);
      f->addFnAttr(llvm::Attribute::AlwaysInline);
    }
  }

  const Request& request_;
  const program::Program& program_;
  llvm::LLVMContext& context_;
  llvm::IRBuilder<> builder_, entry_builder_;  // of the loop, and before it
  std::unique_ptr<llvm::Module> module_, prims_;
  int lanes_ = 0, vectors_ = 1;
  const char* type_ = nullptr;
  llvm::Function* function_ = nullptr;
  llvm::BasicBlock *entry_ = nullptr, *body_ = nullptr;
  llvm::PHINode* place_ = nullptr;
  // Not 0 if an element of this iteration needs slow code, or one that all
  // iterations read; nullptr if there is no such code.
  Value *special_ = nullptr, *single_special_ = nullptr;
  bool has_target_ = false;
  std::vector<Value*> data_;
  std::vector<Register> registers_;
  std::vector<std::pair<Value*, Value*>> stores_;
};

}  // namespace

Emitted emit(const Request& request, llvm::LLVMContext& context,
             std::string* why) {
  try {
    return Emitter(request, context).run();
  } catch (const Unable& e) {
    *why = e.why;
    return {};
  }
}

}  // namespace sy::cpu::jit
