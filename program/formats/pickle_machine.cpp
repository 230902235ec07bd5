#include "program/formats/pickle_machine.h"

#include <algorithm>

#include "base/error.h"

namespace neutra::program {
namespace {

// Bounds of what a pickle may make, beside kMostPickled.
constexpr std::size_t kMaxObjects = std::size_t{1} << 21;  ///< lists, tuples, arrays
constexpr std::size_t kMaxMemo = std::size_t{1} << 23;
constexpr std::size_t kMostExtents = 64;  ///< of an array: NumPy's own limit
constexpr std::size_t kMaxName = 256;     ///< characters of a module or of what is in it
constexpr int kLastProtocol = 5;

/// What stands for a call of Python, or for its function.
enum class Callable {
  kReconstruct,
  kArrayClass,
  kTypeClass,
  kScalar,
  kFromBuffer,
  kEncode,
  kBytes
};

struct Global {
  std::string_view module, name;
  Callable callable;
};
/// All that pickles of NumPy's arrays name; NumPy 2 has moved `core` to `_core`.
constexpr Global kGlobals[] = {
    {"numpy.core.multiarray", "_reconstruct", Callable::kReconstruct},
    {"numpy._core.multiarray", "_reconstruct", Callable::kReconstruct},
    {"numpy.core.multiarray", "scalar", Callable::kScalar},
    {"numpy._core.multiarray", "scalar", Callable::kScalar},
    {"numpy.core.numeric", "_frombuffer", Callable::kFromBuffer},
    {"numpy._core.numeric", "_frombuffer", Callable::kFromBuffer},
    {"numpy", "ndarray", Callable::kArrayClass},
    {"numpy", "dtype", Callable::kTypeClass},
    {"_codecs", "encode", Callable::kEncode},  // bytes in protocol 2
    {"builtins", "bytes", Callable::kBytes},   // b"" in protocol 2
    {"__builtin__", "bytes", Callable::kBytes},
};

}  // namespace

void PickleMachine::fail(const std::string& found, const std::string& allowed) const {
  throw input_error(
      describe(file_, "byte " + std::to_string(offset_ + operation_), found, allowed));
}

std::string_view PickleMachine::take(std::uint64_t count) {
  if (count > bytes_.size() - at_) fail("the end of the data within a pickle", "a whole pickle");
  const std::string_view result = bytes_.substr(at_, static_cast<std::size_t>(count));
  at_ += static_cast<std::size_t>(count);
  return result;
}

std::uint64_t PickleMachine::unsigned_number(int size) {
  std::uint64_t value = 0;
  const std::string_view text = take(static_cast<std::uint64_t>(size));
  for (int i = size - 1; i >= 0; --i) {
    value = value << 8 | static_cast<unsigned char>(text[static_cast<std::size_t>(i)]);
  }
  return value;
}

std::string_view PickleMachine::line() {
  const std::size_t end = bytes_.find('\n', at_);
  if (end == std::string_view::npos || end - at_ > kMaxName) {
    fail("a name without an end", kNumPyLists);
  }
  const std::string_view result = bytes_.substr(at_, end - at_);
  at_ = end + 1;
  return result;
}

std::int64_t PickleMachine::long_number(std::uint64_t size) {
  const std::string_view text = take(size);
  if (size > 8) fail("a whole number of " + std::to_string(size) + " bytes", "at most 8 bytes");
  if (size == 0) return 0;
  return whole_number(text, true, false);
}

std::int64_t PickleMachine::whole_number(std::string_view text, bool is_signed, bool big_endian) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t at = big_endian ? i : text.size() - 1 - i;
    value = value << 8 | static_cast<unsigned char>(text[at]);
  }
  const int unused = 64 - 8 * static_cast<int>(text.size());
  if (!is_signed) return static_cast<std::int64_t>(value);
  return static_cast<std::int64_t>(value << unused) >> unused;
}

void PickleMachine::push(Value value) {
  if (++pushed_ > kMostPickled) {
    fail("more than " + std::to_string(kMostPickled) + " values", "at most that");
  }
  stack_.push_back(value);
}

void PickleMachine::push_number(std::int64_t value) { push({Value::kNumber, value}); }

void PickleMachine::push_text(Value::Kind kind, std::string_view text) {
  texts_.push_back(text);
  push({kind, static_cast<std::int64_t>(texts_.size()) - 1});
}

void PickleMachine::push_object(Object object) {
  if (objects_.size() == kMaxObjects) {
    fail("more than " + std::to_string(kMaxObjects) + " lists", "at most that");
  }
  objects_.push_back(std::move(object));
  push({Value::kObject, static_cast<std::int64_t>(objects_.size()) - 1});
}

