#!/bin/sh
# Builds the library of fused operators from src/main/native into src/main/resources.
#
# Needs g++ 12 or newer, python3 with venv, and network access for pip on the first run: libtorch's
# headers and the libraries to link against come from the wheel of torch of the version below.
# TORCH=FOLDER names an unpacked wheel's torch folder instead, and OUT=FOLDER where the library goes;
# then torch may be of another version, which that library is for. JOBS=N compiles N sources at a time.
set -eu
export LC_ALL=C
cd "$(dirname "$0")"
VERSION=2.7.1
SOURCES=src/main/native
BUILD=${OUT:-target/native}
RESOURCES=src/main/resources/native/linux-x86_64
mkdir -p $BUILD ${OUT:=$RESOURCES}
if [ -z "${TORCH:-}" ]; then
  TORCH=$BUILD/venv/torch
  if [ ! -d $TORCH ]; then
    python3 -m venv $BUILD/pip
    $BUILD/pip/bin/pip download -q --no-deps --only-binary=:all: -d $BUILD "torch==$VERSION"
    python3 -m zipfile -e $BUILD/torch-$VERSION*.whl $BUILD/venv
  fi
fi
[ $OUT != $RESOURCES ] || grep -q "^__version__ = '$VERSION" "$TORCH/version.py" || { echo "$TORCH is not torch $VERSION" >&2; exit 1; }

# Messages of errors name files: where torch lies is nothing to them.
FLAGS="-I$SOURCES -ffile-prefix-map=$TORCH=torch -std=c++17 -O3 -fPIC -fopenmp -fno-math-errno -fno-trapping-math -fvisibility=hidden -Wall -Wextra"
AVX2="-mavx2 -mfma -mf16c"
AVX512="$AVX2 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512"
TORCH_FLAGS="-I$SOURCES/distributed -isystem $TORCH/include -isystem $TORCH/include/torch/csrc/api/include -D_GLIBCXX_USE_CXX11_ABI=1 -std=c++20"
# The texts that are compiled where there is a GPU, under the names by which they include one another.
{
  echo '#include "cuda/cuda.h"'
  echo 'const saccade::cuda::Source saccade::cuda::SOURCES[] = {'
  for text in $(cd $SOURCES; echo */*.h */*.cuh */*.cu); do
    printf '{"%s", R"~~~(' "$text"; cat "$SOURCES/$text"; echo ')~~~"},'
  done
  echo '{nullptr, nullptr}};'
} > $BUILD/cuda_sources.new
cmp -s $BUILD/cuda_sources.new $BUILD/cuda_sources.cpp || mv $BUILD/cuda_sources.new $BUILD/cuda_sources.cpp
OBJECTS=
STARTED=0
compile() { # OBJECT SOURCE FLAGS...
  object=$BUILD/$1; source=$2; shift 2
  OBJECTS="$OBJECTS $object"
  if [ ! -f "$object" ] || [ -n "$(find $SOURCES/*/*.h "$source" build.sh -newer "$object")" ]; then
    echo "$source $object"; rm -f "$object"
    g++ $FLAGS "$@" -c "$source" -o "$object" &
    STARTED=$((STARTED + 1))
    [ $((STARTED % ${JOBS:-1})) -ne 0 ] || wait
  fi
}
for source in $SOURCES/*/*.cpp $BUILD/cuda_sources.cpp; do
  name=$(basename "$source" .cpp)
  case $name in
    *_cpu) compile $name.avx2.o "$source" $AVX2; compile $name.avx512.o "$source" $AVX512 ;;
    *_op) compile $name.o "$source" $TORCH_FLAGS ;;
    *) compile $name.o "$source" ;;
  esac
done
wait
# OpenMP's functions are those of the libgomp that libtorch brings, whatever its name.
g++ -shared -o $OUT/libsaccade.so $OBJECTS -L"$TORCH/lib" -Wl,--no-as-needed -ltorch_cpu -lc10 \
  -Wl,--as-needed -Wl,--unresolved-symbols=ignore-all -s
[ $OUT != $RESOURCES ] || find build.sh $SOURCES -type f | sort | xargs cat | sha256sum | cut -d' ' -f1 > $OUT/libsaccade.sources
echo "$OUT/libsaccade.so"
