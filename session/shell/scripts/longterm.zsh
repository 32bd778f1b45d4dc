# Shell integration for zsh 5: marks around commands, the directory and the environment
# at each prompt. It is read after the user's .zshenv, under zsh's own options and without
# aliases, which its functions keep; the rest waits until the user's other files were
# read.
#
# The user's precmd_functions and preexec_functions keep their order between the first
# and the last of ours. PS1 and PS2 carry marks only while zsh waits for a line. Each mark
# has a place (m=): output that is shown again is worthless. What "set -x" and a
# DEBUG trap would print of the hooks is dropped. What is written is written by a subshell: a limit on the size of
# files ends that one.

_longterm_running=0 # a command runs
_longterm_n=0       # prompts so far
_longterm_m=0       # marks so far
_longterm_gave=0    # a line runs that a program gave; 2 in it: not to be recorded, 4 and 8: comments are to be off again
_longterm_chars=    # the user's histchars meanwhile
_longterm_keys=0    # the editor knows the keys of such lines
_longterm_status=0
_longterm_shown=0   # the hooks have run for this prompt
_longterm_sched=0   # the scheduler can be used
_longterm_ps1= _longterm_ps2=       # the user's prompts
_longterm_marked1= _longterm_marked2= # the same with marks
_longterm_eol= _longterm_eoluser= _longterm_eolset=0 # PROMPT_EOL_MARK with a mark and without
typeset -gH +x _longterm_shown _longterm_sched _longterm_eol _longterm_eoluser _longterm_eolset
typeset -gH +x _longterm_m _longterm_gave _longterm_chars _longterm_keys
typeset -gH +x _longterm_running _longterm_n _longterm_status _longterm_ps1 _longterm_ps2 _longterm_marked1 _longterm_marked2

# The terminal, and not standard output, which the user may have sent elsewhere.
_longterm_say() { builtin print -rn -- $'\e]'"$1"$'\a' >/dev/tty; }

# _longterm_said says a mark's name and fields, and ours.
_longterm_said() {
  (( ++_longterm_m ))
  _longterm_say "133;$1;lt=$_longterm_nonce;m=$_longterm_m"
}

