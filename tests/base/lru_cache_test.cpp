#include "base/lru_cache.h"

#include <gtest/gtest.h>

#include <string>

namespace neutra {
namespace {

std::string found(LruCache<int, std::string>& cache, int key) {
  const std::string* value = cache.find(key);
  return value == nullptr ? "none" : *value;
}

TEST(LruCache, DropsTheLeastRecentlyUsedFirst) {
  LruCache<int, std::string> cache(3);
  for (const int key : {1, 2, 3}) cache.add(key, std::to_string(key));
  EXPECT_EQ(found(cache, 1), "1");
  cache.add(4, "4");
  EXPECT_EQ(found(cache, 2), "none");
  EXPECT_EQ(found(cache, 1), "1");
  EXPECT_EQ(cache.size(), 3u);
  EXPECT_EQ(cache.drop(), "3");
  EXPECT_EQ(cache.drop(), "4");
  EXPECT_EQ(found(cache, 1), "1");
}

TEST(LruCache, AKeyKeepsItsFirstValue) {
  LruCache<int, std::string> cache(2);
  EXPECT_EQ(cache.add(1, "first"), "first");
  EXPECT_EQ(cache.add(1, "second"), "first");
  EXPECT_EQ(cache.size(), 1u);
  cache.erase(1);
  cache.erase(1);
  EXPECT_EQ(cache.add(1, "second"), "second");
}

TEST(LruCache, CostsCount) {
  LruCache<int, std::string> cache(10);
  cache.add(1, "1", 4);
  cache.add(2, "2", 4);
  cache.add(3, "3", 6);  // in the place of the first
  EXPECT_EQ(found(cache, 1), "none");
  EXPECT_EQ(found(cache, 2), "2");
  cache.add(4, "4", 11);  // larger than the limit: alone
  EXPECT_EQ(cache.size(), 1u);
  EXPECT_EQ(found(cache, 4), "4");
  cache.add(5, "5", 10);
  EXPECT_EQ(cache.size(), 1u);
  EXPECT_EQ(found(cache, 5), "5");
}

TEST(LruCache, TheLargestKeyInARange) {
  LruCache<int, std::string> cache(9);
  EXPECT_EQ(cache.find_last(0, 100), nullptr);
  for (const int key : {7, 3, 5}) cache.add(key, std::to_string(key));
  EXPECT_EQ(cache.find_last(0, 2), nullptr);
  EXPECT_EQ(*cache.find_last(0, 3), "3");
  EXPECT_EQ(*cache.find_last(0, 6), "5");
  EXPECT_EQ(*cache.find_last(0, 100), "7");
  EXPECT_EQ(cache.find_last(8, 100), nullptr);
}

}  // namespace
}  // namespace neutra
