#include "backends/cuda/compile/nvrtc.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "backends/cuda/driver/api.h"
#include "backends/cuda/driver/library.h"
#include "c10/process/environment.h"
#include "c10/process/error.h"

namespace sy::cuda {

namespace {

// nvrtcResult.
enum NvrtcResult : int {
  kDone = 0,
  kInvalidOption = 5,
  kDoesNotCompile = 6,
};
using Handle = struct _nvrtcProgram*;

// X(member, symbol, arguments); all return a result.
#define SY_CUDA_NVRTC_FUNCTIONS(X)                                     \
  X(version, "nvrtcVersion", (int*, int*))                             \
  X(count_architectures, "nvrtcGetNumSupportedArchs", (int*))          \
  X(architectures, "nvrtcGetSupportedArchs", (int*))                   \
  X(create, "nvrtcCreateProgram",                                      \
    (Handle*, const char* text, const char* name, int num_headers,     \
     const char* const* headers, const char* const* include_names))    \
  X(destroy, "nvrtcDestroyProgram", (Handle*))                         \
  X(compile, "nvrtcCompileProgram", (Handle, int, const char* const*)) \
  X(log_size, "nvrtcGetProgramLogSize", (Handle, size_t*))             \
  X(log, "nvrtcGetProgramLog", (Handle, char*))                        \
  X(cubin_size, "nvrtcGetCUBINSize", (Handle, size_t*))                \
  X(cubin, "nvrtcGetCUBIN", (Handle, char*))                           \
  X(ptx_size, "nvrtcGetPTXSize", (Handle, size_t*))                    \
  X(ptx, "nvrtcGetPTX", (Handle, char*))

std::atomic<bool> cancelled = false;
// Whether --minimal is understood: from 12.4 on.
std::atomic<bool> has_minimal = true;

int is_cancelled(void*, void*) {
  return cancelled.load(std::memory_order_relaxed) ? 1 : 0;
}

}  // namespace

struct Nvrtc::Api {
#define SY_MEMBER(member, symbol, arguments) int(*member) arguments;
  SY_CUDA_NVRTC_FUNCTIONS(SY_MEMBER)
#undef SY_MEMBER
  const char* (*error_string)(int);
  // From 12.9 on.
  int (*set_flow_callback)(Handle, int (*)(void*, void*), void*);
};

std::string to_string(const Target& t) {
  return str("{}_{}", t.is_ptx ? "compute" : "sm", t.architecture);
}

const Nvrtc* Nvrtc::open(std::string* why) {
  const char* const own = environment("SWITCHYARD_NVRTC");
  // A driver loads what compilers of its own major version make, and older.
  const bool is_older = driver::driver_info().version / 1000 == 12;
  const driver::Library library =
      own != nullptr && *own != '\0'
          ? driver::open_file(own, "SWITCHYARD_NVRTC", why)
      : is_older
          ? driver::open_library({"libnvrtc.so.12", "libnvrtc.so.13"}, why)
          : driver::open_library({"libnvrtc.so.13", "libnvrtc.so.12"}, why);
  if (!library) return nullptr;
  Api api = {};
  bool all = true;
  const auto find = [&](auto* member, const char* symbol, bool is_needed) {
    *member = reinterpret_cast<std::remove_reference_t<decltype(*member)>>(
        library.symbol(symbol));
    if (*member == nullptr && is_needed && all) {
      *why = str("{} has no function {}", library.path, symbol);
      all = false;
    }
  };
#define SY_FIND(member, symbol, arguments) find(&api.member, symbol, true);
  SY_CUDA_NVRTC_FUNCTIONS(SY_FIND)
#undef SY_FIND
  find(&api.error_string, "nvrtcGetErrorString", true);
  find(&api.set_flow_callback, "nvrtcSetFlowCallback", false);
  if (!all) return nullptr;

  Nvrtc out;
  int count = 0;
  if (api.version(&out.major_, &out.minor_) != kDone ||
      api.count_architectures(&count) != kDone || count <= 0) {
    *why = str("{} does not tell its version", library.path);
    return nullptr;
  }
  out.architectures_.resize(static_cast<size_t>(count));
  if (api.architectures(out.architectures_.data()) != kDone) {
    *why = str("{} does not tell its architectures", library.path);
    return nullptr;
  }
  std::sort(out.architectures_.begin(), out.architectures_.end());
  out.path_ = library.path;
  out.place_ = library.place;
  out.api_ = new Api(api);
  return new Nvrtc(std::move(out));
}

const Nvrtc* Nvrtc::get(std::string* why) {
  struct Opened {
    std::string why;
    const Nvrtc* nvrtc;
  };
  // Leaked: threads may outlive everything.
  static const auto* const opened = [] {
    auto* const o = new Opened;
    o->nvrtc = open(&o->why);
    return o;
  }();
  if (opened->nvrtc == nullptr && why != nullptr) *why = opened->why;
  return opened->nvrtc;
}

Target Nvrtc::target_for(int architecture) const {
  const auto above = std::upper_bound(architectures_.begin(),
                                      architectures_.end(), architecture);
  SY_CHECK(above != architectures_.begin(), Error,
           "[cuda] NVRTC {}.{} compiles for sm_{} and newer devices, this one "
           "is sm_{}: use an older NVRTC ($SWITCHYARD_NVRTC)",
           major_, minor_, architectures_.front(), architecture);
  const int best = above[-1];
  return {best, best != architecture};
}

std::vector<std::string> Nvrtc::options(const Target& target,
                                        bool minimal) const {
  // A product and a sum are one step only where a program says so.
  // Plain functions and constants of shared sources are the device's.
  std::vector<std::string> out = {"--gpu-architecture=" + to_string(target),
                                  "--std=c++17", "--fmad=false",
                                  "--device-as-default-execution-space"};
  if (minimal) out.emplace_back("--minimal");
  return out;
}

std::string Nvrtc::fingerprint(const Target& target) const {
  std::string out = str("{}.{}", major_, minor_);
  for (const std::string& o : options(target, false)) out += " " + o;
  return out;
}

bool Nvrtc::compile(const Unit& unit, const Target& target, std::string* image,
                    std::string* log) const {
  if (cancelled) {
    *log = "the process ends";
    return false;
  }
  // NVRTC wants ends.
  std::vector<std::string> owned;
  owned.reserve(2 * unit.headers.size());
  std::vector<const char*> names, texts;
  for (const SourceFile* const f : unit.headers) {
    names.push_back(owned.emplace_back(f->name).c_str());
    texts.push_back(owned.emplace_back(f->text).c_str());
  }
  const auto explain = [&](const char* what, int result) {
    *log = str("NVRTC {}.{} ({}): {}: {}", major_, minor_, path_, what,
               api_->error_string(result));
    return false;
  };
  struct Program {
    const Api* api;
    Handle handle = nullptr;
    ~Program() {
      if (handle != nullptr) api->destroy(&handle);
    }
  } program{api_};
  int r =
      api_->create(&program.handle, unit.text.c_str(), unit.name.c_str(),
                   static_cast<int>(names.size()), texts.data(), names.data());
  if (r != kDone) return explain("nvrtcCreateProgram", r);
  if (api_->set_flow_callback != nullptr) {
    api_->set_flow_callback(program.handle, &is_cancelled, nullptr);
  }

  const auto attempt = [&](bool minimal) {
    const std::vector<std::string> list = options(target, minimal);
    std::vector<const char*> pointers;
    for (const std::string& o : list) pointers.push_back(o.c_str());
    return api_->compile(program.handle, static_cast<int>(pointers.size()),
                         pointers.data());
  };
  const bool minimal = has_minimal;
  r = attempt(minimal);
  if (r == kInvalidOption && minimal) {
    has_minimal = false;
    r = attempt(false);
  }
  if (r != kDone) {
    explain("nvrtcCompileProgram", r);
    size_t size = 0;
    if (api_->log_size(program.handle, &size) == kDone && size > 1) {
      std::string text(size, '\0');
      if (api_->log(program.handle, text.data()) == kDone) {
        text.resize(std::min(text.find('\0'), text.size()));
        *log = r == kDoesNotCompile ? std::move(text) : *log + "\n" + text;
      }
    }
    return false;
  }

  size_t size = 0;
  r = target.is_ptx ? api_->ptx_size(program.handle, &size)
                    : api_->cubin_size(program.handle, &size);
  if (r == kDone) {
    image->assign(size, '\0');
    r = target.is_ptx ? api_->ptx(program.handle, image->data())
                      : api_->cubin(program.handle, image->data());
  }
  if (r != kDone) return explain("the result", r);
  if (image->empty()) return explain("no result", r);
  return true;
}

void Nvrtc::cancel() noexcept { cancelled = true; }

}  // namespace sy::cuda
