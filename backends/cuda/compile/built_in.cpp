#include <algorithm>
#include <cstdio>

#include "backends/cuda/compile/pack.h"
#include "c10/process/error.h"

// The symbols of the object that bake/kernels.bzl makes. Null where it is not
// linked.
extern "C" {
[[gnu::weak]] extern const char sy_cuda_built_in_begin[];
[[gnu::weak]] extern const char sy_cuda_built_in_end[];
}

namespace sy::cuda {

namespace {

struct BuiltIn {
  std::vector<std::unique_ptr<Pack>> packs;
  std::string why;  // there are none
};

BuiltIn read() {
  BuiltIn out;
  const char* const begin = sy_cuda_built_in_begin;
  if (begin == nullptr) {
    out.why = "the library was built without kernels";
    return out;
  }
  std::string_view rest(begin,
                        static_cast<size_t>(sy_cuda_built_in_end - begin));
  if (rest.empty()) {
    out.why = "there was no NVRTC when the library was built";
  }
  while (!rest.empty()) {
    std::string why;
    auto pack = Pack::at(rest, "the kernels in the library", &why);
    if (pack == nullptr) {
      std::fprintf(stderr, "switchyard: cuda: %s\n", why.c_str());
      if (out.packs.empty()) out.why = why;
      return out;
    }
    rest.remove_prefix(pack->bytes());
    out.packs.push_back(std::move(pack));
  }
  return out;
}

// Leaked: threads may outlive everything.
const BuiltIn& built_in() {
  static const auto& all = *new BuiltIn(read());
  return all;
}

}  // namespace

bool find_built_in(const Hash& key, int architecture, Image* image) {
  for (const auto& p : built_in().packs) {
    std::string why;
    if (p->find(key, architecture, image, &why)) return true;
  }
  return false;
}

std::string describe_built_in() {
  const BuiltIn& all = built_in();
  if (all.packs.empty()) return "none: " + all.why;
  size_t kernels = 0;
  for (const auto& p : all.packs) kernels += p->size();
  return str("{} for {}", kernels, all.packs[0]->targets());
}

std::string why_not_built_in(int architecture) {
  const BuiltIn& all = built_in();
  if (all.packs.empty()) return all.why;
  if (std::any_of(all.packs.begin(), all.packs.end(),
                  [&](const auto& p) { return p->serves(architecture); })) {
    return "";
  }
  return str("the kernels in the library are for {}, the device is sm_{}",
             all.packs[0]->targets(), architecture);
}

}  // namespace sy::cuda
