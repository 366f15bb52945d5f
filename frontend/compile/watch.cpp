#include "frontend/compile/watch.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "c10/error.h"
#include "frontend/compile/compile.h"
#include "frontend/compile/stack.h"

namespace sy::compiling {

namespace {

// Of a variable that the callable refers to. More of it is looked at only in
// the stack, which can always be read.
constexpr size_t kWindow = 64;
// Where tensors that the graph reads are looked for behind that.
constexpr size_t kReach = 512;
constexpr size_t kMostElements = 8192;

// Words of the callable: pointers are among them.
std::vector<uintptr_t> words_of(const Arguments& a) {
  std::vector<uintptr_t> words(a.closure_bytes / sizeof(uintptr_t));
  if (!words.empty()) {
    std::memcpy(words.data(), a.closure, words.size() * sizeof(uintptr_t));
  }
  return words;
}

bool may_be_pointer(uintptr_t p) {
  return p >= 1 << 16 && p < uintptr_t{1} << 47 && p % alignof(int) == 0;
}

// The callable itself may lie in the stack, and a variable next to it.
bool overlap(const void* a, size_t n, const void* b, size_t m) {
  const auto x = reinterpret_cast<uintptr_t>(a),
             y = reinterpret_cast<uintptr_t>(b);
  return x < y + m && y < x + n;
}

}  // namespace

Watch::Watch(const Arguments& a,
             std::shared_ptr<std::atomic<int64_t>> backwards)
    : backwards(std::move(backwards)) {
  for (const Tensor& t : a.tensors) {
    Argument& to = arguments_.emplace_back();
    if (!t.defined()) continue;
    to.storage = t.storage().get();
    to.offset = t.storage_offset();
    to.kept = weak_intrusive_ptr<StorageImpl>(t.storage());
  }
  watch_references(a);
}

void Watch::add(intrusive_ptr<Dependence> d) {
  const auto known = std::any_of(reads_.begin(), reads_.end(),
                                 [&](auto& r) { return r->of() == d->of(); });
  if (!known) reads_.push_back(std::move(d));
}

void Watch::watch_references(const Arguments& a) {
  const void* const frame = __builtin_frame_address(0);
  for (const uintptr_t word : words_of(a)) {
    const auto* const at = reinterpret_cast<const char*>(word);
    if (!may_be_pointer(word) || !is_on_stack(at, sizeof(void*), frame)) {
      continue;
    }
    size_t bytes = kWindow;
    while (!is_on_stack(at, bytes, frame)) bytes -= sizeof(void*);
    if (overlap(at, bytes, a.closure, a.closure_bytes)) bytes = sizeof(void*);
    stack_.emplace_back(at, bytes);
  }
}

bool Watch::is_target(const void* p) const {
  return std::find(targets_.begin(), targets_.end(), p) != targets_.end();
}

void Watch::watch_places(const Arguments& a) {
  const void* const frame = __builtin_frame_address(0);
  for (const uintptr_t word : words_of(a)) {
    const auto* const at = reinterpret_cast<const char*>(word);
    if (!may_be_pointer(word) || word % alignof(void*) != 0) continue;
    const void* found = nullptr;
    if (!is_on_stack(at, sizeof(void*), frame)) {
      if (read_memory(at, &found, sizeof found) && is_target(found)) {
        heap_.emplace_back(at, sizeof found);
      }
      continue;
    }
    for (size_t i = 0; i < kReach; i += sizeof(void*)) {
      if (!is_on_stack(at + i, sizeof found, frame)) break;
      if (overlap(at + i, 1, a.closure, a.closure_bytes)) continue;
      read_memory(at + i, &found, sizeof found);
      if (i >= kWindow && is_target(found)) {
        stack_.emplace_back(at + i, sizeof found);
      }
      watch_list(at + i, frame);
    }
  }
}

// If the header of a std::vector of them lies there.
void Watch::watch_list(const void* header, const void* frame) {
  const void* words[3];
  if (!is_on_stack(header, sizeof words, frame) ||
      !read_memory(header, words, sizeof words)) {
    return;
  }
  const auto begin = reinterpret_cast<uintptr_t>(words[0]),
             end = reinterpret_cast<uintptr_t>(words[1]),
             limit = reinterpret_cast<uintptr_t>(words[2]);
  const size_t n = (end - begin) / sizeof(void*);
  if (!may_be_pointer(begin) || begin >= end || end > limit ||
      (end - begin) % sizeof(void*) != 0 || n > kMostElements) {
    return;
  }
  std::vector<const void*> elements(n);
  if (read_memory(words[0], elements.data(), n * sizeof(void*)) &&
      std::any_of(elements.begin(), elements.end(),
                  [&](const void* p) { return is_target(p); })) {
    lists_.push_back(
        {header, words[0], words[1], WatchedBytes(words[0], end - begin)});
  }
}

void Watch::settle(const Arguments& a, const std::vector<Outer>& outer,
                   const std::vector<weak_intrusive_ptr<TensorImpl>>& others) {
  for (const Outer& o : outer) {
    targets_.push_back(o.tensor.impl());
    owners_.push_back({o.tensor.impl(), o.kept, {o.kept.other_owners()}});
  }
  for (const weak_intrusive_ptr<TensorImpl>& weak : others) {
    const intrusive_ptr<TensorImpl> impl = weak.lock();
    const auto is_argument = [&](const Tensor& t) {
      return t.impl() == impl.get();
    };
    if (impl == nullptr || is_target(impl.get()) ||
        std::any_of(a.tensors.begin(), a.tensors.end(), is_argument)) {
      continue;
    }
    targets_.push_back(impl.get());
    const Tensor t{TensorBase(impl)};
    views_.push_back(
        {weak, TensorGuard(t), t.storage().get(), t.storage_offset()});
    views_.back().seen.push_back(t.use_count() - 2);  // impl and t
  }
  watch_places(a);
}

bool Watch::View::holds() {
  const intrusive_ptr<TensorImpl> impl = tensor.lock();
  if (impl == nullptr) return false;
  now = impl.use_count() - 1;
  if (!seen.empty() && std::find(seen.begin(), seen.end(), now) == seen.end()) {
    return false;
  }
  const Tensor t{TensorBase(impl)};
  return t.storage().get() == storage && t.storage_offset() == offset &&
         guard.holds(t);
}

bool Watch::differs(std::string_view what) {
  if (difference_.empty()) difference_ = what;
  return false;
}

bool Watch::references_hold() {
  const void* const frame = __builtin_frame_address(0);
  bool same = true;
  for (WatchedBytes& b : stack_) {
    // Of another thread, or of a function that has returned: nobody uses it.
    if (!is_on_stack(b.at(), b.size(), frame) || b.hold()) continue;
    b.note_difference();
    same = differs("a variable that the code refers to differs");
  }
  for (WatchedBytes& b : heap_) {
    if (b.hold()) continue;
    b.note_difference();
    same = differs("the code has another tensor");
  }
  for (List& l : lists_) {
    const void* words[2];
    if (!is_on_stack(l.header, sizeof words, frame)) continue;
    WatchedBytes::take(l.header, words, sizeof words);
    l.gone = words[0] != l.begin || words[1] != l.end;
    if (l.gone) {
      same = differs("a list that the code refers to differs");
    } else if (!l.elements.hold()) {
      l.elements.note_difference();
      same = differs("an element of a list differs");
    }
  }
  return same;
}

bool Watch::owners_hold() {
  bool same = true;
  for (Owners& o : owners_) {
    o.now = o.kept.other_owners();
    const auto& seen = o.seen;
    if (SY_LIKELY(o.now == seen[0]) ||
        std::find(seen.begin(), seen.end(), o.now) != seen.end()) {
      continue;
    }
    same = differs("a tensor of the program has other owners");
  }
  for (View& v : views_) {
    if (!v.holds()) same = differs("a view of the program differs");
  }
  return same;
}

bool Watch::reads_hold() {
  bool same = true;
  for (const auto& d : reads_) {
    if (SY_LIKELY(d->holds())) continue;
    same = differs(d->difference());
  }
  return same;
}

bool Watch::arguments_hold(const Arguments& a) {
  for (size_t i = 0; i < arguments_.size(); ++i) {
    const Argument& was = arguments_[i];
    const Tensor& now = a.tensors[i];
    if (was.any || was.storage == nullptr) continue;
    if (now.storage().get() == was.storage &&
        now.storage_offset() == was.offset) {
      continue;
    }
    return differs(str("tensor {} lies elsewhere", i));
  }
  return true;
}

// All of them, so that one more recording settles all.
bool Watch::holds(const Arguments& a) {
  difference_.clear();
  const bool reads = reads_hold(), owners = owners_hold(),
             references = references_hold(), arguments = arguments_hold(a);
  return reads && owners && references && arguments;
}

void Watch::accept(const Arguments& a) {
  for (size_t i = 0; i < arguments_.size(); ++i) {
    Argument& was = arguments_[i];
    if (was.storage == nullptr) continue;
    was.any = was.any || a.tensors[i].storage().get() != was.storage ||
              a.tensors[i].storage_offset() != was.offset;
  }
  for (const auto& d : reads_) d->accept();
  for (WatchedBytes& b : stack_) b.accept();
  for (WatchedBytes& b : heap_) b.accept();
  std::erase_if(lists_, [](const List& l) { return l.gone; });
  for (List& l : lists_) l.elements.accept();
  // An owner that comes and goes says nothing.
  constexpr size_t kMost = 4;
  for (View& v : views_) {
    if (v.seen.empty()) continue;
    v.seen.push_back(v.now);
    if (v.seen.size() > 2 * kMost) v.seen.clear();
  }
  std::erase_if(views_, [](View& v) {
    const std::vector<uint32_t> seen = std::exchange(v.seen, {});
    const bool lies = v.holds();
    v.seen = seen;
    return !lies;
  });
  for (Owners& o : owners_) {
    if (std::find(o.seen.begin(), o.seen.end(), o.now) == o.seen.end()) {
      o.seen.push_back(o.now);
    }
  }
  std::erase_if(owners_, [](const Owners& o) { return o.seen.size() > kMost; });
  difference_.clear();
}

}  // namespace sy::compiling
