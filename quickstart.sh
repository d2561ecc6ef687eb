#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# quickstart - install what is missing, build in build/, and run the main job or the tests.
set -u
unset CDPATH

usage()
{
	cat <<-'END'
	Usage: sh quickstart.sh              set up, build, and run the main job: tests/reproducer.sh
	       sh quickstart.sh test         set up, build, and run every test that a plain machine can
	       sh quickstart.sh test all     the same, the slow tests and the sanitizer builds as well
	       sh quickstart.sh --help       print this

	Packages are installed only if something is missing, as root or through sudo. The build is in
	build/. The tests end with a line "N passed, N failed, N skipped"; the exit status is 0 only if
	some ran and none failed.
	END
}

say()
{
	printf '==> %s\n' "$*"
}

die()
{
	printf 'quickstart.sh: %s\n' "$*" >&2
	exit 1
}

refuse()
{
	printf "quickstart.sh: unexpected argument '%s': expected %s\\n" "$1" "$2" >&2
	exit 2
}

# Who needs it, how to look for it (see is_there), and the packages that bring it. With a/b the
# first name that the archive knows is taken: Ubuntu 22.04 has clang's runtime in the second.
requirements()
{
	cat <<-'END'
	build  compiler    cc            gcc,libc6-dev                           gcc,glibc-devel
	build  tool        meson         meson                                   meson
	build  tool        ninja         ninja-build                             ninja-build
	build  tool        pkg-config    pkg-config                              pkgconf-pkg-config
	build  library     jansson       libjansson-dev                          jansson-devel
	build  library     liburing      liburing-dev                            liburing-devel
	build  library     numa          libnuma-dev                             numactl-devel
	build  header      libaio.h      libaio-dev                              libaio-devel
	test   tool        python3       python3                                 python3
	test   tool        gcc           gcc,libc6-dev                           gcc,glibc-devel
	test   tool        clang         clang                                   clang
	test   sanitizers  clang         libclang-rt-dev/libclang-common-14-dev  compiler-rt
	test   tool        clang-format  clang-format                            clang-tools-extra
	test   tool        clang-tidy    clang-tidy                              clang-tools-extra
	test   tool        shellcheck    shellcheck                              ShellCheck
	test   tool        strace        strace                                  strace
	test   command     mkfs.ext4     e2fsprogs                               e2fsprogs
	test   command     mkfs.xfs      xfsprogs                                xfsprogs
	test   command     mkfs.btrfs    btrfs-progs                             btrfs-progs
	slow   command     chromium      chromium                                chromium
	slow   command     chromedriver  chromium-driver                         chromedriver
	slow   module      selenium      python3-selenium                        python3-selenium
	END
}

# A pyenv or a home directory may put a tool that does not run before the system's, which does.
prefer_tools_that_run()
{
	for tool in python3 meson ninja; do
		if ! "$tool" --version >/dev/null 2>&1 && "/usr/bin/$tool" --version >/dev/null 2>&1; then
			PATH=/usr/bin:$PATH
		fi
	done
}

# The compiler that meson will find.
compiler()
{
	for cc in ${CC:+"$CC"} cc gcc clang; do
		# CC may hold a wrapper and its compiler: CC='ccache gcc'.
		# shellcheck disable=SC2086
		if [ "${CC:-$cc}" = "$cc" ] && $cc --version >/dev/null 2>&1; then
			echo "$cc"
			return 0
		fi
	done
	return 1
}

ninja_command()
{
	for ninja in ninja ninja-build samu; do
		if "$ninja" --version >/dev/null 2>&1; then
			echo "$ninja"
			return 0
		fi
	done
	return 1
}

links()
{
	printf '#include <stdio.h>\nint main(void) { return puts("") < 0; }\n' |
		"$@" -x c -o "$tmp/probe" - >/dev/null 2>&1
}

# Look for the thing itself, so that what was installed by hand counts.
# CC may hold a wrapper and its compiler (ccache gcc), so it is split.
# shellcheck disable=SC2046
is_there()
{
	case $1 in
	tool) "$2" --version >/dev/null 2>&1 || { [ "$2" = ninja ] && ninja_command >/dev/null; } ;;
	module) /usr/bin/python3 -c "import $2" >/dev/null 2>&1 || python3 -c "import $2" >/dev/null 2>&1 ;;
	command) command -v "$2" >/dev/null 2>&1 ;;
	compiler) compiler >/dev/null && links $(compiler) ;;
	library) pkg-config --exists "$2" 2>/dev/null ;;
	header) compiler >/dev/null && echo "#include <$2>" | $(compiler) -E -x c - >/dev/null 2>&1 ;;
	sanitizers) links "$2" -fsanitize=address,undefined && links "$2" -fsanitize=thread ;;
	esac
}

# What $1 (build; build and test; those and slow) lacks: a line of the table each.
missing()
{
	requirements | while read -r who how what debian fedora; do
		case " $1 " in *" $who "*) ;; *) continue ;; esac
		is_there "$how" "$what" || echo "$what $debian $fedora"
	done
}

# Column $1 of the lines of missing() on stdin, as words without repetition.
column()
{
	awk -v c="$1" '{ n = split($c, p, ","); for (i = 1; i <= n; i++) if (!seen[p[i]]++) printf "%s%s", (k++ ? " " : ""), p[i] }'
}

# For each a/b of the arguments the first that apt knows.
known_to_apt()
{
	for word; do
		chosen=
		for name in $(echo "$word" | tr / ' '); do
			[ -n "$chosen" ] || ! apt-cache show "$name" >/dev/null 2>&1 || chosen=$name
		done
		echo "${chosen:-${word%%/*}}"
	done
}

