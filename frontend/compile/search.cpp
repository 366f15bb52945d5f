#include "frontend/compile/search.h"

#include <link.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <iterator>
#include <memory>
#include <unordered_map>
#include <utility>

#include "aten/backend/capture.h"
#include "c10/dispatch/capture.h"
#include "c10/memory/pool.h"
#include "c10/process/fork.h"
#include "frontend/compile/heap.h"
#include "frontend/compile/reach.h"
#include "frontend/compile/stack.h"

namespace sy::compiling {

namespace {

constexpr size_t kWord = sizeof(uintptr_t);
// The most bytes of the stack at a variable, and of an object.
constexpr size_t kMostOnStack = 512, kMostInObject = 4096;
constexpr size_t kVariable = 32;
constexpr size_t kAlignment = 16;     // of blocks
constexpr size_t kUnknownSize = 512;  // of an object; it may be smaller
// Objects behind a word, and behind all such words: of the callable and its
// variables, and of what lies beside these.
struct Budget {
  size_t each, all;
};
constexpr Budget kNear{128, 1024}, kBeside{16, 1024};
constexpr int kMostElsewhere = 64;
constexpr size_t kMostBlock = 1 << 20;  // larger ones are none
// Larger libraries keep their global variables to themselves.
constexpr size_t kMostGlobal = 1 << 20;

struct Range {
  uintptr_t begin = 0, end = 0;
  bool has(uintptr_t at) const { return at >= begin && at < end; }
};

// The loaded libraries, in the order of addresses, and the writable parts of
// the one that has `code`.
struct Libraries {
  uintptr_t code;
  std::vector<Range> all{}, written{};

  explicit Libraries(const void* code)
      : code(reinterpret_cast<uintptr_t>(code)) {
    const ForkSection section;  // the dynamic linker has a lock
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* to) {
          static_cast<Libraries*>(to)->add(*info);
          return 0;
        },
        this);
    std::sort(all.begin(), all.end(),
              [](Range x, Range y) { return x.begin < y.begin; });
  }

  // The one that has an address; nullptr if none has.
  const Range* find(uintptr_t at) const {
    const auto next = std::upper_bound(
        all.begin(), all.end(), at,
        [](uintptr_t x, const Range& r) { return x < r.begin; });
    return next != all.begin() && std::prev(next)->has(at) ? &*std::prev(next)
                                                           : nullptr;
  }

 private:
  void add(const dl_phdr_info& info) {
    Range whole{UINTPTR_MAX, 0}, constant;  // once it has been relocated
    std::vector<Range> parts;
    for (int i = 0; i < info.dlpi_phnum; ++i) {
      const ElfW(Phdr)& p = info.dlpi_phdr[i];
      const uintptr_t begin = info.dlpi_addr + p.p_vaddr;
      const Range part{begin, begin + p.p_memsz};
      if (p.p_type == PT_GNU_RELRO) constant = part;
      if (p.p_type != PT_LOAD) continue;
      whole.begin = std::min(whole.begin, part.begin);
      whole.end = std::max(whole.end, part.end);
      if ((p.p_flags & PF_W) != 0) parts.push_back(part);
    }
    all.push_back(whole);
    if (!whole.has(code)) return;
    for (Range& r : parts) {
      if (constant.has(r.begin)) r.begin = std::min(constant.end, r.end);
    }
    written = std::move(parts);
  }
};

}  // namespace

class Search::Finder {
 public:
  Finder(std::vector<const void*> tensors, const void* code, Search* to)
      : tensors_(std::move(tensors)), to_(*to), libraries_(code) {
    std::sort(tensors_.begin(), tensors_.end());
    own_ = libraries_.find(reinterpret_cast<uintptr_t>(&main_heap));
    if (const capture::Engine* const engine = capture::engine()) {
      uintptr_t functions;
      std::memcpy(&functions, static_cast<const void*>(engine), kWord);
      engine_ = libraries_.find(functions);
    }
  }

  void run(const Arguments& a) {
    const std::vector<uintptr_t> words = words_of(a);
    size_t end = kNear.all;
    for (const uintptr_t word : words) {
      most_ = std::min(to_.objects_.size() + kNear.each, end);
      follow(word, nullptr, -1);
      look_in_all();
    }
    // Memory behind a variable may be another one's.
    for (const uintptr_t word : words) {
      look_at_variables(word, 0, kVariable, kNear.each, end, a);
    }
    look_at_globals();
    end = to_.objects_.size() + kBeside.all;
    for (const uintptr_t word : words) {
      look_at_variables(word, kVariable, kMostOnStack, kBeside.each, end, a);
    }
  }

 private:
  // Looks at the variables from `from` on: the words from the first to the last
  // byte, and up to `most` objects behind each, `end` in all.
  void look_at_variables(uintptr_t from, size_t first, size_t last, size_t most,
                         size_t end, const Arguments& a) {
    if (!may_be_pointer(from)) return;
    const auto* const at = reinterpret_cast<const char*>(from & ~(kWord - 1));
    for (size_t i = first; i < last; i += kWord) {
      if (!is_on_stack(at + i, kWord, __builtin_frame_address(0))) break;
      if (overlap(at + i, kWord, a.closure, a.closure_bytes)) continue;
      most_ = std::min(to_.objects_.size() + most, end);
      uintptr_t word;
      WatchedBytes::take(at + i, &word, kWord);
      look_at(at + i, word, -1);
      look_in_all();
    }
  }

