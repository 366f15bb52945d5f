#include "frontend/export/write/json_writer.h"

#include <charconv>
#include <cmath>

#include "c10/process/error.h"
#include "frontend/io/format/json.h"

namespace sy::exporting {

namespace {

void append_text(std::string& out, std::string_view v) {
  SY_CHECK(io::append_json_string(out, v), Value,
           "[export_program] expected UTF-8, got {}", io::in_quotes(v));
}

}  // namespace

void JsonWriter::before_value() {
  if (comma_) out_ += ", ";
  comma_ = true;
}

JsonWriter& JsonWriter::open(char c) {
  before_value();
  out_ += c;
  comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::close(char c) {
  out_ += c;
  comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  before_value();
  append_text(out_, name);
  out_ += ": ";
  comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::text(std::string_view v) {
  before_value();
  append_text(out_, v);
  return *this;
}

JsonWriter& JsonWriter::integer(int64_t v) {
  before_value();
  out_ += std::to_string(v);
  return *this;
}

JsonWriter& JsonWriter::real(double v) {
  if (std::isnan(v)) return text("NaN");
  if (std::isinf(v)) return text(v > 0 ? "Infinity" : "-Infinity");
  before_value();
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, v).ptr;
  const std::string_view number(digits, size_t(end - digits));
  out_ += number;
  if (number.find_first_of(".e") == number.npos) out_ += ".0";
  return *this;
}

JsonWriter& JsonWriter::boolean(bool v) {
  before_value();
  out_ += v ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::null() {
  before_value();
  out_ += "null";
  return *this;
}

JsonWriter& JsonWriter::json(std::string_view v) {
  before_value();
  out_ += v;
  return *this;
}

JsonWriter& JsonWriter::only(std::string_view name, int64_t v) {
  return begin_object().key(name).integer(v).end_object();
}
JsonWriter& JsonWriter::only(std::string_view name, std::string_view v) {
  return begin_object().key(name).text(v).end_object();
}

}  // namespace sy::exporting
