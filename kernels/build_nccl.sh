#!/bin/sh
# Builds the library that lets ranks sum what lies on GPUs, from src/main/native/distributed/nccl
# into src/main/resources.
#
# Needs g++ 12 or newer, and network access for pip on the first run: the headers of libtorch, NCCL
# and CUDA come from wheels. No GPU is needed, nor CUDA itself.
set -eu
export LC_ALL=C
cd "$(dirname "$0")"
TORCH_VERSION=2.7.1
SOURCES=src/main/native/distributed/nccl
RESOURCES=src/main/resources/native/linux-x86_64
WHEELS=target/native/wheels
if [ ! -d $WHEELS/site ]; then
  python3 -m venv target/native/pip
  target/native/pip/bin/pip download -q --no-deps --only-binary=:all: -d $WHEELS \
    "torch==$TORCH_VERSION" nvidia-nccl-cu12==2.26.2 nvidia-cuda-runtime-cu12==12.6.77 \
    nvidia-cuda-nvcc-cu12==12.6.85 nvidia-cuda-cccl-cu12==12.6.77 nvidia-cublas-cu12==12.6.4.1 \
    nvidia-cusparse-cu12==12.5.4.2 nvidia-cusolver-cu12==11.7.1.2
  for wheel in $WHEELS/*.whl; do python3 -m zipfile -e "$wheel" $WHEELS/unpacked; done
  mv $WHEELS/unpacked $WHEELS/site
fi
TORCH=$WHEELS/site/torch
INCLUDES="-isystem $TORCH/include -isystem $TORCH/include/torch/csrc/api/include"
for headers in $WHEELS/site/nvidia/*/include; do INCLUDES="$INCLUDES -isystem $headers"; done
# Symbols of CUDA's libtorch are found where it is loaded.
g++ -shared -std=c++20 -O2 -fPIC -fvisibility=hidden -Wall -Wextra -D_GLIBCXX_USE_CXX11_ABI=1 \
  -ffile-prefix-map=$TORCH=torch $INCLUDES $SOURCES/*.cpp -o $RESOURCES/libsaccade_nccl.so \
  -L$TORCH/lib -Wl,--no-as-needed -ltorch_cpu -ltorch_cuda -lc10 \
  -Wl,--as-needed -Wl,--unresolved-symbols=ignore-all -s
echo "$RESOURCES/libsaccade_nccl.so"
