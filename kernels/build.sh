#!/bin/sh
# Builds the library of fused operators from src/main/native into src/main/resources, for the
# platform that is named, linux-x86_64 or linux-aarch64, or else for the machine at hand.
#
# Needs g++ 12 or newer, for another machine that of Debian's g++-aarch64-linux-gnu or
# g++-x86-64-linux-gnu, python3 with venv, and network access for pip on the first run: libtorch's
# headers and the libraries to link against come from the wheel of torch of the version below.
# TORCH=FOLDER names an unpacked wheel's torch folder instead, and OUT=FOLDER where the library goes;
# then torch may be of another version, which that library is for. JOBS=N compiles N sources at a time.
set -eu
export LC_ALL=C
cd "$(dirname "$0")"
VERSION=2.7.1
PLATFORM=${1:-linux-$(uname -m)}
MACHINE=${PLATFORM#linux-}
CXX=g++
[ $MACHINE = "$(uname -m)" ] || CXX=$MACHINE-linux-gnu-g++
# What processors have at least: a name and flags for each form of a kernel.
case $PLATFORM in
  linux-x86_64)
    AVX2="-mavx2 -mfma -mf16c"
    FORMS="avx2 avx512"
    FLAGS_avx2=$AVX2
    FLAGS_avx512="$AVX2 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512"
    ;;
  linux-aarch64)
    FORMS=neon
    FLAGS_neon=-march=armv8-a
    ;;
  *) echo "$PLATFORM: expected linux-x86_64 or linux-aarch64" >&2; exit 2 ;;
esac
SOURCES=src/main/native
BUILD=${OUT:-target/native/$PLATFORM}
RESOURCES=src/main/resources/native/$PLATFORM
mkdir -p $BUILD ${OUT:=$RESOURCES}
if [ -z "${TORCH:-}" ]; then
  TORCH=$BUILD/venv/torch
  if [ ! -d $TORCH ]; then
    python3 -m venv $BUILD/pip
    $BUILD/pip/bin/pip download -q --no-deps --only-binary=:all: \
      --platform manylinux_2_28_$MACHINE -d $BUILD "torch==$VERSION"
    python3 -m zipfile -e $BUILD/torch-$VERSION*.whl $BUILD/venv
  fi
fi
[ $OUT != $RESOURCES ] || grep -q "^__version__ = '$VERSION" "$TORCH/version.py" || { echo "$TORCH is not torch $VERSION" >&2; exit 1; }

# Messages of errors name files: where torch lies is nothing to them.
FLAGS="-I$SOURCES -ffile-prefix-map=$TORCH=torch -std=c++17 -O3 -fPIC -fopenmp -fno-math-errno -fno-trapping-math -fvisibility=hidden -Wall -Wextra"
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
    $CXX $FLAGS "$@" -c "$source" -o "$object" &
    STARTED=$((STARTED + 1))
    [ $((STARTED % ${JOBS:-1})) -ne 0 ] || wait
  fi
}
for source in $SOURCES/*/*.cpp $BUILD/cuda_sources.cpp; do
  name=$(basename "$source" .cpp)
  case $name in
    *_cpu) for form in $FORMS; do eval compile $name.$form.o '"$source"' \$FLAGS_$form; done ;;
    *_op) compile $name.o "$source" $TORCH_FLAGS ;;
    *) compile $name.o "$source" ;;
  esac
done
wait
# OpenMP's functions are those of the libgomp that libtorch brings, whatever its name.
$CXX -shared -o $OUT/libsaccade.so $OBJECTS -L"$TORCH/lib" -Wl,--no-as-needed -ltorch_cpu -lc10 \
  -Wl,--as-needed -Wl,--unresolved-symbols=ignore-all -s
# OperatorLibrary refuses other versions: dispatch keys and layouts of C++ classes differ.
sed -n "s/^__version__ = '\([^'+]*\).*/\1/p" "$TORCH/version.py" > $OUT/libsaccade.libtorch
[ $OUT != $RESOURCES ] || find build.sh $SOURCES -type f | sort | xargs cat | sha256sum | cut -d' ' -f1 > $OUT/libsaccade.sources
echo "$OUT/libsaccade.so"
