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
__longterm_h=   # ksh93: number of the next history entry at the newest prompt
__longterm_s=   # ksh93: the status while the prompt is expanded
__longterm_f=   # ksh93: number of the prompt whose line is not to be recorded
__longterm_esc=$(command -p printf '\033') __longterm_bel=$(command -p printf '\007') __longterm_cr=$(command -p printf '\r')

# __longterm_out is the command that prints its argument. In mksh printf is a program, which PATH need not have. No
# function: ksh93 interrupts every prompt after Ctrl-C again if a function that is called there has a redirection.
case ${KSH_VERSION-} in
  *MIRBSD*|*LEGACY*) __longterm_out='command print -rn --' ;;
  *) __longterm_out='command printf %s' ;;
esac

# __longterm_encode prints $1 with what must not stand in a mark as %XX.
__longterm_encode() {
  case $1 in
    *[!A-Za-z0-9_./~+,:@-]*)
      $__longterm_out "$1" | LC_ALL=C command -p od -An -v -tx1 | LC_ALL=C command -p tr -d '\n' |
        LC_ALL=C command -p sed 's/ /%/g;s,%2f,/,g' ;;
    *) $__longterm_out "$1" ;;
  esac
}

# __longterm_environ writes nothing where a small limit on the size of files would end the
# shell for it: in ksh93 a subshell is no process.
__longterm_environ() {
  case $(ulimit -f) in [0-9] | [0-9][0-9] | [0-9][0-9][0-9]) return 0 ;; esac
  if [ -d "$__longterm_state" ]; then
    {
      $__longterm_out "longterm-env 1 sh $__longterm_n
"
      command export -p
      $__longterm_out "# end $__longterm_n
"
    } >|"$__longterm_state/environ"
  fi
}

# __longterm_prompt runs in a subshell while PS1 is expanded: the shell itself keeps its
# status and variables. The place of the mark is twice the prompt's number; the one between
# belongs to PS2.
__longterm_prompt() {
  set +e
  command unset IFS # where it is read-only, a plain unset would end the subshell
  (__longterm_environ)
  __longterm_cwd=$(__longterm_encode "$PWD")
  case $__longterm_cwd in '') : >|"$__longterm_state/shadowed" ;; esac # a function shadows a builtin
  __longterm_exit=$1
  if [ "$1" -gt 256 ]; then __longterm_exit=$(($1 - 128)); fi # ksh93: 256 and a signal's number, elsewhere 128 and that number
  $__longterm_out "$__longterm_esc]7;file://$__longterm_host$__longterm_cwd$__longterm_bel" >/dev/tty
  $__longterm_out "$__longterm_esc]133;A;lt=${__longterm_nonce-};m=$((2 * __longterm_n));n=$__longterm_n;exit=$__longterm_exit;cwd=$__longterm_cwd$__longterm_bel" >/dev/tty
  return "$1"
}

# __longterm_ps2 puts the mark's place into PS2, without a trace of it. In mksh "set -x" remembers where stderr goes
# then, so stderr is not redirected around it.
__longterm_ps2() {
  case $- in
    *x*)
      set +x
      __longterm_ps2 "$1"
      set -x
      return "$1" ;;
  esac
  PS2=${PS2#"$__longterm_p2"}
  __longterm_p2=$__longterm_2$((2 * __longterm_n + 1))$__longterm_bel
  PS2=$__longterm_p2$PS2
  return "$1"
}

# The user's functions may have taken away what the prompt calls.
case $(\command printf %s ok 2>&1) in
  ok) ;;
  *)
    __longterm_nonce=
    : >|"$__longterm_state/shadowed" ;;
esac

if [ -n "$__longterm_nonce" ]; then
  # What "set -x" would print is dropped: it would show the nonce. In mksh a redirection does not drop it.
  case ${KSH_VERSION-} in
    *MIRBSD*|*LEGACY*)
      __longterm_mark='$(\set +x -- "$?"; { __longterm_prompt "$1"; } 2>/dev/null)${ __longterm_ps2 "$?";}' ;;
    '') __longterm_mark='$({ __longterm_prompt "$?"; } 2>/dev/null)' ;;
    *) # ksh93 shows redirections too, but nothing of a discipline's function. The session names the prompt whose line
      # is not to be recorded: "hist" removes the newest entry, and edits nothing with a program that cannot be run.
      eval 'function __longterm_p.get {
        __longterm_s=$?
        if [[ -s $__longterm_state/forget ]]; then # before the mark, after which the session writes the next one
          {
            \command read -r __longterm_f <"$__longterm_state/forget" || :
            : >|"$__longterm_state/forget"
            if [[ $__longterm_f == $((__longterm_n - 1)) && $HISTCMD != "$__longterm_h" ]]; then \command hist -e / || :; fi
          } 2>/dev/null
        fi
        __longterm_h=${HISTCMD-}
        .sh.value=$({ __longterm_prompt "$__longterm_s"; } 2>/dev/null)
        { __longterm_ps2 "$__longterm_s"; } 2>/dev/null
      }'
      __longterm_p=
      __longterm_mark='${__longterm_p}' ;;
  esac
  __longterm_mark='${__longterm_e#$((__longterm_n=__longterm_n+1))}'$__longterm_mark
  __longterm_2="$__longterm_esc]133;A;k=s;lt=$__longterm_nonce;m="
  case ${KSH_VERSION-} in
    '') PS2=$__longterm_2'$((2*__longterm_n+1))'$__longterm_bel${PS2-> } ;;
    *) PS2=${PS2-> } ;; # not expanded: __longterm_ps2 sets it in a substitution without a subshell
  esac
  case ${PS1-} in
    ?"$__longterm_cr"*)
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
    ''|*MIRBSD*|*LEGACY*) ;;
    *) # ksh93: a prompt that is set anew has the mark.
      eval 'PS1.set() {
        case ${.sh.value} in
          *"$__longterm_mark"*) ;;
          *) .sh.value=$__longterm_mark${.sh.value} ;;
        esac
      }' ;;
  esac
fi
