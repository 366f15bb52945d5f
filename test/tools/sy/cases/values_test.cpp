#include "tools/sy/cases/values.h"

#include <gtest/gtest.h>

#include <cmath>

#include "c10/process/error.h"
#include "c10/schema/parser.h"

namespace sy::tools {
namespace {

const ValueContext kContext{
    [](const Json&, const std::string&) -> TensorBase {
      return TensorBase(make_tensor({2}, kFloat, Device(kCPU)));
    },
    Device(kMeta)};

Value value(const char* json, const char* type) {
  return value_of(Json::parse(json), parse_type(type), "x", kContext);
}

// The error of giving that VALUE for that type; "" if it fits.
std::string misfit(const char* json, const char* type) {
  try {
    value(json, type);
    return "";
  } catch (const ValueError& e) {
    return e.what();
  }
}

// The text of the value that the default of the only argument is passed as.
std::string default_text(const std::string& argument) {
  const FunctionSchema s = parse_schema("f(" + argument + ") -> ()");
  const Argument& a = s.arguments()[0];
  return to_string(value_of(default_of(a), a.type, "x", kContext));
}

TEST(Values, Numbers) {
  EXPECT_TRUE(value("true", "bool").to_bool());
  EXPECT_EQ(value("3", "int").to_int(), 3);
  EXPECT_EQ(value("-3", "SymInt").to_int(), -3);
  EXPECT_EQ(value(R"({"float": 1.5})", "float").to_double(), 1.5);
  EXPECT_TRUE(value("3", "float").is_double());
  EXPECT_EQ(value(R"({"float": "-inf"})", "float").to_double(), -INFINITY);
  EXPECT_TRUE(std::isnan(value(R"({"float": "nan"})", "float").to_double()));
}

TEST(Values, ScalarsKeepTheirKind) {
  EXPECT_TRUE(value("true", "Scalar").is_bool());
  EXPECT_TRUE(value("1", "Scalar").is_int());
  EXPECT_TRUE(value(R"({"float": 1})", "Scalar").is_double());
}

TEST(Values, Enumerators) {
  EXPECT_EQ(value(R"({"dtype": "bfloat16"})", "ScalarType").to_scalar_type(),
            kBFloat16);
  EXPECT_EQ(value("11", "ScalarType").to_scalar_type(), kBool);
  EXPECT_EQ(value(R"({"layout": "strided"})", "Layout").to_layout(), kStrided);
  EXPECT_EQ(value(R"({"memory_format": "channels_last"})", "MemoryFormat")
                .to_memory_format(),
            MemoryFormat::ChannelsLast);
}

TEST(Values, ADeviceIsTheOneUnderTest) {
  EXPECT_EQ(value(R"({"device": "cpu"})", "Device").to_device(), Device(kMeta));
  EXPECT_EQ(value("\"cpu\"", "Device").to_device(), Device(kMeta));
}

TEST(Values, Lists) {
  EXPECT_EQ(to_string(value("[1, 2]", "int[]")), "[1, 2]");
  EXPECT_EQ(to_string(value("[]", "int[]")), "[]");
  EXPECT_EQ(to_string(value("3", "int[2]")), "[3, 3]");
  EXPECT_EQ(value("[true, false]", "bool[2]").to_bool_list().size(), 2u);
  EXPECT_EQ(value(R"([{"float": 2}, 1])", "float[]").to_double_list()[1], 1.0);
  EXPECT_TRUE(value("[1, true]", "Scalar[]").to_scalar_list()[1].is_boolean());
  EXPECT_EQ(value(R"(["a", "b"])", "str[]").to_string_list()[1], "b");
}

TEST(Values, TensorsAndAbsentOnes) {
  EXPECT_TRUE(value(R"({"tensor": "0"})", "Tensor").is_tensor());
  EXPECT_TRUE(value("null", "Tensor").is_none());
  EXPECT_TRUE(value("null", "Tensor?").is_none());
  EXPECT_TRUE(value("null", "int[]?").is_none());
  const Value list = value(R"([{"tensor": "0"}, null])", "Tensor?[]");
  EXPECT_EQ(list.tag(), Value::Tag::OptionalTensorList);
  EXPECT_FALSE(list.to_tensor_list()[1].defined());
}

TEST(Values, ATensorOfOneElementIsANumber) {
  const ValueContext context{
      [](const Json& v, const std::string&) {
        const TensorBase t(make_tensor({v["n"]}, kDouble, Device(kCPU)));
        for (int i = 0; i < t.numel(); ++i) t.data_ptr<double>()[i] = 2.5;
        return t;
      },
      Device(kCPU)};
  const auto number = [&](int n) {
    return value_of({{"tensor", "0"}, {"n", n}}, TypeKind::kFloat, "x",
                    context);
  };
  EXPECT_EQ(number(1).to_double(), 2.5);
  EXPECT_THROW(number(2), ValueError);
}

TEST(Values, RejectsWhatDoesNotFit) {
  EXPECT_EQ(misfit("1.5", "int"), "x: expected int, got 1.5");
  EXPECT_EQ(misfit("true", "int"), "x: expected int, got true");
  EXPECT_EQ(misfit("1", "bool"), "x: expected bool, got 1");
  EXPECT_EQ(misfit("null", "int"), "x: expected int, got null");
  EXPECT_EQ(misfit("3", "int[]"), "x: expected int[], got 3");
  EXPECT_EQ(misfit("[1, \"a\"]", "int[]"), "x.1: expected int, got \"a\"");
  EXPECT_NE(misfit(R"({"dtype": "complex64"})", "ScalarType"), "");
  EXPECT_NE(misfit(R"({"layout": "sparse"})", "Layout"), "");
  EXPECT_NE(misfit(R"({"memory_format": "any"})", "MemoryFormat"), "");
  EXPECT_NE(misfit(R"({"float": "big"})", "float"), "");
  EXPECT_NE(misfit("1", "Generator"), "");
}

TEST(Values, Defaults) {
  EXPECT_EQ(default_text("int? x=None"), "None");
  EXPECT_EQ(default_text("bool x=True"), "True");
  EXPECT_EQ(default_text("int x=-1"), "-1");
  EXPECT_EQ(default_text("float x=1"), "1.0");
  EXPECT_EQ(default_text("float x=inf"), "inf");
  EXPECT_EQ(default_text("str x='mean'"), "\"mean\"");
  EXPECT_EQ(default_text("int[2] x=1"), "[1, 1]");
  EXPECT_EQ(default_text("int[] x=[0,1]"), "[0, 1]");
  EXPECT_EQ(default_text("bool[2] x=[True,True]"), "[true, true]");
  EXPECT_EQ(default_text("int reduction=Mean"), "1");
  EXPECT_EQ(default_text("MemoryFormat x=contiguous_format"), "contiguous");
  EXPECT_EQ(default_text("MemoryFormat? x=0"), "contiguous");
  EXPECT_EQ(default_text("ScalarType x=long"), "int64");
}

TEST(Values, AnArgumentWithoutDefaultMustBeGiven) {
  try {
    default_text("int x");
    FAIL();
  } catch (const ValueError& e) {
    EXPECT_STREQ(e.what(), "argument x is not given and has no default");
  }
}

}  // namespace
}  // namespace sy::tools
