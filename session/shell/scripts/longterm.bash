# Shell integration for bash 3.2 and later: marks around commands, the directory and
# the environment at each prompt. Bash reads this file instead of the user's own, which
# is read from here and never touched. Everything is defined before, so that the user's
# aliases and traps do not get into it, and begins after.
#
# What is kept: $?, PIPESTATUS and $_, the user's PROMPT_COMMAND, PS0, PS1, PS2 and DEBUG
# trap. Marks go to /dev/tty, so that redirecting the shell's output does not hide them;
# they carry a nonce that is in nobody's environment, so that output cannot forge them, and
# a place (m=), so that output shown again is worthless.
#
# Local variables have names that no read-only variable has. What is written is written by a
# subshell: a limit on the size of files ends that one.

__longterm_nonce=
__longterm_state=${LONGTERM_STATE-}
__longterm_host=${LONGTERM_HOST-}
__longterm_rc=${LONGTERM_RC-}
__longterm_start=${LONGTERM_START-}
\builtin unset LONGTERM_STATE LONGTERM_HOST LONGTERM_RC LONGTERM_START
if [[ -r $__longterm_state/nonce ]]; then # once: it is gone after
  \builtin read -r __longterm_nonce <"$__longterm_state/nonce"
  \builtin : >|"$__longterm_state/nonce"
fi

__longterm_running=0 # 1 while a command runs
__longterm_ok=('')  # has no element 1: see __longterm_a
__longterm_m=0      # marks so far
__longterm_seen=    # set once the first hook of this prompt has run
__longterm_n=0      # prompts so far
__longterm_last=0   # status of the last command
__longterm_hist=    # newest history entry at the prompt
__longterm_old=     # the user's scalar PROMPT_COMMAND, see __longterm_keep
__longterm_e=       # stays empty: a place to hang arithmetic in PS0
__longterm_s='\'    # a backslash that escapes nothing
__longterm_rescue=0 # the function of that name, as arithmetic has it
__longterm_told=0   # 1 when a hook has told of this prompt
__longterm_sees=    # set by the builtins that the hooks need, if they can be called
__longterm_kids=0   # children of the hooks that may still run the user's CHLD trap
__longterm_gave=    # set while a line runs that a program gave
__longterm_keys=    # set when the editor knows the keys of such lines

# These stand in prompts by reference, and only where there is a nonce: a prompt that is
# exported (a virtual environment's is) shows nothing of them in a nested shell, be it one
# that knows no "\[". Should a command have run whose end no hook has told, the prompt tells
# it by itself, and has the hooks put back at the next one. It tells it by its text: of
# several lines that were pasted, bash expands a prompt between them, and does not show it.
# _a stands before the user's PS1, _b behind it, _2 before PS2, _c behind PS0.
__longterm_a='${__longterm_nonce:+\[${__longterm_ok[__longterm_running]-${__longterm_e:$((__longterm_m+=2,__longterm_n+=1,__longterm_running=0*${PROMPT_COMMAND[4747]:=__longterm_rescue})):0}$(__longterm_late "$?")}\]}'
__longterm_b='${__longterm_nonce:+\[\e]133;B;lt=$__longterm_nonce;m=$((__longterm_m=__longterm_m+1));exit=$?\a\]}'
__longterm_2='${__longterm_nonce:+\[\e]133;A;k=s;lt=$__longterm_nonce;m=$((__longterm_m=__longterm_m+1))\a\]}'
__longterm_c='${__longterm_e:$((__longterm_told=0,__longterm_running=1,__longterm_kids=1,__longterm_m=${__longterm_m-0}+1,0)):0}$({ __longterm_preexec || :; } 2>/dev/null)'

__longterm_say() { builtin printf '\033]%s\007' "$1" >/dev/tty || :; }

# __longterm_mark says a mark's name and fields, and ours.
__longterm_mark() {
  __longterm_m=$((__longterm_m + 1))
  __longterm_say "133;$1;lt=$__longterm_nonce;m=$__longterm_m"
}

