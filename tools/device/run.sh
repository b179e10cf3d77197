#!/usr/bin/env bash
# run COMMAND...: on the GPU machine, with the package, the loader and the GPU's own driver in place.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export PYTHONPATH=$here/python${PYTHONPATH:+:$PYTHONPATH}
if ! ldconfig -p | grep -q 'libvulkan\.so\.1'; then
    export LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
fi
# A container's driver may lie where the loader does not look.
if [[ -z ${VK_DRIVER_FILES:-} ]]; then
    for description in {/usr/share,/etc}/vulkan/icd.d/nvidia_icd.json /usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json; do
        if [[ -r $description ]]; then export VK_DRIVER_FILES=$description; break; fi
    done
fi
exec "$@"
