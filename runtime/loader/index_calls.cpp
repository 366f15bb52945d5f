#include "runtime/loader/index_calls.h"

#include <algorithm>
#include <iterator>

#include "aten/contract/pooling_windows.h"
#include "aten/engine/geometry.h"
#include "aten/tensor.h"

namespace sy::runtime {
namespace {

using Slot = IndexSlot;

// How a C++ parameter reads its argument.
template <class T>
T read(const Slot& s) {
  if constexpr (std::is_same_v<T, IntArrayRef>) {
    return s.list;
  } else if constexpr (std::is_same_v<T, double>) {
    return s.kind == Slot::kNumber ? s.d : static_cast<double>(s.i);
  } else if constexpr (std::is_same_v<T, bool>) {
    return s.i != 0;
  } else if constexpr (std::is_same_v<T, std::optional<int64_t>>) {
    return s.kind == Slot::kNone ? T() : T(s.i);
  } else if constexpr (std::is_same_v<T, TensorList>) {
    return {static_cast<const Tensor*>(s.tensors.data()), s.tensors.size()};
  } else if constexpr (std::is_same_v<T, const TensorBase&>) {
    return *s.tensor;
  } else {
    return s.i;
  }
}

template <class R>
void write(const R& r, Slot* out) {
  if constexpr (std::is_same_v<R, bool>) {
    out->set_bool(r);
  } else if constexpr (std::is_same_v<R, Dims>) {
    out->set(IntArrayRef(r));
  } else {
    out->set(int64_t{r});
  }
}

// F as IndexFunction::call: a function of the arguments alone, or of the name
// before them.
template <auto* F, class Signature = std::remove_pointer_t<decltype(F)>>
struct Adapt;
template <auto* F, class R, class... A>
struct Adapt<F, R(A...)> {
  static void call(const char*, const Slot* a, Slot* out) {
    [&]<size_t... I>(std::index_sequence<I...>) {
      write<R>(F(read<A>(a[I])...), out);
    }
    (std::index_sequence_for<A...>());
  }
};
template <auto* F, class R, class... A>
struct Adapt<F, R(const char*, A...)> {
  static void call(const char* op, const Slot* a, Slot* out) {
    [&]<size_t... I>(std::index_sequence<I...>) {
      write<R>(F(op, read<A>(a[I])...), out);
    }
    (std::index_sequence_for<A...>());
  }
};

using Int = int64_t;
using List = IntArrayRef;
using Op = const char*;

// One of several functions of a name.
template <class Signature>
constexpr Signature* pick(Signature* f) {
  return f;
}

Int absolute(Int i) { return i < 0 ? -i : i; }
Int smaller(Int a, Int b) { return std::min(a, b); }
Int larger(Int a, Int b) { return std::max(a, b); }
Int length(List l) { return geometry::len(l); }
Int length_of_tensors(TensorList l) { return static_cast<Int>(l.size()); }
Dims range1(Int end) { return geometry::range(end); }
Dims range2(Int begin, Int end) { return geometry::range(begin, end); }
Dims cat(Op op, TensorList tensors, Int dim) {
  return Dims(geometry::cat_sizes(op, tensors, dim));
}

constexpr IndexFunction kCalls[] = {
    {"abs", "i", &Adapt<&absolute>::call},
    {"all", "l", &Adapt<&geometry::all>::call},
    {"any", "l", &Adapt<&geometry::any>::call},
    {"broadcast", "ll", &Adapt<&geometry::broadcast>::call},
    {"cat_sizes", "Ti", &Adapt<&cat>::call},
    {"ceil", "n", &Adapt<&geometry::ceil>::call},
    {"ceil_div", "ii", &Adapt<&geometry::ceil_div>::call},
    {"clamp", "iii", &Adapt<&geometry::clamp>::call},
    {"contains", "li", &Adapt<&geometry::contains>::call},
    {"contains_dim", "lii", &Adapt<&geometry::contains_dim>::call},
    {"contiguous_strides", "l", &Adapt<&geometry::contiguous_strides>::call},
    {"diagonal_offset", "liii", &Adapt<&geometry::diagonal_offset>::call},
    {"diagonal_sizes", "liii", &Adapt<&geometry::diagonal_sizes>::call},
    {"diagonal_strides", "lii", &Adapt<&geometry::diagonal_strides>::call},
    {"expand_sizes", "ll", &Adapt<&geometry::expand_sizes>::call},
    {"expand_strides", "lll", &Adapt<&geometry::expand_strides>::call},
    {"fill", "ii", &Adapt<&geometry::fill>::call},
    {"floor", "n", &Adapt<&geometry::floor>::call},
    {"infer_size", "li", &Adapt<&geometry::infer_size>::call},
    {"inserted", "lii", &Adapt<&geometry::inserted>::call},
    {"inverse_permutation", "l", &Adapt<&geometry::inverse_permutation>::call},
    {"is_expandable_to", "ll", &Adapt<&geometry::is_expandable_to>::call},
    {"is_floating", "t", &Adapt<&geometry::is_floating>::call},
    {"is_permutation", "li", &Adapt<&geometry::is_permutation>::call},
    {"len", "l", &Adapt<&length>::call},
    {"len", "T", &Adapt<&length_of_tensors>::call},
    {"max", "l", &Adapt<&geometry::max>::call},
    {"max", "ii", &Adapt<&larger>::call},
    {"min", "l", &Adapt<&geometry::min>::call},
    {"min", "ii", &Adapt<&smaller>::call},
    {"permuted", "ll", &Adapt<&geometry::permuted>::call},
    {"pooled_sizes", "illlllb", &Adapt<&geometry::pooled_sizes>::call},
    {"prod", "l", &Adapt<&geometry::prod>::call},
    {"range", "i", &Adapt<&range1>::call},
    {"range", "ii", &Adapt<&range2>::call},
    {"range", "iii", &Adapt<pick<Dims(Int, Int, Int)>(&geometry::range)>::call},
    {"reduced_sizes", "lob",
     &Adapt<pick<Dims(Op, List, std::optional<Int>, bool)>(
         &geometry::reduced_sizes)>::call},
    {"reduced_sizes", "llb",
     &Adapt<pick<Dims(Op, List, List, bool)>(&geometry::reduced_sizes)>::call},
    {"reversed", "l", &Adapt<&geometry::reversed>::call},
    {"slice_size", "iooi", &Adapt<&geometry::slice_size>::call},
    {"slice_start", "io", &Adapt<&geometry::slice_start>::call},
    {"sum", "l", &Adapt<&geometry::sum>::call},
    {"swapped", "lii", &Adapt<&geometry::swapped>::call},
    {"unfold_sizes", "liii", &Adapt<&geometry::unfold_sizes>::call},
    {"unfold_strides", "lii", &Adapt<&geometry::unfold_strides>::call},
    {"unsqueezed_stride", "lli", &Adapt<&geometry::unsqueezed_stride>::call},
    {"view_strides", "lll", &Adapt<&geometry::view_strides>::call},
    {"window_counts", "lllll", &Adapt<&geometry::window_counts>::call},
    {"with", "lii", &Adapt<&geometry::with>::call},
    {"without", "li",
     &Adapt<pick<Dims(Op, List, Int)>(&geometry::without)>::call},
    {"without", "ll",
     &Adapt<pick<Dims(Op, List, List)>(&geometry::without)>::call},
    {"wrap_dim", "ii", &Adapt<&geometry::wrap_dim>::call},
    {"wrap_dims", "li", &Adapt<&geometry::wrap_dims>::call},
    {"wrap_index", "ii", &Adapt<&geometry::wrap_index>::call},
};

static_assert(std::all_of(std::begin(kCalls), std::end(kCalls),
                          [](const IndexFunction& f) {
                            return f.parameters.size() <= kMaxIndexParameters;
                          }));

// Boxed dtypes may be any number.
std::string_view name_of(ScalarType t) {
  const auto i = static_cast<size_t>(t);
  const char* name =
      i < std::size(kScalarTypeInfo) ? kScalarTypeInfo[i].name : nullptr;
  return name == nullptr ? "an unknown dtype" : name;
}

bool fits(char letter, const Slot& s) {
  switch (letter) {
    case 'i': return s.kind == Slot::kInt || s.kind == Slot::kBool;
    case 'o': return s.kind == Slot::kInt || s.kind == Slot::kNone;
    case 'b': return s.kind == Slot::kBool;
    case 'n': return s.kind == Slot::kNumber || s.kind == Slot::kInt;
    case 'l': return s.kind == Slot::kList;
    case 't': return s.kind == Slot::kTensor;
    default: return s.kind == Slot::kTensors;
  }
}

}  // namespace

void IndexSlot::set(const Value& v, Type type) {
  kind = kNone;
  if (type.is_optional()) {
    if (v.is_none()) return;
    type = type.element();
  }
  if (type.is_list()) {
    if (type.element() == TypeKind::kTensor) {
      kind = kTensors;
      tensors = v.to_tensor_list();
    } else if (type.element() == TypeKind::kInt ||
               type.element() == TypeKind::kSymInt) {
      set(v.to_int_list());
    }
    return;
  }
  switch (type.kind()) {
    case TypeKind::kTensor: return set(v.to_tensor());
    case TypeKind::kInt:
    case TypeKind::kSymInt: return set(v.to_int());
    case TypeKind::kBool:
    case TypeKind::kSymBool: return set_bool(v.to_bool());
    case TypeKind::kFloat:
    case TypeKind::kSymFloat: return set(v.to_double());
    case TypeKind::kScalar:
      if (v.is_bool()) return set_bool(v.to_bool());
      if (v.is_int()) return set(v.to_int());
      return set(v.to_double());
    case TypeKind::kStr: return set(v.to_string_view());
    case TypeKind::kScalarType: return set(name_of(v.to_scalar_type()));
    default: return;
  }
}

std::string IndexSlot::str() const {
  switch (kind) {
    case kInt: return sy::str("{}", i);
    case kBool: return sy::str("{}", i != 0);
    case kNumber: return sy::str("{}", d);
    case kList: return to_string(IntArrayRef(list));
    case kString: return std::string(text);
    default: return "None";
  }
}

Value IndexSlot::box() const {
  switch (kind) {
    case kInt: return i;
    case kBool: return i != 0;
    case kNumber: return d;
    case kList: return IntArrayRef(list);
    default: return {};
  }
}

std::span<const IndexFunction> find_index_function(std::string_view name) {
  const auto is = [&](const IndexFunction& f) { return f.name == name; };
  const auto* first = std::find_if(std::begin(kCalls), std::end(kCalls), is);
  const auto* last = std::find_if_not(first, std::end(kCalls), is);
  SY_INTERNAL_ASSERT(first != last, "{}", name);
  return {first, last};
}

void call_index_function(std::span<const IndexFunction> overloads,
                         const char* op, const IndexSlot* args, size_t n,
                         IndexSlot* out) {
  for (const IndexFunction& f : overloads) {
    if (f.parameters.size() != n) continue;
    bool all = true;
    for (size_t i = 0; i < n; ++i) all = all && fits(f.parameters[i], args[i]);
    if (all) return f.call(op, args, out);
  }
  fail(ErrorKind::Value,
       "[{}] {}: expected a value for every argument, got None", op,
       overloads[0].name);
}

}  // namespace sy::runtime
