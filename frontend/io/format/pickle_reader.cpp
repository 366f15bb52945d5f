#include <bit>
#include <cstring>

#include "frontend/io/format/pickle.h"

namespace sy::io {

namespace {

using Kind = Pickle::Kind;

enum Opcode : uint8_t {
  kProto = 0x80,
  kStop = '.',
  kFrame = 0x95,
  kMark = '(',
  kNone = 'N',
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kInt = 'J',
  kInt1 = 'K',
  kInt2 = 'M',
  kLong1 = 0x8a,
  kFloat = 'G',
  kUnicode = 'X',
  kShortUnicode = 0x8c,
  kUnicode8 = 0x8d,
  kString = 'T',  // of Python 2
  kShortString = 'U',
  kEmptyList = ']',
  kAppend = 'a',
  kAppends = 'e',
  kEmptyTuple = ')',
  kTuple = 't',
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kEmptyDict = '}',
  kSetItem = 's',
  kSetItems = 'u',
  kGlobal = 'c',
  kStackGlobal = 0x93,
  kReduce = 'R',
  kNewObject = 0x81,
  kBuild = 'b',
  kPersistent = 'Q',
  kPut = 'q',
  kLongPut = 'r',
  kMemoize = 0x94,
  kGet = 'h',
  kLongGet = 'j',
};

// The names of opcodes that are refused.
const char* refused_name(uint8_t opcode) {
  switch (opcode) {
    case '0': return "POP";
    case '1': return "POP_MARK";
    case '2': return "DUP";
    case 'B': return "BINBYTES";
    case 'C': return "SHORT_BINBYTES";
    case 'F': return "FLOAT";
    case 'I': return "INT";
    case 'L': return "LONG";
    case 'P': return "PERSID";
    case 'S': return "STRING";
    case 'V': return "UNICODE";
    case 'd': return "DICT";
    case 'g': return "GET";
    case 'i': return "INST";
    case 'l': return "LIST";
    case 'o': return "OBJ";
    case 'p': return "PUT";
    case 0x82: return "EXT1";
    case 0x83: return "EXT2";
    case 0x84: return "EXT4";
    case 0x8b: return "LONG4";
    case 0x8e: return "BINBYTES8";
    case 0x8f: return "EMPTY_SET";
    case 0x90: return "ADDITEMS";
    case 0x91: return "FROZENSET";
    case 0x92: return "NEWOBJ_EX";
    case 0x96: return "BYTEARRAY8";
    case 0x97: return "NEXT_BUFFER";
    case 0x98: return "READONLY_BUFFER";
    default: return "none of pickle";
  }
}

class Machine {
 public:
  Machine(Pickle& values, PickleHandler& handler)
      : v_(values), f_(values.file()), handler_(handler) {}

  PickleId run() {
    if (f_.size < 2 || f_.data[0] != kProto) {
      f_.fail_at(0, "expected a pickle of protocol 2 to 5");
    }
    if (f_.data[1] < 2 || f_.data[1] > 5) {
      f_.fail_at(1, "expected protocol 2 to 5, got {}", int{f_.data[1]});
    }
    next_ = 2;
    for (;;) {
      at_ = next_;
      const auto opcode = static_cast<uint8_t>(number(1));
      if (opcode == kStop) break;
      step(opcode);
    }
    if (!marks_.empty() || stack_.size() != 1) {
      f_.fail_at(at_, "STOP: expected one value, got {}", stack_.size());
    }
    if (next_ != f_.size) {
      f_.fail_at(next_, "expected the end of the pickle, got {} more bytes",
                 f_.size - next_);
    }
    return stack_[0];
  }

