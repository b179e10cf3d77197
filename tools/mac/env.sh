# shellcheck shell=bash
# Sourced with the folder that setup.sh made: its toolchain first on PATH. `std` for the Mac lies ready in its sysroot.
mac_root=$(cd "$1" && pwd)/tree
export PATH=$mac_root/usr/bin:$PATH
export RUSTC=$mac_root/usr/bin/rustc
LD_LIBRARY_PATH=$(dirname "$(find "$mac_root/usr/lib" -name 'librustc_driver-*.so' | head -n 1)")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
export MACOSX_DEPLOYMENT_TARGET=11.0
