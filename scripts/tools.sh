# Sourced by the other scripts: makes a virtual environment and gets the tools of the tests. Debian's
# packages are installed only where a command is missing, and only they.

apt_install() {
    as_root=""
    if [ "$(id -u)" != 0 ]; then as_root=sudo; fi
    if [ -z "${apt_updated:-}" ]; then
        $as_root apt-get update -q
        apt_updated=1
    fi
    DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -q --no-install-recommends "$@"
}

make_venv() {
    if [ -x "$1/bin/pip" ]; then return; fi
    if ! python3 -c 'import ensurepip, venv' 2>/dev/null; then apt_install python3-venv; fi
    python3 -m venv "$1"
}

need_test_tools() {
    # `java File.java` compiles in memory: that takes a JDK, a JRE is not enough.
    if ! java --list-modules 2>/dev/null | grep -q '^jdk.compiler'; then
        apt_install openjdk-17-jdk-headless
    fi
    if ! command -v mvn >/dev/null; then apt_install maven; fi
    if ! command -v node >/dev/null; then apt_install nodejs; fi
    if ! command -v npm >/dev/null; then apt_install npm; fi
    if ! command -v kcat >/dev/null; then apt_install kcat; fi
}
