#include "program/faults.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "base/error.h"
#include "base/words.h"
#include "program/document.h"
#include "program/embedded.h"
#include "program/graph.h"
#include "program/layer.h"
#include "program/normal.h"

namespace neutra::program {
namespace {

/// A row of fault_types.json.
struct TypeInfo {
  std::string type, meaning;
  /// Op of data.mutations or trained.mutations that makes this fault; "" for others.
  std::string mutation;
};

const std::vector<TypeInfo>& type_infos() {
  static const auto infos = [] {
    std::vector<TypeInfo> list;
    for (const Json& item : parse_json(embedded::fault_types, "fault_types.json")) {
      list.push_back({item.at("type"), item.at("meaning"), item.value("mutation", "")});
    }
    return list;
  }();
  return infos;
}

std::vector<std::string> type_names() {
  std::vector<std::string> names;
  for (const auto& [type, meaning] : fault_types()) names.push_back(type);
  return names;
}

/// Recursive descent over the notation; positions are columns of the text.
class FaultParser {
 public:
  FaultParser(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  FaultSet parse() {
    skip_blanks();
    const std::string_view rest = text_.substr(at_, text_.find_last_not_of(" \t") + 1 - at_);
    if (at_ >= text_.size()) fail("nothing", "fault types, - or N/A");
    if (rest == "N/A") return {false, {}};
    FaultSet set;
    if (rest == "-") return set;
    do {
      std::vector<FaultEntry> choice;
      do {
        choice.push_back(entry());
      } while (take("|/"));
      std::sort(choice.begin(), choice.end());
      choice.erase(std::unique(choice.begin(), choice.end()), choice.end());
      set.items.push_back(std::move(choice));
    } while (take(",;"));
    if (at_ < text_.size()) fail(shown_here(), "',' or '|' between fault types");
    std::sort(set.items.begin(), set.items.end());
    set.items.erase(std::unique(set.items.begin(), set.items.end()), set.items.end());
    return set;
  }

 private:
  static constexpr int kMaxLayer = 1'000'000;

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  bool take(std::string_view any) {
    skip_blanks();
    if (at_ >= text_.size() || any.find(text_[at_]) == std::string_view::npos) return false;
    ++at_;
    skip_blanks();
    return true;
  }

  std::string shown_here() const {
    return at_ < text_.size() ? shown(std::string(text_.substr(at_, 1))) : "the end";
  }

  [[noreturn]] void fail(const std::string& found, const std::string& allowed) const {
    throw input_error(describe(where_, "column " + std::to_string(at_ + 1), found, allowed));
  }

  FaultEntry entry() {
    const auto is_letter = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); };
    std::size_t end = at_;
    while (end < text_.size() && is_letter(text_[end])) ++end;
    FaultEntry result{std::string(text_.substr(at_, end - at_)), {}};
    if (result.type.empty()) fail(shown_here(), "a fault type");
    const auto& types = fault_types();
    if (std::none_of(types.begin(), types.end(),
                     [&](const auto& known) { return known.first == result.type; })) {
      fail("the unknown fault type " + shown(result.type),
           allowed_words(result.type, type_names()));
    }
    at_ = end;
    if (!take("(")) return result;
    do {
      int layer = 0;
      const auto [after, error] =
          std::from_chars(text_.data() + at_, text_.data() + text_.size(), layer);
      if (error != std::errc() || layer < 0 || layer > kMaxLayer) {
        fail(shown_here(), "a layer's index");
      }
      at_ = static_cast<std::size_t>(after - text_.data());
      result.layers.insert(layer);
    } while (take(","));
    if (!take(")")) fail(shown_here(), "')' after the layers");
    return result;
  }

  std::string_view text_;
  const std::string& where_;
  std::size_t at_ = 0;
};

/// Compares two programs in normal form.
class Difference {
 public:
  Difference(const Json& buggy, const Json& fixed) {
    compile(section(buggy, "compile"), section(fixed, "compile"));
    fit(section(buggy, "fit"), section(fixed, "fit"));
    if (!validates(buggy) && validates(fixed)) add("VRM");
    // Sorted keys: the order in which a step's fields are written means nothing.
    const auto steps = [](const Json& document) {
      return nlohmann::json(section(document, "data").value("preprocess", Json()));
    };
    if (steps(buggy) != steps(fixed)) add("CPP");
    for (const char* part : {"data", "trained"}) {
      mutations(section(buggy, part).value("mutations", Json::array()),
                section(fixed, part).value("mutations", Json::array()));
    }
    layers(buggy, fixed);
  }