 private:
  void step(uint8_t opcode) {
    switch (opcode) {
      case kFrame: number(8); return;
      case kMark:
        marks_.push_back(static_cast<uint32_t>(stack_.size()));
        return;
      case kNone: return push(Pickle::kNone);
      case kNewTrue: return push(Pickle::kTrue);
      case kNewFalse: return push(Pickle::kFalse);
      case kInt1: return push_integer(static_cast<int64_t>(number(1)));
      case kInt2: return push_integer(static_cast<int64_t>(number(2)));
      case kInt: return push_integer(static_cast<int32_t>(number(4)));
      case kLong1: return push_long();
      case kFloat:
        return push(
            v_.add_real(std::bit_cast<double>(__builtin_bswap64(number(8)))));
      case kShortUnicode:
      case kShortString: return push_text(number(1));
      case kUnicode:
      case kString: return push_text(number(4));
      case kUnicode8: return push_text(number(8));
      case kEmptyList: return push(v_.add_list());
      case kEmptyDict: return push(v_.add_dict());
      case kEmptyTuple: return push(Pickle::kEmptyTuple);
      case kAppend: return append(Kind::List, 1);
      case kSetItem: return append(Kind::Dict, 2);
      case kAppends: return append(Kind::List, above_mark());
      case kSetItems: return append(Kind::Dict, above_mark());
      case kTuple: return tuple(above_mark());
      case kTuple1: return tuple(1);
      case kTuple2: return tuple(2);
      case kTuple3: return tuple(3);
      case kGlobal: return global();
      case kStackGlobal: return stack_global();
      case kReduce: return reduce();
      case kNewObject: return new_object();
      case kBuild: return build();
      case kPersistent: return push(handler_.outside(at_, pop()));
      case kPut: return put(number(1));
      case kLongPut: return put(number(4));
      case kMemoize: return put(memo_.size());
      case kGet: return get(number(1));
      case kLongGet: return get(number(4));
      default:
        f_.fail_at(at_, "opcode 0x{}{} ({}) is not supported",
                   "0123456789abcdef"[opcode >> 4],
                   "0123456789abcdef"[opcode & 15], refused_name(opcode));
    }
  }

  uint64_t number(uint64_t bytes) {
    f_.need(next_, bytes, "an opcode and its argument");
    uint64_t value = 0;
    std::memcpy(&value, f_.data + next_, bytes);
    next_ += bytes;
    return value;
  }

  void push(PickleId id) { stack_.push_back(id); }
  void push_integer(int64_t v) { push(v_.add_integer(v)); }

  void push_long() {
    const uint64_t bytes = number(1);
    f_.need(next_, bytes, "an int");
    if (bytes > 8) {
      push(v_.add_text(Kind::Long, next_, bytes));
      next_ += bytes;
    } else {
      const bool negative =
          bytes > 0 && (f_.data[next_ + bytes - 1] & 128) != 0;
      uint64_t value = number(bytes);
      if (negative && bytes < 8) value |= ~uint64_t{0} << 8 * bytes;
      push_integer(static_cast<int64_t>(value));
    }
  }

  void push_text(uint64_t size) {
    f_.need(next_, size, "a string");
    push(v_.add_text(Kind::Text, next_, size));
    next_ += size;
  }

  // How many values stand above the last mark.
  size_t above_mark() {
    if (marks_.empty()) f_.fail_at(at_, "expected a mark, got none");
    const size_t n = stack_.size() - marks_.back();
    marks_.pop_back();
    return n;
  }

  // The last `n` values, which must lie above the last mark.
  std::span<const PickleId> top(size_t n) {
    const size_t floor = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() - floor < n) {
      f_.fail_at(at_, "expected {} values, got {}", n, stack_.size() - floor);
    }
    return {stack_.data() + stack_.size() - n, n};
  }
  PickleId pop() {
    const PickleId id = top(1)[0];
    stack_.pop_back();
    return id;
  }
  void expect(PickleId id, Kind kind, const char* what) {
    if (v_.kind(id) == kind) return;
    f_.fail_at(at_, "{}: expected {}, got {}", what, kind_name(kind),
               kind_name(v_.kind(id)));
  }

