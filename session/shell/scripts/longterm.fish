# Shell integration for fish 3 and 4: marks around commands, the directory and the
# environment at each prompt. It is read after the user's configuration and replaces no
# function of it: everything hangs on fish's own events.

# What is written is written only where no limit on the size of files ends the shell.

set -g __longterm_nonce
set -g __longterm_state $LONGTERM_STATE
set -g __longterm_host $LONGTERM_HOST
set -e LONGTERM_STATE
set -e LONGTERM_HOST
if test -r "$__longterm_state/nonce" # once: it is gone after
    read -g __longterm_nonce <"$__longterm_state/nonce"
    echo -n >"$__longterm_state/nonce"
end

if status is-interactive; and test -n "$__longterm_nonce"
    set -g __longterm_n 0
    set -g __longterm_m 0 # marks so far: each has its place, output shown again has none
    set -g __longterm_running # set while a line runs
    set -g __longterm_line
    set -g __longterm_last # status of the line that ended before this prompt

    # The terminal, and not standard output, which may be redirected.
    function __longterm_say
        builtin printf '\e]%s\a' $argv[1] >/dev/tty
    end

    # A mark's name, and its fields after ours.
    function __longterm_mark
        set -g __longterm_m (math $__longterm_m + 1)
        __longterm_say "133;$argv[1];lt=$__longterm_nonce;m=$__longterm_m$argv[2]"
    end

    # A line that emits the event begins no other line.
    function __longterm_preexec --on-event fish_preexec
        test -z "$__longterm_running"; or return 0
        set -g __longterm_running 1
        set -g __longterm_line "$argv[1]"
        set -l text "$argv[1]"
        set -l cut
        if test (string length -- "$text") -gt 16384
            set text (string sub -l 16384 -- "$text" | string collect)
            set cut ';cut=1'
        end
        __longterm_mark C "$cut;cmdline_url="(string escape --style=url -- "$text")
    end

    # The line ended, with a status. Comments leave that of the line before.
    function __longterm_done
        set -g __longterm_running
        set -l s $argv[1]
        string split \n -- "$__longterm_line" | string match -qrv '^\s*(#|$)'; or set s 0
        set -g __longterm_last $s
        __longterm_mark "D;$s"
    end

    # A line that calls a hook, or emits its event, ends no line by that.
    function __longterm_postexec --on-event fish_postexec
        set -l s $status
        test -n "$__longterm_running" -a "$argv[1]" = "$__longterm_line" -a (count $argv) -gt 0; or return $s
        __longterm_done $s
        return $s
    end

    # Fish runs this before it draws the prompt, once for each line it reads.
    function __longterm_prompt --on-event fish_prompt
        set -l s $status
        if test -n "$__longterm_running"
            set -l runs (status current-command) # fish, unless a line calls this hook
            test "$runs" = fish; or return $s
            __longterm_done $s # an interrupt ended the hook behind the line, or that has no command
        end
        set -g __longterm_n (math $__longterm_n + 1)
        if test -s "$__longterm_state/renew.fish" # variables that were left for this shell: told once
            source "$__longterm_state/renew.fish"
            echo -n >"$__longterm_state/renew.fish"
        end
        __longterm_environ
        set -l last $s
        test -n "$__longterm_last"; and set last $__longterm_last
        set -g __longterm_last
        set -l cwd (string escape --style=url -- "$PWD")
        __longterm_say "7;file://$__longterm_host$cwd"
        __longterm_mark A ";n=$__longterm_n;exit=$last;cwd=$cwd"
        return $s
    end

    # A line with a syntax error is not run and stays in the editor.
    function __longterm_posterror --on-event fish_posterror
        set -l runs (status current-command)
        test -z "$__longterm_running" -o "$runs" = fish; or return 0
        set -g __longterm_running
        set -g __longterm_n (math $__longterm_n + 1)
        __longterm_mark A ";n=$__longterm_n;exit=127;kept=1"
    end

    # Ctrl-C at the prompt shows it again without asking fish_prompt's handlers.
    function __longterm_cancel --on-event fish_cancel
        set -l runs (status current-command)
        test -z "$__longterm_running" -o "$runs" = fish; or return 0
        set -g __longterm_running
        set -g __longterm_n (math $__longterm_n + 1)
        __longterm_mark A ";n=$__longterm_n;exit=130"
    end

    # The exported variables, where the session finds them. Path variables join with
    # colons when quoted, other lists with spaces, as fish exports them.
    function __longterm_environ
        test -d "$__longterm_state" -a (ulimit -f) = unlimited; or return 0
        begin
            builtin printf 'longterm-env 1 nul %d\n' $__longterm_n
            for name in (set -nx)
                builtin printf '%s=%s\0' $name "$$name"
            end
            builtin printf '# end %d\n' $__longterm_n
        end >"$__longterm_state/environ"
    end
end
