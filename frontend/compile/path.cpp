#include "frontend/compile/path.h"

#include <algorithm>
#include <utility>

#include "c10/dispatch/capture.h"
#include "frontend/compile/heap.h"
#include "frontend/compile/stack.h"

namespace sy::compiling {

namespace {

const void* take(const void* at) {
  const void* word = nullptr;
  WatchedBytes::take(at, &word, sizeof word);
  return word;
}

}  // namespace

Path::Path(const void* first, std::vector<Object> objects)
    : first_(first),
      on_stack_(is_on_stack(first, sizeof first, __builtin_frame_address(0))),
      objects_(std::move(objects)) {}

Path::Path(const Search& search, const Search::Found& word)
    : Path(word.at, {}) {
  for (int i = word.object; i >= 0; i = search.object(i).from) {
    const Search::Object& o = search.object(i);
    const auto offset = static_cast<const char*>(first_) - o.at;
    if (o.pointer == nullptr) break;  // the callable has it
    objects_.push_back({o.at, static_cast<size_t>(offset)});
    first_ = o.pointer;
  }
  std::reverse(objects_.begin(), objects_.end());
  on_stack_ = is_on_stack(first_, sizeof first_, __builtin_frame_address(0));
}

bool Path::is_known() const noexcept {
  return !on_stack_ ||
         is_on_stack(first_, sizeof first_, __builtin_frame_address(0));
}

bool Path::is_same(const Path& other) const noexcept {
  const auto same = [](const Object& a, const Object& b) {
    return a.offset == b.offset;
  };
  return first_ == other.first_ &&
         std::equal(objects_.begin(), objects_.end(), other.objects_.begin(),
                    other.objects_.end(), same);
}

Path::State Path::state() const noexcept {
  if (!is_known()) return kUnknown;
  const void* pointer = take(first_);
  for (size_t i = 0; i < objects_.size(); ++i) {
    const Object& o = objects_[i];
    if (pointer != o.at) return kMoved;
    const void* const next = static_cast<const char*>(o.at) + o.offset;
    const bool is_last = i + 1 == objects_.size();
    if (!is_last && !read_bytes(next, &pointer, sizeof pointer)) return kMoved;
  }
  return kSame;
}

bool Path::read(const void** word) const noexcept {
  if (!is_known()) return false;
  *word = take(first_);
  for (const Object& o : objects_) {
    const void* const at = static_cast<const char*>(*word) + o.offset;
    if (*word == nullptr || !read_bytes(at, word, sizeof *word)) {
      *word = nullptr;
      break;
    }
  }
  return true;
}

}  // namespace sy::compiling
