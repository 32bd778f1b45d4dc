# Shell integration for ksh93, mksh and plain sh (dash, ash, bash as sh): a mark, the
# directory and the environment at each prompt. These shells have nothing that runs
# before a command, so there is no mark for its beginning. Each mark has a place (m=):
# output that is shown again is worthless.
#
# The shell reads this file as $ENV; the user's own is put back and read first.

__longterm_nonce=
__longterm_state=$LONGTERM_STATE
__longterm_host=$LONGTERM_HOST
unset LONGTERM_STATE LONGTERM_HOST ENV
if [ -r "$__longterm_state/nonce" ]; then # once: it is gone after
  read -r __longterm_nonce <"$__longterm_state/nonce"
  : >|"$__longterm_state/nonce"
fi
if [ -n "${LONGTERM_ENV+set}" ]; then
  export ENV="$LONGTERM_ENV"
  unset LONGTERM_ENV
fi
__longterm_rc=
if [ -n "${ENV-}" ]; then
  case ${KSH_VERSION-} in
    *MIRBSD*|*LEGACY*) __longterm_rc=$ENV ;;
    *) eval "__longterm_rc=\"$ENV\"" ;; # ENV is subject to parameter expansion
  esac
elif [ -n "${KSH_VERSION-}" ]; then
  case $KSH_VERSION in
    *MIRBSD*|*LEGACY*) __longterm_rc=$HOME/.mkshrc ;;
    *) __longterm_rc=$HOME/.kshrc ;;
  esac
fi
if [ -n "$__longterm_rc" ] && [ -r "$__longterm_rc" ]; then
  . "$__longterm_rc"
fi
unset __longterm_rc

__longterm_n=0  # prompts so far
__longterm_e=   # stays empty: a place to hang arithmetic in PS1
__longterm_p2=  # the mark in PS2, where that is not expanded

# __longterm_encode prints $1 with what must not stand in a mark as %XX.
__longterm_encode() {
  case $1 in
    *[!A-Za-z0-9_./~+,:@-]*)
      command printf %s "$1" | LC_ALL=C command od -An -v -tx1 | LC_ALL=C command tr -d '\n' |
        LC_ALL=C command sed 's/ /%/g;s,%2f,/,g' ;;
    *) command printf %s "$1" ;;
  esac
}

# __longterm_environ writes nothing where a small limit on the size of files would end the
# shell for it: in ksh93 a subshell is no process.
__longterm_environ() {
  case $(ulimit -f) in [0-9] | [0-9][0-9] | [0-9][0-9][0-9]) return 0 ;; esac
  if [ -d "$__longterm_state" ]; then
    {
      command printf 'longterm-env 1 sh %d\n' "$__longterm_n"
      command export -p
      command printf '# end %d\n' "$__longterm_n"
    } >|"$__longterm_state/environ"
  fi
}

# __longterm_prompt runs in a subshell while PS1 is expanded: the shell itself keeps its
# status and variables. The place of the mark is twice the prompt's number; the one between
# belongs to PS2.
__longterm_prompt() {
  set +e
  unset IFS
  (__longterm_environ)
  __longterm_cwd=$(__longterm_encode "$PWD")
  command printf '\033]7;file://%s%s\007' "$__longterm_host" "$__longterm_cwd" >/dev/tty
  command printf '\033]133;A;lt=%s;m=%d;n=%d;exit=%d;cwd=%s\007' \
    "${__longterm_nonce-}" "$((2 * __longterm_n))" "$__longterm_n" "$1" "$__longterm_cwd" >/dev/tty
  return "$1"
}

# __longterm_ps2 puts the mark's place into PS2.
__longterm_ps2() {
  PS2=${PS2#"$__longterm_p2"}
  __longterm_p2=$__longterm_2$((2 * __longterm_n + 1))$__longterm_bel
  PS2=$__longterm_p2$PS2
  return "$1"
}

if [ -n "$__longterm_nonce" ]; then
  # What "set -x" would print is dropped.
  __longterm_mark='${__longterm_e#$((__longterm_n=__longterm_n+1))}$({ __longterm_prompt "$?"; } 2>/dev/null)'
  __longterm_2=$(command printf '\033]133;A;k=s;lt=%s;m=' "$__longterm_nonce")
  __longterm_bel=$(command printf '\007')
  case ${KSH_VERSION-} in
    '') PS2=$__longterm_2'$((2*__longterm_n+1))'$__longterm_bel${PS2-> } ;;
    *) # PS2 is not expanded here, but there are substitutions without a subshell.
      PS2=${PS2-> }
      __longterm_mark=$__longterm_mark'${ { __longterm_ps2 "$?"; } 2>/dev/null;}' ;;
  esac
  case ${PS1-} in
    ?"$(command printf '\r')"*)
      # mksh: the first character, followed by CR, brackets what does not print.
      __longterm_ps1=${PS1#??}
      PS1=${PS1%"$__longterm_ps1"}$__longterm_mark$__longterm_ps1
      unset __longterm_ps1 ;;
    *)
      if [ -z "${PS1+set}" ]; then # ksh93 sets its own only later
        PS1='$ '
        if [ "$(command id -u)" = 0 ]; then PS1='# '; fi
      fi
      PS1=$__longterm_mark$PS1 ;;
  esac
  case ${KSH_VERSION-} in
    ''|*MIRBSD*|*LEGACY*) unset __longterm_mark ;;
    *) # ksh93: a prompt that is set anew has the mark.
      eval 'PS1.set() {
        case ${.sh.value} in
          *"$__longterm_mark"*) ;;
          *) .sh.value=$__longterm_mark${.sh.value} ;;
        esac
      }' ;;
  esac
fi