  FaultSet faults() const {
    FaultSet set;
    for (const auto& [type, layers] : found_) set.items.push_back({{type, layers}});
    return set;
  }

 private:
  static Json section(const Json& document, const char* name) {
    const Json* value = member(document, name);
    return value != nullptr && value->is_object() ? *value : Json::object();
  }

  /// Are rows set aside to watch the training on?
  static bool validates(const Json& document) {
    return section(document, "fit").value("validation_split", 0.0) > 0 ||
           !section(document, "data").value("validation", Json()).is_null();
  }

  void add(const std::string& type) { found_[type]; }
  void add(const std::string& type, std::size_t layer) {
    found_[type].insert(static_cast<int>(layer));
  }

  /// Mutations of the training data or the trained model that only one program has: each step is a
  /// fault of its type.
  void mutations(const Json& buggy, const Json& fixed) {
    const auto steps = [](const Json& list) {
      std::multiset<nlohmann::json> all;
      for (const Json& step : list) all.insert(nlohmann::json(step));
      return all;
    };
    const auto a = steps(buggy), b = steps(fixed);
    std::vector<nlohmann::json> only;
    std::set_symmetric_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(only));
    for (const nlohmann::json& step : only) {
      const auto op = step.is_object() ? step.value("op", nlohmann::json()) : nlohmann::json();
      for (const TypeInfo& info : type_infos()) {
        if (info.mutation.empty() || info.mutation != op) continue;
        const auto layer = step.value("layer", nlohmann::json());
        if (layer.is_number_integer() && layer >= 0) {
          add(info.type, layer.get<std::size_t>());
        } else {
          add(info.type);
        }
      }
    }
  }

  void compile(const Json& buggy, const Json& fixed) {
    if (buggy.value("loss", Json()) != fixed.value("loss", Json())) add("LCH");
    const Json a = section(buggy, "optimizer"), b = section(fixed, "optimizer");
    Json x = section(a, "config"), y = section(b, "config");
    if (x.value("learning_rate", Json()) != y.value("learning_rate", Json())) add("HLR");
    if (a.value("class_name", Json()) != b.value("class_name", Json())) {
      add("OCH");
      return;
    }
    for (const char* clip : {"clipnorm", "clipvalue"}) {
      if (x.value(clip, Json()) != y.value(clip, Json())) add("OCG");
    }
    for (const char* field : {"learning_rate", "clipnorm", "clipvalue"}) {
      x.erase(field);
      y.erase(field);
    }
    if (x != y) add("OCH");
  }

  void fit(const Json& buggy, const Json& fixed) {
    const auto differ = [&](const char* field) {
      return buggy.value(field, Json()) != fixed.value(field, Json());
    };
    if (differ("batch_size")) add("HBS");
    if (differ("epochs")) add("HNE");
    if (differ("shuffle")) add("HSF");
    if (differ("schedule")) add("HRS");
    loop(section(buggy, "loop"), section(fixed, "loop"));
    if (const Json a = patience(buggy), b = patience(fixed);
        a != b && !a.is_null() && !b.is_null()) {
      add("RCP");
    }
  }

  /// Faults of the loop that are about no layer.
  void loop(const Json& buggy, const Json& fixed) {
    const auto differ = [&](const char* field) {
      return buggy.value(field, Json()) != fixed.value(field, Json());
    };
    if (differ("zero_grad")) {
      const Json& wrong = buggy.value("zero_grad", Json()) == "each_step" ? fixed : buggy;
      add(wrong.value("zero_grad", Json()) == "before_step" ? "GBZ" : "GMZ");
    }
    if (differ("step")) add("GMS");
    if (differ("eval_mode")) add("GME");
    if (differ("reduction")) add("GSR");
  }

  using Partners = std::vector<std::optional<std::size_t>>;

