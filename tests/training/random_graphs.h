#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "image_programs.h"
#include "program/layer.h"
#include "tests/training/draws.h"

/// Models whose layers are no chain, drawn from seeds: the same on every platform.
namespace neutra::training::tests {

struct RandomGraph {
  Json layers;
  program::Shape input;
};

/// Draws layers one after the other, each on outputs of some before; what nobody has taken is
/// brought together at the end, in a Dense layer of 3 softmax outputs.
class GraphDraw {
 public:
  /// `smooth`: without kinks and random numbers, so that differences approach slopes.
  GraphDraw(unsigned seed, bool smooth) : random_(seed), smooth_(smooth) {
    if (chance(random_, 0.5)) {
      graph_.input = {2 + below(random_, std::int64_t{5})};
    } else {
      graph_.input = {5, 4, 1 + below(random_, std::int64_t{3})};
    }
    add("InputLayer", Json::object(), {}, graph_.input);
  }

  RandomGraph draw() {
    const int steps = 3 + below(random_, 7);
    for (int i = 0; i < steps; ++i) {
      const double kind = unit(random_);
      if (kind < 0.4 || values_.size() < 2) {
        unary();
      } else if (kind < 0.75) {
        merge();
      } else if (kind < 0.9) {
        concatenate();
      } else {
        again();
      }
    }
    finish();
    return std::move(graph_);
  }

 private:
  struct Value {
    program::Shape shape;
    int uses = 0;
  };

  bool images() const { return graph_.input.size() == 3; }

  /// Names every input, except where it is the layer before, then now and then.
  std::size_t add(const std::string& class_name, Json config,
                  const std::vector<std::size_t>& inputs, const program::Shape& output) {
    Json one = layer(class_name, std::move(config));
    one["config"]["name"] = "v" + std::to_string(values_.size());
    const bool usual = inputs.size() == 1 && inputs[0] + 1 == values_.size();
    if (!inputs.empty() && (!usual || chance(random_, 0.3))) {
      one["inputs"] = Json::array();
      for (const std::size_t input : inputs) one["inputs"].push_back("v" + std::to_string(input));
    }
    for (const std::size_t input : inputs) ++values_[input].uses;
    graph_.layers.push_back(std::move(one));
    values_.push_back({output});
    return values_.size() - 1;
  }

  /// Mostly a late one.
  std::size_t any() {
    const std::size_t n = values_.size();
    return n - 1 - below(random_, chance(random_, 0.6) ? std::min<std::size_t>(2, n) : n);
  }

  std::string activation() {
    return smooth_ ? pick<const char*>(random_, {"linear", "tanh", "sigmoid"})
                   : pick<const char*>(random_, {"linear", "relu", "tanh", "elu", "sigmoid"});
  }

  void unary() {
    const std::size_t from = any();
    program::Shape shape = values_[from].shape;
    const int kind = below(random_, smooth_ ? 3 : 6);
    if (kind < 2) {
      weighted(from);
    } else if (kind == 2) {
      add("Activation",
          {{"activation", smooth_ ? "tanh" : pick<const char*>(random_, {"relu", "tanh"})}}, {from},
          shape);
    } else if (kind == 3) {
      add("Dropout", {{"rate", 0.25}}, {from}, shape);
    } else if (kind == 4 && images()) {
      add("MaxPooling2D", {{"strides", 1}, {"padding", "same"}}, {from}, shape);
    } else if (kind == 4) {
      add("LeakyReLU", Json::object(), {from}, shape);
    } else if (const std::string before = graph_.layers[from]["class_name"];
               before == "Dense" || before == "Conv2D") {
      add("BatchNormalization", {{"momentum", 0.5}}, {from}, shape);
    } else {  // of values that may all be the same, rounding decides what a normalisation makes
      weighted(from);
    }
  }

