#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sy::io {

// Writes a pickle of protocol 2, value by value, in the opcodes that Python's
// torch.load and libtorch read. Containers are a mark, their values and an end.
class PickleWriter {
 public:
  PickleWriter() : out_("\x80\x02") {}

  void none() { out_ += 'N'; }
  void boolean(bool v) { out_ += v ? '\x88' : '\x89'; }
  void integer(int64_t v);
  void real(double v);
  // UTF-8 of fewer than 2^32 bytes.
  void text(std::string_view v);
  void mark() { out_ += '('; }
  // The values since the mark.
  void end_tuple() { out_ += 't'; }
  void empty_tuple() { out_ += ')'; }
  // The caller then calls mark(), writes the items and calls end_list(); or
  // does nothing. Dicts likewise, with keys and values.
  void empty_list() { out_ += ']'; }
  void end_list() { out_ += 'e'; }
  void empty_dict() { out_ += '}'; }
  void end_dict() { out_ += 'u'; }
  void global(std::string_view module, std::string_view name);
  // Calls the global with the tuple above it.
  void call() { out_ += 'R'; }
  // An object of the class above; then its state, a dict, and build().
  void object() { out_ += ")\x81"; }
  void build() { out_ += 'b'; }
  // The object outside of the pickle whose id is the tuple above.
  void outside() { out_ += 'Q'; }
  // Keeps the last value, to be written again by its number.
  uint32_t keep();
  void kept(uint32_t number);

  // The whole pickle. Nothing may be written after it.
  std::string finish();

 private:
  void bytes(uint64_t v, int n);

  std::string out_;
  uint32_t kept_ = 0;
};

}  // namespace sy::io
