#include "frontend/io/format/npy_header.h"

#include <algorithm>
#include <cstring>

#include "c10/tensor/tensor_impl.h"

namespace sy::io {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr uint64_t kLongestHeader = 1 << 16;
constexpr size_t kAlignment = 64;

struct NpyDtype {
  const char* code;  // numpy's, without the byte order
  ScalarType dtype;
};
constexpr NpyDtype kDtypes[] = {
    {"b1", kBool}, {"u1", kByte}, {"i1", kChar},  {"i2", kShort}, {"i4", kInt},
    {"i8", kLong}, {"f2", kHalf}, {"f4", kFloat}, {"f8", kDouble}};

// Reads the dict of the header, a literal of Python's, as far as numpy writes
// it: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }.
class DictReader {
 public:
  DictReader(const FileView& file, uint64_t begin, std::string_view text,
             NpyHeader& out)
      : file_(file), begin_(begin), text_(text), out_(out) {}

  void read() {
    expect('{');
    while (!accept('}')) {
      const std::string_view key = string("a key");
      bool& seen = key == "descr"           ? seen_[0]
                   : key == "fortran_order" ? seen_[1]
                   : key == "shape"         ? seen_[2]
                                            : fail_key(key);
      if (seen) fail("{} once, got it twice", in_quotes(key));
      seen = true;
      expect(':');
      if (key == "descr") {
        read_descr();
      } else if (key == "shape") {
        read_shape();
      } else {
        out_.fortran_order = read_bool();
      }
      if (accept('}')) break;
      expect(',');
    }
    for (int i = 0; i < 3; ++i) {
      constexpr const char* kKeys[] = {"descr", "fortran_order", "shape"};
      if (!seen_[i]) file_.fail_key(kKeys[i], "expected once, got none");
    }
    skip_spaces();
    if (at_ != text_.size()) fail("spaces to the end of the header");
  }

 private:
  template <class... A>
  [[noreturn]] void fail(FormatOf<A...> expected, const A&... arguments) {
    file_.fail_at(begin_ + at_, "expected {}{}", str(expected, arguments...),
                  at_ < text_.size()
                      ? ", near " + in_quotes(text_.substr(at_, 20))
                      : std::string(", got the end of the header"));
  }
  bool& fail_key(std::string_view key) {
    fail("descr, fortran_order and shape, got {}", in_quotes(key));
  }

  void skip_spaces() {
    while (at_ < text_.size() && std::strchr(" \t\r\n", text_[at_]) &&
           text_[at_] != '\0') {
      ++at_;
    }
  }
  bool accept(char c) {
    skip_spaces();
    const bool there = at_ < text_.size() && text_[at_] == c;
    if (there) ++at_;
    return there;
  }
  void expect(char c) {
    if (!accept(c)) fail("{}", in_quotes(std::string_view(&c, 1)));
  }

  std::string_view string(const char* what) {
    skip_spaces();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') fail("{} in quotes", what);
    const size_t end = text_.find(quote, at_ + 1);
    const std::string_view value =
        text_.substr(at_ + 1, end == text_.npos ? 0 : end - at_ - 1);
    const bool plain = std::all_of(value.begin(), value.end(), [](char c) {
      return c >= ' ' && c <= '~' && c != '\\';
    });
    if (end == text_.npos || !plain) fail("{} of plain characters", what);
    at_ = end + 1;
    return value;
  }

  bool read_bool() {
    skip_spaces();
    for (const std::string_view word : {"True", "False"}) {
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return word == "True";
      }
    }
    fail("fortran_order True or False");
  }

  void read_descr() {
    skip_spaces();
    if (at_ < text_.size() && (text_[at_] == '[' || text_[at_] == '(')) {
      fail("descr of plain numbers; structured dtypes are not supported");
    }
    const size_t start = at_;
    const std::string_view descr = string("descr");
    if (descr.size() >= 2 && std::strchr("<>=|", descr[0])) {
      for (const NpyDtype& d : kDtypes) {
        if (descr.substr(1) != d.code) continue;
        // '|' says that there is no order: of one byte.
        if (descr[0] == '|' && element_size(d.dtype) > 1) break;
        out_.dtype = d.dtype;
        out_.swapped = descr[0] == '>' && element_size(d.dtype) > 1;
        return;
      }
    }
    const bool objects = descr.find('O') != descr.npos;
    at_ = start;
    file_.fail_at(begin_ + at_,
                  "descr: {} is not supported{}; expected b1, u1, i1, i2, i4, "
                  "i8, f2, f4 or f8",
                  in_quotes(descr), objects ? " (objects of Python's)" : "");
  }

