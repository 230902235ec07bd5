#include "program/formats/pickle.h"
#include "program/formats/pickle_machine.h"

/// Lists of numbers from a pickle: program/formats/pickle.h.
namespace neutra::program {
namespace {

/// Takes the array apart that a pickle makes.
class ListReader {
 public:
  using Value = PickleMachine::Value;
  using Object = PickleMachine::Object;

  explicit ListReader(PickleMachine& machine) : machine_(machine) {}

  PickledLists lists() {
    const Value value = machine_.run();
    const Object* array = machine_.object(value, Object::kArray);
    if (machine_.has_more()) fail("more bytes", "the end of the data behind the pickle");
    if (array == nullptr || array->items.size() != 3) fail(machine_.name_of(value), kNumPyLists);
    if (!is_of_objects(*array)) fail("an array of numbers, pickled", kNumPyLists);
    const std::vector<std::size_t> shape = machine_.shape_of(array->items[0]);
    const Object* items = machine_.object(array->items[2], Object::kList);
    if (items == nullptr) fail("an array of objects without a list of them", kNumPyLists);
    const std::size_t count = product(shape);
    if (shape.empty() || count == 0) fail("an array without items", kNumPyLists);
    if (count != items->items.size()) {
      fail(std::to_string(items->items.size()) + " items",
           std::to_string(count) + ", as the array's shape says");
    }
    const std::size_t width = count / shape.front();
    PickledLists result;
    for (std::size_t row = 0; row < shape.front(); ++row) {
      for (std::size_t i = 0; i < width; ++i) {
        add_numbers(items->items[row * width + i], row, result);
      }
      result.ends.push_back(result.numbers.size());
    }
    return result;
  }

 private:
  [[noreturn]] void fail(const std::string& found, const std::string& allowed) const {
    machine_.fail(found, allowed);
  }

  /// Number of elements; refuses more than there can be.
  std::size_t product(const std::vector<std::size_t>& shape) const {
    std::size_t count = 1;
    for (const std::size_t extent : shape) {
      if (extent > kMostPickled || (extent > 0 && count > kMostPickled / extent)) {
        fail("an array of more than " + std::to_string(kMostPickled) + " items", "at most that");
      }
      count *= extent;
    }
    return count;
  }

  bool is_of_objects(const Object& array) const {
    const Object* type = machine_.object(array.items[1], Object::kType);
    return type != nullptr && type->type.starts_with('O');
  }

  /// The numbers of an item: a whole number, a list, a tuple or an array of them.
  void add_numbers(const Value& item, std::size_t row, PickledLists& result) const {
    const auto add = [&](std::int64_t number) {
      if (result.numbers.size() == kMostPickled) {
        fail("more than " + std::to_string(kMostPickled) + " numbers in all lists", "at most that");
      }
      result.numbers.push_back(number);
    };
    const std::string place = " in item " + std::to_string(row);
    if (item.kind == Value::kNumber) return add(item.number);
    if (item.kind != Value::kObject) fail(machine_.name_of(item) + place, kNumPyLists);
    const Object& found = machine_.object_at(item);
    if (found.kind == Object::kArray && found.items.size() == 3) {
      const Object* type = machine_.object(found.items[1], Object::kType);
      if (type == nullptr || found.items[2].kind != Value::kBytes) {
        fail("an array" + place, kNumPyLists);
      }
      const PickleMachine::NumberForm form = machine_.form_of(*type);
      const std::string_view bytes = machine_.text(found.items[2]);
      const std::size_t count = product(machine_.shape_of(found.items[0]));
      if (bytes.size() != count * form.bytes) {
        fail(std::to_string(bytes.size()) + " bytes of an array" + place,
             std::to_string(count * form.bytes) + ", as its shape says");
      }
      for (std::size_t i = 0; i < count; ++i) {
        add(PickleMachine::whole_number(bytes.substr(i * form.bytes, form.bytes), form.is_signed,
                                        type->big_endian));
      }
      return;
    }
    if (found.kind != Object::kList && found.kind != Object::kTuple) {
      fail(machine_.name_of(item) + place, kNumPyLists);
    }
    for (const Value& value : found.items) {
      if (value.kind != Value::kNumber) {
        fail(machine_.name_of(value) + " in a list" + place, kNumPyLists);
      }
      add(value.number);
    }
  }

  PickleMachine& machine_;
};

}  // namespace

PickledLists unpickle_lists(std::string_view bytes, const std::string& file, std::uint64_t offset) {
  PickleMachine machine(bytes, file, offset);
  return ListReader(machine).lists();
}

}  // namespace neutra::program
