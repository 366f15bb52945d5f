#include "frontend/compile/path.h"

#include <algorithm>

#include "c10/capture.h"
#include "frontend/compile/stack.h"

namespace sy::compiling {

namespace {

const void* take(const void* at) {
  const void* word = nullptr;
  WatchedBytes::take(at, &word, sizeof word);
  return word;
}

}  // namespace

Path::Path(const Reach& reach, const Reach::Image& image, size_t word) {
  const Reach::Image* i = &image;
  for (; i->from >= 0; i = &reach.source(*i)) {
    objects_.push_back({i->at, word * sizeof(void*)});
    word = i->word;
  }
  std::reverse(objects_.begin(), objects_.end());
  first_ = i->at + word * sizeof(void*);
  on_stack_ = i->on_stack;
}

Path::Path(const void* pointer, const void* object, size_t offset)
    : first_(pointer), on_stack_(true), objects_{{object, offset}} {}

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
  const void* at = first_;
  for (const Object& o : objects_) {
    if (take(at) != o.at) return kMoved;
    at = static_cast<const char*>(o.at) + o.offset;
  }
  return kSame;
}

bool Path::read(const void** word) const noexcept {
  if (!is_known()) return false;
  *word = take(first_);
  bool same = true;  // so far
  for (const Object& o : objects_) {
    same = same && *word == o.at;
    const void* const at = static_cast<const char*>(*word) + o.offset;
    if (same) {
      *word = take(at);
    } else if (*word == nullptr || !read_memory(at, word, sizeof *word)) {
      *word = nullptr;
      break;
    }
  }
  return true;
}

}  // namespace sy::compiling
