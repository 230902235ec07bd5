#include "training/data_cache.h"

#include <utility>

namespace neutra::training {

std::uint64_t LoadedData::bytes() const {
  std::uint64_t floats = 0;
  for (const Array* array :
       {&data->x_train, &data->y_train, &data->x_test, &data->y_test, &data->x_holdout,
        &data->y_holdout, &data->x_validation, &data->y_validation, &data->weights_train,
        &data->weights_validation}) {
    floats += array->values.size();
  }
  return floats * sizeof(float);
}

const SparseDataset& LoadedData::sparse() const {
  std::call_once(once_, [this] { sparse_ = SparseDataset(*data); });
  return sparse_;
}

std::shared_ptr<const LoadedData> DataCache::get(const Json& recipe) {
  const std::lock_guard lock(mutex_);
  const std::string text = recipe.dump();
  if (const auto* known = entries_.find(text)) return *known;
  const auto made = std::make_shared<LoadedData>();
  made->data = load_dataset(recipe, path_);
  made->info = made->data->info();
  made->left_out = left_out_classes(recipe, *made->data);
  return entries_.add(text, made, made->bytes());
}

}  // namespace neutra::training