# __longterm_encode sets _lt_reply to $1 with what must not stand in a mark as %XX.
__longterm_encode() {
  builtin local LC_ALL=C _lt_s="$1" _lt_c _lt_i
  _lt_reply=$_lt_s
  case $_lt_s in *[!\ -~]*|*[%\;]*) ;; *) return 0 ;; esac
  _lt_s=${_lt_s//%/%25} _lt_s=${_lt_s//;/%3B} _lt_s=${_lt_s//$'\n'/%0A} _lt_s=${_lt_s//$'\t'/%09}
  _lt_reply=$_lt_s
  case $_lt_s in *[!\ -~]*) ;; *) return 0 ;; esac
  _lt_reply=
  for ((_lt_i = 0; _lt_i < ${#_lt_s}; _lt_i++)); do
    _lt_c=${_lt_s:_lt_i:1}
    case $_lt_c in
      [\ -~]) _lt_reply+=$_lt_c ;;
      *) builtin printf -v _lt_c %d "'$_lt_c"; builtin printf -v _lt_c %%%02X $((_lt_c & 255)); _lt_reply+=$_lt_c ;;
    esac
  done
}

# __longterm_leave leaves what the hooks and the session read, in a subshell.
__longterm_leave() {
  builtin trap '' XFSZ
  HISTTIMEFORMAT= builtin history 1 >|"$__longterm_state/history"
  __longterm_environ "$((__longterm_n + 1))"
}

# __longterm_entry sets _lt_reply to the newest history entry, number and all.
__longterm_entry() { _lt_reply=$(HISTTIMEFORMAT= builtin history 1); }

