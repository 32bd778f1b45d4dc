#!/bin/sh
# Installs longterm for one user, without root, or takes it away again.
#
#   sh install.sh                     the newest release, into ~/.local
#   sh install.sh --version v1.2.3    that one
#   sh install.sh --from DIR|URL      from files that are there (a directory made by `.ci/release`)
#   sh install.sh --prefix DIR        into DIR/bin, DIR/share
#   sh install.sh --uninstall         takes away what was installed; sessions' histories stay
#   sh install.sh --uninstall --purge histories and configuration too
#
# What is fetched is checked against the release's SHA256SUMS before anything is replaced.
set -eu

unset LONGTERM_HOST # this is about this machine
repository=https://github.com/longterm-dev/longterm
version= from= prefix=${HOME:?}/.local uninstall= purge=

fail() { echo "install.sh: $*" >&2; exit 1; }

while [ $# -gt 0 ]; do
  case $1 in
    --version) version=${2:?"--version wants a version, as in v1.2.3"}; shift 2 ;;
    --from) from=${2:?"--from wants a directory or an address"}; shift 2 ;;
    --prefix) prefix=${2:?"--prefix wants a directory"}; shift 2 ;;
    --uninstall) uninstall=1; shift ;;
    --purge) purge=1; shift ;;
    -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) fail "$1 is no option; --help lists them" ;;
  esac
done
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
list=$prefix/share/longterm/installed

