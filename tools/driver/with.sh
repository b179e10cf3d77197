#!/usr/bin/env bash
# with.sh COMMAND...: run it with the Vulkan driver that setup.sh found or fetched, if any.
set -euo pipefail
env_file=$(dirname "${BASH_SOURCE[0]}")/../../.driver/env.sh
# shellcheck disable=SC1090
[[ ! -r $env_file ]] || . "$env_file"
exec "$@"
