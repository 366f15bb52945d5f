#pragma once

#include <vector>

#include "c10/schema/function_schema.h"
#include "lang/words.h"

// Inline, for programs that have c10/schema of a library of their own.

namespace sy::lang {

inline WordType word_type(Type type) {
  const Type t = type.without_optional();
  const bool list = t.is_list();
  const Type e = list ? t.element().without_optional() : t;
  switch (e.kind()) {
    case TypeKind::kTensor:
      return list ? WordType::kTensors : WordType::kTensor;
    case TypeKind::kInt:
    case TypeKind::kSymInt: return list ? WordType::kInts : WordType::kInt;
    case TypeKind::kFloat:
    case TypeKind::kSymFloat:
      return list ? WordType::kFloats : WordType::kFloat;
    case TypeKind::kBool:
    case TypeKind::kSymBool: return list ? WordType::kBools : WordType::kBool;
    case TypeKind::kScalar:
      return list ? WordType::kScalars : WordType::kScalar;
    case TypeKind::kStr: return list ? WordType::kOther : WordType::kText;
    case TypeKind::kScalarType:
      return list ? WordType::kOther : WordType::kDtype;
    case TypeKind::kDevice: return list ? WordType::kOther : WordType::kDevice;
    case TypeKind::kLayout: return list ? WordType::kOther : WordType::kLayout;
    case TypeKind::kMemoryFormat:
      return list ? WordType::kOther : WordType::kFormat;
    default: return WordType::kOther;
  }
}

// The arguments of the schema; its names must outlive them.
inline std::vector<WordArgument> word_arguments(const FunctionSchema& schema) {
  std::vector<WordArgument> out;
  for (const Argument& a : schema.arguments()) {
    out.push_back({a.name.view(), word_type(a.type)});
  }
  return out;
}

// A word that an argument without a word and a default can be made up from: a
// tensor "2x3", the number 0.7, None, the lists "{2x3;3}" and "0.7,2". nullptr:
// it needs a word.
inline const char* obvious_word(const Argument& a) {
  if (a.type.is_optional()) return "None";
  switch (word_type(a.type)) {
    case WordType::kTensor: return "2x3";
    case WordType::kScalar: return "0.7";
    case WordType::kTensors: return "{2x3;3}";
    case WordType::kScalars: return "0.7,2";
    default: return nullptr;
  }
}

}  // namespace sy::lang
