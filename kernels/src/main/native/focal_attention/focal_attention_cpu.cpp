// Focal attention within windows (Yang et al. 2021), a head of a window at a time: its keys and
// values are gathered once, and the scores of its queries stay in the cache.

#include "focal_attention/focal_attention_windows.h"

namespace {

template <class S>
void forward(const saccade_focal_attention& a) {
  using T = SumOf<S>;
  const Windows<S> windows(a);
  const int area = windows.area, depth = windows.depth, stride = windows.stride;
  const int64_t items = a.n * a.heads * windows.count;
#pragma omp parallel
  {
    Buffer<T> few(LANES<T> * depth), values(stride * depth), keys_across(stride * depth);
    Buffer<T> queries(area * depth), out(area * depth);
    Buffer<T> weights(area * stride), factors(area), mask(a.masks * stride);
    // Windows side by side share most of the rows that they gather.
#pragma omp for schedule(dynamic, windows.across)
    for (int64_t item = 0; item < items; item++) {
      const Place place = windows.place(item);
      windows.gather_across(place, few, keys_across, values);
      if (item + 1 < items) windows.prefetch(windows.place(item + 1));
      windows.copy_queries(place, queries);
      windows.copy_mask(place, mask);
      windows.unnormalized_weights(place, queries, keys_across, mask, weights, factors);
      multiply<T>(area, depth, windows.keys, Rows<T>{weights, stride}, values, depth, out, depth);
      for (int query = 0; query < area; query++) {
        const T* from = out + query * depth;
        S* to = windows.output(static_cast<S*>(a.out), place, query);
        for (int64_t c = 0; c < a.depth; c++) narrow(from[c] * factors[query], to[c]);
      }
    }
  }
}

}  // namespace

extern "C" int SACCADE_KERNEL(focal_attention_forward)(const saccade_focal_attention* a) {
  if (!saccade_focal_attention_is_sound(a)) return -1;
  if (is_empty(*a)) return 0;
  if (!is_inside(*a)) return -3;
  return with_type(a->type, [&](auto stored) { return forward<decltype(stored)>(*a), 0; });
}