  void weighted(std::size_t from) {
    program::Shape shape = values_[from].shape;
    shape.back() = 2 + below(random_, std::int64_t{3});
    Json config = {{"activation", activation()}, {"bias_initializer", "random_uniform"}};
    if (!images()) {
      config["units"] = shape.back();
      add("Dense", std::move(config), {from}, shape);
    } else {
      config.update({{"filters", shape.back()}, {"kernel_size", 3}, {"padding", "same"}});
      add("Conv2D", std::move(config), {from}, shape);
    }
  }

  /// Two or three outputs of a shape, or of one and one that is broadcast.
  void merge() {
    const std::size_t first = any();
    std::vector<std::size_t> alike;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      bool fits = true;
      const program::Shape &a = values_[first].shape, &b = values_[i].shape;
      for (std::size_t k = 0; k < a.size(); ++k) fits = fits && (a[k] == b[k] || b[k] == 1);
      if (fits) alike.push_back(i);
    }
    std::vector<std::size_t> inputs{first, pick(random_, alike)};
    const std::string class_name =
        smooth_ ? pick<const char*>(random_, {"Add", "Subtract", "Multiply", "Average"})
                : pick<const char*>(
                      random_, {"Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum"});
    if (class_name != "Subtract" && chance(random_, 0.3)) inputs.push_back(pick(random_, alike));
    add(class_name, Json::object(), inputs, values_[first].shape);
  }

  void concatenate() {
    const std::size_t first = any(), second = any();
    program::Shape shape = values_[first].shape;
    shape.back() += values_[second].shape.back();
    if (shape.back() > 12) return unary();
    const std::int64_t last = static_cast<std::int64_t>(shape.size());
    add("Concatenate", {{"axis", chance(random_, 0.5) ? -1 : last}}, {first, second}, shape);
  }

  /// A layer with weights once more, on what it can take.
  void again() {
    for (std::size_t owner = values_.size(); owner-- > 1;) {
      const Json& made = graph_.layers[owner];
      const std::string class_name = made["class_name"];
      if (made.contains("weights_of") ||
          (class_name != "Dense" && class_name != "Conv2D" && class_name != "BatchNormalization")) {
        continue;
      }
      const std::size_t input = input_of(owner);
      for (std::size_t from = values_.size(); from-- > 0;) {
        if (values_[from].shape != values_[input].shape || from == input) continue;
        add(class_name, Json::object(), {from}, values_[owner].shape);
        graph_.layers.back()["weights_of"] = "v" + std::to_string(owner);
        return;
      }
    }
    unary();
  }

  std::size_t input_of(std::size_t position) const {
    const Json& made = graph_.layers[position];
    if (!made.contains("inputs")) return position - 1;
    return std::stoul(made["inputs"][0].get<std::string>().substr(1));
  }

  void finish() {
    if (values_.size() == 2) weighted(0);
    std::vector<std::size_t> left;
    const std::size_t count = values_.size();
    for (std::size_t i = 0; i < count; ++i) {
      if (values_[i].uses > 0) continue;
      const program::Shape shape = values_[i].shape;
      left.push_back(!images() ? i
                               : add(chance(random_, 0.5) ? "GlobalAveragePooling2D" : "Flatten",
                                     Json::object(), {i}, {0}));
      if (graph_.layers.back()["class_name"] == "Flatten") {
        values_.back().shape = {program::element_count(shape)};
      } else if (images()) {
        values_.back().shape = {shape.back()};
      }
    }
    if (left.size() > 1) {
      add("Concatenate", Json::object(), left, {0});
      left = {values_.size() - 1};
    }
    add("Dense", {{"units", 3}, {"activation", "softmax"}}, left, {3});
  }

  Random random_;
  bool smooth_;
  RandomGraph graph_;
  std::vector<Value> values_;
};

inline RandomGraph random_graph(unsigned seed, bool smooth = false) {
  return GraphDraw(seed, smooth).draw();
}

}  // namespace neutra::training::tests
