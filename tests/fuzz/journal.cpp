// Any bytes as a store's journal: nothing crashes, every byte is either in a whole record or
// counted as damaged, and whole records survive being written again.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/journal.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace neutra;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const JournalContent content = parse_journal(bytes);
  if (content.damage.bytes > size) std::abort();
  // The fuzzer never guesses a checksum: its bytes as text of a record reach the rest.
  const std::string frame = journal_frame({{"type", "started"}, {"text", std::string(bytes)}});
  std::string around(bytes);
  around += frame + around;
  const JournalContent again = parse_journal(around);
  bool found = false;
  for (const auto& record : again.records) found |= record.offset == size;
  // Only a whole record of the input that reaches past its end could hide it.
  if (!found && content.damage.bytes == 0) std::abort();
  return 0;
}
