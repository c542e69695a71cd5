#!/bin/sh
# Builds the library of fused operators from src/main/cpp into src/main/resources.
#
# Needs g++ 12 or newer, python3 with venv, and network access for pip on the first run: libtorch's
# headers and the libraries to link against come from the wheel of torch of the version below.
# TORCH=FOLDER names an unpacked wheel's torch folder instead.
set -eu
export LC_ALL=C
cd "$(dirname "$0")"
VERSION=2.7.1
BUILD=target/native
OUT=src/main/resources/native/linux-x86_64
mkdir -p $BUILD $OUT
if [ -z "${TORCH:-}" ]; then
  TORCH=$BUILD/venv/torch
  if [ ! -d $TORCH ]; then
    python3 -m venv $BUILD/pip
    $BUILD/pip/bin/pip download -q --no-deps --only-binary=:all: -d $BUILD "torch==$VERSION"
    python3 -m zipfile -e $BUILD/torch-$VERSION*.whl $BUILD/venv
  fi
fi
grep -q "^__version__ = '$VERSION" "$TORCH/version.py" || { echo "$TORCH is not torch $VERSION" >&2; exit 1; }

FLAGS="-std=c++17 -O3 -fPIC -fopenmp -fno-math-errno -fno-trapping-math -fvisibility=hidden -Wall -Wextra"
AVX2="-mavx2 -mfma -mf16c"
AVX512="$AVX2 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512"
TORCH_FLAGS="-isystem $TORCH/include -isystem $TORCH/include/torch/csrc/api/include -D_GLIBCXX_USE_CXX11_ABI=1"
compile() { # OBJECT SOURCE FLAGS...
  object=$BUILD/$1; source=src/main/cpp/$2; shift 2
  if [ ! -f "$object" ] || [ -n "$(find src/main/cpp/*.h "$source" build.sh -newer "$object")" ]; then
    echo "$source $object"
    g++ $FLAGS "$@" -c "$source" -o "$object"
  fi
}
for source in src/main/cpp/*.cpp; do
  name=$(basename "$source" .cpp)
  case $name in
    dispatch) compile $name.o $name.cpp ;;
    *_op) compile $name.o $name.cpp $TORCH_FLAGS ;;
    *) compile $name.avx2.o $name.cpp $AVX2; compile $name.avx512.o $name.cpp $AVX512 ;;
  esac
done
OBJECTS=$(for source in src/main/cpp/*.cpp; do name=$(basename "$source" .cpp); ls $BUILD/$name.o $BUILD/$name.avx2.o $BUILD/$name.avx512.o 2>/dev/null || true; done)
# OpenMP's functions are those of the libgomp that libtorch brings, whatever its name.
g++ -shared -o $OUT/libsaccade.so $OBJECTS -L"$TORCH/lib" -Wl,--no-as-needed -ltorch_cpu -lc10 \
  -Wl,--as-needed -Wl,--unresolved-symbols=ignore-all -s
cat build.sh src/main/cpp/* | sha256sum | cut -d' ' -f1 > $OUT/libsaccade.sources
echo "$OUT/libsaccade.so"
