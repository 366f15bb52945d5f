#include "frontend/compile/reach.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>

#include "c10/memory/pool.h"
#include "frontend/compile/heap.h"
#include "frontend/compile/stack.h"

namespace sy::compiling {

namespace {

constexpr size_t kWord = sizeof(uintptr_t);
// The most bytes of one variable or object: a larger one is seen in part.
constexpr size_t kMost = 512;
// The bytes to read if nobody knows the size.
constexpr size_t kLeast = 64;
constexpr size_t kMostTargets = 64;
constexpr size_t kMostBlock = 1 << 16;  // larger ones are none

bool may_be_address(uintptr_t word) {
  return word >= uintptr_t{1} << 32 && word < uintptr_t{1} << 47 &&
         word % kWord == 0;
}

// The library, or the program, that has an address; nullptr if none has.
const void* module_of(const void* at) {
  Dl_info info;
  return dladdr(at, &info) == 0 ? nullptr : info.dli_fbase;
}

bool is_own_class(uintptr_t first_word) {
  static const void* const own =
      module_of(reinterpret_cast<const void*>(&is_own_class));
  return may_be_address(first_word) &&
         module_of(reinterpret_cast<const void*>(first_word)) == own;
}

// Whether a TensorImpl is alive there, in pool memory: its sizes lie in it too,
// and it has owners, where a free block has a pointer. Tensors of many dims,
// whose sizes lie elsewhere, are not found.
bool is_tensor(const void* at) {
  constexpr uint32_t kMostOwners = 4096;
  const auto* const t = static_cast<const TensorImpl*>(at);
  const IntArrayRef sizes = t->sizes();
  const auto offset = reinterpret_cast<const char*>(sizes.data()) -
                      static_cast<const char*>(at);
  return offset > 0 && offset < static_cast<std::ptrdiff_t>(sizeof *t) &&
         sizes.size() <= 8 && t->use_count() - 1 < kMostOwners &&
         t->weak_use_count() - 1 < kMostOwners;
}

}  // namespace

std::vector<uintptr_t> words_of(const Arguments& a) {
  std::vector<uintptr_t> words(a.closure_bytes / kWord);
  if (!words.empty())
    std::memcpy(words.data(), a.closure, words.size() * kWord);
  return words;
}

Reach::Reach(const Arguments& a) {
  take({a.closure, false, true, a.closure_bytes});
  for (size_t first = 0, level = 0; level < 2; ++level) {
    const size_t next = images_.size();
    for (const Target& p : behind(first)) take(p);
    if (level == 0) find_tensors();
    first = next;
  }
}

void Reach::find_tensors() {
  const auto add = [this](uintptr_t word) {
    auto* const at = reinterpret_cast<TensorImpl*>(word);
    if (may_be_address(word) && word % 64 == 0 && is_pool_memory(at) &&
        is_tensor(at) &&
        std::find(tensors_.begin(), tensors_.end(), at) == tensors_.end()) {
      tensors_.push_back(at);
    }
  };
  for (size_t i = 0; i < images_.size(); ++i) {
    if (i != 0) {
      add(images_[i].words[0]);
      continue;
    }
    for (const uintptr_t word : images_[0].words) add(word);
  }
}

bool Reach::has(const void* at) const {
  return std::any_of(images_.begin(), images_.end(), [&](const Image& i) {
    const auto offset = static_cast<const char*>(at) - i.at;
    return offset >= 0 &&
           offset < static_cast<std::ptrdiff_t>(i.words.size() * kWord);
  });
}

Reach::Target Reach::target_at(const void* at) {
  const void* const frame = __builtin_frame_address(0);
  if (!is_on_stack(at, kWord, frame)) {
    const auto* const first = static_cast<const char*>(at);
    const size_t bytes = object_on_heap(first, kMostBlock);
    return {at, false, bytes != 0,
            bytes == 0 ? kLeast : std::min(bytes, kMost)};
  }
  size_t bytes = kMost;
  while (!is_on_stack(at, bytes, frame)) bytes -= kWord;
  return {at, true, true, bytes};
}

std::vector<Reach::Target> Reach::behind(size_t first) const {
  std::vector<Target> targets;
  for (size_t i = first; i < images_.size(); ++i) {
    const Image& image = images_[i];
    // The stack behind a variable has other variables, and remains of calls:
    // pointers to blocks that are free.
    const size_t n = image.on_stack ? 1 : image.words.size();
    for (size_t k = 0; k < n; ++k) {
      // Numbers and flags that the callable refers to lie within a word. A word
      // of an object that is no address may be a flag beside what was there
      // before.
      const uintptr_t word =
          i == 0 ? image.words[k] & ~(kWord - 1) : image.words[k];
      const auto* const at = reinterpret_cast<const void*>(word);
      const bool known =
          std::any_of(targets.begin(), targets.end(),
                      [&](const Target& p) { return p.at == at; });
      // Code and global variables belong to a library.
      const bool is_block =
          !image.on_stack ||
          bytes_on_heap(static_cast<const char*>(at), kMostBlock) != 0;
      if (known || !may_be_address(word) || !is_block || has(at) ||
          module_of(at) != nullptr || is_pool_memory(at)) {
        continue;
      }
      if (targets.size() == kMostTargets) return targets;
      targets.push_back(target_at(at));
      if (i == 0) continue;
      targets.back().from = static_cast<int>(i);
      targets.back().word = k;
    }
  }
  return targets;
}

void Reach::take(const Target& p) {
  Image image{static_cast<const char*>(p.at),
              p.on_stack,
              p.has_size,
              p.from,
              p.word,
              {}};
  image.words.resize(p.bytes / kWord);
  if (image.words.empty() ||
      !read_memory(p.at, image.words.data(), image.words.size() * kWord)) {
    return;
  }
  if (!images_.empty() && is_own_class(image.words[0])) return;
  images_.push_back(std::move(image));
}

}  // namespace sy::compiling