PickleMachine::Value PickleMachine::pop() {
  if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) {
    fail("an operation without its operands", kNumPyLists);
  }
  const Value value = stack_.back();
  stack_.pop_back();
  return value;
}

PickleMachine::Value PickleMachine::top() {
  const Value value = pop();
  stack_.push_back(value);
  return value;
}

std::vector<PickleMachine::Value> PickleMachine::pop_marked() {
  if (marks_.empty()) fail("an operation without its mark", kNumPyLists);
  std::vector<Value> values(stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back()),
                            stack_.end());
  stack_.resize(marks_.back());
  marks_.pop_back();
  return values;
}

std::vector<PickleMachine::Value> PickleMachine::pop_values(std::size_t count) {
  std::vector<Value> values(count);
  for (std::size_t i = count; i-- > 0;) values[i] = pop();
  return values;
}

const PickleMachine::Object* PickleMachine::object(const Value& value, Object::Kind kind) const {
  if (value.kind != Value::kObject) return nullptr;
  const Object& found = objects_[static_cast<std::size_t>(value.number)];
  return found.kind == kind ? &found : nullptr;
}

PickleMachine::Object& PickleMachine::list() {
  const Value value = top();
  if (object(value, Object::kList) == nullptr) fail("items of " + name_of(value), kNumPyLists);
  return objects_[static_cast<std::size_t>(value.number)];
}

std::string_view PickleMachine::text(const Value& value) const {
  return texts_[static_cast<std::size_t>(value.number)];
}

bool PickleMachine::is_text(const Value& value) const {
  return value.kind == Value::kText || value.kind == Value::kBytes;
}

std::string PickleMachine::name_of(const Value& value) const {
  constexpr const char* kNames[] = {"None",   "True or False", "a whole number", "a real number",
                                    "a text", "bytes",         "a function"};
  if (value.kind != Value::kObject) return kNames[value.kind];
  constexpr const char* kObjects[] = {"a list", "a tuple", "a type", "an array"};
  return kObjects[objects_[static_cast<std::size_t>(value.number)].kind];
}

void PickleMachine::store(std::uint64_t index) {
  const Value value = top();
  if (index < memo_.size()) {
    memo_[index] = value;
    return;
  }
  if (memo_.size() + far_memo_.size() == kMaxMemo) {
    fail("a memo of more than " + std::to_string(kMaxMemo) + " values", "at most that");
  }
  if (index == memo_.size()) {
    memo_.push_back(value);
  } else {
    far_memo_[index] = value;
  }
}

void PickleMachine::load(std::uint64_t index) {
  if (index < memo_.size()) return push(memo_[index]);
  const auto found = far_memo_.find(index);
  if (found == far_memo_.end()) {
    fail("memo entry " + std::to_string(index) + ", which was never stored", kNumPyLists);
  }
  push(found->second);
}

void PickleMachine::global(std::string_view module, std::string_view name) {
  const auto* known = std::find_if(std::begin(kGlobals), std::end(kGlobals), [&](const Global& g) {
    return g.module == module && g.name == name;
  });
  if (known == std::end(kGlobals)) {
    fail("a call of " + std::string(module.substr(0, kMaxName)) + "." +
             std::string(name.substr(0, kMaxName)),
         kNumPyLists);
  }
  push({Value::kCallable, static_cast<std::int64_t>(known->callable)});
}

void PickleMachine::reduce() {
  const Value arguments = pop(), function = pop();
  const Object* tuple = object(arguments, Object::kTuple);
  if (function.kind != Value::kCallable || tuple == nullptr) {
    fail("a call of " + name_of(function), kNumPyLists);
  }
  const std::vector<Value>& values = tuple->items;
  switch (static_cast<Callable>(function.number)) {
    case Callable::kReconstruct:
      return push_object({Object::kArray, false, {}});
    case Callable::kTypeClass:
      if (values.empty() || !is_text(values[0])) break;
      return push_object({Object::kType, false, {}, text(values[0])});
    case Callable::kScalar:
      if (values.size() != 2 || values[1].kind != Value::kBytes) break;
      if (const Object* type = object(values[0], Object::kType)) {
        const std::string_view bytes = text(values[1]);
        const NumberForm form = form_of(*type);
        if (bytes.size() != form.bytes) break;
        return push_number(whole_number(bytes, form.is_signed, type->big_endian));
      }
      break;
    case Callable::kFromBuffer:
      if (values.size() < 3 || values[0].kind != Value::kBytes) break;
      if (values.size() > 3 && values[3].kind == Value::kText && text(values[3]) != "C") break;
      return push_object({Object::kArray, false, {values[2], values[1], values[0]}});
    case Callable::kEncode:
      if (values.size() != 2 || values[0].kind != Value::kText) break;
      return push_text(Value::kBytes, latin1(text(values[0])));
    case Callable::kBytes:
      if (!values.empty()) break;
      return push_text(Value::kBytes, "");
    case Callable::kArrayClass:
      break;
  }
  fail("a call with other arguments than NumPy gives it", kNumPyLists);
}

