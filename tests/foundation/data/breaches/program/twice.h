namespace neutra {
class Twice;
class Twice final : Other {};
namespace apart {
struct Twice {};
}  // namespace apart
}  // namespace neutra