  /// Faults of the loop that are about layers; `partner`: for each buggy layer the fixed one.
  void loop_layers(const Json& buggy, const Json& fixed, const Partners& partner) {
    const auto left_out = [](const Json& loop, std::size_t layer) {
      const Json list = loop.value("left_out", Json::array());
      return std::find(list.begin(), list.end(), Json(layer)) != list.end();
    };
    for (std::size_t i = 0; i < partner.size(); ++i) {
      if (partner[i] && left_out(buggy, i) != left_out(fixed, *partner[i])) add("GLO", i);
    }
    const Json a = buggy.value("detached", Json());
    Json b = fixed.value("detached", Json());
    if (b.is_number()) {  // the last buggy layer up to there
      const std::size_t behind = b;
      b = 0;
      for (std::size_t i = 0; i < partner.size(); ++i) {
        if (partner[i] && *partner[i] <= behind) b = i;
      }
    }
    if (a != b) add("GDT", (a.is_number() ? a : b).get<std::size_t>());
  }

  /// Of the first EarlyStopping; null without one.
  static Json patience(const Json& fit) {
    const Json callbacks = fit.value("callbacks", Json());
    for (const Json& callback : callbacks) {
      const Json* name = member(callback, "class_name");
      if (name != nullptr && *name == "EarlyStopping") {
        return section(callback, "config").value("patience", Json());
      }
    }
    return Json();
  }

  /// With what it wraps: "TimeDistributed/Dense" and "TimeDistributed/Flatten" are two.
  static std::string class_of(const Json& layer) {
    const Json* name = member(layer, "class_name");
    std::string text = name != nullptr && name->is_string() ? name->get<std::string>() : "";
    if (const Json& inner = innermost_layer(layer); &inner != &layer) text += '/' + class_of(inner);
    return text;
  }

  /// 0 for different classes, else kMatch plus the share of equal fields: matching more layers
  /// counts for more than matching them better.
  static double similarity(const Json& a, const Json& b) {
    if (class_of(a) != class_of(b)) return 0;
    const Json x = section(a, "config"), y = section(b, "config");
    double equal = 0;
    for (const auto& [key, value] : x.items()) {
      if (const Json* other = member(y, key); other != nullptr && *other == value) equal += 1;
    }
    const double share = x.empty() ? 1 : equal / static_cast<double>(x.size());
    return kMatch + share;
  }

  /// For each buggy layer its partner in the fixed program.
  static Partners align(const Json& a, const Json& b) {
    const std::size_t n = a.size(), m = b.size();
    std::vector<std::vector<double>> best(n + 1, std::vector<double>(m + 1, 0));
    std::vector<std::vector<double>> match(n, std::vector<double>(m, 0));
    for (std::size_t i = n; i-- > 0;) {
      for (std::size_t j = m; j-- > 0;) {
        match[i][j] = similarity(a[i], b[j]);
        best[i][j] = std::max(best[i + 1][j], best[i][j + 1]);
        if (match[i][j] > 0) best[i][j] = std::max(best[i][j], match[i][j] + best[i + 1][j + 1]);
      }
    }
    Partners partner(n);
    for (std::size_t i = 0, j = 0; i < n && j < m;) {
      if (match[i][j] > 0 && best[i][j] == match[i][j] + best[i + 1][j + 1]) {
        partner[i++] = j++;
      } else if (best[i][j] == best[i][j + 1]) {
        ++j;
      } else {
        ++i;
      }
    }
    return partner;
  }

  void layers(const Json& buggy, const Json& fixed) {
    static const Json none = Json::array();
    const Json* a = find_layers(buggy);
    const Json* b = find_layers(fixed);
    if (a == nullptr) a = &none;
    if (b == nullptr) b = &none;
    const Partners partner = align(*a, *b);
    loop_layers(section(section(buggy, "fit"), "loop"), section(section(fixed, "fit"), "loop"),
                partner);
    for (const std::size_t i : rewired_layers(wiring_of(*a), wiring_of(*b), partner)) add("LWI", i);
    const Json no_layer;
    std::size_t i = 0, j = 0;
    // Walks over stretches: a matched pair (or the start), then the layers that only one has.
    const Json* x = &no_layer;
    const Json* y = &no_layer;
    std::size_t head = 0;
    while (true) {
      const std::size_t first_i = i, first_j = j;
      while (i < a->size() && !partner[i]) ++i;
      const std::size_t next_j = i < a->size() ? *partner[i] : b->size();
      stretch(*x, *y, head, *a, first_i, i, *b, first_j, next_j);
      if (i == a->size()) return;
      x = &(*a)[i];
      y = &(*b)[next_j];
      pair(section(*x, "config"), section(*y, "config"), i);
      head = i++;
      j = next_j + 1;
    }
  }

