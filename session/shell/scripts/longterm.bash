# Shell integration for bash 3.2 and later: marks around commands, the directory and
# the environment at each prompt. Bash reads this file instead of the user's own, which
# is read from here and never touched. Everything is defined before, so that the user's
# aliases and traps do not get into it, and begins after.
#
# What is kept: $?, PIPESTATUS and $_, the user's PROMPT_COMMAND, PS0, PS1, PS2 and DEBUG
# trap. Marks go to /dev/tty, so that redirecting the shell's output does not hide them;
# they carry a nonce that is in no child's environment, so that output cannot forge them.

__longterm_nonce=${LONGTERM_NONCE-}
__longterm_state=${LONGTERM_STATE-}
__longterm_host=${LONGTERM_HOST-}
__longterm_rc=${LONGTERM_RC-}
__longterm_start=${LONGTERM_START-}
\builtin unset LONGTERM_NONCE LONGTERM_STATE LONGTERM_HOST LONGTERM_RC LONGTERM_START

__longterm_running= # set while a command runs
__longterm_seen=    # set once the first hook of this prompt has run
__longterm_n=0      # prompts so far
__longterm_last=0   # status of the last command
__longterm_hist=    # newest history entry at the prompt
__longterm_old=     # the user's scalar PROMPT_COMMAND, see __longterm_keep
__longterm_e=       # stays empty: a place to hang arithmetic in PS0

# These stand in prompts by reference: a prompt that is exported shows a nested shell
# an empty nonce.
__longterm_b='\[\e]133;B;lt=${__longterm_nonce-};exit=$?\a\]'
__longterm_2='\[\e]133;A;k=s;lt=${__longterm_nonce-}\a\]'
__longterm_c='${__longterm_e:$((__longterm_running=1,0)):0}$({ __longterm_preexec || :; } 2>/dev/null)'

__longterm_say() { builtin printf '\033]%s\007' "$1" >/dev/tty || :; }

# __longterm_encode sets REPLY to $1 with what must not stand in a mark as %XX.
__longterm_encode() {
  local LC_ALL=C s=$1 c i
  REPLY=$s
  case $s in *[!\ -~]*|*[%\;]*) ;; *) return 0 ;; esac
  s=${s//%/%25} s=${s//;/%3B} s=${s//$'\n'/%0A} s=${s//$'\t'/%09}
  REPLY=$s
  case $s in *[!\ -~]*) ;; *) return 0 ;; esac
  REPLY=
  for ((i = 0; i < ${#s}; i++)); do
    c=${s:i:1}
    case $c in
      [\ -~]) REPLY+=$c ;;
      *) builtin printf -v c %d "'$c"; builtin printf -v c %%%02X $((c & 255)); REPLY+=$c ;;
    esac
  done
}

# __longterm_entry sets REPLY to the newest history entry, number and all. A file, because
# a command substitution would fork.
__longterm_entry() {
  local IFS=
  REPLY=
  HISTTIMEFORMAT= builtin history 1 >|"$__longterm_state/history" || return 0
  builtin read -r -d '' REPLY <"$__longterm_state/history"
  REPLY=${REPLY%$'\n'}
}

