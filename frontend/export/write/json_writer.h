#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// Writes a JSON text value by value: in objects, a key before each.

namespace sy::exporting {

class JsonWriter {
 public:
  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }
  // Throws ValueError for text that is not UTF-8.
  JsonWriter& key(std::string_view name);
  JsonWriter& text(std::string_view v);
  JsonWriter& integer(int64_t v);
  // With a point or an exponent; what JSON has no number for is a string, as
  // PyTorch's schema says.
  JsonWriter& real(double v);
  JsonWriter& boolean(bool v);
  JsonWriter& null();
  // A text that is JSON.
  JsonWriter& json(std::string_view v);
  // {"key": value}, for what says by its only member which kind it is.
  JsonWriter& only(std::string_view name, int64_t v);
  JsonWriter& only(std::string_view name, std::string_view v);

  const std::string& str() const { return out_; }

 private:
  JsonWriter& open(char c);
  JsonWriter& close(char c);
  void before_value();

  std::string out_;
  bool comma_ = false;
};

}  // namespace sy::exporting