  /// A matched pair x, y (index `head`) and the unmatched layers behind it. Unmatched Activation
  /// layers are a question of activations; other unmatched layers are missing or too many.
  void stretch(const Json& x, const Json& y, std::size_t head, const Json& a, std::size_t i,
               std::size_t end_i, const Json& b, std::size_t j, std::size_t end_j) {
    std::vector<Json> before = own_activation(x), after = own_activation(y);
    std::size_t place = head;
    const std::size_t behind = end_i;
    for (; i < end_i; ++i) {
      if (class_of(a[i]) == "Activation") {
        for (const Json& word : own_activation(a[i])) before.push_back(word);
        place = i;
      } else {
        add("LAD", i);
      }
    }
    for (; j < end_j; ++j) {
      if (class_of(b[j]) == "Activation") {
        for (const Json& word : own_activation(b[j])) after.push_back(word);
      } else {
        add("LRM", behind);
      }
    }
    if (before != after) add("ACH", place);
  }

  /// The layer's activation, nothing for linear.
  static std::vector<Json> own_activation(const Json& layer) {
    const Json word = section(innermost_layer(layer), "config").value("activation", Json("linear"));
    if (word == "linear") return {};
    return {word};
  }

  /// Matched layers of one class; their activations are compared by stretch().
  void pair(const Json& x, const Json& y, std::size_t index) {
    const auto differ = [&](const char* field) {
      return x.value(field, Json()) != y.value(field, Json());
    };
    for (const char* kernel : {"kernel", "recurrent", "depthwise", "pointwise", "embeddings"}) {
      const std::string name = kernel;
      if (differ((name + "_initializer").c_str())) add("WCI", index);
      regularisers(x, y, name + "_regularizer", index);
    }
    for (const char* layer : {"layer", "backward_layer"}) {
      if (x.contains(layer) && y.contains(layer)) {
        pair(section(x[layer], "config"), section(y[layer], "config"), index);
      }
    }
    if (differ("bias_initializer")) add("BCI", index);
    if (differ("units") || differ("filters")) add("LCN", index);
    if (differ("kernel_size")) add("LCF", index);
    for (const char* rate : {"rate", "dropout", "recurrent_dropout"}) {
      if (differ(rate)) add("RCD", index);
    }
    if (differ("trainable")) add("LFZ", index);
    if (differ("use_bias")) add(x.value("use_bias", Json()) == true ? "WAB" : "WRB", index);
    regularisers(x, y, "bias_regularizer", index);
    regularisers(x, y, "activity_regularizer", index);
  }

  void regularisers(const Json& x, const Json& y, const std::string& field, std::size_t index) {
    const Json before = x.value(field, Json());
    if (before != y.value(field, Json())) add(before.is_null() ? "RRW" : "RAW", index);
  }

  static constexpr double kMatch = 10'000;

  std::map<std::string, std::set<int>> found_;
};

Json filled(const Program& program) {
  std::vector<Problem> problems;
  return normal_form(program.document, Defaults::kFill, problems);
}

}  // namespace

const std::vector<std::pair<std::string, std::string>>& fault_types() {
  static const auto types = [] {
    std::vector<std::pair<std::string, std::string>> list;
    for (const TypeInfo& info : type_infos()) list.emplace_back(info.type, info.meaning);
    return list;
  }();
  return types;
}

std::set<std::string> types_of(const FaultSet& faults) {
  std::set<std::string> types;
  for (const std::vector<FaultEntry>& choice : faults.items) {
    for (const FaultEntry& fault : choice) types.insert(fault.type);
  }
  return types;
}

std::string to_string(const FaultSet& faults) {
  if (!faults.applicable) return "N/A";
  if (faults.items.empty()) return "-";
  std::string text;
  for (const auto& choice : faults.items) {
    if (!text.empty()) text += ", ";
    for (std::size_t i = 0; i < choice.size(); ++i) {
      if (i > 0) text += "|";
      text += choice[i].type;
      std::string layers;
      for (const int layer : choice[i].layers) {
        if (!layers.empty()) layers += ",";
        layers += std::to_string(layer);
      }
      if (!layers.empty()) text += "(" + layers + ")";
    }
  }
  return text;
}

FaultSet parse_fault_set(std::string_view text, const std::string& where) {
  return FaultParser(text, where).parse();
}

FaultSet diff(const Program& buggy, const Program& fixed) {
  return Difference(filled(buggy), filled(fixed)).faults();
}

}  // namespace neutra::program
