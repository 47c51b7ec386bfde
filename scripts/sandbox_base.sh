#!/usr/bin/env bash
# Makes a base image for the sandbox out of Debian packages, for machines that reach no image registry.
#
#   scripts/sandbox_base.sh                                              nel-base:bookworm: Python, JavaScript, C++, Bash
#   scripts/sandbox_base.sh --tag nel-base-go:bookworm golang-go         python3 and the packages named
#
#   --tag NAME     the image's name (needed with packages of your own)
#   --mirror URL   a Debian mirror other than deb.debian.org
#   --force        make it anew although it is there
#
# Then: nel sandbox build --base nel-base:bookworm python javascript cpp bash
set -euo pipefail

SUITE=bookworm
tag= mirror= force=
packages=()

fail() {
    echo "sandbox_base: $1" >&2
    exit "${2:-1}"
}

value() {
    [[ $# -ge 2 && -n $2 ]] || fail "$1 needs a value" 2
    echo "$2"
}

while (($#)); do
    case $1 in
        --tag) tag=$(value "$@"); shift ;;
        --mirror) mirror=$(value "$@"); shift ;;
        --force) force=yes ;;
        -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit ;;
        -*) fail "no option $1; see --help" 2 ;;
        *) packages+=("$1") ;;
    esac
    shift
done

if ((${#packages[@]} == 0)); then
    packages=(nodejs g++ jq bc)
    tag=${tag:-nel-base:$SUITE}
fi
[[ -n $tag ]] || fail "packages of your own need a --tag, such as --tag nel-base-go:$SUITE" 2

command -v mmdebstrap >/dev/null || fail "mmdebstrap is not installed: apt-get install mmdebstrap"
command -v docker >/dev/null || fail "docker is not installed: apt-get install docker.io"
docker version >/dev/null 2>&1 || fail "the Docker daemon does not answer; is it running, and may this user reach it?"

megabytes() {
    docker image inspect --format '{{.Size}}' "$tag" | awk '{ printf "%.0f MB", $1 / 1e6 }'
}

if [[ -z $force ]] && docker image inspect "$tag" >/dev/null 2>&1; then
    echo "$tag is there ($(megabytes)); --force makes it anew"
    exit
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
echo "making $tag of python3 ${packages[*]} ..."
# Packages link manual pages that are left out into directories that have to be there.
mmdebstrap --variant=minbase --include="$(IFS=,; echo "python3,${packages[*]}")" \
    --aptopt='APT::Install-Recommends "false"' \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
    --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/info/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' \
    --essential-hook='mkdir -p "$1/usr/share/man/man1"' \
    "$SUITE" "$scratch/rootfs.tar" ${mirror:+"$mirror"} >"$scratch/log" 2>&1 \
    || { tail -n 20 "$scratch/log" >&2; fail "mmdebstrap failed; the end of what it said is above"; }
docker import "$scratch/rootfs.tar" "$tag" >/dev/null
echo "made $tag: $(megabytes) in $SECONDS s"
