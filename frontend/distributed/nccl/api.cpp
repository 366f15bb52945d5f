#include "frontend/distributed/nccl/api.h"

#include <dlfcn.h>

#include <initializer_list>
#include <string>

#include "c10/process/environment.h"
#include "c10/process/error.h"

namespace sy::distributed::nccl {

namespace {

std::string dl_text() {
  const char* const text = dlerror();
  return text != nullptr ? text : "dlopen failed";
}

void* open(const char* variable, std::initializer_list<const char*> names) {
  const char* const path = environment(variable);
  std::string why;
  if (path != nullptr) {
    if (void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
      return library;
    }
    why = dl_text();
  } else {
    for (const char* name : names) {
      if (void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
        return library;
      }
      if (!why.empty()) why += "; ";
      why += dl_text();
    }
  }
  fail(ErrorKind::Error,
       "[nccl] connect: {}. Install it, or name its file by {}", why, variable);
}

void* symbol_of(void* library, const char* name) {
  void* const symbol = dlsym(library, name);
  SY_CHECK(symbol != nullptr, Error,
           "[nccl] connect: expected NCCL 2.14 or newer and its CUDA runtime: "
           "{}",
           dl_text());
  return symbol;
}

Api load() {
  void* const nccl = open("SWITCHYARD_NCCL", {"libnccl.so.2"});
  void* const cuda =
      open("SWITCHYARD_CUDART",
           {"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"});
  Api a;
#define SY_LOAD(member, symbol, result, arguments) \
  a.member = reinterpret_cast<decltype(a.member)>(symbol_of(from, symbol));
  void* from = nccl;
  SY_NCCL_FUNCTIONS(SY_LOAD)
  from = cuda;
  SY_CUDA_FUNCTIONS(SY_LOAD)
#undef SY_LOAD
  return a;
}

}  // namespace

void Api::check(int code, const char* what, Comm comm) const {
  if (code == kSuccess || code == kInProgress) return;
  const char* const detail = last_error(comm);
  const bool more = detail != nullptr && *detail != '\0';
  fail(ErrorKind::Error, "[nccl] {}: {}{}{}", what, error_string(code),
       more ? ": " : "", more ? detail : "");
}

void Api::check_cuda(int code, const char* what) const {
  SY_CHECK(code == kSuccess, Error, "[nccl] {}: CUDA: {}", what,
           cuda_error_string(code));
}

const Api& api() {
  static const Api& loaded = *new Api(load());
  return loaded;
}

}  // namespace sy::distributed::nccl