  void append(Kind kind, size_t n) {
    const std::span<const PickleId> items = top(n + 1);
    expect(items[0], kind, kind == Kind::List ? "APPEND" : "SETITEM");
    if (kind == Kind::Dict && n % 2 != 0) {
      f_.fail_at(at_, "SETITEMS: expected keys and values, got {} values", n);
    }
    v_.append(items[0], items.subspan(1));
    stack_.resize(stack_.size() - n);
  }

  void tuple(size_t n) {
    const PickleId id = v_.add_tuple(top(n));
    stack_.resize(stack_.size() - n);
    push(id);
  }

  std::string_view line() {
    const uint64_t begin = next_;
    const void* const end =
        begin < f_.size ? std::memchr(f_.data + begin, '\n', f_.size - begin)
                        : nullptr;
    if (end == nullptr) f_.fail_at(at_, "GLOBAL: expected two lines");
    next_ = static_cast<uint64_t>(static_cast<const uint8_t*>(end) - f_.data);
    return f_.text(begin, next_++ - begin, "");
  }

  void global() {
    const std::string_view module = line();
    const std::string_view name = line();
    push(v_.add_global(handler_.global(at_, module, name)));
  }

  void stack_global() {
    const std::span<const PickleId> names = top(2);
    for (const PickleId id : names) expect(id, Kind::Text, "STACK_GLOBAL");
    const uint64_t number =
        handler_.global(at_, v_.text(names[0]), v_.text(names[1]));
    stack_.resize(stack_.size() - 2);
    push(v_.add_global(number));
  }

  void reduce() {
    const PickleId arguments = pop();
    const PickleId function = pop();
    expect(arguments, Kind::Tuple, "REDUCE");
    expect(function, Kind::Global, "REDUCE");
    push(handler_.call(at_, function, arguments));
  }

  void new_object() {
    const PickleId arguments = pop();
    const PickleId type = pop();
    expect(type, Kind::Global, "NEWOBJ");
    if (arguments != Pickle::kEmptyTuple) {
      f_.fail_at(at_, "NEWOBJ: expected no arguments, got {}",
                 kind_name(v_.kind(arguments)));
    }
    handler_.make(at_, type);
    push(v_.add_object());
  }

  void build() {
    const PickleId state = pop();
    const PickleId object = top(1)[0];
    expect(state, Kind::Dict, "BUILD");
    if (v_.kind(object) == Kind::Dict) {
      handler_.dict_state(at_, object, state);
      return;
    }
    expect(object, Kind::Object, "BUILD");
    v_.set_state(object, state);
  }

  // A pickle numbers its shared values from 0, so it has no more than bytes.
  void put(uint64_t place) {
    const PickleId id = top(1)[0];
    if (place >= f_.size) {
      f_.fail_at(at_, "expected to keep fewer than {} values, got number {}",
                 f_.size, place);
    }
    if (place >= memo_.size()) {
      v_.charge((place + 1 - memo_.size()) * sizeof(PickleId));
      memo_.resize(place + 1, kUnset);
    }
    memo_[place] = id;
  }

  void get(uint64_t place) {
    if (place >= memo_.size() || memo_[place] == kUnset) {
      f_.fail_at(at_, "expected a value that was kept before, got number {}",
                 place);
    }
    push(memo_[place]);
  }

  static constexpr PickleId kUnset = ~PickleId{0};

  Pickle& v_;
  const FileView& f_;
  PickleHandler& handler_;
  std::vector<PickleId> stack_;
  std::vector<uint32_t> marks_;  // heights of the stack
  std::vector<PickleId> memo_;
  uint64_t at_ = 0;    // of the opcode
  uint64_t next_ = 0;  // of what was not read yet
};

}  // namespace

PickleId read_pickle(Pickle& values, PickleHandler& handler) {
  return Machine(values, handler).run();
}

}  // namespace sy::io
