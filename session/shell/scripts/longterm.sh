# Shell integration for ksh93, mksh and plain sh (dash, ash, bash as sh): a mark, the
# directory and the environment at each prompt. These shells have nothing that runs
# before a command, so there is no mark for its beginning.
#
# The shell reads this file as $ENV; the user's own is put back and read first.

__longterm_nonce=$LONGTERM_NONCE
__longterm_state=$LONGTERM_STATE
__longterm_host=$LONGTERM_HOST
unset LONGTERM_NONCE LONGTERM_STATE LONGTERM_HOST ENV
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

__longterm_n=0 # prompts so far
__longterm_e=  # stays empty: a place to hang arithmetic in PS1

# __longterm_encode prints $1 with what must not stand in a mark as %XX.
__longterm_encode() {
  case $1 in
    *[!A-Za-z0-9_./~+,:@-]*)
      command printf %s "$1" | LC_ALL=C command od -An -v -tx1 | LC_ALL=C command tr -d '\n' |
        LC_ALL=C command sed 's/ /%/g' ;;
    *) command printf %s "$1" ;;
  esac
}

# __longterm_prompt runs in a subshell while PS1 is expanded: the shell itself keeps its
# status and variables.
__longterm_prompt() {
  if [ -d "$__longterm_state" ]; then
    {
      command printf 'longterm-env 1 sh %d\n' "$__longterm_n"
      command export -p
      command printf '# end %d\n' "$__longterm_n"
    } >|"$__longterm_state/environ"
  fi
  __longterm_cwd=$(__longterm_encode "$PWD")
  command printf '\033]7;file://%s%s\007' "$__longterm_host" "$__longterm_cwd" >/dev/tty
  command printf '\033]133;A;lt=%s;n=%d;exit=%d;cwd=%s\007' \
    "${__longterm_nonce-}" "$__longterm_n" "$1" "$__longterm_cwd" >/dev/tty
  return "$1"
}

if [ -n "$__longterm_nonce" ]; then
  __longterm_mark='${__longterm_e#$((__longterm_n=__longterm_n+1))}$(__longterm_prompt $? 2>/dev/null)'
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
  # The prompt for the rest of a line is expanded by some of these shells and by others
  # not: the mark is there as it is.
  PS2=$(command printf '\033]133;A;k=s;lt=%s\007' "$__longterm_nonce")${PS2-> }
  unset __longterm_mark
fi
