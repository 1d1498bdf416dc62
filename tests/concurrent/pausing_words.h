// Words for stress tests of what one thread changes while others read it.
#pragma once

#include <chrono>
#include <cstdint>
#include <random>
#include <thread>

#include "roost/concurrent/atomic_words.h"

namespace roost {

// The writer pauses between words now and then, while readers go on.
struct PausingWords : AtomicWords {
  static void store(uint64_t* word, uint64_t value) {
    pause();
    AtomicWords::store(word, value);
    pause();
  }

  // A pause of the last of so many words, on average.
  static inline thread_local unsigned pause_one_of = 0;

 private:
  static void pause() {
    static thread_local std::minstd_rand random(1);
    if (pause_one_of != 0 && random() % pause_one_of == 0)
      std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
};

}  // namespace roost