if [ -n "$uninstall" ]; then
  [ -f "$list" ] || fail "nothing was installed in $prefix by this script: $list is not there"
  if [ -x "$prefix/bin/longterm" ]; then
    sessions=$("$prefix/bin/longterm" ls --json) || fail "it cannot be told whether sessions run: longterm doctor says why; nothing was removed"
    if printf %s "$sessions" | grep -q '"state": *"running"'; then
      fail "sessions are running; end them first: longterm daemon stop --kill-sessions"
    fi
    "$prefix/bin/longterm" daemon stop --kill-sessions >/dev/null || fail "the daemon does not end: longterm doctor says why; nothing was removed"
  elif [ -n "$purge" ]; then
    fail "$prefix/bin/longterm is not there, so it cannot be told whether sessions run: install it again, or remove their histories by hand"
  fi
  while IFS= read -r f; do
    rm -f "$prefix/$f"
  done <"$list"
  rm -f "$list"
  # Directories that are empty now are taken away too, from the innermost out.
  for d in share/longterm share/man/man1 share/man share/bash-completion/completions share/bash-completion \
    share/zsh/site-functions share/zsh share/fish/vendor_completions.d share/fish share/systemd/user share/systemd \
    share/doc/longterm share/doc share bin; do
    rmdir "$prefix/$d" 2>/dev/null || true
  done
  if [ -n "$purge" ]; then
    if [ -n "${LONGTERM_DIR:-}" ]; then
      rm -rf "$LONGTERM_DIR"
    else
      state=${XDG_STATE_HOME:-} config=${XDG_CONFIG_HOME:-}
      case $state in /*) ;; *) state=$HOME/.local/state ;; esac # relative ones count for nobody
      case $config in /*) ;; *) config=$HOME/.config ;; esac
      rm -rf "$state/longterm" "$config/longterm"
      [ -z "${XDG_RUNTIME_DIR:-}" ] || rm -rf "$XDG_RUNTIME_DIR/longterm"
      # Directories that nothing else uses, made when longterm came or first ran: those with something in them stay.
      rmdir "$state" "$config" "$prefix" 2>/dev/null || :
    fi
  fi
  echo "longterm is gone from $prefix"
  exit 0
fi

case $(uname -s) in
  Linux) os=linux ;;
  Darwin) os=darwin ;;
  *) fail "there is no executable for $(uname -s); with Go: go install github.com/longterm-dev/longterm/cmd/longterm@latest" ;;
esac
case $(uname -m) in
  x86_64 | amd64) arch=amd64 ;;
  aarch64 | arm64) arch=arm64 ;;
  *) fail "there is no executable for $(uname -m); with Go: go install github.com/longterm-dev/longterm/cmd/longterm@latest" ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

fetch() { # NAME: into $work
  case $from in
    http://* | https://*)
      if command -v curl >/dev/null; then curl -fsSL --retry 2 -o "$work/$1" "$from/$1"
      elif command -v wget >/dev/null; then wget -q -O "$work/$1" "$from/$1"
      else fail "neither curl nor wget is there to fetch $from/$1"; fi || fail "$from/$1 could not be fetched" ;;
    *) cp "$from/$1" "$work/$1" || fail "$from has no $1" ;;
  esac
}

if [ -z "$from" ]; then
  if [ -n "$version" ]; then from=$repository/releases/download/$version
  else from=$repository/releases/latest/download; fi
fi
fetch SHA256SUMS
name=$(sed -n "s/^[0-9a-f]\{64\}  \(longterm_.*_${os}_${arch}\.tar\.gz\)\$/\1/p" "$work/SHA256SUMS")
[ -n "$name" ] || fail "$from has no archive for $os/$arch"
fetch "$name"
want=$(sed -n "s/^\([0-9a-f]\{64\}\)  $name\$/\1/p" "$work/SHA256SUMS")
if command -v sha256sum >/dev/null; then got=$(sha256sum "$work/$name")
elif command -v shasum >/dev/null; then got=$(shasum -a 256 "$work/$name")
else fail "neither sha256sum nor shasum is there to check $name"; fi
[ "${got%% *}" = "$want" ] || fail "$name is not what SHA256SUMS says: ${got%% *} instead of $want; nothing was installed"
(cd "$work" && tar -xzf "$name") || fail "$name could not be unpacked"
top=$work/${name%.tar.gz}

mkdir -p "$prefix/share/longterm" || fail "$prefix cannot be written; choose another with --prefix"
: >"$work/list"
put() { # FROM TO MODE: replaced in one step, so that what runs goes on
  mkdir -p "$(dirname "$prefix/$2")"
  cp "$1" "$prefix/$2.new$$"
  chmod "$3" "$prefix/$2.new$$"
  mv -f "$prefix/$2.new$$" "$prefix/$2"
  echo "$2" >>"$work/list"
}
for f in "$top"/man/*.1.gz; do put "$f" "share/man/man1/$(basename "$f")" 644; done
put "$top/completions/longterm.bash" share/bash-completion/completions/longterm 644
put "$top/completions/_longterm" share/zsh/site-functions/_longterm 644
put "$top/completions/longterm.fish" share/fish/vendor_completions.d/longterm.fish 644
put "$top/LICENSE" share/doc/longterm/LICENSE 644
sed "s|=longterm |=$prefix/bin/longterm |" "$top/longterm.service" >"$work/longterm.service"
[ "$os" != linux ] || put "$work/longterm.service" share/systemd/user/longterm.service 644
# The list is there before the executable: what was begun can be taken away.
again=
if [ -f "$list" ]; then
  again=1
  cat "$list" >>"$work/list"
fi
printf 'bin/longterm\nbin/longterm-fleetd\n' >>"$work/list"
sort -u "$work/list" >"$list.new$$"
mv -f "$list.new$$" "$list"
put "$top/longterm-fleetd" bin/longterm-fleetd 755
put "$top/longterm" bin/longterm 755

echo "$("$prefix/bin/longterm" version) is in $prefix/bin"
case :$PATH: in
  *":$prefix/bin:"*) ;;
  *) echo "put it into your PATH: export PATH=\"$prefix/bin:\$PATH\"" ;;
esac
[ -z "$again" ] || echo "a daemon that runs is still the old one; its sessions go on while it is replaced: longterm daemon upgrade"
echo "take it away again: sh install.sh --uninstall$([ "$prefix" = "$HOME/.local" ] || echo " --prefix $prefix")"