# Names for a person: of a/b the first.
plainly()
{
	echo "$*" | sed 's,/[^ ]*,,g'
}

# Run an installer as root; what it prints is kept for the case that it fails.
install_with()
{
	$sudo env DEBIAN_FRONTEND=noninteractive "$@" >>"$tmp/install.log" 2>&1
}

# The installer's own complaints, without the addresses of its servers.
install_failed()
{
	grep -E '^(E|Error|error|sudo|dpkg)\b' "$tmp/install.log" | grep -v '://' | tail -n 5 >&2
	die "$1 could not install: $(plainly "$2")"
}

install_packages()
{
	sudo=
	lacking=$1
	if command -v apt-get >/dev/null 2>&1; then
		packages=$(echo "$lacking" | column 2)
		installer=apt-get
	else
		packages=$(echo "$lacking" | column 3)
		installer=dnf
	fi
	command -v "$installer" >/dev/null 2>&1 ||
		die "neither apt-get nor dnf is here: please install $(echo "$lacking" | column 1)"
	if [ "$(id -u)" -ne 0 ]; then
		sudo="sudo -n"
		[ "$terminal" = no ] || sudo=sudo
		if ! command -v sudo >/dev/null 2>&1 || ! $sudo true 2>/dev/null; then
			die "not root and no sudo: please install $(plainly "$packages")"
		fi
	fi
	say "$step set up: installing $(plainly "$packages")"
	if [ "$installer" = dnf ]; then
		# shellcheck disable=SC2086
		install_with dnf install -y $packages || install_failed dnf "$packages"
		return
	fi
	install_with apt-get update -q ||
		echo "quickstart.sh: apt-get update failed; trying with the package lists that are here" >&2
	# shellcheck disable=SC2046,SC2086
	install_with apt-get install -q -y --no-install-recommends -o DPkg::Lock::Timeout=300 \
		$(known_to_apt $packages) || install_failed apt-get "$packages"
}

set_up()
{
	prefer_tools_that_run
	lacking=$(missing "$1")
	if [ -z "$lacking" ]; then
		say "$step set up: nothing is missing"
		return
	fi
	install_packages "$lacking"
	hash -r
	prefer_tools_that_run
	lacking=$(missing "$1")
	[ -z "$lacking" ] || die "installed, but still not usable: $(echo "$lacking" | column 1)"
}

# A build directory of this very folder (not of the one it was copied from), of this meson.
build_dir_is_good()
{
	[ -f build/build.ninja ] && meson configure build >/dev/null 2>&1 &&
		python3 - build/meson-info/meson-info.json <<-'END' 2>/dev/null
		import json, os, sys
		source = json.load(open(sys.argv[1], encoding='utf-8'))['directories']['source']
		sys.exit(not os.path.samefile(source, '.'))
		END
}

configure()
{
	if [ -d build/meson-private ]; then
		meson setup --wipe build >"$tmp/setup.log" 2>&1 && return
		rm -rf build
	fi
	meson setup build >"$tmp/setup.log" 2>&1 || { cat "$tmp/setup.log" >&2; die "meson setup failed"; }
}

build()
{
	say "$step build in build/"
	if { [ -e build ] && [ ! -w build ]; } || { [ ! -e build ] && [ ! -w . ]; }; then
		die "cannot write to $PWD/build"
	fi
	build_dir_is_good || configure
	if ! "$(ninja_command)" -C build >"$tmp/ninja.log" 2>&1; then
		# Without what went well: "[3/40] Compiling ..." with no line of its own below.
		grep -v '^\[[0-9]*/[0-9]*\]' "$tmp/ninja.log" | tail -n 60 >&2
		die "the build failed"
	fi
}

# Run one selection of the tests; what went wrong is in the log, and count.sh says it.
run_tests()
{
	log=$1
	shift
	rm -f "build/meson-logs/$log.json"
	meson test -C build --logbase "$log" --print-errorlogs "$@"
}

has_slow_tests()
{
	meson test -C build --no-rebuild --list --suite slow 2>/dev/null | grep -q " / "
}

job=no steps=3 needs="build test"
case $#:${1-}:${2-} in
0::) job=yes needs=build ;;
1:test:) ;;
2:test:all) steps=4 needs="build test slow" ;;
*:-h:* | *:--help:*) usage; exit 0 ;;
*:test:all) refuse "$3" 'nothing after "test all"' ;;
*:test:*) refuse "$2" '"all" or nothing after "test"' ;;
*) refuse "$1" '"test", "test all" or nothing' ;;
esac

cd -- "$(dirname -- "$0")" || exit 1
# Debian keeps mkfs out of a user's PATH.
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
terminal=no
[ ! -t 0 ] || terminal=yes
exec </dev/null
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

step=1/$steps
set_up "$needs"
step=2/$steps
build
step=3/$steps
if [ "$job" = yes ]; then
	say "$step the main job: tests/reproducer.sh"
	rm -rf "$tmp"
	exec sh tests/reproducer.sh
fi

say "$step test"
run_tests testlog --no-suite slow
set -- build/meson-logs/testlog.json
if [ "$steps" = 4 ]; then
	say "4/4 slow tests and sanitizers"
	if has_slow_tests; then
		run_tests slowlog --suite slow
		set -- "$@" build/meson-logs/slowlog.json
	fi
	sh tests/sanitize.sh
	# The names hold no blank.
	# shellcheck disable=SC2046
	set -- "$@" $(sh tests/sanitize.sh --logs)
fi
sh tests/count.sh "$@"