# __longterm_preexec prints the mark that a command begins. It is expanded with PS0, in a
# subshell: nothing it does can be seen by the command. The mark of a statement that a
# program submitted carries g=1 and no text: the session has the text, the history has not.
# The text of other lines comes from the history. An entry that was there before may be a
# repetition that HISTCONTROL keeps out, or another line: the mark carries guess=1 then.
__longterm_preexec() {
  builtin local _lt_text _lt_more=
  if [[ -n $__longterm_gave ]]; then
    _lt_more=';g=1'
  else
    __longterm_entry
    _lt_text=$_lt_reply
    if [[ $_lt_text == "$__longterm_hist" ]]; then _lt_more=';guess=1'; fi
    _lt_text=${_lt_text#"${_lt_text%%[![:space:]]*}"}
    _lt_text=${_lt_text#"${_lt_text%%[!0-9]*}"}
    _lt_text=${_lt_text#??}
    if [[ -n $_lt_text ]]; then
      if ((${#_lt_text} > 16384)); then _lt_text=${_lt_text:0:16384} _lt_more+=';cut=1'; fi
      __longterm_encode "$_lt_text"
      _lt_more+=";cmdline_url=$_lt_reply"
    fi
  fi
  if [[ -n $__longterm_tty ]]; then exec >/dev/tty; fi
  builtin printf '\033]133;C;lt=%s;m=%d%s\007' "$__longterm_nonce" "$__longterm_m" "$_lt_more"
}

# The hooks as they stand in PROMPT_COMMAND. What "set -x" would print of them is dropped,
# and "||" keeps "set -e" and an ERR trap out. A function does not see the DEBUG trap.
__longterm_pre_text='{ __longterm_pre || :; } 2>/dev/null'
__longterm_post_text='{ __longterm_status=$? __longterm_kids=1; (\trap -p DEBUG CHLD >|"$__longterm_state/trap"; __longterm_leave) || :; __longterm_post || :; __longterm_shield || :; __longterm_check || :; } 9>&2 2>/dev/null'

# __longterm_check leaves a file where the user has taken away the builtins that the hooks call: no mark will come.
__longterm_check() {
  __longterm_sees=
  builtin printf -v __longterm_sees %s 1 || :
  if [[ -z $__longterm_sees ]]; then >|"$__longterm_state/shadowed"; fi
}

# __longterm_renew takes over the variables that were left for this shell: it is told once.
__longterm_renew() {
  builtin local _lt_text
  if [[ ! -s $__longterm_state/renew.sh ]]; then return 0; fi
  IFS= builtin read -r -d '' _lt_text <"$__longterm_state/renew.sh"
  builtin : >|"$__longterm_state/renew.sh"
  builtin eval "$_lt_text"
}

# __longterm_pre runs before the user's PROMPT_COMMAND: the command's output ends here.
# Bash 5.1 gives each element of the array the command's status; before, it is handed
# on from here.
__longterm_pre() {
  __longterm_last=${1-$?}
  __longterm_seen=1
  if ((__longterm_running)); then
    __longterm_running=0
    __longterm_mark "D;$__longterm_last"
  fi
  if [[ -n $__longterm_gave ]]; then __longterm_taken; fi
  __longterm_renew || :
  case $__longterm_array$- in 1*|*e*) return 0 ;; esac
  return "$__longterm_last"
}

# __longterm_post runs after the user's PROMPT_COMMAND, which may have set PS1 anew. Only the
# hooks open 9: a line that calls it by name is at no prompt.
__longterm_post() {
  builtin printf '' >&9 || return 0
  builtin local _lt_status="$__longterm_status" IFS=$' \t\n' _lt_reply
  if [[ -z $__longterm_seen ]]; then # PROMPT_COMMAND was replaced
    __longterm_last=$_lt_status
    if ((__longterm_running)); then __longterm_mark "D;$_lt_status"; fi
    if [[ -n $__longterm_gave ]]; then __longterm_taken; fi
  fi
  __longterm_seen= __longterm_running=0 __longterm_told=1
  __longterm_n=$((__longterm_n + 1))
  __longterm_keep
  __longterm_prompts
  IFS= builtin read -r -d '' __longterm_hist <"$__longterm_state/history"
  __longterm_hist=${__longterm_hist%$'\n'}
  __longterm_tell
}

# __longterm_rescue is in the place of the hooks when they were taken away.
__longterm_rescue() {
  builtin local _lt_status=$?
  if ((__longterm_told)); then return 0; fi
  { __longterm_pre "$_lt_status" || :; __longterm_status=$__longterm_last; (__longterm_leave) || :; __longterm_post || :; } 9>&2 2>/dev/null
}

# __longterm_late prints the prompt's mark in place of the hooks: in a subshell, while PS1 is
# expanded. Its place was taken before. It carries late=1: a line that expands PS1 itself
# prints it too.
__longterm_late() {
  {
    __longterm_say() { builtin printf '\033]%s\007' "$1"; }
    builtin local IFS=$' \t\n' _lt_reply
    __longterm_last=$1 __longterm_m=$((__longterm_m - 1))
    (builtin trap '' XFSZ; __longterm_environ "$__longterm_n")
    __longterm_tell ';late=1'
  } 9>&2 2>/dev/null
  return "$1"
}

# __longterm_tell tells the directory and that the prompt begins. Its end is told where the
# user has left the terminal to it: it is printed to standard error. $1 are further fields.
__longterm_tell() {
  builtin local _lt_cwd _lt_more="${1-}"
  __longterm_encode "${PWD-}"
  _lt_cwd=$_lt_reply
  __longterm_tty=1
  if [[ -t 9 ]]; then __longterm_tty=; fi
  case ${PS1-} in *"$__longterm_b") if [[ -z $__longterm_tty ]]; then _lt_more+=';b=1'; fi ;; esac
  case $__longterm_keys:${SHELLOPTS-}: in 1*:emacs:*|1*:vi:*) _lt_more+=';g=1' ;; esac
  __longterm_say "7;file://$__longterm_host${_lt_cwd// /%20}"
  __longterm_mark "A;n=$__longterm_n;exit=$__longterm_last;cwd=$_lt_cwd$_lt_more"
}

# __longterm_environ leaves the exported variables where the session finds them, as of
# prompt $1.
__longterm_environ() {
  if [[ -d $__longterm_state ]]; then
    {
      builtin printf 'longterm-env 1 sh %d\n' "$1"
      builtin export -p
      builtin printf '# end %d\n' "$1"
    } >|"$__longterm_state/environ"
  fi
}

# __longterm_given comes before a line that a program gives: history expansion is for what
# people type, and so is the history, unless asked for. HISTIGNORE, because "set -o
# history" may read the history's file again, and truncate it.
__longterm_given() {
  __longterm_before || :
  if [[ -z $__longterm_gave ]]; then
    __longterm_gave=1
    case $- in *H*) __longterm_gave+=H; builtin set +H ;; esac
  fi
  if [[ -n ${1-} && $__longterm_gave != *I* ]]; then
    __longterm_gave+=I${HISTIGNORE+S}
    __longterm_ignore=${HISTIGNORE-}
    builtin printf -v HISTIGNORE %s '*'
  fi
}

# __longterm_before prints what the session left for this prompt: the text before it on its row,
# output without a newline at its end. The editor has cleared all of the row.
__longterm_before() {
  builtin local _lt_text=
  case ${TERM-} in dumb) return 0 ;; esac # nothing was cleared
  if [[ ! -s $__longterm_state/before ]]; then return 0; fi
  IFS= builtin read -r -d '' _lt_text <"$__longterm_state/before" || :
  case $_lt_text in "$__longterm_n "*) builtin printf %s "${_lt_text#* }" >/dev/tty ;; esac
}

