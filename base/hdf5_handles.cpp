#include "base/hdf5_handles.h"

#include "base/error.h"

namespace neutra::hdf5 {
namespace {

std::recursive_mutex& mutex() {
  static std::recursive_mutex instance;
  return instance;
}

}  // namespace

Lock::Lock() : guard_(mutex()) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  static const herr_t no_external_links = H5Lunregister(H5L_TYPE_EXTERNAL);
  (void)no_external_links;
}

std::string own_words() {
  std::string words;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned, const H5E_error2_t* error, void* data) -> herr_t {
        auto& text = *static_cast<std::string*>(data);
        if (text.empty() && error->desc != nullptr) text = error->desc;
        return 0;
      },
      &words);
  return words.empty() ? "HDF5 gives no reason" : words;
}

void Place::fail(const std::string& reason) const {
  const std::string message = describe(file.string(), object, "", "");
  throw writing ? failure(message + ": " + reason) : input_error(message + ": " + reason);
}

Handle open_dataset(const Place& place, hid_t file) {
  Handle dataset(place.check(H5Dopen2(file, place.object.c_str(), H5P_DEFAULT), "open the dataset"),
                 H5Dclose);
  const Handle creation(place.check(H5Dget_create_plist(dataset), "open the dataset"), H5Pclose);
  if (H5Pget_layout(creation) == H5D_VIRTUAL || H5Pget_external_count(creation) > 0) {
    place.fail("keeps its values in other files");
  }
  return dataset;
}

Handle open_object(const Place& place, hid_t file) {
  return {place.check(H5Oopen(file, place.object.c_str(), H5P_DEFAULT), "open"), H5Oclose};
}

Place attribute_place(const Place& object, const std::string& name) {
  return {object.file, object.object + "@" + name, object.writing};
}

std::vector<std::uint64_t> extents_of(const Place& place, hid_t space) {
  const int rank = place.check(H5Sget_simple_extent_ndims(space), "read the extents");
  std::vector<hsize_t> extents(static_cast<std::size_t>(rank));
  place.check(H5Sget_simple_extent_dims(space, extents.data(), nullptr), "read the extents");
  return {extents.begin(), extents.end()};
}

Handle tracked(const Place& place, hid_t property_class) {
  Handle properties(place.check(H5Pcreate(property_class), "create"), H5Pclose);
  place.check(H5Pset_link_creation_order(properties, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED),
              "create");
  return properties;
}

}  // namespace neutra::hdf5