  void read_shape() {
    expect('(');
    while (!accept(')')) {
      if (out_.sizes.size() == TensorImpl::kMaxDims) {
        fail("shape of at most {} dims", int{TensorImpl::kMaxDims});
      }
      out_.sizes.push_back(number());
      if (accept(')')) {
        // Python reads (3) as a number, not as a tuple.
        if (out_.sizes.size() == 1) fail("a comma in shape");
        break;
      }
      expect(',');
    }
  }

  int64_t number() {
    skip_spaces();
    const size_t start = at_;
    int64_t value = 0;
    bool overflow = false;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9';
         ++at_) {
      overflow |= __builtin_mul_overflow(value, 10, &value) ||
                  __builtin_add_overflow(value, text_[at_] - '0', &value);
    }
    const bool padded = at_ - start > 1 && text_[start] == '0';
    if (at_ == start || padded || overflow) {
      at_ = start;
      fail("sizes of shape from 0 to 2^63-1");
    }
    // Python 2 wrote long numbers so.
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;
    return value;
  }

  const FileView& file_;
  uint64_t begin_;  // of the text in the file
  std::string_view text_;
  NpyHeader& out_;
  size_t at_ = 0;
  bool seen_[3] = {};
};

void check_size(const FileView& file, const NpyHeader& h) {
  auto bytes = static_cast<int64_t>(element_size(h.dtype));
  bool overflow = false;
  bool zero = false;
  for (const int64_t s : h.sizes) {
    overflow |= __builtin_mul_overflow(bytes, s, &bytes);
    zero |= s == 0;
  }
  if (zero) bytes = 0;
  if (overflow && !zero) {
    file.fail_key("shape", "expected fewer than 2^63 bytes, got {} of {}",
                  IntArrayRef(h.sizes), h.dtype);
  }
  const uint64_t got = file.size - h.data;
  if (got != static_cast<uint64_t>(bytes)) {
    file.fail_at(h.data, "expected {} bytes for {} of {}, got {}", bytes,
                 IntArrayRef(h.sizes), h.dtype, got);
  }
}

}  // namespace

NpyHeader parse_npy(const FileView& file) {
  const std::string_view magic =
      file.text(0, std::min<uint64_t>(file.size, kMagic.size()), "the magic");
  if (magic != kMagic) {
    file.fail_at(0, "expected \\x93NUMPY, which .npy files start with, got {}",
                 in_quotes(magic));
  }
  file.need(6, 2, "the version");
  const int major = file.data[6], minor = file.data[7];
  if (major < 1 || major > 3 || minor != 0) {
    file.fail_at(6, "expected version 1.0, 2.0 or 3.0, got {}.{}", major,
                 minor);
  }
  constexpr const char* kWhat = "the length of the header";
  const uint64_t length = major == 1 ? file.u16(8, kWhat) : file.u32(8, kWhat);
  const uint64_t begin = major == 1 ? 10 : 12;
  if (length > kLongestHeader) {
    file.fail_at(8, "expected a header of at most {} bytes, got {}",
                 kLongestHeader, length);
  }
  NpyHeader header;
  header.data = begin + length;
  DictReader(file, begin, file.text(begin, length, "the header"), header)
      .read();
  check_size(file, header);
  return header;
}

std::string npy_header(std::string_view op, ScalarType dtype,
                       IntArrayRef sizes) {
  const auto* const known =
      std::find_if(std::begin(kDtypes), std::end(kDtypes),
                   [&](const NpyDtype& d) { return d.dtype == dtype; });
  SY_CHECK(known != std::end(kDtypes), Type,
           "[{}] tensor: expected a dtype that .npy has, got {}", op, dtype);
  const char order = element_size(dtype) == 1 ? '|' : '<';
  std::string dict =
      str("{{'descr': '{}{}', 'fortran_order': False, 'shape': (", order,
          known->code);
  for (size_t d = 0; d < sizes.size(); ++d) {
    dict += str("{}{}", d == 0 ? "" : ", ", sizes[d]);
  }
  dict += sizes.size() == 1 ? ",), }" : "), }";
  std::string out(kMagic);
  const size_t total =
      (10 + dict.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  const size_t length = total - 10;
  out += {'\x01', '\0', static_cast<char>(length & 0xff),
          static_cast<char>(length >> 8)};
  out += dict;
  out.resize(total - 1, ' ');
  return out + '\n';
}

}  // namespace sy::io