# __longterm_taken puts back what __longterm_given changed.
__longterm_taken() {
  case $__longterm_gave in *H*) builtin set -H ;; esac
  if [[ ${HISTIGNORE-} == '*' ]]; then
    case $__longterm_gave in
      *IS) HISTIGNORE=$__longterm_ignore ;;
      *I) builtin unset HISTIGNORE ;;
    esac
  fi
  __longterm_gave=
}

__longterm_bind() {
  builtin local _lt_map
  for _lt_map in emacs vi-insert vi-command; do
    builtin bind -m $_lt_map -x '"\e[20747~": { __longterm_given; } 2>/dev/null' &&
      builtin bind -m $_lt_map -x '"\e[20748~": { __longterm_given 1; } 2>/dev/null' || return 0
  done
  __longterm_keys=1
}

# __longterm_prompts puts the marks into the prompts, wherever the user has left them. A
# read-only prompt is left alone: printf -v fails where an assignment would abort.
__longterm_prompts() {
  builtin local _lt_user1="${PS1-}"
  _lt_user1=${_lt_user1//"$__longterm_a"/}
  _lt_user1=${_lt_user1//"$__longterm_b"/}
  if ! builtin shopt -q promptvars; then # no marks then, rather than their source
    if [[ -n ${PS1-} ]]; then builtin printf -v PS1 %s "$_lt_user1"; fi
    if [[ -n ${PS2-} ]]; then builtin printf -v PS2 %s "${PS2//"$__longterm_2"/}"; fi
    if [[ -n ${PS0-} ]]; then builtin printf -v PS0 %s "${PS0//"$__longterm_c"/}"; fi
    return 0
  fi
  case ${PS1=} in "$__longterm_a$_lt_user1$__longterm_b") ;; *)
    builtin printf -v PS1 %s "$__longterm_a$_lt_user1$__longterm_b"
  esac
  case ${PS2-"$__longterm_2"} in "$__longterm_2"*) ;; *)
    builtin printf -v PS2 %s "$__longterm_2${PS2//"$__longterm_2"/}"
  esac
  if ((__longterm_ps0)); then
    case ${PS0-} in *"$__longterm_c"|"$__longterm_c"*[\\$]) ;; *)
      builtin local _lt_user="${PS0-}"
      _lt_user=${_lt_user//"$__longterm_c"/}
      case $_lt_user in # what it ends in must not become one with ours
        *\\\\) builtin printf -v PS0 %s "${_lt_user%??}\${__longterm_s-}$__longterm_c" ;;
        *[\\$]) builtin printf -v PS0 %s "$__longterm_c$_lt_user" ;;
        *) builtin printf -v PS0 %s "$_lt_user$__longterm_c" ;;
      esac
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
  builtin local _lt_first="${PROMPT_COMMAND-}" _lt_pre="$__longterm_pre_text" _lt_post="$__longterm_post_text"
  if ((!__longterm_array)); then
    case $_lt_first in "$_lt_pre"$'\n'*$'\n'"$_lt_post") return 0 ;; esac
    _lt_first=${_lt_first//"$_lt_pre"/} _lt_first=${_lt_first//"$_lt_post"/}
    while [[ $_lt_first == [$'\n;']* ]]; do _lt_first=${_lt_first#?}; done
    while [[ $_lt_first == *[$'\n;'] ]]; do _lt_first=${_lt_first%?}; done
    PROMPT_COMMAND=$_lt_pre$'\n'$_lt_first$'\n'$_lt_post
    return 0
  fi
  builtin local -a _lt_rest
  _lt_rest=()
  if [[ -n ${PROMPT_COMMAND[*]+set} ]] && ((${#PROMPT_COMMAND[@]} > 1)); then _lt_rest=("${PROMPT_COMMAND[@]:1}"); fi
  builtin local _lt_n=${#_lt_rest[@]}
  if [[ $_lt_first == "$_lt_pre" ]] && ((_lt_n)) && [[ ${_lt_rest[_lt_n-1]} == "$_lt_post" ]]; then return 0; fi
  if [[ $_lt_first == *"$_lt_pre"* ]]; then # composed with what was there
    _lt_first=${_lt_first//"$_lt_pre"/}
  elif ((_lt_n)) && [[ -n $__longterm_old && ${_lt_rest[0]} == "$__longterm_old" ]]; then
    _lt_rest=("${_lt_rest[@]:1}")
  fi
  __longterm_old=
  builtin local -a _lt_all
  _lt_all=("$_lt_pre")
  if [[ -n $_lt_first ]]; then # not to be run once the first element is another's
    __longterm_old=$'case $__longterm_seen in 1)\n'$_lt_first$'\n;; esac'
    _lt_all+=("$__longterm_old")
  fi
  for _lt_first in ${_lt_rest[@]+"${_lt_rest[@]}"}; do
    if [[ $_lt_first != "$_lt_post" && $_lt_first != "$_lt_pre" && $_lt_first != __longterm_rescue ]]; then _lt_all+=("$_lt_first"); fi
  done
  PROMPT_COMMAND=("${_lt_all[@]}" "$_lt_post")
}

# __longterm_shield keeps the user's DEBUG and CHLD traps from running for the hooks and for their children. "case" changes
# neither $? nor what the trap sees. Before bash 4.4 the DEBUG trap has to stand in for PS0 as well.
__longterm_shield() {
  builtin local IFS= _lt_trap _lt_user=
  builtin local -a _lt_words
  builtin read -r -d '' _lt_trap <"$__longterm_state/trap"
  builtin eval "_lt_words=($_lt_trap)"
  if [[ ${_lt_words[3]-} == DEBUG ]]; then
    _lt_user=${_lt_words[2]}
    _lt_words=("${_lt_words[@]:4}")
  fi
  case ${_lt_words[2]-} in ''|-|*__longterm_*) ;; # POSIX mode shows the default as "-"
    *)
      __longterm_kids=0
      builtin trap -- "case \$__longterm_kids in (1) __longterm_kids=0 ;; (*) ${_lt_words[2]}"$'\n'";; esac" CHLD
  esac
  case $_lt_user in *__longterm_*) return 0 ;; -) _lt_user= ;; esac
  if ((!__longterm_ps0)); then _lt_user="__longterm_debug${_lt_user:+$'\n'}$_lt_user"; fi
  if [[ -z $_lt_user ]]; then return 0; fi
  builtin trap -- "case \$BASH_COMMAND\${FUNCNAME-} in (*__longterm_*) ;; (*) $_lt_user"$'\n'";; esac" DEBUG
}

# __longterm_debug sees every simple command at top level; the first after a prompt
# begins the line.
__longterm_debug() {
  if [[ -z $__longterm_armed || -n ${COMP_LINE-} || -n ${READLINE_LINE+set} ]]; then return 0; fi
  __longterm_armed= __longterm_running=1 __longterm_m=$((__longterm_m + 1))
  { __longterm_preexec >/dev/tty; } 2>/dev/null
}

__longterm_ps0=0 __longterm_array=0 __longterm_armed= __longterm_tty= __longterm_ignore= __longterm_status=0
if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404)); then
  __longterm_ps0=1
