# syntax=docker/dockerfile:1
# SPDX-License-Identifier: Apache-2.0
# An image with vramscope, for machines that should not have a compiler or a network.
#
#   docker build -t vramscope .                                     vramscope and Python
#   docker build -t vramscope --build-arg TORCH=torch==2.15.0 .     and PyTorch, for dry runs of your programs inside the image
#
#   docker run --rm --network none -v "$PWD:/work" vramscope report run.vms
#   docker run --rm --network none -v "$PWD:/work" vramscope dryrun --gpu rtx-4090 -- python3 train.py
#
# An image of yours gets vramscope with two lines:
#
#   COPY --from=vramscope /wheel /wheel
#   RUN pip install --no-index /wheel/vramscope-*.whl
#
# Only building needs a network: packages of Debian, and zig from PyPI as the linker.
FROM debian:12 AS build
ENV DEBIAN_FRONTEND=noninteractive
RUN apt-get update -qq && \
    apt-get install -y -qq --no-install-recommends ca-certificates python3-venv python3-pip
COPY . /source
WORKDIR /source
# Without PyTorch here: its operators are recorded by the libraries that --bridges compiles in advance.
RUN VRAMSCOPE_PYTHON=python3 scripts/setup.sh
# all: every release of PyTorch since 2.2 (4 GB of downloads); none: a program's image then needs a C++ compiler for them.
ARG BRIDGES=none
RUN scripts/wheel.sh --build --bridges "$BRIDGES" --out /wheel

FROM debian:12-slim
RUN apt-get update -qq && \
    apt-get install -y -qq --no-install-recommends python3-venv && \
    rm -rf /var/lib/apt/lists/*
COPY --from=build /wheel /wheel
ENV PATH=/opt/vramscope/bin:/usr/local/bin:/usr/bin:/bin
RUN python3 -m venv /opt/vramscope && pip install --no-cache-dir --no-index /wheel/*.whl
ARG TORCH=""
RUN if [ -n "$TORCH" ]; then pip install --no-cache-dir "$TORCH" numpy; fi
WORKDIR /work
ENTRYPOINT ["vramscope"]
CMD ["--help"]
