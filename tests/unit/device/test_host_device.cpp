#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "engine/device/device.hpp"
#include "tests/support/catch.hpp"

using namespace dtj;
using Body = std::function<void(std::int64_t, std::int64_t)>;

namespace {

std::unique_ptr<device::Device> host(int threads) {
  device::HostDeviceOptions options;
  options.num_threads = threads;
  auto made = device::make_host_device(options);
  REQUIRE(made);
  return std::move(*made);
}

}  // namespace

TEST_CASE("memory: aligned, zeroed, movable", "[unit][device]") {
  const auto device = host(1);
  for (const std::int64_t size : {0, 1, 63, 4097, 5 << 20}) {
    auto memory = device->allocate(Bytes{size});
    REQUIRE(memory);
    CHECK(memory->size() == static_cast<std::size_t>(size));
    CHECK(reinterpret_cast<std::uintptr_t>(memory->data()) % 64 == 0);
    CHECK(std::count(memory->data(), memory->data() + size, std::byte{0}) == size);
    device::Memory moved = std::move(*memory);
    CHECK(moved.size() == static_cast<std::size_t>(size));
    CHECK(memory->data() == nullptr);
  }
  CHECK(device->allocate(Bytes{std::int64_t{1} << 60}).error().code == ErrorCode::out_of_memory);
  CHECK(device->allocate(Bytes{-1}).error().code == ErrorCode::out_of_memory);
}

TEST_CASE("memory: released once", "[unit][device]") {
  int released = 0;
  std::byte byte{};
  const auto release = [&](std::byte*, std::size_t) { ++released; };
  {
    device::Memory a(&byte, 1, release);
    device::Memory b = std::move(a);
    device::Memory c;
    c = std::move(b);
    CHECK(released == 0);
    c = device::Memory();
    CHECK(released == 1);
  }
  CHECK(released == 1);
}

TEST_CASE("parallel_for: every item once, in whole grains", "[unit][device]") {
  for (const int threads : {1, 2, 3, 5}) {
    const auto device = host(threads);
    CHECK(device->num_threads() == threads);
    for (const std::int64_t items : {0, 1, 2, 7, 64, 65, 1000}) {
      for (const std::int64_t grain : {1, 3, 64}) {
        std::vector<int> visits(static_cast<std::size_t>(items), 0);
        std::atomic<int> ragged{0};
        device->parallel_for(items, grain, Body([&](std::int64_t begin, std::int64_t end) {
                               if (begin % grain != 0 || (end % grain != 0 && end != items) || begin >= end) ++ragged;
                               for (std::int64_t i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
                             }));
        CHECK(ragged == 0);
        CHECK(std::count(visits.begin(), visits.end(), 1) == items);
      }
    }
  }
}

TEST_CASE("parallel_for: wakes sleeping workers, again and again", "[unit][device]") {
  const auto device = host(4);
  std::atomic<std::int64_t> total{0};
  const Body add = [&](std::int64_t begin, std::int64_t end) { total += end - begin; };
  for (int round = 0; round < 500; ++round) device->parallel_for(100, 1, add);
  CHECK(total == 50000);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  device->parallel_for(100, 1, add);
  CHECK(total == 50100);
}

TEST_CASE("host device: pins its threads and gives the caller's cores back", "[unit][device]") {
  cpu_set_t before;
  REQUIRE(sched_getaffinity(0, sizeof(before), &before) == 0);
  int core = 0;
  while (!CPU_ISSET(core, &before)) ++core;
  {
    auto device = device::make_host_device({2, {core}});
    REQUIRE(device);
    std::atomic<int> elsewhere{0};
    (*device)->parallel_for(2, 1, Body([&](std::int64_t, std::int64_t) { elsewhere += sched_getcpu() != core; }));
    CHECK(elsewhere == 0);
  }
  cpu_set_t after;
  REQUIRE(sched_getaffinity(0, sizeof(after), &after) == 0);
  CHECK(CPU_EQUAL(&before, &after));
}

TEST_CASE("host device: impossible options are errors", "[unit][device]") {
  CHECK(device::make_host_device({0, {}}).error().code == ErrorCode::invalid_argument);
  CHECK(device::make_host_device({1, {100000}}).error().code == ErrorCode::invalid_argument);
}

TEST_CASE("null device: accepts everything, computes nothing", "[unit][device]") {
  const auto device = device::make_null_device();
  CHECK(device->allocate(Bytes{100}));
  int calls = 0;
  device->parallel_for(10, 1, Body([&](std::int64_t, std::int64_t) { ++calls; }));
  CHECK(calls == 0);
  CHECK(device->gemm({}, DType::u8, DType::u8, nullptr, nullptr, nullptr));
}
