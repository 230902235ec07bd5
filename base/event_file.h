#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace neutra {

/// CRC-32C (Castagnoli): "123456789" gives 0xe3069283.
std::uint32_t crc32c(std::string_view bytes);

/// The content of a TensorBoard event file: records of TFRecord files, each with an Event in the
/// wire format of Protocol Buffers. Source: tensorflow/core/lib/io/record_writer.cc,
/// tensorflow/core/util/event.proto, tensorflow/core/framework/{summary,tensor}.proto; text
/// summaries: tensorboard/plugins/text/metadata.py.
class EventFile {
 public:
  /// `time`: seconds since 1970, here and below.
  explicit EventFile(double time);
  /// Single precision, as everywhere in TensorBoard; NaN and infinity are values.
  void add_scalars(double time, std::int64_t step, const std::map<std::string, double>& values);
  /// `markdown`: UTF-8.
  void add_text(double time, std::int64_t step, std::string_view tag, std::string_view markdown);
  const std::string& bytes() const { return bytes_; }

 private:
  void add_event(double time, std::int64_t step, const std::string& rest);
  std::string bytes_;
};

}  // namespace neutra
