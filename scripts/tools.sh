# Sourced by the other scripts: makes a virtual environment, installs into it, and gets the tools of
# the tests. Debian's packages are installed only where a command is missing, and only they.

# An installed package has its byte code; a checkout compiles it at its first start, and without it
# a node takes three times as long to start: the tests start many.
unset PYTHONDONTWRITEBYTECODE

say() {
    echo "$(basename "$0"): $*" >&2
}

# apt_install PACKAGE...: installs Debian's packages, as root or by sudo. What apt-get prints is shown
# only when it fails.
apt_install() {
    as_root=""
    if [ "$(id -u)" != 0 ]; then as_root=sudo; fi
    if ! command -v apt-get >/dev/null || ! command -v ${as_root:-true} >/dev/null; then
        say "missing: $*; install this, on Debian as root by 'apt-get install $*', and start again"
        return 1
    fi
    say "installing Debian's $* by apt-get"
    printed=$(mktemp)
    export DEBIAN_FRONTEND=noninteractive
    if { [ -n "${apt_updated:-}" ] || $as_root apt-get update -q; } >"$printed" 2>&1 &&
        $as_root apt-get install -y -q --no-install-recommends "$@" >>"$printed" 2>&1; then
        apt_updated=1
        rm "$printed"
        return
    fi
    cat "$printed" >&2
    rm "$printed"
    say "apt-get could not install $*; can it reach Debian's packages?"
    return 1
}

make_venv() {
    if [ -x "$1/bin/pip" ]; then return; fi
    if ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
        apt_install python3-venv || return 1
    fi
    if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
        say "pykbroker needs Python 3.11 or newer; $(command -v python3) is $(python3 -V)"
        return 1
    fi
    say "making the virtual environment $1"
    python3 -m venv "$1"
}

# pip_setting PIP NAME: what pip's configuration says of it; fails if nothing does.
pip_setting() { "$1" config get "global.$2" 2>/dev/null; }

# failure_of_pip: the reason in what `pip index -vv` printed, in as few words as there are: what
# the certificate lacks, what the system reports, or else all that pip says of the page.
failure_of_pip() {
    sed -n -e '/^ *Could not fetch URL /!d' \
        -e 's/.*\(certificate verify failed: .*\) (_ssl\.c.*/\1/p;t' \
        -e "s/.*\[Errno [-0-9]*\] \([^])\"']*\).*/\1/p;t" \
        -e "s/.*(Caused by [^'\"]*['\"]\(.*\)['\"].*/\1/p;t" \
        -e 's/^ *Could not fetch URL [^ ]*: \(.*\) - skipping$/\1/p' | head -n 1
}

# check_index PIP: says at once that pip does not reach its package index, and why; pip first tries
# for long, and then reports only that it has found nothing.
check_index() {
    if [ -n "${PIP_NO_INDEX:-$(pip_setting "$1" no-index)}" ]; then return; fi
    if printed=$("$1" index versions -vv --disable-pip-version-check --retries 0 --timeout 5 \
        setuptools 2>&1); then
        return
    fi
    reason=$(echo "$printed" | failure_of_pip)
    index=${PIP_INDEX_URL:-$(pip_setting "$1" index-url)} || index=""
    # Without user and password, if it has any.
    index=$(echo "${index:-(the default of pip)}" | sed 's|//[^/@]*@|//|')
    say "pip has not reached its package index $index at the first attempt${reason:+: $reason};" \
        "it now tries for longer"
}

# install_checkout VENV EXTRAS: this checkout, editable, with its dependencies. A stamp in VENV holds
# the hash of pyproject.toml, so that the same dependencies are not asked for again.
install_checkout() {
    stamp="$1/installed$2"
    wanted=$(cksum <pyproject.toml)
    if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then return; fi
    make_venv "$1" || return 1
    say "installing pykbroker$2 and its dependencies into $1 (once; later starts need no network)"
    check_index "$1/bin/pip"
    if ! "$1/bin/pip" install --quiet --disable-pip-version-check --use-pep517 -e ".$2"; then
        say "pip could not install; can it reach its package index ($1/bin/pip config list)?"
        return 1
    fi
    echo "$wanted" >"$stamp"
    echo "$wanted" >"$1/installed" # without extras it is less than that
}

# need_test_tools: the commands that the tests start. All packages that are missing are named at once.
need_test_tools() {
    missing=""
    # `java File.java` compiles in memory: that takes a JDK, a JRE is not enough.
    if ! java --list-modules 2>/dev/null | grep -q '^jdk.compiler'; then
        missing=openjdk-17-jdk-headless
    fi
    if ! command -v mvn >/dev/null; then missing="$missing maven"; fi
    if ! command -v node >/dev/null; then missing="$missing nodejs"; fi
    for command in npm kcat; do
        if ! command -v $command >/dev/null; then missing="$missing $command"; fi
    done
    if [ -n "$missing" ]; then
        # shellcheck disable=SC2086
        apt_install $missing
    fi
}
