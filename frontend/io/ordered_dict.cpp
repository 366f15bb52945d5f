#include "frontend/io/ordered_dict.h"

#include "frontend/io/format/file_view.h"

namespace sy::detail {

void key_twice(std::string_view key) {
  fail(ErrorKind::Value,
       "[OrderedDict] key: expected each name once, got {} twice",
       io::in_quotes(std::string(key)));
}

void no_such_key(std::string_view key, size_t size) {
  fail(ErrorKind::Index, "[OrderedDict] key: expected one of {} names, got {}",
       size, io::in_quotes(std::string(key)));
}

void no_such_index(size_t index, size_t size) {
  fail(ErrorKind::Index, "[OrderedDict] index: expected at most {}, got {}",
       static_cast<int64_t>(size) - 1, index);
}

}  // namespace sy::detail
