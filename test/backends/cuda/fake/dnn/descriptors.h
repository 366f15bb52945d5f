#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

// The descriptors of the double of cuDNN, and the rules that they keep.

namespace fake::dnn {

constexpr int kDone = 0;
constexpr int kBadParam = 2000, kNotSupported = 3000, kFailed = 5000;

enum Kind {
  kConvolution = 1,
  kEngine = 2,
  kConfig = 3,
  kHeuristics = 4,
  kPlan = 5,
  kForward = 10,
  kBackwardFilter = 11,
  kBackwardData = 12,
  kGraph = 15,
  kPack = 16,
  kTensor = 17,
};

// The value of an attribute: `count` elements of a type of the header.
struct Value {
  int type = 0;
  int64_t count = 0;
  std::vector<char> bytes;

  template <class T>
  T at(int64_t i) const {
    T out;
    std::memcpy(&out, bytes.data() + i * static_cast<int64_t>(sizeof(T)),
                sizeof(T));
    return out;
  }
};

struct Descriptor {
  Kind kind;
  bool is_final = false;
  std::map<int, Value> values;
  // Engines, configurations and plans have these.
  int engine = -1;
  const Descriptor* graph = nullptr;

  int64_t number(int attribute, int64_t i = 0) const {
    return values.at(attribute).at<int64_t>(i);
  }
  int word(int attribute) const { return values.at(attribute).at<int>(0); }
  bool has(int attribute) const { return values.count(attribute) != 0; }
};

// Writes a caller's mistake to stderr and to cudnnGetLastErrorString.
int refuse(const char* why, int status = kBadParam);
const std::string& last_refusal();

// Whether the attribute may be set so: kDone or the refusal.
int check_value(Kind kind, int attribute, const Value& value);
// Whether all that a descriptor needs is there, and fits.
int check_whole(const Descriptor& d);

// The operation of a graph, taken apart.
struct Operation {
  Kind kind;
  const Descriptor *x, *w, *y, *convolution;
};
Operation operation_of(const Descriptor& d);

}  // namespace fake::dnn