  void look_at_globals() {
    if (is_own(libraries_.code)) return;
    for (const Range& r : libraries_.written) {
      if (r.end - r.begin > kMostGlobal) continue;
      for (uintptr_t at = (r.begin + kWord - 1) & ~(kWord - 1);
           at + kWord <= r.end; at += kWord) {
        const void* word;
        const auto* const p = reinterpret_cast<const void*>(at);
        WatchedBytes::take(p, &word, kWord);
        if (is_wanted(word)) to_.found_.push_back({p, word, -1});
      }
    }
  }

  bool is_wanted(const void* word) const {
    return std::binary_search(tensors_.begin(), tensors_.end(), word);
  }

  void look_at(const void* at, uintptr_t word, int object) {
    const auto* const p = reinterpret_cast<const void*>(word);
    if (is_wanted(p)) {
      to_.found_.push_back({at, p, object});
    } else {
      follow(word, at, object);
    }
  }

  void look_in_all() {
    while (!next_.empty()) {
      const int i = next_.front();
      next_.pop_front();
      look_in(i);
    }
  }

  void look_in(int i) {
    const Search::Object o = to_.objects_[static_cast<size_t>(i)];
    const size_t n = std::min(sizes_[static_cast<size_t>(i)], kMostInObject);
    std::vector<uintptr_t> words(n / kWord);
    while (!read_bytes(o.at, words.data(), words.size() * kWord)) {
      words.resize(words.size() / 2);
      if (words.empty()) return;
    }
    if (is_own(words[0])) return;
    for (size_t k = 0; k < words.size(); ++k) {
      look_at(o.at + k * kWord, words[k], i);
    }
    is_cut_[static_cast<size_t>(i)] = is_over();
  }

  bool is_over() const { return to_.objects_.size() >= most_; }

  // glibc's malloc has parts of this size for threads, which begin at multiples
  // of it.
  static uintptr_t arena_of(uintptr_t at) { return at / (64 << 20); }

  // Whether the address is of this library or of the one that captures: these
  // have the virtual functions of their classes, too.
  bool is_own(uintptr_t at) const {
    return (own_ != nullptr && own_->has(at)) ||
           (engine_ != nullptr && engine_->has(at));
  }

  void follow(uintptr_t word, const void* pointer, int from) {
    const bool may_be = word >= uintptr_t{1} << 32 &&
                        word < uintptr_t{1} << 47 && word % kWord == 0;
    const auto* const at = reinterpret_cast<const char*>(word);
    if (!may_be || is_over() || is_pool_memory(at)) return;
    if (const auto known = known_.find(word); known != known_.end()) {
      const int i = known->second;
      // It was one too many behind the word before.
      if (is_cut_[static_cast<size_t>(i)]) next_.push_back(i);
      is_cut_[static_cast<size_t>(i)] = false;
      return;
    }
    if (!main_heap().has(at, kWord) && arena_of(word) != arena_) {
      // It costs a call of the system.
      if (elsewhere_ >= kMostElsewhere || libraries_.find(word) != nullptr ||
          is_stack_memory(at)) {
        return;
      }
      ++elsewhere_;
    }
    size_t size = kUnknownSize;
    if (has_glibc_malloc()) {
      size = word % kAlignment == 0 ? object_on_heap(at, kMostBlock) : 0;
    }
    if (size < kWord) return look_within(at, pointer, from);
    const int i = add(at, size, pointer, from);
    // Nodes of a container are of one size, and hang together.
    if (from >= 0 && sizes_[static_cast<size_t>(from)] == size) {
      next_.push_front(i);
    } else {
      next_.push_back(i);
    }
  }

  // Looks at a word within an object: a reference to a member.
  void look_within(const char* at, const void* pointer, int from) {
    const void* word = nullptr;
    if (!read_bytes(at, &word, kWord) || !is_wanted(word)) return;
    to_.found_.push_back({at, word, add(at, kWord, pointer, from)});
  }

  int add(const char* at, size_t size, const void* pointer, int from) {
    const auto i = static_cast<int>(sizes_.size());
    known_.emplace(reinterpret_cast<uintptr_t>(at), i);
    to_.objects_.push_back({at, pointer, from});
    sizes_.push_back(size);
    is_cut_.push_back(false);
    return i;
  }

  std::vector<const void*> tensors_;
  Search& to_;
  const Libraries libraries_;
  const Range *own_ = nullptr, *engine_ = nullptr;
  std::vector<size_t> sizes_;  // of the objects
  std::deque<int> next_;       // objects
  size_t most_ = 0;            // objects, those of before included
  std::vector<bool> is_cut_;   // not all that they lead to was followed
  std::unordered_map<uintptr_t, int> known_;
  int elsewhere_ = 0;
  // The arena that has blocks of this thread, if it is not the first one.
  const uintptr_t arena_ =
      arena_of(reinterpret_cast<uintptr_t>(std::make_unique<char[]>(64).get()));
};

Search::Search(std::vector<const void*> tensors, const Arguments& a,
               const void* code) {
  if (!tensors.empty()) Finder(std::move(tensors), code, this).run(a);
}

}  // namespace sy::compiling
