namespace neutra {
struct Twice {
  int one;
};
}  // namespace neutra
