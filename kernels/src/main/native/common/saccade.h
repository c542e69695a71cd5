/* The compute launchers: plain C, rows of channels (NHWC), no types of torch.
 *
 * Every launcher takes one description of its arguments and returns 0, or a negative number where
 * it cannot do what is asked. What a launcher adds up over threads it adds up in an order that does
 * not depend on their number. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
#define SACCADE_C extern "C"
#else
#define SACCADE_C extern
#endif

/* What numbers are stored as; sums are float, or double where double is stored. */
typedef enum {
  SACCADE_FLOAT = 0,
  SACCADE_DOUBLE = 1,
  SACCADE_HALF = 2,
  SACCADE_BFLOAT16 = 3
} saccade_type;

/* "avx512", "avx2", "neon", or "" where the processor has none of these and no launcher works. */
SACCADE_C const char* saccade_instruction_set(void);

/* What the processor can do at best with the threads it has, measured: float additions and
 * multiplications a second, and bytes read and written a second. */
typedef struct {
  double operations, bytes;
} saccade_ceilings_result;

SACCADE_C int saccade_ceilings(saccade_ceilings_result*);

/* Matrices of a batch: how many numbers they, their rows and their columns are apart. */
typedef struct {
  void* data;
  int64_t batch, row, column;
} saccade_matrices;

/* to = left right for each matrix of a batch, or start + left right. */
typedef struct {
  saccade_type type;
  int64_t batch, rows, inner, columns;
  saccade_matrices left, right, to;
  saccade_matrices start; /* of data null: zeros */
} saccade_multiplication;

/* What a launcher for a GPU gets beside its arguments, whose arrays lie in the memory of the GPU.
 */
typedef struct {
  int device;
  void* stream;
  /* Memory of the GPU that is kept until what was launched is done with it, or null. */
  void* (*allocate)(void* context, int64_t bytes);
  /* Multiplies in the stream by the library that torch brings; the same way each time. */
  void (*multiply)(void* context, const saccade_multiplication*);
  void* context;
} saccade_cuda;
