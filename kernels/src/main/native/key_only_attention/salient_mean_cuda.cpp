// The mean of the tokens of an image by what is salient to a head, on a GPU: the shapes of the
// launches.

#include <algorithm>

#include "cuda/cuda.h"
#include "key_only_attention/salient_mean.h"

namespace {

using namespace saccade::cuda;

constexpr int THREADS = 256, PART = 128;  // as in salient_mean.cu
constexpr int64_t HEADS = 8;              // of a launch, at most

// A launch's share of the heads.
class Heads {
 public:
  Heads(const saccade_salient_mean& a, int64_t first)
      : a(a),
        first(static_cast<int>(first)),
        heads(std::min(HEADS, a.heads - first)),
        parts(static_cast<int>(ceil_div(a.tokens, PART))),
        sum(a.type == SACCADE_DOUBLE ? 8 : 4) {
    const bool aligned =
        is_aligned(a.x, a.channels, a.type) && is_aligned(a.d_x, a.channels, a.type);
    if (aligned) vector = std::min<int64_t>(16 / size_of(a.type), heads > 2 ? 4 : 8);
    const int64_t vectors = ceil_div(a.channels, vector);
    int64_t least = INT64_MAX;
    for (int64_t lanes = 1; lanes <= 32; lanes *= 2) {
      const int64_t steps = ceil_div(vectors, lanes) * lanes;
      if (steps <= least) {
        least = steps;
        group = lanes;
      }
    }
  }

  template <class... A>
  int run(const saccade_cuda& cuda, const char* name, const Grid& grid, A... values) const {
    const std::string options = storage(a.type) + define("VECTOR", vector) +
                                define("HEADS", heads) + define("GROUP", group);
    return launch(cuda, {"key_only_attention/salient_mean.cu", name, options}, grid, a, first,
                  parts, values...);
  }

  // Over parts of the tokens, with so many rows of channels and of tokens in shared memory; and
  // over channels, to add the parts up.
  Grid over_parts(int64_t rows) const {
    return {a.n * parts, THREADS, (rows * heads * (a.channels + PART) + THREADS * vector) * sum};
  }
  Grid over_channels() const { return {a.n * heads * ceil_div(a.channels, 32), THREADS}; }

  int64_t bytes_of_sums() const { return bytes_of_rows() * a.channels; }
  int64_t bytes_of_rows() const { return a.n * parts * heads * sum; }

 private:
  const saccade_salient_mean& a;
  const int first;
  const int64_t heads;
  const int parts;
  const int64_t sum;
  int64_t vector = 1, group = 1;
};

}  // namespace

extern "C" int saccade_salient_mean_forward_cuda(const saccade_salient_mean* a,
                                                 const saccade_cuda* cuda) {
  if (!saccade_salient_mean_is_sound(a)) return -1;
  if (a->n * a->tokens == 0) return 0;
  for (int64_t first = 0; first < a->heads; first += HEADS) {
    const Heads heads(*a, first);
    void* sums = cuda->allocate(cuda->context, heads.bytes_of_sums());
    void* highs = cuda->allocate(cuda->context, heads.bytes_of_rows());
    void* totals = cuda->allocate(cuda->context, heads.bytes_of_rows());
    if (sums == nullptr || highs == nullptr || totals == nullptr) return -1;
    int status = heads.run(*cuda, "salient_mean_forward", heads.over_parts(1), sums, highs, totals);
    if (status == 0)
      status = heads.run(*cuda, "salient_mean_merge", heads.over_channels(), sums, highs, totals);
    if (status != 0) return status;
  }
  return 0;
}

extern "C" int saccade_salient_mean_backward_cuda(const saccade_salient_mean* a,
                                                  const saccade_cuda* cuda) {
  if (!saccade_salient_mean_is_sound(a)) return -1;
  if (a->n * a->tokens == 0) return 0;
  for (int64_t first = 0; first < a->heads; first += HEADS) {
    const Heads heads(*a, first);
    void* sums = cuda->allocate(cuda->context, heads.bytes_of_sums());
    if (sums == nullptr) return -1;
    int status = heads.run(*cuda, "salient_mean_backward", heads.over_parts(2), sums);
    if (status == 0)
      status = heads.run(*cuda, "salient_mean_saliency", heads.over_channels(), sums);
    if (status != 0) return status;
  }
  return 0;
}
