#include "test/backends/cuda/fake/dnn/descriptors.h"

#include <cstdio>

namespace fake::dnn {

namespace {

thread_local std::string last;

// Types of the header, and how large their elements are.
constexpr int kHandle = 0, kDataType = 1, kInt64 = 3, kFloat = 4, kDouble = 5,
              kPointer = 6, kMode = 7, kHeuristicMode = 8, kDescriptor = 15;

struct Rule {
  Kind kind;
  int attribute, type;
  int64_t least, most;
};
constexpr Rule kRules[] = {
    {kTensor, 900, kInt64, 1, 1},
    {kTensor, 901, kDataType, 1, 1},
    {kTensor, 902, kInt64, 4, 8},
    {kTensor, 903, kInt64, 4, 8},
    {kTensor, 906, kInt64, 1, 1},
    {kConvolution, 100, kDataType, 1, 1},
    {kConvolution, 101, kMode, 1, 1},
    {kConvolution, 102, kInt64, 2, 3},
    {kConvolution, 103, kInt64, 2, 3},
    {kConvolution, 104, kInt64, 2, 3},
    {kConvolution, 105, kInt64, 2, 3},
    {kConvolution, 106, kInt64, 1, 1},
    {kForward, 702, kDescriptor, 1, 1},
    {kForward, 703, kDescriptor, 1, 1},
    {kForward, 704, kDescriptor, 1, 1},
    {kForward, 705, kDescriptor, 1, 1},
    {kBackwardData, 708, kDescriptor, 1, 1},
    {kBackwardData, 709, kDescriptor, 1, 1},
    {kBackwardData, 710, kDescriptor, 1, 1},
    {kBackwardData, 711, kDescriptor, 1, 1},
    {kBackwardFilter, 714, kDescriptor, 1, 1},
    {kBackwardFilter, 715, kDescriptor, 1, 1},
    {kBackwardFilter, 716, kDescriptor, 1, 1},
    {kBackwardFilter, 717, kDescriptor, 1, 1},
    {kGraph, 800, kHandle, 1, 1},
    {kGraph, 801, kDescriptor, 1, 1},
    {kHeuristics, 200, kHeuristicMode, 1, 1},
    {kHeuristics, 201, kDescriptor, 1, 1},
    {kPlan, 400, kHandle, 1, 1},
    {kPlan, 401, kDescriptor, 1, 1},
    {kPack, 1000, kInt64, 1, 16},
    {kPack, 1001, kPointer, 1, 16},
    {kPack, 1003, kPointer, 1, 1},
};
// The factors of an operation: float or double, by what is computed in.
struct Scale {
  Kind kind;
  int alpha, beta;
};
constexpr Scale kScales[] = {{kForward, 700, 701},
                             {kBackwardData, 706, 707},
                             {kBackwardFilter, 712, 713}};

const Scale* scale_of(Kind kind) {
  for (const Scale& s : kScales) {
    if (s.kind == kind) return &s;
  }
  return nullptr;
}

int check_tensor(const Descriptor& d) {
  const int64_t dims = d.values.at(902).count;
  if (d.values.at(903).count != dims) return refuse("strides are missing");
  for (int64_t i = 0; i < dims; ++i) {
    if (d.number(902, i) < 1) return refuse("a tensor has no elements");
    if (d.number(903, i) < 1) return refuse("a stride is not positive");
  }
  const int type = d.word(901);
  if (type != 0 && type != 1 && type != 2 && type != 9) {
    return refuse("no such data type");
  }
  const int64_t size = type == 1 ? 8 : type == 0 ? 4 : 2;
  const int64_t alignment = d.number(900);
  if (alignment < size || (alignment & (alignment - 1)) != 0) {
    return refuse("the alignment does not fit the elements");
  }
  return kDone;
}

int check_convolution(const Descriptor& d) {
  const int64_t dims = d.number(106);
  for (const int list : {102, 103, 104, 105}) {
    if (d.values.at(list).count != dims) return refuse("numbers are missing");
    for (int64_t i = 0; i < dims; ++i) {
      if (d.number(list, i) < (list < 104 ? 1 : 0)) {
        return refuse("a stride, padding or dilation is out of bounds");
      }
    }
  }
  if (d.word(101) != 1) return refuse("it is no cross-correlation");
  return kDone;
}

int check_sizes(const Operation& o) {
  const int64_t space = o.convolution->number(106);
  for (const Descriptor* const t : {o.x, o.w, o.y}) {
    if (t->values.at(902).count != space + 2) return refuse("dims differ");
    if (t->word(901) != o.x->word(901)) return refuse("data types differ");
  }
  const auto size = [](const Descriptor* t, int64_t i) {
    return t->number(902, i);
  };
  if (size(o.x, 0) != size(o.y, 0) || size(o.w, 0) != size(o.y, 1) ||
      size(o.x, 1) % size(o.w, 1) != 0 ||
      size(o.w, 0) % (size(o.x, 1) / size(o.w, 1)) != 0) {
    return refuse("channels do not fit");
  }
  for (int64_t i = 0; i < space; ++i) {
    const int64_t reach =
        (size(o.w, i + 2) - 1) * o.convolution->number(102, i) + 1;
    const int64_t padded = size(o.x, i + 2) + o.convolution->number(104, i) +
                           o.convolution->number(105, i);
    if (padded < reach ||
        (padded - reach) / o.convolution->number(103, i) + 1 !=
            size(o.y, i + 2)) {
      return refuse("sizes of x, w and y do not fit");
    }
  }
  return kDone;
}

int check_operation(const Descriptor& d) {
  const Operation o = operation_of(d);
  if (const int r = check_sizes(o); r != kDone) return r;
  if (o.x->number(906) == o.w->number(906) ||
      o.x->number(906) == o.y->number(906) ||
      o.w->number(906) == o.y->number(906)) {
    return refuse("two tensors have one id");
  }
  const bool wide = o.x->word(901) == 1;
  if (o.convolution->word(100) != (wide ? 1 : 0)) {
    return refuse("the sums are of another type than they must be");
  }
  const Scale& s = *scale_of(d.kind);
  for (const int attribute : {s.alpha, s.beta}) {
    const Value& v = d.values.at(attribute);
    if (v.type != (wide ? kDouble : kFloat)) {
      return refuse("alpha or beta has not the type of the sums");
    }
    const double number =
        wide ? v.at<double>(0) : static_cast<double>(v.at<float>(0));
    if (number != (attribute == s.alpha ? 1 : 0)) {
      return refuse("alpha is not 1, or beta not 0");
    }
  }
  return kDone;
}

}  // namespace

int refuse(const char* why, int status) {
  last = why;
  if (status == kBadParam) std::fprintf(stderr, "libfake_dnn: %s\n", why);
  return status;
}
const std::string& last_refusal() { return last; }

int check_value(Kind kind, int attribute, const Value& value) {
  if (const Scale* const s = scale_of(kind);
      s != nullptr && (attribute == s->alpha || attribute == s->beta)) {
    return value.count == 1 && (value.type == kFloat || value.type == kDouble)
               ? kDone
               : refuse("alpha and beta are one float or double");
  }
  for (const Rule& r : kRules) {
    if (r.kind != kind || r.attribute != attribute) continue;
    if (r.type != value.type) return refuse("an attribute has another type");
    if (value.count < r.least || value.count > r.most) {
      return refuse("an attribute has more or fewer elements");
    }
    return kDone;
  }
  return refuse("there is no such attribute, or nobody may set it");
}

int check_whole(const Descriptor& d) {
  for (const Rule& r : kRules) {
    if (r.kind == d.kind && !d.has(r.attribute)) {
      return refuse("an attribute is not set");
    }
  }
  if (const Scale* const s = scale_of(d.kind);
      s != nullptr && (!d.has(s->alpha) || !d.has(s->beta))) {
    return refuse("alpha or beta is not set");
  }
  switch (d.kind) {
    case kTensor: return check_tensor(d);
    case kConvolution: return check_convolution(d);
    case kForward:
    case kBackwardData:
    case kBackwardFilter: return check_operation(d);
    case kPack:
      return d.values.at(1000).count == d.values.at(1001).count
                 ? kDone
                 : refuse("there are more ids than pointers, or fewer");
    default: return kDone;
  }
}

Operation operation_of(const Descriptor& d) {
  const auto part = [&](int attribute) {
    return d.values.at(attribute).at<const Descriptor*>(0);
  };
  switch (d.kind) {
    case kForward: return {d.kind, part(704), part(703), part(705), part(702)};
    case kBackwardData:
      return {d.kind, part(710), part(709), part(711), part(708)};
    default: return {d.kind, part(716), part(715), part(717), part(714)};
  }
}

}  // namespace fake::dnn
