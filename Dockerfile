# Builds images with the saccade command: `docker build --target cpu .`, or `--target cuda`. First build
# the distribution in the checkout: `mvn -Prelease -Dgpg.skip -DskipTests package`.

FROM eclipse-temurin:17-jdk-jammy AS build
RUN apt-get update && apt-get install -y --no-install-recommends zip
ADD cli/target/saccade-*.tar.gz /opt/
RUN mv /opt/saccade-* /opt/saccade \
 && zip -qd /opt/saccade/lib/opencv-*.jar 'nu/pattern/opencv/*' -x 'nu/pattern/opencv/linux/x86_64/*'
RUN jlink --add-modules java.compiler,java.desktop,java.management,java.naming,java.net.http,java.sql,jdk.crypto.ec,jdk.httpserver,jdk.management,jdk.unsupported \
      --strip-debug --no-header-files --no-man-pages --compress=2 --output /opt/jre
ENV PATH=/opt/jre/bin:$PATH DJL_CACHE_DIR=/opt/natives

# Unpacks the native libraries, readable for all users, and removes libtorch from its jar. The other
# jars keep their libraries, because the unpacked files are compared with them at each start.
FROM build AS build-cpu
RUN /opt/saccade/saccade env && chmod -R a+rX /opt/natives \
 && zip -qd /opt/saccade/lib/pytorch-native-cpu-*.jar 'pytorch/cpu/*'

FROM build AS build-cuda
RUN rm /opt/saccade/lib/pytorch-native-cpu-*.jar

FROM ubuntu:22.04 AS runtime
RUN apt-get update \
 && apt-get install -y --no-install-recommends fontconfig fonts-dejavu-core curl \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home --uid 1000 saccade
ENV PATH=/opt/saccade:/opt/jre/bin:$PATH DJL_CACHE_DIR=/opt/natives
COPY --from=build /opt/jre /opt/jre
WORKDIR /work
EXPOSE 8080
ENTRYPOINT ["saccade"]

FROM runtime AS cpu
COPY --from=build-cpu /opt/natives /opt/natives
COPY --from=build-cpu /opt/saccade /opt/saccade
USER saccade

# Keeps only libtorch and CUDA of the torch package.
FROM python:3.11-slim-bookworm AS torch
RUN pip install --no-cache-dir --target /opt/pip torch==2.7.1 && mkdir -p /opt/torch/torch \
 && mv /opt/pip/torch/lib /opt/pip/torch/version.py /opt/torch/torch \
 && mv /opt/pip/cusparselt /opt/pip/nvidia /opt/torch

# Uses libtorch for CUDA (SACCADE_TORCH) and omits libtorch for CPUs. `docker run --gpus all` provides
# the host's driver. The other native libraries are unpacked at startup, because DJL's library depends
# on whether a driver is available.
FROM runtime AS cuda
COPY --from=torch /opt/torch /opt/torch
COPY --from=build-cuda /opt/saccade /opt/saccade
ENV SACCADE_TORCH=/opt/torch/torch DJL_CACHE_DIR=/tmp/natives
USER saccade