# _longterm_encode sets REPLY to $1 with what must not stand in a mark as %XX.
_longterm_encode() {
  builtin setopt localoptions extendedglob no_multibyte
  local LC_ALL=C MATCH MBEGIN MEND
  REPLY=${1//(#m)([^ -~]|[%;])/%${(l:2::0:)$(([##16] #MATCH))}}
}

# _longterm_ended does the work of _longterm_precmd, the first of precmd_functions: the
# command's output ends here.
_longterm_ended() { { _longterm_status=$?; builtin setopt localoptions localtraps; builtin trap - DEBUG
  if (( _longterm_gave )); then
    (( _longterm_gave = _longterm_gave & 4 ? 8 : 0 ))
    if [[ ${histchars[1]} == $'\x1' ]]; then histchars=$_longterm_chars; fi
  fi
  if [[ ${PROMPT_EOL_MARK-} == "$_longterm_eol" && -n $_longterm_eol ]]; then
    if (( _longterm_eolset )); then PROMPT_EOL_MARK=$_longterm_eoluser; else unset PROMPT_EOL_MARK; fi
  fi
  _longterm_eol=
  if (( _longterm_running )); then
    _longterm_running=0
    _longterm_said "D;$_longterm_status"
  fi
  _longterm_renew
} >/dev/null 2>&1 }

# _longterm_renew takes over the variables that were left for this shell: it is told once.
_longterm_renew() {
  [[ -s $_longterm_state/renew.sh ]] || return 0
  local REPLY
  IFS= builtin read -r -d '' REPLY <$_longterm_state/renew.sh
  : >|$_longterm_state/renew.sh
  builtin eval "$REPLY"
}

# _longterm_prompt is the last of precmd_functions, so that it sees the prompt that the
# others made.
_longterm_prompt() { { builtin setopt localoptions localtraps; builtin trap - DEBUG
  local REPLY cwd b
  if ! _longterm_sound; then : >|$_longterm_state/shadowed; fi
  _longterm_shown=1
  (( ++_longterm_n ))
  _longterm_hooks
  (trap '' XFSZ; _longterm_environ)
  _longterm_encode "$PWD"
  cwd=$REPLY
  (( _longterm_m += 3 )) # A, B and PS2, which are printed in this order
  _longterm_mark
  # A prompt that is nothing but marks need not be printed.
  if [[ $PS1 == "$_longterm_marked1" && -n $_longterm_ps1 ]]; then b=';b=1'; fi
  _longterm_say "7;file://$_longterm_host${cwd// /%20}"
  if (( _longterm_keys )) && [[ -o zle ]]; then
    _longterm_bind # "bindkey -d" has taken them away
    if (( _longterm_keys )); then b+=';g=1'; fi
  fi
  _longterm_say "133;A;lt=$_longterm_nonce;m=$((_longterm_m - 2));n=$_longterm_n;exit=$_longterm_status;cwd=$cwd$b"
} >/dev/null 2>&1 }

# _longterm_mark puts marks into the prompts: anew for each, for their places.
_longterm_mark() {
  if [[ -z $_longterm_marked1 || $PS1 != "$_longterm_marked1" ]]; then
    _longterm_ps1=${PS1//'%{'$'\e'"]133;B;lt=$_longterm_nonce;m="<->$'\a%}'}
  fi
  _longterm_marked1=$_longterm_ps1"%{"$'\e'"]133;B;lt=$_longterm_nonce;m=$((_longterm_m - 1))"$'\a'"%}"
  if [[ ${(t)PS1} != *readonly* ]]; then PS1=$_longterm_marked1; fi
  if [[ -z $_longterm_marked2 || $PS2 != "$_longterm_marked2" ]]; then
    _longterm_ps2=${PS2//'%{'$'\e'"]133;A;k=s;lt=$_longterm_nonce;m="<->$'\a%}'}
  fi
  _longterm_marked2="%{"$'\e'"]133;A;k=s;lt=$_longterm_nonce;m=$_longterm_m"$'\a'"%}"$_longterm_ps2
  if [[ ${(t)PS2} != *readonly* ]]; then PS2=$_longterm_marked2; fi
}

# _longterm_preexec is the last of preexec_functions: the command's output begins here.
# Its text is what was typed, or what that was expanded to when history is off.
_longterm_preexec() { { builtin setopt localoptions localtraps; builtin trap - DEBUG
  local REPLY cut
  local -i m=$(( ++_longterm_m ))
  _longterm_running=1 _longterm_shown=0
  # What shows that output had no newline at its end is printed before precmd. It
  # tells the end of the output itself.
  _longterm_eolset=$(( ${+PROMPT_EOL_MARK} )) _longterm_eoluser=${PROMPT_EOL_MARK-%B%S%#%s%b}
  if [[ ${(t)PROMPT_EOL_MARK} != *readonly* ]]; then
    (( ++_longterm_m ))
    _longterm_eol="%{"$'\e'"]133;D;%?;lt=$_longterm_nonce;m=$_longterm_m"$'\a'"%}"$_longterm_eoluser
    PROMPT_EOL_MARK=$_longterm_eol
  fi
  if [[ $PS1 == "$_longterm_marked1" && ${(t)PS1} != *readonly* ]]; then
    PS1=$_longterm_ps1 _longterm_marked1=
  fi
  if [[ $PS2 == "$_longterm_marked2" && ${(t)PS2} != *readonly* ]]; then
    PS2=$_longterm_ps2 _longterm_marked2=
  fi
  local text=${1:-$3}
  _longterm_hooks
  if (( _longterm_sched )) && [[ $text == *precmd_functions* || $text == (.|source|eval)\ * ]]; then
    builtin sched +0 '_longterm_check "$_"'
  fi
  if (( $#text > 16384 )); then text=${text[1,16384]} cut=';cut=1'; fi
  _longterm_encode "$text"
  _longterm_say "133;C;lt=$_longterm_nonce;m=$m$cut;cmdline_url=$REPLY"
} >/dev/null 2>&1 }

# _longterm_give comes before a line that a program gives, 2 for one that is not to be
# recorded: history expansion is for what people type, and comments count as in a script.
# No line has the first two characters; the third begins comments.
_longterm_give() { { builtin setopt localoptions localtraps; builtin trap - DEBUG
  if (( ! _longterm_gave )); then
    _longterm_chars=$histchars
    histchars=$'\x1\x2'${histchars[3]}
  fi
  (( _longterm_gave |= $1 ))
  _longterm_hooks # the one for the history may have been taken away
} >/dev/null 2>&1 }

_longterm_history() { { builtin setopt localoptions localtraps; builtin trap - DEBUG; (( ! (_longterm_gave & 2) )) } >/dev/null 2>&1 }

# _longterm_bind gives the editor the keys.
_longterm_bind() {
  local map
  _longterm_keys=0
  builtin zle -N _longterm_given && builtin zle -N _longterm_hidden || return 0
  for map in emacs viins vicmd; do
    builtin bindkey -M $map '\e[20747~' _longterm_given && builtin bindkey -M $map '\e[20748~' _longterm_hidden || return 0
  done
  _longterm_keys=1
}

# _longterm_environ leaves the exported variables where the session finds them.
_longterm_environ() {
  [[ -d $_longterm_state ]] || return 0
  local name
  {
    builtin printf 'longterm-env 1 nul %d\n' $_longterm_n
    for name in ${(k)parameters[(R)*export*]}; do
      builtin print -rN -- "$name=${(P)name}"
    done
    builtin printf '# end %d\n' $_longterm_n
  } >|$_longterm_state/environ
}

# _longterm_hooks keeps ours first and last, whatever was added or replaced since.
_longterm_hooks() {
  typeset -ga precmd_functions preexec_functions zshaddhistory_functions
  if (( ! ${zshaddhistory_functions[(I)_longterm_history]} )); then zshaddhistory_functions+=(_longterm_history); fi
  if [[ ${precmd_functions[1]-} != _longterm_precmd || ${precmd_functions[-1]-} != _longterm_prompt ]]; then
    precmd_functions=(_longterm_precmd ${precmd_functions:#_longterm_(precmd|prompt)} _longterm_prompt)
  fi
  if [[ ${preexec_functions[-1]-} != _longterm_preexec ]]; then
    preexec_functions=(${preexec_functions:#_longterm_preexec} _longterm_preexec)
  fi
}

# _longterm_sound reports whether the builtins that the hooks call can be called: the user's functions and "disable" may have
# taken them away.
_longterm_sound() {
  local -a gone
  gone=(${(k)dis_builtins})
  gone=(${gone:*_longterm_calls})
  (( ! ${+functions[builtin]} && ! $#gone ))
}
typeset -gaH +x _longterm_calls=(builtin print printf read eval setopt local typeset zle bindkey sched trap return)

# _longterm_start installs the hooks and stands in for the last of them at the first
# prompt.
_longterm_start() {
  precmd_functions=(${precmd_functions:#_longterm_start})
  if ! _longterm_sound; then
    : >|$_longterm_state/shadowed
    return 0
  fi
  _longterm_bind
  _longterm_prompt
}

# _longterm_check comes after precmd: it stands in for hooks that the command took away.
# What the scheduler runs is not kept from $?, $_ and pipestatus: hence the argument and
# the status, and hence only after lines that may have touched the hooks.
_longterm_check() {
  local -i s=$?
  if (( ! _longterm_shown )); then
    () { return $1 } $s
    _longterm_precmd
    _longterm_prompt
  fi
  return $s
}

# The scheduler runs after precmd and before the first prompt is drawn: by then the
# user's files have been read and can no longer replace the hooks.
if builtin zmodload -F zsh/sched b:sched 2>/dev/null; then
  _longterm_sched=1
  builtin sched +0 _longterm_start
else
  typeset -ga precmd_functions
  precmd_functions+=(_longterm_start)
fi
