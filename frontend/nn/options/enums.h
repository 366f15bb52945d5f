#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "c10/macros.h"

// The words that options take: `L1LossOptions().reduction(sy::kSum)`. Each is
// of a type of its own, and an option is a OneOf its words: another word does
// not compile. `name` is the word in Python.

namespace sy {

namespace enumtype {

struct SY_API kLinear {
  static constexpr std::string_view name = "linear";
};
struct SY_API kConv1D {
  static constexpr std::string_view name = "conv1d";
};
struct SY_API kConv2D {
  static constexpr std::string_view name = "conv2d";
};
struct SY_API kConv3D {
  static constexpr std::string_view name = "conv3d";
};
struct SY_API kConvTranspose1D {
  static constexpr std::string_view name = "conv_transpose1d";
};
struct SY_API kConvTranspose2D {
  static constexpr std::string_view name = "conv_transpose2d";
};
struct SY_API kConvTranspose3D {
  static constexpr std::string_view name = "conv_transpose3d";
};
struct SY_API kSigmoid {
  static constexpr std::string_view name = "sigmoid";
};
struct SY_API kTanh {
  static constexpr std::string_view name = "tanh";
};
struct SY_API kReLU {
  static constexpr std::string_view name = "relu";
};
struct SY_API kGELU {
  static constexpr std::string_view name = "gelu";
};
struct SY_API kSiLU {
  static constexpr std::string_view name = "silu";
};
struct SY_API kMish {
  static constexpr std::string_view name = "mish";
};
struct SY_API kLeakyReLU {
  static constexpr std::string_view name = "leaky_relu";
};
struct SY_API kSELU {
  static constexpr std::string_view name = "selu";
};
struct SY_API kFanIn {
  static constexpr std::string_view name = "fan_in";
};
struct SY_API kFanOut {
  static constexpr std::string_view name = "fan_out";
};
struct SY_API kConstant {
  static constexpr std::string_view name = "constant";
};
struct SY_API kReflect {
  static constexpr std::string_view name = "reflect";
};
struct SY_API kReplicate {
  static constexpr std::string_view name = "replicate";
};
struct SY_API kCircular {
  static constexpr std::string_view name = "circular";
};
struct SY_API kNearest {
  static constexpr std::string_view name = "nearest";
};
struct SY_API kBilinear {
  static constexpr std::string_view name = "bilinear";
};
struct SY_API kBicubic {
  static constexpr std::string_view name = "bicubic";
};
struct SY_API kTrilinear {
  static constexpr std::string_view name = "trilinear";
};
struct SY_API kArea {
  static constexpr std::string_view name = "area";
};
struct SY_API kNearestExact {
  static constexpr std::string_view name = "nearest-exact";
};
struct SY_API kSum {
  static constexpr std::string_view name = "sum";
};
struct SY_API kMean {
  static constexpr std::string_view name = "mean";
};
struct SY_API kMax {
  static constexpr std::string_view name = "max";
};
struct SY_API kNone {
  static constexpr std::string_view name = "none";
};
struct SY_API kBatchMean {
  static constexpr std::string_view name = "batchmean";
};
struct SY_API kZeros {
  static constexpr std::string_view name = "zeros";
};
struct SY_API kBorder {
  static constexpr std::string_view name = "border";
};
struct SY_API kReflection {
  static constexpr std::string_view name = "reflection";
};
struct SY_API kRNN_TANH {
  static constexpr std::string_view name = "RNN_TANH";
};
struct SY_API kRNN_RELU {
  static constexpr std::string_view name = "RNN_RELU";
};
struct SY_API kLSTM {
  static constexpr std::string_view name = "LSTM";
};
struct SY_API kGRU {
  static constexpr std::string_view name = "GRU";
};
struct SY_API kValid {
  static constexpr std::string_view name = "valid";
};
struct SY_API kSame {
  static constexpr std::string_view name = "same";
};

// One of some words:  OneOf<enumtype::kNone, enumtype::kMean> r = kMean;
template <class... Words>
class OneOf {
 public:
  template <class W>
  requires(std::is_same_v<W, Words> || ...) constexpr OneOf(W)
      : index_(index_of<W>()) {}

  // The word in Python: "mean".
  constexpr std::string_view name() const {
    constexpr std::string_view names[] = {Words::name...};
    return names[index_];
  }
  // The position of the word in the list: 1 for kMean above.
  constexpr int index() const { return index_; }

  friend constexpr bool operator==(OneOf a, OneOf b) {
    return a.index_ == b.index_;
  }
  friend std::string to_string(OneOf a) { return std::string(a.name()); }

 private:
  template <class W>
  static constexpr uint8_t index_of() {
    uint8_t i = 0;
    (void)((std::is_same_v<W, Words> || (++i, false)) || ...);
    return i;
  }

  uint8_t index_;
};

}  // namespace enumtype

inline constexpr enumtype::kLinear kLinear{};
inline constexpr enumtype::kConv1D kConv1D{};
inline constexpr enumtype::kConv2D kConv2D{};
inline constexpr enumtype::kConv3D kConv3D{};
inline constexpr enumtype::kConvTranspose1D kConvTranspose1D{};
inline constexpr enumtype::kConvTranspose2D kConvTranspose2D{};
inline constexpr enumtype::kConvTranspose3D kConvTranspose3D{};
inline constexpr enumtype::kSigmoid kSigmoid{};
inline constexpr enumtype::kTanh kTanh{};
inline constexpr enumtype::kReLU kReLU{};
inline constexpr enumtype::kGELU kGELU{};
inline constexpr enumtype::kSiLU kSiLU{};
inline constexpr enumtype::kMish kMish{};
inline constexpr enumtype::kLeakyReLU kLeakyReLU{};
inline constexpr enumtype::kSELU kSELU{};
inline constexpr enumtype::kFanIn kFanIn{};
inline constexpr enumtype::kFanOut kFanOut{};
inline constexpr enumtype::kConstant kConstant{};
inline constexpr enumtype::kReflect kReflect{};
inline constexpr enumtype::kReplicate kReplicate{};
inline constexpr enumtype::kCircular kCircular{};
inline constexpr enumtype::kNearest kNearest{};
inline constexpr enumtype::kBilinear kBilinear{};
inline constexpr enumtype::kBicubic kBicubic{};
inline constexpr enumtype::kTrilinear kTrilinear{};
inline constexpr enumtype::kArea kArea{};
inline constexpr enumtype::kNearestExact kNearestExact{};
inline constexpr enumtype::kSum kSum{};
inline constexpr enumtype::kMean kMean{};
inline constexpr enumtype::kMax kMax{};
inline constexpr enumtype::kNone kNone{};
inline constexpr enumtype::kBatchMean kBatchMean{};
inline constexpr enumtype::kZeros kZeros{};
inline constexpr enumtype::kBorder kBorder{};
inline constexpr enumtype::kReflection kReflection{};
inline constexpr enumtype::kRNN_TANH kRNN_TANH{};
inline constexpr enumtype::kRNN_RELU kRNN_RELU{};
inline constexpr enumtype::kLSTM kLSTM{};
inline constexpr enumtype::kGRU kGRU{};
inline constexpr enumtype::kValid kValid{};
inline constexpr enumtype::kSame kSame{};

}  // namespace sy
