#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "frontend/compile/function.h"

namespace sy::compiling {

// The callable itself, in words: pointers are among them.
std::vector<uintptr_t> words_of(const Arguments& a);

// The memory that a callable sees beside its arguments: itself, the variables
// and objects that it refers to, and what these point to. It does not have
// global variables, memory that lies three pointers away, and objects whose
// class has its virtual functions in this library (tensors, storages,
// optimizers, modules).
class Reach {
 public:
  // Memory as it was, in words.
  struct Image {
    const char* at;
    bool on_stack;
    // Otherwise the object may be smaller: only its first word is sure to stay.
    bool has_size;
    // The pointer that leads here from an image before; -1 for the callable and
    // what it refers to.
    int from;
    size_t word;
    std::vector<uintptr_t> words;
  };

  // The first image is the callable.
  explicit Reach(const Arguments& a);

  const std::vector<Image>& images() const { return images_; }
  // The image that has the pointer to this one. `i.from` is not -1.
  const Image& source(const Image& i) const {
    return images_[static_cast<size_t>(i.from)];
  }
  // Tensors that it has itself, or that the variables and objects that it
  // refers to begin with.
  const std::vector<TensorImpl*>& tensors() const { return tensors_; }

 private:
  struct Target {
    const void* at;
    bool on_stack, has_size;
    size_t bytes;
    int from = -1;
    size_t word = 0;
  };

  void take(const Target& p);
  void find_tensors();
  // The targets of the words of images, from the image `first` on.
  std::vector<Target> behind(size_t first) const;
  static Target target_at(const void* at);
  bool has(const void* at) const;

  std::vector<Image> images_;
  std::vector<TensorImpl*> tensors_;
};

}  // namespace sy::compiling