void PickleMachine::build() {
  const Value state = pop(), owner = top();
  const Object* tuple = object(state, Object::kTuple);
  if (tuple != nullptr && object(owner, Object::kType) != nullptr) {
    // (version, byte order, ...)
    if (tuple->items.size() < 2 || !is_text(tuple->items[1])) fail("a type's state", kNumPyLists);
    objects_[static_cast<std::size_t>(owner.number)].big_endian = text(tuple->items[1]) == ">";
  } else if (tuple != nullptr && object(owner, Object::kArray) != nullptr) {
    // (version, shape, type, is in Fortran's order, data)
    const std::vector<Value>& items = tuple->items;
    if (items.size() != 5 || object(items[2], Object::kType) == nullptr) {
      fail("an array's state", kNumPyLists);
    }
    if (items[3].kind == Value::kFlag && items[3].number != 0 && shape_of(items[1]).size() > 1) {
      fail("an array in Fortran's order", "one in C's order");
    }
    std::vector<Value> parts = {items[1], items[2], items[4]};
    objects_[static_cast<std::size_t>(owner.number)].items = std::move(parts);
  } else {
    fail("a state of " + name_of(owner), kNumPyLists);
  }
}

std::string_view PickleMachine::latin1(std::string_view text) {
  if (text.size() > bytes_.size() - encoded_bytes_) {
    fail("texts of more than " + std::to_string(bytes_.size()) + " bytes in calls of encode",
         "at most the pickle's size");
  }
  encoded_bytes_ += text.size();
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x80) {
      bytes += text[i];
    } else if ((c & 0xfc) == 0xc0 && i + 1 < text.size() &&
               (static_cast<unsigned char>(text[i + 1]) & 0xc0) == 0x80) {
      bytes += static_cast<char>((c & 3) << 6 | (static_cast<unsigned char>(text[++i]) & 0x3f));
    } else {
      fail("a text that stands for no bytes", kNumPyLists);
    }
  }
  return encoded_.emplace_back(std::move(bytes));
}

std::vector<std::size_t> PickleMachine::shape_of(const Value& value) const {
  const Object* tuple = object(value, Object::kTuple);
  if (tuple == nullptr) fail("a shape that is " + name_of(value), kNumPyLists);
  if (tuple->items.size() > kMostExtents) {
    fail("a shape of " + std::to_string(tuple->items.size()) + " extents",
         "up to " + std::to_string(kMostExtents));
  }
  std::vector<std::size_t> shape;
  for (const Value& extent : tuple->items) {
    if (extent.kind != Value::kNumber || extent.number < 0) {
      fail("a shape of other than extents", kNumPyLists);
    }
    shape.push_back(static_cast<std::size_t>(extent.number));
  }
  return shape;
}

PickleMachine::NumberForm PickleMachine::form_of(const Object& type) const {
  for (const auto& [name, form] : {std::pair{"i1", NumberForm{true, 1}},
                                   {"i2", {true, 2}},
                                   {"i4", {true, 4}},
                                   {"i8", {true, 8}},
                                   {"u1", {false, 1}},
                                   {"u2", {false, 2}},
                                   {"u4", {false, 4}},
                                   {"u8", {false, 8}},
                                   {"b1", {false, 1}}}) {
    if (type.type == name) return form;
  }
  fail("numbers of the type '" + std::string(type.type.substr(0, 20)) + "'",
       "whole numbers of 1 to 8 bytes");
}