else
  __longterm_b=${__longterm_b%\}}'${__longterm_e:$((__longterm_armed=1,0)):0}}'
fi
if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 501)); then
  __longterm_array=1
else # PROMPT_COMMAND cannot be put back from within PS1
  __longterm_a=${__longterm_a/'0*${PROMPT_COMMAND[4747]:=__longterm_rescue}'/0}
  __longterm_pre_text='{ __longterm_pre; } 2>/dev/null'
fi

# __longterm_sound reports whether the builtins that the hooks call can be called: the user's functions and "enable" may have taken
# them away. Only a redirection needs no builtin to report that.
__longterm_sound() {
  __longterm_status=
  \builtin printf -v __longterm_status %s 0 >/dev/null
  [[ $__longterm_status == 0 &&
    ! $(\builtin enable -n) =~ 'enable -n '(builtin|printf|read|eval|trap|export|unset|shopt|bind|history|set|local|:) ]]
}

__longterm_begin() {
  if ! __longterm_sound; then
    __longterm_nonce=
    >|"$__longterm_state/shadowed"
    return 0
  fi
  builtin export -n __longterm_nonce __longterm_state __longterm_host
  builtin unset __longterm_rc __longterm_start
  if [[ -z $__longterm_nonce ]]; then return 0; fi
  if (PROMPT_COMMAND=) 2>/dev/null; then __longterm_keep; fi
  __longterm_prompts
  __longterm_bind
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
(\builtin trap -p DEBUG CHLD >|"$__longterm_state/trap") 2>/dev/null
{ __longterm_begin || \builtin :; } 2>/dev/null
