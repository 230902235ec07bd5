#include "training/engine.h"

#include <functional>
#include <numeric>

namespace neutra {

Engine::Engine(const ResolvedProgram& program, const Rows& training, RandomKey key)
    : program_(program),
      training_(training),
      key_(key),
      weights_(program, key),
      optimizer_(make_optimizer(program.optimizer, weights_.trainable_variables())) {}

double Engine::gradients(std::span<const std::int64_t> rows, std::uint32_t step, Wanted wanted) {
  const double penalty = wanted.loss ? weights_.penalty() : 0;
  const double loss = pass(rows, step, wanted);
  weights_.add_penalty_gradients();
  return wanted.loss ? loss + penalty : 0;
}

double Engine::step(std::span<const std::int64_t> rows, std::uint32_t step, Wanted wanted) {
  const double loss = gradients(rows, step, wanted);
  optimizer_->step(weights_.trainable(), weights_.gradients());
  return loss;
}

ResolvedProgram without_initial_values(ResolvedProgram program) {
  for (ResolvedLayer& layer : program.layers) {
    for (const Weight& weight : layer.weights) {
      layer.config[weight.initializer] = {{"class_name", "Zeros"}, {"config", Json::object()}};
    }
  }
  return program;
}

std::int64_t element_product(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::int64_t weight_elements(const ResolvedProgram& program) {
  std::int64_t sum = 0;
  for (const ResolvedLayer& layer : program.layers) {
    for (const Weight& weight : layer.weights) sum += element_product(weight.shape);
  }
  return sum;
}

std::int64_t row_elements(const ResolvedProgram& program) {
  std::int64_t sum = element_product(program.input_shape);
  for (const ResolvedLayer& layer : program.layers) {
    sum += element_product(layer.output_shape);
    if (layer.class_name == "Conv2D" && layer.config.at("padding") == "same") {
      const Shape& image = layer.input_shape;
      sum += (image[0] + 1) * (image[1] + 1) * image[2];
    }
  }
  return sum;
}

}  // namespace neutra