/// Values that are written down.
bool PickleMachine::push_literal(char code) {
  switch (code) {
    case 'N':  // NONE
      push({});
      return true;
    case '\x88':  // NEWTRUE
      push({Value::kFlag, 1});
      return true;
    case '\x89':  // NEWFALSE
      push({Value::kFlag, 0});
      return true;
    case 'K':  // BININT1
      push_number(static_cast<std::int64_t>(unsigned_number(1)));
      return true;
    case 'M':  // BININT2
      push_number(static_cast<std::int64_t>(unsigned_number(2)));
      return true;
    case 'J':  // BININT
      push_number(static_cast<std::int32_t>(unsigned_number(4)));
      return true;
    case '\x8a':  // LONG1
      push_number(long_number(unsigned_number(1)));
      return true;
    case '\x8b':  // LONG4
      push_number(long_number(unsigned_number(4)));
      return true;
    case 'G':  // BINFLOAT: which number it is doesn't matter
      take(8);
      push({Value::kReal, 0});
      return true;
    case 'X':  // BINUNICODE
      push_text(Value::kText, take(unsigned_number(4)));
      return true;
    case '\x8c':  // SHORT_BINUNICODE
      push_text(Value::kText, take(unsigned_number(1)));
      return true;
    case '\x8d':  // BINUNICODE8
      push_text(Value::kText, take(unsigned_number(8)));
      return true;
    case 'U':  // SHORT_BINSTRING: Python 2's bytes
    case 'C':  // SHORT_BINBYTES
      push_text(Value::kBytes, take(unsigned_number(1)));
      return true;
    case 'T':  // BINSTRING: Python 2's bytes
    case 'B':  // BINBYTES
      push_text(Value::kBytes, take(unsigned_number(4)));
      return true;
    case '\x8e':  // BINBYTES8
    case '\x96':  // BYTEARRAY8
      push_text(Value::kBytes, take(unsigned_number(8)));
      return true;
    default:
      return false;
  }
}

/// What is done with values.
void PickleMachine::operate(char code) {
  switch (code) {
    case '\x80':  // PROTO
      if (const auto protocol = unsigned_number(1); protocol > kLastProtocol) {
        fail("pickle protocol " + std::to_string(protocol), "2 to 5");
      }
      break;
    case '\x95':  // FRAME
      take(8);
      break;
    case '(':  // MARK
      if (++pushed_ > kMostPickled) fail("too many marks", kNumPyLists);
      marks_.push_back(stack_.size());
      break;
    case '0':  // POP
      pop();
      break;
    case '1':  // POP_MARK
      pop_marked();
      break;
    case '2':  // DUP
      push(top());
      break;
    case ']':  // EMPTY_LIST
      push_object({Object::kList, false, {}});
      break;
    case 'l':  // LIST
      push_object({Object::kList, false, pop_marked()});
      break;
    case 'a':  // APPEND
    {
      const Value value = pop();
      list().items.push_back(value);
      break;
    }
    case 'e':  // APPENDS
    {
      const std::vector<Value> values = pop_marked();
      std::vector<Value>& items = list().items;
      items.insert(items.end(), values.begin(), values.end());
      break;
    }
    case ')':  // EMPTY_TUPLE
      push_object({Object::kTuple, false, {}});
      break;
    case 't':  // TUPLE
      push_object({Object::kTuple, false, pop_marked()});
      break;
    case '\x85':  // TUPLE1 to TUPLE3
    case '\x86':
    case '\x87':
      push_object({Object::kTuple, false,
                   pop_values(static_cast<std::size_t>(static_cast<unsigned char>(code)) - 0x84)});
      break;
    case 'q':  // BINPUT
      store(unsigned_number(1));
      break;
    case 'r':  // LONG_BINPUT
      store(unsigned_number(4));
      break;
    case '\x94':  // MEMOIZE
      store(memo_.size() + far_memo_.size());
      break;
    case 'h':  // BINGET
      load(unsigned_number(1));
      break;
    case 'j':  // LONG_BINGET
      load(unsigned_number(4));
      break;
    case 'c':  // GLOBAL
    {
      const std::string_view module = line();
      global(module, line());
      break;
    }
    case '\x93':  // STACK_GLOBAL
    {
      const Value name = pop(), module = pop();
      if (!is_text(name) || !is_text(module)) fail("a call of " + name_of(name), kNumPyLists);
      global(text(module), text(name));
      break;
    }
    case 'R':  // REDUCE
      reduce();
      break;
    case 'b':  // BUILD
      build();
      break;
    default:
      fail("the pickle operation " + std::to_string(static_cast<unsigned char>(code)), kNumPyLists);
  }
}

PickleMachine::Value PickleMachine::run() {
  for (;;) {
    operation_ = at_;
    const char code = take(1).front();
    if (code == '.') break;  // STOP
    if (!push_literal(code)) operate(code);
  }
  if (stack_.size() != 1 || !marks_.empty()) fail("an end in the middle", kNumPyLists);
  return stack_.front();
}

}  // namespace neutra::program
