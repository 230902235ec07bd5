#include "graphs/proto_message.h"

namespace neutra::graphs {
namespace {

const Message::Field& nothing() {
  static const Message::Field empty;
  return empty;
}

}  // namespace

const Message::Field* Message::find(int field) const {
  for (const Field& each : fields_)
    if (each.number == field) return &each;
  return nullptr;
}

Message::Field& Message::at(int field) {
  if (const Field* found = find(field)) return const_cast<Field&>(*found);
  fields_.emplace_back().number = field;
  return fields_.back();
}

const std::vector<std::int64_t>& Message::integers(int field) const {
  const Field* found = find(field);
  return (found ? *found : nothing()).integers;
}

const std::vector<double>& Message::numbers(int field) const {
  const Field* found = find(field);
  return (found ? *found : nothing()).numbers;
}

const std::vector<std::string>& Message::texts(int field) const {
  const Field* found = find(field);
  return (found ? *found : nothing()).texts;
}

const std::vector<Message>& Message::messages(int field) const {
  const Field* found = find(field);
  return (found ? *found : nothing()).messages;
}

std::int64_t Message::integer(int field) const {
  return integers(field).empty() ? 0 : integers(field).back();
}

double Message::number(int field) const {
  return numbers(field).empty() ? 0 : numbers(field).back();
}

const std::string& Message::text(int field) const {
  static const std::string empty;
  return texts(field).empty() ? empty : texts(field).back();
}

const Message& Message::message(int field) const {
  static const Message empty;
  return messages(field).empty() ? empty : messages(field).back();
}

}  // namespace neutra::graphs
