#include "frontend/io/format/safetensors_header.h"

#include <algorithm>
#include <tuple>

#include "c10/tensor/tensor_impl.h"
#include "frontend/io/format/json.h"

namespace sy::io {

namespace {

// The limit of the format: others would refuse to read more.
constexpr uint64_t kLongestHeader = 100'000'000;
constexpr uint64_t kAlignment = 64;
constexpr const char* kMetadataKey = "__metadata__";

// Builds the header from the events of its JSON; refuses what does not belong.
class HeaderReader final : public JsonHandler {
 public:
  HeaderReader(const FileView& file, SafetensorsHeader& out)
      : file_(file), out_(out) {}

  void begin_object(uint64_t at) override {
    switch (state_) {
      case kStart: state_ = kTop; return;
      case kTop:
        if (name_ == kMetadataKey) {
          if (metadata_seen_) file_.fail_key(name_, "expected once, got twice");
          metadata_seen_ = true;
          state_ = kMetadata;
        } else {
          out_.entries.push_back({});
          out_.entries.back().name = std::move(name_);
          fields_ = 0;
          state_ = kTensor;
        }
        return;
      default: unexpected(at, "an object");
    }
  }

  void end_object(uint64_t) override {
    if (state_ == kTensor) {
      for (const Field f : {kDtype, kShape, kOffsets}) {
        if ((fields_ & f) == 0) {
          file_.fail_key(entry().name, "expected {}, got none", field_name(f));
        }
      }
    }
    state_ = state_ == kTop ? kEnd : kTop;
  }

  void begin_array(uint64_t at) override {
    if (state_ != kTensor || (field_ != kShape && field_ != kOffsets)) {
      unexpected(at, "a list");
    }
    offsets_ = 0;
    state_ = kList;
  }

  void end_array(uint64_t at) override {
    if (field_ == kOffsets && offsets_ != 2) {
      file_.fail_at(at, "{}: data_offsets: expected 2 numbers, got {}",
                    in_quotes(entry().name), offsets_);
    }
    state_ = kTensor;
  }

  void key(uint64_t at, std::string& name) override {
    if (state_ != kTensor) {
      name_ = std::move(name);
      return;
    }
    field_ = name == "dtype"          ? kDtype
             : name == "shape"        ? kShape
             : name == "data_offsets" ? kOffsets
                                      : kNone;
    if (field_ == kNone) {
      file_.fail_at(at, "{}: expected dtype, shape and data_offsets, got {}",
                    in_quotes(entry().name), in_quotes(name));
    }
    if ((fields_ & field_) != 0) {
      file_.fail_at(at, "{}: {}: expected once, got twice",
                    in_quotes(entry().name), field_name(field_));
    }
    fields_ |= field_;
  }

  void string(uint64_t at, std::string& value) override {
    if (state_ == kMetadata) {
      out_.metadata.emplace_back(std::move(name_), std::move(value));
    } else if (state_ == kTensor && field_ == kDtype) {
      entry().dtype = find_safetensors_dtype(value);
      if (entry().dtype == nullptr) {
        file_.fail_at(at, "{}: dtype: expected one of safetensors', got {}",
                      in_quotes(entry().name), in_quotes(value));
      }
    } else {
      unexpected(at, "a string");
    }
  }

  void unsigned_number(uint64_t at, uint64_t value) override {
    if (state_ != kList) unexpected(at, "a number");
    if (field_ == kOffsets) {
      if (offsets_ < 2) (offsets_ == 0 ? entry().begin : entry().end) = value;
      ++offsets_;
      return;
    }
    if (value > INT64_MAX) unexpected(at, "a number beyond 2^63");
    if (entry().sizes.size() == TensorImpl::kMaxDims) {
      file_.fail_at(at, "{}: shape: expected at most {} dims, got more",
                    in_quotes(entry().name), int{TensorImpl::kMaxDims});
    }
    entry().sizes.push_back(static_cast<int64_t>(value));
  }

  void other(uint64_t at, const std::string& value) override {
    unexpected(at, value);
  }

 private:
  enum State { kStart, kTop, kMetadata, kTensor, kList, kEnd };
  enum Field { kNone = 0, kDtype = 1, kShape = 2, kOffsets = 4 };

  static const char* field_name(int f) {
    return f == kDtype ? "dtype" : f == kShape ? "shape" : "data_offsets";
  }
  SafetensorsEntry& entry() { return out_.entries.back(); }

  [[noreturn]] void unexpected(uint64_t at, std::string_view got) {
    switch (state_) {
      case kStart: file_.fail_at(at, "expected an object, got {}", got);
      case kMetadata:
        file_.fail_at(at, "{}: {}: expected a string, got {}",
                      in_quotes(kMetadataKey), in_quotes(name_), got);
      case kTensor:
      case kList:
        file_.fail_at(
            at, "{}: {}{}{}", in_quotes(entry().name), field_name(field_),
            field_ == kDtype ? ": expected a string, got "
                             : ": expected a list of whole numbers, got ",
            got);
      default:
        file_.fail_at(at, "{}: expected an object, got {}", in_quotes(name_),
                      got);
    }
  }

