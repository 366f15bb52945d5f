#pragma once

#include <string>

#include "frontend/io/format/file_view.h"

namespace sy::io {

// read_json calls these functions in the order of the text. `at` is the byte
// after what was read. A handler throws if it does not expect a call. So a text
// of the wrong form takes no memory, however deep or long it is.
class JsonHandler {
 public:
  virtual ~JsonHandler();
  virtual void begin_object(uint64_t at) = 0;
  virtual void end_object(uint64_t at) = 0;
  virtual void begin_array(uint64_t at) = 0;
  virtual void end_array(uint64_t at) = 0;
  virtual void key(uint64_t at, std::string& name) = 0;
  virtual void string(uint64_t at, std::string& value) = 0;
  virtual void unsigned_number(uint64_t at, uint64_t value) = 0;
  // A negative number, a fraction, a boolean or null, as text.
  virtual void other(uint64_t at, const std::string& value) = 0;
};

// Reads bytes [begin, end) of the file as one JSON value. Throws FileError
// with the byte where the text is not JSON or not UTF-8.
void read_json(const FileView& file, uint64_t begin, uint64_t end,
               JsonHandler& handler);

// Appends a string with quotes and escapes. If it is not UTF-8, returns false
// and appends nothing.
bool append_json_string(std::string& out, std::string_view value);

}  // namespace sy::io