# __longterm_preexec prints the mark that a command begins. It is expanded with PS0, in a
# subshell: nothing it does can be seen by the command. The text comes from the
# history; an entry that was there before may be a repetition that HISTCONTROL keeps
# out, or the text of another line: then it is a guess, and the mark says so.
__longterm_preexec() {
  local text guess=
  __longterm_entry
  text=$REPLY
  if [[ $text == "$__longterm_hist" ]]; then guess=';guess=1'; fi
  text=${text#"${text%%[![:space:]]*}"}
  text=${text#"${text%%[!0-9]*}"}
  text=${text#??}
  if [[ -z $text ]]; then
    builtin printf '\033]133;C;lt=%s\007' "$__longterm_nonce"
    return
  fi
  if ((${#text} > 16384)); then text=${text:0:16384} guess+=';cut=1'; fi
  __longterm_encode "$text"
  builtin printf '\033]133;C;lt=%s%s;cmdline_url=%s\007' "$__longterm_nonce" "$guess" "$REPLY"
}

# The hooks as they stand in PROMPT_COMMAND. What "set -x" would print of them is dropped,
# and "||" keeps "set -e" and an ERR trap out. A function does not see the DEBUG trap.
__longterm_pre_text='{ __longterm_pre || :; } 2>/dev/null'
__longterm_post_text='{ __longterm_post || :; \trap -p DEBUG >|"$__longterm_state/trap"; __longterm_shield || :; } 2>/dev/null'

# __longterm_pre runs before the user's PROMPT_COMMAND: the command's output ends here.
# Bash 5.1 gives each element of the array the command's status; before, it is handed
# on from here.
__longterm_pre() {
  __longterm_last=$?
  __longterm_seen=1
  if [[ -n $__longterm_running ]]; then
    __longterm_running=
    __longterm_say "133;D;$__longterm_last;lt=$__longterm_nonce"
  fi
  case $__longterm_array$- in 1*|*e*) return 0 ;; esac
  return $__longterm_last
}

# __longterm_post runs after the user's PROMPT_COMMAND, which may have set PS1 anew.
__longterm_post() {
  local status=$? IFS=$' \t\n' cwd REPLY b=
  if [[ -z $__longterm_seen ]]; then # PROMPT_COMMAND was replaced
    __longterm_last=$status
    if [[ -n $__longterm_running ]]; then
      __longterm_say "133;D;$status;lt=$__longterm_nonce"
    fi
  fi
  __longterm_seen= __longterm_running=
  __longterm_n=$((__longterm_n + 1))
  __longterm_keep
  __longterm_prompts
  __longterm_entry
  __longterm_hist=$REPLY
  __longterm_environ
  __longterm_encode "${PWD-}"
  cwd=$REPLY
  case ${PS1-} in *"$__longterm_b") b=';b=1' ;; esac
  __longterm_say "7;file://$__longterm_host${cwd// /%20}"
  __longterm_say "133;A;lt=$__longterm_nonce;n=$__longterm_n;exit=$__longterm_last;cwd=$cwd$b"
}

# __longterm_environ leaves the exported variables where the session finds them.
__longterm_environ() {
  if [[ -d $__longterm_state ]]; then
    {
      builtin printf 'longterm-env 1 sh %d\n' $__longterm_n
      builtin export -p
      builtin printf '# end %d\n' $__longterm_n
    } >|"$__longterm_state/environ"
  fi
}

# __longterm_prompts puts the marks into the prompts, wherever the user has left them. A
# read-only prompt is left alone: printf -v fails where an assignment would abort.
__longterm_prompts() {
  if ! builtin shopt -q promptvars; then # no marks then, rather than their source
    if [[ -n ${PS1-} ]]; then builtin printf -v PS1 %s "${PS1//"$__longterm_b"/}"; fi
    if [[ -n ${PS2-} ]]; then builtin printf -v PS2 %s "${PS2//"$__longterm_2"/}"; fi
    if [[ -n ${PS0-} ]]; then builtin printf -v PS0 %s "${PS0//"$__longterm_c"/}"; fi
    return 0
  fi
  case ${PS1=} in *"$__longterm_b") ;; *)
    builtin printf -v PS1 %s "${PS1//"$__longterm_b"/}$__longterm_b"
  esac
  case ${PS2-"$__longterm_2"} in "$__longterm_2"*) ;; *)
    builtin printf -v PS2 %s "$__longterm_2${PS2//"$__longterm_2"/}"
  esac
  if ((__longterm_ps0)); then
    case ${PS0-} in *"$__longterm_c") ;; *)
      local user=${PS0-}
      builtin printf -v PS0 %s "${user//"$__longterm_c"/}$__longterm_c"
    esac
  fi
}

