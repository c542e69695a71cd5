# Images with the saccade command: `docker build --target cpu .`, or `--target cuda`, from a checkout
# in which `mvn -Prelease -Dgpg.skip -DskipTests package` has made the distribution.

FROM eclipse-temurin:17-jdk-jammy AS build
RUN apt-get update && apt-get install -y --no-install-recommends zip
ADD cli/target/saccade-*.tar.gz /opt/
RUN mv /opt/saccade-* /opt/saccade
RUN jlink --add-modules java.compiler,java.desktop,java.management,java.naming,java.net.http,java.sql,jdk.httpserver,jdk.management,jdk.unsupported \
      --strip-debug --no-header-files --no-man-pages --compress=2 --output /opt/java
ENV PATH=/opt/java/bin:$PATH DJL_CACHE_DIR=/opt/natives

# Unpacks the natives, then takes them out of the jars, with those of other systems.
FROM build AS build-cpu
RUN /opt/saccade/saccade env && cd /opt/saccade/lib \
 && zip -qd pytorch-native-cpu-*.jar 'native/lib/*.so*' \
 && zip -qd opencv-*.jar 'nu/pattern/opencv/*' -x 'nu/pattern/opencv/linux/x86_64/*'

FROM ubuntu:22.04 AS runtime
RUN apt-get update \
 && apt-get install -y --no-install-recommends fontconfig fonts-dejavu-core curl \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home --uid 1000 saccade
ENV PATH=/opt/saccade:/opt/java/bin:$PATH DJL_CACHE_DIR=/opt/natives
COPY --from=build /opt/java /opt/java
WORKDIR /work
EXPOSE 8080
ENTRYPOINT ["saccade"]
# That of `saccade serve CHECKPOINT --host 0.0.0.0 --port 8080`; other commands end before it is asked.
HEALTHCHECK --interval=30s --start-period=60s CMD curl -fs http://localhost:8080/health

FROM runtime AS cpu
COPY --from=build-cpu /opt/natives /opt/natives
COPY --from=build-cpu /opt/saccade /opt/saccade
USER saccade

FROM python:3.11-slim-bookworm AS torch
RUN python -m venv /opt/torch && /opt/torch/bin/pip install --no-cache-dir torch==2.7.1 numpy

# libtorch for CUDA is that of SACCADE_TORCH, so that the one for CPUs stays out; the driver is the
# host's, by `docker run --gpus all`. Its natives are unpacked into the home of the user.
FROM runtime AS cuda
COPY --from=torch /opt/torch /opt/torch
COPY --from=build /opt/saccade /opt/saccade
RUN rm /opt/saccade/lib/pytorch-native-cpu-*.jar
ENV SACCADE_TORCH=/opt/torch DJL_CACHE_DIR=/home/saccade/natives
USER saccade
