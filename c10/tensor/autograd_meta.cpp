#include "c10/tensor/autograd_meta.h"

#include <new>

#include "c10/memory/pool_fast.h"
#include "c10/tensor/copy_ints.h"
#include "c10/tensor/tensor_impl.h"

namespace sy {

AutogradMeta::~AutogradMeta() = default;

intrusive_ptr<ViewMeta> ViewMeta::make(intrusive_ptr<TensorImpl> parent,
                                       const OperatorEntry* op,
                                       const int64_t* args, int n,
                                       ViewCreation creation) {
  int64_t* heap =
      n > kInlineArgs ? new int64_t[static_cast<size_t>(n)] : nullptr;
  void* block;
  try {
    block = detail::pool_get(sizeof(ViewMeta));
  } catch (...) {
    delete[] heap;
    throw;
  }
  auto m = intrusive_ptr<ViewMeta>::reclaim(new (block) ViewMeta);
  m->parent_ = std::move(parent);
  m->op_ = op;
  m->n_ = n;
  m->creation_ = creation;
  if (heap != nullptr) m->heap_ = heap;
  detail::copy_ints(heap != nullptr ? heap : m->inline_, args,
                    static_cast<size_t>(n));
  return m;
}

ViewMeta::~ViewMeta() {
  if (n_ > kInlineArgs) delete[] heap_;
}

// Views of views form chains as long as a program's loop: they are taken down
// by a loop as well, not by recursion through the parents.
void ViewMeta::destroy(ViewMeta* m) noexcept {
  while (m != nullptr) {
    const intrusive_ptr<TensorImpl> parent = std::move(m->parent_);
    m->~ViewMeta();
    detail::pool_put(m, sizeof(ViewMeta));
    m = nullptr;
    if (parent && parent->use_count() == 1 && parent->weak_use_count() == 1 &&
        parent->view_meta().use_count() == 1) {
      m = parent->take_view_meta().release();
    }
  }
}

}  // namespace sy