  const FileView& file_;
  SafetensorsHeader& out_;
  State state_ = kStart;
  Field field_ = kNone;
  int fields_ = 0;  // of the tensor, seen so far
  uint64_t offsets_ = 0;
  bool metadata_seen_ = false;
  std::string name_;
};

// The bytes that the sizes and the dtype need. Throws if no file could hold it.
uint64_t bytes_of(const FileView& file, const SafetensorsEntry& e) {
  uint64_t bits = e.dtype->bits;
  bool overflow = false;
  for (const int64_t s : e.sizes) {
    overflow |= __builtin_mul_overflow(bits, static_cast<uint64_t>(s), &bits);
  }
  const bool zero =
      std::find(e.sizes.begin(), e.sizes.end(), 0) != e.sizes.end();
  if (zero) return 0;
  if (overflow || bits > INT64_MAX) {
    file.fail_key(e.name, "shape: expected fewer than 2^63 bits, got {} of {}",
                  IntArrayRef(e.sizes), e.dtype->name);
  }
  if (bits % 8 != 0) {
    file.fail_key(e.name, "shape: expected whole bytes, got {} bits", bits);
  }
  return bits / 8;
}

// Makes offsets count from the start of the file. Throws unless tensors follow
// each other from the first to the last byte of the data.
void place(const FileView& file, uint64_t data, SafetensorsHeader& header) {
  std::vector<SafetensorsEntry*> order;
  order.reserve(header.entries.size());
  for (SafetensorsEntry& e : header.entries) order.push_back(&e);
  const auto before = [](const auto* a, const auto* b) {
    return std::tie(a->begin, a->end) < std::tie(b->begin, b->end);
  };
  std::stable_sort(order.begin(), order.end(), before);

  const uint64_t available = file.size - data;
  uint64_t next = 0;
  for (SafetensorsEntry* const e : order) {
    const auto offsets = [&] { return str("[{}, {}]", e->begin, e->end); };
    if (e->begin != next) {
      file.fail_key(e->name,
                    "data_offsets: expected a start at {}, where the tensor "
                    "before ends, got {}",
                    next, offsets());
    }
    if (e->end < e->begin || e->end > available) {
      file.fail_key(e->name,
                    "data_offsets: expected an end between {} and {}, got {}",
                    e->begin, available, offsets());
    }
    const uint64_t bytes = bytes_of(file, *e);
    if (e->end - e->begin != bytes) {
      file.fail_key(e->name,
                    "data_offsets: expected {} bytes for {} of {}, got {}",
                    bytes, IntArrayRef(e->sizes), e->dtype->name, offsets());
    }
    next = e->end;
    e->begin += data;
    e->end += data;
  }
  if (next != available) {
    file.fail_at(
        data + next,
        "expected the end of the file, got {} bytes that belong to no tensor",
        available - next);
  }
}

}  // namespace

SafetensorsHeader parse_safetensors(const FileView& file) {
  const uint64_t length = file.u64(0, "the length of the header");
  if (length > kLongestHeader) {
    file.fail_at(0, "expected a header of at most {} bytes, got {}",
                 kLongestHeader, length);
  }
  const std::string_view text = file.text(8, length, "the header");
  if (text.empty() || text[0] != '{') {
    file.fail_at(8, "expected a header that starts with {{, got {}",
                 text.empty() ? "none" : in_quotes(text.substr(0, 1)));
  }
  SafetensorsHeader header;
  HeaderReader reader(file, header);
  read_json(file, 8, 8 + length, reader);

  std::vector<const std::string*> names;
  names.reserve(header.entries.size());
  for (const SafetensorsEntry& e : header.entries) names.push_back(&e.name);
  const std::string* twice = repeated(std::move(names));
  if (twice == nullptr) twice = repeated(header.metadata);
  if (twice != nullptr) file.fail_key(*twice, "expected once, got twice");
  place(file, 8 + length, header);
  return header;
}

std::string safetensors_header(std::string_view op,
                               const std::vector<SafetensorsEntry>& entries,
                               const StringPairs& metadata) {
  std::string out(8, '\0');
  out += '{';
  if (!metadata.empty()) {
    append_json_string(out, kMetadataKey);
    out += ':';
    append_json_object(out, metadata, op, "metadata");
  }
  for (const SafetensorsEntry& e : entries) {
    if (out.back() != '{') out += ',';
    SY_CHECK(e.name != kMetadataKey && append_json_string(out, e.name), Value,
             "[{}] tensors: expected names in UTF-8 other than {}, got {}", op,
             kMetadataKey, in_quotes(e.name));
    out += str(":{{\"dtype\":\"{}\",\"shape\":[", e.dtype->name);
    for (size_t d = 0; d < e.sizes.size(); ++d) {
      out += str("{}{}", d == 0 ? "" : ",", e.sizes[d]);
    }
    out += str("],\"data_offsets\":[{},{}]}}", e.begin, e.end);
  }
  out += '}';
  out.resize((out.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  const uint64_t length = out.size() - 8;
  SY_CHECK(length <= kLongestHeader, Value,
           "[{}] tensors: expected a header of at most {} bytes, got {}", op,
           kLongestHeader, length);
  std::copy_n(reinterpret_cast<const char*>(&length), 8, out.begin());
  return out;
}

}  // namespace sy::io
