#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sy::io {

// The place that bytes are written to, one after the other. For one thread.
class Output {
 public:
  virtual ~Output();
  virtual void write(const void* data, uint64_t size) = 0;
  void write(std::string_view text) { write(text.data(), text.size()); }
  // The number of bytes until now.
  virtual uint64_t size() const = 0;
};

// Bytes in memory.
class OutputBytes final : public Output {
 public:
  using Output::write;
  void write(const void* data, uint64_t size) override {
    bytes_.append(static_cast<const char*>(data), size);
  }
  uint64_t size() const override { return bytes_.size(); }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace sy::io