# __longterm_keep puts the hooks around the user's PROMPT_COMMAND, again if need be.
#
# Since bash 5.1 it can be an array, of which "PROMPT_COMMAND=…" in a file that is
# sourced again replaces the first element only, so the last one survives. The first
# is ours and the user's follow; should the first be replaced, what it had been before
# goes too. "case" leaves $? and PIPESTATUS as they are.
__longterm_keep() {
  local first=${PROMPT_COMMAND-} pre=$__longterm_pre_text post=$__longterm_post_text
  if ((!__longterm_array)); then
    case $first in "$pre"$'\n'*$'\n'"$post") return 0 ;; esac
    first=${first//"$pre"/} first=${first//"$post"/}
    while [[ $first == [$'\n;']* ]]; do first=${first#?}; done
    while [[ $first == *[$'\n;'] ]]; do first=${first%?}; done
    PROMPT_COMMAND=$pre$'\n'$first$'\n'$post
    return 0
  fi
  local -a rest=()
  if [[ -n ${PROMPT_COMMAND[*]+set} ]] && ((${#PROMPT_COMMAND[@]} > 1)); then rest=("${PROMPT_COMMAND[@]:1}"); fi
  local n=${#rest[@]}
  if [[ $first == "$pre" ]] && ((n)) && [[ ${rest[n-1]} == "$post" ]]; then return 0; fi
  if [[ $first == *"$pre"* ]]; then # composed with what was there
    first=${first//"$pre"/}
  elif ((n)) && [[ -n $__longterm_old && ${rest[0]} == "$__longterm_old" ]]; then
    rest=("${rest[@]:1}")
  fi
  __longterm_old=
  local -a all=("$pre")
  if [[ -n $first ]]; then # not to be run once the first element is another's
    __longterm_old=$'case $__longterm_seen in 1)\n'$first$'\n;; esac'
    all+=("$__longterm_old")
  fi
  for first in ${rest[@]+"${rest[@]}"}; do
    if [[ $first != "$post" && $first != "$pre" ]]; then all+=("$first"); fi
  done
  PROMPT_COMMAND=("${all[@]}" "$post")
}

# __longterm_shield keeps the user's DEBUG trap from running for the hooks: what it
# prints for each command it would print for them too. "case" changes neither $? nor
# what the trap sees. Before bash 4.4 the trap has to stand in for PS0 as well.
__longterm_shield() {
  local IFS= trap user=
  local -a words
  builtin read -r -d '' trap <"$__longterm_state/trap"
  case $trap in *__longterm_*) return 0 ;; esac
  if [[ -n $trap ]]; then
    builtin eval "words=($trap)"
    user=${words[2]}
    if [[ $user == - ]]; then user=; fi # POSIX mode shows the default so
  fi
  if ((!__longterm_ps0)); then user="__longterm_debug${user:+$'\n'}$user"; fi
  if [[ -z $user ]]; then return 0; fi
  builtin trap -- "case \$BASH_COMMAND in (*__longterm_*) ;; (*) $user"$'\n'";; esac" DEBUG
}

# __longterm_debug sees every simple command at top level; the first after a prompt
# begins the line.
__longterm_debug() {
  if [[ -z $__longterm_armed || -n ${COMP_LINE-} || -n ${READLINE_LINE+set} ]]; then return 0; fi
  __longterm_armed= __longterm_running=1
  { __longterm_preexec >/dev/tty; } 2>/dev/null
}

__longterm_ps0=0 __longterm_array=0 __longterm_armed=
if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404)); then
  __longterm_ps0=1
else
  __longterm_b+='${__longterm_e:$((__longterm_armed=1,0)):0}'
fi
if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 501)); then
  __longterm_array=1
else
  __longterm_pre_text='{ __longterm_pre; } 2>/dev/null'
fi

__longterm_begin() {
  builtin export -n __longterm_nonce __longterm_state __longterm_host
  builtin unset __longterm_rc __longterm_start
  if [[ -z $__longterm_nonce ]]; then return 0; fi
  if (PROMPT_COMMAND=) 2>/dev/null; then __longterm_keep; fi
  __longterm_prompts
  __longterm_shield
}

# A login shell was started in POSIX mode, in which bash reads nothing but $ENV: that
# leaves "shopt login_shell" on and the startup files to us. The order is bash's own.
case ,$__longterm_start, in *,posix,*)
  case ,$__longterm_start, in *,keep-posix,*) ;; *)
    \builtin set +o posix
    \builtin shopt -u inherit_errexit 2>/dev/null
  esac
  case ,$__longterm_start, in *,histfile,*) HISTFILE=$HOME/.bash_history ;; esac
  \builtin unset ENV
  if [[ -n ${LONGTERM_ENV+set} ]]; then
    \builtin export ENV="$LONGTERM_ENV"
    \builtin unset LONGTERM_ENV
  fi
esac
case ,$__longterm_start, in *,login,*)
  if [[ -r /etc/profile ]]; then \builtin . /etc/profile; fi
  if [[ ,$__longterm_start, == *,keep-posix,* ]]; then
    if [[ -r $HOME/.profile ]]; then \builtin . "$HOME/.profile"; fi
  elif [[ -r $HOME/.bash_profile ]]; then \builtin . "$HOME/.bash_profile"
  elif [[ -r $HOME/.bash_login ]]; then \builtin . "$HOME/.bash_login"
  elif [[ -r $HOME/.profile ]]; then \builtin . "$HOME/.profile"
  fi
esac
case ,$__longterm_start, in *,env,*)
  if [[ -n ${ENV-} && -r $ENV ]]; then \builtin . "$ENV"; fi
esac
if [[ -n $__longterm_rc && -r $__longterm_rc ]]; then
  \builtin . "$__longterm_rc"
fi

# All that is left to do is one command and a subshell, which runs no DEBUG trap: of a
# trap that prints, the user sees one line more than without us.
(\builtin trap -p DEBUG >|"$__longterm_state/trap") 2>/dev/null
{ __longterm_begin || \builtin :; } 2>/dev/null
