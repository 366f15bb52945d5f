#include "frontend/io/format/json.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

namespace sy::io {

namespace {

using nlohmann::json;

// Remembers how far the parser has read.
class Cursor {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  Cursor(const char* at, const char** last) : at_(at), last_(last) {}
  reference operator*() const { return *at_; }
  Cursor& operator++() {
    *last_ = ++at_;
    return *this;
  }
  Cursor operator++(int) {
    const Cursor before = *this;
    ++*this;
    return before;
  }
  bool operator==(const Cursor& o) const { return at_ == o.at_; }

 private:
  const char* at_;
  const char** last_;
};

// nlohmann's events as ours. None of them ends the parse: handlers throw.
class Adapter : public json::json_sax_t {
 public:
  Adapter(const FileView& file, const char* first, JsonHandler& handler)
      : last(first), file_(file), first_(first), handler_(handler) {}

  const char* last;  // see Cursor

  bool null() override { return other("null"); }
  bool boolean(bool v) override { return other(v ? "true" : "false"); }
  bool number_integer(json::number_integer_t v) override {
    return other(std::to_string(v));
  }
  bool number_unsigned(json::number_unsigned_t v) override {
    handler_.unsigned_number(at(), v);
    return true;
  }
  bool number_float(json::number_float_t, const std::string& text) override {
    return other(text);
  }
  bool string(std::string& v) override {
    handler_.string(at(), v);
    return true;
  }
  bool binary(json::binary_t&) override { return other("binary data"); }
  bool start_object(size_t) override {
    handler_.begin_object(at());
    return true;
  }
  bool end_object() override {
    handler_.end_object(at());
    return true;
  }
  bool start_array(size_t) override {
    handler_.begin_array(at());
    return true;
  }
  bool end_array() override {
    handler_.end_array(at());
    return true;
  }
  bool key(std::string& name) override {
    handler_.key(at(), name);
    return true;
  }
  bool parse_error(size_t, const std::string&,
                   const json::exception&) override {
    constexpr size_t kShown = 20;
    const std::string_view read(first_, static_cast<size_t>(last - first_));
    const size_t shown = std::min(read.size(), kShown);
    file_.fail_at(at(), "not valid JSON, after {}",
                  in_quotes(read.substr(read.size() - shown)));
  }

 private:
  uint64_t at() const {
    return static_cast<uint64_t>(reinterpret_cast<const uint8_t*>(last) -
                                 file_.data);
  }
  bool other(const std::string& text) {
    handler_.other(at(), text);
    return true;
  }

  const FileView& file_;
  const char* first_;
  JsonHandler& handler_;
};

}  // namespace

JsonHandler::~JsonHandler() = default;

void read_json(const FileView& file, uint64_t begin, uint64_t end,
               JsonHandler& handler) {
  const auto* const data = reinterpret_cast<const char*>(file.data);
  Adapter adapter(file, data + begin, handler);
  json::sax_parse(Cursor(data + begin, &adapter.last),
                  Cursor(data + end, &adapter.last), &adapter);
}

bool append_json_string(std::string& out, std::string_view value) {
  try {
    out += json(value).dump();
    return true;
  } catch (const json::type_error&) {
    return false;
  }
}

}  // namespace sy::io
