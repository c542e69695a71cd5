# Images with the saccade command: `docker build --target cpu .`, or `--target cuda`, from a checkout
# in which `mvn -Prelease -Dgpg.skip -DskipTests package` has made the distribution.

FROM eclipse-temurin:17-jdk-jammy AS build
RUN apt-get update && apt-get install -y --no-install-recommends zip
ADD cli/target/saccade-*.tar.gz /opt/
RUN mv /opt/saccade-* /opt/saccade \
 && zip -qd /opt/saccade/lib/opencv-*.jar 'nu/pattern/opencv/*' -x 'nu/pattern/opencv/linux/x86_64/*'
RUN jlink --add-modules java.compiler,java.desktop,java.management,java.naming,java.net.http,java.sql,jdk.crypto.ec,jdk.httpserver,jdk.management,jdk.unsupported \
      --strip-debug --no-header-files --no-man-pages --compress=2 --output /opt/jre
ENV PATH=/opt/jre/bin:$PATH DJL_CACHE_DIR=/opt/natives

# Unpacks the natives, for all to read, and takes libtorch out of its jar; the other jars keep theirs,
# since what is unpacked is held to them at each start.
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

# Of torch what is libtorch, and CUDA.
FROM python:3.11-slim-bookworm AS torch
RUN pip install --no-cache-dir --target /opt/pip torch==2.7.1 && mkdir -p /opt/torch/torch \
 && mv /opt/pip/torch/lib /opt/pip/torch/version.py /opt/torch/torch \
 && mv /opt/pip/cusparselt /opt/pip/nvidia /opt/torch

# libtorch for CUDA is that of SACCADE_TORCH, so that the one for CPUs stays out; the driver is the
# host's, by `docker run --gpus all`. The other natives are unpacked at the start: DJL's is another
# with a driver than without one.
FROM runtime AS cuda
COPY --from=torch /opt/torch /opt/torch
COPY --from=build-cuda /opt/saccade /opt/saccade
ENV SACCADE_TORCH=/opt/torch/torch DJL_CACHE_DIR=/tmp/natives
USER saccade
