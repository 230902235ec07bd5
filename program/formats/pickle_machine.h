#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace neutra::program {

/// What a message says of the pickles that are read.
inline constexpr const char* kNumPyLists =
    "a NumPy array of lists of whole numbers; nothing of a pickle is ever run";

/// Most values that a pickle may make, so that a small file can't take gigabytes. Keras's largest
/// data set of texts (imdb.npz) has 50,000 lists of 12 million words in all.
constexpr std::size_t kMostPickled = std::size_t{1} << 24;

/// Python's stack machine for pickles (Lib/pickletools.py names its operations), as far as arrays
/// need it. It knows values, lists, tuples and what NumPy's arrays are made of, and calls nothing.
/// What it does not know, or is too much, it refuses by input_error with the place.
class PickleMachine {
 public:
  /// A value on the stack.
  struct Value {
    enum Kind : std::uint8_t { kNone, kFlag, kNumber, kReal, kText, kBytes, kCallable, kObject };
    Kind kind = kNone;        ///< what it is
    std::int64_t number = 0;  ///< itself, or where it is: of a text, an object
  };

  /// A list, a tuple, or what stands for NumPy's objects. Others are referred to by their numbers,
  /// so that nothing is nested, whatever a pickle says.
  struct Object {
    enum Kind : std::uint8_t { kList, kTuple, kType, kArray };
    Kind kind = kList;           ///< what it is
    bool big_endian = false;     ///< of a type
    std::vector<Value> items;    ///< of a list, a tuple; of an array: shape, type, data
    std::string_view type = {};  ///< of a type: "i8"
  };

  /// How whole numbers are stored.
  struct NumberForm {
    bool is_signed;     ///< two's complement
    std::size_t bytes;  ///< 1 to 8
  };
  /// `offset`: of the bytes in `file`, for messages. Both outlive it.
  PickleMachine(std::string_view bytes, const std::string& file, std::uint64_t offset)
      : bytes_(bytes), file_(file), offset_(offset) {}

  /// Runs the pickle; the one value that it makes.
  Value run();
  /// Are there bytes behind the pickle?
  bool has_more() const { return at_ != bytes_.size(); }
  /// The object that a value refers to.
  const Object& object_at(const Value& value) const {
    return objects_[static_cast<std::size_t>(value.number)];
  }
  /// Throws input_error for the operation that runs, or was the last.
  [[noreturn]] void fail(const std::string& found, const std::string& allowed) const;
  /// From its bytes, 1 to 8.
  static std::int64_t whole_number(std::string_view text, bool is_signed, bool big_endian);
  /// The object of a kind; null: it's something else.
  const Object* object(const Value& value, Object::Kind kind) const;
  /// Of a text or bytes.
  std::string_view text(const Value& value) const;
  /// A text, or bytes, which Python 2 has for texts?
  bool is_text(const Value& value) const;
  /// What a value is, for messages: "a list".
  std::string name_of(const Value& value) const;
  /// The extents of an array that has them as a tuple.
  std::vector<std::size_t> shape_of(const Value& value) const;
  /// Of a type; refuses those that are no whole numbers.
  NumberForm form_of(const Object& type) const;

 private:
  std::string_view take(std::uint64_t count);
  /// Little-endian, as pickle has all numbers but one.
  std::uint64_t unsigned_number(int size);
  std::string_view line();
  /// Two's complement of any length.
  std::int64_t long_number(std::uint64_t size);
  void push(Value value);
  void push_number(std::int64_t value);
  void push_text(Value::Kind kind, std::string_view text);
  void push_object(Object object);
  Value pop();
  Value top();
  /// What lies above the last mark, which goes.
  std::vector<Value> pop_marked();
  std::vector<Value> pop_values(std::size_t count);
  Object& list();
  /// Python counts the entries; a pickle may give them any numbers.
  void store(std::uint64_t index);
  void load(std::uint64_t index);
  void global(std::string_view module, std::string_view name);
  void reduce();
  /// Gives a type or an array its state: BUILD.
  void build();
  /// The bytes that a text of their numbers stands for: Python's latin1. NumPy writes each text for
  /// one call, so that all of them are no longer than the pickle.
  std::string_view latin1(std::string_view text);
  bool push_literal(char code);
  void operate(char code);

  std::string_view bytes_;
  const std::string& file_;
  std::uint64_t offset_;
  std::size_t at_ = 0, operation_ = 0, pushed_ = 0;
  std::vector<Value> stack_;
  std::vector<std::size_t> marks_;
  std::vector<Object> objects_;
  std::vector<std::string_view> texts_;
  std::deque<std::string> encoded_;
  std::size_t encoded_bytes_ = 0;  ///< of the texts that they were
  std::vector<Value> memo_;
  std::unordered_map<std::uint64_t, Value> far_memo_;
};

}  // namespace neutra::program
