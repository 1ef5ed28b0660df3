# A thin face over CMake.
BUILD ?= build
all: build
build:
	cmake -S . -B $(BUILD) -G Ninja
	ninja -C $(BUILD)
.PHONY: all build
