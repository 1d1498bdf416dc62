#include "roost/base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace roost {

void assertion_failed(const char* text, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, text);
  std::abort();
}

}  // namespace roost
