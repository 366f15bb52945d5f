#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "test/backends/cuda/fake/nvrtc/compile.h"
#include "test/backends/cuda/fake/nvrtc/options.h"

// NVRTC's C interface, as libnvrtc.so has it.

namespace {

enum Result : int {
  kSuccess = 0,
  kInvalidInput = 3,
  kInvalidProgram = 4,
  kInvalidOption = 5,
  kCompilation = 6,
  kNoLoweredNames = 9,
  kNameNotValid = 10,
};

struct Program {
  fake_nvrtc::Source source;
  std::string log, image;
  bool compiled = false, virtual_target = false;
};

struct Programs {
  std::mutex mutex;
  std::unordered_map<void*, std::shared_ptr<Program>> living;
};
Programs& programs() {
  static Programs* const p = new Programs;
  return *p;
}

std::shared_ptr<Program> find(void* handle) {
  Programs& p = programs();
  const std::lock_guard lock(p.mutex);
  const auto it = p.living.find(handle);
  return it == p.living.end() ? nullptr : it->second;
}

constexpr int kTargets[] = {75, 80,  86,  87,  88,  89,
                            90, 100, 103, 110, 120, 121};

Result write(const std::string& text, char* out, bool with_end) {
  if (out == nullptr) return kInvalidInput;
  std::memcpy(out, text.data(), text.size());
  if (with_end) out[text.size()] = 0;
  return kSuccess;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

const char* nvrtcGetErrorString(Result r) {
  switch (r) {
    case kSuccess: return "NVRTC_SUCCESS";
    case kInvalidInput: return "NVRTC_ERROR_INVALID_INPUT";
    case kInvalidProgram: return "NVRTC_ERROR_INVALID_PROGRAM";
    case kInvalidOption: return "NVRTC_ERROR_INVALID_OPTION";
    case kCompilation: return "NVRTC_ERROR_COMPILATION";
    case kNoLoweredNames:
      return "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION";
    case kNameNotValid: return "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID";
  }
  return "NVRTC_ERROR unknown";
}

Result nvrtcVersion(int* major, int* minor) {
  if (major == nullptr || minor == nullptr) return kInvalidInput;
  *major = 13;
  *minor = 0;
  return kSuccess;
}

Result nvrtcGetNumSupportedArchs(int* count) {
  if (count == nullptr) return kInvalidInput;
  *count = static_cast<int>(std::size(kTargets));
  return kSuccess;
}

Result nvrtcGetSupportedArchs(int* targets) {
  if (targets == nullptr) return kInvalidInput;
  std::memcpy(targets, kTargets, sizeof kTargets);
  return kSuccess;
}

Result nvrtcCreateProgram(void** handle, const char* text, const char* name,
                          int num_headers, const char* const* headers,
                          const char* const* names) {
  if (handle == nullptr || text == nullptr || num_headers < 0 ||
      (num_headers > 0 && (headers == nullptr || names == nullptr))) {
    return kInvalidInput;
  }
  auto program = std::make_shared<Program>();
  program->source.name =
      name == nullptr || *name == 0 ? "default_program" : name;
  program->source.text = text;
  for (int i = 0; i < num_headers; ++i) {
    program->source.headers.emplace_back(names[i], headers[i]);
  }
  *handle = program.get();
  Programs& p = programs();
  const std::lock_guard lock(p.mutex);
  p.living[*handle] = std::move(program);
  return kSuccess;
}

Result nvrtcDestroyProgram(void** handle) {
  if (handle == nullptr) return kInvalidProgram;
  Programs& p = programs();
  const std::lock_guard lock(p.mutex);
  if (p.living.erase(*handle) == 0) return kInvalidProgram;
  *handle = nullptr;
  return kSuccess;
}

Result nvrtcCompileProgram(void* handle, int count,
                           const char* const* options) {
  const auto program = find(handle);
  if (program == nullptr) return kInvalidProgram;
  if (count < 0 || (count > 0 && options == nullptr)) return kInvalidInput;
  fake_nvrtc::Options parsed;
  if (!fake_nvrtc::parse_options({options, options + count}, &parsed,
                                 &program->log)) {
    return kInvalidOption;
  }
  fake_nvrtc::Compiled c = fake_nvrtc::compile(program->source, parsed);
  program->log = std::move(c.log);
  if (!c.good) return kCompilation;
  program->image = std::move(c.image);
  program->compiled = true;
  program->virtual_target = parsed.virtual_target;
  return kSuccess;
}

// Cubins are for real targets only; the size is 0 for others.
Result nvrtcGetCUBINSize(void* handle, size_t* bytes) {
  const auto program = find(handle);
  if (program == nullptr || !program->compiled) return kInvalidProgram;
  if (bytes == nullptr) return kInvalidInput;
  *bytes = program->virtual_target ? 0 : program->image.size();
  return kSuccess;
}

Result nvrtcGetCUBIN(void* handle, char* out) {
  const auto program = find(handle);
  if (program == nullptr || !program->compiled) return kInvalidProgram;
  if (program->virtual_target) return kInvalidProgram;
  return write(program->image, out, false);
}

// The same shared object: cuModuleLoadData takes it as it takes PTX.
Result nvrtcGetPTXSize(void* handle, size_t* bytes) {
  const auto program = find(handle);
  if (program == nullptr || !program->compiled) return kInvalidProgram;
  if (bytes == nullptr) return kInvalidInput;
  *bytes = program->image.size() + 1;
  return kSuccess;
}

Result nvrtcGetPTX(void* handle, char* out) {
  const auto program = find(handle);
  if (program == nullptr || !program->compiled) return kInvalidProgram;
  return write(program->image, out, true);
}

Result nvrtcGetProgramLogSize(void* handle, size_t* bytes) {
  const auto program = find(handle);
  if (program == nullptr) return kInvalidProgram;
  if (bytes == nullptr) return kInvalidInput;
  *bytes = program->log.size() + 1;
  return kSuccess;
}

Result nvrtcGetProgramLog(void* handle, char* out) {
  const auto program = find(handle);
  if (program == nullptr) return kInvalidProgram;
  return write(program->log, out, true);
}

// Kernels are extern "C": their names stay.
Result nvrtcAddNameExpression(void* handle, const char* name) {
  if (find(handle) == nullptr) return kInvalidProgram;
  return name == nullptr ? kInvalidInput : kSuccess;
}

Result nvrtcGetLoweredName(void* handle, const char* name, const char** out) {
  const auto program = find(handle);
  if (program == nullptr) return kInvalidProgram;
  if (!program->compiled) return kNoLoweredNames;
  if (name == nullptr || out == nullptr) return kInvalidInput;
  *out = name;
  return kSuccess;
}

}  // extern "C"
#pragma GCC visibility pop
